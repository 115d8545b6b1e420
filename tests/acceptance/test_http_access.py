"""Who is let in: generated from the route table, so that a new route cannot be forgotten."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.errors import InternalFault
from affidavit.server.app import build_app
from affidavit.server.bodies import BODY_BYTES_MAX
from affidavit.server.house import ServeOptions, build_house
from affidavit.server.keyring import Keyring
from affidavit.server.permits import HOLDS, PERMITS, Access, Role
from affidavit.server.routes import system
from tests.support.gates import report
from tests.support.service import Served, problem, served

pytestmark = pytest.mark.slow

ROUTES: Final = sorted(PERMITS.items())
KEYED: Final = [(route, needed) for route, needed in ROUTES if needed is not Access.OPEN]
OF_A_ROLE: Final = [(route, needed) for route, needed in ROUTES if isinstance(needed, Role)]
OF_A_RUN: Final = [route for route, needed in OF_A_ROLE if "{run_id}" in route[1]]

JSON: Final = {"content-type": "application/json"}

BODIES: Final[dict[str, Any]] = {
    "/api/v1/approvals/{run_id}/{tool_call_id}": {"decision": "reject", "action_digest": "0" * 64},
    "/api/v1/runs/{run_id}/calls/{tool_call_id}/outcome": {"outcome": "done"},
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with a run of acme's that has ended."""
    with served(tmp_path_factory.mktemp("house")) as own:
        yield own


@pytest.fixture(scope="module")
def run_id(house: Served) -> str:
    """A run of acme's."""
    answer = house.client(Role.OPERATOR).post("/api/v1/gate", json=report())
    assert answer.status_code == 200, answer.text
    return str(answer.json()["run_id"])


def ask(
    api: httpx2.Client, route: tuple[str, str], run_id: str = "run_0000000000000000", **more: Any
) -> httpx2.Response:
    """One request to a route, with its placeholders filled in."""
    method, path = route
    filled = path.replace("{run_id}", run_id).replace("{tool_call_id}", "call_0001")
    filled = filled.replace("{delivery_id}", "dlv_0")
    body = {"json": BODIES[path]} if path in BODIES else {}
    return api.request(method, filled.replace("{path:path}", "console.css"), **body, **more)


