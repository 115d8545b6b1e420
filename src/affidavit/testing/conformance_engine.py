"""What every engine must do (`ports.engine.Engine`).

A check is given a function that makes an engine over a store, with a drive of the check's own and a
clock whose time passes while tasks wait: a virtual one inside `jumping()`. The engine must allow
at least `AT_ONCE` runs at once and at most `AT_ONCE_MAX`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import anyio

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.core.chain import to_us
from affidavit.ports.clock import Clock
from affidavit.ports.engine import Drive, Engine
from affidavit.ports.store import Append, Store
from affidavit.testing.conformance import require
from affidavit.testing.journals import SECOND_US, TTL_US, begin_run, ending, lease_run, next_lines
from affidavit.testing.virtual_clock import VirtualClock

OpenEngine: TypeAlias = Callable[[Store, Clock, Drive], Engine]
EngineCheck: TypeAlias = Callable[[OpenEngine], Awaitable[None]]

AT_ONCE: Final = 2
AT_ONCE_MAX: Final = 8
PATIENCE_S: Final = 300.0
"""Virtual seconds in which an engine must have come round to anything, back-off included."""


@dataclass
class Stage:
    """A store, a clock, and a drive that does what its check says."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    store: MemoryStore = field(default_factory=MemoryStore)
    acts: dict[str, Callable[[], Awaitable[None]]] = field(default_factory=dict)
    driven: list[str] = field(default_factory=list)
    inside: int = 0
    most: int = 0

    async def drive(self, run_id: str) -> object:
        """Lease the run, do what is said for it, or end it."""
        self.driven.append(run_id)
        lease = await self.store.acquire(run_id, "engine", to_us(self.clock.now()), TTL_US)
        if lease is None:
            raise InputRefused(f"run {run_id} is held", code="RUN_BUSY")
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            act = self.acts.get(run_id)
            if act is not None:
                await act()
            else:
                await self.store.append(lease, ending((await self.store.read(run_id))[-1]))
        finally:
            self.inside -= 1
            with anyio.CancelScope(shield=True):
                await self.store.release(lease)
        return None

    async def sleep_run(self, run_id: str, wake_at_us: int | None) -> None:
        """Pause the run."""
        lease = await lease_run(self.store, run_id, at_s=-100)
        last = (await self.store.read(run_id))[-1]
        write = Append(next_lines(last), paused=True, wake_at_us=wake_at_us)
        await self.store.append(lease, write)
        await self.store.release(lease)

    async def until(self, holds: Callable[[], bool], promise: str) -> None:
        """Wait, but not for ever."""
        until_s = self.clock.monotonic_s() + PATIENCE_S
        while not holds():
            require(self.clock.monotonic_s() < until_s, promise, self.driven)
            await self.clock.sleep(0.1)


@asynccontextmanager
async def serving(stage: Stage, open_engine: OpenEngine) -> AsyncIterator[Engine]:
    """An engine at work; stopped at the end."""
    engine = open_engine(stage.store, stage.clock, stage.drive)
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        tasks.start_soon(engine.serve)
        yield engine
        engine.stop()


async def drives_what_is_due(open_engine: OpenEngine) -> None:
    """Runs that wait for a driver are driven, those that sleep are not."""
    stage = Stage()
    due = [await begin_run(stage.store, number) for number in (1, 2, 3)]
    asleep = await begin_run(stage.store, 4, paused=True)
    async with serving(stage, open_engine):
        await stage.until(lambda: len(stage.driven) == len(due), "what is due is driven")
        await stage.clock.sleep(5)
    require(sorted(stage.driven) == [run.id for run in due], "each once", stage.driven)
    require(asleep.id not in stage.driven, "a run that sleeps is left alone")


async def sees_what_comes_later(open_engine: OpenEngine) -> None:
    """A run that is started while it serves is driven, at once when it is woken."""
    stage = Stage()
    async with serving(stage, open_engine) as engine:
        await stage.clock.sleep(10)
        late = await begin_run(stage.store, 1)
        engine.wake()
        await stage.until(lambda: late.id in stage.driven, "a new run is seen")


async def wakes_and_heeds_calls(open_engine: OpenEngine) -> None:
    """A sleeper is driven at its time and not before, and at once when somebody calls it."""
    stage = Stage()
    timed, called = await begin_run(stage.store, 1), await begin_run(stage.store, 2)
    alarm_us = to_us(stage.clock.now()) + 3600 * SECOND_US
    await stage.sleep_run(timed.id, alarm_us)
    await stage.sleep_run(called.id, None)
    async with serving(stage, open_engine):
        await stage.clock.sleep(3000)
        require(stage.driven == [], "sleepers sleep", stage.driven)
        await stage.store.post(called.id, "approve", "somebody")
        await stage.until(lambda: called.id in stage.driven, "a call wakes")
        require(timed.id not in stage.driven, "an alarm is not early")
        await stage.clock.sleep(700)
        require(timed.id in stage.driven, "an alarm rings", stage.driven)


