"""The bodies of requests: each has a size and a time, and all together have a bound.

A body is held from its first byte to the end of its request. What would be more than the tenant's
share, or more than there is room for, is refused while it comes in (429), so that nobody who has a
key can fill the memory with bodies that are slow, or many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from affidavit.server.problems import Problem

BODY_BYTES_MAX: Final = 64 * 1024
"""A question, a decision: what a person types."""

LARGE_BODIES: Final[Mapping[str, int]] = {
    "/api/v1/gate": 8 * 1024 * 1024,
    "/hooks/": 1024 * 1024,
}
"""Paths whose bodies are more than that: an answer with its tool calls, a storm of alerts."""

BODY_WAIT_S: Final = 20.0
"""A body that trickles in is not waited for."""

HELD_MAX: Final = 128 * 1024 * 1024
HELD_OF_TENANT_MAX: Final = 64 * 1024 * 1024
"""Of all bodies at once, in bytes: eight of the largest from one tenant, sixteen from all."""


@dataclass(slots=True)
class Held:
    """How many bytes of bodies are held, by tenant."""

    _bytes: Counter[str] = field(default_factory=Counter)

    def total(self) -> int:
        """Of everybody."""
        return self._bytes.total()

    @contextmanager
    def room_for(self, tenant: str) -> Iterator[Room]:
        """Room for one body; it is free again when this ends."""
        room = Room(self, tenant)
        try:
            yield room
        finally:
            self._bytes[tenant] -= room.size

    def add(self, tenant: str, size: int) -> None:
        """So much more is held. Raises Problem (429) where there is no room for it."""
        if self._bytes[tenant] + size > HELD_OF_TENANT_MAX or self.total() + size > HELD_MAX:
            raise Problem(
                429,
                "BODIES_TOO_MANY",
                "too many large bodies are under way",
                hint="send them one after another",
                headers={"retry-after": "2"},
            )
        self._bytes[tenant] += size


@dataclass(slots=True)
class Room:
    """What one body takes."""

    held: Held
    tenant: str
    size: int = 0

    def take(self, size: int) -> None:
        """For a part of it. Raises Problem (429)."""
        self.held.add(self.tenant, size)
        self.size += size


async def read_body(scope: Scope, headers: Headers, receive: Receive, room: Room) -> bytes:
    """The whole body. Raises Problem for one that is too large (413), trickles in (408), is cut
    off (400), or finds no room (429)."""
    path = scope["path"]
    most = next((n for start, n in LARGE_BODIES.items() if path.startswith(start)), BODY_BYTES_MAX)
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > most:
        raise _too_large(most)
    if not declared and "transfer-encoding" not in headers:
        return b""
    parts = []
    with anyio.move_on_after(BODY_WAIT_S):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise Problem(400, "BODY_CUT_OFF", "the body was cut off", hint="send it again")
            part = message.get("body", b"")
            if room.size + len(part) > most:
                raise _too_large(most)
            room.take(len(part))
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)
    raise Problem(408, "BODY_TOO_SLOW", "the body did not come in time", hint="send it again")


def replay(body: bytes, receive: Receive) -> Receive:
    """Give the application the body that was read, and then what still comes: a disconnect."""
    given = False

    async def next_message() -> Message:
        nonlocal given
        if given:
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return message
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


def _too_large(most: int) -> Problem:
    return Problem(
        413, "BODY_TOO_LARGE", f"the body may have {most} bytes", hint="send less at once"
    )
