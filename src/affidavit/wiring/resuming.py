"""The world of a run that somebody else began."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from affidavit.application.alerts import LIVE
from affidavit.contract.errors import InputRefused
from affidavit.diagnose import World
from affidavit.ports.store import Store
from affidavit.wiring.chats import ChatPlace, chat_world, kept_order
from affidavit.wiring.masking import mask_of_run, mask_world
from affidavit.wiring.worlds import Listen, LiveOrder, incident_world, live_world


@asynccontextmanager
async def world_again(
    order: LiveOrder, store: Store, *, listen: Listen | None = None
) -> AsyncIterator[World]:
    """The world of a run that is there already: over its back ends, its folder, or its chat turn.

    Raises InputRefused, RUN_EXPIRED where nobody knows any more where its incident lies.
    """
    source = order.request.source
    if source == LIVE:
        async with live_world(order, store, listen=listen) as (world, _):
            yield world
        return
    said = await kept_order(store, order.request)
    if said is not None:
        place = ChatPlace(said, order.request, order.settings, order.environment)
        async with chat_world(place, store, listen=listen) as world:
            yield world
        return
    if source is None:
        raise InputRefused(
            f"run {order.request.run_id} cannot go on: where its incident lies is not known",
            code="RUN_EXPIRED",
            hint="diagnose the incident anew",
        )
    mask = await mask_of_run(store, order.request.run_id)
    folder = Path(source if mask is None else mask.unmask(source))
    opened = incident_world(folder, store, listen=listen, settings=order.settings)
    async with opened as (world, _):
        yield world if mask is None else mask_world(world, mask)
