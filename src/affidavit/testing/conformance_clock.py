"""What every clock must do (`ports.clock.Clock`).

A check is given a clock whose time passes while tasks wait: a real one, or a virtual one inside
`jumping()`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeAlias

import anyio

from affidavit.ports.clock import Clock
from affidavit.testing.conformance import require

ClockCheck: TypeAlias = Callable[[Clock], Awaitable[None]]

NAP_S: Final = 0.02
"""Long enough for a real clock to show it, short enough for a test."""


async def tells_utc(clock: Clock) -> None:
    """The wall clock is aware and in UTC: a time without a zone is nobody's time (R26)."""
    moment = clock.now()
    require(moment.utcoffset() == timedelta(0), "the present is aware and in UTC", moment)


async def never_goes_back(clock: Clock) -> None:
    """The monotonic clock never goes back."""
    before_s = clock.monotonic_s()
    for _ in range(100):
        after_s = clock.monotonic_s()
        require(after_s >= before_s, "the monotonic clock never goes back", (before_s, after_s))
        before_s = after_s


async def sleeps_long_enough(clock: Clock) -> None:
    """A sleeper wakes after its time and not before; the shorter one first."""
    woken: list[str] = []

    async def sleep(name: str, seconds: float) -> None:
        before_s = clock.monotonic_s()
        await clock.sleep(seconds)
        slept_s = clock.monotonic_s() - before_s
        # A timer may fire up to the clock's resolution early; a millisecond is far above it.
        require(slept_s >= seconds - 0.001, "a sleep lasts as long as it says", slept_s)
        woken.append(name)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sleep, "long", 3 * NAP_S)
        tasks.start_soon(sleep, "short", NAP_S)
        tasks.start_soon(sleep, "none", -1)
    require(woken == ["none", "short", "long"], "sleepers wake in the order of their time", woken)


async def can_be_cancelled(clock: Clock) -> None:
    """A sleep of an hour ends at once when it is cancelled."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(clock.sleep, 3600)
        await clock.sleep(NAP_S)
        tasks.cancel_scope.cancel()
    require(tasks.cancel_scope.cancelled_caught, "a sleep can be cancelled")


CLOCK_CHECKS: Final[tuple[ClockCheck, ...]] = (
    tells_utc,
    never_goes_back,
    sleeps_long_enough,
    can_be_cancelled,
)
"""Every check of a clock."""
