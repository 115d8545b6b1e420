"""The safe fallback: what it needs, what it keeps, and what it can never hold (C7 to C9)."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from affidavit.contract.decisions import DECISIONS
from affidavit.contract.report import FallbackRecord, StatementChain, ValidationIssue
from affidavit.contract.snapshots import (
    FACTS_MAX,
    DiagnosisProgressSnapshot,
    VerifiedAnalysis,
    VerifiedCall,
    VerifiedEvidenceSnapshot,
)
from affidavit.contract.states import (
    AnalysisKind,
    EvidenceClass,
    FallbackType,
    IntentType,
    ReleaseOutcome,
)
from affidavit.contract.violations import EvidenceCode, Refusal, SupportCode, Violation
from affidavit.ledger.snapshot import Verified
from affidavit.progress.projector import LIMITATIONS_MAX, SOURCES_MAX
from affidavit.release.decide import decide
from affidavit.release.fallback import (
    ISSUES_MAX,
    PROVED_KINDS,
    STAGES,
    FallbackImpossible,
    Ground,
    SafeFallback,
    build_fallback,
    ground_of,
    reasons_of,
)
from affidavit.release.material import (
    AskedFor,
    Evidence,
    Gathered,
    Material,
    NoMaterial,
    Refusals,
)
from affidavit.release.requests import Requests
from affidavit.release.situation import (
    Cited,
    Illegal,
    Opinion,
    RepairEnd,
    Situation,
    Spent,
    StopKind,
    Stopped,
    Uncited,
    Unconcluded,
)
from affidavit.release.wording import REASONS, STEPS, NextStep, Reason
from affidavit.verify.support import SentenceProof
from tests.unit.progress.ledgers import Book, change, line, value
from tests.unit.release.drafts import progress_of
from tests.unit.release.test_decide import ALL

EMPTY = DiagnosisProgressSnapshot()
NOT_REAL = Violation(code=EvidenceCode.INVOCATION_NOT_FOUND, pointer="/analyses/0/tool_call_ids/0")


def seen(*, facts: bool = True) -> DiagnosisProgressSnapshot:
    book = Book()
    if facts:
        book.found(value())
    return progress_of(book)


def snapshot_of(book: Book) -> VerifiedEvidenceSnapshot:
    """Every call of a book, cited by one analysis."""
    read = [book.ledger().read_back(key) for key in book.calls]
    calls = tuple(
        VerifiedCall(
            tool_call_id=item.record.tool_call_id, tool=item.record.tool, envelope=item.envelope
        )
        for item in read
        if isinstance(item, Verified)
    )
    analysis = VerifiedAnalysis(
        id="A1",
        kind=AnalysisKind.NORMAL,
        body="canary-draft",
        tool_call_ids=tuple(call.tool_call_id for call in calls),
    )
    return VerifiedEvidenceSnapshot(analyses=(analysis,), calls=calls)


def evidence(book: Book, *chains: StatementChain) -> Evidence:
    return Evidence(snapshot_of(book), (SentenceProof(1, "/analyses/0/body", chains),))


def build(
    situation: Situation,
    material: Material | None = None,
    progress: DiagnosisProgressSnapshot | None = None,
) -> FallbackRecord:
    gathered = Gathered(situation, material or NoMaterial(), progress or seen())
    type_ = DECISIONS[decide(situation)].fallback
    assert type_ is not None
    return build_fallback(type_, ground_of(gathered)).record


@pytest.mark.spec("C8")
def test_every_type_is_refused_without_what_it_needs() -> None:
    """Nothing can be built from nothing."""
    for type_ in FallbackType:
        with pytest.raises(FallbackImpossible):
            build_fallback(type_, Ground((), EMPTY))


@pytest.mark.spec("C8")
def test_what_each_type_needs() -> None:
    """A fact; a request and no fact; an issue; a source. No other gift helps."""
    progress = seen()
    gifts: dict[str, dict[str, Any]] = {
        "fact": {"facts": progress.observed_facts},
        "source": {"sources": progress.verified_sources},
        "request": {"requests": Requests(("the time window",))},
        "issue": {"issues": (ValidationIssue(code="X", field="/a"),)},
    }
    needs: dict[FallbackType, Callable[[tuple[str, ...]], bool]] = {
        FallbackType.INSUFFICIENT_EVIDENCE: lambda had: "fact" in had,
        FallbackType.MISSING_REQUIRED_CONTEXT: lambda had: "request" in had and "fact" not in had,
        FallbackType.EVIDENCE_VALIDATION_FAILED: lambda had: "issue" in had,
        FallbackType.SEMANTIC_UNSUPPORTED: lambda had: "source" in had,
        FallbackType.SEMANTIC_UNAVAILABLE: lambda had: "source" in had,
        FallbackType.BUDGET_EXHAUSTED: lambda had: False,
    }
    assert set(needs) == set(FallbackType)
    for type_, size in itertools.product(needs, range(len(gifts) + 1)):
        for had in itertools.combinations(gifts, size):
            parts = {key: given for name in had for key, given in gifts[name].items()}
            ground = replace(Ground((), EMPTY), **parts)
            if needs[type_](had):
                assert build_fallback(type_, ground).record.type is type_
            else:
                with pytest.raises(FallbackImpossible):
                    build_fallback(type_, ground)


@pytest.mark.spec("E19")
def test_budget_exhausted_is_never_published() -> None:
    """Not with everything at hand: the cause travels in the stop reason."""
    progress = seen()
    ground = Ground(
        (),
        progress,
        progress.observed_facts,
        progress.verified_sources,
        Requests(("x",)),
        (ValidationIssue(code="X", field=""),),
    )
    with pytest.raises(FallbackImpossible, match="never published"):
        build_fallback(FallbackType.BUDGET_EXHAUSTED, ground)
    assert FallbackType.BUDGET_EXHAUSTED not in STAGES


@pytest.mark.spec("C7", "E13")
def test_the_stage_is_the_rows() -> None:
    """Every published type has the stage of the rows that carry it, and one only."""
    for row in DECISIONS.values():
        if row.fallback is not None:
            assert STAGES[row.fallback] is row.stage


@pytest.mark.spec("C7", "N6")
def test_there_is_no_conclusion() -> None:
    """By construction: the record has no place for one."""
    record = build(Stopped(StopKind.SATURATED, facts=True))
    assert record.conclusion is None
    with pytest.raises(ValueError, match="none_required"):
        FallbackRecord.model_validate_json(
            record.model_dump_json().replace('"conclusion":null', '"conclusion":"it broke"')
        )


@pytest.mark.spec("L7")
def test_trust_has_one_maker() -> None:
    """It cannot be made elsewhere, changed, copied, pickled or varied."""
    progress = seen()
    made = build_fallback(
        FallbackType.INSUFFICIENT_EVIDENCE, Ground((), progress, progress.observed_facts)
    )
    with pytest.raises(TypeError):
        SafeFallback(object(), made.record)
    with pytest.raises(AttributeError):
        made.record = made.record
    with pytest.raises(AttributeError):
        del made.record
    with pytest.raises(TypeError):
        copy.copy(made)
    with pytest.raises(TypeError):
        pickle.dumps(made)
    with pytest.raises(TypeError):
        type("Mine", (SafeFallback,), {})


@pytest.mark.spec("C8", "D4", "D5")
@pytest.mark.parametrize("opinion", [Opinion.UNSUPPORTED, Opinion.REFUTED, Opinion.UNAVAILABLE])
def test_a_judged_draft_leaves_the_guards_facts(opinion: Opinion) -> None:
    """Only what it cited: not what else the run saw."""
    cited = Book()
    cited.found(change())
    whole = seen()
    record = build(Cited(opinion), evidence(cited), whole)
    assert [fact.text.split(":")[0] for fact in record.observed_facts] == ["payment"]
    assert record.verified_sources == snapshot_of(cited).verified_sources()
    assert "canary" not in record.model_dump_json()


@pytest.mark.spec("C9")
def test_what_was_proved_comes_first() -> None:
    """The fact behind a proved statement stands before a louder one that nobody stated."""
    book = Book()
    book.found(change(), value())
    plain = build(Cited(Opinion.UNAVAILABLE), evidence(book))
    assert plain.observed_facts[0].text.startswith("payment")
    chain = StatementChain(kind="value", tool_call_id="call_0001", facts=(1,))
    proved = build(Cited(Opinion.UNAVAILABLE), evidence(book, chain))
    assert proved.observed_facts[0].text.startswith("checkout: error_rate was 5%")
    assert len(proved.observed_facts) == 2


@pytest.mark.spec("C9", "N6")
@pytest.mark.parametrize("kind", ["cause", "path", "order", "onset", "anything"])
def test_no_cause_path_or_order_becomes_a_fact(kind: str) -> None:
    """However well it was proved."""
    assert kind not in PROVED_KINDS
    book = Book()
    book.found(change(), value())
    chain = StatementChain(kind=kind, tool_call_id="call_0001", facts=(1,))
    record = build(Cited(Opinion.UNAVAILABLE), evidence(book, chain))
    assert record.observed_facts[0].text.startswith("payment")


@pytest.mark.spec("C9", "G9")
def test_a_proved_absence_is_an_absence() -> None:
    """Worded with its scope; and a place that is not there proves nothing."""
    book = Book()
    book.empty(query="pool exhausted")
    book.found(value())
    absence = StatementChain(kind="absence", tool_call_id="call_0001")
    nowhere = StatementChain(kind="value", tool_call_id="call_0002", facts=(9, -1))
    unknown = StatementChain(kind="value", tool_call_id="call_0009", facts=(0,))
    record = build(Cited(Opinion.UNAVAILABLE), evidence(book, absence, nowhere, unknown))
    assert record.observed_facts[0].text.startswith("Nothing matched in logs")
    assert len(record.observed_facts) == 2


@pytest.mark.spec("C13", "N17")
def test_guidance_that_was_cited_is_no_fact() -> None:
    """It is a source, and the fallback stands on that alone."""
    book = Book()
    book.found(line("restart it"), tool="runbook", evidence_class=EvidenceClass.GUIDANCE)
    chain = StatementChain(kind="quote", tool_call_id="call_0001", facts=(0,))
    record = build(Cited(Opinion.UNSUPPORTED), evidence(book, chain), EMPTY)
    assert record.observed_facts == ()
    assert len(record.verified_sources) == 1


@pytest.mark.spec("D3", "C7")
def test_refused_citations_leave_codes_and_pointers() -> None:
    """And the facts of the progress, whatever was wrong with the report."""
    record = build(Uncited(RepairEnd.UNAVAILABLE), Refusals((NOT_REAL, NOT_REAL)))
    assert record.validation_issues == (
        ValidationIssue(code="INVOCATION_NOT_FOUND", field="/analyses/0/tool_call_ids/0"),
    )
    assert len(record.observed_facts) == 1


@pytest.mark.spec("D4", "C7")
def test_refuted_sentences_leave_codes_and_pointers_too() -> None:
    """What is wrong with the words is said by code and place."""
    book = Book()
    book.found(value())
    refusal = Refusal(code=SupportCode.NUMBER_REFUTED, pointer="/conclusion/text", sentence=2)
    material = replace(evidence(book), refusals=(refusal,))
    record = build(Cited(Opinion.REFUTED), material)
    assert record.validation_issues == (
        ValidationIssue(code="NUMBER_REFUTED", field="/conclusion/text"),
    )


@pytest.mark.spec("D7", "C7")
def test_what_the_agent_asks_for_is_shown_as_that() -> None:
    """And the first step is to supply it."""
    requests = Requests(("the time window",), dropped=1)
    record = build(Unconcluded(False, True, True), AskedFor(requests), EMPTY)
    assert record.asked_for == ("the time window",)
    assert record.next_steps[0] == STEPS[NextStep.SUPPLY_CONTEXT]
    assert REASONS[Reason.REQUESTS_LEFT_OUT] in record.limitations


@pytest.mark.spec("C7", "N7", "N8")
def test_an_all_negative_fallback_says_what_that_means() -> None:
    """Neither a fault nor health."""
    book = Book()
    book.empty()
    record = build(Spent(timed_out=False, facts=True), progress=progress_of(book))
    assert REASONS[Reason.ONLY_NEGATIVE] in record.limitations
    assert STEPS[NextStep.WIDEN_SCOPE] in record.next_steps


@pytest.mark.spec("E18", "D12")
def test_a_time_limit_is_told_from_a_budget() -> None:
    """The stop reason is one; the limitation says which."""
    time = build(Spent(timed_out=True, facts=True))
    budget = build(Spent(timed_out=False, facts=True))
    assert REASONS[Reason.TIME_OVER] in time.limitations
    assert REASONS[Reason.BUDGET_SPENT] in budget.limitations
    assert REASONS[Reason.TIME_OVER] not in budget.limitations


@pytest.mark.spec("C15")
def test_everything_is_bounded_and_says_so() -> None:
    """Facts, issues, sources, limitations."""
    book = Book()
    for n in range(SOURCES_MAX + 1):
        book.found(value(f"s{n}"), query=str(n))
    issues = tuple(
        Refusal(code=SupportCode.WORDS_UNBOUND, pointer=f"/analyses/{n}/body", sentence=n)
        for n in range(ISSUES_MAX + 1)
    )
    record = build(Cited(Opinion.UNSUPPORTED), replace(evidence(book), refusals=issues))
    assert len(record.observed_facts) == FACTS_MAX
    assert len(record.verified_sources) == SOURCES_MAX
    assert len(record.validation_issues) == ISSUES_MAX
    for reason in (Reason.FACTS_LEFT_OUT, Reason.SOURCES_LEFT_OUT, Reason.ISSUES_LEFT_OUT):
        assert REASONS[reason] in record.limitations
    many = DiagnosisProgressSnapshot(
        observed_facts=seen().observed_facts, limitations=tuple(f"limit {n}" for n in range(90))
    )
    record = build(Illegal(facts=True), progress=many)
    assert len(record.limitations) == LIMITATIONS_MAX


@pytest.mark.spec("C7")
def test_the_words_are_a_closed_set_and_all_of_it_is_used() -> None:
    """Every fallback says why, in a sentence of the table; no sentence of the table is dead."""
    said = {
        reason
        for situation in ALL
        for intent in (None, *IntentType)
        for reason in reasons_of(situation, intent)
    }
    for situation in ALL:
        row = DECISIONS[decide(situation)]
        if row.outcome is ReleaseOutcome.FALLBACK:
            assert reasons_of(situation)
    declared = {
        Reason.ONLY_NEGATIVE,
        Reason.FACTS_LEFT_OUT,
        Reason.SOURCES_LEFT_OUT,
        Reason.ISSUES_LEFT_OUT,
        Reason.REQUESTS_LEFT_OUT,
    }
    assert said | declared == set(Reason) == set(REASONS)
    assert set(STEPS) == set(NextStep)
    assert len(set(REASONS.values())) == len(REASONS)


@pytest.mark.spec("N6")
def test_our_own_words_claim_no_cause() -> None:
    """Root causes are named only as what is not confirmed."""
    for words in (*REASONS.values(), *STEPS.values()):
        for marker in ("because", "due to", "caused", "led to"):
            assert marker not in words
