"""Which service is at fault: strengths that tools recorded in, ranked suspects out. Pure.

A tool says how far one signal of one service is from its own quiet time. Here each strength
becomes a support between 0 and 1 (a dead zone for noise, then x / (x + half): nothing shouts down
everything else), supports are added with weights, and what a service's callee explains is taken
from it: three tenths of the best callee's score. Each signal is strong on its own kind of fault
and blind elsewhere, so that their sum needs no rule about faults.

Deliberately absent: a prior for any service or kind of fault, and the order of the incident's
events. The weights are data, fitted once and frozen with the cases that they were fitted on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from affidavit.contract.errors import InputRefused

SUSPECTS_MAX: Final = 5
"""Ranks that anybody looks at."""

SCHEMA: Final = "affidavit.weights/1"
"""Another shape of weights is refused, not guessed."""


class Signal(StrEnum):
    """What a strength measures; the tool's own rule is said in its SQL."""

    CPU = "cpu"
    MEMORY = "memory"
    EDGE = "edge"
    SELF_TIME = "self_time"
    LOST = "lost"
    ENDED = "ended"
    HANDED = "handed"
    ERROR_LOG = "error_log"
    ERROR_SPAN = "error_span"
    LATENCY = "latency"
    CLIENT_LATENCY = "client_latency"
    AVAILABILITY = "availability"
    ERROR_RATE = "error_rate"
    SATURATION = "saturation"


FROM_METRICS: Final = frozenset({Signal.LATENCY, Signal.CLIENT_LATENCY})

