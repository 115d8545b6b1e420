"""PetShop (Hardt et al. 2024, arXiv 2311.04806): issues injected into a shop on AWS.

Layout: a folder a traffic pattern with `graph.csv` (who calls whom), `noissue/metrics.csv` (days
without an issue; not every pattern has one) and `train|test/issue_N` with `metrics.csv` (a few
samples at five minutes around one issue) and `target.json` (what was noticed, and the answer).

A metrics file has three header lines, microservice, metric and statistic, and one column a series.
The quiet days lie months away from the issues, so that what drifted in between is no incident:
whoever compares should look at the samples just before it, too.
"""

from __future__ import annotations

import csv
import json
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from affidavit.contract.errors import InputRefused
from affidavit.importers.folder import (
    Alert,
    Incident,
    Symptom,
    SymptomSignal,
    Truth,
    Window,
    new_folder,
    read_text,
    write_csv,
    write_json,
)
from affidavit.importers.rows import connect, pack

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STEP: Final = timedelta(minutes=5)
"""The sampling step; a page is raised by the step that just ended."""

METRICS: Final = {
    "latency": ("rpc.server.duration", "s"),
    "availability": ("rpc.server.success_ratio", "%"),
    "requests": ("rpc.server.requests", "{request}"),
}
STATISTICS: Final = {"Average": "mean", "Sum": "sum", "Maximum": "max", "Minimum": "min"}
SIGNALS: Final[dict[str, SymptomSignal]] = {
    "latency": "latency",
    "availability": "availability",
    "requests": "throughput",
}

HEADER_LINES: Final = 4
"""microservice, metric, statistic, and the name of the index."""


@dataclass(frozen=True, slots=True)
class Series:
    """One column: what it measures, and its samples that are there."""

    node: str
    metric: str
    statistic: str
    samples: tuple[tuple[datetime, float], ...]


@dataclass(frozen=True, slots=True)
class Target:
    """What was noticed, and what was at fault."""

    node: str
    metric: str
    at: datetime
    culprit: str
    command: str


def import_petshop(src: Path, dst: Path) -> list[Path]:
    """Writes one folder an issue under `dst`; `src` is the data set or its `dataset` folder."""
    root = src / "dataset" if (src / "dataset").is_dir() else src
    quiet = {path.parent.parent.name: read_series(path)
             for path in sorted(root.glob("*/noissue/metrics.csv"))}  # fmt: skip
    issues = sorted(root.glob("*/*/issue_*/target.json"))
    if not issues:
        raise InputRefused(f"{src} holds no issue", hint="expected PATTERN/train/issue_N")
    con = connect()
    try:
        return [import_issue(con, root, path.parent, quiet, dst) for path in issues]
    finally:
        con.close()


def import_issue(
    con: DuckDBPyConnection,
    root: Path,
    issue: Path,
    quiet: dict[str, tuple[Series, ...]],
    dst: Path,
) -> Path:
    """Writes one issue."""
    pattern, split = issue.parent.parent.name, issue.parent.name
    target = read_target(issue / "target.json")
    series = read_series(issue / "metrics.csv")
    name = f"petshop-{pattern}-{split}-{issue.name}".replace("_", "-")
    before = quiet.get(pattern) or nearest(quiet, series, target.node)
    incident = make_incident(name, target, series, before)
    truth = Truth(True, target.culprit, None, None, notes=target.command)
    with new_folder(dst, incident, truth) as folder:
        write_csv(folder / "metrics.csv", tuple(METRIC_COLUMNS), rows(before, series))
        pack(con, folder / "metrics.csv", METRIC_COLUMNS)
        write_json(folder / "topology.json", read_topology(root / pattern / "graph.csv"))
    return dst / name


def make_incident(
    name: str, target: Target, series: Sequence[Series], before: Sequence[Series]
) -> Incident:
    """The page: what was noticed where; the window begins one step earlier."""
    last = max(at for one in series for at, _ in one.samples)
    signal = SIGNALS.get(target.metric, "unknown")
    return Incident(
        id=name,
        title=f"{target.node}: {target.metric} alarm",
        question=(
            f"The {target.metric} of {target.node} breached its objective at "
            f"{target.at:%Y-%m-%d %H:%M:%S} UTC. Which service is at fault, and how does it show?"
        ),
        window=Window(target.at - STEP, max(last, target.at)),
        symptom=Symptom(target.node, signal, METRICS.get(target.metric, (None,))[0]),
        alert=Alert(
            f"{target.metric.capitalize()}ObjectiveBreached",
            target.at,
            {"service": target.node, "metric": target.metric},
        ),
        baseline=extent(before),
        description=(
            "PetShop (arXiv 2311.04806), CC-BY-4.0. One value in five minutes; no logs, no traces. "
            "The baseline is the set's own time without issues, months apart."
        ),
    )


