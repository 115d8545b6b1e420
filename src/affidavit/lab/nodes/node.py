"""One process of the rig: an HTTP server with routes, settings, telemetry and a control door."""

import json
import random
import re
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from affidavit.lab.instruments import ACTIVE, DURATION, ERRORS, REQUESTS
from affidavit.lab.nodes.telemetry import Span, Telemetry, Trace, describe_crash, now_us
from affidavit.lab.nodes.upstream import LOOPBACK, Upstream

JsonObject = dict[str, Any]
TRACE_RATIO = 0.2
"""Share of requests whose spans are kept, decided at the edge (head sampling)."""
_BODY_MAX = 1_000_000  # no request inside the rig comes near it
_TEXT_PAGE = "text/plain; version=0.0.4; charset=utf-8"  # Prometheus' text format
_DRAIN_S = 3.0  # how long a replaced process may finish what it has begun
_UNLOGGED = ("POST /sql", "GET /entries", "POST /entries", "POST /messages")
# Servers of statements, entries and messages write no access log, as real ones do not.


class Refused(Exception):
    """Answer the caller with `status` and this text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """What a route gets: path parameters and query in `values`, the parsed body, the trace."""

    values: Mapping[str, str]
    body: Any
    trace: Trace


Route = Callable[[Request], Any]
Action = Callable[[JsonObject], None]


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """What the rig tells a process that it starts (one JSON line on standard input)."""

    name: str
    instance: str
    program: str
    version: str
    port: int
    folder: str
    settings: JsonObject
    upstreams: Mapping[str, int]

    def to_line(self) -> str:
        """The JSON line, with its newline."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return json.dumps(fields) + "\n"

    @classmethod
    def from_line(cls, line: str) -> "NodeSpec":
        """Read the line back. Raises `TypeError` on a missing or unknown field."""
        return cls(**json.loads(line))


