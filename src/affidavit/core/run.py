"""One run under its driver: append, check, interrupt, end (K1, K5, K6, K8).

A `Run` exists only inside `drive_lease`: one driver, one lease, one watcher. Everything that the
driver learns goes through `record`, which appends lines and artifacts in one write and moves the
view. Everything that may take long goes through `interruptible`, which a cancel, the deadline, the
loss of the lease or the call's own time limit ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeVar

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
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.core.chain import extend, to_us
from affidavit.core.fold import RunView, advance, fold
from affidavit.ports.clock import Clock
from affidavit.ports.store import Append, Artifact, Lease, Store

T = TypeVar("T")

LEASE_TTL_S: Final = 30.0
"""A driver that is silent for so long is taken for dead."""

LEASE_TTL_US: Final = int(LEASE_TTL_S * 1_000_000)

RENEWALS_PER_TTL: Final = 10
"""So that nine renewals may fail or come late before a live driver is taken for dead."""

WATCH_S: Final = 0.05
"""How often the watcher looks for a cancel, the deadline and time limits: a stop is felt within
this, and one look costs some 25 µs."""


class CallTimedOut(Exception):
    """The work's own time limit is over; the run goes on."""


@dataclass(slots=True)
class _Work:
    """Something under way: its scope, its own limit, and why it was ended."""

    scope: anyio.CancelScope
    until_s: float | None
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """What one append of a run consists of.

    `seal` is given the new lines before they are stored and returns artifacts that belong into
    the same write: so the affidavit holds the very lines that publish it.
    """

    events: tuple[Event, ...]
    artifacts: tuple[Artifact, ...] = ()
    consumed: tuple[int, ...] = ()
    ended: tuple[RunState, ReleaseOutcome] | None = None
    paused: bool | None = None
    durable: bool = False
    seal: Callable[[tuple[Entry, ...]], tuple[Artifact, ...]] | None = None


