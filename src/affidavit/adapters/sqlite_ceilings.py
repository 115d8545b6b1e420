"""Ceilings over every process that shares one SQLite file (`ports.ceiling`).

    spend_calls   one row a call: what it holds, or what it came to
    spend_days    one row a tenant and day: the sum of its calls

Both are moved in one transaction that begins with the write lock held, so that two processes can
never both fit into the same room. The tables are made by whoever needs them first; a store without
ceilings has none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from affidavit.ports.ceiling import CeilingRequest, CeilingRule, ceiling_reached

Write = Callable[[Callable[[sqlite3.Connection], str | None]], Awaitable[str | None]]
"""Does the work inside one write transaction of the store."""

CALLS_KEPT_DAYS: Final = 7
"""A call is settled within its run; a run that waits for a person may wait three days."""

TABLES: Final = (
    """
    CREATE TABLE IF NOT EXISTS spend_calls (
        key TEXT PRIMARY KEY,
        tenant TEXT NOT NULL,
        day TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        micros INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS spend_days (
        day TEXT NOT NULL,
        tenant TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        micros INTEGER NOT NULL,
        PRIMARY KEY (day, tenant)
    ) STRICT, WITHOUT ROWID
    """,
)


@dataclass(frozen=True, slots=True)
class SqliteCeilings:
    """Sums by tenant and day in the store's own file."""

    write: Write
    rule: CeilingRule

    async def reserve(self, asked: CeilingRequest) -> str | None:
        """Hold the room, or name the ceiling that has none."""

        def work(connection: sqlite3.Connection) -> str | None:
            _prepare(connection, asked.day)
            if _held(connection, asked.key) is not None:
                return None
            reached = ceiling_reached(self.rule, asked, *_sums(connection, asked))
            if reached is None:
                _add(connection, asked.day, asked, 1)
                _keep(connection, asked, asked.day)
            return reached

        return await self.write(work)

    async def settle(self, spent: CeilingRequest) -> None:
        """What was held under the key becomes what was spent, on the day on which it was held."""

        def work(connection: sqlite3.Connection) -> str | None:
            _prepare(connection, spent.day)
            held = _held(connection, spent.key)
            day = spent.day if held is None else held.day
            if held is not None:
                _add(connection, day, held, -1)
            _add(connection, day, spent, 1)
            _keep(connection, spent, day)
            return None

        await self.write(work)


def _prepare(connection: sqlite3.Connection, day: str) -> None:
    for table in TABLES:
        connection.execute(table)
    oldest = date.fromisoformat(day) - timedelta(days=CALLS_KEPT_DAYS)
    connection.execute("DELETE FROM spend_calls WHERE day < ?", (oldest.isoformat(),))


def _held(connection: sqlite3.Connection, key: str) -> CeilingRequest | None:
    row = connection.execute(
        "SELECT tenant, day, tokens, micros FROM spend_calls WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    tenant, day, tokens, micros = row
    return CeilingRequest(key=key, tenant=tenant, day=day, tokens=tokens, micros=micros)


def _sums(
    connection: sqlite3.Connection, asked: CeilingRequest
) -> tuple[tuple[int, int], tuple[int, int]]:
    """What the tenant, and everybody, holds or has spent that day."""
    query = (
        "SELECT coalesce(sum(tokens), 0), coalesce(sum(micros), 0) FROM spend_days WHERE day = ?"
    )
    own = connection.execute(f"{query} AND tenant = ?", (asked.day, asked.tenant)).fetchone()
    everybody = connection.execute(query, (asked.day,)).fetchone()
    return (own[0], own[1]), (everybody[0], everybody[1])


def _add(connection: sqlite3.Connection, day: str, item: CeilingRequest, sign: int) -> None:
    connection.execute(
        "INSERT INTO spend_days (day, tenant, tokens, micros) VALUES (?1, ?2, ?3, ?4) "
        "ON CONFLICT (day, tenant) DO UPDATE SET tokens = tokens + ?3, micros = micros + ?4",
        (day, item.tenant, sign * item.tokens, sign * item.micros),
    )


def _keep(connection: sqlite3.Connection, item: CeilingRequest, day: str) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO spend_calls (key, tenant, day, tokens, micros) "
        "VALUES (?, ?, ?, ?, ?)",
        (item.key, item.tenant, day, item.tokens, item.micros),
    )
