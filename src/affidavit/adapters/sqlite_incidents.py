"""Incidents and the outbox in SQLite, in the file where the runs live.

Its tables are its own, made where they are not there; the store's version does not know them. Every
write is one transaction that begins with the write lock held and is synced to the disk.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar, get_args

from anyio import CancelScope, to_thread

from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.ports.incidents import (
    LISTED_MAX,
    Admission,
    Admitted,
    Delivery,
    DeliveryKind,
    DeliveryState,
    GroupAsk,
    GroupLimits,
    IncidentRun,
    Outcome,
)

T = TypeVar("T")

WAIT_S: Final = 10.0
"""For another process's write; each of them takes milliseconds."""

HOUR_US: Final = 3_600_000_000
DAY_US: Final = 24 * HOUR_US

TABLES: Final = """
CREATE TABLE IF NOT EXISTS incident_runs (
    run_id TEXT PRIMARY KEY, tenant TEXT NOT NULL, key TEXT NOT NULL, labels TEXT NOT NULL,
    started_us INTEGER NOT NULL, alerts INTEGER NOT NULL, repeats INTEGER NOT NULL DEFAULT 0,
    observed INTEGER NOT NULL DEFAULT 0, settled INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS incident_groups ON incident_runs (tenant, key, started_us);
CREATE INDEX IF NOT EXISTS incident_times ON incident_runs (tenant, started_us);
CREATE INDEX IF NOT EXISTS incident_open ON incident_runs (started_us) WHERE settled = 0;
CREATE TABLE IF NOT EXISTS sender_events (
    sender TEXT NOT NULL, event_id TEXT NOT NULL, until_us INTEGER NOT NULL,
    PRIMARY KEY (sender, event_id)
) STRICT;
CREATE TABLE IF NOT EXISTS deliveries (
    id TEXT PRIMARY KEY, tenant TEXT NOT NULL, run_id TEXT NOT NULL, key TEXT NOT NULL,
    destination TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, created_us INTEGER NOT NULL,
    state TEXT NOT NULL, attempts INTEGER NOT NULL, next_us INTEGER NOT NULL, code TEXT NOT NULL,
    UNIQUE (run_id, destination, kind)
) STRICT;
CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (next_us) WHERE state = 'pending';
CREATE TABLE IF NOT EXISTS delivery_threads (
    destination TEXT NOT NULL, key TEXT NOT NULL, thread TEXT NOT NULL,
    PRIMARY KEY (destination, key)
) STRICT;
"""

_RUN: Final = "run_id, tenant, key, labels, started_us, alerts, repeats, observed, settled"
_DELIVERY: Final = (
    "id, tenant, run_id, key, destination, kind, body, created_us, state, attempts, next_us, code"
)


