"""Fits the playbook's weights on some cases, from nothing but these cases (pure).

What ships was fitted with more care and on all the cases; this is for asking how such weights do
on cases that they never saw. Nothing of the shipped file is used here, since it has seen them all.

    zero    of a signal: what nine in ten innocent services stay below
    half    of a signal: the median of what rises above that
    weight  of a signal, and the share that a callee explains: by going round them one at a time
            and keeping what ranks the guilty higher, until a round changes nothing
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import Final, TypeAlias

from affidavit.agents.signals import Seen, Signal, Weight, Weights, rank, usable

Told: TypeAlias = tuple[Seen, frozenset[str]]
"""One case: what was seen, and which names are right."""

QUIET_SHARE: Final = 0.9
"""So many innocent services of a hundred are noise; the rest are victims of the fault."""

STEPS: Final = (0.0, 0.3, 0.6, 1.0, 1.5, 2.0)
"""Weights that are tried; finer ones would fit the chance of fifty cases."""

EXPLAINED: Final = (0.0, 0.3, 0.6)

ROUNDS_MAX: Final = 3
"""A round rarely changes anything after the second."""

EXTERNAL: Final = 0.5
"""What a thing without telemetry of its own keeps; too few cases have one to fit it."""


SCORE_MIN: Final = 0.01
"""Only the order is asked about here; whoever has no score at all is no suspect."""


def fit_weights(cases: Sequence[Told]) -> Weights:
    """Weights for these cases; the same cases give the same weights."""
    weights = Weights(
        version="fitted",
        signals={signal: _scale(signal, cases) for signal in Signal},
        explained=EXPLAINED[1],
        external=EXTERNAL,
        score_min=SCORE_MIN,
        margin_min=0.0,
        fitted_on=(),
        curve=(),
    )
    for _ in range(ROUNDS_MAX):
        better = _round(cases, weights)
        if better == weights:
            break
        weights = better
    return weights


def _round(cases: Sequence[Told], weights: Weights) -> Weights:
    """Once round all that can be changed, each time keeping what is better."""
    best = worth(cases, weights)
    for signal in Signal:
        for step in STEPS:
            changed = replace(weights.signals[signal], weight=step)
            other = replace(weights, signals={**weights.signals, signal: changed})
            if (found := worth(cases, other)) > best:
                weights, best = other, found
    for share in EXPLAINED:
        other = replace(weights, explained=share)
        if (found := worth(cases, other)) > best:
            weights, best = other, found
    return weights


def worth(cases: Iterable[Told], weights: Weights) -> float:
    """How high the guilty stand: the sum of one over their ranks, a first place counting twice."""
    total = 0.0
    for seen, services in cases:
        ranked = [item.service for item in rank(seen, weights).suspects]
        place = next((n for n, name in enumerate(ranked, start=1) if name in services), None)
        total += 0.0 if place is None else 1.0 / place + (place == 1)
    return total


def _scale(signal: Signal, cases: Sequence[Told]) -> Weight:
    """A signal's noise level and its half, at weight 1."""
    guilty: list[float] = []
    innocent: list[float] = []
    for seen, services in cases:
        for reading in usable(seen):
            if reading.signal is signal:
                (guilty if reading.service in services else innocent).append(reading.strength)
    zero = _quantile(innocent, QUIET_SHARE)
    above = [strength - zero for strength in (*guilty, *innocent) if strength > zero]
    return Weight(weight=1.0, zero=zero, half=median(above) if above else 1.0)


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))] if ordered else 0.0
