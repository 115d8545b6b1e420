"""The layout of RCAEval (Pham et al., WWW 2025): injections in microservice systems.

Layout: `SERVICE_FAULT/N/` with `inject_time.txt` (epoch seconds), `data.csv`, `simple_metrics.csv`
or `metrics.csv` (a column a series, `SERVICE_METRIC`, and `time` in epoch seconds), and in some
`logs.csv` and `traces.csv`. The folder's name is the answer; an incident is named by its digest.
"""

from __future__ import annotations

import csv
import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.importers.folder import (
    Alert,
    Incident,
    Symptom,
    Truth,
    Window,
    new_folder,
    read_text,
    write_csv,
)

METRIC_FILES: Final = ("simple_metrics.csv", "data.csv", "metrics.csv")
"""Where the series may be, the curated ones first."""

WINDOW_LENGTH: Final = timedelta(minutes=10)
"""The set's faults last ten minutes or so; what follows is recovery."""

SERIES: Final = re.compile(
    r"^(?P<service>.+?)_(?P<metric>cpu|mem|memory|latency(?:-\d+)?|error|load|workload|diskio|"
    r"socket|lat_?\d*|[a-z0-9-]+)$"
)
METRICS: Final = {
    "cpu": ("container.cpu.usage", "{cpu}", "mean"),
    "mem": ("container.memory.usage", "By", "gauge"),
    "memory": ("container.memory.usage", "By", "gauge"),
    "error": ("rpc.server.errors", "1", "rate"),
    "load": ("rpc.server.requests", "{request}/s", "rate"),
    "workload": ("rpc.server.requests", "{request}/s", "rate"),
    "diskio": ("container.disk.io", "By/s", "rate"),
    "socket": ("container.socket.count", "{socket}", "gauge"),
}
LATENCY: Final = re.compile(r"lat(?:ency)?[-_]?(\d*)$")

CASE: Final = re.compile(r"^(?P<service>.+)_(?P<fault>[a-z0-9]+)$")

MILLISECONDS: Final = 10**11
"""From here on a stamp is not in seconds: the set mixes units by table."""


@dataclass(frozen=True, slots=True)
class Case:
    """One run of one injection."""

    path: Path
    service: str
    fault: str
    injected_at: datetime

    @property
    def id(self) -> str:
        """A name without the service and the fault."""
        words = f"{self.path.parent.name}/{self.path.name}"
        return "rcaeval-" + hashlib.sha256(words.encode()).hexdigest()[:8]


def import_rcaeval(src: Path, dst: Path) -> list[Path]:
    """Writes one folder a run found anywhere below `src` under `dst`."""
    runs = sorted(path.parent for path in src.rglob("inject_time.txt"))
    if not runs:
        raise InputRefused(f"{src} holds no run", hint="expected SERVICE_FAULT/N/inject_time.txt")
    return [import_run(read_case(path), dst) for path in runs]


def read_case(path: Path) -> Case:
    """A run by its folder. Errors: InputRefused."""
    named = CASE.match(path.parent.name)
    if named is None:
        raise InputRefused(f"{path.parent} is not named SERVICE_FAULT")
    stamp = read_text(path / "inject_time.txt").strip()
    return Case(path, named["service"], named["fault"], moment(stamp, path / "inject_time.txt"))


def import_run(case: Case, dst: Path) -> Path:
    """Writes one run."""
    source = next((case.path / f for f in METRIC_FILES if (case.path / f).is_file()), None)
    if source is None:
        raise InputRefused(f"{case.path} has none of {', '.join(METRIC_FILES)}")
    truth = Truth(True, case.service, case.fault, case.injected_at)
    with new_folder(dst, make_incident(case), truth) as folder:
        write_csv(
            folder / "metrics.csv",
            ("timestamp", "service_name", "metric_name", "value", "unit", "statistic"),
            metric_rows(source),
        )
        if (case.path / "logs.csv").is_file():
            write_csv(
                folder / "logs.csv",
                ("timestamp", "service_name", "body", "severity_text"),
                log_rows(case.path / "logs.csv"),
            )
        if (case.path / "traces.csv").is_file():
            write_csv(
                folder / "traces.csv",
                ("trace_id", "span_id", "parent_span_id", "service_name", "name", "timestamp",
                 "duration_us"),
                span_rows(case.path / "traces.csv"),
            )  # fmt: skip
    return dst / case.id


