"""Ceilings over the runs of one process (`ports.ceiling`).

Over several processes they stand in the store's own file: `sqlite_ceilings`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from affidavit.ports.ceiling import CeilingRequest, CeilingRule, ceiling_reached

Sums = dict[tuple[str, str], tuple[int, int]]


@dataclass(slots=True)
class SpendBook:
    """What calls hold or came to, and the sums by tenant and day. No method here waits."""

    calls: dict[str, CeilingRequest] = field(default_factory=dict)
    sums: Sums = field(default_factory=lambda: defaultdict(lambda: (0, 0)))

    def spent(self, tenant: str, day: str) -> tuple[int, int]:
        """Tokens and millionths that a tenant holds or has spent that day."""
        return self.sums[tenant, day]

    def everybody(self, day: str) -> tuple[int, int]:
        """The same of all tenants together."""
        items = [item for (_, own), item in self.sums.items() if own == day]
        return sum(item[0] for item in items), sum(item[1] for item in items)

    def put(self, item: CeilingRequest) -> None:
        """In place of what stood under that key, on the day on which that was held."""
        held = self.calls.get(item.key)
        day = item.day if held is None else held.day
        if held is not None:
            self._add(day, held, -1)
        self._add(day, item, 1)
        self.calls[item.key] = CeilingRequest.model_validate({**item.model_dump(), "day": day})

    def _add(self, day: str, item: CeilingRequest, sign: int) -> None:
        tokens, micros = self.sums[item.tenant, day]
        self.sums[item.tenant, day] = (tokens + sign * item.tokens, micros + sign * item.micros)


@dataclass(frozen=True, slots=True)
class MemoryCeilings:
    """A rule over a book. No call here waits between looking and holding."""

    rule: CeilingRule
    book: SpendBook = field(default_factory=SpendBook)

    async def reserve(self, asked: CeilingRequest) -> str | None:
        """Hold the room, or name the ceiling that has none."""
        if asked.key in self.book.calls:
            return None
        own, everybody = self.book.spent(asked.tenant, asked.day), self.book.everybody(asked.day)
        reached = ceiling_reached(self.rule, asked, own, everybody)
        if reached is None:
            self.book.put(asked)
        return reached

    async def settle(self, spent: CeilingRequest) -> None:
        """What was held under the key becomes what was spent."""
        self.book.put(spent)

    def spent(self, tenant: str, day: str) -> tuple[int, int]:
        """Tokens and millionths that a tenant holds or has spent that day."""
        return self.book.spent(tenant, day)
