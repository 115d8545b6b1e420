"""Runs in one SQLite file, which several processes may open at the same time.

    quick way   in the event loop: never waits for a lock, never syncs. Safe against a killed
                process, not against a power cut.
    sure way    in a thread: waits its turn, syncs the commit to the disk, moves the log into the
                file. For what must be durable, and for a quick call that found a lock in its way.

Every write is one transaction that begins with the write lock held; so fencing, order and end are
checked against the very state that the write then changes. Measured by `bench/store.py`.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread
from anyio.lowlevel import checkpoint, checkpoint_if_cancelled

from affidavit.adapters import sqlite_heads as heads
from affidavit.adapters import sqlite_rows as rows
from affidavit.adapters import standing as moves
from affidavit.adapters.journal_text import read_line, write_line
from affidavit.adapters.sqlite_ceilings import SqliteCeilings
from affidavit.adapters.sqlite_errors import is_busy, record_failed
from affidavit.adapters.sqlite_schema import Database, open_database, transaction
from affidavit.adapters.standing import Standing
from affidavit.contract.errors import RecordFailed
from affidavit.contract.journal import Entry
from affidavit.ports.ceiling import CeilingRule
from affidavit.ports.store import (
    PAYLOADS_LIVE_US,
    Append,
    Artifact,
    Command,
    CommandKind,
    Lease,
    PendingApproval,
    Prunable,
    RunHead,
    SealedHead,
)

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

QUICK_WRITES_MAX: Final = 256
"""After so many quick writes one goes the sure way, which also moves the log into the file: lines
alone make some four megabytes of log until then."""


class SqliteStore:
    """A store in one file (`ports.store.Store`)."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it. Raises `InputRefused`; see `open_database`."""
        self._database: Database = open_database(path)
        self._quick_lock = threading.Lock()
        # Read-only: both are one connection, and need one lock.
        alone = self._database.quick is self._database.sure
        self._sure_lock = self._quick_lock if alone else threading.Lock()
        # Waiting here costs no thread; the locks above hold even if a task is torn from its thread.
        self._turn = CapacityLimiter(1)
        self._quick_writes = 0
        self._closed = False

    async def create(self, head: RunHead, first: Append) -> None:
        """See `Store.create`."""
        standing = moves.begin(head, first)
        lines = [write_line(entry) for entry in first.entries]

        def work(connection: sqlite3.Connection) -> None:
            if rows.load(connection, head.run_id) is not None:
                raise moves.exists(head.run_id)
            rows.insert(connection, standing)
            rows.insert_lines(connection, lines)
            rows.insert_artifacts(connection, head.run_id, first.artifacts)

        await self._write_surely(work)

    async def append(self, lease: Lease, write: Append) -> None:
        """See `Store.append`."""
        lines = [write_line(entry) for entry in write.entries]

        def work(connection: sqlite3.Connection) -> None:
            standing = moves.advance(_known(connection, lease.run_id), lease, write)
            rows.take_commands(connection, lease.run_id, write.consumed)
            rows.insert_lines(connection, lines)
            if write.artifacts:
                rows.insert_artifacts(connection, lease.run_id, write.artifacts)
            rows.move_approvals(connection, standing.head, write)
            if write.head is not None:
                heads.add_head(connection, standing.head, write.head)
            if write.ended:
                rows.leave_nothing_waiting(connection, lease.run_id)
            rows.save(connection, standing)

        await (self._write_surely if write.durable else self._write_quickly)(work)

    async def last_sealed(self, tenant: str) -> SealedHead | None:
        """See `Store.last_sealed`."""
        return await self._read(lambda connection: heads.last_sealed(connection, tenant))

    async def sealed_heads(self, tenant: str, after: int = 0) -> tuple[SealedHead, ...]:
        """See `Store.sealed_heads`."""
        return await self._read(lambda connection: heads.sealed_heads(connection, tenant, after))

    async def read(self, run_id: str) -> tuple[Entry, ...]:
        """See `Store.read`."""
        lines = await self._read(lambda connection: rows.lines(connection, run_id))
        return tuple(read_line(line) for line in lines)

    async def head(self, run_id: str) -> RunHead | None:
        """See `Store.head`."""
        standing = await self._read(lambda connection: rows.load(connection, run_id))
        return standing.head if standing else None

    async def artifact(self, run_id: str, digest: str) -> bytes | None:
        """See `Store.artifact`."""
        found = await self._read(lambda connection: rows.artifact(connection, run_id, digest))
        return next((item for item in found if moves.is_unaltered(digest, item)), None)

    async def artifacts(self, run_id: str) -> tuple[Artifact, ...]:
        """See `Store.artifacts`."""

        def work(connection: sqlite3.Connection) -> tuple[Artifact, ...]:
            found = rows.artifacts(connection, run_id)
            return tuple(item for item in found if moves.is_unaltered(item.digest, item.content))

        return await self._read(work)

    async def expire_artifacts(self, now_us: int, older_than_us: int = PAYLOADS_LIVE_US) -> int:
        """See `Store.expire_artifacts`. In small steps, between which others may write."""
        until_us = now_us - older_than_us
        deleted = 0
        while (step := await self._write_surely(lambda c: rows.expire(c, until_us))) is not None:
            deleted += step
        if deleted:
            while await self._surely(rows.give_back_pages):
                pass
            await self._surely(rows.shorten_log)
        return deleted

    async def prunable(self, now_us: int, older_than_us: int = PAYLOADS_LIVE_US) -> Prunable:
        """See `Store.prunable`. In a thread: it looks at every run whose time is over."""
        return await self._surely(lambda c: rows.prunable(c, now_us - older_than_us))

    async def attach(self, run_id: str, item: Artifact) -> None:
        """See `Store.attach`."""

        def work(connection: sqlite3.Connection) -> None:
            standing = rows.load(connection, run_id)
            there = rows.count_attached(connection, run_id, item.kind)
            moves.refuse_attached(run_id, standing, item, there)
            rows.insert_artifacts(connection, run_id, (item,))

        await self._write_surely(work)

    async def runs(
        self, tenant: str, limit: int = 50, before: str | None = None
    ) -> tuple[RunHead, ...]:
        """See `Store.runs`."""
        return await self._read(lambda connection: rows.heads(connection, tenant, limit, before))

    async def due(self, now_us: int) -> tuple[str, ...]:
        """See `Store.due`."""
        return await self._read(lambda connection: rows.due(connection, now_us))

    async def acquire(self, run_id: str, holder: str, now_us: int, ttl_us: int) -> Lease | None:
        """See `Store.acquire`."""

        def work(connection: sqlite3.Connection) -> Lease | None:
            found = rows.load(connection, run_id)
            if found is None:
                raise moves.unknown(run_id)
            standing = moves.acquire(found, holder, now_us, ttl_us)
            if standing is None:
                return None
            rows.save(connection, standing)
            return moves.lease_of(standing)

        return await self._write_quickly(work)

    async def renew(self, lease: Lease, now_us: int, ttl_us: int) -> Lease:
        """See `Store.renew`."""

        def work(connection: sqlite3.Connection) -> Lease:
            standing = moves.renew(_known(connection, lease.run_id), lease, now_us, ttl_us)
            rows.save(connection, standing)
            return moves.lease_of(standing)

        return await self._write_quickly(work)

    async def release(self, lease: Lease) -> None:
        """See `Store.release`."""

        def work(connection: sqlite3.Connection) -> None:
            standing = rows.load(connection, lease.run_id)
            if standing is not None and (free := moves.release(standing, lease)) != standing:
                rows.save(connection, free)

        await self._write_quickly(work)

    async def approvals(self, tenant: str, limit: int = 50) -> tuple[PendingApproval, ...]:
        """See `Store.approvals`."""
        return await self._read(lambda connection: rows.approvals(connection, tenant, limit))

    async def post(self, run_id: str, kind: CommandKind, by: str, payload: str = "") -> None:
        """See `Store.post`."""
        word = Command(0, kind, by, payload)
        moves.refuse_word(word)

        def work(connection: sqlite3.Connection) -> None:
            standing = rows.load(connection, run_id)
            moves.refuse_post(run_id, standing, rows.count_commands(connection, run_id))
            rows.insert_command(connection, run_id, word)

        await self._write_surely(work)

    async def inbox(self, run_id: str) -> tuple[Command, ...]:
        """See `Store.inbox`."""
        return await self._read(lambda connection: rows.commands(connection, run_id))

    def ceilings(self, rule: CeilingRule) -> SqliteCeilings:
        """The sums of all its runs, under that rule (`ports.ceiling.CeilingStore`)."""
        return SqliteCeilings(self._write_quickly, rule)

    async def close(self) -> None:
        """See `Store.close`. The last one to close moves the log into the file."""

        def work() -> None:
            with self._sure_lock:
                self._database.close()

        self._closed = True
        with CancelScope(shield=True):
            await to_thread.run_sync(work, limiter=self._turn)

    async def _enter(self) -> None:
        """Let others run, and let a cancel in, before anything is touched."""
        await checkpoint()
        self._refuse_closed()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise RecordFailed("the store is closed", code="STORE_CLOSED")

    async def _read(self, work: Work[T]) -> T:
        await checkpoint_if_cancelled()  # a look is over before anybody could miss the turn
        self._refuse_closed()
        try:
            with self._quick_lock:
                return work(self._database.quick)
        except sqlite3.Error as error:
            if not is_busy(error):
                raise record_failed(self._database.path, error) from error
        return await self._surely(work)

    async def _write_quickly(self, work: Work[T]) -> T:
        await self._enter()
        self._quick_writes += 1
        if self._quick_writes > QUICK_WRITES_MAX:
            return await self._write_surely(work)
        try:
            with self._quick_lock, transaction(self._database.quick) as connection:
                return work(connection)
        except (sqlite3.Error, OverflowError) as error:
            if not is_busy(error):
                raise record_failed(self._database.path, error) from error
        return await self._write_surely(work)

    async def _write_surely(self, work: Work[T]) -> T:
        def locked(connection: sqlite3.Connection) -> T:
            if not self._database.is_in_place():
                raise RecordFailed(
                    f"the store {self._database.path} was moved or deleted while it was open",
                    code="STORE_MOVED",
                    hint="bring the file back, then: affidavit runs resume",
                )
            with transaction(connection):
                return work(connection)

        self._quick_writes = 0
        return await self._surely(locked)

    async def _surely(self, work: Work[T]) -> T:
        """In a thread, on the connection that waits and syncs.

        A cancel waits for the thread: what was begun is finished, and its outcome is known.
        """

        def run() -> T:
            with self._sure_lock:
                return work(self._database.sure)

        await self._enter()
        try:
            return await to_thread.run_sync(run, limiter=self._turn)
        except (sqlite3.Error, OverflowError) as error:
            raise record_failed(self._database.path, error) from error


def _known(connection: sqlite3.Connection, run_id: str) -> Standing:
    standing = rows.load(connection, run_id)
    if standing is None:
        raise RecordFailed(moves.unknown(run_id).message, code="RUN_UNKNOWN")
    return standing
