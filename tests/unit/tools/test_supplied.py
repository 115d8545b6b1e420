"""The gate's input, the supplied ledger, and free text as a draft."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import affidavit.tools
from affidavit.contract.draft import read_candidate
from affidavit.contract.errors import InputRefused
from affidavit.contract.states import (
    Emitter,
    EvidenceClass,
    EvidenceStatus,
    InvocationStatus,
    Provenance,
)
from affidavit.contract.violations import EvidenceCode
from affidavit.ledger.snapshot import LedgerSnapshot, Unverified, Verified
from affidavit.tools.supplied import draft_of_answer, read_gate_input, supplied_ledger

RUN = "run_0123456789abcdef"

REPORT: dict[str, Any] = {
    "question": "Why does boarding fail?",
    "agent": "harbour-agent",
    "window": {"start": "2031-05-04T01:00:00Z", "end": "2031-05-04T02:00:00Z"},
    "tool_calls": [
        {
            "id": "c1",
            "tool": "kubectl_logs",
            "arguments": {"service": "boarding", "namespace": "harbour"},
            "status": "success",
            "result": "2031-05-04T01:10:00Z ERROR seat lock timeout after 5000ms",
            "completed_at": "2031-05-04T01:59:00Z",
        },
        {
            "id": "c2",
            "tool": "search_logs",
            "arguments": {
                "service": "seats-db",
                "query": "deadlock",
                "from": "2031-05-04T01:05:00Z",
                "to": "2031-05-04T01:30:00Z",
            },
            "status": "no_data",
            "result": "[]",
        },
        {
            "id": "c3",
            "tool": "kubectl_get",
            "arguments": {"kind": "secret"},
            "status": "error",
            "result": "Error from server (Forbidden): secrets is forbidden",
        },
    ],
    "draft": {"analyses": "not even a list"},
}


def report(**changes: Any) -> dict[str, Any]:
    """The report with top-level changes."""
    return {**copy.deepcopy(REPORT), **changes}


def with_call(**changes: Any) -> dict[str, Any]:
    """The report with changes to its first call."""
    changed = report()
    changed["tool_calls"][0].update(changes)
    return changed


def ledger_of(raw: dict[str, Any], received_at: datetime | None = None) -> LedgerSnapshot:
    """The supplied ledger of a report."""
    return supplied_ledger(read_gate_input(raw), RUN, "local", received_at)


def verified(ledger: LedgerSnapshot, call_id: str) -> Verified:
    """A call that must read back."""
    found = ledger.read_back(call_id)
    assert isinstance(found, Verified), found
    return found


# --- The envelope -------------------------------------------------------------------------------


@pytest.mark.spec("C4", "G0")
def test_a_report_is_read_and_its_draft_left_as_it_stands() -> None:
    """The envelope is strict, the draft is the guard's."""
    found = read_gate_input(report())
    assert [call.id for call in found.tool_calls] == ["c1", "c2", "c3"]
    assert found.draft == {"analyses": "not even a list"}
    assert found.window is not None
    assert found.window.start == datetime(2031, 5, 4, 1, tzinfo=UTC)


def without(key: str) -> dict[str, Any]:
    """The report without one field."""
    changed = report()
    del changed[key]
    return changed