class Node:
    """Routes, settings and telemetry of one process; `run()` serves until it is told to stop."""

    def __init__(self, spec: NodeSpec) -> None:
        self.spec = spec
        self.telemetry = Telemetry(Path(spec.folder), spec.name, spec.instance)
        self.settings: JsonObject = {}
        self.draining = threading.Event()
        self._routes: list[tuple[str, str, re.Pattern[str], Route]] = []
        self._actions: dict[str, Action] = {"set": self._set}
        self._works: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._active = 0
        self.telemetry.count(REQUESTS, 0)
        self.telemetry.count(ERRORS, 0)
        self.telemetry.gauge(ACTIVE, lambda: self._active)

    # -- what a program uses to describe itself ----------------------------------------------

    def declare(self, **defaults: Any) -> None:
        """Name this program's settings, with their defaults; the spec's values override them."""
        self.settings |= defaults
        self._set({name: v for name, v in self.spec.settings.items() if name in defaults})

    def route(self, method: str, template: str, answer: Route) -> None:
        """Answer `method template` (as in `/orders/{id}`) with `answer`'s return value."""
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template)
        self._routes.append((method, template, re.compile(f"{pattern}$"), answer))

    def action(self, name: str, act: Action) -> None:
        """Let the rig call `act` through the control door."""
        self._actions[name] = act

    @property
    def actions(self) -> frozenset[str]:
        """The names of what the control door can do."""
        return frozenset(self._actions)

    def background(self, work: Callable[[], None]) -> None:
        """Run `work` in a thread of its own from the moment that the process listens."""
        self._works.append(work)

    def upstream(self, name: str, connections_max: int = 32, wait_s: float = 1.0) -> Upstream:
        """A pool of connections to the neighbour called `name`."""
        port = self.spec.upstreams[name]
        return Upstream(name, port, self.telemetry, connections_max, wait_s)

    def has_upstream(self, name: str) -> bool:
        """Whether this plant has that neighbour."""
        return name in self.spec.upstreams

    # -- serving -----------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until SIGTERM; then finish the requests at hand and return."""
        server = _Server((LOOPBACK, self.spec.port), _Connection)
        server.node = self

        def drain(*_: object) -> None:
            self.draining.set()
            threading.Thread(target=server.shutdown, daemon=True).start()

        signal.signal(signal.SIGTERM, drain)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is the rig's to act on
        self.telemetry.log(
            "INFO", f"{self.spec.name} {self.spec.version} listening", emitter="platform"
        )
        for work in self._works:
            threading.Thread(target=work, daemon=True).start()
        print("ready", flush=True)  # noqa: T201 - the rig waits for this line
        server.serve_forever(poll_interval=0.1)
        server.server_close()
        deadline = time.monotonic() + _DRAIN_S
        while self._active and time.monotonic() < deadline:
            time.sleep(0.02)
        self.telemetry.close()

    def answer(self, method: str, target: str, body: bytes, traceparent: str | None) -> "Reply":
        """Answer one request: control door, text page, or a route under full telemetry."""
        url = urlsplit(target)
        if url.path == "/metrics":
            return Reply(HTTPStatus.OK, self.telemetry.exposition().encode(), _TEXT_PAGE)
        values = {name: texts[-1] for name, texts in parse_qs(url.query).items()}
        if url.path.startswith("/-/"):
            return self._control(url.path[3:], body)
        for known, template, pattern, route in self._routes:
            matched = pattern.match(url.path) if known == method else None
            if matched:
                chosen = random.random() < TRACE_RATIO  # noqa: S311 - a sample, no secret
                begun = Trace.read(traceparent) or Trace.begin(chosen)
                parsed = json.loads(body) if body else None
                request = Request(values | matched.groupdict(), parsed, begun.child())
                return self._observed(f"{method} {template}", route, request, begun.span_id)
        return _json(HTTPStatus.NOT_FOUND, {"error": f"no route for {method} {url.path}"})

    def _observed(
        self, name: str, route: Route, request: Request, parent_span_id: str | None
    ) -> "Reply":
        started_us, started = now_us(), time.perf_counter()
        with self._lock:
            self._active += 1
        status, answer = self._outcome(name, route, request)
        elapsed_us = int((time.perf_counter() - started) * 1e6)
        with self._lock:
            self._active -= 1
        failed = status >= HTTPStatus.INTERNAL_SERVER_ERROR
        failure = str(answer.get("error")) if failed else None
        self.telemetry.count(REQUESTS)
        self.telemetry.count(ERRORS, int(failed))
        self.telemetry.observe(DURATION, elapsed_us / 1000)
        self.telemetry.record(
            Span(request.trace, parent_span_id, name, "SERVER", started_us, elapsed_us, failure)
        )
        if request.trace.sampled and not name.startswith(_UNLOGGED):
            text = f"{name} {status} in {elapsed_us / 1000:.1f} ms"
            self.telemetry.log("INFO", text, request.trace)
        return _json(status, answer)

    def _outcome(self, name: str, route: Route, request: Request) -> tuple[int, Any]:
        try:
            return HTTPStatus.OK, route(request)
        except Refused as refusal:
            return refusal.status, {"error": str(refusal)}
        except Exception as error:  # noqa: BLE001 - a server's outermost wall: answer 500, log why
            text = f"{name} failed: unhandled exception\n{describe_crash(error)}"
            self.telemetry.log("ERROR", text, request.trace)
            return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": type(error).__name__}

    # -- the rig's control door --------------------------------------------------------------

    def _control(self, name: str, body: bytes) -> "Reply":
        act = self._actions.get(name)
        if act is None:
            return _json(HTTPStatus.NOT_FOUND, {"error": f"no action {name}"})
        try:
            order = json.loads(body or b"{}")
            if not isinstance(order, dict):
                raise TypeError("an order is a JSON object")
            act(order)
        except (KeyError, ValueError, TypeError) as error:
            return _json(HTTPStatus.BAD_REQUEST, {"error": f"{name}: {error}"})
        return _json(HTTPStatus.OK, {"done": name})

    def _set(self, changes: JsonObject) -> None:
        unknown = sorted(changes.keys() - self.settings.keys())
        if unknown:
            raise KeyError(f"no setting called {', '.join(unknown)}")
        with self._lock:
            self.settings = self.settings | changes


@dataclass(frozen=True, slots=True)
class Reply:
    """A finished answer."""

    status: int
    payload: bytes
    content_type: str


def _json(status: int, answer: Any) -> Reply:
    return Reply(status, json.dumps(answer).encode(), "application/json")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # _DRAIN_S bounds the wait instead
    allow_reuse_port = True  # the rig reserves the port; a successor listens beside its forerunner
    request_queue_size = 128
    node: Node

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer would look its own name up in DNS


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one segment an answer, or the peer's delayed ACK adds 40 ms
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        length = min(int(self.headers.get("content-length") or 0), _BODY_MAX)
        body = self.rfile.read(length)
        node = self.server.node
        reply = node.answer(self.command, self.path, body, self.headers.get("traceparent"))
        if node.draining.is_set():
            self.close_connection = True
        try:
            self.send_response(reply.status)
            self.send_header("content-type", reply.content_type)
            self.send_header("content-length", str(len(reply.payload)))
            if self.close_connection:
                self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(reply.payload)
            self.wfile.flush()
        except ConnectionError:  # the caller gave up; it has its own record of that
            self.close_connection = True

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Nothing: the node writes its own lines."""
