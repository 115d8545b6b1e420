"""From a decision to the one public record (L1, C10, E18, N5)."""

from __future__ import annotations

import copy
import itertools
import pickle
from dataclasses import replace

import pytest

from affidavit.contract.decisions import DECISIONS
from affidavit.contract.errors import InternalFault
from affidavit.contract.report import PublishedReport, ReleaseRecord, Usage
from affidavit.contract.snapshots import DiagnosisProgressSnapshot
from affidavit.contract.states import (
    AGENT_RUN_STATES,
    AGENT_STOP_REASONS,
    AgentStatus,
    ChatFailureCode,
    DiagnosisStopReason,
    Provenance,
    ReleaseOutcome,
    RunState,
)
from affidavit.contract.violations import SupportCode
from affidavit.release.decide import decide, run_state_of
from affidavit.release.examine import Examiner, examine
from affidavit.release.material import Gathered, NoMaterial, Supported
from affidavit.release.publish import Frame, Published, publish, release_record
from affidavit.release.repair import NoRepairer
from affidavit.release.situation import (
    Cancelled,
    Cited,
    Faulted,
    Illegal,
    Opinion,
    Spent,
    Unconcluded,
    Unthinking,
)
from affidavit.release.wording import REASONS, Reason
from affidavit.verify.support import SupportedDraft
from tests.unit.progress.ledgers import RUN_ID, START, TENANT, Book, value
from tests.unit.release.drafts import (
    BODY,
    QUESTION,
    Draft,
    PlainDesk,
    ScriptedJudge,
    concluded,
    draft,
    progress_of,
)
from tests.unit.release.test_decide import ALL

EMPTY = DiagnosisProgressSnapshot()


def frame(
    status: AgentStatus = AgentStatus.DONE, reason: DiagnosisStopReason | None = None
) -> Frame:
    return Frame(RUN_ID, TENANT, QUESTION, START, Usage(tool_calls=1), status, reason)


async def gather(written: Draft, book: Book | None = None) -> Gathered:
    facts = book or Book()
    if book is None:
        facts.found(value())
    examiner = Examiner(ScriptedJudge(), NoRepairer())
    return await examine(
        concluded(written), progress_of(facts), facts.ledger(), examiner, PlainDesk()
    )


async def supported(written: Draft, book: Book | None = None) -> SupportedDraft:
    gathered = await gather(written, book)
    assert isinstance(gathered.material, Supported)
    return gathered.material.draft


STATEMENT = {
    "subject": "checkout",
    "attribute": "error_rate",
    "operator": "=",
    "value": 5,
    "unit": "%",
    "tool_call_id": "call_0001",
}


@pytest.mark.spec("D1", "C10", "L2")
async def test_a_published_report_is_the_authors_own() -> None:
    """Every text as written, in order, and each sentence with the calls it rests on."""
    written = draft(
        "call_0001",
        action_plan=[{"text": BODY, "based_on_analysis_ids": ["A1"]}],
        recommendations=[{"text": BODY, "based_on_analysis_ids": ["A1"]}],
        limitations={"scope": "checkout", "missing_info": ["the traces"]},
    )
    report = publish(await supported(written)).report
    assert report.conclusion.text == written["conclusion"]["text"]
    assert report.conclusion.based_on_analysis_ids == ("A1",)
    assert [part.text for part in (*report.action_plan, *report.recommendations)] == [BODY, BODY]
    (analysis,) = report.analyses
    assert (analysis.id, analysis.body, analysis.tool_call_ids) == ("A1", BODY, ("call_0001",))
    bounds = (report.conclusion, *report.action_plan, *report.recommendations)
    for sentences in (analysis.sentences, *(bound.sentences for bound in bounds)):
        assert [sentence.text for sentence in sentences] == [BODY]
        assert sentences[0].tool_call_ids == ("call_0001",)
    assert report.scope == "checkout"
    assert report.missing_info == ("the traces",)
    assert report.withdrawn == 0