class SqliteIncidents:
    """Book and outbox (`ports.incidents`) in one file, or in memory where `path` is None."""

    def __init__(self, path: Path | None) -> None:
        """Open the file, or make it, for its owner alone. Raises `InputRefused`."""
        self._path = path
        self._lock = threading.Lock()
        place = ":memory:" if path is None else str(path.expanduser())
        try:
            if path is not None:
                with suppress(FileExistsError):
                    os.close(os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            self._connection = sqlite3.connect(
                place, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(TABLES)
        except (OSError, sqlite3.Error) as error:
            raise InputRefused(
                f"the store {place} cannot hold incidents: {error}",
                code="STORE_UNREACHABLE",
                hint="name a file in a folder that you may write to: --store sqlite:PATH",
            ) from error

    async def admit(self, ask: GroupAsk, limits: GroupLimits) -> Admitted:
        """See `IncidentBook.admit`."""
        return await self._write(lambda connection: _admit(connection, ask, limits))

    async def knows_event(self, sender: str, event_id: str) -> bool:
        """See `IncidentBook.knows_event`."""

        def work(connection: sqlite3.Connection) -> bool:
            sql = "SELECT 1 FROM sender_events WHERE sender = ? AND event_id = ?"
            return connection.execute(sql, (sender, event_id)).fetchone() is not None

        return await self._do(work)

    async def note_event(self, sender: str, event_id: str, now_us: int, keep_us: int) -> None:
        """See `IncidentBook.note_event`."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM sender_events WHERE until_us < ?", (now_us,))
            connection.execute(
                "INSERT OR IGNORE INTO sender_events VALUES (?, ?, ?)",
                (sender, event_id, now_us + keep_us),
            )

        await self._write(work)

    async def unsettled(self, limit: int = LISTED_MAX) -> tuple[IncidentRun, ...]:
        """See `IncidentBook.unsettled`."""
        sql = f"SELECT {_RUN} FROM incident_runs WHERE settled = 0 ORDER BY started_us LIMIT ?"  # noqa: S608 -- our names
        return await self._runs(sql, (min(limit, LISTED_MAX),))

    async def incidents(self, tenant: str, limit: int = 50) -> tuple[IncidentRun, ...]:
        """See `IncidentBook.incidents`."""
        sql = (
            f"SELECT {_RUN} FROM incident_runs WHERE tenant = ?"  # noqa: S608 -- our names
            " ORDER BY started_us DESC, run_id LIMIT ?"
        )
        return await self._runs(sql, (tenant, min(limit, LISTED_MAX)))

    async def put(
        self, run_id: str, kind: DeliveryKind, deliveries: Sequence[Delivery], tokens: int = 0
    ) -> None:
        """See `Outbox.put`."""
        mark = "settled" if kind == "result" else "observed"

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                f"UPDATE incident_runs SET {mark} = 1, tokens = tokens + ?"  # noqa: S608 -- ours
                f" WHERE run_id = ? AND {mark} = 0",
                (tokens, run_id),
            )
            connection.executemany(
                f"INSERT OR IGNORE INTO deliveries ({_DELIVERY})"  # noqa: S608 -- our names
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_values(delivery) for delivery in deliveries],
            )

        await self._write(work)

    async def due(self, now_us: int) -> tuple[str, ...]:
        """See `Outbox.due`."""

        def work(connection: sqlite3.Connection) -> tuple[str, ...]:
            found = connection.execute(
                "SELECT DISTINCT destination FROM deliveries"
                " WHERE state = 'pending' AND next_us <= ? ORDER BY destination",
                (now_us,),
            )
            return tuple(str(row[0]) for row in found)

        return await self._do(work)

    async def take(
        self, destination: str, now_us: int, until_us: int, limit: int = 20
    ) -> tuple[Delivery, ...]:
        """See `Outbox.take`."""

        def work(connection: sqlite3.Connection) -> tuple[Delivery, ...]:
            found = connection.execute(
                f"SELECT {_DELIVERY} FROM deliveries WHERE state = 'pending' AND next_us <= ?"  # noqa: S608 -- our names
                " AND destination = ? ORDER BY created_us, kind, id LIMIT ?",
                (now_us, destination, limit),
            ).fetchall()
            for row in found:
                connection.execute(
                    "UPDATE deliveries SET next_us = ? WHERE id = ?", (until_us, row[0])
                )
            return tuple(Delivery(*row) for row in found)

        return await self._write(work)

    async def settle(self, delivery_id: str, outcome: Outcome) -> None:
        """See `Outbox.settle`."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE deliveries SET state = ?, next_us = ?, code = ?, attempts = attempts + 1"
                " WHERE id = ? AND state = 'pending'",
                (outcome.state, outcome.next_us, outcome.code, delivery_id),
            )

        await self._write(work)

    async def postpone(self, delivery_id: str, now_us: int) -> None:
        """See `Outbox.postpone`."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE deliveries SET next_us = ? WHERE id = ? AND state = 'pending'",
                (now_us, delivery_id),
            )

        await self._write(work)

    async def deliveries(
        self, tenant: str, state: DeliveryState | None = None, limit: int = 50
    ) -> tuple[Delivery, ...]:
        """See `Outbox.deliveries`."""

        def work(connection: sqlite3.Connection) -> tuple[Delivery, ...]:
            found = connection.execute(
                f"SELECT {_DELIVERY} FROM deliveries WHERE tenant = ?"  # noqa: S608 -- our names
                " AND (? IS NULL OR state = ?) ORDER BY created_us DESC, id LIMIT ?",
                (tenant, state, state, min(limit, LISTED_MAX)),
            )
            return tuple(Delivery(*row) for row in found)

        return await self._do(work)

    async def counts(self, tenant: str) -> Mapping[DeliveryState, int]:
        """See `Outbox.counts`."""

        def work(connection: sqlite3.Connection) -> Mapping[DeliveryState, int]:
            sql = "SELECT state, count(*) FROM deliveries WHERE tenant = ? GROUP BY state"
            found = dict(connection.execute(sql, (tenant,)))
            return {state: int(found.get(state, 0)) for state in get_args(DeliveryState)}

        return await self._do(work)

    async def resend(self, tenant: str, delivery_id: str, now_us: int) -> bool:
        """See `Outbox.resend`."""

        def work(connection: sqlite3.Connection) -> bool:
            done = connection.execute(
                "UPDATE deliveries SET state = 'pending', attempts = 0, next_us = ?, code = ''"
                " WHERE id = ? AND tenant = ?",
                (now_us, delivery_id, tenant),
            )
            return done.rowcount == 1

        return await self._write(work)

    async def thread(self, destination: str, key: str) -> str | None:
        """See `Outbox.thread`."""

        def work(connection: sqlite3.Connection) -> str | None:
            found = connection.execute(
                "SELECT thread FROM delivery_threads WHERE destination = ? AND key = ?",
                (destination, key),
            ).fetchone()
            return None if found is None else str(found[0])

        return await self._do(work)

    async def begin_thread(self, destination: str, key: str, thread: str) -> None:
        """See `Outbox.begin_thread`."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR IGNORE INTO delivery_threads VALUES (?, ?, ?)",
                (destination, key, thread),
            )

        await self._write(work)

    async def close(self) -> None:
        """See `IncidentBook.close`."""

        def work() -> None:
            with self._lock:
                self._connection.close()

        with CancelScope(shield=True):
            await to_thread.run_sync(work)

    async def _runs(self, sql: str, given: tuple[object, ...]) -> tuple[IncidentRun, ...]:
        def work(connection: sqlite3.Connection) -> tuple[IncidentRun, ...]:
            return tuple(_run(row) for row in connection.execute(sql, given))

        return await self._do(work)

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """In one transaction, whose commit is on the disk when this returns."""

        def locked(connection: sqlite3.Connection) -> T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                done = work(connection)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            return done

        return await self._do(locked)

    async def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            with self._lock:
                return work(self._connection)

        try:
            return await to_thread.run_sync(run)
        except sqlite3.Error as error:
            raise RecordFailed(
                f"the incidents cannot be recorded: {error}",
                hint="check the store's file and its disk",
            ) from error


