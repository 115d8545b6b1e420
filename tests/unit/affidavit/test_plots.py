"""Plots draw what the file holds: levels as levels, readings as readings, the onset as interval."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.affidavit.plots import HEIGHT, WIDTH, caption, draw, series_of
from affidavit.contract.evidence import Change, Fact, Onset, Quantity, Value, Window
from tests.support.pages import structure_of
from tests.support.runs import WINDOW

START = WINDOW.start
BASELINE = Window(start=START - timedelta(minutes=30), end=START)


def moved(before: str, after: str, unit: str = "ms", baseline: Window | None = BASELINE) -> Change:
    return Change(
        subject="db",
        attribute="latency",
        before=Quantity(number=Decimal(before), unit=unit),
        after=Quantity(number=Decimal(after), unit=unit),
        direction="up",
        anomalous=True,
        baseline=baseline,
        window=WINDOW,
    )


def reading(minute: int, number: str) -> Value:
    at = START + timedelta(minutes=minute)
    return Value(
        subject="db",
        attribute="latency",
        quantity=Quantity(number=Decimal(number), unit="ms"),
        at=at,
    )


ONSET = Onset(
    subject="db",
    attribute="latency",
    earliest=START + timedelta(minutes=3),
    latest=START + timedelta(minutes=4),
)


@pytest.mark.spec("A5")
def test_a_change_draws_as_two_levels_with_its_onset_and_the_window() -> None:
    (series,) = series_of((moved("120", "5000"), ONSET))
    assert series.facts == (0, 1)
    drawn = draw(series, WINDOW)
    classes = [value for _, name, value in structure_of(drawn).attributes if name == "class"]
    assert [item for item in classes if item and item.startswith("level")] == ["level", "level now"]
    assert {"shade", "onset"} <= set(classes)
    texts = structure_of(drawn).texts
    for words in ("ms", "time, UTC", "incident window", "onset", "before 120", "then 5k"):
        assert words in texts
    assert "not samples" in caption(series)
    assert "Began between 10:03:00 and 10:04:00 UTC." in caption(series)


@pytest.mark.spec("A5")
def test_a_level_without_a_recorded_baseline_is_dashed() -> None:
    (series,) = series_of((moved("1", "2", baseline=None),))
    assert "level dashed" in draw(series, WINDOW)


@pytest.mark.spec("A5")
def test_readings_draw_as_a_curve_through_each_of_them() -> None:
    facts: tuple[Fact, ...] = tuple(reading(minute, str(minute * 10)) for minute in range(5))
    (series,) = series_of((*facts, ONSET))
    drawn = draw(series, WINDOW)
    assert drawn.count("<circle") == 5
    assert series.facts == (0, 1, 2, 3, 4)


def test_two_readings_are_no_series_and_two_units_no_axis() -> None:
    assert series_of((reading(0, "1"), reading(1, "2"))) == ()
    mixed = Change(
        subject="db",
        attribute="latency",
        before=Quantity(number=Decimal(1), unit="s"),
        after=Quantity(number=Decimal(900), unit="ms"),
        direction="up",
        anomalous=True,
        window=WINDOW,
    )
    assert series_of((mixed,)) == ()


NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15)


@given(NUMBERS, NUMBERS)
def test_whatever_the_numbers_every_shape_stays_on_its_canvas(low: Decimal, high: Decimal) -> None:
    (series,) = series_of((moved(str(low), str(high)), ONSET))
    for path in re.findall(r' d="M([0-9.-]+) ([0-9.-]+)H([0-9.-]+)"', draw(series, WINDOW)):
        left, y, right = map(float, path)
        assert all(math.isfinite(number) for number in (left, y, right))
        assert 0 <= left <= right <= WIDTH
        assert 0 <= y <= HEIGHT
