"""The engine inside one process: a look at the store now and then, a task for each run.

For a command line, a single service, or several of them on one store: a run's lease keeps two of
them from driving the same one. Where the process that held a lease is known to be gone, nobody
waits for the lease to run out: a service that was killed and started again goes on at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import anyio
from anyio.abc import TaskGroup

from affidavit.contract.errors import AffidavitError, InputRefused, InternalFault, RecordFailed
from affidavit.contract.journal import EventType
from affidavit.ports.clock import Clock
from affidavit.ports.engine import ENGINE, STOPPING, Drive, EngineNote
from affidavit.ports.store import Store

RUNS_MAX: Final = 8
"""At once in one process: each may have a query process of 170 MB beside it."""

LOOK_S: Final = 0.5
"""Between two looks at the store; a look costs a fraction of a millisecond."""

BACK_OFF_MIN_S: Final = 1.0
BACK_OFF_MAX_S: Final = 60.0
"""After a failure: doubled each time, so that a store that is down is not asked to death."""

STOP_S: Final = 40.0
"""What a stop waits for at most: an effect under way has half a minute, and then its grace."""

LOST_LOOK_S: Final = 3.0
"""Between two looks for runs whose driver is gone before its lease: each reads their journals."""

LEASE_US_MAX: Final = 60_000_000
"""Longer than any lease lives; a run that is due by then is due now, or held, or asleep."""

MICRO: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class EngineRules:
    """How many at once, how often it looks, how long it backs off, how long a stop may take."""

    runs_max: int = RUNS_MAX
    look_s: float = LOOK_S
    back_off_min_s: float = BACK_OFF_MIN_S
    back_off_max_s: float = BACK_OFF_MAX_S
    stop_s: float = STOP_S


@dataclass(slots=True)
class _Trouble:
    """How often something failed in a row, and when it is tried again."""

    failures: int = 0
    again_s: float = 0.0


@dataclass(slots=True)
class InProcessEngine:
    """An engine without a machine of its own (`ports.engine.Engine`).

    `is_gone` says of a driver's name, as its lease has it, that its process is certainly over.
    Without it a lease has to run out first.
    """

    store: Store
    clock: Clock
    drive: Drive
    rules: EngineRules = field(default_factory=EngineRules)
    tell: Callable[[EngineNote], None] | None = None
    is_gone: Callable[[str], bool] | None = None
    _under_way: set[str] = field(default_factory=set)
    _trouble: dict[str | None, _Trouble] = field(default_factory=dict)
    _called: anyio.Event | None = None
    _stopped: bool = False
    _lost_again_s: float | None = None

    async def serve(self) -> None:
        """See `Engine.serve`."""
        async with anyio.create_task_group() as tasks:
            while not self._stopped:
                self._called = anyio.Event()
                await self._take_due(tasks)
                await self._rest(self._called)
            await self._pause_all()
            tasks.start_soon(self._give_up, tasks)
            await self._until_idle()
            tasks.cancel_scope.cancel()

    def wake(self) -> None:
        """See `Engine.wake`."""
        if self._called is not None:
            self._called.set()

    def stop(self) -> None:
        """See `Engine.stop`."""
        self._stopped = True
        self.wake()

    @property
    def under_way(self) -> frozenset[str]:
        """The runs that it drives at this moment."""
        return frozenset(self._under_way)

    async def _take_due(self, tasks: TaskGroup) -> None:
        if not self._may_try(None) or len(self._under_way) >= self.rules.runs_max:
            return
        try:
            now_us = int(self.clock.now().timestamp() * MICRO)
            due = await self.store.due(now_us)
            due = (*due, *await self._lost(now_us, frozenset(due)))
        except AffidavitError as error:
            self._failed(None, error)
            return
        self._trouble.pop(None, None)
        for run_id in due:
            if len(self._under_way) >= self.rules.runs_max or self._stopped:
                return
            if run_id not in self._under_way and self._may_try(run_id):
                self._under_way.add(run_id)
                tasks.start_soon(self._drive, run_id)

    async def _lost(self, now_us: int, due: frozenset[str]) -> tuple[str, ...]:
        """Runs that are held by a driver whose process is gone; looked for now and then."""
        now_s = self.clock.monotonic_s()
        if self._lost_again_s is not None and now_s < self._lost_again_s:
            return ()
        self._lost_again_s = now_s + LOST_LOOK_S
        if self.is_gone is None:
            return ()
        held = await self.store.due(now_us + LEASE_US_MAX)
        others = [run_id for run_id in held if run_id not in due | self._under_way]
        return tuple([run_id for run_id in others if await self._has_lost_driver(run_id)])

    async def _has_lost_driver(self, run_id: str) -> bool:
        """Whether somebody drove it last who is gone. One that is asleep has lost nobody."""
        head = await self.store.head(run_id)
        if head is None or head.paused or self.is_gone is None:
            return False
        lines = reversed(await self.store.read(run_id))
        drivers = (line.data for line in lines if line.type is EventType.DRIVER_ACQUIRED)
        last = next(drivers, None)
        return last is not None and self.is_gone(str(last["holder"]))

    async def _drive(self, run_id: str) -> None:
        try:
            await self.drive(run_id)
        except InputRefused as refused:
            # Another drives it, or it can never be driven again: no hurry in either case.
            self._failed(run_id, refused, at_once=refused.code != "RUN_BUSY")
        except AffidavitError as error:
            self._failed(run_id, error)
        except Exception as error:  # noqa: BLE001 - one run that breaks must not end the others
            self._failed(run_id, InternalFault(type(error).__name__))
        else:
            # A run that is due again at once waits for the next look, like any other.
            self._trouble.pop(run_id, None)
        finally:
            self._under_way.discard(run_id)
            self.wake()

    def _may_try(self, what: str | None) -> bool:
        trouble = self._trouble.get(what)
        return trouble is None or self.clock.monotonic_s() >= trouble.again_s

    def _failed(self, what: str | None, error: AffidavitError, *, at_once: bool = False) -> None:
        """Note a failure; `at_once` goes to the longest back-off straight away."""
        rules = self.rules
        trouble = self._trouble.setdefault(what, _Trouble())
        wait_s = min(rules.back_off_max_s, rules.back_off_min_s * 2**trouble.failures)
        wait_s = rules.back_off_max_s if at_once else wait_s
        trouble.failures = min(trouble.failures + 1, 32)
        trouble.again_s = self.clock.monotonic_s() + wait_s
        if self.tell is not None:
            self.tell(EngineNote(what, error.code, wait_s))

    async def _rest(self, called: anyio.Event) -> None:
        """Until the next look is due, or somebody calls."""
        async with anyio.create_task_group() as tasks:

            async def alarm() -> None:
                await self.clock.sleep(self.rules.look_s)
                called.set()

            tasks.start_soon(alarm)
            await called.wait()
            tasks.cancel_scope.cancel()

    async def _pause_all(self) -> None:
        for run_id in sorted(self._under_way):
            try:
                await self.store.post(run_id, "pause", ENGINE, STOPPING)
            except InputRefused:
                pass  # it has just ended
            except RecordFailed as failed:
                self._failed(run_id, failed)

    async def _until_idle(self) -> None:
        while self._under_way:
            self._called = anyio.Event()
            await self._called.wait()

    async def _give_up(self, tasks: TaskGroup) -> None:
        """What does not pause in its time is left; its lease is given back, and it is due."""
        await self.clock.sleep(self.rules.stop_s)
        tasks.cancel_scope.cancel()
