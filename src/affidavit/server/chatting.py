"""From what somebody says to a run: which conversation, about what, once (I1, I6)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from affidavit.adapters.live_backends import no_backends
from affidavit.application.chat import (
    ARTIFACT,
    MESSAGE_CHARS_MAX,
    Asker,
    ChatOrder,
    Incident,
    Turn,
    incident_of,
    live_now,
    order_of,
    refuse_unfinished,
    request_of_turn,
    reread_order,
)
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.states import IntentType
from affidavit.core.canonical import canonical_json
from affidavit.core.fold import fold
from affidavit.server.driving import think
from affidavit.server.house import House
from affidavit.server.intake import (
    INCIDENT_NAME,
    SINCE,
    Asked,
    StartRun,
    Taken,
    begin_run,
    earlier_run,
    folder_of,
    refuse_flood,
    run_id_for,
)
from affidavit.server.permits import Principal
from affidavit.server.problems import Problem
from affidavit.wiring import ChatPlace, chat_world, incident_in

TURNS_SHOWN_MAX: Final = 50
"""Turns of one conversation that are listed; a longer one is several."""


class Say(BaseModel):
    """One thing that is said; alone, about an incident, or after an earlier run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: str = Field(
        min_length=1, max_length=MESSAGE_CHARS_MAX, description="a question, English or Chinese"
    )
    incident: str | None = Field(
        default=None,
        pattern=INCIDENT_NAME,
        description="the name of an incident folder under the configured root",
    )
    follows: str | None = Field(
        default=None,
        max_length=64,
        description="the id of the run before: a turn of this conversation, or any diagnosis",
    )
    live: bool = Field(default=False, description="about what goes on now, in the live back ends")
    service: str | None = Field(
        default=None, min_length=1, max_length=200, description="which service is in trouble (live)"
    )
    since: str | None = Field(
        default=None, pattern=SINCE, description="since how long: 90s, 15m, 2h (live)"
    )
    limits: Literal["simple", "standard", "research"] | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of a conversation, as it is listed."""

    run_id: str
    message: str
    intent: str | None


async def take_turn(house: House, asked: Asked, body: Say) -> Taken:
    """Start the run of a turn, unless its key started it before.

    Raises Problem or InputRefused; then nothing was started.
    """
    run_id = run_id_for(house, asked)
    earlier = await earlier_run(house, asked, run_id)
    if earlier is not None:
        return Taken(earlier, is_new=False)
    await refuse_flood(house, asked.who.tenant)
    settings = house.options.settings
    about = await _about(house, asked.who, body)
    has_router = settings.chat.router == "model" and bool(settings.models.author)
    order = order_of(
        Turn(body.message, settings.chat.allowed(), has_router, body.follows, about),
    )
    request = _request(house, asked.who, run_id, order, body.limits)
    place = ChatPlace(order, request, settings, os.environ, probe=False)
    async with chat_world(place, house.store) as bare:
        thinks = order.asks_model or (order.intent is IntentType.DIAGNOSIS and about is not None)
        world = think(bare, request, settings) if thinks else bare
        return await begin_run(house, asked, world, request, (order.artifact, asked.artifact))


def _request(
    house: House, who: Principal, run_id: str, order: ChatOrder, limits: str | None
) -> AgentRequest:
    profile = limits or house.options.limits
    asker = Asker(
        run_id=run_id,
        tenant=who.tenant,
        requested_by=who.subject,
        limits=house.options.settings.agent.limits.of(profile),
        profile=profile,
        roles=tuple(sorted(who.roles)),
    )
    told = request_of_turn(order, asker)
    return AgentRequest.model_validate_json(canonical_json(told.model_dump(mode="json")))


async def _about(house: House, who: Principal, body: Say) -> Incident | None:
    """The incident that is named, or that of the run before; None where there is none."""
    named = (body.incident is not None, body.follows is not None, body.live)
    if sum(named) > 1 or (not body.live and (body.service or body.since)):
        raise Problem(
            422,
            "REQUEST_INVALID",
            "name an incident, or the run before, or live with its service and since",
            hint="a new incident begins a new conversation",
        )
    if body.live:
        if not house.options.settings.backends.names:
            raise no_backends()
        return live_now(body.service or "", body.since or "", datetime.now(UTC))
    if body.incident is not None:
        return await incident_in(folder_of(house, who, StartRun(incident=body.incident)))
    if body.follows is None:
        return None
    refuse_unfinished(await house.head_for(who, body.follows))
    return await incident_before(house, body.follows)


async def incident_before(house: House, run_id: str) -> Incident | None:
    """What an earlier run of this tenant was about; None where it was about none.

    Raises InputRefused (RUN_EXPIRED) where nobody knows any more.
    """
    request, said = await _request_of(house, run_id), await said_in(house, run_id)
    return incident_of(request, said, await branch_of(house, run_id))


async def branch_of(house: House, run_id: str) -> IntentType | None:
    """The branch that a run took, as its journal says."""
    return fold(await house.store.read(run_id)).intent


async def _request_of(house: House, run_id: str) -> AgentRequest:
    lines = await house.store.read(run_id)
    content = await house.store.artifact(run_id, str(lines[0].data["request_digest"]))
    if content is None:
        raise InputRefused(
            f"what run {run_id} was about is not there any more",
            code="RUN_EXPIRED",
            hint="name the incident itself",
        )
    return AgentRequest.model_validate_json(content)


async def said_in(house: House, run_id: str) -> ChatOrder | None:
    """What was said in a run; None where it is no turn, or its payloads have expired."""
    kept = [item for item in await house.store.artifacts(run_id) if item.kind == ARTIFACT]
    return reread_order(kept[0].content) if kept else None


async def conversation_of(house: House, who: Principal, run_id: str) -> tuple[Said, ...]:
    """The turns up to this one, oldest first: as far back as they are kept."""
    turns: list[Said] = []
    following: str | None = run_id
    while following is not None and len(turns) < TURNS_SHOWN_MAX:
        head = await house.head_for(who, following)
        order = await said_in(house, following)
        intent = await branch_of(house, following)
        turns.append(Said(following, head.question, None if intent is None else str(intent)))
        following = None if order is None else order.follows
    return tuple(reversed(turns))
