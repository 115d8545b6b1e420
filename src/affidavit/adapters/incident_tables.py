"""Reads each table of an incident folder once, into one Parquet file of ours, and judges it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, cast

from affidavit.adapters.duckdb_runner import MEMORY_MB, DuckRunner, Query, Row
from affidavit.adapters.duckdb_stage import (
    COLUMN_NAMES_MAX,
    COLUMNS,
    LINE_BYTES_MAX,
    ROWS_MAX,
    FileKind,
    Source,
    check_columns,
    stage_query,
    summary_query,
)
from affidavit.contract.errors import InputRefused, ToolFailed
from affidavit.contract.record import format_instant
from affidavit.ports.telemetry import Incident, Signal, SignalName

STAGE_TIMEOUT_S: Final = 300.0
"""Eight gigabytes of text, the most that is accepted, take about a minute."""

SAMPLE_BYTES: Final = 256 * 1024
"""Of a text file, to see which columns it has."""

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table of the folder, checked and open. `file` is its name for people."""

    signal: SignalName
    file: str
    kind: FileKind
    descriptor: int

    @property
    def path(self) -> str:
        """How the query process names the open file."""
        return f"/proc/self/fd/{self.descriptor}"


def staged_path(room: Path, signal: SignalName) -> str:
    """Where a table of ours stands."""
    return str(room / f"{signal}.parquet")


def stage_tables(
    runner: DuckRunner, room: Path, tables: Iterable[OpenTable], incident: Incident
) -> dict[SignalName, Signal]:
    """Every table, read whole. Raises InputRefused for the first that cannot be used, and when
    none of them reaches into the incident's window."""
    signals: dict[SignalName, Signal] = {}
    in_window = 0
    for table in tables:
        try:
            row = _stage(runner, room, table, incident)
        except ToolFailed as failure:
            raise _unreadable(table, failure) from None
        signals[table.signal] = _judge(table, row)
        in_window += cast("int", row["in_window"])
    if not any(signal.rows for signal in signals.values()):
        raise InputRefused(
            "the incident has no telemetry: no table with a row in it",
            hint="add metrics, logs, traces or events as .parquet, .csv or .jsonl",
        )
    if not in_window:
        raise _outside(signals.values(), incident)
    return signals


def _stage(runner: DuckRunner, room: Path, table: OpenTable, incident: Incident) -> Row:
    source = Source(table.signal, table.file, table.path, table.kind, _columns(runner, table))
    check_columns(source)
    target = staged_path(room, table.signal)
    runner.query_now(Query(stage_query(source, target), timeout_s=STAGE_TIMEOUT_S))
    window = {
        "start_us": microseconds(incident.window.start),
        "end_us": microseconds(incident.window.end),
    }
    summary = Query(summary_query(table.signal, target), window, timeout_s=STAGE_TIMEOUT_S)
    return runner.query_now(summary)[0]


def _columns(runner: DuckRunner, table: OpenTable) -> tuple[tuple[str, str], ...]:
    """The columns that the file has, with their types."""
    if table.kind == "parquet":
        described = f"(DESCRIBE FROM read_parquet('{table.path}'))"
        sql = f"SELECT column_name AS name, column_type AS type FROM {described}"  # noqa: S608 -- our path
        rows = runner.query_now(Query(sql, rows_max=COLUMN_NAMES_MAX))
        return tuple((str(row["name"]), str(row["type"])) for row in rows)
    sample = os.pread(table.descriptor, SAMPLE_BYTES, 0)
    names = _csv_header(sample, table) if table.kind == "csv" else _json_keys(sample, table)
    return tuple((name, "VARCHAR") for name in names)


def _csv_header(sample: bytes, table: OpenTable) -> Sequence[str]:
    try:
        text = sample.decode("utf-8-sig", errors="replace")
        header = next(csv.reader(io.StringIO(text, newline=""), strict=True), [])
    except csv.Error:
        header = []
    if not 0 < len(header) <= COLUMN_NAMES_MAX:
        raise InputRefused(
            f"{table.file}, line 1: no header of 1 to {COLUMN_NAMES_MAX} comma-separated names",
            hint="the first line names the columns",
        )
    return header


def _json_keys(sample: bytes, table: OpenTable) -> Sequence[str]:
    """The keys of the first lines. A value that is null may be left out of a line, so one line
    alone does not say what a file has; a file without a line has every column."""
    lines = sample.split(b"\n")
    if len(sample) == SAMPLE_BYTES and len(lines) > 1:
        lines.pop()  # cut by the sample
    keys: dict[str, None] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            keys |= dict.fromkeys(_json_object(line, table, number))
    if not keys:
        return [column.name for column in COLUMNS[table.signal]]
    if table.signal == "traces":
        keys["parent_span_id"] = None  # the first spans may all be roots
    return list(keys)


def _json_object(line: bytes, table: OpenTable, number: int) -> dict[str, object]:
    try:
        value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        if isinstance(value, dict):
            return value
    except (ValueError, RecursionError):
        pass
    raise InputRefused(
        f"{table.file}, line {number}: not one whole JSON object",
        hint="each line holds one object; mend or remove this one",
    )


