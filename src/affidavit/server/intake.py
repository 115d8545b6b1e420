"""From a request to a run: which folder, whose, once.

A run that is asked for under an Idempotency-Key gets an id that follows from tenant and key, by a
secret of this installation: so the store's own rule that an id exists once is the whole mechanism,
across processes and restarts, and no other tenant's key can ever meet it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from affidavit.adapters.live_backends import no_backends
from affidavit.application.alerts import LIVE
from affidavit.application.chat import refuse_message
from affidavit.application.gate import GateOrder, gate_request
from affidavit.application.since import window_since
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.states import is_terminal
from affidavit.core.canonical import canonical_json, digest
from affidavit.diagnose import World, start
from affidavit.ports.store import LISTED_MAX, Artifact, RunHead
from affidavit.server.driving import think
from affidavit.server.house import House
from affidavit.server.permits import Principal
from affidavit.server.problems import Problem
from affidavit.wiring import (
    LiveOrder,
    gate_world,
    incident_world,
    live_world,
    new_run_id,
    request_of,
)

QUESTION_CHARS_MAX: Final = 2_000
"""A question fits a paragraph; what is longer is a report already."""

UNFINISHED_MAX: Final = 200
"""Runs of one tenant that wait or work: more only wait longer."""

INCIDENTS_MAX: Final = 500
"""Folders that are listed; a run can be started on any."""

INCIDENT_NAME: Final = r"^[0-9A-Za-z][0-9A-Za-z_.-]{0,127}$"
"""One folder's name: no path, no link of ours leads out of the root."""

SINCE: Final = r"^[0-9]{1,5}[smh]$"

IDEMPOTENCY_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")


class StartRun(BaseModel):
    """What a run is to do: a recorded incident, or what the live back ends show now."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    incident: str | None = Field(
        default=None,
        pattern=INCIDENT_NAME,
        description="the name of an incident folder under the configured root",
    )
    live: bool = Field(
        default=False, description="what goes on now, in the configured live back ends"
    )
    service: str | None = Field(
        default=None, min_length=1, max_length=200, description="which service is in trouble (live)"
    )
    since: str | None = Field(
        default=None, pattern=SINCE, description="since how long: 90s, 15m, 2h (live)"
    )
    question: str | None = Field(
        default=None,
        min_length=1,
        max_length=QUESTION_CHARS_MAX,
        description="asked instead of the incident's own question",
    )
    limits: Literal["simple", "standard", "research"] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as its run keeps it: who, under which key, and the exact words."""

    who: Principal
    key: str | None
    content: bytes

    @property
    def artifact(self) -> Artifact:
        """The words, so that the same key with other words can be told apart."""
        return Artifact(digest(self.content), "intake", self.content)


@dataclass(frozen=True, slots=True)
class Taken:
    """The run of a request, and whether it was made just now."""

    head: RunHead
    is_new: bool


def run_id_for(house: House, asked: Asked) -> str:
    """A run id that nobody can guess, and that the same tenant's same key leads to again."""
    if asked.key is None:
        return new_run_id()
    if IDEMPOTENCY_KEY.fullmatch(asked.key) is None:
        raise Problem(
            400,
            "IDEMPOTENCY_KEY_INVALID",
            "Idempotency-Key is 1 to 200 visible ASCII characters",
            hint="a UUID will do",
        )
    told = f"{asked.who.tenant}\0{asked.key}".encode()
    return f"run_{hmac.new(house.ring.pepper(), told, hashlib.sha256).hexdigest()[:32]}"


async def take_run(house: House, asked: Asked, body: StartRun) -> Taken:
    """Start the run that was asked for, unless its key started it before.

    Raises Problem or InputRefused; then nothing was started.
    """
    run_id = run_id_for(house, asked)
    earlier = await earlier_run(house, asked, run_id)
    if earlier is not None:
        return Taken(earlier, is_new=False)
    await refuse_flood(house, asked.who.tenant)
    settings = house.options.settings
    if body.live:
        request = _live_request(house, asked.who, run_id, body)
        order = LiveOrder(request, settings, os.environ, probe=False)
        async with live_world(order, house.store) as (bare, _):
            world = think(bare, request, settings)
            return await begin_run(house, asked, world, request, (asked.artifact,))
    folder = folder_of(house, asked.who, body)
    async with incident_world(folder, house.store, settings=settings) as (bare, incident):
        told = request_of(
            incident,
            folder,
            question=_question(body),
            profile=body.limits or house.options.limits,
            requested_by=asked.who.subject,
            settings=settings,
        )
        mine = {"run_id": run_id, "tenant": asked.who.tenant, "roles": sorted(asked.who.roles)}
        content = canonical_json({**told.model_dump(mode="json"), **mine})
        request = AgentRequest.model_validate_json(content)
        world = think(bare, request, settings)
        return await begin_run(house, asked, world, request, (asked.artifact,))


