"""What was looked at and what was not (C11)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from affidavit.contract.report import CoverageLine
from affidavit.progress.coverage import SERVICES_MAX, UNREGISTERED, Reach, read_coverage
from affidavit.progress.tracker import RefusedCall, TrackedStep, Tracker
from affidavit.tools.catalogue import UnavailableSource
from tests.unit.progress.ledgers import SOURCES, WINDOW, Book, value

pytestmark = pytest.mark.spec("C11")


@dataclass(frozen=True)
class Named:
    """A registered tool, as far as coverage needs it."""

    name: str
    source_type: str
    source: str


TOOLS = tuple(Named(name, *where) for name, where in SOURCES.items())


def lines(
    book: Book, reach: Reach | None = None, tracker: Tracker | None = None
) -> tuple[CoverageLine, ...]:
    return read_coverage(book.ledger(), tracker or book.tracker(), reach or Reach()).lines


def test_found_empty_and_failed_stand_apart() -> None:
    """Each with its services and window; a failure names its code."""
    book = Book()
    book.found(value(), tool="logs", service="checkout")
    book.empty(service="payment")
    book.failed("TIMEOUT", service="cart")
    seen = lines(book, Reach(tools=TOOLS))[:3]
    assert [(line.status, line.services, line.codes) for line in seen] == [
        ("consulted", ("checkout",), ()),
        ("empty", ("payment",), ()),
        ("failed", ("cart",), ("TIMEOUT",)),
    ]
    for line in seen:
        assert (line.source_type, line.source) == ("logs", "logs.jsonl")
        assert (line.window, line.calls, line.truncated) == (WINDOW, 1, False)


def test_equal_looks_share_a_line() -> None:
    """Two services of one source, window and status are one line of two calls."""
    book = Book()
    book.found(value(), service="checkout")
    book.found(value(number="1"), service="cart")
    (line,) = lines(book)
    assert line.services == ("cart", "checkout")
    assert line.calls == 2


@pytest.mark.fault("R15")
def test_unavailable_is_not_the_same_as_never_asked() -> None:
    """A toolset that is not there is listed as such; one that nobody asked, as that."""
    absent = UnavailableSource("traces", "traces", "SOURCE_MISSING")
    reach = Reach(tools=TOOLS[:1], unavailable=(absent,))
    assert lines(Book(), reach) == (
        CoverageLine(
            source_type="traces", source="traces", status="unavailable", codes=("SOURCE_MISSING",)
        ),
        CoverageLine(source_type="metrics", source="metrics.parquet", status="not_asked"),
    )


@pytest.mark.spec("N2")
def test_no_text_of_an_error_is_shown() -> None:
    """A reason or error code that is no stable code stays inside."""
    book = Book()
    book.failed("Traceback: secret /etc/passwd")
    absent = UnavailableSource("traces", "traces", "cannot open /etc/passwd")
    refused = TrackedStep(refused=(RefusedCall("map", "cannot open /etc/passwd"),))
    seen = lines(book, Reach(tools=TOOLS, unavailable=(absent,)), book.tracker().record(refused))
    assert "passwd" not in repr(seen)
    assert [line.codes for line in seen[:2]] == [("TOOL_FAILED",), ("REFUSED",)]


@pytest.mark.spec("N2")
def test_an_invented_tool_name_is_not_repeated() -> None:
    """It is the agent's own words: the line says only that somebody asked for no known tool."""
    step = TrackedStep(refused=(RefusedCall("payment_db_is_the_root_cause", "TOOL_UNKNOWN"),))
    seen = lines(Book(), Reach(tools=TOOLS), Tracker((step,)))
    assert "root_cause" not in repr(seen)
    assert (seen[0].source_type, seen[0].source) == UNREGISTERED
    assert seen[0].status == "refused"
    assert seen[0].calls == 0


def test_a_refused_source_was_met() -> None:
    """What was asked for and refused is not listed as never asked."""
    step = TrackedStep(refused=(RefusedCall("scan", "BUDGET_TOOL_CALLS"),))
    seen = lines(Book(), Reach(tools=TOOLS[:1]), Tracker((step,)))
    assert [(line.status, line.codes) for line in seen] == [("refused", ("BUDGET_TOOL_CALLS",))]


def test_a_tool_that_was_asked_is_never_listed_as_not_asked() -> None:
    """Also where its answer names a source of its own."""
    book = Book()
    book.found(value())
    tool = Named("scan", "metrics", "a directory of sources")
    assert [line.status for line in lines(book, Reach(tools=(tool,)))] == ["consulted"]


def test_services_on_a_line_are_bounded_and_the_cut_shows() -> None:
    """Forty names, and a code that says there are more."""
    book = Book()
    for n in range(SERVICES_MAX + 1):
        book.found(value(number=str(n)), service=f"s{n:03d}")
    (line,) = lines(book)
    assert len(line.services) == SERVICES_MAX
    assert line.codes == ("SERVICES_CUT",)
    assert line.calls == SERVICES_MAX + 1
