"""A sentence with a proved statement passes when it says that fact, and not when it says more."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support
from tests.support.runs import RUN_ID, TENANT

TABLE = (
    "name              messages  consumers  publish_rate  ack_rate\n"
    "invoice.render    18422     1          6.1           1.9\n"
    "invoice.mail      3         4          1.9           1.9\n"
)
POINTS: dict[str, Any] = {
    "metric": "request_duration",
    "statistic": "p95",
    "unit": "seconds",
    "service": "payments",
    "points": [{"t": "2026-05-19T18:10:00Z", "v": 0.43}, {"t": "2026-05-19T18:20:00Z", "v": 6.8}],
}
RENDER = {"tool_call_id": "q", "subject": "invoice.render", "attribute": "messages", "value": 18422}
MAIL = {"tool_call_id": "q", "subject": "invoice.mail", "attribute": "messages", "value": 3}
SLOW = {
    "tool_call_id": "m", "subject": "payments", "attribute": "p95 request_duration",
    "value": 6.8, "unit": "s", "at": "2026-05-19T18:20:00Z",
}  # fmt: skip


def is_refused(text: str, *statements: dict[str, Any]) -> bool:
    """Whether a draft of this one sentence is refused."""
    sentence = {"text": text, "statements": list(statements)}
    read = read_gate_input(
        {
            "question": "What is slow?",
            "window": {"start": "2026-05-19T18:00:00Z", "end": "2026-05-19T18:30:00Z"},
            "tool_calls": [
                {"id": "q", "tool": "list_queues", "status": "success", "result": TABLE},
                {"id": "m", "tool": "query_metrics", "status": "success", "result": POINTS},
            ],
            "draft": {
                "analyses": [
                    {"id": "A1", "kind": "NORMAL", "sentences": [sentence],
                     "tool_call_ids": ["q", "m"]}
                ],
                "conclusion": {"text": text, "sentences": [sentence],
                               "based_on_analysis_ids": ["A1"]},
                "limitations": {"scope": "queues and p95 of payments"},
            },
        }
    )  # fmt: skip
    ledger = supplied_ledger(read, RUN_ID, TENANT)
    draft = check_evidence(read_candidate(read.draft), ledger)
    assert isinstance(draft, VerifiedDraft)
    return bool(check_support(draft, ledger, read.question).refusals)


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("true", "false", "statements"),
    [
        ("Queue invoice.render holds 18422 messages.",
         "Queue invoice.render holds 81422 messages.", (RENDER,)),
        ("Queue invoice.render holds 18422 messages.",
         "Queue invoice.mail holds 18422 messages.", (RENDER,)),
        ("invoice.render and invoice.mail hold 18422 and 3 messages.",
         "invoice.render and invoice.mail hold 3 and 18422 messages.", (RENDER, MAIL)),
        ("By contrast, invoice.mail has just 3 messages.",
         "By contrast, invoice.mail has just 3 crashes.", (MAIL,)),
        ("The p95 request_duration of payments was 6.8 s at 18:20.",
         "The p95 request_duration of payments was 6.8 ms at 18:20.", (SLOW,)),
        ("The p95 request_duration of payments was 6.8 s at 18:20.",
         "The average request_duration of payments was 6.8 s at 18:20.", (SLOW,)),
        ("The p95 request_duration of payments was 6.8 s at 18:20.",
         "The p95 request_duration of payments was 6.8 s at 18:10.", (SLOW,)),
    ],
)  # fmt: skip
def test_a_fact_passes_and_its_false_twin_does_not(
    true: str, false: str, statements: tuple[dict[str, Any], ...]
) -> None:
    """Number, subject, pairing, claim, unit, statistic and moment each change the verdict."""
    assert not is_refused(true, *statements)
    assert is_refused(false, *statements)
