"""One run under its driver: append, check, interrupt, pause, end (K1, K5, K6, K8).

A `Run` exists only inside `drive_lease`: one driver, one lease, one watcher. Everything that the
driver learns goes through `record`, which appends lines and artifacts in one write and moves the
view. Everything that may take long goes through `interruptible`, which a cancel, the deadline, the
loss of the lease or the call's own time limit ends, at the latest after a grace.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeVar, cast

import anyio

from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import (
    DeadlineReached,
    InputRefused,
    PauseAsked,
    RecordFailed,
    RunCancelled,
)
from affidavit.contract.journal import Entry, Event, EventType
from affidavit.core.chain import to_us
from affidavit.core.commands import Asker, take_in
from affidavit.core.fence import GRACE_S, Fenced, Late, Orphans, Watched
from affidavit.core.fold import RunView, fold
from affidavit.core.pen import Listen, Pen, Stage
from affidavit.ports.clock import Clock
from affidavit.ports.store import Lease, SealedHead, Store

T = TypeVar("T")

LEASE_TTL_S: Final = 30.0
"""A driver that is silent for so long is taken for dead."""

LEASE_TTL_US: Final = int(LEASE_TTL_S * 1_000_000)

RENEWALS_PER_TTL: Final = 10
"""So that nine renewals may fail or come late before a live driver is taken for dead."""

WATCH_S: Final = 0.05
"""How often the watcher looks for a cancel, the deadline and time limits: a stop is felt within
this, and one look costs some 25 µs."""


APPROVAL: Final = "approval"
OUTCOME: Final = "outcome"
"""Why a run waits for a person: to decide an action, or to say what became of one."""


class CallTimedOut(Exception):
    """The work's own time limit is over; the run goes on."""


