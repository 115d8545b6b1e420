"""A storm from two sender processes: a run a group, whoever is killed meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import httpx2
import pytest

from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.journal import EventType
from affidavit.contract.states import is_terminal
from tests.support.http_stage import Reply, Seen, stage
from tests.support.machine import Machine, machine_at
from tests.support.service import WAIT_S, parse_events, read_stream, wait_until
from tests.support.watched_lab import free_port

pytestmark = pytest.mark.slow

TAKER: Final = Path(__file__).with_name("alert_taker.py")
SENDER: Final = Path(__file__).with_name("alert_sender.py")
GROUPS: Final = 20

SETTINGS: Final = """
[backends.files.logs]
signal = "logs"
paths = ["{home}/nothing/*.jsonl"]

[outgoing]
hosts = ["127.0.0.1:{port}"]

[delivery.destinations.ops]
type = "webhook"
url = "http://127.0.0.1:{port}/hook"
secret-env = ["HOOK_KEY"]

[[delivery.routes]]
to = ["ops"]
"""


def taker(store: Path, sender: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, TAKER, store, sender], stdout=subprocess.PIPE, text=True, env=environment
    )


@pytest.mark.anyio
@pytest.mark.spec("I5")
@pytest.mark.fault("R39")
@pytest.mark.parametrize("kill_after", [7, 33])
async def test_two_hundred_alerts_of_twenty_groups_are_twenty_runs(
    tmp_path: Path, kill_after: int
) -> None:
    place = tmp_path / "runs.db"
    first, second = taker(place, "a"), taker(place, "b")
    assert first.stdout is not None
    for _ in range(kill_after):
        assert first.stdout.readline()
    first.kill()
    first.wait()
    again = taker(place, "a")
    try:
        assert again.wait(60) == 0
        assert second.wait(60) == 0
    finally:
        for process in (first, second, again):
            process.kill()
            process.communicate()
    store, book = SqliteStore(place), SqliteIncidents(place)
    try:
        heads = await store.runs("acme", 100)
        incidents = await book.incidents("acme", 100)
    finally:
        await book.close()
        await store.close()
    assert len(heads) == 20
    assert {head.run_id for head in heads} == {incident.run_id for incident in incidents}
    assert sum(incident.alerts + incident.repeats for incident in incidents) >= 200


def sender(url: str, machine: Machine, name: str) -> subprocess.Popen[str]:
    key = machine.state / "admin.key"
    return subprocess.Popen(
        [sys.executable, SENDER, url, key, name], stdout=subprocess.PIPE, text=True
    )


def watch(api: httpx2.Client, seen: list[str]) -> None:
    """Follow the newest run until its stream ends or is cut."""
    with suppress(httpx2.TransportError, IndexError):
        run_id = api.get("/api/v1/runs").json()["runs"][0]["run_id"]
        with api.stream("GET", f"/api/v1/runs/{run_id}/events") as stream:
            seen.extend(stream.iter_text())


@pytest.mark.spec("I5", "L6", "K8", "N12")
@pytest.mark.fault("R39", "F14")
@pytest.mark.parametrize("kill_after", [11, 61])
def test_a_storm_over_http_through_a_killed_service_is_a_run_a_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kill_after: int
) -> None:
    """Two hundred alerts of twenty groups; the service is killed and comes back midway, with runs
    under way and a stream open. Every run is there once, ends once, and has one result to send."""
    monkeypatch.setenv("HOOK_KEY", "a-secret-of-the-test")
    port = free_port()
    arrived: list[Seen] = []

    def receive(asked: Seen) -> Reply:
        arrived.append(asked)
        return Reply()

    with stage(receive) as receiver, machine_at(tmp_path) as machine:
        told = SETTINGS.format(home=tmp_path, port=receiver.port)
        (tmp_path / "affidavit.toml").write_text(told)
        api = machine.start(listen=f"127.0.0.1:{port}")
        url = f"http://127.0.0.1:{port}"
        senders = [sender(url, machine, name) for name in "ab"]
        cut: list[str] = []
        watcher = threading.Thread(target=watch, args=(api, cut))
        try:
            assert senders[0].stdout is not None
            for count in range(kill_after):
                assert senders[0].stdout.readline() == f"{count}\n"
                if count == kill_after - 5:
                    watcher.start()
            machine.end(signal.SIGKILL)
            api = machine.start(listen=f"127.0.0.1:{port}")
            assert [one.wait(180) for one in senders] == [0, 0]
        finally:
            for one in senders:
                one.kill()
                one.communicate()
            watcher.join(WAIT_S)
        wait_until(lambda: anyio.run(is_settled, machine.state / "runs.db"))
        events = parse_events("".join(cut))
        assert events
        assert read_stream(api, events[0].data["run_id"])[: len(events)] == events
        machine.end(signal.SIGTERM)
        sent = anyio.run(check_storm, machine.state / "runs.db")
        assert sent <= answered(arrived)


def answered(arrived: list[Seen]) -> set[str]:
    """The runs whose result was delivered."""
    bodies = [json.loads(seen.body) for seen in tuple(arrived)]
    return {body["run_id"] for body in bodies if body["type"] == "run.result"}


async def is_settled(place: Path) -> bool:
    """Whether the result of every group's run was put into the outbox."""
    book = SqliteIncidents(place)
    try:
        incidents = await book.incidents("local", 500)
    finally:
        await book.close()
    return len(incidents) >= GROUPS and all(incident.settled for incident in incidents)


async def check_storm(place: Path) -> set[str]:
    """Twenty runs, each with one decision, one end and one letter; those that were delivered."""
    store, book = SqliteStore(place), SqliteIncidents(place)
    try:
        heads = await store.runs("local", 1000)
        incidents = await book.incidents("local", 500)
        assert len(heads) == GROUPS
        assert {head.run_id for head in heads} == {incident.run_id for incident in incidents}
        assert sum(incident.alerts + incident.repeats for incident in incidents) >= 200
        for head in heads:
            assert is_terminal(head.state)
            kinds = Counter(entry.type for entry in await store.read(head.run_id))
            assert kinds[EventType.RELEASE_DECISION] == kinds[EventType.RUN_ENDED] == 1
            assert kinds[EventType.RUN_STARTED] == 1
        letters = [one for one in await book.deliveries("local") if one.kind == "result"]
        assert sorted(one.run_id for one in letters) == sorted(head.run_id for head in heads)
        # One that was on its way when the service died is tried again after its lease.
        assert {one.state for one in letters} <= {"delivered", "pending"}
        return {one.run_id for one in letters if one.state == "delivered"}
    finally:
        await book.close()
        await store.close()
