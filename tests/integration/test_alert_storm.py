"""A storm from two sender processes, one of them killed and started again: a run a group."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.adapters.sqlite_store import SqliteStore

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

TAKER = Path(__file__).with_name("alert_taker.py")


def taker(store: Path, sender: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, TAKER, store, sender], stdout=subprocess.PIPE, text=True, env=environment
    )


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
