"""Each anchor against the real thing: a file, a log daemon's socket, a web server (A4)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from affidavit.adapters.anchors import FileAnchor, WebhookAnchor, open_anchors
from affidavit.affidavit.anchoring import read_anchor
from affidavit.application.anchoring import Teller
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.diagnose import drive, start
from affidavit.ports.store import SealedHead
from tests.support.runs import RUN_ID, request
from tests.support.worlds import act, conclude, world

pytestmark = [pytest.mark.anyio, pytest.mark.spec("A4")]

HEAD = SealedHead("local", 1, RUN_ID, "1" * 64, "0" * 64)


class Kept(BaseHTTPRequestHandler):
    """Keeps what it is told, and answers what its path says."""

    bodies: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(int(self.path.strip("/").split("?")[0]))
        self.send_header("Location", "/200")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Silent."""


@contextmanager
def web_server() -> Iterator[str]:
    Kept.bodies.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Kept)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def test_a_published_run_is_told_of_everywhere(tmp_path: Path) -> None:
    complaints: list[RecordFailed] = []
    place = tmp_path / "heads"
    with web_server() as url:
        anchors = open_anchors(
            (f"file:{place}", f"{url}/200", f"{url}/500", f"file:{tmp_path}/missing/heads")
        )
        told = world([act("probe"), conclude()])
        told = type(told)(
            told.driver,
            told.collection,
            told.examiner,
            told.seal,
            tell=Teller(anchors, complaints.append),
        )
        await start(told, request())
        await drive(RUN_ID, told)
    heads = await told.driver.store.sealed_heads(request().tenant)
    assert read_anchor(place.read_bytes()) == heads
    assert read_anchor(Kept.bodies[0] + b"\n") == heads
    assert [failed.code for failed in complaints] == ["ANCHOR_FAILED", "ANCHOR_FAILED"]
    assert place.stat().st_mode & 0o777 == 0o600


async def test_a_file_is_only_ever_appended_to(tmp_path: Path) -> None:
    anchor = FileAnchor(tmp_path / "heads")
    for number in range(3):
        await anchor.tell(HEAD, b"%d" % number)
    assert anchor.path.read_bytes() == b"0\n1\n2\n"
    with pytest.raises(RecordFailed):
        await FileAnchor(tmp_path).tell(HEAD, b"x")


@pytest.mark.parametrize("status", [302, 404, 500])
async def test_only_a_good_answer_counts(status: int) -> None:
    with web_server() as url:
        anchor = WebhookAnchor(f"{url}/{status}?token=secret")
        with pytest.raises(RecordFailed, match=f"it answered {status}") as failed:
            await anchor.tell(HEAD, json.dumps({}).encode())
        assert len(Kept.bodies) == 1
    assert "secret" not in failed.value.message
    with pytest.raises(RecordFailed, match="cannot be reached"):
        await anchor.tell(HEAD, b"{}")


@pytest.mark.parametrize(
    "setting",
    ["heads", "file:", "syslog:x", "ftp://host/", "https://", "http://example.org/x"],
)
def test_what_is_no_anchor_is_refused(setting: str) -> None:
    with pytest.raises(InputRefused) as refused:
        open_anchors((setting,))
    assert refused.value.code == "ANCHOR_REFUSED"


def test_anchors_stand_side_by_side() -> None:
    assert open_anchors(()) == ()
    names = [
        anchor.name for anchor in open_anchors(("file:/x/y", "syslog:", "https://h.example/a?k=1"))
    ]
    assert names == ["file:/x/y", "syslog:", "https://h.example/a"]