@dataclass(slots=True)
class Run:
    """One run, driven. Made by `drive_lease` alone."""

    request: AgentRequest
    store: Store
    clock: Clock
    lease: Lease
    view: RunView
    entries: list[Entry]
    contents: dict[str, bytes]
    worked_before_s: float
    started_s: float
    renewed_s: float
    listen: Callable[[Entry, Mapping[str, bytes]], None] | None = None
    _works: list[_Work] = field(default_factory=list)
    _stop: BaseException | None = None
    _writing: anyio.Lock = field(default_factory=anyio.Lock)
    _looking: anyio.Lock = field(default_factory=anyio.Lock)

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

    async def note(self, *events: Event) -> None:
        """Append lines without artifacts; see `record`."""
        await self.record(Stage(events))

    async def record(self, stage: Stage) -> None:
        """Append what happened; the view has moved when this returns.

        Raises `RecordFailed` or `LeaseLost`; then nothing was written and nothing has moved. A
        cancel cannot come between the write and the move.
        """
        with anyio.CancelScope(shield=True):
            async with self._writing:
                view = self.view
                entries = extend(
                    self.id, view.last_seq + 1, view.last_hash, self.clock.now(), stage.events
                )
                artifacts = stage.artifacts
                if stage.seal is not None:
                    artifacts += stage.seal((*self.entries, *entries))
                write = Append(
                    entries, artifacts, stage.consumed, stage.ended, stage.paused, stage.durable
                )
                await self.store.append(self.lease, write)
                for entry in entries:
                    self.view = advance(self.view, entry)
                self.entries.extend(entries)
                self.contents.update((item.digest, item.content) for item in artifacts)
        if self.listen is not None:
            for entry in entries:
                self.listen(entry, self.contents)

    async def check(self) -> None:
        """Whether the run may go on; raises the stop that says it may not (K5).

        Asked before and after every model call, tool call and attempt, and before publication.
        """
        await self._look()
        if self._stop is not None:
            raise self._stop

    async def interruptible(
        self, work: Callable[[], Awaitable[T]], timeout_s: float | None = None
    ) -> T:
        """Do the work, unless the run is stopped or the work's own time is over.

        Raises `RunStopped` for the run, `CallTimedOut` for the work alone. A late result is
        dropped here, so that it can never become READY (K5).
        """
        await self.check()
        until_s = None if timeout_s is None else self.clock.monotonic_s() + timeout_s
        results: list[T] = []
        with anyio.CancelScope() as scope:
            item = _Work(scope, until_s)
            self._works.append(item)
            try:
                results.append(await work())
            finally:
                self._works.remove(item)
        await self.check()
        if item.timed_out or not results:
            raise CallTimedOut
        return results[0]

    async def watch(self) -> None:
        """Look for stops until cancelled; run beside the driver by `drive_lease`."""
        while True:
            await self.clock.sleep(WATCH_S)
            await self._look()

    async def _look(self) -> None:
        async with self._looking:
            if self._stop is None:
                self._stop = await self._find_stop()
        now_s = self.clock.monotonic_s()
        for item in self._works:
            if self._stop is not None:
                item.scope.cancel()
            elif item.until_s is not None and now_s >= item.until_s:
                item.timed_out = True
                item.scope.cancel()

    async def _find_stop(self) -> BaseException | None:
        try:
            if (asked := await self._take_commands()) is not None:
                return asked
            if self.remaining_s() <= 0:
                return DeadlineReached()
            await self._renew_lease()
        except RecordFailed as failed:
            return failed
        return None

    async def _take_commands(self) -> BaseException | None:
        """Fold the inbox into the journal; a cancel outlives its driver, a pause does not."""
        commands = await self.store.inbox(self.id)
        if commands:
            events = tuple(
                Event(EventType.CANCEL_REQUESTED, {"by": item.by})
                for item in commands
                if item.kind == "cancel"
            )
            consumed = tuple(command.id for command in commands)
            await self.record(Stage(events, consumed=consumed))
        if self.view.cancel_requested:
            return RunCancelled()
        return PauseAsked() if any(item.kind == "pause" for item in commands) else None

    async def _renew_lease(self) -> None:
        now_s = self.clock.monotonic_s()
        if now_s - self.renewed_s > LEASE_TTL_S / RENEWALS_PER_TTL:
            self.lease = await self.store.renew(self.lease, to_us(self.clock.now()), LEASE_TTL_US)
            self.renewed_s = now_s


@dataclass(frozen=True, slots=True)
class Driver:
    """Who drives, on which store, by which clock, and who is told of each new line."""

    holder: str
    store: Store
    clock: Clock
    listen: Callable[[Entry, Mapping[str, bytes]], None] | None = None


@asynccontextmanager
async def drive_lease(driver: Driver, run_id: str) -> AsyncIterator[Run]:
    """The run under a fresh lease, watched, and free again afterwards.

    Raises `InputRefused` for an unknown run (RUN_UNKNOWN) or one that another driver holds
    (RUN_BUSY). A run that has ended is driven by nobody: look at its head first (K8).
    """
    store, clock = driver.store, driver.clock
    lease = await store.acquire(run_id, driver.holder, to_us(clock.now()), LEASE_TTL_US)
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
    finally:
        # A lease that cannot be given back runs out by itself; what was published stands.
        with anyio.CancelScope(shield=True), suppress(RecordFailed):
            await store.release(lease)
    if failure is not None:
        raise failure


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
    run = Run(
        request=AgentRequest.model_validate_json(first),
        store=driver.store,
        clock=driver.clock,
        lease=lease,
        view=view,
        entries=entries,
        contents=contents,
        worked_before_s=view.worked_us / 1_000_000,
        started_s=now_s,
        renewed_s=now_s,
        listen=driver.listen,
    )
    acquired = Event(EventType.DRIVER_ACQUIRED, {"holder": driver.holder, "epoch": lease.epoch})
    await run.note(acquired)
    return run
