"""`affidavit deliveries`: what went out, what waits, what is dead, and sending it again."""

from __future__ import annotations

import time
from typing import Final, NoReturn

import anyio

from affidavit.cli.opening import incidents_at, runs_at
from affidavit.cli.screen import one_line, say, say_json
from affidavit.contract.errors import InputRefused
from affidavit.ports.incidents import Delivery, DeliveryState

LISTED: Final = 50
STATES: Final[tuple[DeliveryState, ...]] = ("pending", "delivered", "dead")


def list_deliveries(store: str, tenant: str, state: str, *, as_json: bool) -> NoReturn:
    """The newest deliveries, newest first."""
    wanted = next((known for known in STATES if known == state), None)
    if state and wanted is None:
        raise InputRefused(
            f"there is no state {state!r}", code="USAGE", hint=f"use {', '.join(STATES)}"
        )

    async def read() -> tuple[Delivery, ...]:
        async with runs_at(store), incidents_at(store) as book:
            return await book.deliveries(tenant, wanted, LISTED)

    found = anyio.run(read)
    if as_json:
        say_json({"deliveries": [_shown(item) for item in found]})
    elif not found:
        say("no such delivery (docs/delivery.md says how results go out)")
    for item in () if as_json else found:
        tries = f"{item.attempts} attempts"
        told = (item.id, item.state, item.kind, item.destination, item.run_id, tries, item.code)
        say(one_line("  ".join(told).rstrip()))
    raise SystemExit(0)


def resend(delivery_id: str, store: str, tenant: str, *, as_json: bool) -> NoReturn:
    """Let it go out again, from its first attempt; whoever serves this store sends it."""

    async def ask() -> bool:
        async with runs_at(store), incidents_at(store) as book:
            return await book.resend(tenant, delivery_id, int(time.time() * 1e6))

    if not anyio.run(ask):
        raise InputRefused(
            f"there is no delivery {delivery_id!r}",
            code="DELIVERY_UNKNOWN",
            hint="`affidavit deliveries list` shows those of a tenant",
        )
    if as_json:
        say_json({"id": delivery_id, "state": "pending"})
    else:
        say(f"{one_line(delivery_id)} waits to be sent again")
    raise SystemExit(0)


def _shown(item: Delivery) -> dict[str, object]:
    return {
        "id": item.id,
        "state": item.state,
        "kind": item.kind,
        "destination": item.destination,
        "run_id": item.run_id,
        "attempts": item.attempts,
        "code": item.code or None,
    }
