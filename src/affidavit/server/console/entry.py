"""The browser's way in and out: by a key, or by the issuer of `[oidc]`."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Scope

from affidavit.server.console.rendering import render
from affidavit.server.gatekeeper import session_cookie
from affidavit.server.house import House, house_of
from affidavit.server.oidc import LOGIN_LIVES_S, Oidc, Return
from affidavit.server.oidc import SESSION_LIVES_S as KNOWN_LIVES_S
from affidavit.server.problems import Problem, not_found
from affidavit.server.sessions import COOKIE, SECURE_COOKIE, SESSION_LIVES_S

WAY_COOKIE: Final = "affidavit_login"
SECURE_WAY_COOKIE: Final = "__Host-affidavit_login"
"""What a browser carries while it is at the issuer. It comes back from another site, which a
cookie of SameSite=Strict would not survive: so this one is Lax, and opens nothing by itself."""


def _door(house: House, trouble: str = "") -> HTMLResponse:
    """The way in. Under `no-referrer` a browser sends a form with `Origin: null`, which is
    refused as another site's; this page alone says where it is, and only to us."""
    has_issuer = house.oidc is not None and house.oidc.table.has_login
    page = render("login.html", trouble=trouble, has_issuer=has_issuer)
    page.headers["referrer-policy"] = "same-origin"
    return page


def login_page(scope: Scope) -> Response | None:
    """What a browser without a session is shown: the way in, as a 401. None for a script."""
    headers = Headers(scope=scope)
    if scope["path"].startswith("/api/") or "text/html" not in headers.get("accept", ""):
        return None
    page = _door(scope["app"].state.house)
    page.status_code = 401
    return page


async def _login_form(request: Request) -> Response:
    return _door(house_of(request))


async def _login(request: Request) -> Response:
    """A key, shown once, for a cookie."""
    house = house_of(request)
    form = parse_qs((await request.body()).decode("ascii", "replace"), max_num_fields=4)
    token = form.get("key", [""])[0].strip()
    if house.ring.verify(token) is None:
        page = _door(house, "That key is not valid.")
        page.status_code = 401
        return page
    answer = RedirectResponse("/", status_code=303)
    cookie = house.door.sessions.begin(token.split("_")[1])
    _let_in(request, answer, cookie, SESSION_LIVES_S)
    return answer


def _let_in(request: Request, answer: Response, cookie: str, lives_s: float) -> None:
    """From now on that cookie stands for somebody."""
    is_secure = _is_secure(request)
    answer.set_cookie(
        SECURE_COOKIE if is_secure else COOKIE,
        cookie,
        max_age=int(lives_s),
        httponly=True,
        samesite="strict",
        secure=is_secure,
        path="/",
    )


def _is_secure(request: Request) -> bool:
    proxied = request.headers.get("x-forwarded-proto", "") == "https"
    return request.url.scheme == "https" or proxied


async def _logout(request: Request) -> Response:
    cookie = session_cookie(request.headers)
    if cookie is not None:
        house_of(request).door.sessions.end(cookie)
    answer = Response(status_code=204)
    for name in (COOKIE, SECURE_COOKIE):
        answer.delete_cookie(name, path="/", secure=name == SECURE_COOKIE, httponly=True)
    return answer


async def _to_issuer(request: Request) -> Response:
    """To the issuer, with what proves afterwards that this browser began it."""
    house = house_of(request)
    oidc = _issuer_of(house)
    try:
        way = await oidc.begin()
    except Problem as problem:
        return _turned_away(house, problem)
    answer = RedirectResponse(way.url, status_code=303)
    is_secure = _is_secure(request)
    answer.set_cookie(
        SECURE_WAY_COOKIE if is_secure else WAY_COOKIE,
        way.cookie,
        max_age=LOGIN_LIVES_S,
        httponly=True,
        samesite="lax",
        secure=is_secure,
        path="/",
    )
    return answer


async def _from_issuer(request: Request) -> Response:
    """Back from the issuer. The page leads on by itself: a redirect would still count as the other
    site's, and the new cookie would not be sent with it."""
    house = house_of(request)
    oidc, asked, cookies = _issuer_of(house), request.query_params, request.cookies
    back = Return(
        code=asked.get("code", ""),
        state=asked.get("state", ""),
        issuer=asked.get("iss", ""),
        cookie=cookies.get(SECURE_WAY_COOKIE) or cookies.get(WAY_COOKIE, ""),
    )
    try:
        who = await oidc.finish(back)
    except Problem as problem:
        answer: Response = _turned_away(house, problem)
    else:
        answer = render("entered.html", subject=who.subject)
        cookie = house.door.sessions.begin_for(who, KNOWN_LIVES_S)
        _let_in(request, answer, cookie, KNOWN_LIVES_S)
    for name in (WAY_COOKIE, SECURE_WAY_COOKIE):
        answer.delete_cookie(name, path="/", secure=name == SECURE_WAY_COOKIE, httponly=True)
    return answer


def _issuer_of(house: House) -> Oidc:
    if house.oidc is None or not house.oidc.table.has_login:
        raise not_found()
    return house.oidc


def _turned_away(house: House, problem: Problem) -> HTMLResponse:
    page = _door(house, f"{problem.message}. {problem.hint}.")
    page.status_code = problem.status
    return page


def attach_entry(app: FastAPI) -> None:
    """The ways in and out."""
    for path, method, endpoint in (
        ("/login", "GET", _login_form),
        ("/login", "POST", _login),
        ("/login/oidc", "GET", _to_issuer),
        ("/login/oidc/callback", "GET", _from_issuer),
        ("/logout", "POST", _logout),
    ):
        app.add_route(path, endpoint, methods=[method], include_in_schema=False)
