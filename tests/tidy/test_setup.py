"""The set-up script installs from the lock alone, once, and says in one line what it lacks."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
TOOLS: Final = ("bash", "cat", "cut", "dirname", "env", "mkdir", "rm", "sed", "sha256sum")


class Workshop:
    """A copy of the set-up script with only the commands that a test gives it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.log = root / "log"
        self.bin.mkdir()
        (root / ".ci").mkdir()
        self.script = Path(shutil.copy(ROOT / ".ci" / "environment", root / ".ci"))
        for file in ("requirements-demo.lock", "requirements-test.lock", "pyproject.toml"):
            shutil.copy(ROOT / file, root)
        for tool in TOOLS:
            (self.bin / tool).symlink_to(str(shutil.which(tool)))

    def give(self, command: str, body: str) -> None:
        """Put a command on the path that notes its arguments and then does what body says."""
        file = self.bin / command
        file.write_text(f'#!/usr/bin/env bash\necho "{command} $*" >>"{self.log}"\n{body}\n')
        file.chmod(0o755)

    def run(self, lock: str) -> subprocess.CompletedProcess[str]:
        """Run the script for one lock."""
        return subprocess.run(
            [self.bin / "bash", self.script, lock],
            env={"PATH": str(self.bin), "HOME": os.environ.get("HOME", "/")},
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self) -> list[str]:
        """What was called since the last look."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


MAKE_VENV: Final = 'for last; do :; done; mkdir -p "$last/bin"; cp "$0" "$last/bin/python"'
"""A python or uv that makes an environment whose own python succeeds at everything."""


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A workshop without Python and without uv."""
    workshop = Workshop(tmp_path)
    (workshop.bin / "cp").symlink_to(str(shutil.which("cp")))
    return workshop


def test_without_python_it_says_so(workshop: Workshop) -> None:
    """One clear refusal, and nothing is made."""
    result = workshop.run("requirements-demo.lock")
    assert result.returncode == 2
    assert "apt-get install python3" in result.stderr
    assert not (workshop.root / ".venv").exists()


def test_an_old_python_is_refused(workshop: Workshop) -> None:
    """3.10 is told apart from none."""
    workshop.give("python3", '[ "$1" = -V ] && echo "Python 3.10.1"; exit 1')
    result = workshop.run("requirements-demo.lock")
    assert result.returncode == 2
    assert "needs 3.11" in result.stderr


def test_a_bare_debian_python_is_told_what_to_install(workshop: Workshop) -> None:
    """Debian's python3 cannot make environments until python3-venv is there."""
    workshop.give("python3", 'case "$2" in *ensurepip*) exit 1;; esac')
    result = workshop.run("requirements-demo.lock")
    assert result.returncode == 2
    assert "apt-get install python3-venv" in result.stderr


@pytest.mark.parametrize("installer", ["uv", "python3"])
def test_it_installs_from_the_lock_alone_and_once(workshop: Workshop, installer: str) -> None:
    """Hashes are asked for, nothing is built from elsewhere, and a warm start installs nothing."""
    workshop.give("python3", f'[ "$2" = venv ] && {{ {MAKE_VENV}; }}; exit 0')
    if installer == "uv":
        workshop.give("uv", f'[ "$1" = venv ] && {{ {MAKE_VENV}; }}; exit 0')
    assert workshop.run("requirements-demo.lock").returncode == 0
    installs = [call for call in workshop.calls() if "pip install" in call]
    assert len(installs) == 2, installs
    assert "--require-hashes --only-binary :all: -r requirements-demo.lock" in installs[0]
    assert "--no-deps --no-build-isolation -e ." in installs[1]

    assert workshop.run("requirements-demo.lock").returncode == 0
    assert not [call for call in workshop.calls() if "install" in call]


def test_the_test_set_serves_the_demo_but_not_the_other_way(workshop: Workshop) -> None:
    """After `make test`, `make demo` has nothing to install; after `make demo`, `make test` has."""
    workshop.give("python3", f'[ "$2" = venv ] && {{ {MAKE_VENV}; }}; exit 0')
    workshop.run("requirements-test.lock")
    workshop.calls()
    workshop.run("requirements-demo.lock")
    assert not [call for call in workshop.calls() if "install" in call]

    shutil.rmtree(workshop.root / ".venv")
    workshop.run("requirements-demo.lock")
    workshop.calls()
    workshop.run("requirements-test.lock")
    assert [call for call in workshop.calls() if "requirements-test.lock" in call]


def test_a_changed_lock_is_installed(workshop: Workshop) -> None:
    """The stamp is the digest of what was installed, not a date."""
    workshop.give("python3", f'[ "$2" = venv ] && {{ {MAKE_VENV}; }}; exit 0')
    workshop.run("requirements-demo.lock")
    workshop.calls()
    lock = workshop.root / "requirements-demo.lock"
    lock.write_text(lock.read_text() + "# changed\n")
    workshop.run("requirements-demo.lock")
    assert [call for call in workshop.calls() if "requirements-demo.lock" in call]
