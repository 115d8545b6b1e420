"""How the live back ends of a tenant are, without asking them each time that somebody looks."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio

from affidavit.adapters.live_backends import Finding, LiveConfig, probe_backends
from affidavit.settings import Settings

FRESH_S: Final = 30.0
"""So long one look serves all who ask: a page that polls is no load on a patient."""

TENANTS_MAX: Final = 200
"""Whose last look is kept."""


@dataclass(slots=True)
class Watch:
    """The configured back ends, and what they said when they were last asked."""

    settings: Settings
    environment: Mapping[str, str]
    _seen: OrderedDict[str, tuple[float, tuple[Finding, ...]]] = field(default_factory=OrderedDict)
    _asking: anyio.Lock = field(default_factory=anyio.Lock)

    async def look(self, tenant: str) -> tuple[Finding, ...]:
        """One finding each; at most half a minute old, and within the time of one probe."""
        async with self._asking:
            at_s, found = self._seen.get(tenant, (0.0, ()))
            if not at_s or time.monotonic() - at_s > FRESH_S:
                told = self.settings
                config = LiveConfig(told.backends, told.outgoing, self.environment)
                found = await probe_backends(config, tenant)
                self._seen[tenant] = (time.monotonic(), found)
                self._seen.move_to_end(tenant)
                while len(self._seen) > TENANTS_MAX:
                    self._seen.popitem(last=False)
            return found
