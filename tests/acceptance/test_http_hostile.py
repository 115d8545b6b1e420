"""What somebody with a key may try: to hold memory and places, to confuse a proxy, to break us."""

from __future__ import annotations

import importlib
import json
import logging
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Final

import httpx2
import pytest

from affidavit.contract.errors import InternalFault
from affidavit.server.permits import PERMITS, Role
from tests.support.gates import report
from tests.support.service import WAIT_S, Served, problem, served, wait_until

pytestmark = pytest.mark.slow

BODIES: Final = "affidavit.server.bodies"
JSON: Final = {"content-type": "application/json"}
DEEP: Final = b"[" * 30_000 + b"]" * 30_000


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service."""
    with served(tmp_path_factory.mktemp("house")) as own:
        yield own


def dial(house: Served) -> socket.socket:
    """A bare connection."""
    host, _, port = house.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=WAIT_S)


def post(house: Served, key: str, *lines: str, path: str = "/api/v1/gate") -> bytes:
    """The head of a POST of somebody with that key."""
    host = house.url.removeprefix("http://")
    told = (f"POST {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {key}", *lines)
    return "\r\n".join([*told, "", ""]).encode("latin-1")


def test_bodies_under_way_have_their_places_counted(
    house: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sends bodies slowly takes his own places and nobody else's, and they come back."""
    monkeypatch.setattr("affidavit.server.gatekeeper.UNDER_WAY_OF_TENANT_MAX", 5)
    mine, theirs = house.client(Role.ADMIN), house.client(Role.ADMIN, tenant="theirs")
    key = house.key(Role.OPERATOR, name="slow")
    with ExitStack() as stack:
        for _ in range(5):
            line = stack.enter_context(dial(house))
            line.sendall(post(house, key, "Content-Length: 1000") + b"{")
        wait_until(lambda: mine.get("/api/v1/me").status_code == 429)
        refused = problem(mine.get("/api/v1/me"), 429, "REQUESTS_TOO_MANY")
        assert "hint" in refused
        assert theirs.get("/api/v1/me").status_code == 200
    wait_until(lambda: mine.get("/api/v1/me").status_code == 200)


