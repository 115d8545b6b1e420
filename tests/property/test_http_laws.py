"""Laws of the service on the wire: streams that are cut anywhere, and whoever comes without right.

A real server; the cuts, the requests and the bodies are generated.
"""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affidavit.contract.agent import Conclude, GiveUp
from affidavit.server.permits import PERMITS, Access, Role
from tests.support.gates import report
from tests.support.runs import request
from tests.support.service import Door, Event, Served, parse_events, read_stream, served
from tests.support.worlds import act, conclude, world

pytestmark = pytest.mark.slow

CANARY: Final = "XQ7CANARYOFACME"
"""Stands in what acme asked and was told; no other tenant is ever sent it."""

TERMINAL: Final = ("done", "error")

WAIT_S: Final = 20.0


@dataclass(frozen=True)
class House:
    """A service with runs of acme's that ended in every way."""

    served: Served = field(repr=False)
    runs: dict[str, str] = field(repr=False)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One run of each outcome: SUCCESS, FALLBACK, FAILED, CANCELLED."""
    with served(tmp_path_factory.mktemp("house")) as own:
        api = own.client(Role.ADMIN)
        asked = {**report(), "question": f"Why is {CANARY} slow?"}
        runs = {"SUCCESS": str(api.post("/api/v1/gate", json=asked).json()["run_id"])}
        scripts: dict[str, Any] = {
            "FALLBACK": [act("probe", service="checkout"), GiveUp("enough")],
            "FAILED": [Conclude(f"no report at all: {CANARY}")],
            "OTHER": [act("probe", service="checkout"), conclude()],
        }
        for number, (name, script) in enumerate(scripts.items()):
            runs[name] = own.begin(world(script), request(f"run_00000000000000c{number}"))
        door, runs["CANCELLED"] = Door(), "run_00000000000000cf"
        slow = world([act("slow")], backends={"slow": door.fetch})
        own.begin(slow, request(runs["CANCELLED"]))
        assert door.reached.wait(WAIT_S)
        assert api.post(f"/api/v1/runs/{runs['CANCELLED']}/cancel").status_code == 202
        for run_id in runs.values():
            read_stream(api, run_id)
        yield House(own, runs)


def read_part(house: House, run_id: str, last_id: str, size: int) -> tuple[list[Event], bool]:
    """The complete events of the first bytes of a stream, and whether it ended by itself."""
    headers = {"last-event-id": last_id} if last_id else {}
    text = b""
    api = house.served.client(Role.VIEWER)
    with api.stream("GET", f"/api/v1/runs/{run_id}/events", headers=headers) as stream:
        if stream.status_code == 204:
            return [], True
        assert stream.status_code == 200
        for chunk in stream.iter_bytes():
            text += chunk
            if len(text) > size:
                text = text[:size]
                break
    events = parse_events(text.decode("utf-8", "ignore"))
    return events, bool(events) and events[-1].name in TERMINAL


@pytest.mark.spec("I4", "N11", "E10")
@pytest.mark.fault("F5", "F29", "F38", "R35")
@given(st.sampled_from(("SUCCESS", "FALLBACK", "FAILED", "OTHER", "CANCELLED")), st.data())
@settings(max_examples=60, deadline=None)
def test_however_often_a_stream_is_cut_its_reader_is_told_everything_once(
    house: House, name: str, data: st.DataObject
) -> None:
    """Cut after any bytes, again and again, and joined after the last whole event: the same events
    as of one that was never cut, one end, nothing after it; CANCELLED in no `done`."""
    run_id = house.runs[name]
    whole = read_stream(house.served.client(Role.VIEWER), run_id)
    told: list[Event] = []
    is_over = False
    for cut in data.draw(st.lists(st.integers(0, 6_000), max_size=12)):
        part, is_over = read_part(house, run_id, told[-1].id if told else "", cut)
        told += part
        if is_over:
            break
    if not is_over:
        told += read_part(house, run_id, told[-1].id if told else "", 10_000_000)[0]
    assert told == whole
    ends = [event for event in told if event.name in TERMINAL]
    assert ends == told[-1:]
    done = [event for event in ends if event.name == "done"]
    assert all("CANCELLED" not in json.dumps(event.data) for event in done)
    assert bool(done) == (name != "CANCELLED")
    if name == "FAILED":
        assert CANARY not in json.dumps([event.data for event in told])


ROUTES: Final = sorted(PERMITS)
OPEN: Final = {path for (_, path), needed in PERMITS.items() if needed is Access.OPEN}

junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def filled(path: str, run_id: str) -> str:
    """A path with its placeholders filled in."""
    told = path.replace("{run_id}", run_id).replace("{tool_call_id}", "call_0001")
    return told.replace("{delivery_id}", "dlv_0").replace("{path:path}", "console.css")


@pytest.mark.spec("N13", "K0")
@pytest.mark.fault("R67", "R69")
@given(
    st.sampled_from(ROUTES),
    st.sampled_from(("SUCCESS", "FALLBACK", "FAILED", "CANCELLED")),
    junk,
    st.dictionaries(
        st.sampled_from(("limit", "before", "after", "state", "last_event_id", "tenant", "run_id",
                         "cancel_on_disconnect")),
        st.one_of(st.text(max_size=8), st.integers().map(str), st.just("acme")),
        max_size=3,
    ),
    st.dictionaries(
        st.sampled_from(("x-tenant", "x-forwarded-user", "x-original-url", "x-http-method-override",
                         "forwarded", "x-forwarded-host", "x-scope-orgid", "idempotency-key")),
        st.sampled_from(("acme", "admin", "/api/v1/me", "GET", "127.0.0.1")),
        max_size=3,
    ),
)  # fmt: skip
@settings(max_examples=250, deadline=None)
def test_another_tenant_s_admin_and_whoever_has_no_key_learn_nothing(
    house: House,
    route: tuple[str, str],
    name: str,
    body: object,
    query: dict[str, str],
    headers: dict[str, str],
) -> None:
    """Whatever they add: no word of acme's, no change to its runs, no fault of ours."""
    method, path = route
    run_id = house.runs[name]
    own = house.served
    theirs, nobody = own.client(Role.ADMIN, tenant="theirs"), own.open(None)
    for api in (theirs, nobody):
        where = filled(path, run_id)
        answer = api.request(method, where, params=query, headers=headers, json=body)
        assert answer.status_code < 500, answer.text
        assert CANARY not in answer.text
        if "{run_id}" in path and api is theirs:
            assert answer.status_code in {400, 404, 405, 422}, (route, answer.status_code)
        if api is nobody and path not in OPEN:
            assert answer.status_code in {401, 303, 307, 404}, (route, answer.status_code)


