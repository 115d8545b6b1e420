"""bench/server.py with small numbers: its figures are measured, and its claim of wholeness held."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.slow

SCRIPT: Final = Path(__file__).parents[2] / "bench" / "server.py"
STREAMS: Final = 40


@pytest.mark.spec("I4")
@pytest.mark.fault("F38")
def test_many_readers_of_few_runs_each_see_the_whole(tmp_path: Path) -> None:
    """Every stream has exactly one terminal event, and it is the last; lag and memory are told."""
    done = subprocess.run(
        [sys.executable, SCRIPT, str(STREAMS), "6"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["streams"], told["streams_whole"]) == (STREAMS, STREAMS)
    assert told["live_events"] > 0
    assert told["lag_ms_p99"] >= told["lag_ms_p50"] >= 0
    assert told["most_mb"] >= told["idle_mb"] > 0
