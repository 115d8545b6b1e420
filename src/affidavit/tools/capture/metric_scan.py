"""`metric_scan`: every series of the window against its own baseline, strongest deviation first;
and `window_comparison`, the same against any other window.

The rule and its constants stand in each record's notes. Whoever reads the record compares what
was recorded, and never computes an anomaly or an onset again from series (M5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from pydantic import Field

from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Change, Envelope, Fact, Onset, Scope, Window
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.ports.telemetry import Floor, MetricScan, Plain, Telemetry
from affidavit.tools.capture.rows import (
    Origin,
    Raw,
    WindowArguments,
    count,
    envelope,
    moment,
    number,
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

THRESHOLD: Final = "6"
"""Scales from the median. With the floors below, a series that is flat to within 5 % has to move
by 30 % to be called anomalous; normal noise reaches 6 about once in a billion samples."""

NORMAL: Final = "2"
"""Within two scales a sample is as it always was. An onset lies after the last such sample: what
grew slowly did not begin where it was first called abnormal."""

SAMPLES_MIN: Final = 5
"""Fewer say nothing about how a series moves; a median absolute deviation of four is a guess."""

CLEARANCE_S: Final = 180
"""An alert comes a few minutes after what it tells of: scrape, evaluation, and the usual `for`.
Those minutes are no baseline, unless one was declared or nothing else is there."""

RUN_MIN: Final = 2
"""One sample may be a scrape that went wrong; two neighbours are a change."""

SERIES_MAX: Final = 30
"""Rows of one answer; the tail says nothing but that it is quiet."""

FLAT_SCALES: Final = Decimal(1)
"""Within one scale of its baseline a series has no direction."""

FLOORS: Final = (
    Floor("%", "", "0.5", "0.01"),
    Floor("1", "ratio", "0.005", "0.01"),
    Floor("s", "", "0.002", "0.05"),
    Floor("ms", "", "2", "0.05"),
    Floor("us", "", "2000", "0.05"),
    Floor("m{cpu}", "", "5", "0.05"),
    Floor("By", "memory", "1000000", "0.02"),
    Floor("MiBy", "memory", "1", "0.02"),
    Floor("By", "", "1000", "0.05"),
    Floor("", "", "0.05", "0.05"),
)
"""The smallest scales by unit (UCUM) and word of the metric's name: half a point of a percentage,
two milliseconds of a duration, five millicores, a megabyte of memory, a kilobyte of traffic; five
percent of anything, two of memory, which hardly moves by itself."""


class MetricScanArguments(WindowArguments):
    """Which service, over which window."""


class WindowComparisonArguments(WindowArguments):
    """Which window is compared with which."""

    healthy: Window = Field(description="a span of time in which all was well, outside the window")


def metric_scan_tool(telemetry: Telemetry) -> Tool[MetricScanArguments]:
    """The tool over an incident's metrics."""
    origin, rule = _origin(telemetry), _rule(telemetry)

    def scope_of(arguments: MetricScanArguments, context: ToolContext) -> Scope:
        return window_scope(telemetry, "metrics", context, arguments, "metric scan")

    async def fetch(_: MetricScanArguments, scope: Scope) -> bytes:
        question = _question(telemetry, scope, telemetry.incident.baseline)
        return write_raw(await telemetry.ask(question), rule)

    def project(raw: bytes, _: MetricScanArguments, scope: Scope, now: datetime) -> Envelope:
        return _project(raw, origin, scope, now)

    return Tool(
        name="metric_scan",
        description="Compares every metric of the window with its own baseline: which services "
        "deviate, by how much, in which direction and since when. Strongest first.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=MetricScanArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )


def window_comparison_tool(telemetry: Telemetry) -> Tool[WindowComparisonArguments]:
    """The tool that compares two windows, whichever they are, by the rule of the scan."""
    origin, rule = _origin(telemetry), _rule(telemetry)

    def scope_of(arguments: WindowComparisonArguments, context: ToolContext) -> Scope:
        healthy = arguments.healthy
        return window_scope(
            telemetry,
            "metrics",
            context,
            arguments,
            f"compared with {healthy.start.isoformat()} to {healthy.end.isoformat()}",
        )

    async def fetch(arguments: WindowComparisonArguments, scope: Scope) -> bytes:
        window, healthy = scope.window or telemetry.incident.window, arguments.healthy
        if healthy.start <= window.end and window.start <= healthy.end:
            raise ToolFailed(
                "the healthy window overlaps the window that is compared with it",
                code="WINDOWS_OVERLAP",
            )
        question = replace(_question(telemetry, scope, healthy), whole=True)
        return write_raw(await telemetry.ask(question), rule)

    def project(raw: bytes, _: WindowComparisonArguments, scope: Scope, now: datetime) -> Envelope:
        return _project(raw, origin, scope, now)

    return Tool(
        name="window_comparison",
        description="Compares every metric of the window with another window in which all was "
        "well: yesterday at this hour, or before a release. Strongest deviation first.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=WindowComparisonArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )


def _origin(telemetry: Telemetry) -> Origin:
    return Origin(
        "metrics", source_of(telemetry, "metrics"), EvidenceClass.OBSERVATION, Emitter.PLATFORM
    )


def _rule(telemetry: Telemetry) -> dict[str, Plain]:
    return {
        "threshold": THRESHOLD,
        "normal": NORMAL,
        "samples_min": SAMPLES_MIN,
        "clearance_s": CLEARANCE_S,
        "run_min": RUN_MIN,
        **signal_notes(telemetry.signals.get("metrics")),
    }


def _question(telemetry: Telemetry, scope: Scope, baseline: Window | None) -> MetricScan:
    return MetricScan(
        service=scope.service,
        window=scope.window or telemetry.incident.window,
        baseline=baseline,
        threshold=THRESHOLD,
        normal=NORMAL,
        samples_min=SAMPLES_MIN,
        clearance_s=CLEARANCE_S,
        run_min=RUN_MIN,
        floors=FLOORS,
        rows_max=SERIES_MAX,
    )


def _project(raw: bytes, origin: Origin, scope: Scope, now: datetime) -> Envelope:
    answer = read_raw(raw)
    zone = scope.window.zone if scope.window else "UTC"
    facts: list[Fact] = []
    begun: set[tuple[str, str]] = set()  # one onset a metric, whatever its statistics
    for row in answer.rows:
        facts.append(_change(row, scope.window, zone))
        metric = (text(row, "service"), text(row, "metric"))
        if row.get("normal_us") is not None and metric not in begun:
            begun.add(metric)
            facts.append(
                Onset(
                    subject=metric[0],
                    attribute=metric[1],
                    earliest=moment(row, "normal_us"),
                    latest=moment(row, "abnormal_us"),
                )
            )
    total = count(answer.figures, "series") + count(answer.figures, "onsets")
    return envelope(origin, scope, facts, total, _notes(answer), now)


def _change(row: Mapping[str, Plain], window: Window | None, zone: str | None) -> Change:
    unit, score = text(row, "unit"), number(row, "score")
    return Change(
        subject=text(row, "service"),
        attribute=text(row, "metric"),
        statistic=text(row, "statistic") or None,
        before=quantity(row, "before", unit),
        after=quantity(row, "after", unit),
        direction=_direction(score),
        score=score,
        anomalous=row.get("anomalous") is True,
        baseline=Window(
            start=moment(row, "baseline_start_us"), end=moment(row, "baseline_end_us"), zone=zone
        ),
        window=window,
    )


def _direction(score: Decimal) -> Literal["up", "down", "flat"]:
    if abs(score) < FLAT_SCALES:
        return "flat"
    return "up" if score > 0 else "down"


def _notes(answer: Raw) -> Sequence[str]:
    rule, figures = answer.rule, answer.figures
    notes = [
        (
            "rule: scale = max(1.4826 MAD, tails beyond the median / 1.645, floor of the unit); "
            f"abnormal at {rule['threshold']} scales from the baseline's median; anomalous with "
            f"{rule['run_min']} neighbouring abnormal samples; baseline of {rule['samples_min']} "
            f"samples or more, not of the last {rule['clearance_s']} s before the window; onset: "
            f"after the last sample within {rule['normal']} scales"
        ),
        (
            "before: median of the baseline; after: median of the strongest abnormal run, else of "
            "the window; score: their difference in scales; of several instances the strongest"
        ),
        (
            f"{figures['series']} series compared, {figures['anomalous']} anomalous, "
            f"{figures['incomparable']} with too few samples"
        ),
    ]
    return (*notes, *source_notes(rule))
