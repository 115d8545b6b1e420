"""How the service is: for orchestrators, for Prometheus, for people."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from affidavit import __version__
from affidavit.contract.errors import AffidavitError
from affidavit.server.house import House, house_of, now_us, principal_of
from affidavit.server.routes import PROBLEMS

METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

router = APIRouter(tags=["system"], responses=PROBLEMS)


class Me(BaseModel):
    """Who asks, as the service knows them."""

    subject: str
    tenant: str
    roles: list[str]


class BackEnd(BaseModel):
    """One thing that runs depend on."""

    name: str
    status: str
    says: str = ""


class Health(BaseModel):
    """What is connected, and how much is under way here."""

    version: str
    under_way: int
    due: int
    streams: int
    dead_letters: int
    back_ends: list[BackEnd]


@router.get("/healthz", include_in_schema=False)
async def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz", include_in_schema=False)
async def readyz(request: Request) -> Response:
    """The store can be read, and runs are driven."""
    house = house_of(request)
    is_ready = house.is_ready
    try:
        await house.store.due(now_us())
    except AffidavitError:
        is_ready = False
    word = "ready" if is_ready else "not ready"
    return JSONResponse({"status": word}, status_code=200 if is_ready else 503)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"description": "Prometheus' text format", "content": {"text/plain": {}}}},
)
async def metrics(request: Request) -> Response:
    """Counters of the whole service; none names a tenant or a run."""
    return Response(house_of(request).meters.text(), media_type=METRICS_MEDIA_TYPE)


@router.get("/api/v1/me")
async def me(request: Request) -> Me:
    """Who asks."""
    who = principal_of(request)
    return Me(subject=who.subject, tenant=who.tenant, roles=sorted(map(str, who.roles)))


@router.get("/api/v1/health")
async def health(request: Request) -> Health:
    """What is connected, and how much is under way."""
    house = house_of(request)
    try:
        due = len(await house.store.due(now_us()))
        store = BackEnd(name="store", status="ok")
    except AffidavitError as error:
        due, store = 0, BackEnd(name="store", status="down", says=error.code)
    who = principal_of(request)
    root = house.incidents_of(who.tenant)
    found = root is not None and root.is_dir()
    folders = BackEnd(
        name="incident folders",
        status="ok" if found else "not configured",
        says="" if found else "affidavit serve --incidents FOLDER",
    )
    live, dead = await _live(house, who.tenant)
    return Health(
        version=__version__,
        under_way=len(house.engine.under_way),
        due=due,
        streams=house.feeds.streams,
        dead_letters=dead,
        back_ends=[store, folders, *live],
    )


async def _live(house: House, tenant: str) -> tuple[list[BackEnd], int]:
    """The live back ends of a tenant, and how many messages about its runs nobody took."""
    if house.hooks is None:
        return [], 0
    ends = [
        BackEnd(
            name=found.name,
            status="ok" if found.ok else "down",
            says=found.message if found.ok else found.code,
        )
        for found in await house.hooks.watch.look(tenant)
    ]
    try:
        counts = await house.hooks.plan.book.counts(tenant)
    except AffidavitError as error:
        return [*ends, BackEnd(name="outbox", status="down", says=error.code)], 0
    return ends, counts["dead"]
