"""Numbers, units and times as sources write them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from affidavit.contract.evidence import Window
from affidavit.tools.readers.measures import measures_of
from affidavit.tools.readers.moments import find_stamp, read_epoch, read_instant
from affidavit.tools.readers.numbers import read_quantity, to_cell

DAY = Window(start=datetime(2031, 5, 4, tzinfo=UTC), end=datetime(2031, 5, 4, 23, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("5000ms", "5000", "ms"),
        ("97.4%", "97.4", "%"),
        ("-3", "-3", ""),
        ("1,204,551", "1204551", ""),
        ("8Gi", "8", "Gi"),
        ("2.5 s", "2.5", "s"),
        ("1.5e3", "1.5E+3", ""),
        ("250m", "250", "m"),
        ("2m48s", "168", "s"),
        ("2d5h", "190800", "s"),
        ("1h2m3.5s", "3723.5", "s"),
        (".5", "0.5", ""),
    ],
)
def test_a_quantity_is_read_as_it_is_written(text: str, number: str, unit: str) -> None:
    """The number is exact, the unit is the source's."""
    found = read_quantity(text)
    assert found is not None
    assert (Decimal(number), unit) == (found.number, found.unit)


@pytest.mark.parametrize(
    "text",
    ["", "-", "1/2", "10.0.0.7", "2031-05-04", "3 pods", "abc", "7f9d", "nan", "1e999", "9" * 90],
)
def test_what_is_no_quantity_stays_text(text: str) -> None:
    """Fractions, addresses, dates, identifiers and absurd numbers are not numbers with a unit."""
    assert read_quantity(text) is None
    assert to_cell("x", text).text == text


def test_a_cell_keeps_what_its_number_leaves_out() -> None:
    """`16 (5m11s ago)` is 16, and its text says the rest; `7` needs no text beside it."""
    cell = to_cell("RESTARTS", "16 (5m11s ago)")
    assert cell.quantity is not None
    assert (cell.quantity.number, cell.text) == (Decimal(16), "16 (5m11s ago)")
    assert to_cell("RESTARTS", "7").text is None
    assert to_cell("AGE", "2m48s").text == "2m48s"


@pytest.mark.parametrize(
    ("name", "unit"), [("AGE", "min"), ("LAST SEEN", "min"), ("limits.cpu", "mcpu"), ("x", "m")]
)
def test_a_bare_m_is_told_by_its_field(name: str, unit: str) -> None:
    """Minutes of an age, thousandths of a CPU, else whatever the source meant."""
    cell = to_cell(name, "117m")
    assert cell.quantity is not None
    assert (cell.quantity.unit, cell.text) == (unit, None if unit == "m" else "117m")


@pytest.mark.parametrize(
    "text",
    [
        "2031-05-04T01:02:03Z",
        "2031-05-04 01:02:03+00",
        "2031-05-04T03:02:03+0200",
        "2031/05/04 01:02:03 UTC",
        "04/May/2031:01:02:03 +0000",
        "Sun, 04 May 2031 01:02:03 +0000",
        "Sun May  4 01:02:03 UTC 2031",
        "May  4 01:02:03 2031 GMT",
        "2031-05-03 23:02:03 -0200 XST",
    ],
)
def test_a_time_with_a_zone_is_an_instant(text: str) -> None:
    """Every spelling of one moment is that moment, whatever the window."""
    assert read_instant(text) == datetime(2031, 5, 4, 1, 2, 3, tzinfo=UTC)


@pytest.mark.spec("T5")
@pytest.mark.fault("R26")
@pytest.mark.parametrize(
    "text", ["2031-05-04 01:02:03", "May  4 01:02:03", "01:02:03", "I0504 01:02:03.000000"]
)
def test_a_time_without_a_zone_needs_the_window(text: str) -> None:
    """It is read as UTC only where that puts it inside the window; else nobody knows."""
    stamp = find_stamp(text)
    assert stamp is not None
    moment = stamp.instant(DAY)
    assert moment is not None
    assert moment == datetime(2031, 5, 4, 1, 2, 3, tzinfo=UTC)
    assert stamp.instant(None) is None
    later = Window(start=datetime(2031, 6, 1, tzinfo=UTC), end=datetime(2031, 6, 2, tzinfo=UTC))
    if stamp.has_date:
        assert stamp.instant(later) is None


def test_a_clock_time_in_a_window_of_two_days_is_ambiguous() -> None:
    """Twice in the window is nowhere."""
    two_days = Window(
        start=datetime(2031, 5, 4, tzinfo=UTC), end=datetime(2031, 5, 5, 23, tzinfo=UTC)
    )
    stamp = find_stamp("01:02:03 ERROR")
    assert stamp is not None
    assert stamp.instant(two_days) is None


@pytest.mark.parametrize("text", ["2031-13-04T01:02:03Z", "2031-05-04T25:02:03Z", "12", "hello"])
def test_what_is_no_time_is_none(text: str) -> None:
    """Impossible dates and plain words give nothing."""
    assert read_instant(text) is None


@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**9])
def test_an_epoch_number_is_told_by_its_size(scale: int) -> None:
    """Seconds to nanoseconds; small numbers are counts, not times."""
    moment = datetime(2031, 5, 4, 1, 2, 3, tzinfo=UTC)
    assert read_epoch(Decimal(int(moment.timestamp())) * scale) == moment
    assert read_epoch(Decimal(1024)) is None


@pytest.mark.parametrize(
    ("text", "name", "number", "unit"),
    [
        ("tile render timeout after 5000ms", "tile render timeout after", "5000", "ms"),
        ("The soft limit is 512 MB", "soft limit", "512", "MB"),
        ("gave up after 3 retries", "gave up after retries", "3", ""),
        ("import finished in 8.01 seconds.", "import finished in", "8.01", "s"),
    ],
)
def test_a_number_in_a_sentence_is_named_by_its_words(
    text: str, name: str, number: str, unit: str
) -> None:
    """The words are the text's own."""
    cell = next(iter(measures_of(text)))
    assert cell.quantity is not None
    assert (cell.name, str(cell.quantity.number), cell.quantity.unit) == (name, number, unit)


@pytest.mark.parametrize(
    "text", ["sha 7f3b2a1", "host db-3:5432", "v1.2.3", "at 10:00:03", "id #4471", "path /a/3/b"]
)
def test_identifiers_in_a_sentence_are_no_measures(text: str) -> None:
    """Hashes, ports, versions, clock times and ids are not numbers of something."""
    assert not list(measures_of(text))
