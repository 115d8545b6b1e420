"""The machine's clocks."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import anyio


class SystemClock:
    """Wall clock in UTC and the monotonic clock of this machine (`ports.clock.Clock`)."""

    def now(self) -> datetime:
        """The present moment, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Seconds since some fixed moment; never goes backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait at least so long; nothing at all for zero or less. Can be cancelled."""
        await anyio.sleep(max(seconds, 0))
