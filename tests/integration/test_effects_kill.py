"""Real processes, really killed at random moments, while they do things: none is done twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import IO, Final

import pytest

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.journal import EventType
from affidavit.core.chain import first_break
from affidavit.core.fold import OUTCOME_UNKNOWN, fold
from affidavit.diagnose import stored_release

pytestmark = pytest.mark.anyio

SCRIPT: Final = Path(__file__).with_name("acting_process.py")
KILLS: Final = 20
"""A process takes a second to start; the deaths of every write in turn are in the simulation."""

LEASE_S: Final = 0.4
LIFE_MAX_S: Final = 0.3
"""A whole undisturbed life is about half a second; a death falls anywhere into it."""


def line_of(stream: IO[str] | None) -> str:
    """The next word of a process; nothing when it has ended."""
    assert stream is not None
    return stream.readline().strip()


def live(store: Path, file: Path, run_id: str, life_s: float) -> bool:
    """One life; whether it came to its end before it was killed."""
    with subprocess.Popen(
        [sys.executable, str(SCRIPT), str(store), str(file), run_id, str(LEASE_S)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=SCRIPT.parents[2],
        env={"PYTHONPATH": str(SCRIPT.parents[2]), "PATH": "/usr/bin:/bin"},
    ) as process:
        if line_of(process.stdout) == "ready":
            time.sleep(life_s)
        if process.poll() is None:
            process.kill()
        return process.wait() == 0


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
    while deaths < KILLS:
        ended = live(path, file, run_ids[-1], dice.uniform(0, LIFE_MAX_S))
        deaths += not ended
        if ended:
            run_ids.append(f"run_{len(run_ids):016d}")
    while not live(path, file, run_ids[-1], 60):
        pass
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
