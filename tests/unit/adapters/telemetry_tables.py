"""Small staged tables in an in-memory DuckDB, and the answers of queries over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb

from affidavit.adapters.duckdb_runner import Query
from affidavit.adapters.duckdb_worker import plain
from affidavit.adapters.telemetry_sql import Bounds

S = 1_000_000
MINUTE = 60 * S
START = 1_700_000_000 * S
BOUNDS = Bounds(START, START + 5 * MINUTE)
QUIET = Bounds(START, START + 5 * MINUTE, START - 120 * MINUTE, START - 119 * MINUTE)

TABLES = {
    "metrics": "at_us BIGINT, service_name TEXT, metric_name TEXT, value DOUBLE, unit TEXT,"
    " statistic TEXT, instance TEXT",
    "logs": "at_us BIGINT, service_name TEXT, body TEXT, severity_text TEXT, instance TEXT,"
    " trace_id TEXT, span_id TEXT, emitter TEXT, is_error BOOLEAN",
    "traces": "trace_id TEXT, span_id TEXT, parent_span_id TEXT, service_name TEXT, name TEXT,"
    " at_us BIGINT, duration_us BIGINT, kind TEXT, status_code TEXT, instance TEXT,"
    " status_message TEXT",
}
"""The staged columns that the queries may use."""


@dataclass
class Tables:
    """The three tables, to be filled and asked."""

    rows: dict[str, list[tuple[object, ...]]] = field(
        default_factory=lambda: {name: [] for name in TABLES}
    )
    number: int = 0

    def metric(
        self, service: str, name: str, samples: Mapping[int, float], unit: str = "%"
    ) -> None:
        """Samples by their second relative to the incident's start."""
        self.rows["metrics"] += [
            (START + at * S, service, name, v, unit, "mean", "") for at, v in samples.items()
        ]

    def line(self, service: str, at_s: float, body: str, level: str = "INFO", **more: str) -> None:
        """One log line."""
        self.rows["logs"].append(
            (START + int(at_s * S), service, body, level, "", more.get("trace", ""),
             more.get("span", ""), more.get("emitter", "workload"), level == "ERROR")
        )  # fmt: skip

    def call(self, at_s: float, *spans: tuple[str, str, int], status: str = "UNSET") -> None:
        """One trace: spans of (service, operation, duration), each the child of the one before."""
        self.number += 1
        trace, parent = f"t{self.number}", ""
        for depth, work in enumerate(spans):
            span = f"{trace}.{depth}"
            self.span((trace, span, parent), work, at_s + depth / 1000, status)
            parent = span

    def span(
        self,
        ids: tuple[str, str, str],
        work: tuple[str, str, int],
        at_s: float,
        status: str = "UNSET",
    ) -> None:
        """One span: ids of trace, span and parent; work is service, operation and duration."""
        service, operation, us = work
        self.rows["traces"].append(
            (*ids, service, operation, START + int(at_s * S), us, "", status, "", "")
        )

    def ask(self, query: Query) -> list[dict[str, Any]]:
        """The rows, as plain as the query process would hand them over."""
        with duckdb.connect() as con:
            for name, columns in TABLES.items():
                con.execute(f"CREATE TABLE {name} ({columns})")
                if self.rows[name]:  # by column: row by row takes a hundred times as long
                    given = [list(column) for column in zip(*self.rows[name], strict=True)]
                    parts = ", ".join(f"unnest(${n + 1})" for n in range(len(given)))
                    con.execute(f"INSERT INTO {name} SELECT {parts}", given)
            cursor = con.execute(query.sql, dict(query.given))
            names = [column[0] for column in cursor.description or ()]
            found = cursor.fetchall()
        assert len(found) <= query.rows_max
        for row in found:
            for cell in row:
                plain(cell)  # raises for a cell that cannot cross
        return [dict(zip(names, row, strict=True)) for row in found]


def by_service(rows: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Rows by their service; each has one."""
    return {str(row["service"]): row for row in rows}