@dataclass(slots=True)
class Run:
    """One run, driven. Made by `drive_lease` alone."""

    request: AgentRequest
    store: Store
    clock: Clock
    pen: Pen
    worked_before_s: float
    started_s: float
    renewed_s: float
    orphans: Orphans = field(default_factory=Orphans)
    _works: list[Watched] = field(default_factory=list)
    _late: list[Event] = field(default_factory=list)
    _stop: BaseException | None = None
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def id(self) -> str:
        """The run's id."""
        return self.request.run_id

    def worked_s(self) -> float:
        """Working time so far: what the journal says, and since this driver took over (F4)."""
        return self.worked_before_s + (self.clock.monotonic_s() - self.started_s)

    def remaining_s(self) -> float:
        """Seconds until the deadline; negative after it."""
        return self.request.limits.timeout_s - self.worked_s()

    @property
    def lease(self) -> Lease:
        """What this driver drives by."""
        return self.pen.lease

    @property
    def view(self) -> RunView:
        """Where the run stands."""
        return self.pen.view

    @property
    def entries(self) -> list[Entry]:
        """The journal's lines so far."""
        return self.pen.entries

    @property
    def contents(self) -> dict[str, bytes]:
        """The run's artifacts by their digests."""
        return self.pen.contents

    async def note(self, *events: Event) -> None:
        """Append lines without artifacts; see `record`."""
        await self.pen.write(Stage(events))

    async def record(self, stage: Stage) -> SealedHead | None:
        """Append what happened, in one write; see `core.pen.Pen.write`."""
        return await self.pen.write(stage)

    async def ride(self, stage: Stage) -> None:
        """Take note of what happened, without a write of its own; see `core.pen.Pen.ride`."""
        await self.pen.ride(stage.events, stage.artifacts)

    async def check(self) -> None:
        """Whether the run may go on; raises the stop that says it may not (K5).

        Asked before and after every model call, tool call and attempt, and before publication.
        """
        await self._look()
        if self._stop is not None:
            raise self._stop

    async def interruptible(
        self,
        work: Callable[[], Awaitable[T]],
        timeout_s: float | None = None,
        *,
        effect: bool = False,
        late: Late | None = None,
    ) -> T:
        """Do the work, unless the run is stopped or the work's own time is over.

        Raises `RunStopped` for the run, `CallTimedOut` for the work alone, at the latest `GRACE_S`
        after either; and what the work raises. A late result is dropped here, so that it can never
        become READY (K5); `late` is told of it. A pause waits for an `effect` that is under way:
        ended half-way, nobody would know what became of it.
        """
        await self.check()
        until_s = None if timeout_s is None else self.clock.monotonic_s() + timeout_s
        fenced = Fenced(work, self.orphans, late)
        item = Watched(cast("Fenced[object]", fenced), until_s, effect)
        self._works.append(item)
        try:
            await fenced.over.wait()
        finally:
            self._works.remove(item)
            if not fenced.has_ended:
                await self._part_with(fenced)
        return await self._accept(fenced, item, late)

    async def _accept(self, fenced: Fenced[T], item: Watched, late: Late | None) -> T:
        """The work's result, if it still counts."""
        if fenced.is_broken:
            return fenced.result()
        try:
            await self.check()
        except PauseAsked:
            if not (item.outlasts_pause and fenced.has_ended):
                raise
        except BaseException:
            _tell_dropped(fenced, late)
            raise
        if item.timed_out or not fenced.has_ended:
            _tell_dropped(fenced, late)
            raise CallTimedOut
        return fenced.result()

    async def _part_with(self, fenced: Fenced[T]) -> None:
        """Whoever waited is ended itself: end the work, and leave it after the grace."""
        fenced.cancel()
        with anyio.CancelScope(shield=True):
            async with anyio.create_task_group() as tasks:

                async def leave() -> None:
                    await self.clock.sleep(GRACE_S)
                    fenced.leave()

                tasks.start_soon(leave)
                await fenced.over.wait()
                tasks.cancel_scope.cancel()

    def note_late(self, event: Event) -> None:
        """A call ended after nobody waited for it any more; it is journalled if that still can be.

        A call that is not settled yet is settled first. When the run is over, or another drives
        it, nothing can be added, and what is late has no effect at all.
        """
        self._late.append(event)

    async def pause(self, asked: PauseAsked) -> bool:
        """Put the run to sleep; False when something that it would wait for has come meanwhile.

        No word from elsewhere is taken in between the look and the append, nor after it: so none
        is taken in by a driver that leaves.
        """
        async with self._looking:
            known = (self.view.calls[key] for key in asked.waits_for)
            if not all(call.waits_for_approval or call.is_unresolved for call in known):
                return False
            paused = Event(EventType.RUN_PAUSED, {"reason": asked.reason})
            await self.record(
                Stage((paused,), paused=True, wake_at_us=asked.wake_at_us, durable=True)
            )
            return True

    async def watch(self) -> None:
        """Look for stops until cancelled; run beside the driver by `drive_lease`."""
        while True:
            await self.clock.sleep(WATCH_S)
            with suppress(RecordFailed):  # it rides on; whoever writes next is told
                await self.pen.flush()
            await self._look()

    async def _look(self) -> None:
        async with self._looking:
            found = await self._find_stop()
            if self._stop is None or (found and isinstance(self._stop, PauseAsked)):
                self._stop = found or self._stop
        now_s = self.clock.monotonic_s()
        for item in self._works:
            item.press(self._stop, now_s)

    async def _find_stop(self) -> BaseException | None:
        """What stops the run now. The lease is kept as long as somebody drives, also after it."""
        if isinstance(self._stop, RecordFailed) or self.view.paused:
            return None
        try:
            await self._note_late()
            asked = await self._take_commands()
            await self._renew_lease()
        except RecordFailed as failed:
            return failed
        if self.view.cancel_requested:
            return RunCancelled()
        if asked is None and self.remaining_s() <= 0:
            return DeadlineReached()
        return asked

    async def _take_commands(self) -> PauseAsked | None:
        """Fold the inbox into the journal; a cancel outlives its driver, a pause does not."""
        commands = await self.store.inbox(self.id)
        if not commands:
            return None
        asker = Asker(self.request.requested_by, self.view.agent)
        taken = take_in(self.view, asker, commands, to_us(self.clock.now()))
        consumed = tuple(command.id for command in commands)
        await self.record(Stage(taken.events, consumed=consumed, answered=taken.answered))
        return taken.pause

    async def _note_late(self) -> None:
        ready = [
            item for item in self._late if self.view.is_settled(str(item.data["tool_call_id"]))
        ]
        if ready and self.view.release_digest is None:
            await self.note(*ready)
            self._late = [item for item in self._late if item not in ready]

    async def _renew_lease(self) -> None:
        now_s = self.clock.monotonic_s()
        if now_s - self.renewed_s > LEASE_TTL_S / RENEWALS_PER_TTL:
            now_us = to_us(self.clock.now())
            self.pen.lease = await self.store.renew(self.lease, now_us, LEASE_TTL_US)
            self.renewed_s = now_s


