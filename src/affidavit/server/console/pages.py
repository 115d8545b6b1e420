"""The console's pages; the browser's way in and out is in `entry`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from affidavit.affidavit.page import Standing, policy, render_page
from affidavit.drills.faults import FAULTS
from affidavit.server.console.rendering import ROOM, render
from affidavit.server.house import house_of, principal_of
from affidavit.server.problems import Problem
from affidavit.server.routes.runs import affidavit_file, standing_of_run
from affidavit.wiring import recheck_file

Endpoint = Callable[[Request], Awaitable[Response]]


def _page(name: str, title: str) -> Endpoint:
    async def page(request: Request) -> Response:
        session = getattr(request.state, "session", None)
        who, run_id = request.state.principal, request.path_params.get("run_id", "")
        if run_id:  # a page about a run that is not there is not there, either
            await house_of(request).head_for(who, run_id)
        return render(
            name,
            page=name.removesuffix(".html"),
            title=title,
            subject=who.subject,
            tenant=who.tenant,
            roles=sorted(map(str, who.roles)),
            csrf="" if session is None else session.csrf,
            run_id=run_id,
            drills=house_of(request).options.drills,
            faults=tuple(FAULTS),
        )

    return page


def _report_of(content: bytes, standing: Standing) -> str:
    """The page of a file, with what became of the answer since.

    Raises Problem (409): what was altered would be believed.
    """
    checked = recheck_file(content)
    if checked.document is None or not checked.verdict.is_intact:
        raise Problem(
            409,
            "AFFIDAVIT_ALTERED",
            "the file of this run is not intact, and is not shown",
            hint="download it and ask affidavit verify what is wrong",
        )
    return render_page(content, checked, standing)


async def _report(request: Request) -> Response:
    """A run's report: each sentence opens its evidence. It is sandboxed, so that nothing in it
    could use the session even if text became markup."""
    house, run_id = house_of(request), request.path_params["run_id"]
    file = await affidavit_file(request, run_id)
    standing = await standing_of_run(house, await house.head_for(principal_of(request), run_id))
    html = await anyio.to_thread.run_sync(_report_of, bytes(file.body), standing)
    sealed = f"{policy()}; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
    return HTMLResponse(html, headers={"content-security-policy": sealed})


def attach_console(app: FastAPI) -> None:
    """The pages, and what they are made of."""
    pages = (
        ("/", "runs.html", "Runs"),
        ("/runs/{run_id}", "run.html", "Run"),
        ("/approvals", "approvals.html", "Approvals"),
        ("/drills", "drills.html", "Drills"),
        ("/health", "health.html", "Health"),
    )
    for path, name, title in pages:
        app.add_route(path, _page(name, title), methods=["GET"], include_in_schema=False)
    report = "/runs/{run_id}/report"
    app.add_route(report, _report, methods=["GET"], include_in_schema=False)
    app.mount("/static", StaticFiles(directory=ROOM / "static"))