def _live_request(house: House, who: Principal, run_id: str, body: StartRun) -> AgentRequest:
    """The request of a run over the live back ends. Raises Problem or InputRefused."""
    if body.incident is not None:
        raise _either()
    if not house.options.settings.backends.names:
        raise no_backends()
    window = window_since(body.since or "", datetime.now(UTC))
    if body.service is not None:
        refuse_message(body.service.strip())
    default = f"What is wrong with {body.service or 'the system'} since "
    profile = body.limits or house.options.limits
    told = AgentRequest(
        run_id=run_id,
        tenant=who.tenant,
        question=_question(body) or f"{default}{window.start:%H:%M:%S} UTC?",
        limits=house.options.settings.agent.limits.of(profile),
        profile=profile,
        window=window,
        source=LIVE,
        symptom_service=body.service,
        requested_by=who.subject,
        roles=tuple(sorted(who.roles)),
    )
    return AgentRequest.model_validate_json(canonical_json(told.model_dump(mode="json")))


async def take_order(house: House, asked: Asked, order: GateOrder) -> Taken:
    """As `take_run`, for an answer at the gate."""
    run_id = run_id_for(house, asked)
    earlier = await earlier_run(house, asked, run_id)
    if earlier is not None:
        return Taken(earlier, is_new=False)
    await refuse_flood(house, asked.who.tenant)
    told = gate_request(order, run_id, asked.who.tenant)
    mine = {"requested_by": asked.who.subject, "roles": sorted(asked.who.roles)}
    content = canonical_json({**told.model_dump(mode="json"), **mine})
    request = AgentRequest.model_validate_json(content)
    settings = house.options.settings
    world = think(gate_world(order, house.store, settings=settings), request, settings)
    return await begin_run(house, asked, world, request, (order.artifact, asked.artifact))


async def begin_run(
    house: House,
    asked: Asked,
    world: World,
    request: AgentRequest,
    artifacts: tuple[Artifact, ...],
) -> Taken:
    """The run exists; of two requests at once with one key, the second finds the first's."""
    try:
        await start(world, request, artifacts)
    except InputRefused as refused:
        if refused.code != "RUN_EXISTS" or asked.key is None:
            raise
        earlier = await earlier_run(house, asked, request.run_id)
        if earlier is None:
            raise
        return Taken(earlier, is_new=False)
    house.meters.started.labels(request.profile).inc()
    house.engine.wake()
    head = await house.head_for(asked.who, request.run_id)
    return Taken(head, is_new=True)


async def earlier_run(house: House, asked: Asked, run_id: str) -> RunHead | None:
    """The run that this key started before. Raises Problem where it was for something else."""
    head = None if asked.key is None else await house.store.head(run_id)
    if head is None or asked.key is None:
        return None
    kept = [item for item in await house.store.artifacts(run_id) if item.kind == "intake"]
    if kept and kept[0].digest != asked.artifact.digest:
        raise Problem(
            422,
            "IDEMPOTENCY_KEY_REUSED",
            "this Idempotency-Key was used for another request",
            hint="a new request needs a new key",
        )
    return head


async def refuse_flood(house: House, tenant: str) -> None:
    """Raise Problem (429) for a tenant that has too many unfinished runs."""
    heads = await house.store.runs(tenant, LISTED_MAX)
    if sum(not is_terminal(head.state) for head in heads) >= UNFINISHED_MAX:
        raise Problem(
            429,
            "RUNS_TOO_MANY",
            f"{UNFINISHED_MAX} runs of yours are not finished",
            hint="wait for them, or cancel some",
            headers={"retry-after": "10"},
        )


def _question(body: StartRun) -> str:
    question = body.question or ""
    try:
        question.encode("utf-8")
    except UnicodeEncodeError:
        raise Problem(422, "QUESTION_REFUSED", "the question is no valid text") from None
    if body.question is not None and not question.strip():
        raise Problem(422, "QUESTION_REFUSED", "the question is blank")
    return question


def folder_of(house: House, who: Principal, body: StartRun) -> Path:
    """The incident's folder. Raises Problem."""
    if body.incident is None or body.service or body.since:
        raise _either()
    root = house.incidents_of(who.tenant)
    folder = None if root is None else root / body.incident
    if folder is None or not (folder / "incident.yaml").is_file():
        raise Problem(
            422,
            "SOURCE_UNKNOWN",
            "there is no incident of that name",
            hint="GET /api/v1/incidents lists them",
        )
    return folder


def _either() -> Problem:
    return Problem(
        422,
        "REQUEST_INVALID",
        "name an incident, or live with its service and since",
        hint='for example {"incident": "slow-storefront"}, or {"live": true, "service": "web"}',
    )


def list_incidents(house: House, who: Principal) -> tuple[str, ...]:
    """The names that this tenant may start a run on."""
    root = house.incidents_of(who.tenant)
    if root is None or not root.is_dir():
        return ()
    found = sorted(
        path.name
        for path in root.iterdir()
        if re.match(INCIDENT_NAME, path.name) and (path / "incident.yaml").is_file()
    )
    return tuple(found[:INCIDENTS_MAX])
