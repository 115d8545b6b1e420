"""The world of a chat turn: whichever branch it takes, and whoever drives it (I1 to I3, I6)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from anyio import to_thread

from affidavit.adapters.embedders import load_embedder
from affidavit.adapters.incident_folder import load_incident
from affidavit.adapters.knowledge_index import KnowledgeFiles, SqliteKnowledge
from affidavit.agents.followup import FollowUp
from affidavit.agents.librarian import Librarian
from affidavit.application.alerts import LIVE
from affidavit.application.chat import (
    AskingBack,
    ChatOrder,
    Incident,
    Nobody,
    SystemChat,
    chat_digest,
    end_unrouted,
    reread_order,
)
from affidavit.application.turns import ModelTurn
from affidavit.contract.agent import AgentRequest, Investigator
from affidavit.contract.errors import InputRefused
from affidavit.contract.record import Record
from affidavit.contract.states import IntentType
from affidavit.core.fold import fold
from affidavit.diagnose import World
from affidavit.ports.store import Store
from affidavit.settings import Settings
from affidavit.tools.catalogue import Catalogue, Tool
from affidavit.tools.earlier import EarlierRecord, earlier_records, earlier_tools
from affidavit.tools.knowledge_search import knowledge_search_tool
from affidavit.wiring.sealing import sealing_of
from affidavit.wiring.worlds import (
    Listen,
    LiveOrder,
    guards_of,
    incident_world,
    live_world,
    world_over,
)


@dataclass(frozen=True, slots=True)
class ChatPlace:
    """What a turn's world is opened for. `probe` as in `LiveOrder`; `earlier` is the store of the
    run before, where that is not the world's own."""

    order: ChatOrder
    request: AgentRequest
    settings: Settings
    environment: Mapping[str, str]
    probe: bool = True
    earlier: Store | None = None


@asynccontextmanager
async def chat_world(
    place: ChatPlace, store: Store, *, listen: Listen | None = None
) -> AsyncIterator[World]:
    """The world of a turn; whatever it opened is closed when this ends.

    Raises InputRefused as the worlds of its branches do; then nothing was started.
    """
    async with AsyncExitStack() as stack:
        branches = _Branches(place, store, listen, stack)
        order = place.order
        if order.asks_model:
            bare = branches.over((), Nobody())
            yield replace(bare, turn=ModelTurn(order, branches.open))
        elif order.intent is None:
            unrouted = replace(branches.over((), Nobody()), branch=end_unrouted)
            yield replace(unrouted, routing=order.routing)
        else:
            yield replace(await branches.open(order.intent), routing=order.routing)


@dataclass(frozen=True, slots=True)
class _Branches:
    """Opens the world of one branch; what it needs stays open as long as the stack."""

    place: ChatPlace
    store: Store
    listen: Listen | None
    stack: AsyncExitStack

    async def open(self, intent: IntentType) -> World:
        """The world of that branch."""
        match intent:
            case IntentType.SYSTEM_CHAT:
                return replace(self.over((), Nobody()), branch=SystemChat(self.place.order))
            case IntentType.KNOWLEDGE:
                index = knowledge_of(self.place.settings, self.place.environment)
                tool = knowledge_search_tool(index.of(self.place.request.tenant))
                world = self.over((tool,), Librarian())
                return replace(world, collection=replace(world.collection, intent=intent))
            case IntentType.DIAGNOSIS:
                about = self.place.order.about
                return self.over((), AskingBack()) if about is None else await self._of(about)

    async def _of(self, about: Incident) -> World:
        """The world over the incident's own data, and over what was recorded about it."""
        world = await self._over_incident(about)
        if about.run_id is None:
            return world
        records = await self._earlier(about.run_id)
        collection = world.collection
        own = collection.catalogue
        catalogue = Catalogue.of((*own.tools.values(), *earlier_tools(records)), own.unavailable)
        guards = guards_of(self.place.settings, catalogue.specs())
        agent: Investigator = FollowUp(records) if records else collection.investigator
        return replace(
            world,
            collection=replace(collection, catalogue=catalogue, guards=guards, investigator=agent),
        )

    async def _earlier(self, run_id: str) -> tuple[EarlierRecord, ...]:
        """The records of the earlier run of this tenant; of any other there are none (N13)."""
        # A world is opened over the store that its run lives in, but for a command's first look.
        store = self.place.earlier or self.store
        head, tenant = await store.head(run_id), self.place.request.tenant
        if head is None or head.tenant != tenant:
            return ()
        contents = {item.digest: item.content for item in await store.artifacts(run_id)}
        return earlier_records(run_id, tenant, fold(await store.read(run_id)), contents)

    async def _over_incident(self, about: Incident) -> World:
        settings = self.place.settings
        if about.source == LIVE:
            asked = LiveOrder(
                self.place.request, settings, self.place.environment, probe=self.place.probe
            )
            opened = live_world(asked, self.store, listen=self.listen)
            world, _ = await self.stack.enter_async_context(opened)
            return world
        folder = incident_world(
            Path(about.source), self.store, listen=self.listen, settings=settings
        )
        world, _ = await self.stack.enter_async_context(folder)
        return world

    def over(self, tools: tuple[Tool[Record], ...], agent: Investigator) -> World:
        """A world over these tools alone."""
        settings = self.place.settings
        sealing = sealing_of(settings)
        return world_over(Catalogue.of(tools), self.store, self.listen, agent, settings, sealing)


def knowledge_of(settings: Settings, environment: Mapping[str, str]) -> KnowledgeFiles:
    """The indexed pages of every tenant. Raises InputRefused for an embedder that is not there."""
    chosen = settings.knowledge
    return KnowledgeFiles(chosen.index_folder(environment), load_embedder(chosen.embedder))


def tenant_knowledge(
    settings: Settings, environment: Mapping[str, str], tenant: str
) -> SqliteKnowledge:
    """The indexed pages of one tenant."""
    return knowledge_of(settings, environment).of(tenant)


async def incident_in(folder: Path) -> Incident:
    """What an incident folder says of itself. Raises InputRefused for one that cannot be used."""
    return await to_thread.run_sync(_incident_in, folder)


def _incident_in(folder: Path) -> Incident:
    loaded = load_incident(folder)
    try:
        told = loaded.incident
        return Incident(
            source=str(folder.resolve()),
            incident=told.id,
            window=told.window,
            symptom_service=told.symptom.service,
            symptom_signal=told.symptom.signal,
        )
    finally:
        loaded.close()


async def kept_order(store: Store, request: AgentRequest) -> ChatOrder | None:
    """The order of a turn's run; None where the run is no turn, or names its incident itself.

    Raises InputRefused (RUN_EXPIRED) where the order is gone.
    """
    address = chat_digest(request.source)
    if address is None:
        return None
    content = await store.artifact(request.run_id, address)
    if content is None:
        raise InputRefused(
            f"run {request.run_id} cannot go on: what was said in it is not there any more",
            code="RUN_EXPIRED",
            hint="say it again",
        )
    return reread_order(content)
