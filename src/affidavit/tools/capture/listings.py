"""`change_events`, `log_search` and `series`: rows as they were recorded, nothing compared."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from pydantic import Field

from affidavit.contract.evidence import Cell, Envelope, Line, Row, Scope, Value
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.ports.telemetry import (
    ChangeEvents,
    LogSearch,
    Plain,
    SeriesSamples,
    SignalName,
    Telemetry,
)
from affidavit.tools.capture.rows import (
    SERVICE_CHARS_MAX,
    Origin,
    WindowArguments,
    count,
    emitter_of,
    envelope,
    moment,
    quantity,
    read_raw,
    signal_notes,
    source_notes,
    source_of,
    text,
    window_scope,
    write_raw,
)
from affidavit.tools.catalogue import Tool, ToolContext

LOOKBACK_S: Final = 24 * 3600
"""A change takes effect at once, or with the next day's load; what is older ran through a whole
day unharmed."""

EVENTS_MAX: Final = 60
"""More changes in a day than a person looks through."""

LINES_MAX: Final = 40
"""Lines of one answer: a screenful."""

SLICES_MAX: Final = 30
SAMPLES_MAX: Final = 120
"""Slices of a series, and rows over all of its statistics."""

SEARCH_CHARS_MAX: Final = 200


class ChangeEventsArguments(WindowArguments):
    """Of which service, up to the end of which window."""


def change_events_tool(telemetry: Telemetry) -> Tool[ChangeEventsArguments]:
    """The tool over an incident's change log."""
    origin = _origin(telemetry, "events", EvidenceClass.CHANGE, Emitter.PLATFORM)
    rule = signal_notes(telemetry.signals.get("events"))

    async def fetch(_: ChangeEventsArguments, scope: Scope) -> bytes:
        window = scope.window or telemetry.incident.window
        question = ChangeEvents(scope.service, window, LOOKBACK_S, EVENTS_MAX)
        return write_raw(await telemetry.ask(question), rule)

    def project(raw: bytes, _: ChangeEventsArguments, scope: Scope, now: datetime) -> Envelope:
        answer = read_raw(raw)
        notes = [f"changes up to the window's end, of the {LOOKBACK_S // 3600} h before it on"]
        return envelope(
            origin,
            scope,
            [_event(row) for row in answer.rows],
            count(answer.figures, "events"),
            [*notes, *source_notes(answer.rule)],
            now,
        )

    def scope_of(arguments: ChangeEventsArguments, context: ToolContext) -> Scope:
        return window_scope(telemetry, "events", context, arguments, "change events")

    return Tool(
        name="change_events",
        description="Deploys, configuration changes, flags and restarts before and in the window, "
        "latest first. A change that came before an incident need not have caused it.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=ChangeEventsArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )


def _event(row: Mapping[str, Plain]) -> Row:
    names = ("event", "id", "body", "attributes")
    cells = tuple(Cell(name=name, text=text(row, name)) for name in names if row.get(name))
    return Row(subject=text(row, "service") or None, cells=cells, at=moment(row, "at_us"))


class LogSearchArguments(WindowArguments):
    """Which text, in the lines of which service, over which window."""

    text: str = Field(
        min_length=2, max_length=SEARCH_CHARS_MAX, description="the text to find, in any case"
    )


def log_search_tool(telemetry: Telemetry) -> Tool[LogSearchArguments]:
    """The tool over an incident's log lines."""
    origin = _origin(telemetry, "logs", EvidenceClass.OBSERVATION, Emitter.WORKLOAD)
    rule = signal_notes(telemetry.signals.get("logs"))

    async def fetch(arguments: LogSearchArguments, scope: Scope) -> bytes:
        window = scope.window or telemetry.incident.window
        question = LogSearch(scope.service, window, arguments.text, LINES_MAX)
        return write_raw(await telemetry.ask(question), rule)

    def project(raw: bytes, _: LogSearchArguments, scope: Scope, now: datetime) -> Envelope:
        answer = read_raw(raw)
        lines = [_line(row) for row in answer.rows]
        notes = ["lines verbatim, cut to their bound, the first ones of the window first"]
        total = count(answer.figures, "lines")
        return envelope(origin, scope, lines, total, [*notes, *source_notes(answer.rule)], now)

    def scope_of(arguments: LogSearchArguments, context: ToolContext) -> Scope:
        return window_scope(telemetry, "logs", context, arguments, arguments.text)

    return Tool(
        name="log_search",
        description="Log lines of the window that hold a text, verbatim.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=LogSearchArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )


def _line(row: Mapping[str, Plain]) -> Line:
    return Line(
        text=text(row, "body"),
        subject=text(row, "service"),
        level=text(row, "level") or None,
        at=moment(row, "at_us"),
        emitter=emitter_of(text(row, "emitter")),
    )


class SeriesArguments(WindowArguments):
    """Which metric of which service, over which window."""

    service: str = Field(min_length=1, max_length=SERVICE_CHARS_MAX, description="one service")
    metric: str = Field(
        min_length=1, max_length=SERVICE_CHARS_MAX, description="the metric's whole name"
    )


def series_tool(telemetry: Telemetry) -> Tool[SeriesArguments]:
    """The tool over one series."""
    origin = _origin(telemetry, "metrics", EvidenceClass.OBSERVATION, Emitter.PLATFORM)
    rule = signal_notes(telemetry.signals.get("metrics"))

    async def fetch(arguments: SeriesArguments, scope: Scope) -> bytes:
        window = scope.window or telemetry.incident.window
        question = SeriesSamples(
            arguments.service, arguments.metric, window, SLICES_MAX, SAMPLES_MAX
        )
        return write_raw(await telemetry.ask(question), rule)

    def project(raw: bytes, asked: SeriesArguments, scope: Scope, now: datetime) -> Envelope:
        answer = read_raw(raw)
        values = [_sample(row, asked) for row in answer.rows]
        notes = [f"means of at most {SLICES_MAX} equal slices of the window, over all instances"]
        total = count(answer.figures, "slices")
        return envelope(origin, scope, values, total, [*notes, *source_notes(answer.rule)], now)

    def scope_of(arguments: SeriesArguments, context: ToolContext) -> Scope:
        return window_scope(telemetry, "metrics", context, arguments, arguments.metric)

    return Tool(
        name="series",
        description="One metric of one service over the window, as means of equal slices.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=SeriesArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )


def _sample(row: Mapping[str, Plain], asked: SeriesArguments) -> Value:
    return Value(
        subject=asked.service,
        attribute=asked.metric,
        statistic=text(row, "statistic") or None,
        quantity=quantity(row, "value", text(row, "unit")),
        at=moment(row, "at_us"),
    )


def _origin(
    telemetry: Telemetry, signal: SignalName, class_: EvidenceClass, emitter: Emitter
) -> Origin:
    return Origin(signal, source_of(telemetry, signal), class_, emitter)