@pytest.mark.spec("K0")
@pytest.mark.fault("R67")
@pytest.mark.parametrize(("route", "needed"), KEYED, ids=str)
def test_every_route_wants_a_key(house: Served, route: tuple[str, str], needed: object) -> None:
    """Nothing that says anything about anybody is open."""
    answer = ask(house.open(None), route)
    problem(answer, 401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    for wrong in ("affk_000000000000_" + "A" * 43, "nonsense", "ünïcode".encode().hex()):
        problem(ask(house.open(wrong), route), 401, "UNAUTHORIZED")


@pytest.mark.fault("R67")
@pytest.mark.parametrize(("route", "needed"), OF_A_ROLE, ids=str)
def test_a_role_that_is_too_small_is_told_so(
    house: Served, route: tuple[str, str], needed: Role
) -> None:
    """Every role that does not hold the needed one is 403, before anything else is looked at."""
    for role in Role:
        if needed not in HOLDS[role]:
            answer = ask(house.client(role), route)
            assert problem(answer, 403, "ROLE_TOO_SMALL")["detail"].endswith(str(needed))
    some = next(role for role in Role if needed not in HOLDS[role]) if needed != "viewer" else None
    if some is not None:  # a body that is nonsense changes nothing
        api = house.client(some)
        answer = api.request(route[0], "/api/v1/gate", content=b"{")
        assert answer.status_code in {403, 405, 404} or route[0] == "GET"


@pytest.mark.spec("N13")
@pytest.mark.fault("R69")
@pytest.mark.parametrize("route", OF_A_RUN, ids=str)
def test_another_tenant_s_run_is_not_there(
    house: Served, run_id: str, route: tuple[str, str]
) -> None:
    """An admin of another tenant learns no more than that of a run that never was."""
    theirs = house.client(Role.ADMIN, tenant="theirs")
    foreign, missing = ask(theirs, route, run_id), ask(theirs, route)
    told = problem(foreign, 404, "NOT_FOUND")
    assert told == {**problem(missing, 404, "NOT_FOUND"), "instance": told["instance"]}


@pytest.mark.spec("N13")
@pytest.mark.fault("R69")
def test_lists_are_of_one_tenant(house: Served, run_id: str) -> None:
    """Runs and approvals of others are in no list, and their ids are no place to page from."""
    ours = house.client(Role.VIEWER).get("/api/v1/runs").json()["runs"]
    assert run_id in [run["run_id"] for run in ours]
    theirs = house.client(Role.VIEWER, tenant="theirs")
    assert theirs.get("/api/v1/runs").json()["runs"] == []
    problem(theirs.get("/api/v1/runs", params={"before": run_id}), 404, "NOT_FOUND")
    assert theirs.get("/api/v1/approvals").json() == {"approvals": []}


def test_every_id_in_a_path_is_tried_from_another_tenant() -> None:
    """Ids of runs and their calls above; ids of deliveries in `test_http_deliveries`. A new kind of
    id has to be added to one of them."""
    named = {name for (_, path), _ in ROUTES for name in re.findall(r"{(\w+)", path)}
    assert named == {"run_id", "tool_call_id", "delivery_id", "path"}


def test_what_is_open_is_a_short_list() -> None:
    """Liveness, readiness, the description, and the ways in."""
    assert {path for (_, path), needed in ROUTES if needed is Access.OPEN} == {
        "/healthz",
        "/readyz",
        "/openapi.json",
        "/login",
        "/login/oidc",
        "/login/oidc/callback",
        "/static/{path:path}",
    }


def test_a_route_without_a_permit_ends_the_start(tmp_path: Path) -> None:
    """Whoever adds a route says who may use it."""

    async def forgotten() -> None:
        """Nobody was permitted this."""

    house = build_house(ServeOptions(keys=tmp_path / "keys.json"), MemoryStore())
    system.router.add_api_route("/forgotten", forgotten)
    try:
        with pytest.raises(InternalFault, match="forgotten"):
            build_app(house)
    finally:
        system.router.routes.pop()


def test_unknown_paths_and_methods_are_problems(house: Served) -> None:
    """404 and 405 as documents too; without a key both are 401."""
    api = house.client(Role.ADMIN)
    problem(api.get("/api/v1/nothing"), 404, "NOT_FOUND")
    problem(api.delete("/api/v1/runs"), 405, "METHOD_NOT_ALLOWED")
    problem(house.open(None).get("/api/v1/nothing"), 401, "UNAUTHORIZED")
    problem(api.post("/api/v1/runs", content=b"{", headers=JSON), 422, "BODY_UNREADABLE")
    problem(api.post("/api/v1/runs", json={"incident": "x", "evil": 1}), 422, "REQUEST_INVALID")


def test_a_large_body_is_refused_whether_it_says_so_or_not(house: Served) -> None:
    """413 by the declared length, and by the bytes that came."""
    api, large = house.client(Role.OPERATOR), b" " * (BODY_BYTES_MAX + 1)
    problem(api.post("/api/v1/runs", content=large), 413, "BODY_TOO_LARGE")

    def pieces() -> Iterator[bytes]:
        yield from (large[:1000] for _ in range(70))

    problem(api.post("/api/v1/runs", content=pieces()), 413, "BODY_TOO_LARGE")


def test_foreign_hosts_and_origins_are_refused(house: Served) -> None:
    """A name that resolves to us is no way in (DNS rebinding), nor is another site's page."""
    api = house.client(Role.OPERATOR)
    problem(api.get("/api/v1/me", headers={"host": "evil.example"}), 421, "HOST_REFUSED")
    problem(api.get("/healthz", headers={"host": "evil.example"}), 421, "HOST_REFUSED")
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        answer = api.post("/api/v1/gate", json=report(), headers={"origin": origin})
        problem(answer, 403, "ORIGIN_REFUSED")
    answer = api.post("/api/v1/gate", json=report(), headers={"sec-fetch-site": "cross-site"})
    problem(answer, 403, "ORIGIN_REFUSED")


def test_every_answer_carries_the_security_headers(house: Served) -> None:
    """Refusals too."""
    for path in ("/healthz", "/api/v1/me", "/login", "/nothing"):
        headers = house.open(None).get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        # A form sent under no-referrer has the origin null, which is refused as another site's.
        own = "same-origin" if path == "/login" else "no-referrer"
        assert headers["referrer-policy"] == own
        assert "server" not in headers


def log_in(house: Served, *roles: Role) -> tuple[httpx2.Client, str]:
    """A browser that logged in, and its CSRF token."""
    browser = house.open(None)
    answer = browser.post("/login", data={"key": house.key(*roles)})
    assert answer.status_code == 303, answer.text
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    page = browser.get("/", headers={"accept": "text/html"}).text
    found = re.search(r'name="csrf" content="([^"]+)"', page)
    assert found is not None
    return browser, found[1]


def test_a_browser_needs_its_second_secret_for_what_changes_something(house: Served) -> None:
    """A cookie alone reads; it starts nothing (CSRF), and a logout ends it for good."""
    browser, csrf = log_in(house, Role.OPERATOR)
    assert browser.get("/api/v1/me").json()["roles"] == ["operator"]
    problem(browser.post("/api/v1/gate", json=report()), 403, "CSRF_TOKEN_WRONG")
    wrong = {"x-csrf-token": "0" * len(csrf)}
    problem(browser.post("/api/v1/gate", json=report(), headers=wrong), 403, "CSRF_TOKEN_WRONG")
    right = {"x-csrf-token": csrf}
    assert browser.post("/api/v1/gate", json=report(), headers=right).status_code == 200
    stolen = dict(browser.cookies)
    assert browser.post("/logout", headers=right).status_code == 204
    browser.cookies.update(stolen)
    problem(browser.get("/api/v1/me"), 401, "UNAUTHORIZED")


def test_another_session_s_secret_is_no_secret_of_this_one(house: Served) -> None:
    """An attacker with a session of their own cannot lend its token; a key in the header needs
    none, because no page can make a browser send it."""
    browser, _ = log_in(house, Role.OPERATOR)
    _, foreign = log_in(house, Role.ADMIN)
    for csrf in (foreign, "", "null", "undefined"):
        answer = browser.post("/api/v1/gate", json=report(), headers={"x-csrf-token": csrf})
        problem(answer, 403, "CSRF_TOKEN_WRONG")


READING: Final = [path for (method, path), _ in ROUTES if method == "GET"]


@pytest.mark.parametrize("path", READING, ids=str)
def test_to_read_changes_nothing(house: Served, run_id: str, path: str) -> None:
    """No GET starts, decides, cancels or ends anything: what a link or an image can do. Only that
    a refused draft was read is put on record."""

    async def state() -> object:
        store = house.house.store
        heads = await store.runs("acme", 200)
        words = [await store.inbox(head.run_id) for head in heads]
        kept = [
            {
                item.digest
                for item in await store.artifacts(head.run_id)
                if item.kind != "draft_access"
            }
            for head in heads
        ]
        return heads, words, kept, house.house.ring.contents(), house.house.is_ready

    browser, _ = log_in(house, Role.ADMIN)
    before = house.call(state)
    answer = ask(browser, ("GET", path), run_id)
    assert answer.status_code < 500
    assert house.call(state) == before
    assert browser.get("/api/v1/me").status_code == 200


def test_a_wrong_key_logs_nobody_in(house: Served) -> None:
    """The page says so, and sets no cookie."""
    answer = house.open(None).post("/login", data={"key": "affk_000000000000_" + "A" * 43})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_a_disabled_key_opens_nothing_any_more(house: Served) -> None:
    """At once: the header, and the session that it began."""
    token = house.key(Role.VIEWER, name="leaver")
    browser, api = house.open(None), house.open(token)
    assert browser.post("/login", data={"key": token}).status_code == 303
    assert api.get("/api/v1/me").status_code == browser.get("/api/v1/me").status_code == 200
    house.house.ring.disable(token.split("_")[1])
    problem(api.get("/api/v1/me"), 401, "UNAUTHORIZED")
    problem(browser.get("/api/v1/me"), 401, "UNAUTHORIZED")


def test_keys_are_kept_as_hashes_for_their_owner_alone(tmp_path: Path) -> None:
    """Whoever reads the file cannot use it, and others cannot read it; a loose one is refused."""
    ring = Keyring(tmp_path / "private" / "keys.json")
    token = ring.create("ops", "acme", (Role.OPERATOR,))
    assert token.split("_", 2)[2] not in ring.path.read_text()
    assert stat.S_IMODE(ring.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ring.path.parent.stat().st_mode) == 0o700
    who = ring.verify(token)
    assert who is not None
    assert (who.subject, who.tenant) == ("ops", "acme")
    for place in range(len(token)):  # every other token is nobody's
        other = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        assert ring.verify(other) is None
    os.utime(ring.path, (time.time(), time.time() + 5))
    ring.path.chmod(0o640)
    with pytest.raises(Exception, match="others than its owner"):
        ring.contents()
