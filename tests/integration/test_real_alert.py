"""A real alert, from the scrape to the signed webhook (I5, A2).

Prometheus watches the lab and fires; Alertmanager posts to `affidavit serve`; one run starts and
diagnoses live; its first observation and its result arrive signed. Every server is real, listens on
loopback, and is gone at the end.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import anyio
import pytest

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.adapters.webhook_signature import is_signed
from affidavit.contract.journal import EventType
from affidavit.contract.states import EvidenceStatus
from tests.support.http_stage import Reply, Seen, stage
from tests.support.watched_lab import (
    alertmanager,
    free_port,
    needs,
    running,
    wait_for,
    watched_lab,
)

pytestmark = pytest.mark.slow

AFFIDAVIT: Final = str(Path(sys.executable).with_name("affidavit"))
SECRET: Final = "a-secret-of-the-test"
QUIET_S: Final = 30.0
PATIENCE_S: Final = 90.0  # bounds the wait for what must come; measures nothing


DELIVERY: Final = """
[delivery.destinations.ops]
type = "webhook"
url = "{url}/hook"
secret-env = ["HOOK_KEY"]

[[delivery.routes]]
match = {{ severity = "page" }}
to = ["ops"]
"""


@contextmanager
def service(folder: Path, port: int) -> Iterator[None]:
    """`affidavit serve` in that folder."""
    serve = [AFFIDAVIT, "serve", "--listen", f"127.0.0.1:{port}", "--store", "sqlite:runs.db",
             "--keys", "keys.json"]  # fmt: skip
    script = ["env", "-C", str(folder), f"HOOK_KEY={SECRET}", *serve]
    with running(script, folder / "serve.log"):
        wait_for(f"http://127.0.0.1:{port}/healthz")
        yield


def make_key(folder: Path) -> str:
    """An operator's key of the tenant acme."""
    command = [AFFIDAVIT, "keys", "create", "alerts", "--role", "operator", "--tenant", "acme",
               "--keys", "keys.json", "--json"]  # fmt: skip
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    key: str = json.loads(done.stdout)["key"]
    return key


def until(ready: Callable[[], bool], log: Path) -> None:
    """Wait for what must come."""
    end_s = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < end_s, log.read_text()[-4000:]
        time.sleep(0.2)


@pytest.mark.integration("prometheus")
@pytest.mark.spec("I5", "I4", "C11")
@pytest.mark.fault("R71", "R72")
def test_a_real_alert_becomes_one_run_and_a_signed_answer(tmp_path: Path) -> None:
    needs("prometheus", "prometheus-alertmanager")
    arrived: list[tuple[float, Seen]] = []

    def receive(asked: Seen) -> Reply:
        arrived.append((time.time(), asked))
        return Reply()

    ours, theirs = free_port(), free_port()
    (tmp_path / "affidavit").mkdir()
    folder = tmp_path / "affidavit"
    key = make_key(folder)
    hook = f"http://127.0.0.1:{ours}/hooks/alertmanager"
    with (
        stage(receive) as receiver,
        alertmanager(tmp_path / "alertmanager", theirs, hook, key),
        watched_lab(tmp_path, pages_to=theirs) as lab,
    ):
        settings = lab.settings(f"127.0.0.1:{receiver.port}") + DELIVERY.format(url=receiver.url)
        (folder / "affidavit.toml").write_text(settings)
        with service(folder, ours):
            time.sleep(QUIET_S)
            lab.rig.kill("orders")
            until(lambda: len(arrived) >= 2, folder / "serve.log")
            time.sleep(3)  # a second run would show by now
    anyio.run(check, folder, arrived)


async def check(folder: Path, arrived: list[tuple[float, Seen]]) -> None:
    """One run of the tenant, its observation in time, both messages signed, the answer live."""
    store = SqliteStore(folder / "runs.db")
    try:
        (head,) = await store.runs("acme")
        entries = await store.read(head.run_id)
    finally:
        await store.close()
    documents = [json.loads(seen.body) for _, seen in arrived]
    assert [document["type"] for document in documents] == ["run.observation", "run.result"]
    for at_s, seen in arrived:
        assert is_signed(seen.body, seen.headers["affidavit-signature"], (SECRET,), at_s)
    assert {document["run_id"] for document in documents} == {head.run_id}
    found = [
        entry.at_us for entry in entries
        if entry.type is EventType.TOOL_CALL_READY
        and entry.data["evidence_status"] == EvidenceStatus.EVIDENCE_FOUND
    ]  # fmt: skip
    assert arrived[0][0] - found[0] / 1e6 < 10
    assert documents[1]["incident"]["labels"]["service"] == "storefront"
    release = documents[1]["release"]
    lines = {(line["source"], line["status"]) for line in release["coverage"]["lines"]}
    assert ("prometheus:lab", "consulted") in lines
    assert release["outcome"] in {"SUCCESS", "FALLBACK"}
    assert "orders" in json.dumps(release["result"] or release["fallback"])
