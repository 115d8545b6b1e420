"""Section 10 read backwards: which row do lines imply? (L8)"""

from __future__ import annotations

import pytest

from affidavit.affidavit.implied import NothingImplied, Seen, implied_decision
from affidavit.contract.journal import Entry, EventType

NOTHING = Seen(facts=False, asks=False)
FACTS = Seen(facts=True, asks=False)
ASKS = Seen(facts=False, asks=True)

Line = tuple[EventType, dict[str, object]]


def ended(ending: str, status: str = "DONE", reason: str | None = None) -> Line:
    data: dict[str, object] = {
        "ending": ending,
        "agent_status": status,
        "stop_reason": reason,
        "draft_digest": None,
    }
    return EventType.COLLECTION_ENDED, data


def guard(result: str = "PASSED", *, again: bool = False) -> Line:
    type_ = EventType.EVIDENCE_GUARD_RECHECK if again else EventType.EVIDENCE_GUARD_INITIAL
    return type_, {"result": result, "violations": 0 if result == "PASSED" else 2, "codes": []}


def repair(result: str) -> Line:
    return EventType.EVIDENCE_REPAIR_ATTEMPT, {"result": result, "patch_digest": None}


def support(result: str = "PASSED") -> Line:
    return EventType.SUPPORT_CHECK, {"result": result, "refusals": 0, "codes": []}


def asked(result: str = "ANSWERED") -> Line:
    return EventType.SEMANTIC_GUARD_ATTEMPT, {"judge": "x", "attempt": 1, "result": result}


def verdict(word: str = "SUPPORTED") -> Line:
    return EventType.SEMANTIC_GUARD_DECISION, {"verdict": word, "reason_digest": ""}


def withdrawal(number: int) -> Line:
    numbers = list(range(1, number + 1))
    data = {"result": "x", "withdrawn": number, "sentences": numbers}
    return EventType.DRAFT_WITHDRAWAL_ATTEMPT, data


def stopped(ending: str) -> Line:
    return EventType.RELEASE_STOPPED, {"ending": ending}


CANCEL: Line = (EventType.CANCEL_REQUESTED, {"by": "somebody"})
CONCLUDED = ended("CONCLUDED")
SATURATED = ended("CONCLUDED", reason="INFORMATION_SATURATED")
YES = (asked(), verdict())
NO = (asked(), verdict("UNSUPPORTED"))


def implied(*lines: Line, seen: Seen = NOTHING) -> set[str]:
    """The rows that these lines imply."""
    journal = [
        Entry("run_0123456789abcdef", seq, 0, type_, data, "", "")
        for seq, (type_, data) in enumerate(lines, start=1)
    ]
    return {str(row) for row in implied_decision(journal, seen)}


