"""Time that a test owns: nothing passes but what the test lets pass.

clock = VirtualClock()
async with clock.jumping():          # when everybody waits, time jumps to the next alarm
    ...
await clock.advance(30)              # or by hand
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

import anyio
from anyio.lowlevel import checkpoint

START: Final = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
"""Where virtual time begins; any moment will do that is the same each time."""


class VirtualClock:
    """A clock without a machine behind it (`ports.clock.Clock`).

    Sleepers wake in the order of their alarms, and those of one moment in the order in which they
    lay down; so a run under this clock alone is the same each time.
    """

    def __init__(self, start: datetime = START) -> None:
        """A clock that stands at `start`, an aware time."""
        self._start = start.astimezone(UTC)
        self._passed_s = 0.0
        self._skew_s = 0.0
        self._numbers = count()
        self._alarms: list[tuple[float, int, anyio.Event]] = []

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        return self._start + timedelta(seconds=self._passed_s + self._skew_s)

    def monotonic_s(self) -> float:
        """Seconds that have passed since the start."""
        return self._passed_s

    async def sleep(self, seconds: float) -> None:
        """Wait until so much time has passed; can be cancelled."""
        if seconds <= 0:
            await checkpoint()
            return
        alarm = (self._passed_s + seconds, next(self._numbers), anyio.Event())
        heapq.heappush(self._alarms, alarm)
        try:
            await alarm[2].wait()
        finally:
            if alarm in self._alarms:
                self._alarms.remove(alarm)
                heapq.heapify(self._alarms)

    def shift(self, seconds: float) -> None:
        """Set the wall clock forward or back, as an administrator would; no time passes."""
        self._skew_s += seconds

    @property
    def sleepers(self) -> int:
        """How many wait for this clock."""
        return len(self._alarms)

    async def advance(self, seconds: float) -> None:
        """Let time pass; whoever wakes up has done what it could before the next one wakes."""
        until_s = self._passed_s + seconds
        await _settle()
        while self._alarms and self._alarms[0][0] <= until_s:
            self._ring()
            await _settle()
        self._passed_s = until_s

    @asynccontextmanager
    async def jumping(self) -> AsyncIterator[None]:
        """Inside, time jumps to the next alarm whenever every task waits.

        A task that waits for a thread waits too: a store on disk under a jumping clock sees its
        leases run out early. Use the memory store, or advance by hand.
        """
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._jump)
            yield
            tasks.cancel_scope.cancel()

    async def _jump(self) -> None:
        while True:
            await _settle()
            if self._alarms:
                self._ring()
            await checkpoint()

    def _ring(self) -> None:
        at_s, _, alarm = heapq.heappop(self._alarms)
        self._passed_s = max(self._passed_s, at_s)
        alarm.set()


SETTLING_ROUNDS: Final = 30
"""Turns of the event loop before anybody is asked whether all tasks wait: asking costs 0.1 s of
real time whenever one does not, and a task that was just woken mostly needs a few turns."""


async def _settle() -> None:
    for _ in range(SETTLING_ROUNDS):
        await checkpoint()
    await anyio.wait_all_tasks_blocked()
