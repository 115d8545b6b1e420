"""One connection, with a bound on everything that its other end could hold open or make large.

uvicorn ends a connection that is silent between two requests, and no other: a request whose head
trickles in (slowloris), or an answer that nobody reads, would be kept for ever. Here both have a
time; the body's time and size are the gatekeeper's. What h11 cannot read is answered as a problem
document like any other error: 431 for a head that is too large, 400 for the rest.
"""

from __future__ import annotations

import asyncio
import sys
from http import HTTPStatus
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from affidavit.server.problems import Problem, problem_response
from affidavit.server.tls import CERTIFICATE, certificate_of

HEAD_BYTES_MAX: Final = 32_768
"""Of one request's line and headers: a cookie and a token fit many times."""

HEAD_WAIT_S: Final = 10.0
"""From a connection's beginning, or its last answer, to the end of the next request's head."""

STALL_S: Final = 60.0
"""How long an answer may wait for a reader who takes nothing of it: four heartbeats of a stream."""

CONNECTIONS_MAX: Final = 3_000
"""All streams, all requests under way, and room for those that are about to be refused."""


class BoundedConnection(H11Protocol):
    """A connection of the service; uvicorn makes one for each."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._head_timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    def connection_made(
        self,
        transport: asyncio.Transport,  # type: ignore[override]  # as uvicorn's own has it
    ) -> None:
        """Let it in, unless there are too many."""
        super().connection_made(transport)
        shown = certificate_of(transport)
        if shown is not None:  # every request of this connection carries it
            self.app_state = {**self.app_state, CERTIFICATE: shown}
        if len(self.connections) > CONNECTIONS_MAX:
            self._refuse(_too_many())
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing waits for it any more."""
        self._stop_waiting()
        self._unstall()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes; once they make a request, its head is awaited no longer."""
        super().data_received(data)
        if self._is_answering():
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """The next request may come, in its time; it may have come already."""
        super().on_response_complete()
        if not self.transport.is_closing() and not self._is_answering():
            self._await_head()

    def pause_writing(self) -> None:
        """The reader takes nothing: it has until `STALL_S`."""
        self.flow.pause_writing()
        if self._stall_timer is None:
            self._stall_timer = self.loop.call_later(STALL_S, self.transport.abort)

    def resume_writing(self) -> None:
        """The reader reads on."""
        self._unstall()
        self.flow.resume_writing()

    def send_400_response(self, msg: str) -> None:
        """What cannot be read is refused; h11 says as what."""
        error = sys.exc_info()[1]
        hint = getattr(error, "error_status_hint", HTTPStatus.BAD_REQUEST)
        self._refuse(head_too_large() if hint == 431 else _unreadable(msg))

    def _is_answering(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    def _await_head(self) -> None:
        self._stop_waiting()
        self._head_timer = self.loop.call_later(HEAD_WAIT_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _unstall(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _give_up(self) -> None:
        """The head did not come. A connection that never said anything is told nothing."""
        if self._is_answering() or self.transport.is_closing():
            return
        if self.conn.trailing_data[0]:
            self._refuse(_too_slow())
        else:
            self.transport.close()

    def _refuse(self, problem: Problem) -> None:
        """Answer and close, where an answer can still be given."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            answer = problem_response(problem, "")
            headers = [*answer.raw_headers, (b"connection", b"close")]
            reason = HTTPStatus(problem.status).phrase.encode("ascii")
            start = h11.Response(status_code=problem.status, headers=headers, reason=reason)
            for event in (start, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self._is_answering():  # as if it had left: a second answer would be none
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()


def _unreadable(_: str) -> Problem:
    return Problem(400, "REQUEST_UNREADABLE", "this is no HTTP request", hint="RFC 9112")


def head_too_large() -> Problem:
    """The answer to headers beyond `HEAD_BYTES_MAX`."""
    return Problem(
        431,
        "HEADERS_TOO_LARGE",
        f"the request's headers may have {HEAD_BYTES_MAX} bytes",
        hint="send fewer cookies, or a shorter token",
    )


def _too_slow() -> Problem:
    return Problem(408, "HEADERS_TOO_SLOW", "the headers did not come in time", hint="try again")


def _too_many() -> Problem:
    return Problem(
        503,
        "CONNECTIONS_TOO_MANY",
        "there are too many connections",
        hint="come again in a moment",
        headers={"retry-after": "5"},
    )
