"""Live back ends behind the telemetry port: captured when first asked, then asked like a folder.

The first question about a table reads its back ends over the run's window and some quiet time
before it, into one table of ours; from then on every question is answered from there. So a run
asks a back end once, a tool says what it said over a folder, and what was seen cannot change under
the run's feet. A capture that failed is not tried again for a while: the back end may be the
patient, and several tools ask at once.
"""

from __future__ import annotations

import csv
import shutil
import tempfile
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final, TypeAlias, assert_never, cast

import anyio
from anyio import to_thread

from affidavit.adapters.backend_tables import FilesTable
from affidavit.adapters.duckdb_queries import read_answer
from affidavit.adapters.duckdb_runner import DuckRunner, Query
from affidavit.adapters.duckdb_stage import COLUMNS, FileKind, Source, stage_query, summary_query
from affidavit.adapters.incident_tables import instant, microseconds, staged_path
from affidavit.adapters.prometheus import PrometheusSource, Span
from affidavit.adapters.telemetry_files import capture_files
from affidavit.contract.errors import ToolFailed
from affidavit.ports.telemetry import (
    Answer,
    ChangeEvents,
    Comparison,
    EdgeOnset,
    ErrorLines,
    Incident,
    LogSearch,
    MetricScan,
    Page,
    Plain,
    Question,
    SeriesSamples,
    Signal,
    SignalName,
    Topology,
    TraceEdges,
)

FAILURE_STANDS_S: Final = 15.0
"""So long a failed capture is not tried again: the tools of one step all fail of the same try."""

SETTLE_S: Final = 2.0
"""The newest moments are still on their way: a scrape, a flush."""

STAGE_TIMEOUT_S: Final = 20.0

LEFT_OUT_MAX: Final = 5
"""Reasons that a record names; the number of the rest stands behind them."""


@dataclass(frozen=True, slots=True)
class Caught:
    """One back end's part of a table: a file of rows, and what was left out of it."""

    path: Path
    kind: FileKind
    rows: int
    left_out: tuple[str, ...] = ()


Catch: TypeAlias = Callable[[Path, Span], Awaitable[Caught]]
"""Reads a span into a new file beside the given stem. Raises ToolFailed."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A back end that gives rows to one table."""

    name: str
    signal: SignalName
    catch: Catch


def open_text(path: Path) -> IO[str]:
    """A new file of rows. What JSON can spell and no text can hold (half a surrogate pair) becomes
    a question mark: one such word of a workload's must not cost a whole table."""
    return path.open("w", encoding="utf-8", errors="replace", newline="")


def metrics_feed(source: PrometheusSource) -> Feed:
    """The metrics of a Prometheus."""

    async def catch(stem: Path, span: Span) -> Caught:
        captured = await source.capture(span)
        path = stem.with_suffix(".csv")

        def write() -> None:
            with open_text(path) as file:
                writer = csv.writer(file)
                writer.writerow([column.name for column in COLUMNS["metrics"]])
                writer.writerows(captured.rows)

        await to_thread.run_sync(write)
        return Caught(path, "csv", len(captured.rows), tuple(captured.left_out))

    return Feed(source.name, "metrics", catch)


def files_feed(name: str, table: FilesTable) -> Feed:
    """The lines of configured files."""

    async def catch(stem: Path, span: Span) -> Caught:
        path = stem.with_suffix(".jsonl")

        def write() -> Caught:
            with open_text(path) as file:
                lines = capture_files(table, int(span.start_s * 1e6), int(span.end_s * 1e6), file)
            left_out = list(lines.left_out)
            if lines.unread:
                left_out.append(f"{lines.unread} lines that are no records")
            return Caught(path, "jsonl", lines.kept, tuple(left_out))

        return await to_thread.run_sync(write)

    return Feed(f"files:{name}", table.signal, catch)


@dataclass(slots=True)
class _Table:
    """One table on its way: whether it is there, what was done to it, or why not."""

    lock: anyio.Lock = field(default_factory=anyio.Lock)
    signal: Signal | None = None
    notes: Mapping[str, Plain] = field(default_factory=lambda: MappingProxyType({}))
    failed: ToolFailed | None = None
    failed_s: float = 0.0


