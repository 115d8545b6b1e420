"""A small real HTTP server on loopback, whose answers a test decides."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(slots=True)
class Seen:
    """One request that came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class Reply:
    """What is answered. `pieces` overrules the body: sent one by one, without a length."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    pieces: Callable[[], Iterator[bytes]] | None = None


class Quiet(ThreadingHTTPServer):
    """Says nothing of a client that leaves, or that does not believe its certificate."""

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


@dataclass(slots=True)
class Stage:
    """The running server: its port, and what it saw."""

    port: int
    seen: list[Seen]
    scheme: str = "http"

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{self.scheme}://127.0.0.1:{self.port}"


@contextmanager
def stage(answer: Callable[[Seen], Reply], tls: ssl.SSLContext | None = None) -> Iterator[Stage]:
    """A server that answers as it is told, until the context ends; with `tls`, over https."""
    seen: list[Seen] = []

    class Speaker(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            asked = Seen(
                self.command,
                self.path,
                {name.lower(): value for name, value in self.headers.items()},
                self.rfile.read(length),
            )
            seen.append(asked)
            reply = answer(asked)
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.pieces is None:
                    self.send_header("content-length", str(len(reply.body)))
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(reply.body)
                else:
                    self.send_header("connection", "close")
                    self.end_headers()
                    for piece in reply.pieces():
                        self.wfile.write(piece)
            except (BrokenPipeError, ConnectionResetError):
                pass

        do_GET = do_POST = do_HEAD = _answer  # noqa: N815 - the names that http.server wants

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = Quiet(("127.0.0.1", 0), Speaker)
    if tls is not None:
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield Stage(server.server_address[1], seen, "http" if tls is None else "https")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
