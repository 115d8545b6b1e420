"""The application: its routes, its door, and what lives as long as it does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from affidavit import __version__
from affidavit.server.console.entry import attach_entry, login_page
from affidavit.server.console.pages import attach_console
from affidavit.server.gatekeeper import Gatekeeper
from affidavit.server.house import House
from affidavit.server.logbook import LOGGER
from affidavit.server.permits import PERMITS, Access, check_table
from affidavit.server.problems import answer_problems
from affidavit.server.routes import (
    agent,
    approvals,
    chat,
    deliveries,
    drafts,
    gate,
    hooks,
    runs,
    system,
)

ROUTERS: Final = (
    runs.router,
    approvals.router,
    drafts.router,
    gate.router,
    chat.router,
    deliveries.router,
    hooks.router,
    agent.router,
    system.router,
)

STOP_S: Final = 45.0
"""What the end waits for runs to pause: an effect under way has half a minute, and its grace."""


def build_app(house: House) -> FastAPI:
    """The application around one service.

    Raises InternalFault for a route that nobody was permitted (`permits.PERMITS`).
    """
    app = FastAPI(
        title="Affidavit",
        version=__version__,
        summary="Diagnoses incidents, and publishes only what recorded tool results prove.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=_living,
    )
    app.state.house = house
    for router in ROUTERS:
        app.router.routes.extend(router.routes)
    app.add_api_route("/openapi.json", lambda: describe(app), include_in_schema=False)
    attach_entry(app)
    attach_console(app)
    check_table(app.router.routes)
    answer_problems(app)
    house.door.unknown = login_page
    app.add_middleware(Gatekeeper, door=house.door, note=house.meters.note_request)
    return app


@asynccontextmanager
async def _living(app: FastAPI) -> AsyncIterator[None]:
    """Runs are driven and streams are fed while this lasts; at the end runs are paused, and are
    due at once for whoever comes next."""
    house: House = app.state.house
    async with anyio.create_task_group() as tasks:
        ended = anyio.Event()

        async def drive_all() -> None:
            await house.engine.serve()
            ended.set()

        tasks.start_soon(drive_all)
        tasks.start_soon(house.feeds.serve)
        if house.hooks is not None:
            tasks.start_soon(house.hooks.serve)
        house.is_ready = True
        yield
        begin_stop(house)
        with anyio.move_on_after(STOP_S):
            await ended.wait()
        tasks.cancel_scope.cancel()
    if house.oidc is not None:
        await house.oidc.close()
    LOGGER.info("stopped; what was under way waits for the next start")


def begin_stop(house: House) -> None:
    """Take nothing new: streams end where they are, and runs pause."""
    house.is_ready = False
    house.feeds.stop()
    house.engine.stop()


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document; every operation says which role it takes."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, summary=app.summary, routes=app.router.routes
        )
        schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes["key"] = {"type": "http", "scheme": "bearer"}
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                needed = PERMITS[method.upper(), path]
                operation["security"] = [] if needed is Access.OPEN else [{"key": []}]
                operation["x-affidavit-role"] = str(needed)
        app.openapi_schema = document
    return app.openapi_schema
