"""From scores to figures: shares with their intervals, and the risk-coverage curve (pure).

A case counts once however often it was run: its runs are averaged. An average of nothing is None,
which is not zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from affidavit.evaluation.incidents import Case
from affidavit.evaluation.proportions import wilson
from affidavit.evaluation.scorer import RunScore


@dataclass(frozen=True, slots=True)
class Rate:
    """So much of so many; `hits` is a fraction where a case's runs differ or chance is meant."""

    hits: float
    of: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.hits / self.of if self.of else None

    def interval(self) -> tuple[float, float] | None:
        """The Wilson score interval at 95 % (see `proportions.wilson`)."""
        return wilson(self.hits, self.of)


@dataclass(frozen=True, slots=True)
class Answer:
    """One contender on one case, its runs averaged.

    `hits` are for k = 1 to 5. `published` is how often it named something in public, `right` how
    often rightly. `sureness` orders its answers for the risk-coverage curve; None: it named nobody.
    """

    contender: str
    case: Case
    hits: tuple[float, ...]
    published: float
    right: float
    sureness: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """If the surest `coverage` of all cases had been answered, `risk` of them would be wrong."""

    coverage: float
    risk: float
    sureness: float


@dataclass(frozen=True, slots=True)
class Figures:
    """What one contender reached on one group of cases."""

    faulty: int
    healthy: int
    top: tuple[Rate, ...]
    average: float | None
    coverage: Rate
    precision: Rate
    false_alarms: Rate
    curve: tuple[Point, ...]

    @property
    def area(self) -> float | None:
        """The mean risk over the curve's points; lower is better, the order of sureness counts."""
        return mean(point.risk for point in self.curve)


def figures(answers: Sequence[Answer]) -> Figures:
    """The figures of one contender's answers."""
    faulty = [item for item in answers if item.case.truth.faulty]
    healthy = [item for item in answers if not item.case.truth.faulty]
    ranks = range(len(faulty[0].hits)) if faulty else range(0)
    top = tuple(Rate(sum(item.hits[k] for item in faulty), len(faulty)) for k in ranks)
    published = [item for item in answers if item.published > 0]
    return Figures(
        faulty=len(faulty),
        healthy=len(healthy),
        top=top,
        average=mean(rate.value for rate in top if rate.value is not None),
        coverage=Rate(sum(item.published for item in faulty), len(faulty)),
        precision=Rate(sum(item.right / item.published for item in published), len(published)),
        false_alarms=Rate(sum(item.published for item in healthy), len(healthy)),
        curve=risk_coverage(answers),
    )


def risk_coverage(answers: Sequence[Answer]) -> tuple[Point, ...]:
    """The surest first; whoever is equally sure is answered together (Geifman, El-Yaniv 2017).

    A first rank on a healthy window is a wrong answer.
    """
    sure = sorted(
        ((item.sureness, _first_is_right(item)) for item in answers if item.sureness is not None),
        reverse=True,
    )
    points: list[Point] = []
    wrong = 0.0
    for place, (sureness, right) in enumerate(sure, start=1):
        wrong += 1.0 - right
        if place == len(sure) or sure[place][0] < sureness:
            points.append(Point(place / len(answers), wrong / place, sureness))
    return tuple(points)


def _first_is_right(item: Answer) -> float:
    return item.hits[0] if item.case.truth.faulty else 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an agent's answers rest on, over all runs of a group."""

    runs: int
    intact: Rate
    cited: Rate
    proved: Rate
    refused: int
    steady: Rate
    leads: Rate
    changes: Rate
    stopped: Rate
    stopped_facts: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """What an agent's answers cost: means a run, and the worst."""

    steps: float | None
    queries: float | None
    tokens: float | None
    money_micro: float | None
    load_s: float | None
    run_s: float | None
    case_s_median: float | None
    case_s_max: float | None
    peak_mb_max: float | None


def evidence_shares(runs: Sequence[RunScore]) -> tuple[Rate, Rate, Rate]:
    """Intact files of all; cited, and proved, sentences of those published."""
    total = sum(run.sentences.all for run in runs)
    return (
        Rate(sum(run.intact for run in runs), len(runs)),
        Rate(sum(run.sentences.cited for run in runs), total),
        Rate(sum(run.sentences.proved for run in runs), total),
    )


def mean(values: Iterable[float | None]) -> float | None:
    """The mean; None of nothing, and None where one is unknown."""
    kept = list(values)
    known = [value for value in kept if value is not None]
    return sum(known) / len(known) if known and len(known) == len(kept) else None


def middle(values: Iterable[float]) -> float | None:
    """The median; None of nothing."""
    kept = list(values)
    return median(kept) if kept else None


def worst(values: Iterable[float | None]) -> float | None:
    """The largest that is known."""
    return max((value for value in values if value is not None), default=None)
