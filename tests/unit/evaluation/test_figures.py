"""Shares, intervals, curves and held-out fitting, against values worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from affidavit.contract.agent import AgentState
from affidavit.evaluation.baselines import chance_hits, ranked_hits
from affidavit.evaluation.figures import Answer, Point, Rate, figures, mean, risk_coverage
from affidavit.evaluation.held_out import fit_on_one_system, leave_one_service_out
from affidavit.evaluation.incidents import Case, Truth
from affidavit.evaluation.rankings import Lesson, Ranked, Ranker
from tests.support.runs import request

TRUTH = Truth(True, frozenset({"a"}))
HEALTHY = Truth(False)


def answer(
    hit: float = 1.0,
    *,
    published: float = 1.0,
    right: float | None = None,
    sureness: float | None = 1.0,
    truth: Truth = TRUTH,
) -> Answer:
    """An answer whose first rank is right or not."""
    case = Case("set", "case", Path(), truth)
    told = hit * published if right is None else right
    return Answer("agent", case, (hit,) * 5, published, told, sureness)


def test_the_interval_is_wilsons() -> None:
    """8 of 10: 0.4902 to 0.9433 (Newcombe 1998 gives the formula; computed by hand)."""
    assert list(Rate(8, 10).interval() or ()) == pytest.approx([0.4902, 0.9433], abs=1e-4)
    assert list(Rate(0, 300).interval() or ()) == pytest.approx([0.0, 0.01264], abs=1e-4)
    assert (Rate(0, 0).value, Rate(0, 0).interval()) == (None, None)


def test_precision_is_of_what_was_published_healthy_windows_too() -> None:
    found = figures(
        [
            answer(),
            answer(0.0),
            answer(published=0.0),
            answer(0.0, truth=HEALTHY),
            answer(0.0, published=0.0, truth=HEALTHY),
        ]
    )
    assert (found.faulty, found.healthy) == (3, 2)
    assert found.top[0] == Rate(2, 3)
    assert found.coverage == Rate(2, 3)
    assert found.precision == Rate(1, 3)
    assert found.false_alarms == Rate(1, 2)


def test_without_a_faulty_case_there_is_no_accuracy() -> None:
    found = figures([answer(0.0, published=0.0, sureness=None, truth=HEALTHY)])
    assert (found.top, found.average, found.area) == ((), None, None)
    assert found.coverage.value is None
    assert found.precision.value is None


def test_the_curve_answers_the_surest_first_and_ties_together() -> None:
    curve = risk_coverage(
        [
            answer(sureness=0.9),
            answer(0.0, sureness=0.5),
            answer(sureness=0.5),
            answer(0.0, sureness=0.1, truth=HEALTHY),
            answer(sureness=None),
        ]
    )
    assert curve == (Point(0.2, 0.0, 0.9), Point(0.6, 1 / 3, 0.5), Point(0.8, 0.5, 0.1))


def test_a_first_rank_on_a_healthy_window_is_wrong_whatever_it_is() -> None:
    (point,) = risk_coverage([answer(1.0, truth=HEALTHY)])
    assert point.risk == 1.0


def test_a_mean_with_an_unknown_in_it_is_unknown() -> None:
    assert mean([1.0, 3.0]) == 2.0
    assert mean([1.0, None]) is None
    assert mean([]) is None


def test_chance_is_an_expectation_over_every_order() -> None:
    assert chance_hits(("a", "b", "c", "d"), TRUTH) == pytest.approx((0.25, 0.5, 0.75, 1.0, 1.0))
    two = Truth(True, frozenset({"a", "b"}))
    assert chance_hits(("a", "b", "c", "d"), two)[:2] == pytest.approx((0.5, 1 - 2 / 4 * 1 / 3))
    assert chance_hits(("b", "c"), TRUTH) == (0.0,) * 5
    assert chance_hits((), TRUTH) == (0.0,) * 5


def test_a_rules_hits_are_those_of_its_order() -> None:
    ranked = (Ranked("b", 2.0), Ranked("A", 1.0))
    assert ranked_hits(ranked, TRUTH) == (0.0, 1.0, 1.0, 1.0, 1.0)
    assert ranked_hits((), TRUTH) == (0.0,) * 5


STATE = AgentState(request(), 1, ())


def lesson(case: str, system: str, *services: str) -> Lesson:
    """A lesson with nothing recorded."""
    return Lesson(case, system, STATE, frozenset(services))


LESSONS = (
    lesson("1", "x", "a"),
    lesson("2", "x", "b"),
    lesson("3", "y", "a", "c"),
    lesson("4", "y", "d"),
)


def fit_names(lessons: Sequence[Lesson]) -> Ranker:
    """A fit that remembers which cases it saw, and ranks them."""
    names = tuple(Ranked(item.case, 1.0) for item in lessons)
    return lambda _: names


def test_a_service_left_out_is_never_seen_in_fitting() -> None:
    held = {item.case: {r.entity for r in item.ranked} for item in
            leave_one_service_out(LESSONS, fit_names)}  # fmt: skip
    assert held == {"1": {"2", "4"}, "2": {"1", "3", "4"}, "3": {"2", "4"}, "4": {"1", "2", "3"}}


def test_a_case_with_nothing_left_to_fit_on_is_left_out() -> None:
    assert list(leave_one_service_out(LESSONS[:1], fit_names)) == []


def test_a_system_is_ranked_by_weights_of_another_alone() -> None:
    held = [(item.case, item.contender, [r.entity for r in item.ranked]) for item in
            fit_on_one_system(LESSONS, fit_names)]  # fmt: skip
    assert held == [
        ("3", "fitted on x", ["1", "2"]),
        ("4", "fitted on x", ["1", "2"]),
        ("1", "fitted on y", ["3", "4"]),
        ("2", "fitted on y", ["3", "4"]),
    ]
    assert list(fit_on_one_system(LESSONS[:2], fit_names)) == []
