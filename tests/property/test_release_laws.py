"""Laws of the release that hold for any draft, ledger, judge and repairer (C7 to C9, L1, L8, N2).

The real guard, support check, selection and fallback run; only judge and repairer are scripted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.contract.agent import Ending
from affidavit.contract.decisions import DECISIONS
from affidavit.contract.errors import ModelFailed
from affidavit.contract.report import ReleaseRecord, Usage
from affidavit.contract.snapshots import FACT_CHARS_MAX, FACTS_MAX
from affidavit.contract.states import (
    AGENT_RUN_STATES,
    AGENT_STOP_REASONS,
    AgentStatus,
    DiagnosisStopReason,
    ReleaseOutcome,
    SemanticVerdict,
)
from affidavit.contract.violations import remedy_of
from affidavit.ledger.snapshot import Verified
from affidavit.progress.projector import LIMITATIONS_MAX
from affidavit.progress.selection import SeenCall, word
from affidavit.release.decide import decide, run_state_of
from affidavit.release.examine import Examiner, examine
from affidavit.release.fallback import REMEDIES_MAX
from affidavit.release.findings import ENDINGS, Findings
from affidavit.release.material import Gathered
from affidavit.release.publish import Frame, release_record
from affidavit.release.requests import REQUEST_CHARS_MAX, REQUESTS_MAX, claims_cause
from affidavit.release.wording import REASONS, STEPS
from tests.unit.progress.ledgers import RUN_ID, START, TENANT, Book, change, value
from tests.unit.release.drafts import (
    BODY,
    QUESTION,
    PlainDesk,
    ScriptedJudge,
    ScriptedRepairer,
    progress_of,
)

pytestmark = pytest.mark.slow

DRAFT_CANARY, MISSING_CANARY, ERROR_CANARY, REASON_CANARY = (
    "canary-of-the-draft",
    "canary-of-the-requests",
    "canary-of-an-exception",
    "a private reason",
)

call_ids = st.sampled_from(
    ["call_0001", "call_0002", "call_0003", "call_0099", "c\u0430ll_0001", ""]
)
analysis_ids = st.sampled_from(["A1", "A2", "A9", ""])
bodies = st.sampled_from(
    [
        BODY,
        f"{DRAFT_CANARY} is the root cause.",
        f"checkout error_rate was 5%. {DRAFT_CANARY} is calm.",
        f"checkout error_rate was 9% ({DRAFT_CANARY}).",
        "",
    ]
)


def analysis(id_: str, kind: str, body: str, calls: list[str]) -> dict[str, Any]:
    return {"id": id_, "kind": kind, "body": body, "tool_call_ids": calls}


def bound(text: str, ids: list[str]) -> dict[str, Any]:
    return {"text": text, "based_on_analysis_ids": ids}


analyses = st.builds(
    analysis,
    analysis_ids,
    st.sampled_from(["NORMAL", "NEGATIVE_OBSERVATION", DRAFT_CANARY]),
    bodies,
    st.lists(call_ids, max_size=3),
)
bounds = st.builds(bound, bodies, st.lists(analysis_ids, max_size=2))
limits = st.fixed_dictionaries(
    {
        "scope": st.sampled_from(["checkout", DRAFT_CANARY, ""]),
        "missing_info": st.lists(
            st.sampled_from(
                [MISSING_CANARY, f"{MISSING_CANARY} is the root cause", "x" * 900, "", "https://x"]
            ),
            max_size=4,
        ),
    }
)
plausible = st.fixed_dictionaries(
    {
        "analyses": st.just([analysis("A1", "NORMAL", BODY, ["call_0001"])]),
        "conclusion": st.just(bound(BODY, ["A1"])) | bounds | st.none(),
        "limitations": st.just({"scope": "checkout"}) | limits,
    }
)
wild = st.fixed_dictionaries(
    {
        "analyses": st.lists(analyses, max_size=3) | st.none(),
        "conclusion": bounds | st.none() | st.just(DRAFT_CANARY),
        "action_plan": st.lists(bounds, max_size=2),
        "limitations": limits | st.none(),
    }
)
written = st.one_of(
    plausible.map(json.dumps), wild.map(json.dumps), st.just(f"{DRAFT_CANARY} {{"), st.just("[]")
)
answers = st.lists(
    st.sampled_from(
        [*SemanticVerdict, ModelFailed(ERROR_CANARY), ModelFailed("x", code=ERROR_CANARY), None]
    ),
    min_size=1,
    max_size=3,
)
patches = st.sampled_from(
    [
        ModelFailed(ERROR_CANARY),
        DRAFT_CANARY,
        [{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0001"]}],
        [{"pointer": "/conclusion/based_on_analysis_ids", "ids": ["A1"]}],
        [{"pointer": "/conclusion/text", "ids": [DRAFT_CANARY]}],
    ]
)
ledgers = st.lists(
    st.sampled_from(["reading", "change", "empty", "failed", "unfinished"]), max_size=4
)
ENDS = [
    (ending, status, reason)
    for ending in Ending
    for status in AgentStatus
    for reason in (None, *DiagnosisStopReason)
    if (status, reason) in ENDINGS[ending] or status is AgentStatus.NEED_APPROVAL
]
ends = st.just((Ending.CONCLUDED, AgentStatus.DONE, None)) | st.sampled_from(ENDS)


@dataclass
class Case:
    """One run up to its release."""

    book: Book
    gathered: Gathered
    record: ReleaseRecord
    desk: PlainDesk


def write(history: list[str]) -> Book:
    book = Book()
    for move in history:
        match move:
            case "reading":
                book.found(value())
            case "change":
                book.found(change())
            case "empty":
                book.empty()
            case "failed":
                book.failed(ERROR_CANARY)
            case _:
                book.failed(status="PROJECTING")
    return book


def release(
    history: list[str],
    end: tuple[Ending, AgentStatus, DiagnosisStopReason | None],
    content: str,
    verdicts: list[object],
    patch: object,
) -> Case:
    """One whole release."""
    book, desk = write(history), PlainDesk()
    findings = Findings(QUESTION, *end, content.encode())
    examiner = Examiner(ScriptedJudge(verdicts), ScriptedRepairer(patch))

    async def go() -> Gathered:
        return await examine(findings, progress_of(book), book.ledger(), examiner, desk)

    gathered = anyio.run(go)
    frame = Frame(RUN_ID, TENANT, QUESTION, START, Usage(), end[1], end[2])
    return Case(book, gathered, release_record(frame, gathered), desk)


cases = st.builds(release, ledgers, ends, written, answers, patches)
MANY = settings(max_examples=300, deadline=None)
"""Each example is a whole release. Speed is measured in benchmarks, never by a clock in a test."""


@pytest.mark.spec("L8", "E17", "E18", "N5", "N12")
@MANY
@given(cases)
def test_every_release_is_one_lawful_row(case: Case) -> None:
    """Whatever was written, seen and answered: one row, and all that the tables say beside it."""
    record, row = case.record, DECISIONS[case.record.decision]
    assert record.decision == decide(case.gathered.situation)
    assert record.run_state is run_state_of(case.gathered.situation)
    assert record.outcome is row.outcome
    assert record.failure_code is row.failure_code
    assert record.run_state in AGENT_RUN_STATES[record.agent_status]
    assert record.stop_reason in AGENT_STOP_REASONS[record.agent_status]
    assert (record.result is not None) == (record.outcome is ReleaseOutcome.SUCCESS)
    assert (record.fallback is not None) == (record.outcome is ReleaseOutcome.FALLBACK)


@pytest.mark.spec("C7", "C8", "C9", "N6")
@MANY
@given(cases)
def test_a_fallback_is_bounded_and_backed_by_the_ledger(case: Case) -> None:
    """No conclusion, no cause, closed words, and every fact one that the ledger holds."""
    fallback = case.record.fallback
    if fallback is None:
        return
    row = DECISIONS[case.record.decision]
    assert (fallback.type, fallback.failure_stage) == (row.fallback, row.stage)
    assert fallback.conclusion is None
    assert len(fallback.observed_facts) <= FACTS_MAX
    assert len(fallback.limitations) <= LIMITATIONS_MAX
    assert len(fallback.asked_for) <= REQUESTS_MAX
    assert all(len(item) <= REQUEST_CHARS_MAX for item in fallback.asked_for)
    assert not any(claims_cause(item) for item in fallback.asked_for)
    remedies = {remedy_of(issue.code) for issue in fallback.validation_issues}
    assert set(fallback.next_steps) <= {*STEPS.values(), *remedies}
    assert len(fallback.next_steps) <= len(STEPS) + REMEDIES_MAX
    own = set(REASONS.values()) | set(case.gathered.progress.limitations)
    assert all(item in own or "further limits" in item for item in fallback.limitations)
    for fact in fallback.observed_facts:
        assert len(fact.text) <= FACT_CHARS_MAX
        read = case.book.ledger().read_back(fact.tool_call_id)
        assert isinstance(read, Verified)
        call = SeenCall(fact.tool_call_id, read.envelope)
        assert fact in [word(call, item) for item in (*read.envelope.facts, None)]


@pytest.mark.spec("N2", "C7", "M2")
@MANY
@given(cases)
def test_nothing_private_leaves(case: Case) -> None:
    """Draft text, exception text and a judge's reason; what was asked for stands in its place."""
    record = case.record
    text = record.model_dump_json()
    assert ERROR_CANARY not in text
    assert REASON_CANARY not in text
    if record.outcome is not ReleaseOutcome.SUCCESS:
        assert DRAFT_CANARY not in text
        asked = record.fallback.asked_for if record.fallback else ()
        assert text.count(MISSING_CANARY) == sum(MISSING_CANARY in item for item in asked)
    lines = repr([(entry.type, entry.data) for entry in case.desk.past])
    for canary in (DRAFT_CANARY, MISSING_CANARY, ERROR_CANARY, REASON_CANARY):
        assert canary not in lines