def make_incident(case: Case) -> Incident:
    """The page: when, nothing else; the set says where a fault was put, not what was noticed."""
    start = case.injected_at.replace(second=0, microsecond=0)
    return Incident(
        id=case.id,
        title="degradation noticed",
        question=(
            f"Users are affected since about {start:%H:%M} UTC on {start:%Y-%m-%d}. Which service "
            "is at fault, and how does it show?"
        ),
        window=Window(start, start + WINDOW_LENGTH),
        symptom=Symptom("unknown"),
        alert=Alert("UserExperienceDegraded", start),
        description="RCAEval layout. The noticed symptom is not part of the set.",
    )


def metric_rows(path: Path) -> Iterator[tuple[str, ...]]:
    """Wide columns as long rows; empty cells and NaN are no values. Errors: InputRefused."""
    for row in table(path, "time"):
        at = moment(row["time"] or "", path).isoformat()
        for column, cell in row.items():
            found = SERIES.match(column or "")
            if column == "time" or found is None or number(cell, path) is None:
                continue
            name, unit, statistic = meaning(found["metric"])
            yield at, found["service"], name, cell, unit, statistic


def meaning(metric: str) -> tuple[str, str, str]:
    """Name, unit and statistic of a column's last word; an unknown word stays as it is."""
    if latency := LATENCY.match(metric):
        return "rpc.server.duration", "s", f"p{latency[1]}" if latency[1] else "mean"
    return METRICS.get(metric, (metric, "", ""))


def log_rows(path: Path) -> Iterator[tuple[str, ...]]:
    """The lines. Errors: InputRefused."""
    for row in table(path, "message"):
        at = moment(row.get("timestamp") or row.get("time") or "", path).isoformat()
        service = row.get("container_name") or row.get("service") or "unknown"
        yield at, service, row["message"], (row.get("level") or "").upper()


def span_rows(path: Path) -> Iterator[tuple[str, ...]]:
    """The spans; durations are microseconds in this set. Errors: InputRefused."""
    for row in table(path, "traceID"):
        stamp = row.get("startTime") or row.get("startTimeMillis") or ""
        yield (
            row["traceID"], row.get("spanID") or "", row.get("parentSpanID") or "",
            row.get("serviceName") or "unknown",
            row.get("operationName") or row.get("methodName") or "",
            moment(stamp, path).isoformat(), str(round(number(row.get("duration"), path) or 0)),
        )  # fmt: skip


def table(path: Path, needed: str) -> Iterable[Mapping[str, str]]:
    """A CSV table's rows. Errors: InputRefused when it lacks the column."""
    reader = csv.DictReader(read_text(path).splitlines())
    if needed not in (reader.fieldnames or ()):
        raise InputRefused(f"{path} has no column {needed}")
    return reader


def number(cell: str | None, path: Path) -> float | None:
    """A cell's value; none where it is empty, NaN or infinite. Errors: InputRefused."""
    try:
        value = float(cell or "nan")
    except ValueError as error:
        if not (cell or "").strip():
            return None
        raise InputRefused(
            f"{path}: {cell!r} is no number", hint="leave the cell empty where nothing was measured"
        ) from error
    return value if math.isfinite(value) else None


def moment(stamp: str, path: Path) -> datetime:
    """Seconds, milliseconds, microseconds or nanoseconds since the epoch, told by their size."""
    try:
        value = float(stamp)
        if not math.isfinite(value):
            raise ValueError(stamp)  # an infinite stamp is never small enough for the loop below
        while abs(value) >= MILLISECONDS:
            value /= 1000
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InputRefused(f"{path}: {stamp!r} is no time since the epoch") from error
