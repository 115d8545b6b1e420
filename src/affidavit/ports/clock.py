"""Time from outside, so that tests can own it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """A wall clock for records and a monotonic one for deadlines."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds that never go backwards; only differences mean something."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; can be cancelled."""
        ...
