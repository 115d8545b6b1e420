"""The first thing that a request meets: is it for us, from whom, may they, and how large is it?

In this order, each refusal before anything that costs more: the head's size and form (431, 400),
the Host (a foreign name that resolves to this machine is no way in), who asks (401), whether that
route is for them (403; what is no route looks the same to everybody who has no key), whether
another site sent it (Origin, CSRF token), how many are under way (429), how large the body is
(413; `bodies`). Only then does the application see it. What breaks there although nobody foresaw
it is answered here, too: a problem document, and a line of the log that has the request's id.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
import re
import secrets
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from affidavit.contract.errors import AffidavitError
from affidavit.server.bodies import Held, read_body, replay
from affidavit.server.connections import HEAD_BYTES_MAX, head_too_large
from affidavit.server.keyring import Keyring
from affidavit.server.logbook import LOGGER, place_of
from affidavit.server.permits import Access, Principal, Role, permit_of
from affidavit.server.problems import (
    Problem,
    fault_of_ours,
    not_found,
    problem_of,
    problem_response,
)
from affidavit.server.sessions import (
    COOKIE,
    CSRF_HEADER,
    SECURE_COOKIE,
    Session,
    Sessions,
    is_csrf_right,
)
from affidavit.server.tls import CERTIFICATE, Certificate

UNDER_WAY_MAX: Final = 256
UNDER_WAY_OF_TENANT_MAX: Final = 128
"""Requests at once, streams not counted: each is short, and more only wait for each other."""

TARGET_BYTES_MAX: Final = 8_192
"""Of a path and its query: as RFC 9110 asks for at least."""

ONCE: Final = frozenset(
    {
        "authorization",
        "content-type",
        "idempotency-key",
        "last-event-id",
        "origin",
        "x-csrf-token",
        "x-pagerduty-signature",
    }
)
"""Headers that say one thing: of two, a proxy and we might believe different ones."""

BASIC_PATHS: Final = "/hooks/"
"""Where a key may come as a password (RFC 7617) or as a client's certificate: Alertmanager knows
both. Nowhere else, because a browser would send them with another site's requests."""

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})

_HOST: Final = re.compile(r"(?P<name>\[[^\[\]]*\]|[^:\[\]]*)(?::[0-9]{0,5})?")
"""A Host header (RFC 9110): a name or a bracketed address, and a port; nothing after it."""

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})

CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'; frame-src 'self'"
)
"""Nothing inline and nothing from elsewhere: text that got through as markup does nothing."""

SECURITY_HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}

Unknown = Callable[[Scope], Response | None]
"""What a browser without a session is shown instead of a 401 document; None for a script."""

Note = Callable[[str, str, int, float, str | None], None]
"""Told of each request: method, route, status, seconds, tenant."""


@dataclass(slots=True)
class Door:
    """Who and what is let in."""

    ring: Keyring
    sessions: Sessions
    hosts: frozenset[str]
    drills: bool = False
    bearer: Callable[[str], Awaitable[Principal | None]] | None = None
    unknown: Unknown = lambda _: None
    under_way: Counter[str] = field(default_factory=Counter)
    held: Held = field(default_factory=Held)

    @contextmanager
    def place_for(self, tenant: str) -> Iterator[None]:
        """A place among the requests under way. Raises Problem (429) where there is none."""
        places = self.under_way
        if places[tenant] >= UNDER_WAY_OF_TENANT_MAX or places.total() >= UNDER_WAY_MAX:
            raise Problem(
                429,
                "REQUESTS_TOO_MANY",
                "too many requests are under way",
                hint="come again in a moment",
                headers={"retry-after": "1"},
            )
        places[tenant] += 1
        try:
            yield
        finally:
            places[tenant] -= 1

    async def identify(self, scope: Scope, headers: Headers) -> tuple[Principal | None, bool]:
        """Who asks, and whether a cookie says so. Raises Problem (401) for a credential that is
        wrong: it is not ignored."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme:
            who = None
            if scheme.lower() == "basic" and scope["path"].startswith(BASIC_PATHS):
                who = self._by_password(token.strip())
            elif scheme.lower() == "bearer":
                who = self.ring.verify(token.strip())
                if who is None and self.bearer is not None:
                    who = await self.bearer(token.strip())
            if who is None:
                raise _unauthorized("the key is not valid")
            return who, False
        who = self._by_certificate(scope)
        if who is not None:
            return who, False
        cookie = session_cookie(headers)
        session = None if cookie is None else self.sessions.find(cookie)
        if session is None:
            return None, False
        if session.who is not None:
            scope["state"]["session"] = session
            return session.who, True
        entry = self.ring.entry(session.key_id)
        if entry is None or entry.disabled:
            return None, False
        scope["state"]["session"] = session
        return Principal(entry.name, entry.tenant, frozenset(entry.roles)), True

    def _by_certificate(self, scope: Scope) -> Principal | None:
        """Whose the client's certificate is, which the handshake verified (mTLS)."""
        shown: Certificate | None = scope["state"].get(CERTIFICATE)
        if shown is None or shown.is_over or not scope["path"].startswith(BASIC_PATHS):
            return None
        return self.ring.holder(shown.names)

    def _by_password(self, pair: str) -> Principal | None:
        """The key of a basic authentication: its owner's name, and the key as the password."""
        try:
            name, _, token = base64.b64decode(pair, validate=True).decode("ascii").partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        who = self.ring.verify(token)
        told = "" if who is None else who.subject
        return who if hmac.compare_digest(told.encode(), name.encode()) else None


def session_cookie(headers: Headers) -> str | None:
    """The session cookie of a request, under either of its names."""
    try:
        jar = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return None
    found = jar.get(SECURE_COOKIE) or jar.get(COOKIE)
    return None if found is None else found.value


