"""What was observed, as readings that can be ranked and facts that can be said. Pure.

Which tool measures which signal stands here once; strengths are taken as the tools recorded them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from affidavit.agents.signals import Reading, Seen, Signal
from affidavit.contract.agent import AgentState, Observation, ObservationKind
from affidavit.contract.evidence import Change, Edge, Fact, Line, Onset, Row, Value
from affidavit.ports.telemetry import Aspect, aspect_of
from affidavit.tools.capture.log_shifts import EXCESS
from affidavit.tools.capture.span_shifts import ENDED, HANDED

BY_TOOL: Final[Mapping[str, Signal]] = {
    "trace_edges": Signal.EDGE,
    "self_time": Signal.SELF_TIME,
    "error_spans": Signal.ERROR_SPAN,
    "interruptions": Signal.LOST,
}
"""Tools whose changes measure one signal."""

BY_ASPECT: Final[Mapping[Aspect, Signal]] = {
    Aspect.CPU: Signal.CPU,
    Aspect.MEMORY: Signal.MEMORY,
    Aspect.LATENCY: Signal.LATENCY,
    Aspect.CLIENT_LATENCY: Signal.CLIENT_LATENCY,
    Aspect.AVAILABILITY: Signal.AVAILABILITY,
    Aspect.ERRORS: Signal.ERROR_RATE,
}

BY_VALUE: Final[Mapping[tuple[str, str], Signal]] = {
    ("interruptions", ENDED): Signal.ENDED,
    ("interruptions", HANDED): Signal.HANDED,
    ("error_rise", EXCESS): Signal.ERROR_LOG,
}
"""Strengths that a tool records as a value of its own name."""

SHIFT_TOOLS: Final = frozenset({"resource_shifts", "level_shifts"})

SCAN: Final = "metric_scan"

SATURATED: Final = re.compile(
    r"queue|depth|backlog|pending|lag\b|wait|lock|pool|connection|thread|oldest|held"
)
"""Series that grow when work piles up (the S of the USE method)."""

SPAN_TOOLS: Final = frozenset({"trace_edges", "self_time"})
"""Once either answered, also that nothing deviates, spans were timed."""

NO_CALL: Final = "runs_on"
"""The one relation along which no work is passed."""


@dataclass(frozen=True, slots=True)
class Found:
    """One fact with the call that recorded it."""

    tool_call_id: str
    tool: str
    fact: Fact


@dataclass(frozen=True, slots=True)
class Material:
    """What was read: readings for the ranking, and by service the facts that measured them."""

    seen: Seen
    measured: Mapping[tuple[str, Signal], Found]
    lines: Mapping[str, Found]
    onsets: Mapping[tuple[str, str], Found]
    edges: tuple[Found, ...]


def read_material(state: AgentState) -> Material:
    """The readings and facts of a run so far."""
    found = tuple(each_fact(state.observations))
    readings, measured = read_signals(found)
    edges = tuple(item for item in found if isinstance(item.fact, Edge))
    seen = Seen(
        readings=readings,
        symptom=state.request.symptom_service or "",
        calls=frozenset(calls_of(edges)),
        external=frozenset(externals_of(found)),
        timed_spans=any(
            item.tool in SPAN_TOOLS and item.kind in (ObservationKind.FOUND, ObservationKind.EMPTY)
            for item in state.observations
        ),
    )
    return Material(seen, measured, lines_of(found), onsets_of(found), edges)


def each_fact(observations: Iterable[Observation]) -> Iterator[Found]:
    """Every fact, in the order of the calls."""
    for observation in observations:
        if observation.envelope is not None and observation.tool_call_id is not None:
            for fact in observation.envelope.facts:
                yield Found(observation.tool_call_id, observation.tool, fact)


def read_signals(
    found: Iterable[Found],
) -> tuple[tuple[Reading, ...], dict[tuple[str, Signal], Found]]:
    """The readings, and for each service and signal the fact of the strongest."""
    readings: list[Reading] = []
    measured: dict[tuple[str, Signal], tuple[float, Found]] = {}
    for item in found:
        told = reading_of(item)
        if told is None:
            continue
        readings.append(told)
        key = (told.service, told.signal)
        if key not in measured or told.strength > measured[key][0]:
            measured[key] = (told.strength, item)
    return tuple(readings), {key: item for key, (_, item) in measured.items()}


def reading_of(found: Found) -> Reading | None:
    """What a fact measures, if anything that counts."""
    match found.fact:
        case Value(quantity=quantity) as value if quantity is not None:
            signal = BY_VALUE.get((found.tool, value.attribute))
            strength = float(quantity.number)
        case Change(score=score) as change if score is not None:
            signal = signal_of(found.tool, change)
            strength = abs(float(score))
        case _:
            return None
    if signal is None:
        return None
    return Reading(found.fact.subject, signal, strength, found.tool_call_id)


def signal_of(tool: str, change: Change) -> Signal | None:
    """The signal that a change measures, by its tool and its metric's name."""
    if tool in SHIFT_TOOLS:
        return BY_ASPECT.get(aspect_of(change.attribute))
    if tool == SCAN:
        piles_up = change.anomalous and change.direction == "up"
        return Signal.SATURATION if piles_up and SATURATED.search(change.attribute) else None
    return BY_TOOL.get(tool)


def calls_of(edges: Iterable[Found]) -> Iterator[tuple[str, str]]:
    """Caller and callee of each relation along which work is passed."""
    for item in edges:
        if isinstance(item.fact, Edge) and item.fact.relation != NO_CALL:
            yield item.fact.source, item.fact.target


def externals_of(found: Iterable[Found]) -> Iterator[str]:
    """Nodes that have no telemetry of their own."""
    for item in found:
        if item.tool != "topology" or not isinstance(item.fact, Row):
            continue
        cells = {(cell.name, cell.text) for cell in item.fact.cells}
        if item.fact.subject and ("kind", "external") in cells:
            yield item.fact.subject


def lines_of(found: Iterable[Found]) -> dict[str, Found]:
    """For each service the line of its strongest kind of error."""
    lines: dict[str, Found] = {}
    for item in found:
        if item.tool == "error_rise" and isinstance(item.fact, Line) and item.fact.subject:
            lines.setdefault(item.fact.subject, item)
    return lines


def onsets_of(found: Iterable[Found]) -> dict[tuple[str, str], Found]:
    """For each service and attribute when it began."""
    return {
        (item.fact.subject, item.fact.attribute): item
        for item in found
        if isinstance(item.fact, Onset)
    }
