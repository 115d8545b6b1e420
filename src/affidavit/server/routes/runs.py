"""Runs: start, list, look, follow, take the file, cancel."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final

import anyio
from fastapi import APIRouter, Header, Path, Query, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from affidavit.affidavit.page import Standing
from affidavit.affidavit.timeline import write_timeline
from affidavit.application.answers import release_json, undecided_json
from affidavit.contract.errors import AffidavitError
from affidavit.contract.record import format_instant
from affidavit.core.fold import fold
from affidavit.diagnose import stored_release
from affidavit.ports.store import RunHead
from affidavit.server.event_stream import EVENT_STREAM, EventStream
from affidavit.server.house import House, house_of, principal_of
from affidavit.server.intake import Asked, StartRun, list_incidents, take_run
from affidavit.server.permits import Role
from affidavit.server.problems import Problem
from affidavit.server.routes import PROBLEMS
from affidavit.wiring import standing_of, true_retractions

PAGE_MAX: Final = 200
"""Runs of one page of the list."""

FILE_MEDIA_TYPE: Final = "application/vnd.affidavit+json"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

router = APIRouter(prefix="/api/v1", tags=["runs"], responses=PROBLEMS)

RunId = Annotated[str, Path(description="the id of a run of this tenant", max_length=64)]


class RunLine(BaseModel):
    """One run at a glance."""

    run_id: str
    created_at: str
    run_state: str
    outcome: str | None
    paused: bool
    question: str


class RunPage(BaseModel):
    """Some runs, newest first, and where the next page begins."""

    runs: list[RunLine]
    next_before: str | None


class Incidents(BaseModel):
    """The names that a run can be started on."""

    incidents: list[str]


class TimelineEntry(BaseModel):
    """One line of the journal, in words."""

    seq: int
    at: str
    elapsed_ms: int
    mark: str
    says: str


class Timeline(BaseModel):
    """Each gate that a run passed, and why."""

    run_id: str
    lines: list[TimelineEntry]


class Posted(BaseModel):
    """A word that waits for the run's driver."""

    run_id: str
    said: str


def run_line(head: RunHead) -> RunLine:
    """The run as the list has it."""
    created = _EPOCH + timedelta(microseconds=head.created_us)
    return RunLine(
        run_id=head.run_id,
        created_at=format_instant(created.replace(microsecond=0)),
        run_state=str(head.state),
        outcome=None if head.outcome is None else str(head.outcome),
        paused=head.paused,
        question=head.question,
    )


async def run_answer(house: House, head: RunHead) -> dict[str, Any]:
    """The answer of a run, or where it stands, as `affidavit runs show --json` has it."""
    release = await stored_release(house.store, head.run_id)
    if release is not None:
        answer = release_json(release, f"/api/v1/runs/{head.run_id}/affidavit")
        answer["standing"] = asdict(await standing_of_run(house, head))
    else:
        answer = undecided_json(head, fold(await house.store.read(head.run_id)))
    return {**answer, "created_at": run_line(head).created_at}


async def standing_of_run(house: House, head: RunHead) -> Standing:
    """Whether its answer was retracted or superseded since. Raises InputRefused
    (RETRACTION_UNREADABLE) where that cannot be known."""
    artifacts = await house.store.artifacts(head.run_id)
    file = next((item.content for item in artifacts if item.kind == "affidavit"), None)
    return Standing() if file is None else standing_of(true_retractions(artifacts, file))


@router.get("/incidents")
async def incidents(request: Request) -> Incidents:
    """The incident folders that a run can be started on."""
    house, who = house_of(request), principal_of(request)
    found = await anyio.to_thread.run_sync(list_incidents, house, who)
    return Incidents(incidents=list(found))


@router.post(
    "/runs",
    status_code=201,
    response_model=dict[str, Any],
    responses={200: {"description": "this Idempotency-Key started it before"}},
)
async def start_run(
    request: Request,
    body: StartRun,
    idempotency_key: Annotated[
        str | None,
        Header(description="the same key never starts a second run", min_length=1, max_length=200),
    ] = None,
) -> Response:
    """Start a run. It goes on whether anybody watches or not."""
    house, who = house_of(request), principal_of(request)
    asked = Asked(who, idempotency_key, await request.body())
    taken = await take_run(house, asked, body)
    answer = await run_answer(house, taken.head)
    where = f"/api/v1/runs/{taken.head.run_id}"
    status = 201 if taken.is_new else 200
    return JSONResponse(answer, status_code=status, headers={"location": where})


