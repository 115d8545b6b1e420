"""A span from what the sentence before told, in another analysis: "eleven seconds earlier" (M4)."""

from __future__ import annotations

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support
from tests.support.runs import RUN_ID, TENANT

PUMPS = "2031-02-03T06:31:18Z WARN pump-4 stalled\n2031-02-03T06:31:40Z INFO pump-5 paused\n"
VALVES = "2031-02-03T06:31:07Z WARN valve-9 closed by operator\n"


def is_refused(first: str, second: str) -> bool:
    """Whether the second of two sentences is refused, each about a result of its own."""
    said = {"text": second}
    read = read_gate_input(
        {
            "question": "Why did the pump stop?",
            "window": {"start": "2031-02-03T06:00:00Z", "end": "2031-02-03T07:00:00Z"},
            "tool_calls": [
                {"id": "p", "tool": "pump_log", "status": "success", "result": PUMPS},
                {"id": "v", "tool": "valve_log", "status": "success", "result": VALVES},
            ],
            "draft": {
                "analyses": [
                    {"id": "A1", "kind": "NORMAL", "sentences": [{"text": first}],
                     "tool_call_ids": ["p"]},
                    {"id": "A2", "kind": "NORMAL", "sentences": [said], "tool_call_ids": ["v"]},
                ],
                "conclusion": {"text": first, "sentences": [{"text": first}],
                               "based_on_analysis_ids": ["A1"]},
                "limitations": {"scope": "the pump"},
            },
        }
    )  # fmt: skip
    ledger = supplied_ledger(read, RUN_ID, TENANT)
    draft = check_evidence(read_candidate(read.draft), ledger)
    assert isinstance(draft, VerifiedDraft)
    found = check_support(draft, ledger, read.question).refusals
    assert not [item for item in found if item.pointer.startswith("/analyses/0")]
    return bool(found)


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    "text",
    [
        "Eleven seconds earlier valve-9 was closed.",
        "11 seconds earlier, at 06:31:07, valve-9 was closed by the operator.",
        "valve-9 had closed eleven seconds earlier.",
    ],
)
def test_a_span_starts_from_the_sentence_before(text: str) -> None:
    assert not is_refused("pump-4 stalled at 06:31:18.", text)


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("first", "text"),
    [
        ("pump-4 stalled at 06:31:18.", "Twelve seconds earlier valve-9 was closed."),
        ("pump-4 stalled at 06:31:18.", "Eleven seconds later valve-9 was closed."),
        ("pump-4 stalled at 06:31:18.", "33 seconds earlier valve-9 was closed."),
        ("pump-5 paused at 06:31:40.", "Eleven seconds earlier valve-9 was closed."),
        ("pump-4 stalled.", "Forty seconds earlier valve-9 was closed."),
    ],
)
def test_no_other_span_is_let_through(first: str, text: str) -> None:
    assert is_refused(first, text)
