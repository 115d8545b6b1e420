"""The service on a real uvicorn: in this process with scripted runs, or as the real command."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
import httpx2

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.agent import AgentRequest
from affidavit.diagnose import World, start
from affidavit.ports.store import Store
from affidavit.server.app import begin_stop
from affidavit.server.hooks import HookPlan, open_hooks
from affidavit.server.house import House, ServeOptions, add_hooks, add_issuer, build_house
from affidavit.server.keyring import Keyring
from affidavit.server.permits import Role
from affidavit.server.serving import Server
from affidavit.server.tls import open_tls

T = TypeVar("T")

WAIT_S: Final = 60.0
"""As long as a loaded machine may take for anything that a test waits for."""


@dataclass(frozen=True)
class Event:
    """One Server-Sent Event as a client parses it."""

    id: str
    name: str
    data: dict[str, Any]


def parse_events(text: str) -> list[Event]:
    """Every complete event of a stream's text; comments are left out, as a browser does."""
    found = []
    for block in text.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if fields:
            event = Event(fields.get("id", ""), fields["event"], json.loads(fields["data"]))
            found.append(event)
    return found


def client(url: str, key: str | None, **more: Any) -> httpx2.Client:
    """A client with that key."""
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    return httpx2.Client(base_url=url, headers=headers, timeout=WAIT_S, **more)


def read_stream(
    api: httpx2.Client, run_id: str, last_id: str | None = None, **params: Any
) -> list[Event]:
    """The stream of a run, to its end."""
    headers = {} if last_id is None else {"last-event-id": last_id}
    answer = api.get(f"/api/v1/runs/{run_id}/events", headers=headers, params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    return parse_events(answer.text)


async def told(event: threading.Event) -> None:
    """Wait for a word from the test's own thread."""
    while not event.is_set():  # noqa: ASYNC110 - it is said in another thread
        await anyio.sleep(0.01)


class Door:
    """A back end that waits until it is let go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.cancelled = threading.Event()

    async def fetch(self, arguments: object) -> tuple[()]:
        """Nothing, once the door is open."""
        self.reached.set()
        try:
            await told(self.opened)
        finally:
            if not self.opened.is_set():
                self.cancelled.set()
        return ()


@dataclass
class Served:
    """A service that runs in a thread of this process."""

    house: House
    url: str
    loop: asyncio.AbstractEventLoop
    keys: dict[str, str] = field(default_factory=dict)
    clients: list[httpx2.Client] = field(default_factory=list)

    def key(self, *roles: Role, tenant: str = "acme", name: str | None = None) -> str:
        """A key with those roles; the same one each time."""
        own = name or f"{tenant}-{'-'.join(roles)}"
        if own not in self.keys:
            self.keys[own] = self.house.ring.create(own, tenant, roles)
        return self.keys[own]

    def client(self, *roles: Role, tenant: str = "acme") -> httpx2.Client:
        """A client whose key has those roles."""
        return self.open(self.key(*roles, tenant=tenant))

    def open(self, key: str | None) -> httpx2.Client:
        """A client with that key, or none; it is closed with the service."""
        self.clients.append(client(self.url, key))
        return self.clients[-1]

    def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something in the service's own event loop."""

        async def run() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(WAIT_S)

    def begin(self, world: World, request: AgentRequest) -> str:
        """A scripted run of the service's store: the engine drives it in that world."""
        house = self.house
        listening = replace(world.driver, store=house.store, listen=house.feeds.hear)
        own, inner = replace(world, driver=listening), house.driver.further

        def further(asked: AgentRequest) -> AbstractAsyncContextManager[World] | None:
            return nullcontext(own) if asked.run_id == request.run_id else inner(asked)

        async def begin() -> None:
            house.driver.further = further
            await start(own, request)
            house.engine.wake()

        self.call(begin)
        return request.run_id


@contextmanager
def served(
    folder: Path,
    store: Store | None = None,
    *,
    plan: HookPlan | None = None,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> Iterator[Served]:
    """A service with its keys in that folder, on a port of its own; with a plan alerts come in,
    with an environment whoever the settings' issuer knows."""
    told = ServeOptions(keys=folder / "keys.json", **options)
    Keyring(told.keys).make()
    house = build_house(told, store or MemoryStore())
    if plan is not None:
        hooks = open_hooks(plan, house.store, house.engine.wake, house.meters.note_delivery)
        add_hooks(house, hooks)
    if environment is not None:
        add_issuer(house, environment)
    listening = socket.create_server(("127.0.0.1", 0))
    tls = open_tls(told.settings.server)
    server = Server(house, tls)
    loops: list[asyncio.AbstractEventLoop] = []

    def run() -> None:
        async def main() -> None:
            loops.append(asyncio.get_running_loop())
            await server.serve(sockets=[listening])

        asyncio.run(main())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        wait_until(lambda: server.started and house.is_ready)
        scheme = "http" if tls is None else "https"
        own = Served(house, f"{scheme}://127.0.0.1:{listening.getsockname()[1]}", loops[0])
        yield own
    finally:
        for api in own.clients:
            api.close()
        server.should_exit = True
        loops[0].call_soon_threadsafe(begin_stop, house)
        thread.join(WAIT_S)
        assert not thread.is_alive(), "the service did not stop"


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait, but not for ever."""
    until_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < until_s, "it never came to that"
        time.sleep(0.02)


def problem(answer: httpx2.Response, status: int, code: str) -> Mapping[str, Any]:
    """The problem document that an answer must be (RFC 9457)."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["status"] == status
    assert document["code"] == code
    assert {"type", "title", "detail", "instance"} <= document.keys()
    return document
