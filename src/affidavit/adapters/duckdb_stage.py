"""Turns each foreign table into one plain Parquet file of ours, once, row by row.

Foreign files are read a single time, through a descriptor, and what comes out has known columns,
typed times, cut texts and no surprise; every later query reads that. No name and no value of a
foreign file ever becomes part of an SQL text: columns are named by position (CSV), by our own
names (JSON lines), or not at all where we do not know them (Parquet).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from affidavit.contract.errors import InputRefused
from affidavit.ports.telemetry import SignalName

FileKind: TypeAlias = Literal["parquet", "csv", "jsonl"]

KINDS: Final[tuple[FileKind, ...]] = ("parquet", "csv", "jsonl")

NAME_CHARS_MAX: Final = 200
"""Names of services, metrics, instances, operations; the longest real ones have about 100."""

BODY_CHARS_MAX: Final = 2000
"""A log line with the top of its stack trace; what follows rarely names anything new."""

LINE_BYTES_MAX: Final = 1024 * 1024
"""One row of a text file; the reader must hold a few of them."""

FIRST_US: Final = 946_684_800_000_000
LAST_US: Final = 4_102_444_800_000_000
"""2000 to 2100. A time outside is a number of seconds, milliseconds or nanoseconds, or none."""

ROWS_MAX: Final = 50_000_000
"""About 5 GB of log text; a few hundred bytes of Parquet can claim any number."""

COLUMN_NAMES_MAX: Final = 1000
"""Columns of a foreign table; the widest real one has under 200."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column that we know: how it is read, and whether a file must have it.

    `missing` stands where a cell is empty. A `body` text is cut at BODY_CHARS_MAX, every other
    text at NAME_CHARS_MAX.
    """

    name: str
    reading: Literal["time", "name", "body", "id", "number", "count"]
    required: bool = False
    missing: str = ""


COLUMNS: Final[Mapping[SignalName, tuple[Column, ...]]] = {
    "metrics": (
        Column("timestamp", "time", required=True),
        Column("service_name", "name", required=True, missing="unknown"),
        Column("metric_name", "name", required=True, missing="unknown"),
        Column("value", "number", required=True),
        Column("unit", "name"),
        Column("statistic", "name"),
        Column("instance", "name"),
    ),
    "logs": (
        Column("timestamp", "time", required=True),
        Column("service_name", "name", required=True, missing="unknown"),
        Column("body", "body", required=True),
        Column("severity_text", "name"),
        Column("instance", "name"),
        Column("trace_id", "id"),
        Column("span_id", "id"),
        Column("emitter", "name", missing="workload"),
    ),
    "traces": (
        Column("trace_id", "id", required=True),
        Column("span_id", "id", required=True),
        Column("parent_span_id", "id", required=True),
        Column("service_name", "name", required=True, missing="unknown"),
        Column("name", "name", required=True),
        Column("timestamp", "time", required=True),
        Column("duration_us", "count", required=True),
        Column("kind", "name"),
        Column("status_code", "name", missing="UNSET"),
        Column("instance", "name"),
        Column("status_message", "body"),
    ),
    "events": (
        Column("timestamp", "time", required=True),
        Column("event_name", "name", required=True),
        Column("body", "body", required=True),
        Column("service_name", "name"),
        Column("id", "name"),
        Column("attributes", "body"),
    ),
}
"""The columns of each table, after OpenTelemetry's names (docs/incident-folder.md)."""

TEXT_TYPES: Final = ("VARCHAR", "ENUM", "UUID", "JSON")
WHOLE_TYPES: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT",
                      "UINTEGER", "UBIGINT", "HUGEINT")  # fmt: skip
NUMBER_TYPES: Final = (*WHOLE_TYPES, "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")

ERROR_LEVEL: Final = "^(ERR|FATAL|CRIT|SEVERE|PANIC|EMERG|ALERT)"
ERROR_WORD: Final = r"\b(ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b|^(panic:|Traceback )"
"""How a line without a level says that it is an error, within its first part."""