async def recovers_what_lost_its_driver(open_engine: OpenEngine) -> None:
    """A run whose driver died is driven when its lease has run out, and not while it stands."""
    stage = Stage()
    run = await begin_run(stage.store, 1)
    await lease_run(stage.store, run.id, "a process that dies")
    async with serving(stage, open_engine):
        await stage.clock.sleep(TTL_US / SECOND_US - 5)
        require(stage.driven == [], "a live lease is respected", stage.driven)
        await stage.until(lambda: stage.driven == [run.id], "an orphan is found")


async def bounds_itself(open_engine: OpenEngine) -> None:
    """Several at once, and never more than the bound."""
    stage = Stage()
    gate = anyio.Event()
    runs = [await begin_run(stage.store, number) for number in range(1, 3 * AT_ONCE_MAX)]
    for run in runs:
        stage.acts[run.id] = gate.wait
    async with serving(stage, open_engine):
        await stage.until(lambda: stage.inside >= AT_ONCE, "several runs are driven at once")
        await stage.clock.sleep(5)
        require(AT_ONCE <= stage.most <= AT_ONCE_MAX, "there is a bound", stage.most)
        stage.acts.clear()
        gate.set()
        await stage.until(lambda: set(stage.driven) == {run.id for run in runs}, "all have a turn")


async def outlives_failures(open_engine: OpenEngine) -> None:
    """A run that breaks is tried again, less and less often; the others do not notice."""
    for failure in (RecordFailed("full"), InputRefused("held", code="RUN_BUSY"), KeyError("bug")):
        await _outlives(open_engine, failure)


async def _outlives(open_engine: OpenEngine, failure: Exception) -> None:
    stage = Stage()
    bad, good = await begin_run(stage.store, 1), await begin_run(stage.store, 2)

    async def fail() -> None:
        raise failure

    stage.acts[bad.id] = fail
    async with serving(stage, open_engine):
        await stage.until(lambda: good.id in stage.driven, "a good run is driven")
        await stage.clock.sleep(PATIENCE_S)
        tries = stage.driven.count(bad.id)
        require(2 <= tries <= 40, f"{failure!r} is tried again, with a back-off", tries)
        del stage.acts[bad.id]
        await stage.clock.sleep(PATIENCE_S)
        last = await stage.store.head(bad.id)
        require(last is not None and last.outcome is not None, "and succeeds in the end", last)


async def outlives_its_store(open_engine: OpenEngine) -> None:
    """A store that cannot be asked for a while is asked again."""

    class Moody(MemoryStore):
        failures = 3

        async def due(self, now_us: int) -> tuple[str, ...]:
            if self.failures:
                self.failures -= 1
                raise RecordFailed("the disk is full")
            return await super().due(now_us)

    stage = Stage(store=Moody())
    run = await begin_run(stage.store, 1)
    async with serving(stage, open_engine):
        await stage.until(lambda: stage.driven == [run.id], "a store that is back is asked again")


async def stops_gracefully(open_engine: OpenEngine) -> None:
    """A stop pauses what is under way, takes nothing new, and returns when all is quiet."""
    stage = Stage()
    run = await begin_run(stage.store, 1)
    heard: list[str] = []

    async def work() -> None:
        while not heard:
            heard.extend(word.kind for word in await stage.store.inbox(run.id))
            await stage.clock.sleep(0.1)

    stage.acts[run.id] = work
    engine = open_engine(stage.store, stage.clock, stage.drive)
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        tasks.start_soon(engine.serve)
        await stage.until(lambda: stage.inside == 1, "the run is driven")
        engine.stop()
        await begin_run(stage.store, 2)
    require(heard == ["pause"], "what is under way is paused", heard)
    require(stage.driven == [run.id], "nothing new is taken", stage.driven)


async def frees_its_runs_when_it_is_cancelled(open_engine: OpenEngine) -> None:
    """A hard end leaves its runs due at once."""
    stage = Stage()
    run = await begin_run(stage.store, 1)
    stage.acts[run.id] = anyio.sleep_forever
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        tasks.start_soon(open_engine(stage.store, stage.clock, stage.drive).serve)
        await stage.until(lambda: stage.inside == 1, "the run is driven")
        tasks.cancel_scope.cancel()
    due = await stage.store.due(to_us(stage.clock.now()))
    require(due == (run.id,), "its runs are free at once", due)


ENGINE_CHECKS: Final[tuple[EngineCheck, ...]] = (
    drives_what_is_due,
    sees_what_comes_later,
    wakes_and_heeds_calls,
    recovers_what_lost_its_driver,
    bounds_itself,
    outlives_failures,
    outlives_its_store,
    stops_gracefully,
    frees_its_runs_when_it_is_cancelled,
)
"""Every check of an engine."""