@pytest.mark.spec("C4")
@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        ([], "/"),
        (without("question"), "/question"),
        (without("tool_calls"), "/tool_calls"),
        (without("draft"), "/"),
        (report(answer="both"), "/"),
        (report(verdict="SUPPORTED"), "/verdict"),
        (report(window={"start": "2031-05-04T01:00:00Z"}), "/window/end"),
        (report(window={"start": "yesterday", "end": "2031-05-04T01:00:00Z"}), "/window/start"),
        (
            report(window={"start": "2031-05-04T02:00:00Z", "end": "2031-05-04T01:00:00Z"}),
            "/window",
        ),
        (report(tool_calls={}), "/tool_calls"),
        (report(tool_calls=["c1"]), "/tool_calls/0"),
        (with_call(status="ok"), "/tool_calls/0/status"),
        (with_call(id=7), "/tool_calls/0/id"),
        (with_call(tool="\ud800"), "/tool_calls/0/tool"),
        (with_call(id="c2"), "/tool_calls/1/id"),
        (with_call(results=1), "/tool_calls/0/results"),
        (with_call(arguments=[]), "/tool_calls/0/arguments"),
        (with_call(total=-1), "/tool_calls/0/total"),
        (with_call(total=True), "/tool_calls/0/total"),
        (with_call(truncated="no"), "/tool_calls/0/truncated"),
        (with_call(emitter="me"), "/tool_calls/0/emitter"),
        (with_call(evidence_class="PROOF"), "/tool_calls/0/evidence_class"),
        (with_call(completed_at="2031-05-04T01:00:00"), "/tool_calls/0/completed_at"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(raw: object, pointer: str) -> None:
    """One clear line: where, what, and how to mend it."""
    with pytest.raises(InputRefused) as refused:
        read_gate_input(raw)
    assert f"gate input, {pointer}: " in refused.value.message
    assert refused.value.code == "GATE_INPUT_REFUSED"
    assert refused.value.hint


def test_a_free_text_answer_stands_instead_of_a_draft() -> None:
    """Either is enough; null stands for neither."""
    raw = without("draft")
    raw["answer"] = "Boarding fails."
    assert read_gate_input(raw).answer == "Boarding fails."


def test_the_schema_in_the_package_names_the_same_fields() -> None:
    """What is documented is what is read."""
    path = Path(affidavit.tools.__file__).parent / "gate.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    call = schema["properties"]["tool_calls"]["items"]
    for name in call["properties"]:
        base = {"id": "c1", "tool": "t", "status": "success"}
        raw = report(tool_calls=[{**base, name: base.get(name)}])
        assert read_gate_input(raw).tool_calls
    assert set(schema["properties"]) == {
        "question", "agent", "window", "tool_calls", "draft", "answer",
    }  # fmt: skip


# --- The ledger ---------------------------------------------------------------------------------


@pytest.mark.spec("C12", "N18")
def test_every_record_says_that_it_was_supplied() -> None:
    """Also those that failed."""
    calls = ledger_of(report()).calls
    assert {stored.record.provenance for stored in calls.values()} == {Provenance.SUPPLIED}


@pytest.mark.spec("G7", "C3")
def test_a_supplied_call_reads_back_like_a_recorded_one() -> None:
    """Found, with its scope from the arguments and the report's window."""
    found = verified(ledger_of(report()), "c1")
    assert found.envelope.status is EvidenceStatus.EVIDENCE_FOUND
    assert found.envelope.scope.service == "boarding"
    assert found.envelope.scope.window == read_gate_input(report()).window
    assert '"namespace": "harbour"' in found.envelope.scope.query
    assert found.envelope.observed_at == datetime(2031, 5, 4, 1, 59, tzinfo=UTC)
    assert found.envelope.emitter is Emitter.WORKLOAD


@pytest.mark.spec("G9", "T4")
def test_an_empty_call_keeps_the_window_that_it_asked_for() -> None:
    """The arguments' window is narrower than the report's, and wins."""
    found = verified(ledger_of(report()), "c2")
    assert found.envelope.status is EvidenceStatus.NO_EVIDENCE
    window = found.envelope.scope.window
    assert window is not None
    assert (window.start.minute, window.end.minute) == (5, 30)
    assert "deadlock" in found.envelope.scope.query


@pytest.mark.spec("N9", "G8")
@pytest.mark.fault("R4")
def test_a_failed_call_is_never_evidence() -> None:
    """Its text is in no projection."""
    ledger = ledger_of(report())
    record = ledger.calls["c3"].record
    assert (record.status, record.error_code) == (InvocationStatus.ERROR, "SUPPLIED_FORBIDDEN")
    assert ledger.calls["c3"].result is None
    assert ledger.read_back("c3") == Unverified(EvidenceCode.INVOCATION_NOT_READY)


@pytest.mark.spec("G7")
def test_an_ill_formed_id_is_kept_for_the_guard_to_report() -> None:
    """The key is what the author wrote."""
    ledger = ledger_of(with_call(id="c 1; drop"))
    assert ledger.read_back("c 1; drop") == Unverified(EvidenceCode.TOOL_CALL_ID_MALFORMED)


@pytest.mark.spec("G7", "N13")
def test_a_call_that_was_not_supplied_does_not_exist() -> None:
    """An invented id finds nothing."""
    assert ledger_of(report()).read_back("c9") == Unverified(EvidenceCode.INVOCATION_NOT_FOUND)


@pytest.mark.spec("C13")
def test_the_author_s_word_on_class_and_emitter_is_kept() -> None:
    """It stands in record and projection alike."""
    found = verified(
        ledger_of(with_call(evidence_class="GUIDANCE", emitter="platform", total=9)), "c1"
    )
    assert found.record.evidence_class is EvidenceClass.GUIDANCE
    assert (found.envelope.emitter, found.envelope.total) == (Emitter.PLATFORM, 9)
    assert found.record.truncated


def test_a_call_without_times_was_read_when_it_was_received() -> None:
    """Else at the end of its window; never at a time that nobody named."""
    raw = report()
    received = datetime(2031, 6, 1, tzinfo=UTC)
    assert verified(ledger_of(raw, received), "c2").envelope.observed_at == received
    end = verified(ledger_of(raw), "c2").envelope.observed_at
    assert end == datetime(2031, 5, 4, 1, 30, tzinfo=UTC)


def test_the_same_report_gives_the_same_bytes() -> None:
    """Records, digests and projections are functions of the input."""
    first, second = ledger_of(report()), ledger_of(report())
    assert {k: (v.record, v.result) for k, v in first.calls.items()} == {
        k: (v.record, v.result) for k, v in second.calls.items()
    }


@pytest.mark.parametrize("value", [1.5, {"é": [1, None, True]}, "\ud800", 10**30, [[[]]]])
def test_any_argument_and_result_can_be_recorded(value: object) -> None:
    """Floats, other alphabets, broken surrogates, huge numbers."""
    ledger = ledger_of(with_call(arguments={"x": value}, result={"x": value, "y": "z"}))
    assert verified(ledger, "c1").envelope.facts


# --- Free text ----------------------------------------------------------------------------------

ANSWER = """\
## Summary
Boarding fails because `boarding` hits a seat lock timeout after 5000ms at 01:10:00Z.

**Evidence**
- No log line of seats-db matched deadlock between 01:05 and 01:30.
- What holds the lock is unclear.

### Next steps
1. Raise the lock timeout.
"""


@pytest.mark.spec("C4")
def test_an_answer_becomes_a_draft_that_the_guard_can_read() -> None:
    """Sentences bound to the calls that share their atoms; nothing added, markup gone."""
    draft = draft_of_answer(ANSWER, ledger_of(report()))
    candidate = read_candidate(draft)
    assert candidate.analyses is not None
    bodies = {analysis.body: analysis for analysis in candidate.analyses}
    claim = "Boarding fails because boarding hits a seat lock timeout after 5000ms at 01:10:00Z."
    absent = "No log line of seats-db matched deadlock between 01:05 and 01:30."
    assert (bodies[absent].kind, bodies[absent].tool_call_ids) == ("NEGATIVE_OBSERVATION", ("c2",))
    assert candidate.conclusion is not None
    assert candidate.conclusion.text == claim
    question = bodies["What holds the lock is unclear."]  # it is checked like any sentence
    assert question.tool_call_ids == ("c1",)
    assert candidate.conclusion.based_on_analysis_ids == (question.id,)
    assert [part.text for part in candidate.recommendations] == ["Raise the lock timeout."]


def test_a_sentence_that_shares_nothing_is_bound_to_nothing() -> None:
    """It is not handed a call that could not carry it."""
    draft = draft_of_answer("The moon is made of cheese.", ledger_of(report()))
    candidate = read_candidate(draft)
    assert candidate.analyses is not None
    assert candidate.analyses[0].tool_call_ids == ()


@pytest.mark.parametrize("text", ["", "\n\n", "###", "No.", "a" * 9_000, "- \n- \n", "```\n```"])
def test_any_answer_gives_some_draft(text: str) -> None:
    """Never an error; an empty answer has no conclusion."""
    draft = draft_of_answer(text, ledger_of(report()))
    assert isinstance(draft["analyses"], list)


def test_an_opening_word_stays_with_its_sentence() -> None:
    """`No.` says nothing alone."""
    draft = draft_of_answer("No. boarding hit a timeout after 5000ms.", ledger_of(report()))
    candidate = read_candidate(draft)
    assert candidate.conclusion is not None
    assert candidate.conclusion.text == "No. boarding hit a timeout after 5000ms."


# --- Windows ------------------------------------------------------------------------------------


@pytest.mark.spec("G9")
@pytest.mark.parametrize(
    ("arguments", "window"),
    [
        ({}, ("01:00", "02:00")),
        ({"start": "2031-05-04T01:20:00Z", "end": "2031-05-04T01:25:00Z"}, ("01:20", "01:25")),
        ({"from": 1935624000, "to": 1935624300}, ("01:20", "01:25")),
        ({"time": "2031-05-04T01:20:00Z"}, ("01:20", "01:20")),
        ({"start": "2031-05-04T01:20:00Z"}, ("01:20", "01:59")),
        ({"since": "9m"}, ("01:50", "01:59")),
        ({"start_time": "-540"}, ("01:50", "01:59")),
        ({"from": "now-9m", "to": "now"}, ("01:50", "01:59")),
        ({"since": "yesterday"}, None),
        ({"end": "2031-05-04T01:20:00Z"}, None),
        ({"start": "2031-05-04T01:20:00Z", "end": "2031-05-04T01:10:00Z"}, None),
    ],
)
def test_the_window_is_what_was_asked_and_never_wider(
    arguments: dict[str, object], window: tuple[str, str] | None
) -> None:
    """The report's window stands in only where the arguments name no time at all."""
    found = verified(ledger_of(with_call(arguments=arguments)), "c1").envelope.scope.window
    shown = found and (f"{found.start:%H:%M}", f"{found.end:%H:%M}")
    assert shown == window


@pytest.mark.spec("G9")
def test_a_relative_window_without_a_time_of_the_call_is_no_window() -> None:
    """Five minutes before when?"""
    raw = with_call(arguments={"since": "5m"})
    del raw["tool_calls"][0]["completed_at"]
    assert verified(ledger_of(raw), "c1").envelope.scope.window is None