def _admit(connection: sqlite3.Connection, ask: GroupAsk, limits: GroupLimits) -> Admitted:
    """The whole decision, under the write lock."""
    last = connection.execute(
        "SELECT run_id, started_us, settled FROM incident_runs WHERE tenant = ? AND key = ?"
        " ORDER BY started_us DESC LIMIT 1",
        (ask.tenant, ask.key),
    ).fetchone()
    since_us = ask.at_us - last[1] if last is not None else 0
    if last is not None and (since_us < limits.cooldown_us or (not last[2] and since_us < DAY_US)):
        connection.execute(
            "UPDATE incident_runs SET repeats = repeats + ? WHERE run_id = ?",
            (ask.alerts, last[0]),
        )
        return Admitted(Admission.REPEATED, str(last[0]))
    hour, day, tokens = connection.execute(
        "SELECT count(*) FILTER (WHERE started_us > ?), count(*), coalesce(sum(tokens), 0)"
        " FROM incident_runs WHERE tenant = ? AND started_us > ?",
        (ask.at_us - HOUR_US, ask.tenant, ask.at_us - DAY_US),
    ).fetchone()
    if hour >= limits.runs_per_hour:
        return Admitted(Admission.STORM_LIMITED, None)
    if day >= limits.runs_per_day or tokens >= limits.tokens_per_day:
        return Admitted(Admission.CEILING_REACHED, None)
    connection.execute(
        "INSERT INTO incident_runs (run_id, tenant, key, labels, started_us, alerts)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            ask.run_id,
            ask.tenant,
            ask.key,
            json.dumps(dict(ask.labels), sort_keys=True),
            ask.at_us,
            ask.alerts,
        ),
    )
    return Admitted(Admission.STARTED, ask.run_id)


def _run(row: tuple[object, ...]) -> IncidentRun:
    run_id, tenant, key, labels, started_us, alerts, repeats, observed, settled = row
    return IncidentRun(
        run_id=str(run_id),
        tenant=str(tenant),
        key=str(key),
        labels=json.loads(str(labels)),
        started_us=int(str(started_us)),
        alerts=int(str(alerts)),
        repeats=int(str(repeats)),
        observed=bool(observed),
        settled=bool(settled),
    )


def _values(delivery: Delivery) -> tuple[object, ...]:
    return tuple(getattr(delivery, name) for name in _DELIVERY.split(", "))