@pytest.mark.spec("C10")
async def test_a_sentence_leads_to_its_facts() -> None:
    """sentence → statement → tool_call_id → place in the recorded facts."""
    book = Book()
    book.found(value("cart", "9"), value())
    sentence = {"text": BODY, "tool_call_ids": ["call_0001"], "statements": [STATEMENT]}
    written = draft("call_0001")
    written["analyses"][0] = {"id": "A1", "kind": "NORMAL", "sentences": [sentence]}
    made = await supported(written, book)
    report = publish(made).report
    chains = report.analyses[0].sentences[0].statements
    assert (chains[0].kind, chains[0].tool_call_id) == ("value", "call_0001")
    for chain in chains:
        call = made.snapshot.call(chain.tool_call_id)
        assert call is not None
        assert [call.envelope.facts[place] for place in chain.facts] == [value()]


@pytest.mark.spec("C6", "C10")
async def test_sources_are_the_verified_ones() -> None:
    """What was cited, and not what else the run read."""
    book = Book()
    book.found(value())
    book.empty()
    report = publish(await supported(draft("call_0001"), book)).report
    assert [source.source_type for source in report.source_documents] == ["metrics"]


@pytest.mark.spec("N6", "C7")
async def test_no_cause_hides_among_what_was_missing() -> None:
    """No guard reads that list, so an item that claims one is not shown, and that is said."""
    limits = {"scope": "checkout", "missing_info": ["payment-db is the root cause", "the traces"]}
    gathered = await gather(draft("call_0001", limitations=limits))
    record = release_record(frame(), gathered)
    assert record.result is not None
    assert record.result.missing_info == ("the traces",)
    assert REASONS[Reason.REQUESTS_LEFT_OUT] in record.limitations


@pytest.mark.spec("L7")
async def test_trust_has_one_maker() -> None:
    """It cannot be made elsewhere, changed, copied, pickled or varied."""
    made = publish(await supported(draft("call_0001")))
    with pytest.raises(TypeError):
        Published(object(), made.report)
    with pytest.raises(AttributeError):
        made.report = made.report
    with pytest.raises(AttributeError):
        del made.report
    with pytest.raises(TypeError):
        copy.deepcopy(made)
    with pytest.raises(TypeError):
        pickle.dumps(made)
    with pytest.raises(TypeError):
        type("Mine", (Published,), {})


@pytest.mark.spec("L1", "L7")
async def test_only_a_supported_draft_is_published() -> None:
    """A situation that says SUPPORTED without the draft that was is an internal fault."""
    with pytest.raises(InternalFault):
        release_record(frame(), Gathered(Cited(Opinion.SUPPORTED), NoMaterial(), EMPTY))


@pytest.mark.spec("D2b", "M6")
async def test_a_result_says_how_much_was_withdrawn() -> None:
    """The row is D2b, and the number stands in the report."""
    gathered = await gather(draft("call_0001"))
    situation = Cited(Opinion.SUPPORTED, repaired=True, withdrawn=2)
    record = release_record(frame(), replace(gathered, situation=situation))
    assert record.decision == "D2b"
    assert record.result is not None
    assert record.result.withdrawn == 2


@pytest.mark.spec("C12", "N18")
@pytest.mark.parametrize("provenance", Provenance)
async def test_a_supplied_call_is_never_shown_as_recorded(provenance: Provenance) -> None:
    """The record says so, whatever the outcome."""
    book = Book()
    book.found(value(), provenance=provenance)
    for written in (draft("call_0001"), draft("call_0001", conclusion=None)):
        record = release_record(frame(), await gather(written, book))
        assert record.provenance is provenance


@pytest.mark.spec("E18", "N5", "L4")
@pytest.mark.parametrize("status", AgentStatus)
@pytest.mark.parametrize(
    ("situation", "ended"),
    [
        (Cancelled(), {(AgentStatus.CANCELLED, None)}),
        (Faulted(), {(AgentStatus.FAILED, None)}),
        (Unthinking(), {(AgentStatus.FAILED, None)}),
        (
            Spent(timed_out=True, facts=False),
            {(AgentStatus.TIMEOUT, DiagnosisStopReason.BUDGET_LIMIT_REACHED)},
        ),
        (
            Spent(timed_out=False, facts=False),
            {
                (AgentStatus.BUDGET_EXCEEDED, DiagnosisStopReason.BUDGET_LIMIT_REACHED),
                (AgentStatus.MAX_ITERATIONS, DiagnosisStopReason.BUDGET_LIMIT_REACHED),
            },
        ),
    ],
)
def test_a_stop_names_itself_whatever_the_agent_had_done(
    situation: Cancelled | Faulted | Spent | Unthinking,
    ended: set[tuple[AgentStatus, DiagnosisStopReason | None]],
    status: AgentStatus,
) -> None:
    """A cancel, limit or failure that struck during release shows as that."""
    record = release_record(frame(status), Gathered(situation, NoMaterial(), EMPTY))
    assert (record.agent_status, record.stop_reason) in ended
    assert record.run_state is run_state_of(situation)
    assert record.run_state in AGENT_RUN_STATES[record.agent_status]


