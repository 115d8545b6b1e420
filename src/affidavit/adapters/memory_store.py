"""Runs in this process's memory: for tests and for runs that nobody needs to find again.

Each method checks everything first and changes something after, without an await between: all or
nothing. Lines are kept as text, as on disk, so that nobody holds a piece of the store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from anyio.lowlevel import checkpoint

from affidavit.adapters import standing as moves
from affidavit.adapters.journal_text import Row, read_line, write_line
from affidavit.adapters.memory_ceilings import MemoryCeilings, SpendBook
from affidavit.adapters.standing import Standing
from affidavit.contract.errors import RecordFailed
from affidavit.contract.journal import Entry
from affidavit.contract.states import is_terminal
from affidavit.ports.ceiling import CeilingRule
from affidavit.ports.store import (
    KEPT_KINDS,
    LISTED_MAX,
    PAYLOADS_LIVE_US,
    WAKING,
    Append,
    ApprovalAsk,
    Artifact,
    Command,
    CommandKind,
    Lease,
    PendingApproval,
    Prunable,
    RunHead,
    SealedHead,
)


@dataclass(slots=True)
class _Run:
    """One run as it is kept."""

    standing: Standing
    rows: list[Row] = field(default_factory=list)
    artifacts: dict[tuple[str, str], bytes] = field(default_factory=dict)
    inbox: dict[int, Command] = field(default_factory=dict)
    approvals: dict[str, ApprovalAsk] = field(default_factory=dict)

    def is_due(self, now_us: int) -> bool:
        """Whether the run waits for a driver."""
        head = self.standing.head
        if is_terminal(head.state) or self.standing.expires_us > now_us:
            return False
        is_called = any(command.kind in WAKING for command in self.inbox.values())
        is_awake = head.wake_at_us is not None and head.wake_at_us <= now_us
        return not head.paused or is_called or is_awake

    def take(self, standing: Standing, write: Append, rows: list[Row]) -> None:
        """Make a write that was found to be right; nothing in here can fail."""
        self.standing = standing
        self.rows += rows
        for item in write.artifacts:
            self.artifacts.setdefault((item.digest, item.kind), bytes(item.content))
        for id_ in write.consumed:
            del self.inbox[id_]
        for tool_call_id in write.answered:
            self.approvals.pop(tool_call_id, None)
        self.approvals.update((ask.tool_call_id, ask) for ask in write.asked)
        if write.ended:
            self.inbox.clear()
            self.approvals.clear()


class MemoryStore:
    """A store without a file (`ports.store.Store`)."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._heads: dict[str, list[SealedHead]] = {}
        self._ids = count(1)
        self._spend = SpendBook()
        self._closed = False

    def reopen(self) -> MemoryStore:
        """Another store on the same runs, as another process would have on the same file."""
        other = MemoryStore()
        other._runs, other._ids, other._spend = self._runs, self._ids, self._spend
        other._heads = self._heads
        return other

    def ceilings(self, rule: CeilingRule) -> MemoryCeilings:
        """The sums of all its runs, under that rule (`ports.ceiling.CeilingStore`)."""
        return MemoryCeilings(rule, self._spend)

    async def create(self, head: RunHead, first: Append) -> None:
        """See `Store.create`; nothing here survives the process."""
        await self._enter()
        if head.run_id in self._runs:
            raise moves.exists(head.run_id)
        standing = moves.begin(head, first)
        rows = [write_line(entry) for entry in first.entries]
        run = _Run(standing)
        run.take(standing, first, rows)
        self._runs[head.run_id] = run

    async def append(self, lease: Lease, write: Append) -> None:
        """See `Store.append`."""
        await self._enter()
        run = self._runs.get(lease.run_id)
        if run is None:
            raise RecordFailed(moves.unknown(lease.run_id).message, code="RUN_UNKNOWN")
        standing = moves.advance(run.standing, lease, write)
        rows = [write_line(entry) for entry in write.entries]
        missing = [id_ for id_ in write.consumed if id_ not in run.inbox]
        if missing or len(set(write.consumed)) < len(write.consumed):
            raise moves.command_missing(lease.run_id, missing or write.consumed)
        if write.head is not None:
            heads = self._heads.setdefault(standing.head.tenant, [])
            moves.refuse_head(standing.head, write.head, heads[-1] if heads else None)
            heads.append(write.head)
        run.take(standing, write, rows)

    async def last_sealed(self, tenant: str) -> SealedHead | None:
        """See `Store.last_sealed`."""
        await self._enter()
        heads = self._heads.get(tenant)
        return heads[-1] if heads else None

    async def sealed_heads(self, tenant: str, after: int = 0) -> tuple[SealedHead, ...]:
        """See `Store.sealed_heads`."""
        await self._enter()
        heads = self._heads.get(tenant, ())
        return tuple(head for head in heads if head.number > after)[:LISTED_MAX]

    async def read(self, run_id: str) -> tuple[Entry, ...]:
        """See `Store.read`."""
        await self._enter()
        run = self._runs.get(run_id)
        return tuple(read_line(row) for row in run.rows) if run else ()

    async def head(self, run_id: str) -> RunHead | None:
        """See `Store.head`."""
        await self._enter()
        run = self._runs.get(run_id)
        return run.standing.head if run else None

    async def artifact(self, run_id: str, digest: str) -> bytes | None:
        """See `Store.artifact`."""
        await self._enter()
        run = self._runs.get(run_id)
        kept = run.artifacts.items() if run else ()
        return next((content for (address, _), content in kept if address == digest), None)

    async def artifacts(self, run_id: str) -> tuple[Artifact, ...]:
        """See `Store.artifacts`."""
        await self._enter()
        run = self._runs.get(run_id)
        kept = sorted(run.artifacts.items()) if run else ()
        return tuple(Artifact(digest, kind, content) for (digest, kind), content in kept)

    async def expire_artifacts(self, now_us: int, older_than_us: int = PAYLOADS_LIVE_US) -> int:
        """See `Store.expire_artifacts`."""
        await self._enter()
        deleted = 0
        for run in self._runs.values():
            ended_us = run.standing.ended_us
            if ended_us is None or ended_us + older_than_us > now_us:
                continue
            gone = [key for key in run.artifacts if key[1] not in KEPT_KINDS]
            for key in gone:
                del run.artifacts[key]
            deleted += len(gone)
        return deleted

    async def prunable(self, now_us: int, older_than_us: int = PAYLOADS_LIVE_US) -> Prunable:
        """See `Store.prunable`."""
        await self._enter()
        sizes = [
            [len(content) for (_, kind), content in run.artifacts.items() if kind not in KEPT_KINDS]
            for run in self._runs.values()
            if run.standing.ended_us is not None and run.standing.ended_us + older_than_us <= now_us
        ]
        found = [each for each in sizes if each]
        return Prunable(len(found), sum(map(len, found)), sum(map(sum, found)))

    async def attach(self, run_id: str, item: Artifact) -> None:
        """See `Store.attach`."""
        await self._enter()
        run = self._runs.get(run_id)
        there = [] if run is None else [kind for _, kind in run.artifacts if kind == item.kind]
        moves.refuse_attached(run_id, run.standing if run else None, item, len(there))
        if run is not None:
            run.artifacts.setdefault((item.digest, item.kind), bytes(item.content))

    async def runs(
        self, tenant: str, limit: int = 50, before: str | None = None
    ) -> tuple[RunHead, ...]:
        """See `Store.runs`."""
        await self._enter()
        heads = (run.standing.head for run in self._runs.values())
        theirs = [head for head in heads if head.tenant == tenant]
        theirs.sort(key=lambda head: (head.created_us, head.run_id), reverse=True)
        if before is not None:
            places = [place for place, head in enumerate(theirs) if head.run_id == before]
            theirs = theirs[places[0] + 1 :] if places else []
        return tuple(theirs[: max(0, min(limit, LISTED_MAX))])

    async def due(self, now_us: int) -> tuple[str, ...]:
        """See `Store.due`."""
        await self._enter()
        waiting = [run.standing.head for run in self._runs.values() if run.is_due(now_us)]
        waiting.sort(key=lambda head: (head.created_us, head.run_id))
        return tuple(head.run_id for head in waiting[:LISTED_MAX])

    async def acquire(self, run_id: str, holder: str, now_us: int, ttl_us: int) -> Lease | None:
        """See `Store.acquire`."""
        await self._enter()
        run = self._runs.get(run_id)
        if run is None:
            raise moves.unknown(run_id)
        standing = moves.acquire(run.standing, holder, now_us, ttl_us)
        if standing is None:
            return None
        run.standing = standing
        return moves.lease_of(standing)

    async def renew(self, lease: Lease, now_us: int, ttl_us: int) -> Lease:
        """See `Store.renew`."""
        await self._enter()
        run = self._runs.get(lease.run_id)
        if run is None:
            raise RecordFailed(moves.unknown(lease.run_id).message, code="RUN_UNKNOWN")
        run.standing = moves.renew(run.standing, lease, now_us, ttl_us)
        return moves.lease_of(run.standing)

    async def release(self, lease: Lease) -> None:
        """See `Store.release`."""
        await self._enter()
        run = self._runs.get(lease.run_id)
        if run is not None:
            run.standing = moves.release(run.standing, lease)

    async def approvals(self, tenant: str, limit: int = 50) -> tuple[PendingApproval, ...]:
        """See `Store.approvals`."""
        await self._enter()
        waiting = [
            PendingApproval(head.run_id, head.tenant, ask)
            for run in self._runs.values()
            if (head := run.standing.head).tenant == tenant
            for ask in run.approvals.values()
        ]
        waiting.sort(key=lambda item: (item.ask.asked_us, item.run_id, item.ask.tool_call_id))
        return tuple(waiting[: max(0, min(limit, LISTED_MAX))])

    async def post(self, run_id: str, kind: CommandKind, by: str, payload: str = "") -> None:
        """See `Store.post`."""
        await self._enter()
        command = Command(next(self._ids), kind, by, payload)
        moves.refuse_word(command)
        run = self._runs.get(run_id)
        if run is None:
            raise moves.unknown(run_id)
        moves.refuse_post(run_id, run.standing, len(run.inbox))
        run.inbox[command.id] = command

    async def inbox(self, run_id: str) -> tuple[Command, ...]:
        """See `Store.inbox`."""
        await self._enter()
        run = self._runs.get(run_id)
        return tuple(run.inbox.values()) if run else ()

    async def close(self) -> None:
        """See `Store.close`. The runs live on in other stores on them."""
        self._closed = True

    async def _enter(self) -> None:
        """Let others run, and let a cancel in, before anything is touched."""
        await checkpoint()
        if self._closed:
            raise RecordFailed("the store is closed", code="STORE_CLOSED")
