"""Ceilings over the runs of one process (`ports.ceiling`).

Over several processes they stand in the store's own file: `sqlite_ceilings`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from affidavit.ports.ceiling import CeilingRequest, CeilingRule


@dataclass(slots=True)
class MemoryCeilings:
    """Sums by tenant and day. No call here waits between looking and holding."""

    rule: CeilingRule
    _calls: dict[str, CeilingRequest] = field(default_factory=dict)
    _tenants: dict[tuple[str, str], tuple[int, int]] = field(
        default_factory=lambda: defaultdict(lambda: (0, 0))
    )
    _days: dict[str, tuple[int, int]] = field(default_factory=lambda: defaultdict(lambda: (0, 0)))

    async def reserve(self, asked: CeilingRequest) -> str | None:
        """Hold the room, or name the ceiling that has none."""
        if asked.key in self._calls:
            return None
        rule = self.rule
        own = self._tenants[asked.tenant, asked.day]
        everybody = self._days[asked.day]
        if _exceeds(own, asked, rule.tenant_tokens, rule.tenant_micros):
            return "tenant_day"
        if _exceeds(everybody, asked, rule.global_tokens, rule.global_micros):
            return "global"
        self._add(asked, 1)
        self._calls[asked.key] = asked
        return None

    async def settle(self, spent: CeilingRequest) -> None:
        """What was held under the key becomes what was spent."""
        held = self._calls.get(spent.key)
        if held is not None:
            self._add(held, -1)
        self._add(spent, 1)
        self._calls[spent.key] = spent

    def spent(self, tenant: str, day: str) -> tuple[int, int]:
        """Tokens and money that a tenant holds or has spent that day."""
        return self._tenants[tenant, day]

    def _add(self, item: CeilingRequest, sign: int) -> None:
        for sums, key in ((self._tenants, (item.tenant, item.day)), (self._days, item.day)):
            tokens, micros = sums[key]  # type: ignore[index]  # each table has its own key
            sums[key] = (tokens + sign * item.tokens, micros + sign * item.micros)  # type: ignore[index]  # as above


def _exceeds(
    spent: tuple[int, int], asked: CeilingRequest, tokens: int | None, micros: int | None
) -> bool:
    over_tokens = tokens is not None and spent[0] + asked.tokens > tokens
    return over_tokens or (micros is not None and spent[1] + asked.micros > micros)
