"""What every store that keeps ceilings must do (`ports.ceiling`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final, TypeAlias

import anyio

from affidavit.ports.ceiling import CeilingRequest, CeilingRule, Ceilings
from affidavit.testing.conformance import require

OpenCeilings: TypeAlias = Callable[[CeilingRule], Ceilings]
"""Opens the same sums anew, as another process would."""

DAY: Final = "2026-03-02"


def spend_of(
    key: str, tokens: int, micros: int = 0, *, tenant: str = "a", day: str = DAY
) -> CeilingRequest:
    """Room for one call."""
    return CeilingRequest(key=key, tenant=tenant, day=day, tokens=tokens, micros=micros)


async def holds_for_all_who_share_it(open_ceilings: OpenCeilings) -> None:
    """What one process holds, another has not; what is settled makes room or takes it."""
    rule = CeilingRule(tenant_tokens=100)
    here, there = open_ceilings(rule), open_ceilings(rule)
    require(await here.reserve(spend_of("k/1", 60)) is None, "room is held while there is some")
    require(await there.reserve(spend_of("k/2", 50)) == "tenant_day", "held for everybody")
    require(await there.reserve(spend_of("k/1", 60)) is None, "a key is not held twice")
    require(await there.reserve(spend_of("k/3", 40)) is None, "to the last token")
    await there.settle(spend_of("k/1", 10))
    require(await here.reserve(spend_of("k/4", 50)) is None, "what was not spent is free again")
    await here.settle(spend_of("k/4", 500))
    require(await there.reserve(spend_of("k/5", 0)) == "tenant_day", "an overrun counts in full")


async def knows_tenants_days_and_money(open_ceilings: OpenCeilings) -> None:
    """Each tenant and each day has its own sum; the global ceiling is over all tenants."""
    rule = CeilingRule(tenant_micros=100, global_micros=150)
    ceilings = open_ceilings(rule)
    require(await ceilings.reserve(spend_of("m/1", 0, 90)) is None, "money is held too")
    require(await ceilings.reserve(spend_of("m/2", 0, 20)) == "tenant_day", "of one tenant")
    other = spend_of("m/3", 0, 60, tenant="b")
    require(await ceilings.reserve(other) is None, "another tenant has its own")
    third = spend_of("m/4", 0, 1, tenant="c")
    require(await ceilings.reserve(third) == "global", "and all together have one")
    tomorrow = spend_of("m/5", 0, 90, day="2026-03-03")
    require(await ceilings.reserve(tomorrow) is None, "a new day is a new sum")
    await ceilings.settle(spend_of("m/1", 0, 10, day="2026-03-03"))
    again = spend_of("m/6", 0, 75, day=DAY)
    require(await ceilings.reserve(again) is None, "a call counts on the day that held it")


async def never_lets_two_into_one_room(open_ceilings: OpenCeilings) -> None:
    """Whoever asks side by side: no more than the ceiling is ever held."""
    rule = CeilingRule(tenant_tokens=100)
    several = [open_ceilings(rule) for _ in range(4)]
    let_in: list[str] = []

    async def one(place: int) -> None:
        key = f"r/{place}"
        if await several[place % 4].reserve(spend_of(key, 30)) is None:
            let_in.append(key)

    async with anyio.create_task_group() as tasks:
        for place in range(20):
            tasks.start_soon(partial(one, place))
    require(len(let_in) == 3, "three of thirty fit into a hundred", let_in)


CEILING_CHECKS: Final[Mapping[str, Callable[[OpenCeilings], Awaitable[None]]]] = MappingProxyType(
    {
        check.__name__: check
        for check in (
            holds_for_all_who_share_it,
            knows_tenants_days_and_money,
            never_lets_two_into_one_room,
        )
    }
)
"""Every check; each wants a store of its own."""
