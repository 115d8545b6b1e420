"""`error_logs`: error lines of the window by template, new and risen ones first.

A line's example is verbatim, as the first of its kind was written; its template, with what varies
masked, names the kind. A kind is flagged when the baseline, which must hold lines of that service,
has none of it, or far fewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Change, Envelope, Fact, Line, Quantity, Scope, Window
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.ports.telemetry import ErrorLines, Plain, Telemetry
from affidavit.tools.capture.rows import (
    Origin,
    Raw,
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

RISEN_RATIO: Final = "3"
"""Times as many a minute as before; ordinary load varies by less."""

RISEN_LINES_MIN: Final = 5
"""Fewer lines may be chance, whatever their ratio."""

TEMPLATES_MAX: Final = 25
"""Kinds of line in one answer; beyond them an incident is described already."""

PER_MINUTE: Final = "{line}/min"


class ErrorLogsArguments(WindowArguments):
    """Which service, over which window."""


def error_logs_tool(telemetry: Telemetry) -> Tool[ErrorLogsArguments]:
    """The tool over an incident's logs."""
    origin = Origin(
        "logs", source_of(telemetry, "logs"), EvidenceClass.OBSERVATION, Emitter.WORKLOAD
    )
    rule: dict[str, Plain] = {
        "risen_ratio": RISEN_RATIO,
        "risen_lines_min": RISEN_LINES_MIN,
        **signal_notes(telemetry.signals.get("logs")),
    }

    def scope_of(arguments: ErrorLogsArguments, context: ToolContext) -> Scope:
        return window_scope(telemetry, "logs", context, arguments, "error lines")

    async def fetch(_: ErrorLogsArguments, scope: Scope) -> bytes:
        question = ErrorLines(
            service=scope.service,
            window=scope.window or telemetry.incident.window,
            baseline=telemetry.incident.baseline,
            risen_ratio=RISEN_RATIO,
            risen_lines_min=RISEN_LINES_MIN,
            rows_max=TEMPLATES_MAX,
        )
        return write_raw(await telemetry.ask(question), rule)

    def project(raw: bytes, _: ErrorLogsArguments, scope: Scope, now: datetime) -> Envelope:
        return _project(raw, origin, scope, now)

    return Tool(
        name="error_logs",
        description="Error lines of the window, grouped by what they say: how many, since when, "
        "one example verbatim, and whether they are new or have risen against the baseline.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=ErrorLogsArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )


def _project(raw: bytes, origin: Origin, scope: Scope, now: datetime) -> Envelope:
    answer = read_raw(raw)
    baseline = _baseline(answer, scope)
    facts: list[Fact] = []
    for row in answer.rows:
        facts.append(_line(row))
        if row.get("new") or row.get("risen"):
            facts.append(_change(row, baseline, scope.window))
    total = count(answer.figures, "templates") + count(answer.figures, "flagged")
    return envelope(origin, scope, facts, total, _notes(answer), now)


def _baseline(answer: Raw, scope: Scope) -> Window | None:
    figures = answer.figures
    if figures.get("baseline_start_us") is None:
        return None
    start, end = moment(figures, "baseline_start_us"), moment(figures, "baseline_end_us")
    if end < start:
        return None
    return Window(start=start, end=end, zone=scope.window.zone if scope.window else "UTC")


def _line(row: Mapping[str, Plain]) -> Line:
    return Line(
        text=text(row, "example"),
        subject=text(row, "service"),
        level=text(row, "level") or None,
        at=moment(row, "first_us"),
        count=count(row, "lines"),
        emitter=emitter_of(text(row, "emitter")),
    )


def _change(row: Mapping[str, Plain], baseline: Window | None, window: Window | None) -> Change:
    if row.get("new"):
        before = Quantity(number=Decimal(0), unit=PER_MINUTE)
    else:
        before = quantity(row, "baseline_per_min", PER_MINUTE)
    return Change(
        subject=text(row, "service"),
        attribute=f"error lines like: {text(row, 'template')}",
        statistic="rate",
        before=before,
        after=quantity(row, "per_min", PER_MINUTE),
        direction="up",
        anomalous=True,
        baseline=baseline,
        window=window,
    )


def _notes(answer: Raw) -> Sequence[str]:
    rule, figures = answer.rule, answer.figures
    notes = [
        (
            f"{figures['lines']} error lines of {figures['templates']} kinds, "
            f"{figures['flagged']} of them new or risen"
        ),
        (
            f"rule: new without a line of its kind in the baseline; risen at {rule['risen_ratio']} "
            f"times the baseline's lines a minute and {rule['risen_lines_min']} lines or more; "
            "neither is said of a service that the baseline does not hold"
        ),
        "a line's text is the first of its kind, verbatim, cut to its bound",
    ]
    return (*notes, *source_notes(rule))
