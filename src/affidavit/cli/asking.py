"""`ask`: one chat turn on the command line; alone, about an incident, or after an earlier run."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NoReturn

import anyio

from affidavit.adapters.memory_store import MemoryStore
from affidavit.application.alerts import LIVE
from affidavit.application.chat import (
    ARTIFACT,
    Asker,
    ChatOrder,
    Incident,
    Turn,
    incident_of,
    live_now,
    order_of,
    refuse_message,
    refuse_unfinished,
    request_of_turn,
    reread_order,
)
from affidavit.cli import diagnosing
from affidavit.cli.opening import head_of, login, request_of_run, runs_at, settings_in_force
from affidavit.cli.outlet import check_out
from affidavit.cli.screen import tell
from affidavit.cli.thinking import Thinkers, think_with, under_ceilings
from affidavit.contract.errors import InputRefused
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.contract.limits import PROFILES
from affidavit.contract.states import IntentType
from affidavit.core.fold import fold
from affidavit.diagnose import start
from affidavit.ports.store import Store
from affidavit.settings import Settings
from affidavit.wiring import ChatPlace, chat_world, incident_in, new_run_id


@dataclass(frozen=True, slots=True)
class Question:
    """What one `ask` is told; empty texts mean none, or the settings' own."""

    message: str
    incident: Path | None = None
    follows: str = ""
    limits: str = ""
    store: str = ""
    out: Path | None = None
    as_json: bool = False
    thinkers: Thinkers = field(default_factory=Thinkers)
    service: str = ""
    since: str = ""


def ask(question: Question) -> NoReturn:
    """Answer one turn, and exit with what its user got."""
    check_out(question.out)
    refuse_message(question.message.strip())
    if question.incident is not None and question.follows:
        raise InputRefused(
            "--incident and --follows name two incidents",
            code="USAGE",
            hint="a new incident begins a new conversation",
        )
    raise SystemExit(anyio.run(partial(_ask, question)))


async def _ask(question: Question) -> int:
    """What was said first, then the store: what is refused leaves nothing behind."""
    settings = settings_in_force()
    thinkers = question.thinkers.or_configured(settings)
    about = await _named(question)
    async with AsyncExitStack() as stack:
        before: Store | None = None
        if question.follows:
            before = await stack.enter_async_context(runs_at(question.store))
            about = await _before(before, question.follows)
        order = _order(question, thinkers, settings, about)
        request = request_of_turn(order, _asker(question.limits or settings.limits, settings))
        place = ChatPlace(order, request, settings, os.environ, earlier=before)
        opened = chat_world(place, MemoryStore(), listen=diagnosing.Watcher())
        bare = await stack.enter_async_context(opened)
        thinks = order.asks_model or (order.intent is IntentType.DIAGNOSIS and about is not None)
        thinking = think_with(thinkers, bare, request, settings) if thinks else bare
        async with runs_at(question.store, may_make=True) as store:
            world = replace(thinking, driver=replace(bare.driver, store=store))
            world = under_ceilings(world, store, settings)
            await start(world, request, (order.artifact,))
            tell(f"run {request.run_id}: {request.question}")
            asked = diagnosing.Order(
                Path(), store=question.store, out=question.out, as_json=question.as_json
            )
            return await diagnosing.conduct(world, store, request.run_id, asked)


async def _named(question: Question) -> Incident | None:
    """The incident that is named: a folder, or `live`. Raises InputRefused."""
    is_live = question.incident is not None and str(question.incident) == LIVE
    if is_live:
        return live_now(question.service, question.since, datetime.now(UTC))
    if question.service or question.since:
        raise InputRefused(
            "--service and --since belong to --incident live",
            code="USAGE",
            hint="an incident folder has its own window and service",
        )
    return None if question.incident is None else await incident_in(question.incident)


def _order(
    question: Question, thinkers: Thinkers, settings: Settings, about: Incident | None
) -> ChatOrder:
    has_router = settings.chat.router == "model" and bool(thinkers.models)
    return order_of(
        Turn(
            question.message,
            settings.chat.allowed(),
            has_router,
            question.follows or None,
            about,
        )
    )


def _asker(profile: str, settings: Settings) -> Asker:
    if profile not in PROFILES:
        raise InputRefused(
            f"there is no profile of limits {profile!r}",
            code="LIMITS_UNKNOWN",
            hint=f"use one of {', '.join(PROFILES)}",
        )
    limits = settings.agent.limits.of(profile)
    return Asker(new_run_id(), LOCAL_TENANT, login(), limits, profile)


async def _before(store: Store, run_id: str) -> Incident | None:
    """What the run before was about; None where it was about no incident.

    Raises InputRefused (RUN_UNKNOWN, RUN_UNDECIDED, RUN_EXPIRED).
    """
    refuse_unfinished(await head_of(store, run_id))
    kept = [item for item in await store.artifacts(run_id) if item.kind == ARTIFACT]
    said = reread_order(kept[0].content) if kept else None
    intent = fold(await store.read(run_id)).intent
    return incident_of(await request_of_run(store, run_id), said, intent)
