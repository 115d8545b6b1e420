"""The file of weights, made anew from cases."""

from __future__ import annotations

import json

import pytest

from affidavit.agents.signals import read_weights
from affidavit.evaluation.rankings import Lesson
from affidavit.evaluation.refitting import curve_of, weights_record
from tests.support.lessons import lesson


def lessons() -> tuple[Lesson, ...]:
    """Six services, each once at fault with a processor that shows it, one of them unseen."""
    return tuple(lesson(f"case-{n}", f"service-{n}", shows=n != 5) for n in range(6))


@pytest.mark.spec("M5")
def test_what_is_written_is_what_is_read() -> None:
    record = json.loads(json.dumps(weights_record("test", lessons())))
    weights = read_weights(record)
    assert weights.version == "test"
    assert weights.fitted_on == tuple(f"case-{n}" for n in range(6))
    assert weights.curve[-1] == (0.833, 1.0)


def test_the_curve_counts_a_case_that_names_nobody_as_not_covered() -> None:
    points = curve_of(lessons())
    assert [coverage for coverage, _ in points] == [0.167, 0.333, 0.5, 0.667, 0.833]
    assert {precision for _, precision in points} == {1.0}
