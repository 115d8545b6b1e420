"""The real command in a process of its own, with a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.incidents import jsonl, log_row, metrics_csv, quiet, write_folder

HERE: Final = Path(__file__).parent
AFFIDAVIT: Final = Path(sys.executable).parent / "affidavit"
WAIT_S: Final = 60.0
"""As long as a loaded machine may take for anything that a test waits for."""


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Standard output, which must be exactly one JSON object on one line."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1, self.out
        value: dict[str, Any] = json.loads(self.out)
        return value


@dataclass
class Shell:
    """Runs the command in one folder, with one home and one store."""

    home: Path
    before: tuple[str, ...] = ()
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def store(self) -> Path:
        """Where the default store is."""
        return self.home / "state" / "affidavit" / "runs.db"

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of the caller's settings, and a home of its own."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AFFIDAVIT_", "XDG_"))}
        own = {"HOME": str(self.home), "XDG_STATE_HOME": str(self.home / "state")}
        return {**kept, **own, **more}

    def run(self, *arguments: object, **environment: str) -> Done:
        """The command, to its end."""
        done = subprocess.run(
            [*self.before, str(AFFIDAVIT), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.home,
            env=self.environment(**environment),
            timeout=WAIT_S * 2,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: object, gate: Path, step: int = 2, options: str = "") -> Gated:
        """The command with its agent behind a gate; returns once the agent stands there."""
        script = [sys.executable, str(HERE / "gated_command.py"), str(gate), str(step)]
        process = subprocess.Popen(
            [*script, *options.split(), "--", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.home,
            env=self.environment(),
            start_new_session=True,
        )
        self.running.append(process)
        gated = Gated(process, gate)
        wait_until(lambda: gate.exists() or process.poll() is not None)
        assert gate.exists(), process.communicate()[1]
        return gated


@dataclass
class Gated:
    """A command under way."""

    process: subprocess.Popen[str]
    gate: Path

    def open_gate(self) -> None:
        """Let the agent go on."""
        self.gate.unlink()

    def end(self) -> Done:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=WAIT_S)
        assert "Traceback" not in err, err
        return Done(self.process.returncode, out, err)

    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait, but not for ever."""
    until_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < until_s, "it never came to that"
        time.sleep(0.02)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A shell in a folder of its own; what it started and is still there is ended."""
    home = tmp_path / "home"
    home.mkdir()
    own = Shell(home)
    yield own
    for process in own.running:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small incident: checkout is slow from minute two on, and says why in its log."""
    slow = [(at, 20.0 if at < 2 else 900.0) for at in range(10)]
    return write_folder(
        tmp_path_factory.mktemp("incidents") / "slow-checkout",
        metrics_csv=metrics_csv(
            {
                "checkout latency p95": [*quiet(range(-30, 0)), *slow],
                "payment latency p95": quiet(range(-30, 10)),
            }
        ),
        logs_jsonl=jsonl([log_row(at, "payment timed out after 5000 ms") for at in range(3, 8)]),
        topology_json=json.dumps(
            {
                "nodes": [{"name": "checkout"}, {"name": "payment"}],
                "edges": [{"from": "checkout", "to": "payment"}],
            }
        ),
    )
