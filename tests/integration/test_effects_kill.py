"""Real processes, really killed at random moments, while they do things: none is done twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.journal import EventType
from affidavit.core.chain import first_break
from affidavit.core.fold import OUTCOME_UNKNOWN, fold
from affidavit.diagnose import stored_release

pytestmark = pytest.mark.anyio

SCRIPT: Final = Path(__file__).with_name("acting_process.py")
KILLS: Final = 200
"""The deaths of every write in turn are in the simulation; these fall where they fall."""

LEASE_S: Final = 0.1
LIFE_MAX_S: Final = 0.4
"""A whole undisturbed life is about half a second; a death falls anywhere into it."""


class Nursery:
    """Where the processes come from."""

    def __init__(self, store: Path, file: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(store), str(file), str(LEASE_S)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=SCRIPT.parents[2],
            env={"PYTHONPATH": str(SCRIPT.parents[2]), "PATH": "/usr/bin:/bin"},
        )

    def live(self, run_id: str, life_s: float) -> bool:
        """One life; whether it came to its end before it was killed."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{run_id}\n")
        self._process.stdin.flush()
        pid = int(self._line())
        said = self._line()
        if said == "ready":
            time.sleep(life_s)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while not said.startswith("over"):
            said = self._line()
        return said == "over 0"

    def close(self) -> None:
        """Nobody is born any more."""
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, "the nursery itself has died"
        return line


@pytest.mark.slow
@pytest.mark.integration("sqlite")
@pytest.mark.spec("K9", "K8", "H10", "L6", "N12")
@pytest.mark.fault("F12", "F13", "F14", "F23")
async def test_killed_at_random_moments_no_effect_happens_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(14)
    path, file = tmp_path / "runs.db", tmp_path / "effects"
    run_ids = ["run_0000000000000000"]
    deaths = 0
    nursery = Nursery(path, file)
    while deaths < KILLS:
        ended = nursery.live(run_ids[-1], dice.uniform(0, LIFE_MAX_S))
        deaths += not ended
        if ended:
            run_ids.append(f"run_{len(run_ids):016d}")
    while not nursery.live(run_ids[-1], 5):
        pass
    nursery.close()
    effects = Counter(file.read_text().split())
    store = SqliteStore(path)
    unknown = 0
    for run_id in run_ids:
        entries = await store.read(run_id)
        assert first_break(run_id, entries) is None
        kinds = [entry.type for entry in entries]
        assert kinds.count(EventType.RELEASE_DECISION) == kinds.count(EventType.RUN_ENDED) == 1
        assert await stored_release(store, run_id) is not None
        writes = [call for call in fold(entries).calls.values() if call.effect == "write"]
        unknown += sum(call.code == OUTCOME_UNKNOWN for call in writes)
        assert all(call.attempts == 1 for call in writes)
    await store.close()
    with capsys.disabled():
        print(
            f" [{deaths} kills over {len(run_ids)} runs, {sum(effects.values())} effects, "
            f"{unknown} OUTCOME_UNKNOWN]"
        )
    assert max(effects.values()) == 1, "no effect twice"