ROWS: list[tuple[str, tuple[Line, ...], Seen]] = [
    ("D1", (CONCLUDED, guard(), support(), *YES), NOTHING),
    ("D1", (SATURATED, guard(), support(), *YES), NOTHING),
    ("D1", (CONCLUDED, guard(), support("UNPROVED"), asked("DOWN"), *YES), NOTHING),
    ("D1", (CONCLUDED, guard(), support("UNPROVED"), withdrawal(0), *YES), NOTHING),
    (
        "D2",
        (CONCLUDED, guard("FAILED"), repair("APPLIED"), guard(again=True), support(), *YES),
        NOTHING,
    ),
    (
        "D2b",
        (
            *(CONCLUDED, guard(), support("UNPROVED"), withdrawal(1)),
            *(guard(again=True), support(), *YES),
        ),
        NOTHING,
    ),
    ("D3", (CONCLUDED, guard("FAILED"), repair("UNAVAILABLE")), FACTS),
    ("D3", (CONCLUDED, guard("FAILED"), repair("APPLIED"), guard("FAILED", again=True)), NOTHING),
    ("D4", (CONCLUDED, guard(), support("REFUTED")), NOTHING),
    ("D4", (CONCLUDED, guard(), support(), *NO), NOTHING),
    ("D5", (CONCLUDED, guard(), support(), asked("DOWN"), asked("DOWN")), NOTHING),
    ("D6", (CONCLUDED, guard()), FACTS),
    ("D6", (CONCLUDED, guard("FAILED")), FACTS),
    ("D7", (CONCLUDED, guard()), ASKS),
    ("D8", (CONCLUDED, guard()), NOTHING),
    ("D8", (CONCLUDED, guard("FAILED")), ASKS),
    ("D9", (ended("GAVE_UP"),), FACTS),
    ("D9", (ended("PROTOCOL_VIOLATED", "LOOP_DETECTED", "PROGRESS_PROTOCOL_VIOLATED"),), FACTS),
    ("D9", (ended("LOOP_DETECTED", "LOOP_DETECTED", "INFORMATION_SATURATED"),), FACTS),
    ("D10", (CONCLUDED,), FACTS),
    ("D10", (ended("UNREADABLE"),), FACTS),
    ("D11", (CONCLUDED,), NOTHING),
    ("D11", (SATURATED,), NOTHING),
    ("D11", (ended("UNREADABLE"),), NOTHING),
    ("D11", (ended("GAVE_UP"),), NOTHING),
    ("D12", (ended("BUDGET_EXHAUSTED", "MAX_ITERATIONS", "BUDGET_LIMIT_REACHED"),), FACTS),
    ("D12", (ended("TIMED_OUT", "TIMEOUT", "BUDGET_LIMIT_REACHED"),), FACTS),
    ("D12", (CONCLUDED, guard(), support(), stopped("TIMED_OUT")), FACTS),
    ("D13", (ended("TIMED_OUT", "TIMEOUT", "BUDGET_LIMIT_REACHED"),), NOTHING),
    ("D14", (ended("CANCELLED", "CANCELLED"),), FACTS),
    ("D14", (CONCLUDED, guard(), CANCEL, stopped("CANCELLED")), FACTS),
    ("D14", (CONCLUDED, guard(), support(), *YES, CANCEL), FACTS),
    ("D15", (ended("INTERNAL_FAILURE", "FAILED"),), FACTS),
    ("D15", (CONCLUDED, guard(), stopped("INTERNAL_FAILURE")), FACTS),
    ("D15", (ended("CONCLUDED", "DONE", "PROGRESS_PROTOCOL_VIOLATED"),), FACTS),
    ("D15", (ended("GAVE_UP", "TIMEOUT", "BUDGET_LIMIT_REACHED"),), FACTS),
    ("D12", (CANCEL, ended("TIMED_OUT", "TIMEOUT", "BUDGET_LIMIT_REACHED")), FACTS),
]


@pytest.mark.spec("L8", "D1", "D2", "D2b", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "D10")
@pytest.mark.spec("D11", "D12", "D13", "D14", "D15")
@pytest.mark.parametrize(
    ("row", "lines", "seen"), ROWS, ids=[f"{n} {row[0]}" for n, row in enumerate(ROWS)]
)
def test_lines_imply_a_row(row: str, lines: tuple[Line, ...], seen: Seen) -> None:
    assert implied(*lines, seen=seen) == {row}


@pytest.mark.spec("L8")
def test_every_row_of_the_table_is_implied_by_some_lines() -> None:
    assert {row for row, _, _ in ROWS} == {
        *("D1", "D2", "D2b", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "D10", "D11"),
        *("D12", "D13", "D14", "D15"),
    }


@pytest.mark.spec("L8")
def test_a_saturated_draft_that_nobody_examined_is_one_of_two() -> None:
    """Unreadable on closer look, or without a conclusion: the lines do not tell."""
    assert implied(SATURATED, seen=FACTS) == {"D9", "D10"}


@pytest.mark.spec("L3", "L8", "M3", "N4")
@pytest.mark.parametrize(
    "lines",
    [
        (),
        (guard(), support(), *YES),
        (CONCLUDED, CONCLUDED),
        (CONCLUDED, support(), *YES),
        (CONCLUDED, guard(), *YES),
        (CONCLUDED, guard("FAILED"), support(), *YES),
        (CONCLUDED, guard("FAILED"), repair("APPLIED"), support(), *YES),
        (CONCLUDED, guard("FAILED"), repair("UNAVAILABLE"), support(), *YES),
        (CONCLUDED, guard(), support("REFUTED"), *YES),
        (CONCLUDED, guard(), support()),
        (CONCLUDED, guard(), support(), verdict()),
        (CONCLUDED, guard(), support(), asked()),
        (CONCLUDED, guard(), support(), asked(), asked(), verdict()),
        (CONCLUDED, guard(), support(), asked("DOWN"), asked("DOWN"), *YES),
        (CONCLUDED, guard(), support(), *YES, *YES),
        (CONCLUDED, guard(), guard(), support(), *YES),
        (CONCLUDED, guard(), support("UNPROVED"), withdrawal(1), *YES),
        (CONCLUDED, guard(), support("UNPROVED"), withdrawal(1), guard(again=True), *YES),
        (CONCLUDED, stopped("TIMED_OUT"), stopped("CANCELLED")),
    ],
)
def test_lines_out_of_place_imply_nothing(lines: tuple[Line, ...]) -> None:
    with pytest.raises(NothingImplied):
        implied(*lines)
