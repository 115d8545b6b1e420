"""A virtual clock moves when it is told to, and wakes sleepers in order."""

from __future__ import annotations

from datetime import timedelta

import anyio
import pytest

from affidavit.testing.virtual_clock import START, VirtualClock


async def test_time_stands_still_by_itself() -> None:
    """Nothing passes but what a test lets pass."""
    clock = VirtualClock()
    await anyio.sleep(0.01)
    assert clock.now() == START
    assert clock.monotonic_s() == 0


async def test_sleepers_wake_in_order() -> None:
    """By their alarms, then by who lay down first; each sees the time of its alarm."""
    clock = VirtualClock()
    woken: list[tuple[str, float]] = []

    async def sleep(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic_s()))
        if name == "a":
            await clock.sleep(1)
            woken.append(("a again", clock.monotonic_s()))

    async with anyio.create_task_group() as tasks:
        for name, seconds in (("c", 3), ("b", 2), ("a", 1), ("b too", 2), ("d", 9)):
            tasks.start_soon(sleep, name, seconds)
        await clock.advance(0.5)
        assert woken == []
        await clock.advance(4)
        assert clock.monotonic_s() == 4.5
        assert clock.sleepers == 1
        tasks.cancel_scope.cancel()
    assert woken == [("a", 1), ("b", 2), ("b too", 2), ("a again", 2), ("c", 3)]
    assert clock.sleepers == 0


async def test_jumping_skips_the_waiting() -> None:
    """Three virtual days pass at once, and a deadline still comes before a longer work."""
    clock = VirtualClock()
    async with clock.jumping():
        await clock.sleep(3 * 24 * 3600)
        done: list[str] = []

        async def work(name: str, seconds: float) -> None:
            await clock.sleep(seconds)
            done.append(name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work, "work", 10)
            await clock.sleep(5)
            tasks.cancel_scope.cancel()
    assert done == []
    assert clock.now() == START + timedelta(days=3, seconds=5)


@pytest.mark.spec("K3")
async def test_shift_moves_the_wall_clock_alone() -> None:
    """A clock that is set back does not shorten anybody's time."""
    clock = VirtualClock()
    await clock.advance(10)
    clock.shift(-3600)
    assert clock.monotonic_s() == 10
    assert clock.now() == START + timedelta(seconds=10 - 3600)
