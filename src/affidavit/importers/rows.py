"""The door to DuckDB for importers: one connection, bounded, in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from affidavit.contract.errors import InputRefused

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_LIMIT: Final = "512MB"
"""An import sorts at most a few hundred thousand rows; more is a wrong folder."""


def connect() -> DuckDBPyConnection:
    """An empty in-memory database. Errors: InputRefused when DuckDB is not installed."""
    try:
        import duckdb  # noqa: PLC0415 -- the optional heavy dependency of this room
    except ModuleNotFoundError as error:
        raise InputRefused(
            "importing needs DuckDB, which is not installed",
            hint="pip install 'affidavit[capture]'",
        ) from error
    connection = duckdb.connect(
        ":memory:", config={"memory_limit": MEMORY_LIMIT, "threads": 1, "temp_directory": ""}
    )
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def create(con: DuckDBPyConnection, name: str, query: str, given: Sequence[Any] = ()) -> None:
    """Makes a table from a query over foreign files.

    Errors: InputRefused with DuckDB's own first line when a file is unreadable or lacks a column.
    """
    import duckdb  # noqa: PLC0415 -- loaded by `connect` already

    try:
        con.execute(f'CREATE OR REPLACE TABLE "{name}" AS {query}', given)
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise InputRefused(f"cannot read {name} of the source: {first}") from error


def save(con: DuckDBPyConnection, query: str, path: Path) -> int:
    """Writes a query's rows as Parquet; no row, no file. Returns the number of rows.

    Errors: InputRefused as in `create`.
    """
    create(con, "saved rows", query)
    (count,) = con.execute('SELECT count(*) FROM "saved rows"').fetchone() or (0,)
    if count:
        target = str(path).replace("'", "''")
        con.execute(f"COPY \"saved rows\" TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
    con.execute('DROP TABLE "saved rows"')
    return int(count)


def pack(con: DuckDBPyConnection, table: Path, types: Mapping[str, str]) -> Path:
    """Turns a CSV of ours into Parquet beside it, a twentieth of its size, and removes the CSV."""
    columns = ", ".join(f"'{name}': '{type_}'" for name, type_ in types.items())
    packed = table.with_suffix(".parquet")
    save(con, f"SELECT * FROM read_csv({quoted(table)}, columns = {{{columns}}})", packed)
    table.unlink()
    return packed


def quoted(path: Path) -> str:
    """A path as an SQL text literal, without wildcards.

    Errors: InputRefused when the path holds a character that DuckDB would expand.
    """
    text = str(path)
    if any(sign in text for sign in "*?[]{}"):
        raise InputRefused(f"{text!r} holds a wildcard", hint="rename the folder")
    return "'" + text.replace("'", "''") + "'"
