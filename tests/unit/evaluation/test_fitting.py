"""Weights from nothing but the cases at hand."""

from __future__ import annotations

from affidavit.agents.signals import Reading, Seen, Signal, rank
from affidavit.evaluation.fitting import Told, fit_weights, worth


def told(guilty: str, **strengths: float) -> Told:
    """One case: `service__signal` → strength, among twenty services at rest."""
    pairs = ((name.split("__"), strength) for name, strength in strengths.items())
    readings = tuple(
        Reading(service, Signal(signal), strength) for (service, signal), strength in pairs
    )
    readings += tuple(Reading(f"quiet-{n}", Signal.CPU, 0.1) for n in range(20))
    return Seen(readings), frozenset({guilty})


CASES = (
    told("a", a__edge=4.0, b__cpu=9.0, c__cpu=1.0),
    told("b", b__edge=3.0, a__cpu=8.0, c__cpu=2.0),
    told("c", c__edge=5.0, a__cpu=9.0, b__cpu=1.0),
)
"""An edge tells, a processor misleads."""


def test_what_misleads_loses_its_weight() -> None:
    weights = fit_weights(CASES)
    assert weights.signals[Signal.EDGE].weight > weights.signals[Signal.CPU].weight
    assert worth(CASES, weights) == 2.0 * len(CASES)
    assert [rank(seen, weights).suspects[0].service for seen, _ in CASES] == ["a", "b", "c"]


def test_the_same_cases_give_the_same_weights_and_others_others() -> None:
    assert fit_weights(CASES) == fit_weights(CASES)
    other = (told("a", a__cpu=9.0, b__edge=4.0), told("b", b__cpu=9.0, a__edge=3.0))
    assert fit_weights(other) != fit_weights(CASES)


def test_without_a_single_deviation_nobody_is_suspected() -> None:
    weights = fit_weights(CASES)
    assert rank(Seen(()), weights).suspects == ()
    assert worth([(Seen(()), frozenset({"a"}))], weights) == 0.0


def test_what_innocent_services_reach_is_noise_and_an_unseen_signal_says_nothing() -> None:
    weights = fit_weights((told("g", g__cpu=20.0, a__cpu=1.0),))
    assert weights.signals[Signal.CPU].support(0.1) == 0.0
    assert weights.signals[Signal.CPU].support(20.0) > 0.0
    assert weights.signals[Signal.EDGE].weight == 0.0