@dataclass(frozen=True, slots=True)
class Source:
    """A foreign table: its path to read, its kind, and the columns that it has, with types.

    `columns` are in file order; a type is DuckDB's name for it, VARCHAR throughout for text files.
    """

    signal: SignalName
    file: str
    path: str
    kind: FileKind
    columns: tuple[tuple[str, str], ...]


def check_columns(source: Source) -> None:
    """Refuse a table that lacks a column, or has one of a type that cannot be read."""
    names = [name for name, _ in source.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    known = {column.name for column in COLUMNS[source.signal]}
    if known & set(twice):
        raise InputRefused(f"{source.file}: two columns are called {(known & set(twice)).pop()}",
                           hint="remove one")  # fmt: skip
    missing = [c.name for c in COLUMNS[source.signal] if c.required and c.name not in names]
    if missing:
        raise InputRefused(
            f"{source.file} has no column {', '.join(missing)}",
            hint=f"rename or add it; a table of {source.signal} needs "
            + ", ".join(c.name for c in COLUMNS[source.signal] if c.required),
        )
    for column in COLUMNS[source.signal]:
        type_ = dict(source.columns).get(column.name)
        if type_ is not None and expression(column, type_, "x") is None:
            raise InputRefused(
                f"{source.file}: column {column.name} is {type_[:40]}, which is not read",
                hint="docs/incident-folder.md says what type each column has",
            )


def expression(column: Column, type_: str, cell: str) -> str | None:
    """The SQL that reads a cell of that type, or None where it has no reading."""
    family = type_.split("(", maxsplit=1)[0]
    if column.reading == "time":
        return _time(family, cell)
    if column.reading in {"number", "count"}:
        target = "DOUBLE" if column.reading == "number" else "BIGINT"
        return f"TRY_CAST({cell} AS {target})" if family in (*TEXT_TYPES, *NUMBER_TYPES) else None
    if family in (*TEXT_TYPES, *NUMBER_TYPES):
        return f"{cell}::VARCHAR"
    if column.name == "attributes":
        return f"to_json({cell})::VARCHAR"
    return None


def _time(family: str, cell: str) -> str | None:
    """Microseconds since the epoch; null where the cell holds no time."""
    if family == "TIMESTAMP WITH TIME ZONE":
        return f"epoch_us({cell})"
    if family.startswith("TIMESTAMP"):
        return f"epoch_us({cell}::TIMESTAMP)"
    if family in WHOLE_TYPES:
        return f"TRY_CAST({cell} AS BIGINT)"
    if family == "VARCHAR":
        return (
            f"CASE WHEN {cell} ~ '^[0-9]{{1,18}}$' THEN {cell}::BIGINT"
            f" WHEN {_zoned(cell)} THEN epoch_us(TRY_CAST({cell} AS TIMESTAMPTZ))"
            f" ELSE epoch_us(TRY_CAST({cell} AS TIMESTAMP)) END"
        )
    return None


def _zoned(cell: str) -> str:
    return (
        f"({cell}[-1] IN ('Z', 'z') OR {cell}[-6] IN ('+', '-')"
        f" OR (length({cell}) > 20 AND {cell}[-5] IN ('+', '-')))"
    )


def _naive(type_: str, cell: str) -> str:
    """Whether a time says nothing about its zone."""
    if type_ == "VARCHAR":
        return f"NOT ({_zoned(cell)} OR {cell} ~ '^[0-9]{{1,18}}$')"
    return "true" if type_.startswith("TIMESTAMP") and "ZONE" not in type_ else "false"


def reader(source: Source) -> str:
    """The table function over a foreign file. Its path is ours, its columns c0, c1, … or ours."""
    if source.kind == "csv":
        columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(source.columns)))
        return (
            f"read_csv('{source.path}', auto_detect = false, header = true, delim = ',',"
            f" quote = '\"', escape = '\"', compression = 'none', null_padding = false,"
            f" strict_mode = true, max_line_size = {LINE_BYTES_MAX}, columns = {{{columns}}})"
        )
    if source.kind == "jsonl":
        columns = ", ".join(f"'{c.name}': 'VARCHAR'" for c in COLUMNS[source.signal])
        return (
            f"read_json('{source.path}', format = 'newline_delimited', compression = 'none',"
            f" maximum_object_size = {LINE_BYTES_MAX}, columns = {{{columns}}})"
        )
    return f"read_parquet('{source.path}')"


