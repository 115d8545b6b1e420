"""Who writes a run's journal: one driver's pen, and where the run stands by what it wrote.

    written   on the disk when `write` returns
    riding    told to the view at once, and written with whatever is written next

What rides costs no write of its own. It is what the run itself did and would do again after a
crash: a guard's look, an answer that is being read. Nothing leaves the process before it is
written, for whatever leaves has a line of its own first (an intent, a pause, the publication), and
nobody is told of a line that is not on the disk. `flush` bounds how long a line may ride (K8).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio

from affidavit.contract.errors import InternalFault, RecordFailed
from affidavit.contract.journal import Entry, Event
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.core.chain import extend
from affidavit.core.fold import RunView, advance
from affidavit.ports.clock import Clock
from affidavit.ports.store import Append, ApprovalAsk, Artifact, Lease, SealedHead, Store

SEAL_ATTEMPTS_MAX = 100
"""Each attempt but the last failed because another run of the tenant was sealed meanwhile; so many
at once are no tenant's runs but a fault."""

Listen = Callable[[Entry, Mapping[str, bytes]], None]
"""Told of each line once it is written, with the run's artifacts."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a seal adds to its write: the sealed artifacts, and the run's head."""

    artifacts: tuple[Artifact, ...]
    head: SealedHead


@dataclass(frozen=True, slots=True)
class Stage:
    """What one append of a run consists of.

    `seal` is given the run's lines with the new ones, before they are stored, and the tenant's last
    sealed head; it returns artifacts and the next head, which belong into the same write: so the
    affidavit holds the very lines that publish it. For the rest see `ports.store.Append`.
    """

    events: tuple[Event, ...]
    artifacts: tuple[Artifact, ...] = ()
    consumed: tuple[int, ...] = ()
    ended: tuple[RunState, ReleaseOutcome] | None = None
    paused: bool | None = None
    durable: bool = False
    wake_at_us: int | None = None
    asked: tuple[ApprovalAsk, ...] = ()
    answered: tuple[str, ...] = ()
    seal: Callable[[tuple[Entry, ...], SealedHead | None], Sealed] | None = None


@dataclass(slots=True)
class Pen:
    """The journal of one run under one lease; `view`, `entries` and `contents` follow it."""

    run_id: str
    tenant: str
    store: Store
    clock: Clock
    lease: Lease
    view: RunView
    entries: list[Entry]
    contents: dict[str, bytes]
    listen: Listen | None = None
    _riding: tuple[Entry, ...] = ()
    _luggage: tuple[Artifact, ...] = ()
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ride(self, events: tuple[Event, ...], artifacts: tuple[Artifact, ...] = ()) -> None:
        """Take note of what happened; it is written with the next write, or by `flush`."""
        async with self._writing:
            entries = self._next(events)
            self._riding = (*self._riding, *entries)
            self._luggage = (*self._luggage, *artifacts)
            self._move(entries, artifacts)

    async def flush(self) -> None:
        """Write what rides. Raises as `write` does; then it rides on."""
        if self._riding:
            await self.write(Stage(()))

    async def write(self, stage: Stage) -> SealedHead | None:
        """Append what happened; the view has moved when this returns. The head, if it was sealed.

        Raises `RecordFailed` or `LeaseLost`; then nothing was written and nothing has moved. A
        cancel cannot come between the write and the move.
        """
        with anyio.CancelScope(shield=True):
            async with self._writing:
                entries = self._next(stage.events)
                told = (*self._riding, *entries)
                artifacts, head = await self._append(stage, entries)
                self._riding, self._luggage = (), ()
                self._move(entries, artifacts)
        if self.listen is not None:
            for entry in told:
                self.listen(entry, self.contents)
        return head

    def _next(self, events: tuple[Event, ...]) -> tuple[Entry, ...]:
        view = self.view
        return extend(self.run_id, view.last_seq + 1, view.last_hash, self.clock.now(), events)

    def _move(self, entries: tuple[Entry, ...], artifacts: tuple[Artifact, ...]) -> None:
        for entry in entries:
            self.view = advance(self.view, entry)
        self.entries.extend(entries)
        self.contents.update((item.digest, item.content) for item in artifacts)

    async def _append(
        self, stage: Stage, entries: tuple[Entry, ...]
    ) -> tuple[tuple[Artifact, ...], SealedHead | None]:
        """One append; sealed again where another run of the tenant took the place meanwhile."""
        for attempt in range(1, SEAL_ATTEMPTS_MAX + 1):
            artifacts, head = stage.artifacts, None
            if stage.seal is not None:
                last = await self.store.last_sealed(self.tenant)
                sealed = stage.seal((*self.entries, *entries), last)
                artifacts, head = (*artifacts, *sealed.artifacts), sealed.head
            write = Append(
                entries=(*self._riding, *entries),
                artifacts=(*self._luggage, *artifacts),
                consumed=stage.consumed,
                ended=stage.ended,
                paused=stage.paused,
                durable=stage.durable,
                wake_at_us=stage.wake_at_us,
                asked=stage.asked,
                answered=stage.answered,
                head=head,
            )
            try:
                await self.store.append(self.lease, write)
            except RecordFailed as failed:
                if failed.code != "HEAD_TAKEN" or attempt == SEAL_ATTEMPTS_MAX:
                    raise
            else:
                return artifacts, head
        raise InternalFault("an append neither succeeds nor fails")
