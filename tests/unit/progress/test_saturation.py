"""When looking further has stopped paying (P2, P3)."""

from __future__ import annotations

import pytest

from affidavit.progress.saturation import (
    EVIDENCE_CALLS_MIN,
    PATIENCE_STEPS,
    Admission,
    GainState,
    Patience,
    admit_calls,
    saturation,
)
from affidavit.progress.tracker import RefusedCall, TrackedCall, TrackedStep, Tracker
from tests.unit.progress.ledgers import Book, line, value

pytestmark = pytest.mark.spec("P2")


def state(book: Book, patience: Patience | None = None) -> GainState:
    return saturation(book.ledger(), book.tracker(), patience)


def test_a_run_that_learns_goes_on() -> None:
    """Each new fact starts the streak anew."""
    book = Book()
    for number in ("1", "20", "300", "4000", "50000"):
        book.found(value(number=number))
    assert state(book) == GainState(False, 0, 5, 5)


def test_three_steps_without_news_are_enough() -> None:
    """Patience is three steps, and the default says so."""
    book = Book()
    book.found(value())
    for wanted in (1, 2):
        book.found(value())
        assert state(book) == GainState(False, wanted, wanted + 1, 1)
    book.found(value())
    assert state(book) == GainState(True, PATIENCE_STEPS, 4, 1)


def test_an_empty_answer_is_a_fact_without_gain() -> None:
    """NO_EVIDENCE lengthens the streak."""
    book = Book()
    book.found(value())
    for query in ("a", "b", "c"):
        book.empty(query=query)
    assert state(book).saturated


@pytest.mark.parametrize("status", ["ERROR", "PROJECTING"])
def test_a_failed_source_is_neutral(status: str) -> None:
    """An error neither lengthens nor ends a streak, and is no evidence call."""
    book = Book()
    book.found(value())
    book.empty()
    for _ in range(PATIENCE_STEPS * 2):
        book.failed(status=status)  # type: ignore[arg-type]  # the two literals above
    assert state(book) == GainState(False, 1, 2, 1)
    book.found(value(number="77"))
    assert state(book).streak == 0


def test_only_failures_never_saturate() -> None:
    """Nobody has looked anywhere when every source failed."""
    book = Book()
    for _ in range(10):
        book.failed()
    assert state(book) == GainState(False, 0, 0, 0)


def test_a_single_answer_is_never_enough() -> None:
    """One call that an agent asks for again and again is one evidence call."""
    book = Book()
    key = book.found(value())
    again = TrackedStep((TrackedCall(key, "scan"),))
    tracker = book.tracker()
    for _ in range(PATIENCE_STEPS * 2):
        tracker = tracker.record(again)
    seen = saturation(book.ledger(), tracker)
    assert seen.evidence_calls == 1 < EVIDENCE_CALLS_MIN
    assert not seen.saturated


def test_a_step_is_counted_once_however_many_calls_it_holds() -> None:
    """Four calls side by side are one step; one of them with news is gain."""
    book = Book()
    first = [book.found(value(number=number), step=False) for number in ("1", "1", "1", "1")]
    calls = tuple(TrackedCall(key, "scan") for key in first)
    tracker = Tracker().record(TrackedStep(calls)).record(TrackedStep(calls))
    assert saturation(book.ledger(), tracker).streak == 1


def test_the_scope_makes_no_news() -> None:
    """The same reading from a wider question is the same reading; the next digit is noise."""
    book = Book()
    book.found(value(number="100"), service="checkout")
    book.found(value(number="100"), service=None)
    book.found(value(number="101"), query="another")
    assert state(book).facts == 1


def test_one_more_line_of_a_template_is_no_news() -> None:
    """Ids, times and numbers inside a line do not make it new; other words do."""
    book = Book()
    book.found(line("payment 17 timed out after 5000 ms, trace 4bf92f3577b34da6"), tool="logs")
    book.found(line("payment 18 timed out after 5001 ms, trace a3ce929d0e0e4736"), tool="logs")
    assert state(book).streak == 1
    book.found(line("payment 19 refused, trace a3ce929d0e0e4736"), tool="logs")
    assert state(book).streak == 0


def test_a_refused_step_says_nothing_about_gain() -> None:
    """What was never executed can neither gain nor disappoint."""
    book = Book()
    book.found(value())
    tracker = book.tracker()
    for _ in range(5):
        tracker = tracker.record(TrackedStep(refused=(RefusedCall("scan", "TOOL_UNKNOWN"),)))
    assert saturation(book.ledger(), tracker).streak == 0


def test_a_record_of_another_identity_gains_nothing() -> None:
    """A tracked call whose record is of another tool is not read back as its own (P1)."""
    book = Book()
    key = book.found(value(), step=False)
    tracker = Tracker().record(TrackedStep((TrackedCall(key, "logs"),)))
    assert saturation(book.ledger(), tracker) == GainState(False, 0, 0, 0)


@pytest.mark.parametrize("number", ["1E+999999999", "-1E+999999999", "1E-999999999"])
def test_a_number_beyond_any_range_is_news_once(number: str) -> None:
    """A hostile reading neither raises nor gains for ever."""
    book = Book()
    book.found(value(number=number))
    book.found(value(number=number), query="again")
    assert state(book).streak == 1


def test_patience_is_a_setting() -> None:
    """One step is the least patience."""
    book = Book()
    book.found(value())
    book.found(value())
    assert state(book, Patience(steps=1, evidence_calls=1)).saturated
    with pytest.raises(ValueError, match="at least one"):
        Patience(steps=0)


@pytest.mark.spec("P3")
@pytest.mark.parametrize("saturated", [False, True])
def test_the_gate_gives_one_notice_and_then_no_more(saturated: bool) -> None:
    """Not saturated: go on. Saturated: one notice. Afterwards every call is a violation."""
    gain = GainState(saturated, 0, 0, 0)
    first = Admission.STOP_NOTICE if saturated else Admission.ADMITTED
    assert admit_calls(gain, notice_given=False) is first
    assert admit_calls(gain, notice_given=True) is Admission.VIOLATED
