"""What keeps runs driven: a task in this process, or an engine over many machines (idea 6).

An engine decides nothing. A run is due when the store says so: it was started, its time to wake has
come, somebody called it, or whoever drove it is gone. All of that stands in the store, in the same
transactions as the runs themselves; so an engine that dies has nothing to lose, and another one,
here or elsewhere, goes on with the same runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

Drive: TypeAlias = Callable[[str], Awaitable[object]]
"""Drives one run to its end or to a pause; may raise what `diagnose.drive` raises."""

ENGINE: Final = "engine"
"""The sender of the words with which an engine pauses its runs when it stops."""

STOPPING: Final = "stopping"
"""What such a word says: the run is due again at once, for whoever takes it next."""


@dataclass(frozen=True, slots=True)
class EngineNote:
    """Something that an operator should know: the code of what went wrong, and when it goes on.

    `run_id` is None when the store itself could not be asked.
    """

    run_id: str | None
    code: str
    again_in_s: float


class Engine(Protocol):
    """Keeps the runs of one store driven. All calls are made inside its event loop."""

    async def serve(self) -> None:
        """Drive what is due, as long as nobody stops it.

        What goes wrong with one run, or with the store for a while, neither ends this nor delays
        another run; it is tried again, later and later. Returns after `stop`, when nothing is under
        way any more. When it is cancelled, its runs are free for others at once.
        """
        ...

    def wake(self) -> None:
        """Look at once: a run was started or called. Without it, the next look sees it too."""
        ...

    def stop(self) -> None:
        """Take nothing new, and pause what is under way: it is due at once, for others.

        A run that cannot pause, because an effect is under way, is given time to finish it.
        """
        ...
