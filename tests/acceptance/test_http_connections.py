"""Connections as an attacker opens them: heads that are too large or never end, answers that
nobody reads, bytes that are no HTTP; and headers of the wrong form."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Final

import pytest

from affidavit.server.connections import HEAD_BYTES_MAX
from affidavit.server.gatekeeper import TARGET_BYTES_MAX
from affidavit.server.permits import Role
from tests.support.gates import report
from tests.support.service import WAIT_S, Served, problem, served, wait_until

pytestmark = pytest.mark.slow

CONNECTIONS: Final = "affidavit.server.connections"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service."""
    with served(tmp_path_factory.mktemp("house")) as own:
        yield own


def dial(house: Served) -> socket.socket:
    """A bare connection."""
    host, _, port = house.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=WAIT_S)


def hear(line: socket.socket) -> bytes:
    """Everything until the other end closes."""
    heard = b""
    with suppress(ConnectionResetError):
        while part := line.recv(65_536):
            heard += part
    return heard


def head(house: Served, *lines: str, path: str = "/healthz") -> bytes:
    """The head of a request, without its end."""
    host = house.url.removeprefix("http://")
    return "\r\n".join([f"GET {path} HTTP/1.1", f"Host: {host}", *lines, ""]).encode("latin-1")


def told(answer: bytes, status: int, code: str) -> None:
    """The answer is that problem, as a document, and the connection was closed after it."""
    first, _, rest = answer.partition(b"\r\n")
    fields, _, body = rest.partition(b"\r\n\r\n")
    assert first.split()[1] == str(status).encode(), answer[:300]
    assert b"application/problem+json" in fields
    assert b"connection: close" in fields.lower()
    assert json.loads(body)["code"] == code


@pytest.mark.parametrize("size", [HEAD_BYTES_MAX + 1, 4 * HEAD_BYTES_MAX])
@pytest.mark.parametrize("pieces", [1, 40])
def test_a_head_that_is_too_large_is_refused(house: Served, size: int, pieces: int) -> None:
    """431, at once or in pieces, whether its end ever comes or not; before any key is looked at."""
    whole = head(house, "X-Long: " + "x" * size) + b"\r\n"
    with dial(house) as line:
        step = len(whole) // pieces + 1
        with suppress(OSError):  # it may be refused while it is still being sent
            for start in range(0, len(whole), step):
                line.sendall(whole[start : start + step])
        answer = hear(line)
    assert answer.split()[1] == b"431"
    assert b"HEADERS_TOO_LARGE" in answer
    api = house.client(Role.VIEWER)
    large = api.get("/api/v1/me", headers={"x-long": "x" * HEAD_BYTES_MAX})
    problem(large, 431, "HEADERS_TOO_LARGE")
    problem(api.get("/" + "a" * (TARGET_BYTES_MAX + 1)), 414, "TARGET_TOO_LONG")
    problem(api.get("/healthz", params={"q": "a" * TARGET_BYTES_MAX}), 414, "TARGET_TOO_LONG")


@pytest.mark.parametrize(
    "bytes_",
    [
        b"\x16\x03\x01\x02\x00\x01",
        b"GET / HTCPCP/1.0\r\n\r\n",
        b"GET  /\r\n\r\n",
        b"\x00" * 64 + b"\r\n",
    ],
)
def test_what_is_no_request_is_told_so(house: Served, bytes_: bytes) -> None:
    """TLS at a plain port, another version, nothing at all: 400 and an end."""
    with dial(house) as line:
        line.sendall(bytes_ + b"\r\n\r\n")
        told(hear(line), 400, "REQUEST_UNREADABLE")