@pytest.mark.spec("D1", "G6", "N8", "N9", "N13")
@MANY
@given(cases)
def test_what_is_published_cites_what_was_recorded(case: Case) -> None:
    """Every citation of a result reads back, and a judge said SUPPORTED."""
    report = case.record.result
    if report is None:
        return
    ledger = case.book.ledger()
    analyses = {analysis.id for analysis in report.analyses}
    for analysis in report.analyses:
        assert analysis.tool_call_ids
        for key in analysis.tool_call_ids:
            assert isinstance(ledger.read_back(key), Verified)
    for part in (report.conclusion, *report.action_plan, *report.recommendations):
        assert set(part.based_on_analysis_ids) <= analyses
    assert "SUPPORTED" in [entry.data.get("verdict") for entry in case.desk.past]
    assert "root cause" not in case.record.model_dump_json()


@pytest.mark.spec("Q2", "L2")
@MANY
@given(cases)
def test_a_published_word_is_the_authors(case: Case) -> None:
    """Repaired or not, no text of a result was written by anybody else."""
    report = case.record.result
    if report is None:
        return
    texts = [analysis.body for analysis in report.analyses]
    texts += [part.text for part in (report.conclusion, *report.action_plan)]
    assert set(texts) <= {
        BODY,
        f"{DRAFT_CANARY} is the root cause.",
        f"checkout error_rate was 5%. {DRAFT_CANARY} is calm.",
        f"checkout error_rate was 9% ({DRAFT_CANARY}).",
    }


