"""A large log in bounded memory: our process and the query process together.

200 MB here; `AFFIDAVIT_TEST_LOG_MB=1024` asks for another size. The bound is on memory alone; how
long it takes is for the benchmarks.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.incidents import INCIDENT, stamp, write_folder

pytestmark = pytest.mark.slow

LOG_MB: Final = int(os.environ.get("AFFIDAVIT_TEST_LOG_MB", "200"))

RESIDENT_MB_MAX: Final = 300
"""Of both processes, at their highest: a laptop and a small pod both have it."""

PROBE: Final = """
import json, sys
import anyio
from affidavit.adapters.incident_folder import load_incident
from tests.support.incidents import call

def peak_mb(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))

with load_incident(sys.argv[1]) as folder:
    found = anyio.run(call, folder, "error_logs")
    nothing = anyio.run(call, folder, "error_logs", {"service": "nobody"})
    print(json.dumps({
        "rows": folder.signals["logs"].rows,
        "lines": found.notes[0],
        "nothing": nothing.status,
        "peaks_mb": [peak_mb("self"), peak_mb(folder.runner.pid)],
    }))
"""


def write_log(path: Path, log_mb: int) -> tuple[int, int]:
    """A log of distinct lines, one in twenty an error of three kinds, over fifteen minutes of which
    the first five come before the window; returns its rows, and its errors in the window."""
    dice = random.Random(7)
    words = [f"{dice.randrange(16**16):016x}" for _ in range(4096)]
    kinds = ("payment timed out after {} ms", "no connection free of {}", "row {} locked")
    names = ("timestamp", "service_name", "severity_text", "body", "trace_id")
    written = row = failures = 0
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write(",".join(names) + "\n")
        while written < log_mb * 1024 * 1024:
            place, failed = row % 900_000, row % 20 == 0
            what = kinds[row // 20 % 3].format(row) if failed else f"request {row} took 3 ms"
            body = f"{what} for user {words[row % 4093]} from 10.0.{row % 251}.{row % 241} " * 2
            cells = (
                stamp(-5 + place / 60_000),
                f"service-{row % 7}",
                "ERROR" if failed else "INFO",
                body,
                words[row % 4096] * 2,
            )
            if path.suffix == ".csv":
                line = ",".join(cells) + "\n"
            else:
                line = json.dumps(dict(zip(names, cells, strict=True))) + "\n"
            written += file.write(line)
            failures += failed and place >= 300_000
            row += 1
    return row, failures


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_large_log_in_bounded_memory(tmp_path: Path, kind: str) -> None:
    """Every line is read; both processes together stay below the bound."""
    folder = write_folder(tmp_path / "in", INCIDENT)
    rows, failures = write_log(folder / f"logs.{kind}", LOG_MB)
    probe = subprocess.run(
        [sys.executable, "-c", PROBE, str(folder)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert probe.returncode == 0, probe.stderr
    seen = json.loads(probe.stdout)
    assert seen["rows"] == rows
    assert seen["lines"].startswith(f"{failures} error lines of 21 kinds")
    assert seen["nothing"] == "NO_EVIDENCE"
    assert sum(seen["peaks_mb"]) <= RESIDENT_MB_MAX, seen
    print(f"{kind}: {seen}")
