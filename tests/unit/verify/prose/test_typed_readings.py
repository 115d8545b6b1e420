"""Sentences that their own proved statements carry, and the same ones under bent words (M4)."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support
from tests.support.runs import RUN_ID, TENANT

LIFTS = {
    "columns": ["lift", "riders", "stopped", "p95_wait_s", "outcome", "per_door_closings"],
    "rows": [
        ["north-1", 2890, 1512, 388, "HALTED", 91],
        ["south-2", 2204, 2085, 44, "RUNNING", 17],
    ],
}


def value(subject: str, attribute: str, what: object, unit: str | None = None) -> dict[str, Any]:
    """A typed statement about a lift."""
    named = {"kind": "value", "tool_call_id": "q", "subject": subject, "attribute": attribute}
    return {**named, "operator": "=", "value": what, **({"unit": unit} if unit else {})}


def is_refused(text: str, *statements: dict[str, Any], before: str = "north-1 halted.") -> bool:
    """Whether a sentence with these statements is refused, behind one that names its thing."""
    first = {"text": before, "statements": [value("north-1", "outcome", "HALTED")]}
    read = read_gate_input(
        {
            "question": "Why do people wait?",
            "window": {"start": "2031-05-19T18:00:00Z", "end": "2031-05-19T18:30:00Z"},
            "tool_calls": [{"id": "q", "tool": "lift_sql", "status": "success", "result": LIFTS,
                            "arguments": {"lifts": ["north-1", "south-2"]}}],
            "draft": {
                "analyses": [
                    {"id": "A1", "kind": "NORMAL", "tool_call_ids": ["q"],
                     "sentences": [first, {"text": text, "statements": list(statements)}]},
                ],
                "conclusion": {"text": before, "sentences": [first],
                               "based_on_analysis_ids": ["A1"]},
                "limitations": {"scope": "lifts"},
            },
        }
    )  # fmt: skip
    ledger = supplied_ledger(read, RUN_ID, TENANT)
    draft = check_evidence(read_candidate(read.draft), ledger)
    assert isinstance(draft, VerifiedDraft)
    found = check_support(draft, ledger, read.question).refusals
    return any(item.pointer.startswith("/analyses/0/sentences/1") for item in found)


RIDERS = (value("north-1", "stopped", 1512), value("north-1", "riders", 2890))
WAITS = (value("north-1", "p95_wait_s", 388, "s"), value("south-2", "p95_wait_s", 44, "s"))
DOORS = (value("north-1", "per_door_closings", 91),)
LONG = (value("north-1", "p95_wait_s", 388, "s"), value("north-1", "outcome", "HALTED"))
OUTCOME = (value("south-2", "outcome", "RUNNING"),)


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("On north-1, 1512 of 2890 riders were stopped.", RIDERS),
        ("Its p95 wait was 388 s, that of south-2 44 s.", WAITS),
        ("north-1 counted 91 per-door closings.", DOORS),
        ("south-2 ended with outcome RUNNING.", OUTCOME),
        ("The lowest p95 wait, 44 s, was that of south-2.", WAITS[1:]),
    ],
)
def test_what_the_statements_say_is_let_through(
    text: str, statements: tuple[dict[str, Any], ...]
) -> None:
    assert not is_refused(text, *statements)


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("On north-1, 2890 of 1512 riders were stopped.", RIDERS),
        ("On south-2, 1512 of 2890 riders were stopped.", RIDERS),
        ("Its p95 wait was 44 s, that of south-2 388 s.", WAITS),
        ("Its mean wait was 388 s, that of south-2 44 s.", WAITS),
        ("north-1 counted 91 per-floor closings.", DOORS),
        ("north-1 counted 91 door-per closings.", DOORS),
        ("south-2 ended with outcome HALTED.", OUTCOME),
        ("The highest p95 wait, 44 s, was that of south-2.", WAITS[1:]),
        ("The lowest p95 wait, 388 s, was that of north-1.", WAITS[:1]),
        ("The lowest ridership, 44 s, was that of south-2.", WAITS[1:]),
        ("north-1 ended HALTED before 388 s.", LONG),
        ("north-1 and south-2 counted 91 per-door closings.", DOORS),
        ("north-1 ended with outcome RUNNING.", OUTCOME),
    ],
)
def test_the_same_statements_carry_no_other_words(
    text: str, statements: tuple[dict[str, Any], ...]
) -> None:
    assert is_refused(text, *statements)
