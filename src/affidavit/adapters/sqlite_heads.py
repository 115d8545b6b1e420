"""The statements about sealed heads that a SQLite store makes, inside its transaction."""

from __future__ import annotations

import sqlite3

from affidavit.adapters.standing import refuse_head
from affidavit.ports.store import LISTED_MAX, RunHead, SealedHead

_COLUMNS = "tenant, number, run_id, digest, previous"


def last_sealed(connection: sqlite3.Connection, tenant: str) -> SealedHead | None:
    """The tenant's newest head, or None."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM sealed_heads "  # noqa: S608 -- our own column names
        "WHERE tenant = ? ORDER BY number DESC LIMIT 1",
        (tenant,),
    ).fetchone()
    return None if row is None else SealedHead(*row)


def sealed_heads(connection: sqlite3.Connection, tenant: str, after: int) -> tuple[SealedHead, ...]:
    """The tenant's heads with higher numbers, in order."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM sealed_heads "  # noqa: S608 -- our own column names
        "WHERE tenant = ? AND number > ? ORDER BY number LIMIT ?",
        (tenant, after, LISTED_MAX),
    )
    return tuple(SealedHead(*row) for row in found)


def add_head(connection: sqlite3.Connection, run: RunHead, head: SealedHead) -> None:
    """One more head. Raises `RecordFailed` (HEAD_TAKEN) unless it is the tenant's next."""
    refuse_head(run, head, last_sealed(connection, run.tenant))
    connection.execute(
        f"INSERT INTO sealed_heads ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608 -- as above
        (head.tenant, head.number, head.run_id, head.digest, head.previous),
    )