def _tell_dropped(fenced: Fenced[T], late: Late | None) -> None:
    """A result that came and does not count is late as well."""
    if fenced.has_returned and late is not None:
        late("done")


@dataclass(frozen=True, slots=True)
class Driver:
    """Who drives, on which store, by which clock, and who is told of each new line.

    `orphans` holds what was left behind and still runs; it outlives every run of the driver.
    `is_gone` says of another driver's name that its process is certainly over; then its lease need
    not run out first. None: nobody can know.
    """

    holder: str
    store: Store
    clock: Clock
    listen: Listen | None = None
    orphans: Orphans = field(default_factory=Orphans)
    is_gone: Callable[[str], bool] | None = None


@asynccontextmanager
async def drive_lease(driver: Driver, run_id: str) -> AsyncIterator[Run]:
    """The run under a fresh lease, watched, and free again afterwards.

    Raises `InputRefused` for an unknown run (RUN_UNKNOWN) or one that another driver holds
    (RUN_BUSY). A run that has ended is driven by nobody: look at its head first (K8).
    """
    store, clock = driver.store, driver.clock
    lease = await store.acquire(run_id, driver.holder, to_us(clock.now()), LEASE_TTL_US)
    if lease is None:
        lease = await _take_over(driver, run_id)
    if lease is None:
        raise InputRefused(
            f"run {run_id} is being driven by another process",
            code="RUN_BUSY",
            hint=f"wait, or try again after {LEASE_TTL_S:.0f} s if that process is gone",
        )
    failure: BaseException | None = None
    try:
        run = await _open(driver, lease)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run.watch)
            try:
                yield run
            except BaseException as error:
                # A task group would wrap it, and a stop must leave unchanged (L4).
                failure = error
            finally:
                tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True), suppress(RecordFailed):
            await run.pen.flush()
    finally:
        # A lease that cannot be given back runs out by itself; what was published stands.
        with anyio.CancelScope(shield=True), suppress(RecordFailed):
            await store.release(lease)
    if failure is not None:
        raise failure


async def _take_over(driver: Driver, run_id: str) -> Lease | None:
    """The lease of a driver whose process is gone, or None: it may be alive.

    The store is asked as it would be when that lease had run out. Should somebody else have taken
    the run in this moment, the higher epoch shuts them out, and nothing is done twice (L6).
    """
    if driver.is_gone is None:
        return None
    lines = await driver.store.read(run_id)
    names = [str(line.data["holder"]) for line in lines if line.type is EventType.DRIVER_ACQUIRED]
    if not names or not driver.is_gone(names[-1]):
        return None
    now_us = to_us(driver.clock.now())
    over_us = now_us + LEASE_TTL_US + 1
    lease = await driver.store.acquire(run_id, driver.holder, over_us, LEASE_TTL_US)
    return None if lease is None else await driver.store.renew(lease, now_us, LEASE_TTL_US)


async def _open(driver: Driver, lease: Lease) -> Run:
    entries = list(await driver.store.read(lease.run_id))
    contents = {item.digest: item.content for item in await driver.store.artifacts(lease.run_id)}
    if not entries:
        raise InputRefused(f"there is no run {lease.run_id}", code="RUN_UNKNOWN")
    first = contents.get(str(entries[0].data["request_digest"]))
    if first is None:
        raise InputRefused(
            f"run {lease.run_id} cannot be resumed: its request has expired", code="RUN_EXPIRED"
        )
    now_s = driver.clock.monotonic_s()
    view = fold(entries)
    request = AgentRequest.model_validate_json(first)
    pen = Pen(
        run_id=request.run_id,
        tenant=request.tenant,
        store=driver.store,
        clock=driver.clock,
        lease=lease,
        view=view,
        entries=entries,
        contents=contents,
        listen=driver.listen,
    )
    run = Run(
        request=request,
        store=driver.store,
        clock=driver.clock,
        pen=pen,
        worked_before_s=view.worked_us / 1_000_000,
        started_s=now_s,
        renewed_s=now_s,
        orphans=driver.orphans,
    )
    acquired = Event(EventType.DRIVER_ACQUIRED, {"holder": driver.holder, "epoch": lease.epoch})
    await run.note(acquired)
    return run
