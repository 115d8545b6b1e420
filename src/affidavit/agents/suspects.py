"""Where does an incident sit? Ranks services by what recorded scans found at them (pure).

A service's own weight grows with each class of signal that is abnormal there, and saturates; what a
service that it calls shows as well is explained away by that callee. The highest rest is the first
suspect. This ranks places; it establishes no cause.

Scores of a scan are in units of the scan's own scale (`Change.score`), so that a metric needs no
threshold of its own here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from affidavit.contract.agent import Observation
from affidavit.contract.evidence import Change, Edge, Fact, Line

HALF_SCORE: Final = 12.0
"""The deviation, in scales, that weighs a half; robust scans call about 4 abnormal, and a real
fault commonly reaches tens to thousands."""

EXPLAINED_SHARE: Final = 0.6
"""How much of a service's weight the strongest of its callees may explain away."""

LOG_WEIGHT: Final = 0.8
"""New or risen error lines: strong where they stand, but callers repeat them."""

TEMPLATE_PREFIX: Final = "error lines like: "
"""How `error_logs` names the rate of a template of lines."""

_CLASSES: Final[tuple[tuple[str, re.Pattern[str], float], ...]] = (
    ("errors", re.compile(r"error|fail|timeout|refus|abort|reject"), 0.9),
    ("latency", re.compile(r"duration|latency|time\b|wait"), 0.9),
    ("saturation", re.compile(r"cpu|memory|heap|thread|disk|queue|connection|pool|lock|file"), 0.8),
    ("traffic", re.compile(r"count|request|throughput|message|rate"), 0.25),
)
"""Signal classes by the words of metric names, first match; traffic moves with its callers."""

_OTHER: Final = ("other", 0.4)


@dataclass(frozen=True, slots=True)
class Found:
    """One fact with the call that recorded it."""

    tool_call_id: str
    fact: Fact


@dataclass(slots=True)
class _Place:
    """What is known about one service while facts are gathered."""

    by_class: dict[str, float] = field(default_factory=dict)
    found: list[Found] = field(default_factory=list)

    def add(self, class_: str, weight: float, found: Found) -> None:
        self.by_class[class_] = max(self.by_class.get(class_, 0.0), weight)
        self.found.append(found)

    def weight(self) -> float:
        rest = 1.0
        for weight in self.by_class.values():
            rest *= 1.0 - weight
        return 1.0 - rest


@dataclass(frozen=True, slots=True)
class Suspect:
    """One service, its rest weight, its own weight, and the abnormal facts found at it."""

    entity: str
    score: float
    weight: float
    found: tuple[Found, ...]


def rank_suspects(observations: Iterable[Observation]) -> tuple[Suspect, ...]:
    """Every service with an abnormal fact, strongest first; ties by name."""
    places: dict[str, _Place] = {}
    callees: dict[str, set[str]] = {}
    for found in _facts(observations):
        match found.fact:
            case Change(subject=subject, anomalous=True) as change:
                class_, weight = weigh_change(change)
                places.setdefault(subject, _Place()).add(class_, weight, found)
            case Line(subject=str(subject)):
                places.setdefault(subject, _Place()).add("log", LOG_WEIGHT, found)
            case Edge(source=source, target=target):
                callees.setdefault(source, set()).add(target)
            case _:
                pass
    suspects = [_suspect(entity, places, callees) for entity in places]
    return tuple(sorted(suspects, key=lambda item: (-item.score, item.entity)))


def _facts(observations: Iterable[Observation]) -> Iterable[Found]:
    for observation in observations:
        if observation.envelope is not None and observation.tool_call_id is not None:
            for fact in observation.envelope.facts:
                yield Found(observation.tool_call_id, fact)


def weigh_change(change: Change) -> tuple[str, float]:
    """The class of a change and what it weighs, between 0 and the class's full weight."""
    if change.attribute.startswith(TEMPLATE_PREFIX):
        return "log", LOG_WEIGHT
    name = change.attribute.lower()
    class_, full = next(
        ((label, weight) for label, words, weight in _CLASSES if words.search(name)), _OTHER
    )
    score = abs(float(change.score)) if change.score is not None else HALF_SCORE
    return class_, full * score / (score + HALF_SCORE)


def _suspect(entity: str, places: Mapping[str, _Place], callees: Mapping[str, set[str]]) -> Suspect:
    weight = places[entity].weight()
    called = [places[name].weight() for name in callees.get(entity, ()) if name in places]
    explained = EXPLAINED_SHARE * max(called, default=0.0)
    return Suspect(entity, weight - explained, weight, tuple(places[entity].found))