METRIC_COLUMNS: Final = {
    "timestamp": "TIMESTAMPTZ",
    "service_name": "VARCHAR",
    "metric_name": "VARCHAR",
    "value": "DOUBLE",
    "unit": "VARCHAR",
    "statistic": "VARCHAR",
}


def rows(*groups: Sequence[Series]) -> Iterator[tuple[str, ...]]:
    """Long rows of all series."""
    for group in groups:
        for one in group:
            name, unit = METRICS.get(one.metric, (one.metric, ""))
            for at, value in one.samples:
                yield (at.isoformat(), one.node, name, repr(value), unit,
                       STATISTICS.get(one.statistic, one.statistic.lower()))  # fmt: skip


def read_series(path: Path) -> tuple[Series, ...]:
    """The series of a metrics file. Errors: InputRefused."""
    table = list(csv.reader(read_text(path).splitlines()))
    if len(table) <= HEADER_LINES or {len(row) for row in table} != {len(table[0])}:
        raise InputRefused(f"{path} is not a table with {HEADER_LINES} header lines")
    nodes, metrics, kinds = table[0], table[1], table[2]
    try:
        stamps = [datetime.fromtimestamp(float(row[0]), UTC) for row in table[HEADER_LINES:]]
        cells = [[number(cell) for cell in row] for row in table[HEADER_LINES:]]
    except (ValueError, OverflowError, OSError) as error:
        raise InputRefused(f"{path}: {error}") from error
    return tuple(
        Series(nodes[place], metrics[place], kinds[place], samples)
        for place in range(1, len(nodes))
        if (samples := tuple(
            (at, value) for at, row in zip(stamps, cells, strict=True)
            if (value := row[place]) is not None
        ))
    )  # fmt: skip


def number(cell: str) -> float | None:
    """A cell's value; empty, NaN and infinite mean no value."""
    value = float(cell) if cell else math.nan
    return value if math.isfinite(value) else None


def read_target(path: Path) -> Target:
    """What was noticed and the answer. Errors: InputRefused."""
    try:
        record = json.loads(read_text(path))
        return Target(
            node=str(record["target"]["node"]),
            metric=str(record["target"]["metric"]),
            at=datetime.fromtimestamp(float(record["target"]["timestamp"]), UTC),
            culprit=str(record["root_cause"]["node"]),
            command=str(record.get("metadata", {}).get("reproducibility", {}).get("command", "")),
        )
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputRefused(f"{path} is not a target: {error!r}") from error


def read_topology(path: Path) -> dict[str, list[dict[str, str]]]:
    """Nodes and calls of the adjacency table, row to column."""
    table = list(csv.reader(read_text(path).splitlines()))
    names = table[0][1:] if table else []
    edges = [
        {"from": row[0], "to": name, "kind": "calls"}
        for row in table[1:]
        for name, cell in zip(names, row[1:], strict=False)
        if cell not in {"", "0", "0.0"}
    ]
    known = dict.fromkeys([*names, *(row[0] for row in table[1:])])
    return {"nodes": [{"name": name, "kind": kind_of(name)} for name in known], "edges": edges}


def kind_of(name: str) -> str:
    """A node's kind, by the type that AWS X-Ray puts behind its name.

    `_remote` and `_client` are the far end as somebody else saw it, without telemetry of its own.
    """
    if name.endswith(("_remote", "_client")):
        return "external"
    if "DynamoDB" in name or name.endswith("Database::SQL"):
        return "database"
    return "queue" if name.endswith("SQS::Queue") else "service"


def nearest(
    quiet: dict[str, tuple[Series, ...]], series: Sequence[Series], node: str
) -> tuple[Series, ...]:
    """The quiet time whose load at the entry is nearest; empty where there is none at all."""
    load = requests(series, node)
    names = sorted(quiet, key=lambda n: (abs(math.log(requests(quiet[n], node) / load)), n))
    return quiet[names[0]] if names else ()


def requests(series: Sequence[Series], node: str) -> float:
    """The median requests a step at a node; 1 where none were counted."""
    found = [v for one in series if one.node == node and one.metric == "requests"
             for _, v in one.samples]  # fmt: skip
    return max(1.0, statistics.median(found)) if found else 1.0


def extent(series: Sequence[Series]) -> Window | None:
    """From the first sample to the last."""
    stamps = [at for one in series for at, _ in one.samples]
    return Window(min(stamps), max(stamps)) if stamps else None
