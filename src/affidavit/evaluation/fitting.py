"""Fits the playbook's weights on some cases, from nothing but these cases (pure).

What ships was fitted with more care and on all the cases; this is for asking how such weights do
on cases that they never saw. Nothing of the shipped file is used here, since it has seen them all.

    zero    of a signal: what a share of the innocent services stay below
    half    of a signal: the median of what rises above that

That share and the weight of each signal, and how much a callee explains, are found by going round
them one at a time, keeping what ranks the guilty higher, until a round changes nothing. A signal
that no case shows gets no say: nothing is known of its scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Final, TypeAlias

from affidavit.agents.signals import Seen, Signal, Weight, Weights, rank, usable

Told: TypeAlias = tuple[Seen, frozenset[str]]
"""One case: what was seen, and which names are right."""

QUIET_SHARES: Final = (0.5, 0.0, 0.75, 0.9)
"""So many of the innocent readings may be noise, and the rest a fault's victims; first the start.
A tool that only lists what deviates has little noise, one that lists everything has much."""

STEPS: Final = (0.0, 0.3, 0.6, 1.0, 1.5, 2.0)
"""Weights that are tried; finer ones would fit the chance of fifty cases."""

EXPLAINED: Final = (0.0, 0.3, 0.6)

ROUNDS_MAX: Final = 2
"""A third rarely changes anything."""

EXTERNAL: Final = 0.5
"""What a thing without telemetry of its own keeps; too few cases have one to fit it."""


SCORE_MIN: Final = 0.01
"""Only the order is asked about here; whoever has no score at all is no suspect."""


def fit_weights(cases: Sequence[Told]) -> Weights:
    """Weights for these cases; the same cases give the same weights."""
    weights = Weights(
        version="fitted",
        signals={signal: _scaled(signal, cases)[0] for signal in Signal},
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
    for other in _changes(cases):
        changed = other(weights)
        if (found := worth(cases, changed)) > best:
            weights, best = changed, found
    return weights


def _changes(cases: Sequence[Told]) -> Iterator[Callable[[Weights], Weights]]:
    """Every change of one thing."""
    for signal in Signal:
        for scale in _scaled(signal, cases):
            yield partial(_rescaled, signal=signal, scale=scale)
        for step in STEPS:
            yield partial(_reweighted, signal=signal, step=step)
    for share in EXPLAINED:
        yield partial(replace, explained=share)


def _rescaled(weights: Weights, signal: Signal, scale: Weight) -> Weights:
    changed = replace(scale, weight=weights.signals[signal].weight)
    return replace(weights, signals={**weights.signals, signal: changed})


def _reweighted(weights: Weights, signal: Signal, step: float) -> Weights:
    changed = replace(weights.signals[signal], weight=step)
    return replace(weights, signals={**weights.signals, signal: changed})


def worth(cases: Iterable[Told], weights: Weights) -> float:
    """How high the guilty stand: the sum of one over their ranks, a first place counting twice."""
    total = 0.0
    for seen, services in cases:
        ranked = [item.service for item in rank(seen, weights).suspects]
        place = next((n for n, name in enumerate(ranked, start=1) if name in services), None)
        total += 0.0 if place is None else 1.0 / place + (place == 1)
    return total


def _scaled(signal: Signal, cases: Sequence[Told]) -> tuple[Weight, ...]:
    """A signal's noise level and its half, at weight 1, for each share of quiet readings."""
    guilty: list[float] = []
    innocent: list[float] = []
    for seen, services in cases:
        for reading in usable(seen):
            if reading.signal is signal:
                (guilty if reading.service in services else innocent).append(reading.strength)
    zeros = dict.fromkeys(_quantile(innocent, share) for share in QUIET_SHARES)
    return tuple(_scale(zero, (*guilty, *innocent)) for zero in zeros)


def _scale(zero: float, strengths: Iterable[float]) -> Weight:
    above = [strength - zero for strength in strengths if strength > zero]
    if not above:
        return Weight(weight=0.0, zero=zero, half=1.0)
    return Weight(weight=1.0, zero=zero, half=median(above))


def _quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share lies; of no share, zero itself."""
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))] if ordered and share else 0.0
