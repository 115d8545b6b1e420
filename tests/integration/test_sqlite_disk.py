"""A disk that is full and a store that can only be read, for real.

What a machine allows decides how: a file system of its own where this user may mount one, and
everywhere a limit on the size of files and a process without rights.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.ports.store import Append
from affidavit.testing.journals import artifact, begin_run, lease_run, next_lines

HERE: Final = Path(__file__).parent

OWN_MOUNTS: Final = ("unshare", "--map-root-user", "--mount")
"""Runs a command that may mount, in a world of its own."""


def may_mount() -> bool:
    """Whether this machine lets this user mount something for itself."""
    script = 'mount -t tmpfs tmpfs "$0" && mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'
    try:
        with tempfile.TemporaryDirectory() as folder:
            probe = [*OWN_MOUNTS, "sh", "-c", script, folder]
            return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


MOUNTS: Final = may_mount()


def run_child(script: str, *arguments: str, mounts: bool) -> dict[str, Any]:
    """What the script says of itself."""
    command = [sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(
        [*OWN_MOUNTS, *command] if mounts else command,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.slow
@pytest.mark.integration("sqlite")
@pytest.mark.spec("L5", "L6", "N12", "N15")
@pytest.mark.parametrize("kind", ["limit", "tmpfs"] if MOUNTS else ["limit"])
def test_full_disk_keeps_what_was_written(kind: str, tmp_path: Path) -> None:
    """Each write that finds no room fails clearly and whole; with room the run is published."""
    said = run_child("sqlite_small_disk.py", str(tmp_path), kind, mounts=kind == "tmpfs")
    words = "the disk is full" if kind == "tmpfs" else "disk I/O error"
    assert len(said["failures"]) == 7, said["failures"]
    for failure in said["failures"]:
        assert failure.startswith("RUN_PERSISTENCE_FAILED")
        assert words in failure
        assert str(tmp_path) in failure
    assert said["written"] >= 3
    assert said["kept_whole"]
    if kind == "tmpfs":
        assert said["second"].startswith("STORE_UNREACHABLE")
        assert "the disk is full" in said["second"]
    assert said["chain_broken_at"] is None
    assert (said["decisions"], said["state"]) == (1, "SUCCESS")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
        path.chmod(0o755)


async def fill(path: Path) -> str:
    """A store with a run that is held by "a" and one that is free, closed; the first one's id."""
    store = SqliteStore(path)
    run = await begin_run(store, 1)
    await begin_run(store, 2)
    lease = await lease_run(store, run.id, "a")
    await store.append(lease, Append(next_lines(run.last), [artifact(b"seen")]))
    await store.close()
    return run.id


def allow(path: Path, file: int, folder: int) -> None:
    """Set the rights of file and folder."""
    path.chmod(file)
    path.parent.chmod(folder)


def contents(path: Path) -> dict[str, bytes]:
    """What the folder of the file holds, whose owner we are."""
    path.parent.chmod(0o700)
    path.chmod(0o600)
    return {each.name: each.read_bytes() for each in path.parent.iterdir()}


def read_without_rights(path: Path, run_id: str, kind: str) -> dict[str, Any]:
    """What a process that may not write says of its attempts."""
    free = f"run_{2:016d}"
    script = "sqlite_reader.py"
    return run_child(script, str(path), run_id, free, kind, mounts=kind == "mount")


@pytest.mark.slow
@pytest.mark.integration("sqlite")
@pytest.mark.spec("L5", "N15")
@pytest.mark.parametrize(
    ("kind", "file", "folder_"),
    [("permissions", 0o444, 0o555), ("permissions", 0o666, 0o555), ("permissions", 0o444, 0o777)]
    + ([("mount", 0o600, 0o700)] if MOUNTS else []),
)
async def test_store_that_cannot_be_written_can_be_read(
    folder: Path, kind: str, file: int, folder_: int
) -> None:
    """Everything is read, every write is refused clearly, nothing is changed."""
    path = folder / "runs.db"
    run_id = await fill(path)
    before = contents(path)
    allow(path, file, folder_)
    said = read_without_rights(path, run_id, kind)
    assert (said["lines"], said["artifacts"], said["chain_broken_at"]) == (2, 1, None)
    assert said["unchanged"]
    writes = {"create", "acquire", "renew", "release", "append", "append durably", "post"}
    assert said["refusals"].keys() == writes
    for refusal in said["refusals"].values():
        assert refusal.startswith("RecordFailed RUN_PERSISTENCE_FAILED")
        assert "can only be read" in refusal
        assert str(path) in refusal
    assert contents(path) == before


@pytest.mark.slow
@pytest.mark.integration("sqlite")
@pytest.mark.parametrize(
    ("file", "folder_", "name"),
    [(0o000, 0o755, "runs.db"), (0o666, 0o000, "runs.db"), (0o666, 0o555, "new.db")],
)
async def test_store_out_of_reach_is_refused(
    folder: Path, file: int, folder_: int, name: str
) -> None:
    """A file that cannot be read, a folder that cannot be entered, a place that takes no file."""
    path = folder / "runs.db"
    run_id = await fill(path)
    before = contents(path)
    allow(path, file, folder_)
    said = read_without_rights(folder / name, run_id, "permissions")
    assert said["refused"].startswith("STORE_UNREACHABLE")
    assert str(folder / name) in said["refused"]
    assert said["hint"]
    assert contents(path) == before
