"""A real process, really killed, in the middle of whatever it was writing."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.journal import EventType
from affidavit.contract.states import RunState
from affidavit.core.chain import first_break
from affidavit.ports.store import Append, Store
from affidavit.testing.journals import begin_run, lease_run, next_lines

WRITER = Path(__file__).with_name("sqlite_writer.py")

KILLS = 20
"""So many deaths of one store: each finds what the ones before it left."""

WRITES_MAX = 150
"""A writer is let to do up to so many writes before it dies."""


@pytest.mark.slow
@pytest.mark.integration("sqlite")
@pytest.mark.spec("K8", "L5", "L6", "N12")
@pytest.mark.fault("F14")
async def test_killed_writer_leaves_a_whole_prefix(tmp_path: Path) -> None:
    """After each kill: a valid chain, no half write, nothing lost that was acknowledged."""
    path = tmp_path / "runs.db"
    dice = random.Random(20)
    acknowledged: dict[str, int] = {}
    for _ in range(KILLS):
        acknowledged |= run_and_kill(path, dice)
        store = SqliteStore(path)
        for run_id in {*acknowledged, *(head.run_id for head in await store.runs("local"))}:
            await look_at(store, run_id, acknowledged.get(run_id, 0))
        await store.close()
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert sum(acknowledged.values()) > KILLS


def run_and_kill(path: Path, dice: random.Random) -> dict[str, int]:
    """Let a writer work for a random while and kill it; what it had said by then."""
    with subprocess.Popen(
        [sys.executable, str(WRITER), str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = dict(read_some(process.stdout, dice.randint(1, WRITES_MAX)))
        process.kill()
        said |= dict(read_some(process.stdout, None))
    assert process.returncode == -9, "the writer died by itself"
    return said


def read_some(stream: IO[str], lines: int | None) -> Iterator[tuple[str, int]]:
    """What the writer says, so many lines or until it is dead; a last half line is not said."""
    while lines is None or lines > 0:
        line = stream.readline()
        if not line.endswith("\n"):
            return
        run_id, seq = line.split()
        yield run_id, int(seq)
        lines = None if lines is None else lines - 1


async def look_at(store: Store, run_id: str, acknowledged: int) -> None:
    """The run is what a single writer can have left."""
    head, lines = await store.head(run_id), await store.read(run_id)
    assert head is not None
    assert first_break(run_id, lines) is None
    assert head.last_seq == len(lines) >= acknowledged
    contents = {item.content.split(b" ")[0] for item in await store.artifacts(run_id)}
    decided = [line for line in lines if line.type is EventType.RELEASE_DECISION]
    steps = {b"%d" % seq for seq in write_starts(len(lines) - 2 * len(decided))}
    assert contents - {b"published"} == steps, "an artifact without its lines, or the reverse"
    assert len(decided) == (head.state is not RunState.RUNNING) == (b"published" in contents)


def write_starts(last: int) -> Iterator[int]:
    """The first line of each whole write of a run whose last step line has that number."""
    seq = 1
    while seq < last:
        yield seq + 1
        seq += 1 + seq % 5
    assert seq == last, "the journal ends in the middle of a write"


POSTER = """
import sys
from pathlib import Path
import anyio
from affidavit.adapters.sqlite_store import SqliteStore

async def post(path, run_id, name):
    store = SqliteStore(Path(path))
    for number in range(20):
        await store.post(run_id, "wake", f"{name} {number}")
    await store.close()

anyio.run(post, *sys.argv[1:])
"""


def start_posters(path: Path, run_id: str) -> list[subprocess.Popen[bytes]]:
    """Three processes that post to the run at the same time."""
    command = [sys.executable, "-c", POSTER, str(path), run_id]
    return [subprocess.Popen([*command, name]) for name in "abc"]


@pytest.mark.slow
@pytest.mark.integration("sqlite")
@pytest.mark.spec("K1", "K5")
async def test_commands_of_other_processes_arrive(tmp_path: Path) -> None:
    """While one process drives a run, others post to it: no line and no command is lost."""
    path = tmp_path / "runs.db"
    store = SqliteStore(path)
    run = await begin_run(store)
    lease = await lease_run(store, run.id)
    posters = start_posters(path, run.id)
    lines = list(run.lines)
    while any(poster.poll() is None for poster in posters):
        new = next_lines(lines[-1])
        await store.append(lease, Append(new, durable=len(lines) % 10 == 0))
        lines += new
    assert [poster.returncode for poster in posters] == [0, 0, 0]
    assert await store.read(run.id) == tuple(lines)
    waiting = [command.by for command in await store.inbox(run.id)]
    for name in "abc":
        own = [sender for sender in waiting if sender.startswith(name)]
        assert own == [f"{name} {number}" for number in range(20)]
    assert len(waiting) == 60
    await store.close()
