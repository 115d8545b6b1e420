"""Incident folders for tests, written by hand or broken on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from affidavit.contract.evidence import Envelope, Window
from affidavit.contract.record import Record, format_instant
from affidavit.ports.telemetry import Telemetry
from affidavit.tools.capture import capture_catalogue
from affidavit.tools.catalogue import Tool, ToolContext

START: Final = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
WINDOW: Final = Window(start=START, end=START + timedelta(minutes=10))

INCIDENT: Final = """\
id: slow-checkout
title: Checkout is slow
question: Why is checkout slow since 10:00 UTC?
window: {start: 2026-03-02T10:00:00Z, end: 2026-03-02T10:10:00Z}
symptom: {service: checkout, signal: latency}
"""

METRICS_HEADER: Final = "timestamp,service_name,metric_name,value,unit,statistic"

Cell = str | int | float | None


def stamp(minute: float) -> str:
    """The moment so many minutes after the window's start."""
    return format_instant(START + timedelta(minutes=minute))


def write_folder(folder: Path, incident: str = INCIDENT, **files: str) -> Path:
    """A folder with an incident and further files; `metrics_csv` names `metrics.csv`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "incident.yaml").write_text(incident, encoding="utf-8")
    for name, content in files.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(content, encoding="utf-8")
    return folder


def metrics_csv(series: Mapping[str, Iterable[tuple[float, float]]], unit: str = "ms") -> str:
    """A table of `service metric statistic` → (minute, value) pairs."""
    lines = [METRICS_HEADER]
    for name, samples in series.items():
        service, metric, statistic = name.split()
        lines += [
            f"{stamp(at)},{service},{metric},{value},{unit},{statistic}" for at, value in samples
        ]
    return "\n".join(lines) + "\n"


def quiet(minutes: Iterable[int], level: float = 20.0) -> list[tuple[float, float]]:
    """Samples around a level, one a minute, with a ripple of five in a hundred."""
    return [(at, level * (1 + 0.05 * ((at % 3) - 1))) for at in minutes]


def jsonl(rows: Iterable[Mapping[str, Cell]]) -> str:
    """JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def log_row(minute: float, body: str, level: str | None = "ERROR", **more: Cell) -> dict[str, Cell]:
    """One log line of checkout."""
    return {
        "timestamp": stamp(minute),
        "service_name": "checkout",
        "severity_text": level,
        "body": body,
    } | more


def small_folder(folder: Path) -> Path:
    """The smallest folder that works: one quiet series and one line."""
    return write_folder(
        folder,
        metrics_csv=metrics_csv({"checkout latency p95": quiet(range(-30, 10))}),
        logs_jsonl=jsonl([log_row(1, "payment timed out after 5000 ms")]),
    )


async def call(
    telemetry: Telemetry, name: str, arguments: Mapping[str, object] | None = None
) -> Envelope:
    """What a tool answers, as the boundary would ask it."""
    tool: Tool[Record] = capture_catalogue(telemetry).tools[name]
    context = ToolContext("run_0123456789abcdef", "acme", None, START)
    asked = tool.read_arguments(arguments or {})
    scope = tool.scope_of(asked, context)
    raw = await tool.fetch(asked, scope)
    envelope = tool.project(raw, asked, scope, context.now)
    assert tool.project(raw, asked, scope, context.now) == envelope
    assert envelope.contradiction() is None
    return envelope