def test_bodies_in_memory_have_a_bound_of_a_tenant_and_of_all(
    house: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be too much at once is told to come again, before it is held; the rest goes on."""
    monkeypatch.setattr(f"{BODIES}.HELD_OF_TENANT_MAX", 100_000)
    monkeypatch.setattr(f"{BODIES}.HELD_MAX", 150_000)
    key, their_key = house.key(Role.OPERATOR), house.key(Role.OPERATOR, tenant="theirs")
    mine, theirs = house.open(key), house.open(their_key)
    with ExitStack() as stack:
        for own, size in ((key, 90_000), (their_key, 40_000)):
            line = stack.enter_context(dial(house))
            line.sendall(post(house, own, "Content-Length: 95000") + b" " * size)
        wait_until(lambda: house.house.door.held.total() >= 130_000)
        large = b" " * 30_000
        problem(mine.post("/api/v1/gate", content=large), 429, "BODIES_TOO_MANY")
        problem(theirs.post("/api/v1/gate", content=large), 429, "BODIES_TOO_MANY")
        answer = theirs.post("/api/v1/gate", content=large)
        assert answer.headers["retry-after"]
        assert mine.post("/api/v1/gate", json=report()).status_code == 200
    wait_until(lambda: house.house.door.held.total() == 0)


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 4"),
        ("Content-Length: 4", "Content-Length: 5"),
        ("Content-Length: +4",),
        ("Content-Length: -1",),
        ("Transfer-Encoding: gzip, chunked",),
        ("Transfer-Encoding: xchunked",),
        ("X-A: b\r\n Transfer-Encoding: chunked", "Transfer-Encoding : chunked"),
        ("Content-Length: 4, 4, 5",),
    ],
    ids=str,
)
def test_a_body_whose_length_is_told_twice_is_refused(
    house: Served, lines: tuple[str, ...]
) -> None:
    """Request smuggling: where a proxy and we could see different ends, there is no request."""
    key = house.key(Role.OPERATOR)
    smuggled = b"0\r\n\r\nGET /api/v1/me HTTP/1.1\r\nHost: x\r\n\r\n"
    with dial(house) as line:
        line.sendall(post(house, key, *lines) + smuggled)
        line.settimeout(WAIT_S)
        answer = b""
        while part := line.recv(65_536):
            answer += part
    status = int(answer.split()[1])
    assert status in {400, 501}, answer[:300]
    assert answer.count(b"HTTP/1.1 ") == 1, "a second request was seen"


@pytest.mark.parametrize(
    "header",
    ["idempotency-key", "last-event-id", "x-csrf-token", "authorization", "x-anything"],
)
def test_no_header_of_a_request_is_split_into_an_answer(house: Served, header: str) -> None:
    """Line breaks and bare controls end the request; what is odd but allowed comes back nowhere."""
    with dial(house) as line:
        head = post(house, house.key(Role.OPERATOR), f"{header}: a\x00b", "Content-Length: 0")
        line.sendall(head)
        answer = line.recv(65_536)
    assert answer.split()[1] == b"400"
    api = house.client(Role.OPERATOR)
    odd = {header: "a\tSet-Cookie: b=1"}
    seen = api.post("/api/v1/gate", json=report(), headers=odd)
    assert "set-cookie" not in seen.headers
    assert "b=1" not in str(seen.headers)


@pytest.mark.parametrize(
    ("method", "path"),
    [route for route in sorted(PERMITS) if route[0] == "POST" and route[1] != "/login"],
    ids=str,
)
def test_a_body_that_is_deep_or_odd_is_a_problem_and_no_fault_of_ours(
    house: Served, method: str, path: str
) -> None:
    """Nesting, half a surrogate, huge numbers, NaN, duplicates, another encoding, a list."""
    api = house.client(Role.ADMIN)
    where = path.replace("{run_id}", "run_0").replace("{tool_call_id}", "call_0001")
    for body in (
        DEEP,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b'{"incident": "\\ud800", "message": "\\ud800", "goal": "\\ud800"}',
        b'{"message": ' + b"9" * 5_000 + b"}",
        b'{"incident": NaN}',
        b'{"incident": "a", "incident": "b"}',
        '{"incident": "ä"}'.encode("utf-16"),
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        b'"text"',
    ):
        answer = api.request(method, where, content=body, headers=JSON)
        assert answer.status_code < 500, (path, body[:40], answer.text)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert "Traceback" not in answer.text


EDGES: Final = (
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-14:00",
)
"""Moments at either end of the calendar; two of them UTC does not have."""


@pytest.mark.fault("R26")
@pytest.mark.parametrize("first", EDGES)
@pytest.mark.parametrize("last", EDGES)
def test_a_moment_at_the_end_of_the_calendar_is_read_or_refused(
    house: Served, first: str, last: str
) -> None:
    """In the window, at a call, in a result, in the words: nowhere is it a fault of ours."""
    api = house.client(Role.OPERATOR)
    line = {"time": first, "level": "ERROR", "msg": f"failed at {last}"}
    told = report()
    call, analysis = told["tool_calls"][0], told["draft"]["analyses"][0]
    for changed in (
        {"window": {"start": first, "end": last}},
        {"tool_calls": [{**call, "started_at": first, "completed_at": last}]},
        {"tool_calls": [{**call, "result": f"{first} ERROR one\n{last} ERROR two"}]},
        {"tool_calls": [{**call, "result": [line, {**line, "time": last}]}]},
        {"draft": {**told["draft"], "analyses": [
            {**analysis, "body": f"checkout failed from {first} to {last}."}]}},
        {"question": f"what happened between {first} and {last}?"},
    ):  # fmt: skip
        answer = api.post("/api/v1/gate", json={**told, **changed})
        assert answer.status_code in {200, 422}, (changed, answer.text)


def test_an_answer_to_what_cannot_be_read_is_given_once(
    house: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """A body that breaks off its form while we answer: one answer, and no word in the log of
    which anybody who can connect could write as many as they like."""
    host = house.url.removeprefix("http://")
    head = f"POST /api/v1/gate HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n"
    with caplog.at_level(logging.WARNING):
        for proof in ("", f"Authorization: Bearer {house.key(Role.OPERATOR)}\r\n"):
            for rest in (b"nonsense\r\n", b"5\r\n{}", b"FFFFFFFFFFFFFFFFFFFFF\r\n", b"-1\r\n\r\n"):
                with dial(house) as line:
                    line.sendall(f"{head}{proof}\r\n".encode() + rest)
                    line.shutdown(socket.SHUT_WR)
                    answer = b""
                    while part := line.recv(65_536):
                        answer += part
                assert answer.count(b"HTTP/1.1 ") <= 1
                assert not answer or answer.split()[1] in {b"400", b"401"}, answer
        assert house.client(Role.VIEWER).get("/api/v1/me").status_code == 200
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../etc/passwd",
        "/static/%2e%2e/%2e%2e/etc/passwd",
        "/static/..%2f..%2fpermits.py",
        "/static//etc/passwd",
        "/static/%00",
        "//api/v1/me",
        "/api/v1//me",
        "/api/v1/runs/../me",
        "/api/v1/runs/%2e%2e/me",
        "/./api/v1/me",
        "/API/v1/me",
        "/api/v1/me/",
        "/api/v1/me;x=1",
        "/api/v1/runs/..%2f..%2fhealthz",
        "/healthz/../api/v1/me",
        "/static/../api/v1/me",
        "/api/v1/runs/%0d%0aSet-Cookie:a=1/timeline",
        "http://evil.example/api/v1/me",
    ],
)
def test_no_spelling_of_a_path_is_a_way_around(house: Served, path: str) -> None:
    """Without a key nothing but the open list answers, however a path is written; with one, no
    file of ours is read and no other route is meant."""
    for key in (None, house.key(Role.VIEWER)):
        host = house.url.removeprefix("http://")
        proof = "" if key is None else f"Authorization: Bearer {key}\r\n"
        with dial(house) as line:
            line.sendall(
                f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{proof}Connection: close\r\n\r\n".encode()
            )
            answer = b""
            while part := line.recv(65_536):
                answer += part
        assert answer.split()[1] in {b"400", b"401", b"404"}, answer[:200]
        assert b"root:" not in answer
        assert b"subject" not in answer
        assert b"\r\nset-cookie" not in answer.lower()


def test_what_breaks_inside_is_a_problem_without_its_words(
    house: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault that nobody foresaw: 500 as a document, with the headers of every answer and a
    request id that the log has; no text of the exception, on the wire or in the log (N2)."""
    secret = "s3cret\x1b[31m of somebody"

    class Broken(dict[str, Any]):
        """Fails where nobody expects it."""

    async def fail(*_: object, **__: object) -> Broken:
        raise RuntimeError(secret)

    api = house.client(Role.VIEWER)
    for fault in (fail, _fail_ours):
        monkeypatch.setattr(type(house.house.store), "runs", fault)
        with caplog.at_level(logging.ERROR):
            answer = api.get("/api/v1/runs")
        problem(answer, 500, "INTERNAL_FAILURE")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "s3cret" not in answer.text
        assert answer.headers["x-request-id"]
    told = [r for r in caplog.records if getattr(r, "request_id", "")]
    assert told, "the log knows the request"
    assert all("s3cret" not in r.getMessage() for r in caplog.records)
    assert api.get("/api/v1/me").status_code == 200


async def _fail_ours(*_: object, **__: object) -> object:
    raise InternalFault("s3cret")


def test_a_cookie_jar_of_nonsense_is_no_session(house: Served) -> None:
    """Whatever a cookie says, it is nobody's, and the answer is no fault of ours."""
    for jar in ("affidavit_session=", "=;=;", "a" * 5_000, "affidavit_session=\xff\xfe", ";;;"):
        headers = {"cookie": jar.encode("latin-1")}
        answer = httpx2.get(f"{house.url}/api/v1/me", headers=headers)  # type: ignore[arg-type]
        problem(answer, 401, "UNAUTHORIZED")
    assert json.loads(answer.text)["status"] == 401


@pytest.mark.parametrize(
    "work",
    [
        "affidavit.application.gate.answer_of",
        "affidavit.release.examine.check_support",
        "affidavit.verify.judges.embedded.review_draft",
    ],
)
def test_nobody_waits_for_somebody_else_s_long_answer(
    house: Served, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    """While one tenant's answer is read, checked or judged for as long as it takes, every other
    request is answered."""
    room, _, name = work.rpartition(".")
    plain = getattr(importlib.import_module(room), name)
    reached, let_go = threading.Event(), threading.Event()

    def long(*given: Any) -> Any:
        reached.set()
        assert let_go.wait(WAIT_S)
        return plain(*given)

    monkeypatch.setattr(work, long)
    with ThreadPoolExecutor(1) as pool:
        api = house.client(Role.OPERATOR)
        answer = pool.submit(api.post, "/api/v1/gate", json=report())
        try:
            assert reached.wait(WAIT_S)
            assert house.client(Role.VIEWER, tenant="theirs").get("/api/v1/me").status_code == 200
            assert not answer.done()
        finally:
            let_go.set()
        assert answer.result(WAIT_S).json()["outcome"] == "SUCCESS"
