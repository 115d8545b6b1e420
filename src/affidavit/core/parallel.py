"""Work side by side whose results are settled in the order they were asked for (T2).

A stop (BaseException) raised in one piece of work ends the others and leaves unchanged; a plain
task group would wrap it, and `gather(return_exceptions=True)` would swallow it (K6).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

T = TypeVar("T")


async def run_side_by_side(
    works: Sequence[Callable[[], Awaitable[T]]],
    settle: Callable[[int, T], Awaitable[None]],
    *,
    concurrency: int,
) -> None:
    """Do all the work, at most `concurrency` at once, and settle each result in order.

    A result is settled as soon as it and all before it are there. The first failure or stop of
    any work or settling ends everything and is raised unchanged.
    """
    if len(works) == 1:  # nothing stands beside it
        await settle(0, await works[0]())
        return
    limiter = anyio.CapacityLimiter(concurrency)
    done: dict[int, T] = {}
    settled = 0
    settling = anyio.Lock(fast_acquire=True)
    failures: list[BaseException] = []

    async def one(place: int) -> None:
        nonlocal settled
        async with limiter:
            done[place] = await works[place]()
        async with settling:
            while settled in done:
                await settle(settled, done[settled])
                settled += 1

    async def guarded(place: int) -> None:
        try:
            await one(place)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as failure:
            failures.append(failure)
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for place in range(len(works)):
            tasks.start_soon(guarded, place)
    if failures:
        raise failures[0]