@pytest.mark.fault("R58")
@given(
    st.dictionaries(
        st.sampled_from(("history", "messages", "pending_approval", "approved", "tool_calls",
                         "user_approved", "decision", "tenant", "roles", "run_id")),
        junk,
        min_size=1,
    )
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_a_client_brings_neither_history_nor_approvals(
    house: House, forged: dict[str, object]
) -> None:
    """A field that is not ours is refused, and no run begins."""
    api = house.served.client(Role.OPERATOR)
    before = api.get("/api/v1/runs", params={"limit": 200}).json()
    for path, good in (
        ("/api/v1/chat", {"message": "hello"}),
        ("/api/v1/runs", {"incident": "slow-storefront"}),
    ):
        assert api.post(path, json={**good, **forged}).status_code == 422
    assert api.get("/api/v1/runs", params={"limit": 200}).json() == before


SCRAPS: Final = (
    b"\r\n", b"\n", b"\x00", b"%00", b"%ff", b"../", b"..%2f", b"?", b" ", b"\r\nContent-Length: 5",
    b"\r\nTransfer-Encoding: chunked", b"\r\nHost: evil.example", b"\xe2\x80\xae", b"\r\n\r\n",
    b"HTTP/1.0", b"HTTP/2.0", b"Expect: 100-continue\r\n", b"Upgrade: h2c\r\n", b"9" * 40, b"-1",
)  # fmt: skip
"""What is put into a request, between its own bytes."""


def bent(plain: bytes, chance: random.Random) -> bytes:
    """A request with some of its bytes changed, gone, doubled, or others between them."""
    told = bytearray(plain)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(told)) if told else 0
        match chance.randrange(4):
            case 0:
                told[place : place + 1] = bytes([chance.randrange(256)])
            case 1:
                del told[place : place + chance.randrange(1, 20)]
            case 2:
                told[place:place] = chance.choice(SCRAPS)
            case _:
                told[place:place] = told[place : place + chance.randrange(1, 30)]
    return bytes(told)


@pytest.mark.spec("K0")
@pytest.mark.fault("R67")
@given(st.integers(0, 2**32), st.sampled_from(ROUTES), st.booleans())
@settings(max_examples=300, deadline=None)
def test_no_bytes_are_a_fault_of_ours_or_a_way_in(
    house: House, seed: int, route: tuple[str, str], has_key: bool
) -> None:
    """A request that is bent in some places: an answer below 500 or an end of the connection; and
    without a key nothing but the open routes is answered with more than a refusal."""
    own, chance = house.served, random.Random(seed)
    method, path = route
    host = own.url.removeprefix("http://")
    proof = f"Authorization: Bearer {own.key(Role.ADMIN, tenant='theirs')}\r\n" if has_key else ""
    plain = (
        f"{method} {filled(path, house.runs['SUCCESS'])} HTTP/1.1\r\nHost: {host}\r\n{proof}"
        "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
    ).encode()
    answer = b""
    name, _, port = host.partition(":")
    with (
        suppress(ConnectionError),
        socket.create_connection((name, int(port)), timeout=WAIT_S) as line,
    ):
        line.sendall(bent(plain, chance))
        line.shutdown(socket.SHUT_WR)
        while part := line.recv(65_536):
            answer += part
    statuses = [int(one[:3]) for one in answer.split(b"HTTP/1.1 ")[1:] if one[:3].isdigit()]
    assert all(status < 500 or status == 501 for status in statuses), answer[:500]
    assert CANARY.encode() not in answer
    if not has_key and 200 in statuses:
        assert b"subject" not in answer
        assert b"run_id" not in answer or b"openapi" in answer