class LiveTelemetry:
    """The incident of one run over live back ends (`ports.telemetry.Telemetry`); close it."""

    def __init__(
        self,
        incident: Incident,
        feeds: Sequence[Feed],
        lookback_s: int,
        topology: Topology | None = None,
    ) -> None:
        self.incident = incident
        self.topology = topology
        self.pages: Sequence[Page] = ()
        self._feeds = tuple(feeds)
        self._lookback_s = lookback_s
        self._room = Path(tempfile.mkdtemp(prefix="affidavit-live-"))
        self._runner = DuckRunner(self._room)
        self._tables = {feed.signal: _Table() for feed in feeds}
        self.signals: Mapping[SignalName, Signal] = MappingProxyType(
            {name: Signal(name, self._names(name), 0, None, None) for name in self._tables}
        )
        self._tidied = weakref.finalize(self, _tidy, self._runner, self._room)

    def close(self) -> None:
        """No process is left, and the private directory is gone."""
        self._tidied()

    async def ask(self, question: Question) -> Answer:
        """The answer (see `Telemetry.ask`), from tables that are captured when first needed."""
        needed, useful = tables_of(question)
        notes = await self._ready(needed)
        if useful is not None and useful in self._tables:
            with suppress(ToolFailed):  # the question has an answer without it
                await self._ready(useful)
        there = {name: t.signal for name, t in self._tables.items() if t.signal is not None}
        answer = await read_answer(self._runner, self._room, there, question)
        return replace(answer, source=notes)

    def _names(self, signal: SignalName) -> str:
        return "+".join(feed.name for feed in self._feeds if feed.signal == signal)

    async def _ready(self, name: SignalName) -> Mapping[str, Plain]:
        """What was done to the table, which is then there. Raises ToolFailed."""
        table = self._tables.get(name)
        if table is None:
            raise ToolFailed(f"no back end gives {name}", code="SOURCE_UNAVAILABLE")
        async with table.lock:
            if table.signal is not None:
                return table.notes
            if table.failed is not None:
                if time.monotonic() - table.failed_s < FAILURE_STANDS_S:
                    raise ToolFailed(table.failed.message, code=table.failed.code)
                table.failed = None
            try:
                table.signal, table.notes = await self._capture(name)
            except ToolFailed as failed:
                table.failed, table.failed_s = failed, time.monotonic()
                raise
            return table.notes

    async def _capture(self, name: SignalName) -> tuple[Signal, Mapping[str, Plain]]:
        window = self.incident.window
        end_s = min(window.end.timestamp(), time.time() - SETTLE_S)
        span = Span(window.start.timestamp() - self._lookback_s, end_s)
        caught: list[Caught] = []
        left_out: list[str] = []
        failures: list[ToolFailed] = []
        for place, feed in enumerate(self._feeds):
            if feed.signal != name:
                continue
            try:
                part = await feed.catch(self._room / f"{name}-{place}", span)
            except ToolFailed as failed:
                failures.append(failed)
                left_out.append(f"all of {feed.name} ({failed.code})")
            else:
                caught.append(part)
                left_out += part.left_out
        if not caught:
            raise failures[0]
        signal = await to_thread.run_sync(self._stage, name, caught)
        more = len(left_out) - LEFT_OUT_MAX
        told = left_out[:LEFT_OUT_MAX] + ([f"{more} more"] if more > 0 else [])
        notes: dict[str, Plain] = {
            "source_rows": signal.rows,
            "source_dropped": signal.dropped,
            "source_cut": signal.cut,
            "source_left_out": "; ".join(told),
        }
        return signal, MappingProxyType(notes)

    def _stage(self, name: SignalName, caught: Sequence[Caught]) -> Signal:
        """Each part into one table of ours, which the usual queries read."""
        target = staged_path(self._room, name)
        parts = []
        for place, part in enumerate(caught):
            path = f"{self._room}/{name}-part{place}.parquet" if len(caught) > 1 else target
            columns = tuple((column.name, "VARCHAR") for column in COLUMNS[name])
            source = Source(name, self._names(name), str(part.path), part.kind, columns)
            self._runner.query_now(Query(stage_query(source, path), timeout_s=STAGE_TIMEOUT_S))
            part.path.unlink()
            parts.append(path)
        if len(parts) > 1:
            listed = ", ".join(f"'{path}'" for path in parts)
            joined = f"COPY (SELECT * FROM read_parquet([{listed}])) TO '{target}' (FORMAT parquet)"  # noqa: S608 -- our own names
            self._runner.query_now(Query(joined, timeout_s=STAGE_TIMEOUT_S))
        window = {
            "start_us": microseconds(self.incident.window.start),
            "end_us": microseconds(self.incident.window.end),
        }
        row = self._runner.query_now(Query(summary_query(name, target), window))[0]
        first, last = row["first_us"], row["last_us"]
        return Signal(
            name=name,
            source=self._names(name),
            rows=cast("int", row["rows"]),
            first=instant(cast("int", first)) if first is not None else None,
            last=instant(cast("int", last)) if last is not None else None,
            dropped=cast("int", row["dropped"] or 0),
            cut=cast("int", row["cut"] or 0),
        )


def tables_of(question: Question) -> tuple[SignalName, SignalName | None]:
    """The table that a question needs, and one that makes its answer sharper."""
    match question:
        case MetricScan() | SeriesSamples():
            return "metrics", None
        case ErrorLines() | LogSearch():
            return "logs", None
        case TraceEdges() | EdgeOnset():
            return "traces", None
        case ChangeEvents():
            return "events", None
        case Comparison():
            match question.name:
                case "resource_shifts" | "level_shifts":
                    return "metrics", None
                case "edge_excess" | "self_time" | "error_spans":
                    return "traces", None
                case "interruptions":
                    return "traces", "logs"
                case "error_rise":
                    return "logs", "traces"
                case "template_changes":
                    return "logs", None
            assert_never(question.name)
    assert_never(question)


def _tidy(runner: DuckRunner, room: Path) -> None:
    runner.close()
    shutil.rmtree(room, ignore_errors=True)
