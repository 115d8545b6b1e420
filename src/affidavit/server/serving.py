"""A real server around the application: where it listens, and how it stops."""

from __future__ import annotations

import asyncio
import resource
import socket
import ssl
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Final

import uvicorn

from affidavit.contract.errors import InputRefused
from affidavit.ports.store import Store
from affidavit.server.app import begin_stop, build_app
from affidavit.server.connections import CONNECTIONS_MAX, HEAD_BYTES_MAX, BoundedConnection
from affidavit.server.gatekeeper import LOOPBACK_NAMES
from affidavit.server.hooks import HookPlan, open_hooks
from affidavit.server.house import House, ServeOptions, add_hooks, add_issuer, build_house
from affidavit.server.logbook import LOGGER
from affidavit.server.tls import HANDSHAKE_S, open_tls

GRACE_S: Final = 5
"""What requests under way have to end in; streams end at once, and runs pause after that."""

BACKLOG: Final = 1024

OPEN_FILES: Final = CONNECTIONS_MAX + 1_000
"""A file a connection, and room for the store, the log and what goes out."""

PORT_MAX: Final = 65_535


@dataclass(frozen=True, slots=True)
class Address:
    """Where the service listens."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK_NAMES

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str) -> Address:
    """`HOST:PORT`, or `:PORT` on this machine alone. Raises InputRefused (ADDRESS_REFUSED)."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not colon or not port.isdecimal() or int(port) > PORT_MAX:
        raise InputRefused(
            f"{text!r} is no address to listen at",
            code="ADDRESS_REFUSED",
            hint="for example 127.0.0.1:8080",
        )
    return Address(host, int(port))


def check_reach(address: Address, options: ServeOptions) -> None:
    """Whoever opens the service to others says under which name, and keeps drills at home.

    Raises InputRefused (HOSTS_MISSING, DRILLS_EXPOSED).
    """
    if address.is_loopback:
        return
    if options.drills:
        raise InputRefused(
            f"drills break things on purpose, and {address} is open to others",
            code="DRILLS_EXPOSED",
            hint="leave --drills out, or listen at 127.0.0.1",
        )
    if not options.hosts:
        raise InputRefused(
            f"{address} is open to others, and no name is allowed",
            code="HOSTS_MISSING",
            hint="say under which name it is reached: --allow-host NAME",
        )


class Server(uvicorn.Server):
    """Ends streams as soon as it is told to stop: an open one would hold the stop up."""

    def __init__(self, house: House, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(
            uvicorn.Config(
                build_app(house),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE_S,
                lifespan="on",
                ws="none",
                http=BoundedConnection,
                h11_max_incomplete_event_size=HEAD_BYTES_MAX,
            )
        )
        self.house = house
        self.config.load()
        self.config.ssl = tls

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does, but a handshake has less than the minute that asyncio gives it."""
        loop = asyncio.get_running_loop()
        if self.config.ssl is None:
            await super().startup(sockets)
            return
        made = partial(loop.create_server, ssl_handshake_timeout=HANDSHAKE_S)
        loop.create_server = made  # type: ignore[method-assign]  # it has no other way in
        try:
            await super().startup(sockets)
        finally:
            del loop.create_server

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A word to stop; the second one waits for nothing more.

        Unlike uvicorn's own, the signal is not raised again: a stop that was asked for is no
        failure.
        """
        self.force_exit = self.should_exit
        self.should_exit = True
        begin_stop(self.house)


def raise_open_files() -> None:
    """As many open files as the connections need, where this process may: the usual soft limit of
    1024 is less than the streams that are let in."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def open_socket(address: Address) -> socket.socket:
    """The socket, listening. Raises InputRefused (ADDRESS_TAKEN)."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((address.host, address.port))
        listening.listen(BACKLOG)
    except (OSError, UnicodeError) as error:
        listening.close()
        raise InputRefused(
            f"{address} cannot be listened at: {getattr(error, 'strerror', None) or error}",
            code="ADDRESS_TAKEN",
            hint="name another with --listen HOST:PORT",
        ) from None
    return listening


async def serve(
    options: ServeOptions,
    store: Store,
    listening: socket.socket,
    plan: HookPlan | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; when this returns, runs are paused and nothing is lost."""
    house = build_house(options, store)
    if plan is not None:
        add_hooks(house, open_hooks(plan, store, house.engine.wake, house.meters.note_delivery))
        add_issuer(house, plan.environment)
    server = Server(house, open_tls(options.settings.server))
    LOGGER.info("listening at %s", Address(*listening.getsockname()[:2]))
    await server.serve(sockets=[listening])