FELT_SHARE: Final = 2 / 3
"""Of a signal's noise level: from here on the paged service shows what its users feel. Less than
convicts anybody, since it only has to agree with a page that did come."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One signal of one service: a strength of at least 0, and the call that measured it."""

    service: str
    signal: Signal
    strength: float
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read so far.

    `calls` are pairs of caller and callee; `external` names what has no telemetry of its own (a
    remote address, somebody's client); `timed_spans` says whether spans were compared at all, so
    that a quiet answer differs from none; `symptom` is the service that was paged.
    """

    readings: tuple[Reading, ...]
    symptom: str = ""
    calls: frozenset[tuple[str, str]] = frozenset()
    external: frozenset[str] = frozenset()
    timed_spans: bool = False


@dataclass(frozen=True, slots=True)
class Weight:
    """One signal's: strengths up to `zero` are noise, `half` above it give half support."""

    weight: float
    zero: float
    half: float

    def support(self, strength: float) -> float:
        """Between 0 and 1."""
        above = strength - self.zero
        return above / (above + self.half) if above > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Weights:
    """All that was fitted, and on what.

    `explained` is the share of its best callee's score that a service loses; `external` what a
    thing without telemetry of its own keeps; from `score_min` and `margin_min` on a first rank may
    be concluded. `curve` holds (coverage, precision) of the fitting, for whoever asks how good.
    """

    version: str
    signals: Mapping[Signal, Weight]
    explained: float
    external: float
    score_min: float
    margin_min: float
    fitted_on: tuple[str, ...]
    curve: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Support:
    """What one signal adds to a suspect's score."""

    signal: Signal
    share: float
    tool_call_id: str


@dataclass(frozen=True, slots=True)
class Suspect:
    """A service, its score, what speaks for it (strongest first) and who explains it, if any."""

    service: str
    score: float
    supports: tuple[Support, ...]
    explained_by: str | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Suspects, best first; `margin` is the first one's lead. Empty: nothing deviates."""

    suspects: tuple[Suspect, ...]
    margin: float
    is_separable: bool


def rank(seen: Seen, weights: Weights) -> Ranking:
    """The suspects of what was seen. Equal scores keep the order of names."""
    supports = gather(seen, weights)
    raw = {service: sum(s.share for s in found) for service, found in supports.items()}
    suspects = sorted(
        (suspect(service, supports[service], raw, seen, weights) for service in supports),
        key=lambda found: (-found.score, found.service),
    )
    kept = tuple(found for found in suspects if found.score > 0)
    first = kept[0].score if kept else 0.0
    margin = first - (kept[1].score if len(kept) > 1 else 0.0)
    return Ranking(
        suspects=kept[:SUSPECTS_MAX],
        margin=margin,
        is_separable=(
            first >= weights.score_min
            and margin >= weights.margin_min
            and is_borne_out(kept[0], seen, weights)
        ),
    )


def is_borne_out(first: Suspect, seen: Seen, weights: Weights) -> bool:
    """Latency alone is no finding where the paged service does not deviate at all.

    Among many series some tail is always longer than it was; if users feel it, the symptom shows.
    """
    told = {support.signal for support in first.supports}
    return not told <= FROM_METRICS or any(
        reading.service == seen.symptom
        and reading.strength > FELT_SHARE * weights.signals[reading.signal].zero
        for reading in usable(seen)
    )


def suspect(
    service: str,
    supports: Iterable[Support],
    raw: Mapping[str, float],
    seen: Seen,
    weights: Weights,
) -> Suspect:
    """One service, less what its best callee explains."""
    explained_by = best_callee(service, raw, seen.calls)
    score = raw[service]
    if explained_by is not None:
        score -= weights.explained * raw[explained_by]
    return Suspect(
        service, score, tuple(sorted(supports, key=lambda s: (-s.share, s.signal))), explained_by
    )


def best_callee(
    service: str, raw: Mapping[str, float], calls: Iterable[tuple[str, str]]
) -> str | None:
    """Whom a service calls that deviates most; the first by name of equals."""
    callees = (b for a, b in calls if a == service and raw.get(b, 0.0) > 0)
    return min(callees, key=lambda callee: (-raw[callee], callee), default=None)


def gather(seen: Seen, weights: Weights) -> dict[str, list[Support]]:
    """The weighted supports of each service; of several readings of a signal the strongest."""
    best: dict[tuple[str, Signal], Reading] = {}
    for reading in usable(seen):
        held = best.get((reading.service, reading.signal))
        if held is None or reading.strength > held.strength:
            best[reading.service, reading.signal] = reading
    supports: dict[str, list[Support]] = {}
    for (service, signal), reading in sorted(best.items()):
        weight = weights.signals[signal]
        share = weight.weight * weight.support(reading.strength)
        if service in seen.external:
            share *= weights.external
        if share > 0:
            supports.setdefault(service, []).append(Support(signal, share, reading.tool_call_id))
    return supports


def usable(seen: Seen) -> Iterable[Reading]:
    """The readings that count: a client's latency speaks of its callees."""
    spoken = FROM_METRICS if seen.timed_spans else frozenset({Signal.CLIENT_LATENCY})
    for reading in seen.readings:
        if reading.signal not in spoken:
            yield reading
    if not seen.timed_spans:
        yield from callees_of_slow_clients(seen)


def callees_of_slow_clients(seen: Seen) -> Iterable[Reading]:
    """A callee is as suspect as its callers' client latencies agree: their mean.

    A caller whose client latency did not rise counts 0: it calls the same service without harm.
    """
    slow = {r.service: r for r in seen.readings if r.signal is Signal.CLIENT_LATENCY}
    if not slow:
        return
    callers: dict[str, list[str]] = {}
    for caller, callee in sorted(seen.calls):
        callers.setdefault(callee, []).append(caller)
    for callee, names in callers.items():
        found = [slow[name] for name in names if name in slow]
        if found:
            mean = sum(reading.strength for reading in found) / len(names)
            yield Reading(callee, Signal.CLIENT_LATENCY, mean, found[0].tool_call_id)


def read_weights(record: Mapping[str, object]) -> Weights:
    """Weights as they stand in their file.

    Errors: InputRefused when the shape is another one, a signal is missing or unknown, a number is
    out of range, or the cases that they were fitted on are not named.
    """
    try:
        if record["schema"] != SCHEMA:
            raise ValueError(f"schema {record['schema']!r} is not {SCHEMA!r}")
        signals = {Signal(name): weight_of(row) for name, row in rows_of(record["signals"])}
        if missing := set(Signal) - set(signals):
            raise ValueError(f"no weight for {', '.join(sorted(missing))}")
        fitted_on = tuple(str(case) for case in list_of(record["fitted_on"]))
        if not fitted_on:
            raise ValueError("it does not say on which cases it was fitted")
        return Weights(
            version=str(record["version"]),
            signals=signals,
            explained=number_of(record["explained"], 1.0),
            external=number_of(record["external"], 1.0),
            score_min=number_of(record["score_min"]),
            margin_min=number_of(record["margin_min"]),
            fitted_on=fitted_on,
            curve=tuple(point_of(point) for point in list_of(record["curve"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        detail = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise InputRefused(f"these weights cannot be used: {detail}") from error


def rows_of(value: object) -> Iterable[tuple[str, object]]:
    """The entries of an object."""
    if not isinstance(value, Mapping):
        raise TypeError("signals are no object")
    return value.items()


def list_of(value: object) -> list[object]:
    """A list."""
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value


def weight_of(value: object) -> Weight:
    """One signal's three numbers."""
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r} is no weight")
    half = number_of(value["half"])
    if half <= 0:
        raise ValueError("half is above 0")
    return Weight(number_of(value["weight"]), number_of(value["zero"]), half)


def point_of(value: object) -> tuple[float, float]:
    """One point of the curve."""
    coverage, precision = list_of(value)
    return number_of(coverage, 1.0), number_of(precision, 1.0)


def number_of(value: object, most: float = 100.0) -> float:
    """A finite number from 0 to `most`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError(f"{value!r} is no number from 0 to {most:g}")
    return float(value)
