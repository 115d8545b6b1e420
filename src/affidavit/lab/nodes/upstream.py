"""Calls from one process of the rig to another: a bounded pool, trace context, a client span."""

import http.client
import json
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from affidavit.lab.instruments import POOL_TIMEOUTS
from affidavit.lab.nodes.telemetry import Span, Telemetry, Trace, now_us

LOOPBACK = "127.0.0.1"
"""The rig listens and calls nowhere else."""

_BODY_MAX = 4_000_000  # no answer inside the rig comes near it; a bound on a broken one


class UpstreamError(Exception):
    """A call to another process failed; the text says which and how, without a traceback."""


class UpstreamRefused(UpstreamError):
    """The other side answered with a status of 400 or more."""

    def __init__(self, peer: str, status: int, detail: str) -> None:
        super().__init__(f"{peer} answered {status}: {detail}")
        self.status = status


class PoolTimeout(UpstreamError):
    """No connection became free in time: all that the pool may open are in use."""


@dataclass(frozen=True, slots=True)
class Call:
    """What to ask a neighbour. `label` names the span; without one it is method and path."""

    method: str
    path: str
    body: Any = None
    label: str | None = None
    timeout_s: float = 2.0


class Upstream:
    """One neighbour, reached over at most `connections_max` connections at once."""

    def __init__(
        self, name: str, port: int, telemetry: Telemetry, connections_max: int, wait_s: float
    ) -> None:
        self.name = name
        self.in_use = 0
        self.connections_max = connections_max
        self._wait_s = wait_s
        self._port = port
        self._telemetry = telemetry
        self._permits = threading.Semaphore(connections_max)
        self._idle: queue.LifoQueue[http.client.HTTPConnection] = queue.LifoQueue()
        self._lock = threading.Lock()

    def acquire(self) -> None:
        """Take one of the pool's places. Raises `PoolTimeout` when none is free in time."""
        if not self._permits.acquire(timeout=self._wait_s):
            self._telemetry.count(POOL_TIMEOUTS)
            raise PoolTimeout(
                f"no connection to {self.name} became free within {self._wait_s * 1000:.0f} ms: "
                f"pool exhausted (size {self.connections_max}, in use {self.in_use})"
            )
        with self._lock:
            self.in_use += 1

    def release(self) -> None:
        """Give a place back."""
        with self._lock:
            self.in_use -= 1
        self._permits.release()

    @contextmanager
    def _place(self) -> Iterator[None]:
        self.acquire()
        try:
            yield
        finally:
            self.release()

    def call(self, trace: Trace, call: Call) -> Any:
        """Make the call and return the parsed answer. Raises `UpstreamError`.

        The client span covers the wait for a connection too: it is time that the caller spends
        on this neighbour.
        """
        span, started_us, started = trace.child(), now_us(), time.perf_counter()
        failure: str | None = None
        try:
            with self._place():
                return self._exchange(span, call)
        except UpstreamError as error:
            failure = str(error)
            raise
        finally:
            elapsed_us = int((time.perf_counter() - started) * 1e6)
            label = f"{self.name} {call.label or f'{call.method} {call.path}'}"
            self._telemetry.record(
                Span(span, trace.span_id, label, "CLIENT", started_us, elapsed_us, failure)
            )

    def _exchange(self, span: Trace, call: Call) -> Any:
        status, raw = self._send(span, call)
        answer = json.loads(raw) if raw else None
        if status >= HTTPStatus.BAD_REQUEST:
            detail = answer.get("error", "") if isinstance(answer, dict) else ""
            raise UpstreamRefused(self.name, status, detail)
        return answer

    def _send(self, span: Trace, call: Call) -> tuple[int, bytes]:
        """One exchange; a connection that the other side closed while idle is replaced once."""
        try:
            idle = self._idle.get_nowait()
            return self._send_on(idle, span, call)
        except (queue.Empty, _StaleConnection):
            fresh = http.client.HTTPConnection(LOOPBACK, self._port, timeout=call.timeout_s)
            return self._send_on(fresh, span, call)

    def _send_on(
        self, connection: http.client.HTTPConnection, span: Trace, call: Call
    ) -> tuple[int, bytes]:
        reused = connection.sock is not None
        payload = None if call.body is None else json.dumps(call.body).encode()
        headers = {"traceparent": span.header, "content-type": "application/json"}
        if reused:
            connection.sock.settimeout(call.timeout_s)
        try:
            connection.request(call.method, call.path, payload, headers)
            response = connection.getresponse()
            raw = response.read(_BODY_MAX)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if reused and isinstance(error, ConnectionError):
                raise _StaleConnection from None
            raise UpstreamError(f"{self.name}: {_plain(error, call)}") from None
        self._idle.put(connection)
        return response.status, raw


class _StaleConnection(Exception):
    """The other side had closed this idle connection: the caller opens a new one."""


def _plain(error: Exception, call: Call) -> str:
    match error:
        case TimeoutError():
            return f"no answer within {call.timeout_s * 1000:.0f} ms"
        case ConnectionRefusedError():
            return "connection refused"
        case http.client.RemoteDisconnected():
            return "connection closed without an answer"
        case _:
            return str(error) or type(error).__name__


def run_statement(
    database: Upstream, trace: Trace, name: str, sql: str, args: tuple[Any, ...] = ()
) -> list[list[Any]]:
    """Run one statement on the rig's database; `name` is what its span is called.

    Returns the rows. Raises `UpstreamError`.
    """
    body = {"name": name, "sql": sql, "args": args}
    answer = database.call(trace, Call("POST", "/sql", body, label=name))
    rows: list[list[Any]] = answer["rows"]
    return rows