class Gatekeeper:
    """Middleware around the whole application (ASGI)."""

    def __init__(self, app: ASGIApp, door: Door, note: Note) -> None:
        self.app = app
        self.door = door
        self.note = note

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request in, or answer it here."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {})
        request_id = scope["state"]["request_id"] = secrets.token_hex(8)
        began_s, sent = time.monotonic(), [0]

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent[0] = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = request_id
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if scope["scheme"] == "https":
                    headers.setdefault("strict-transport-security", "max-age=31536000")
            await send(message)

        try:
            await self._let_in(scope, receive, guarded)
        except Exception as error:
            told = {"request_id": request_id, "code": "INTERNAL_FAILURE"}
            LOGGER.error("%s at %s", type(error).__name__, place_of(error), extra=told)
            if sent[0]:  # a part of the answer is out: the connection ends within it
                raise
            await problem_response(fault_of_ours(), scope["path"])(scope, receive, guarded)
        finally:
            who: Principal | None = scope["state"].get("principal")
            route = getattr(scope.get("route"), "path", "-")
            elapsed_s = time.monotonic() - began_s
            tenant = None if who is None else who.tenant
            self.note(scope["method"], route, sent[0] or 500, elapsed_s, tenant)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        with ExitStack() as held:
            try:
                check_head(scope, headers)
                check_host(headers, self.door.hosts)
                needed = permit_of(scope["method"], path)
                tenant = await self._permit(scope, headers, needed)
                place = held.enter_context(ExitStack())
                place.enter_context(self.door.place_for(tenant))
                room = held.enter_context(self.door.held.room_for(tenant))
                body = await read_body(scope, headers, receive, room)
            except AffidavitError as error:
                problem = problem_of(error)
                shown = self.door.unknown(scope) if problem.status == 401 else None
                await (shown or problem_response(problem, path))(scope, receive, send)
                return
            if path.endswith("/events") or path == "/api/v1/chat":  # a bound of their own
                place.close()
            await self.app(scope, replay(body, receive), send)

    async def _permit(self, scope: Scope, headers: Headers, needed: Role | Access | None) -> str:
        """The tenant for whom the request is counted. Raises Problem."""
        if scope["method"] not in SAFE_METHODS:
            check_origin(headers)
        if needed is Access.OPEN:
            return ""
        if needed is Access.DRILL and self.door.drills and is_local(scope, headers):
            return ""
        who, by_cookie = await self.door.identify(scope, headers)
        if who is None:
            raise _unauthorized("this needs a key")
        scope["state"]["principal"] = who
        if needed is None or (needed is Access.DRILL and not self.door.drills):
            raise not_found()
        if not who.may(needed):
            raise Problem(
                403,
                "ROLE_TOO_SMALL",
                f"this needs the role {needed}",
                hint="ask for a key with that role: affidavit keys create",
            )
        if by_cookie and scope["method"] not in SAFE_METHODS:
            session: Session = scope["state"]["session"]
            if not is_csrf_right(session, headers.get(CSRF_HEADER, "")):
                raise Problem(
                    403, "CSRF_TOKEN_WRONG", f"{CSRF_HEADER} is wrong", hint="reload the page"
                )
        return who.tenant


def check_head(scope: Scope, headers: Headers) -> None:
    """Raises Problem (431, 414, 400) for a head that is too large, or says one thing twice."""
    size = sum(len(name) + len(value) for name, value in headers.raw)
    if size > HEAD_BYTES_MAX:
        raise head_too_large()
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > TARGET_BYTES_MAX:
        raise Problem(414, "TARGET_TOO_LONG", "the address is too long", hint="ask for less")
    for name in ONCE:
        if len(headers.getlist(name)) > 1:
            raise Problem(400, "HEADER_REPEATED", f"{name} came twice", hint="send it once")
    if "content-length" in headers and "transfer-encoding" in headers:
        raise Problem(  # RFC 9112, 6.1: a proxy before us may believe the other one
            400,
            "BODY_AMBIGUOUS",
            "the body's length is told in two ways",
            hint="send Content-Length or Transfer-Encoding, not both",
            headers={"connection": "close"},
        )


def check_host(headers: Headers, hosts: frozenset[str]) -> None:
    """Raises Problem (421) for a name that is not ours."""
    told = headers.getlist("host")
    if len(told) != 1 or _name_of(told[0]) not in hosts:
        raise Problem(
            421,
            "HOST_REFUSED",
            "this service does not answer to that name",
            hint="affidavit serve --allow-host NAME lets it",
        )


def check_origin(headers: Headers) -> None:
    """Raises Problem (403) for a request that a page of another site sent."""
    origin = headers.get("origin")
    if origin is not None and _netloc(origin) != headers.get("host", "").lower():
        raise Problem(403, "ORIGIN_REFUSED", "another site sent this", hint="use our own page")
    if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        raise Problem(403, "ORIGIN_REFUSED", "another site sent this", hint="use our own page")


def is_local(scope: Scope, headers: Headers) -> bool:
    """Whether somebody on this very machine asks, and no proxy for somebody else."""
    client = scope.get("client")
    if client is None or any(name in headers for name in ("forwarded", "x-forwarded-for")):
        return False
    try:
        is_here = ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False
    return is_here and _name_of(headers.get("host", "")) in LOOPBACK_NAMES


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _name_of(host: str) -> str:
    """The name in a Host header, without its port; "" for what is no name and port."""
    shape = _HOST.fullmatch(host.lower())
    return shape["name"] if shape else ""


def _unauthorized(message: str) -> Problem:
    return Problem(
        401,
        "UNAUTHORIZED",
        message,
        hint="send Authorization: Bearer KEY; affidavit keys create makes one",
        headers={"www-authenticate": 'Bearer realm="affidavit"'},
    )
