"""The console's pages and the browser's way in and out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

import anyio
from fastapi import FastAPI, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from affidavit.affidavit.page import Standing, policy, render_page
from affidavit.drills.faults import FAULTS
from affidavit.server.gatekeeper import session_cookie
from affidavit.server.house import house_of, principal_of
from affidavit.server.problems import Problem
from affidavit.server.routes.runs import affidavit_file, standing_of_run
from affidavit.server.sessions import COOKIE, SECURE_COOKIE, SESSION_LIVES_S
from affidavit.wiring import recheck_file

ROOM: Final = Path(__file__).parent

_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(ROOM / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(name: str, **values: object) -> HTMLResponse:
    """A page. Every value is escaped."""
    return HTMLResponse(_TEMPLATES.get_template(name).render(**values))


def _door(*, wrong: bool) -> HTMLResponse:
    """The way in. Under `no-referrer` a browser sends a form with `Origin: null`, which is
    refused as another site's; this page alone says where it is, and only to us."""
    page = render("login.html", wrong=wrong)
    page.headers["referrer-policy"] = "same-origin"
    return page


def login_page(scope: Scope) -> Response | None:
    """What a browser without a session is shown: the way in, as a 401. None for a script."""
    headers = Headers(scope=scope)
    if scope["path"].startswith("/api/") or "text/html" not in headers.get("accept", ""):
        return None
    page = _door(wrong=False)
    page.status_code = 401
    return page


async def _login_form(_: Request) -> Response:
    return _door(wrong=False)


async def _login(request: Request) -> Response:
    """A key, shown once, for a cookie."""
    house = house_of(request)
    form = parse_qs((await request.body()).decode("ascii", "replace"), max_num_fields=4)
    token = form.get("key", [""])[0].strip()
    if house.ring.verify(token) is None:
        page = _door(wrong=True)
        page.status_code = 401
        return page
    proxied = request.headers.get("x-forwarded-proto", "") == "https"
    is_secure = request.url.scheme == "https" or proxied
    answer = RedirectResponse("/", status_code=303)
    answer.set_cookie(
        SECURE_COOKIE if is_secure else COOKIE,
        house.door.sessions.begin(token.split("_")[1]),
        max_age=int(SESSION_LIVES_S),
        httponly=True,
        samesite="strict",
        secure=is_secure,
        path="/",
    )
    return answer


async def _logout(request: Request) -> Response:
    cookie = session_cookie(request.headers)
    if cookie is not None:
        house_of(request).door.sessions.end(cookie)
    answer = Response(status_code=204)
    for name in (COOKIE, SECURE_COOKIE):
        answer.delete_cookie(name, path="/", secure=name == SECURE_COOKIE, httponly=True)
    return answer


Endpoint = Callable[[Request], Awaitable[Response]]


def _page(name: str, title: str) -> Endpoint:
    async def page(request: Request) -> Response:
        session = getattr(request.state, "session", None)
        who = request.state.principal
        return render(
            name,
            page=name.removesuffix(".html"),
            title=title,
            subject=who.subject,
            tenant=who.tenant,
            roles=sorted(map(str, who.roles)),
            csrf="" if session is None else session.csrf,
            run_id=request.path_params.get("run_id", ""),
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
    """The pages, the way in and out, and what they are made of."""
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
    app.add_route("/login", _login_form, methods=["GET"], include_in_schema=False)
    app.add_route("/login", _login, methods=["POST"], include_in_schema=False)
    app.add_route("/logout", _logout, methods=["POST"], include_in_schema=False)
    app.mount("/static", StaticFiles(directory=ROOM / "static"))