@router.get("/runs")
async def list_runs(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=PAGE_MAX)] = 50,
    before: Annotated[
        str | None, Query(description="the run after which the page begins", max_length=64)
    ] = None,
) -> RunPage:
    """This tenant's runs, newest first."""
    house, who = house_of(request), principal_of(request)
    if before is not None:
        await house.head_for(who, before)
    heads = await house.store.runs(who.tenant, limit + 1, before)
    page = heads[:limit]
    more = len(heads) > limit
    return RunPage(
        runs=[run_line(head) for head in page], next_before=page[-1].run_id if more else None
    )


@router.get("/runs/{run_id}")
async def show_run(request: Request, run_id: RunId) -> dict[str, Any]:
    """The answer of a run, or where it stands."""
    house = house_of(request)
    return await run_answer(house, await house.head_for(principal_of(request), run_id))


@router.get("/runs/{run_id}/timeline")
async def timeline(request: Request, run_id: RunId) -> Timeline:
    """Each gate that the run passed, and why."""
    house = house_of(request)
    head = await house.head_for(principal_of(request), run_id)
    lines = write_timeline(await house.store.read(head.run_id))
    return Timeline(run_id=head.run_id, lines=[TimelineEntry(**asdict(line)) for line in lines])


@router.get(
    "/runs/{run_id}/affidavit",
    response_class=Response,
    responses={200: {"description": "the file", "content": {FILE_MEDIA_TYPE: {}}}},
)
async def affidavit_file(request: Request, run_id: RunId) -> Response:
    """The run's affidavit: `affidavit verify` checks it offline."""
    house = house_of(request)
    head = await house.head_for(principal_of(request), run_id)
    for artifact in await house.store.artifacts(head.run_id):
        if artifact.kind == "affidavit":
            name = f'attachment; filename="{head.run_id}.affidavit"'
            return Response(
                artifact.content,
                media_type=FILE_MEDIA_TYPE,
                headers={"content-disposition": name},
            )
    raise Problem(
        409, "RUN_UNDECIDED", "the run has no answer yet", hint="follow its events to the end"
    )


@router.post("/runs/{run_id}/cancel", status_code=202)
async def cancel(request: Request, run_id: RunId) -> Posted:
    """Ask to cancel; the run's last event says whether it was in time."""
    house, who = house_of(request), principal_of(request)
    head = await house.head_for(who, run_id)
    await house.store.post(head.run_id, "cancel", who.subject)
    house.engine.wake()
    return Posted(run_id=head.run_id, said="cancel")


@router.get(
    "/runs/{run_id}/events",
    response_class=Response,
    responses={
        200: {"description": "Server-Sent Events", "content": {EVENT_STREAM: {}}},
        204: {"description": "nothing follows that event"},
    },
)
async def events(
    request: Request,
    run_id: RunId,
    last_event_id: Annotated[
        str | None, Header(description="go on after this event", max_length=32)
    ] = None,
    cancel_on_disconnect: Annotated[
        bool, Query(description="cancel the run when this stream is closed before its end")
    ] = False,
) -> Response:
    """The run as it happens: run, status, observation, result, done or error (docs/http.md)."""
    house, who = house_of(request), principal_of(request)
    head = await house.head_for(who, run_id)
    if cancel_on_disconnect and not who.holds(Role.OPERATOR):
        raise Problem(403, "ROLE_TOO_SMALL", "to cancel a run needs the role operator")
    if not house.is_ready:
        raise stopping()
    reader = await house.feeds.enter(head.run_id, who.tenant, last_event_id)
    if reader.feed.is_over and reader.place == len(reader.feed.events):
        house.feeds.leave(reader)
        return Response(status_code=204)

    async def left(is_complete: bool) -> None:
        house.feeds.leave(reader)
        if cancel_on_disconnect and not (is_complete or reader.feed.is_over):
            with suppress(AffidavitError):  # it has just ended, or cannot be told
                await house.store.post(head.run_id, "cancel", who.subject)
            house.engine.wake()

    return EventStream(house.feeds.follow(reader), left)


def stopping() -> Problem:
    """What a request meets while the service stops."""
    return Problem(
        503,
        "SERVICE_STOPPING",
        "the service stops, or has not started yet",
        hint="come again in a moment",
        headers={"retry-after": "2"},
    )