def cell(source: Source, name: str) -> str | None:
    """How a known column is written in SQL, or None where the file lacks it."""
    for place, (found, _) in enumerate(source.columns):
        if found == name:
            return f"c{place}" if source.kind == "csv" else f'"{name}"'
    return None


def stage_query(source: Source, target: str) -> str:
    """The statement that writes `target` from the foreign file."""
    types = dict(source.columns)
    parts = []
    for column in COLUMNS[source.signal]:
        foreign = cell(source, column.name)
        if foreign is None:
            read = "NULL::BIGINT" if column.reading in {"time", "number", "count"} else "NULL"
        else:
            read = expression(column, types[column.name], foreign) or "NULL"
        if column.reading == "time":
            naive = _naive(types[column.name], foreign) if foreign else "false"
            parts += [f"{read} AS at_us", f"{naive} AS naive"]
        elif column.reading in {"number", "count"}:
            parts += [f"{read} AS {column.name}", f"{foreign} IS NULL AS {column.name}_empty"]
        else:
            parts.append(f"{read} AS {column.name}")
    read_once = f"{reader(source)} LIMIT {ROWS_MAX + 1}"
    inner = f"SELECT {', '.join(parts)} FROM {read_once}"  # noqa: S608 -- our texts, our names
    outer = f"SELECT {', '.join(_finished(source.signal))} FROM ({inner})"  # noqa: S608 -- our texts
    form = "FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE_BYTES '8MB'"
    return f"COPY ({outer}) TO '{target}' ({form})"


def _finished(signal: SignalName) -> list[str]:
    """The columns of the staged table: times, then texts cut and filled, then what is derived."""
    parts = [f"CASE WHEN at_us BETWEEN {FIRST_US} AND {LAST_US} THEN at_us END AS at_us", "naive"]
    longest = []
    for column in COLUMNS[signal]:
        if column.reading in {"number", "count"}:
            parts += [column.name, f"{column.name}_empty"]
        elif column.reading != "time":
            bound = BODY_CHARS_MAX if column.reading == "body" else NAME_CHARS_MAX
            text = f"left({column.name}, {bound})"
            parts.append(f"coalesce(nullif({text}, ''), '{column.missing}') AS {column.name}")
            longest.append(f"coalesce(length({column.name}) > {bound}, false)")
    parts.append(f"({' OR '.join(longest)}) AS cut")
    if signal == "logs":
        parts.append(
            f"CASE WHEN coalesce(severity_text, '') <> '' THEN upper(severity_text) ~"
            f" '{ERROR_LEVEL}' ELSE coalesce(left(body, 120) ~ '{ERROR_WORD}', false) END"
            f" AS is_error"
        )
    return parts


SUMMARY: Final = """
SELECT count(*) AS rows,
       count(*) FILTER (at_us IS NULL) AS untimed,
       min(CASE WHEN at_us IS NULL THEN file_row_number END) AS first_untimed,
       coalesce(bool_or(naive AND at_us IS NOT NULL), false) AS naive,
       count(*) FILTER (cut) AS cut,
       min(at_us) AS first_us, max(at_us) AS last_us,
       count(*) FILTER (at_us BETWEEN $start_us AND $end_us) AS in_window
       {more}
FROM read_parquet('{table}', file_row_number = true)"""


def summary_query(signal: SignalName, table: str) -> str:
    """One row over a staged table: how many rows, of which how many cannot be used, and when."""
    measured = {"metrics": "value", "traces": "duration_us"}.get(signal)
    if measured is None:
        more = ", 0 AS unread, NULL AS first_unread, 0 AS dropped"
    else:
        unread = f"{measured} IS NULL AND NOT {measured}_empty"
        finite = f"isfinite({measured})" if signal == "metrics" else f"{measured} >= 0"
        more = (
            f", count(*) FILTER ({unread}) AS unread,"
            f" min(CASE WHEN {unread} THEN file_row_number END) AS first_unread,"
            f" count(*) FILTER (NOT coalesce({finite}, false)) AS dropped"
        )
    return SUMMARY.format(table=table, more=more)