@pytest.mark.spec("E18", "P4")
def test_a_frame_that_the_tables_do_not_know_is_refused() -> None:
    """Walk all statuses and reasons beside an ordinary failure: lawful, or an internal fault."""
    gathered = Gathered(Illegal(facts=False), NoMaterial(), EMPTY)
    for status, reason in itertools.product(AgentStatus, (None, *DiagnosisStopReason)):
        lawful = (
            RunState.FAILED in AGENT_RUN_STATES[status] and reason in AGENT_STOP_REASONS[status]
        )
        if lawful:
            assert release_record(frame(status, reason), gathered).decision == "D11"
        else:
            with pytest.raises(InternalFault):
                release_record(frame(status, reason), gathered)


@pytest.mark.spec("C8", "E20")
def test_a_fallback_that_would_be_empty_is_a_failure() -> None:
    """A situation that speaks of facts, over a progress that holds none: fail closed."""
    gathered = Gathered(Illegal(facts=True), NoMaterial(), EMPTY)
    record = release_record(frame(), gathered)
    assert record.decision == "D15"
    assert record.failure_code is ChatFailureCode.INTERNAL_FAILURE
    assert record.fallback is None


@pytest.mark.spec("E17", "E20", "L1")
def test_every_outcome_carries_what_belongs_to_it() -> None:
    """A result with SUCCESS alone, a fallback with FALLBACK alone, a code with neither."""
    book = Book()
    book.found(value())
    for situation in ALL:
        row = DECISIONS[decide(situation)]
        if row.outcome is ReleaseOutcome.SUCCESS or row.id in {"D3", "D4", "D5", "D7"}:
            continue  # these need material; they are walked in the tests of `examine`
        facts = bool(getattr(situation, "facts", False))
        progress = progress_of(book) if facts else EMPTY
        record = release_record(frame(), Gathered(situation, NoMaterial(), progress))
        assert record.decision is row.id
        assert record.outcome is row.outcome
        assert record.failure_code is row.failure_code
        assert record.result is None
        assert (record.fallback is not None) == (row.outcome is ReleaseOutcome.FALLBACK)
        assert ReleaseRecord.model_validate_json(record.model_dump_json()) == record


@pytest.mark.spec("D8", "D13", "E18")
def test_a_failure_says_why_in_the_words_of_the_closed_set() -> None:
    """A time limit, a spent budget, nothing verified; a cancel says nothing."""
    for situation, reason in (
        (Spent(timed_out=True, facts=False), Reason.TIME_OVER),
        (Spent(timed_out=False, facts=False), Reason.BUDGET_SPENT),
        (Unconcluded(False, False, True), Reason.NOTHING_VERIFIED),
    ):
        record = release_record(frame(), Gathered(situation, NoMaterial(), EMPTY))
        assert record.limitations == (REASONS[reason],)
    cancelled = release_record(frame(), Gathered(Cancelled(), NoMaterial(), EMPTY))
    assert cancelled.limitations == ()


@pytest.mark.spec("L7")
async def test_what_is_stored_is_a_plain_record() -> None:
    """It reads back as itself, and proves nothing by itself."""
    record = release_record(frame(), await gather(draft("call_0001")))
    again = ReleaseRecord.model_validate_json(record.model_dump_json())
    assert again == record
    assert isinstance(again.result, PublishedReport)


@pytest.mark.spec("M4", "M8", "C10")
async def test_what_only_a_judge_says_is_marked_as_its_word() -> None:
    """What code could not prove of a sentence stands beside it as codes."""
    said = "The bakery's checkout error_rate was 5%."
    report = publish(await supported(draft("call_0001", body=f"{BODY} {said}"))).report
    proved, judged = report.analyses[0].sentences
    assert (proved.text, proved.unproved) == (BODY, ())
    assert judged.text == said
    assert judged.unproved == (SupportCode.WORDS_UNBOUND,)