def test_the_generator_reaches_the_table() -> None:
    """One plain case a row: what the laws above range over is not empty."""
    ok = json.dumps(
        {
            "analyses": [analysis("A1", "NORMAL", BODY, ["call_0001"])],
            "conclusion": bound(BODY, ["A1"]),
            "limitations": {"scope": "checkout"},
        }
    )
    wrong = ok.replace("call_0001", "call_0099")
    mend = [{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0001"]}]
    asks = json.dumps(
        {"analyses": [], "conclusion": None, "limitations": {"scope": "x", "missing_info": ["y"]}}
    )
    done = (Ending.CONCLUDED, AgentStatus.DONE, None)
    spent = DiagnosisStopReason.BUDGET_LIMIT_REACHED
    budget = (Ending.BUDGET_EXHAUSTED, AgentStatus.BUDGET_EXCEEDED, spent)
    yes, no, down = SemanticVerdict.SUPPORTED, SemanticVerdict.UNSUPPORTED, ModelFailed("down")
    seen = ["reading"]
    rows: dict[str, Case] = {
        "D1": release(seen, done, ok, [yes], mend),
        "D2": release(seen, done, wrong, [yes], mend),
        "D3": release(seen, done, wrong, [yes], down),
        "D4": release(seen, done, ok, [no], mend),
        "D5": release(seen, done, ok, [down], mend),
        "D6": release(seen, done, asks, [yes], mend),
        "D7": release([], done, asks, [yes], mend),
        "D8": release([], done, asks.replace("y", ""), [yes], mend),
        "D9": release(seen, (Ending.GAVE_UP, AgentStatus.DONE, None), "", [yes], mend),
        "D10": release(seen, done, "[]", [yes], mend),
        "D11": release([], done, "[]", [yes], mend),
        "D12": release(seen, budget, "", [yes], mend),
        "D13": release([], budget, "", [yes], mend),
        "D14": release(seen, (Ending.CANCELLED, AgentStatus.CANCELLED, None), ok, [yes], mend),
        "D15": release(seen, (Ending.INTERNAL_FAILURE, AgentStatus.FAILED, None), ok, [yes], mend),
    }
    assert {row: str(case.record.decision) for row, case in rows.items()} == {
        row: row for row in rows
    }