def test_a_head_that_trickles_in_is_not_waited_for(
    house: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slowloris: a byte now and then holds nothing open; nor does silence, also after an answer.
    Others are served meanwhile."""
    monkeypatch.setattr(f"{CONNECTIONS}.HEAD_WAIT_S", 0.5)
    with ExitStack() as stack:
        lines = [stack.enter_context(dial(house)) for _ in range(50)]
        for line in lines[:40]:
            line.sendall(head(house)[:-2])
        lines[49].sendall(head(house) + b"\r\n")
        assert b"200 OK" in lines[49].recv(4096)
        lines[49].sendall(b"GET /hea")
        with suppress(OSError):
            for _ in range(40):
                for line in lines[:40]:
                    line.sendall(b"x")
                assert house.open(None).get("/healthz").status_code == 200
                time.sleep(0.05)  # the pace of the attack
        for line in lines[:40]:
            assert b" 408 " in hear(line)
        assert [hear(line) for line in lines[40:49]] == [b""] * 9
        told(hear(lines[49]), 408, "HEADERS_TOO_SLOW")


def test_a_body_that_trickles_in_is_not_waited_for(
    house: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The head was quick, the body is not: 408."""
    monkeypatch.setattr("affidavit.server.bodies.BODY_WAIT_S", 0.3)
    key = house.key(Role.OPERATOR)
    lines = [f"Authorization: Bearer {key}", "Content-Length: 100", "Connection: close"]
    with dial(house) as line:
        line.sendall(head(house, *lines, path="/api/v1/gate").replace(b"GET", b"POST") + b"\r\n{")
        told(hear(line), 408, "BODY_TOO_SLOW")


ASKED = 2_000
"""Answers that hold more together than the buffers of both ends do."""


def test_an_answer_that_nobody_reads_is_given_up(
    house: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who asks for much and takes nothing is cut off, and holds no place."""
    monkeypatch.setattr(f"{CONNECTIONS}.STALL_S", 0.3)
    run_id = house.client(Role.OPERATOR).post("/api/v1/gate", json=report()).json()["run_id"]
    key = house.key(Role.VIEWER)
    asked = head(house, f"Authorization: Bearer {key}", path=f"/api/v1/runs/{run_id}/affidavit")
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        host, _, port = house.url.removeprefix("http://").partition(":")
        line.connect((host, int(port)))
        with suppress(OSError):
            for _ in range(ASKED):
                line.sendall(asked + b"\r\n")
        wait_until(lambda: not house.house.door.under_way.total())
        whole = hear(line)
    assert whole.count(b"200 OK") < ASKED


def test_connections_have_a_bound_and_give_their_place_back(
    house: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond it 503; when others have gone, the next is served."""
    monkeypatch.setattr(f"{CONNECTIONS}.CONNECTIONS_MAX", 30)
    with ExitStack() as stack:
        lines = [stack.enter_context(dial(house)) for _ in range(60)]
        heard = [hear(line) for line in lines[-10:]]
    for answer in heard:
        told(answer, 503, "CONNECTIONS_TOO_MANY")

    def is_served() -> bool:
        with dial(house) as line:
            line.sendall(head(house, "Connection: close") + b"\r\n")
            return b"200 OK" in hear(line)

    wait_until(is_served)


@pytest.mark.spec("I4")
@pytest.mark.parametrize("id_", ["9" * 400, "1.0 2.0", "%0a"])
def test_a_last_event_id_of_the_wrong_form_is_400(house: Served, id_: str) -> None:
    """As one that names no event: a header that cannot be meant is not an invalid request body."""
    run_id = house.client(Role.OPERATOR).post("/api/v1/gate", json=report()).json()["run_id"]
    headers = {"last-event-id": id_}
    answer = house.client(Role.VIEWER).get(f"/api/v1/runs/{run_id}/events", headers=headers)
    assert answer.json()["code"] in {"HEADER_INVALID", "LAST_EVENT_ID_UNKNOWN"}
    assert answer.status_code == 400


@pytest.mark.parametrize("key", ["", "x" * 201, "a b", "\x7f", "é"])
@pytest.mark.parametrize("path", ["/api/v1/runs", "/api/v1/gate"])
def test_an_idempotency_key_of_the_wrong_form_is_400(house: Served, path: str, key: str) -> None:
    """On every route that takes one, whatever is wrong with it; nothing is started."""
    api = house.client(Role.OPERATOR)
    before = api.get("/api/v1/runs", params={"limit": 200}).json()["runs"]
    body = report() if path.endswith("gate") else {"incident": "x"}
    headers = [(b"idempotency-key", key.encode("latin-1"))]
    answer = api.post(path, json=body, headers=headers)
    assert answer.json()["code"] in {"HEADER_INVALID", "IDEMPOTENCY_KEY_INVALID"}
    assert answer.status_code == 400
    assert api.get("/api/v1/runs", params={"limit": 200}).json()["runs"] == before


@pytest.mark.parametrize("name", ["authorization", "idempotency-key", "last-event-id", "origin"])
def test_a_header_that_says_one_thing_is_refused_twice(house: Served, name: str) -> None:
    """A proxy before us might believe the other one."""
    headers = [(name.encode(), b"a"), (name.encode(), b"b")]
    answer = house.open(None).get("/api/v1/me", headers=headers)
    problem(answer, 400, "HEADER_REPEATED")
