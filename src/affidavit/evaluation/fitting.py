"""Fits the playbook's weights on some cases, from nothing but these cases (pure).

Every signal has its scale before any case was seen (`agents.scales`), and weighs 1 unless the cases
say otherwise. What they say is the conditional logit of McFadden (1974): among a case's services
one is at fault, with odds that grow exponentially with its score. Each weight has a normal prior
around 1, so that a few cases move it a little, and a signal that no case shows keeps it.

The best weights are found by going round them one at a time, until a round changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log
from typing import Final, TypeAlias

from affidavit.agents.scales import scale_of
from affidavit.agents.signals import Seen, Signal, Weights, best_callee, gather

Told: TypeAlias = tuple[Seen, frozenset[str]]
"""One case: what was seen, and which names are right."""

STEPS: Final = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
"""Weights that are tried; finer ones would fit the chance of fifty cases."""

PRIOR: Final = 1.0
"""A signal's weight before any case."""

STIFFNESS: Final = 8.0
"""Of the prior: its deviation is 1 / sqrt(8), about a third. From 2 to 16 the held-out rows are the
same; below that they follow the chance of which faults a system was hit by."""

CERTAINTY: Final = 4.0
"""A full support more makes a service exp(4), about fifty times, as likely."""

EXPLAINED: Final = 0.3
"""Of its best callee's score; from 0 to 0.6 the held-out rows are the same."""

ROUNDS_MAX: Final = 4
"""A fifth rarely changes anything."""

EXTERNAL: Final = 0.5
"""What a thing without telemetry of its own keeps; too few cases have one to fit it."""

SCORE_MIN: Final = 0.01
"""Only the order is asked about here; whoever has no score at all is no suspect."""


@dataclass(frozen=True, slots=True)
class Contest:
    """One case in which a right service shows: who shows what, and who calls whom among them."""

    shown: Mapping[str, Mapping[Signal, float]]
    calls: frozenset[tuple[str, str]]
    right: frozenset[str]

    def evidence(self, weights: Mapping[Signal, float]) -> float:
        """The logarithm of the odds share that these weights give to the right services."""
        raw = {
            name: sum(weights[signal] * share for signal, share in shares.items())
            for name, shares in self.shown.items()
        }
        odds = {}
        for name, score in raw.items():
            callee = best_callee(name, raw, self.calls)
            explained = EXPLAINED * raw[callee] if callee is not None else 0.0
            odds[name] = exp(CERTAINTY * (score - explained))
        return log(sum(odds[name] for name in odds if name in self.right) / sum(odds.values()))


def fit_weights(cases: Sequence[Told]) -> Weights:
    """Weights for these cases; the same cases give the same weights."""
    even = even_weights()
    contests = tuple(_contests(cases, even))
    shown = sorted({signal for c in contests for shares in c.shown.values() for signal in shares})
    weights = dict.fromkeys(Signal, PRIOR)
    for _ in range(ROUNDS_MAX):
        better = _round(contests, weights, shown)
        if better == weights:
            break
        weights = better
    return replace(even, signals={s: scale_of(s, weight) for s, weight in weights.items()})


def even_weights() -> Weights:
    """Every signal on its tool's scale, and none before another."""
    return Weights(
        version="fitted",
        signals={signal: scale_of(signal, PRIOR) for signal in Signal},
        explained=EXPLAINED,
        external=EXTERNAL,
        score_min=SCORE_MIN,
        margin_min=0.0,
        fitted_on=(),
        curve=(),
    )


def _contests(cases: Iterable[Told], even: Weights) -> Iterator[Contest]:
    """The cases that tell something: a right service shows, and another one too."""
    for seen, right in cases:
        supports = gather(seen, even)
        shown = {name: {s.signal: s.share for s in found} for name, found in supports.items()}
        if right & shown.keys() and shown.keys() - right:
            yield Contest(shown, frozenset(pair for pair in seen.calls if pair[1] in shown), right)


def _round(
    contests: Sequence[Contest], weights: Mapping[Signal, float], signals: Iterable[Signal]
) -> dict[Signal, float]:
    """Once round the weights, each time keeping what is better."""
    kept = dict(weights)
    best = posterior(contests, kept)
    for signal in signals:
        for step in STEPS:
            changed = {**kept, signal: step}
            if (found := posterior(contests, changed)) > best:
                kept, best = changed, found
    return kept


def posterior(contests: Iterable[Contest], weights: Mapping[Signal, float]) -> float:
    """How well weights agree with the cases and with the prior: a logarithm, up to a constant."""
    strain = sum((weight - PRIOR) ** 2 for weight in weights.values())
    return sum(contest.evidence(weights) for contest in contests) - STIFFNESS / 2 * strain
