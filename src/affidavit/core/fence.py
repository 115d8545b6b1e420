"""Work that can be left behind: what cannot be stopped is fenced off, and what it says is late.

An async piece of work is cancelled; it may clean up, for a while. A blocking one cannot be stopped
in any framework: its thread goes on, and so may its effect. Both end in the same way here: after
the grace the waiter leaves, and whatever comes later is told to `late` and never becomes a result
(K5, F27, F32).

The work runs in an asyncio task of its own, because a task group would wait for it. A task that
was left behind is held by `Orphans` until it ends; so nothing of it is lost half-way.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Generic, Literal, TypeVar

import anyio
from anyio import from_thread
from anyio.lowlevel import current_token

from affidavit.contract.errors import InternalFault, PauseAsked

T = TypeVar("T")

GRACE_S: Final = 2.0
"""How long ended work may clean up: time to close a connection or to tell a server to stop. After
it nobody waits; a thread that cannot be stopped goes on behind its fence (F32)."""

Late = Callable[[Literal["done", "failed"]], None]
"""Told once, when work that was left behind ends after all: it returned, or it raised."""


@dataclass(slots=True)
class Orphans:
    """Tasks that were left behind and still run; the event loop alone would forget them."""

    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __len__(self) -> int:
        """How many still run."""
        return len(self._tasks)

    def hold(self, task: asyncio.Task[None]) -> None:
        """Keep the task until it ends."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Fenced(Generic[T]):
    """One piece of work behind a fence. Made inside the event loop; the work begins at once."""

    __slots__ = ("_failure", "_is_left", "_late", "_result", "_returned", "_scope", "_task", "over")

    def __init__(
        self, work: Callable[[], Awaitable[T]], orphans: Orphans, late: Late | None = None
    ) -> None:
        """Begin the work."""
        self.over = asyncio.Event()
        self._scope = anyio.CancelScope()
        self._late = late
        self._is_left = False
        self._returned = False
        self._result: T | None = None
        self._failure: BaseException | None = None
        self._task = asyncio.get_running_loop().create_task(self._run(work))
        orphans.hold(self._task)

    async def _run(self, work: Callable[[], Awaitable[T]]) -> None:
        try:
            with self._scope:
                self._result = await work()
                self._returned = True
        except asyncio.CancelledError:
            raise  # the event loop itself ends
        except BaseException as failure:
            self._failure = failure  # it is raised where the work is waited for
        finally:
            self.over.set()
            if self._is_left and self._late is not None:
                self._late("done" if self._returned else "failed")

    @property
    def has_ended(self) -> bool:
        """Whether the work itself is over, and not only left."""
        return self._returned or self._failure is not None or self._task.done()

    @property
    def has_returned(self) -> bool:
        """Whether the work gave a result."""
        return self._returned

    @property
    def is_broken(self) -> bool:
        """Whether the work raised something that is no error: a stop, or the end of the process."""
        return self._failure is not None and not isinstance(self._failure, Exception)

    def cancel(self) -> None:
        """Ask the work to end; it may clean up."""
        self._scope.cancel()

    def leave(self) -> None:
        """Wait for it no longer. What it still says is late."""
        if not self.has_ended:
            self._is_left = True
            self.over.set()

    def result(self) -> T:
        """What the work returned. Raises what it raised, unchanged.

        Raises InternalFault where there is no result; ask `has_returned` first.
        """
        if self._failure is not None:
            raise self._failure
        if not self._returned:
            raise InternalFault("work that was ended has no result")
        return self._result  # type: ignore[return-value]  # T may be None, and _returned says so


@dataclass(slots=True)
class Watched:
    """Fenced work under a watcher: its limit, whether a pause waits for it, when it was ended."""

    fenced: Fenced[object]
    until_s: float | None
    outlasts_pause: bool
    ended_s: float | None = None
    timed_out: bool = False

    def press(self, stop: BaseException | None, now_s: float) -> None:
        """End it if it must end; leave it if it was told so long enough ago."""
        if self.until_s is not None and now_s >= self.until_s:
            self.timed_out = True
        pause = isinstance(stop, PauseAsked)
        if not self.timed_out and (stop is None or (pause and self.outlasts_pause)):
            return
        if self.ended_s is None:
            self.ended_s = now_s
            self.fenced.cancel()
        elif now_s - self.ended_s >= GRACE_S:
            self.fenced.leave()


async def run_blocking(work: Callable[[], T]) -> T:
    """Do blocking work in a thread of its own, which no cancel can stop.

    Whoever waits here waits for the thread; so it belongs behind a fence, whose grace bounds the
    wait. The thread is a daemon: a process that ends does not wait for it. Raises what it raises.
    """
    done, token = anyio.Event(), current_token()
    results: list[T] = []
    failures: list[BaseException] = []

    def body() -> None:
        try:
            results.append(work())
        except BaseException as failure:
            failures.append(failure)
        with suppress(RuntimeError):  # the event loop has ended: nobody is left to hear it
            from_thread.run_sync(done.set, token=token)

    threading.Thread(target=body, name="affidavit blocking work", daemon=True).start()
    with anyio.CancelScope(shield=True):
        await done.wait()
    if failures:
        raise failures[0]
    return results[0]
