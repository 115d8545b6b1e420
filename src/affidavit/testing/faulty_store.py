"""A store that fails, or whose process dies, at exactly the write that a test names.

    store = FaultyStore(MemoryStore(), Fault(at=3, moment=Moment.TORN, effect=Effect.KILL))

A first run without faults says in `writes` which boundaries there are; a test then takes each of
them in turn.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from affidavit.contract.errors import RecordFailed
from affidavit.contract.journal import Entry
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
    Store,
)

T = TypeVar("T")


class Moment(StrEnum):
    """Where in a write it happens."""

    BEFORE = "before"
    """Nothing of it is stored."""
    TORN = "torn"
    """Its artifacts are stored, and none of its lines: all that a store may tear apart."""
    AFTER = "after"
    """All of it is stored, and the writer does not learn so."""


class Effect(StrEnum):
    """What the writer sees."""

    FAIL = "fail"
    """`RecordFailed`: a full disk, a lost connection."""
    KILL = "kill"
    """`Killed`: the process is gone, and whatever it does to clean up reaches nothing."""


class Killed(BaseException):
    """The process that held this store is dead; no handler of errors runs in a dead process."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The n-th write (counted from 1) goes wrong, and `times - 1` more after it.

    `times=None` means every one from then on: the disk stays full.
    """

    at: int
    moment: Moment = Moment.BEFORE
    effect: Effect = Effect.FAIL
    times: int | None = 1

    def hits(self, number: int) -> bool:
        """Whether the write of that number goes wrong."""
        return self.at <= number and (self.times is None or number < self.at + self.times)


class FaultyStore:
    """Another store, with faults (`ports.store.Store`).

    After a `KILL` every call raises `Killed`; open the inner store anew to be the next process.
    """

    def __init__(self, inner: Store, *faults: Fault) -> None:
        """The store to wrap, and what shall go wrong; the first fault that hits counts."""
        self._inner = inner
        self._faults = faults
        self._writes: list[str] = []
        self._dead = False

    @property
    def writes(self) -> tuple[str, ...]:
        """The writes that were tried so far, by method: the boundaries of the next test."""
        return tuple(self._writes)

    async def create(self, head: RunHead, first: Append) -> None:
        """A write. Torn is as before: without a run there is nothing an artifact belongs to."""
        await self._write("create", lambda: self._inner.create(head, first))

    async def append(self, lease: Lease, write: Append) -> None:
        """A write."""
        part = Append((), write.artifacts)

        async def tear() -> None:
            await self._inner.append(lease, part)

        await self._write("append", lambda: self._inner.append(lease, write), tear)

    async def acquire(self, run_id: str, holder: str, now_us: int, ttl_us: int) -> Lease | None:
        """A write."""
        return await self._write(
            "acquire", lambda: self._inner.acquire(run_id, holder, now_us, ttl_us)
        )

    async def renew(self, lease: Lease, now_us: int, ttl_us: int) -> Lease:
        """A write."""
        return await self._write("renew", lambda: self._inner.renew(lease, now_us, ttl_us))

    async def release(self, lease: Lease) -> None:
        """A write."""
        await self._write("release", lambda: self._inner.release(lease))

    async def post(self, run_id: str, kind: CommandKind, by: str, payload: str = "") -> None:
        """A write."""
        await self._write("post", lambda: self._inner.post(run_id, kind, by, payload))

    async def expire_artifacts(self, now_us: int, older_than_us: int = PAYLOADS_LIVE_US) -> int:
        """A write."""
        return await self._write(
            "expire_artifacts", lambda: self._inner.expire_artifacts(now_us, older_than_us)
        )

    async def attach(self, run_id: str, item: Artifact) -> None:
        """A write."""
        await self._write("attach", lambda: self._inner.attach(run_id, item))

    async def prunable(self, now_us: int, older_than_us: int = PAYLOADS_LIVE_US) -> Prunable:
        """As the inner store has it."""
        return await self._living().prunable(now_us, older_than_us)

    async def read(self, run_id: str) -> tuple[Entry, ...]:
        """As the inner store has it."""
        return await self._living().read(run_id)

    async def head(self, run_id: str) -> RunHead | None:
        """As the inner store has it."""
        return await self._living().head(run_id)

    async def last_sealed(self, tenant: str) -> SealedHead | None:
        """As the inner store has it."""
        return await self._living().last_sealed(tenant)

    async def sealed_heads(self, tenant: str, after: int = 0) -> tuple[SealedHead, ...]:
        """As the inner store has it."""
        return await self._living().sealed_heads(tenant, after)

    async def artifact(self, run_id: str, digest: str) -> bytes | None:
        """As the inner store has it."""
        return await self._living().artifact(run_id, digest)

    async def artifacts(self, run_id: str) -> tuple[Artifact, ...]:
        """As the inner store has it."""
        return await self._living().artifacts(run_id)

    async def runs(
        self, tenant: str, limit: int = 50, before: str | None = None
    ) -> tuple[RunHead, ...]:
        """As the inner store has it."""
        return await self._living().runs(tenant, limit, before)

    async def due(self, now_us: int) -> tuple[str, ...]:
        """As the inner store has it."""
        return await self._living().due(now_us)

    async def approvals(self, tenant: str, limit: int = 50) -> tuple[PendingApproval, ...]:
        """As the inner store has it."""
        return await self._living().approvals(tenant, limit)

    async def inbox(self, run_id: str) -> tuple[Command, ...]:
        """As the inner store has it."""
        return await self._living().inbox(run_id)

    async def close(self) -> None:
        """Close the inner store, also after a kill: then it is the test that tidies up."""
        await self._inner.close()

    def _living(self) -> Store:
        if self._dead:
            raise Killed
        return self._inner

    async def _write(
        self,
        name: str,
        write: Callable[[], Awaitable[T]],
        tear: Callable[[], Awaitable[None]] | None = None,
    ) -> T:
        self._living()
        self._writes.append(name)
        number = len(self._writes)
        fault = next((fault for fault in self._faults if fault.hits(number)), None)
        if fault is None:
            return await write()
        if fault.moment is Moment.AFTER:
            await write()
        elif fault.moment is Moment.TORN and tear is not None:
            await tear()
        if fault.effect is Effect.KILL:
            self._dead = True
            raise Killed
        raise RecordFailed(f"write {number} ({name}) failed, {fault.moment}")


def every_fault(writes: int, effect: Effect) -> tuple[Fault, ...]:
    """Each moment of each of so many writes, once."""
    return tuple(Fault(at, moment, effect) for at in range(1, writes + 1) for moment in Moment)
