"""Weights from nothing but the cases at hand."""

from __future__ import annotations

import pytest

from affidavit.agents.scales import ABNORMAL, scale_of
from affidavit.agents.signals import Reading, Seen, Signal, rank
from affidavit.evaluation.fitting import PRIOR, Told, even_weights, fit_weights


def told(guilty: str, **strengths: float) -> Told:
    """One case: what was seen, and which names are right, among twenty services at rest."""
    pairs = ((name.split("__"), strength) for name, strength in strengths.items())
    readings = tuple(
        Reading(service, Signal(signal), strength) for (service, signal), strength in pairs
    )
    readings += tuple(Reading(f"quiet-{n}", Signal.CPU, 0.1) for n in range(20))
    return Seen(readings), frozenset({guilty})


CASES = tuple(
    case
    for _ in range(4)
    for case in (
        told("a", a__edge=0.8, b__cpu=9.0, c__cpu=1.0),
        told("b", b__edge=0.7, a__cpu=8.0, c__cpu=2.0),
        told("c", c__edge=0.9, a__cpu=9.0, b__cpu=1.0),
    )
)
"""An edge tells, a processor misleads."""


@pytest.mark.spec("M5")
def test_what_misleads_loses_weight_and_what_tells_gains() -> None:
    even, fitted = even_weights(), fit_weights(CASES)
    assert [rank(seen, even).suspects[0].service for seen, _ in CASES[:3]] == ["b", "a", "a"]
    assert [rank(seen, fitted).suspects[0].service for seen, _ in CASES[:3]] == ["a", "b", "c"]
    assert fitted.signals[Signal.CPU].weight < PRIOR < fitted.signals[Signal.EDGE].weight


def test_the_same_cases_give_the_same_weights_and_others_others() -> None:
    assert fit_weights(CASES) == fit_weights(CASES)
    other = tuple(told("a", a__cpu=9.0, b__edge=4.0) for _ in range(8))
    assert fit_weights(other) != fit_weights(CASES)


def test_few_cases_move_a_weight_less_than_many() -> None:
    few, many = fit_weights(CASES[:3]), fit_weights(CASES)
    assert abs(few.signals[Signal.CPU].weight - PRIOR) < abs(
        many.signals[Signal.CPU].weight - PRIOR
    )


def test_a_signal_that_no_case_shows_counts_as_its_tool_says() -> None:
    """Cases of a system without logs say nothing of what logs are worth on another one."""
    weights = fit_weights(CASES)
    shown = {Signal.CPU, Signal.EDGE}
    assert all(weights.signals[s] == scale_of(s, PRIOR) for s in Signal if s not in shown)
    unseen = Seen((Reading("x", Signal.ERROR_LOG, 3.0), Reading("y", Signal.CPU, 2.3)))
    assert rank(unseen, weights).suspects[0].service == "x"


def test_cases_that_cannot_tell_leave_the_weights_even() -> None:
    blind = (told("a", b__cpu=9.0), told("a", a__cpu=9.0), (Seen(()), frozenset({"a"})))
    assert fit_weights(blind) == even_weights()
    assert rank(Seen(()), even_weights()).suspects == ()


def test_no_fit_moves_a_scale() -> None:
    weights = fit_weights(CASES)
    for signal in Signal:
        row = weights.signals[signal]
        assert (row.zero, row.half) == (scale_of(signal).zero, scale_of(signal).half)
        assert row.support(0.7 * ABNORMAL[signal]) == 0.0
        assert row.support(1.5 * ABNORMAL[signal]) == pytest.approx(0.5, abs=0.01)