def _judge(table: OpenTable, row: Row) -> Signal:
    """The table as it will be used. Raises InputRefused where rows could not be read."""

    def count(name: str) -> int:
        return cast("int", row[name] or 0)

    first_row = 2 if table.kind == "csv" else 1  # as people count lines
    if count("rows") > ROWS_MAX:
        raise InputRefused(f"{table.file} has more than {ROWS_MAX} rows", hint=CUT_HINT)
    if count("untimed"):
        raise InputRefused(
            f"{table.file}: {count('untimed')} rows have no readable timestamp, the first is row "
            f"{count('first_untimed') + first_row}",
            hint="RFC 3339 with a zone, or whole microseconds since 1970",
        )
    if count("unread"):
        number = "value" if table.signal == "metrics" else "duration_us"
        raise InputRefused(
            f"{table.file}: in {count('unread')} rows {number} is no number, the first is row "
            f"{count('first_unread') + first_row}",
            hint="write numbers with a point and without unit; leave the cell empty for no value",
        )
    has_rows = row["first_us"] is not None
    return Signal(
        name=table.signal,
        source=table.file,
        rows=count("rows"),
        first=instant(count("first_us")) if has_rows else None,
        last=instant(count("last_us")) if has_rows else None,
        zone=None if row["naive"] else "UTC",
        dropped=count("dropped"),
        cut=count("cut"),
    )


CUT_HINT: Final = "cut the table to the incident and its baseline"


def _unreadable(table: OpenTable, failure: ToolFailed) -> InputRefused:
    """What a person can do about a table that the query process could not read."""
    file, detail = table.file, failure.message
    if failure.code == "NOT_INSTALLED":
        return InputRefused(
            "reading an incident folder needs DuckDB, which is not installed",
            hint="pip install 'affidavit[capture]'",
        )
    if failure.code == "TIMEOUT":
        return InputRefused(f"{file} took more than {STAGE_TIMEOUT_S:.0f} s to read", hint=CUT_HINT)
    if failure.code == "MEMORY_LIMIT":
        return InputRefused(
            f"{file} unpacks to more than the {MEMORY_MB} MB in which a table is read",
            hint="write it anew with smaller row groups and without huge cells",
        )
    if "Could not write" in detail or "No space left" in detail:
        return InputRefused(
            f"{file} cannot be unpacked: no room in {tempfile.gettempdir()}",
            hint="free some space there, or point TMPDIR at a larger place",
        )
    if found := re.search(r"CSV Error on Line: (\d+)", detail):
        return InputRefused(f"{file}, line {found[1]}: {_csv_fault(detail)}", hint="mend that line")
    if found := re.search(r"in line (\d+)", detail):
        return _broken_json(table, int(found[1]))
    if table.kind == "parquet":
        return InputRefused(
            f"{file} is no readable Parquet file", hint="write it anew, or check the copy"
        )
    return InputRefused(f"{file} cannot be read as {table.kind}", hint="check the file")


def _csv_fault(detail: str) -> str:
    if found := re.search(r"Number of Columns: (\d+) Found: (\d+)", detail):
        return f"{found[2]} cells where the header has {found[1]}"
    for sign, words in (
        ("quote", "a quoted cell that does not end"),
        ("utf-8", "not UTF-8"),
        ("line size", f"longer than {LINE_BYTES_MAX} bytes"),
    ):
        if sign in detail.lower():
            return words
    return "not the comma-separated cells that the header promises"


def _broken_json(table: OpenTable, number: int) -> InputRefused:
    """The line at fault. The reader may name the line after it, where it noticed."""
    with os.fdopen(os.dup(table.descriptor), "rb") as file:
        file.seek(0)
        for place in range(1, number):
            line = _next_line(file)
            if place >= number - 1:
                try:
                    _json_object(line, table, place) if line.strip() else None
                except InputRefused as refusal:
                    return refusal
    return InputRefused(
        f"{table.file}, line {number}: not one whole JSON object",
        hint="each line holds one object; mend or remove this one",
    )


def _next_line(file: io.BufferedReader) -> bytes:
    """The start of the next line; a long one is read on in pieces, for memory's sake."""
    start = piece = file.readline(LINE_BYTES_MAX)
    while piece and not piece.endswith(b"\n"):
        piece = file.readline(LINE_BYTES_MAX)
    return start


def _outside(signals: Iterable[Signal], incident: Incident) -> InputRefused:
    spans = "; ".join(
        f"{signal.source} has {format_instant(signal.first)} to {format_instant(signal.last)}"
        for signal in signals
        if signal.first is not None and signal.last is not None
    )
    zoneless = any(signal.zone is None for signal in signals)
    return InputRefused(
        f"the window {format_instant(incident.window.start)} to "
        f"{format_instant(incident.window.end)} holds no row of any table: {spans}",
        hint="the tables' times carry no zone, add it to them"
        if zoneless
        else "correct the window or its zone",
    )


def microseconds(moment: datetime) -> int:
    """Since the epoch, exactly."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def instant(us: int) -> datetime:
    """The moment so many microseconds after the epoch."""
    return EPOCH + timedelta(microseconds=us)
