"""Drives one run of the store, whatever it is: an incident's, or an answer at the gate.

What a run needs stands in its own first artifacts, so that any process can drive it: the one that
started it, or one that finds it after a crash.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from affidavit.application.gate import order_digest, reread
from affidavit.application.minds import ModelMind, as_begun
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused, LeaseLost, RecordFailed
from affidavit.contract.journal import Entry
from affidavit.contract.report import ReleaseRecord
from affidavit.diagnose import Paused, World, drive
from affidavit.models.roster import Roster
from affidavit.ports.store import Store
from affidavit.server.feeds import Feeds
from affidavit.server.logbook import LOGGER
from affidavit.server.meters import Meters
from affidavit.server.traces import trace_run
from affidavit.settings import Settings
from affidavit.wiring import (
    ChatPlace,
    ceilings_of,
    chat_world,
    gate_world,
    incident_world,
    kept_order,
    models_of,
)

OpenWorld = Callable[[AgentRequest], AbstractAsyncContextManager[World] | None]
"""The world of a run whose source is neither a folder nor the gate; None for one it does not know.
Its driver is to tell `Feeds.hear`."""


def think(world: World, request: AgentRequest, settings: Settings) -> World:
    """The world in which the configured models think, within the day's ceilings; as it is where
    none are configured. Raises InputRefused for a model that cannot be opened."""
    chosen = settings.models
    authors = () if world.supplied is not None else models_of(chosen.author, settings)
    judges = models_of(chosen.judge, settings)
    if not authors and not judges:
        return world
    ceilings = ceilings_of(world.driver.store, settings)
    return ModelMind(Roster(authors, judges), ceilings).named(world, request)


def think_again(world: World, request: AgentRequest, settings: Settings, first: Entry) -> World:
    """The world of a run that goes on, with the thinkers that its first line names.

    Raises InputRefused (MODEL_NEEDED) where the settings name others by now.
    """
    return as_begun((think(world, request, settings), world), request.run_id, first)


@dataclass(slots=True)
class RunDriver:
    """Gives each run its world, and drives it in there (`ports.engine.Drive`)."""

    store: Store
    feeds: Feeds
    meters: Meters
    settings: Settings
    further: OpenWorld = lambda _: None

    async def drive(self, run_id: str) -> ReleaseRecord | Paused:
        """To the run's end or a pause. Raises what `diagnose.drive` raises."""
        LOGGER.info("driving", extra={"run_id": run_id})
        try:
            async with self._world_of(run_id) as world:
                driven = await drive(run_id, world)
        except LeaseLost:
            raise
        except RecordFailed:
            self.feeds.lose(run_id)
            raise
        if isinstance(driven, ReleaseRecord):
            self.meters.ended.labels(str(driven.outcome)).inc()
            LOGGER.info("ended: %s", driven.outcome, extra={"run_id": run_id})
            with suppress(RecordFailed):  # the run has ended; only its spans are missing
                trace_run(await self.store.read(run_id))
        return driven

    @asynccontextmanager
    async def _world_of(self, run_id: str) -> AsyncIterator[World]:
        request, first = await self._begun(run_id)
        handed_in = order_digest(request.source)
        if handed_in is not None:
            content = await self.store.artifact(run_id, handed_in)
            if content is None:
                raise _expired(run_id)
            bare = gate_world(
                reread(content), self.store, listen=self.feeds.hear, settings=self.settings
            )
            yield think_again(bare, request, self.settings, first)
            return
        said = await kept_order(self.store, request)
        if said is not None:
            place = ChatPlace(said, request, self.settings, os.environ)
            async with chat_world(place, self.store, listen=self.feeds.hear) as world:
                yield think_again(world, request, self.settings, first)
            return
        other = self.further(request)
        if other is not None:
            async with other as world:
                yield think_again(world, request, self.settings, first)
            return
        if request.source is None:
            raise _expired(run_id)
        opened = incident_world(
            Path(request.source), self.store, listen=self.feeds.hear, settings=self.settings
        )
        async with opened as (world, _):
            yield think_again(world, request, self.settings, first)

    async def _begun(self, run_id: str) -> tuple[AgentRequest, Entry]:
        """The run's request and its first line, which names its agent and its judge."""
        lines = await self.store.read(run_id)
        address = str(lines[0].data["request_digest"]) if lines else ""
        content = await self.store.artifact(run_id, address)
        if content is None:
            raise _expired(run_id)
        return AgentRequest.model_validate_json(content), lines[0]


def _expired(run_id: str) -> InputRefused:
    return InputRefused(
        f"run {run_id} cannot go on: what it was asked is not there any more",
        code="RUN_EXPIRED",
        hint="start it anew",
    )
