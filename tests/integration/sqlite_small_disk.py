"""A process whose disk is too small: `sqlite_small_disk.py FOLDER (tmpfs|limit)`.

tmpfs: FOLDER is to be a file system of one megabyte, mounted here (in a mount namespace of this
process, so that nothing is left behind). limit: the system lets no file grow beyond half of that.
It says on standard output, as JSON, what the store did; the test looks at it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import anyio

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.contract.journal import EventType
from affidavit.core.chain import first_break
from affidavit.ports.store import Append
from affidavit.testing.journals import artifact, begin_run, ending, event, lease_run, next_lines

BALLAST = 300_000
LIMIT = 500_000


class SmallDisk:
    """A disk that can be filled up, and given space again."""

    def __init__(self, folder: Path, kind: str) -> None:
        """Mount or limit, with some space that is to be given back later."""
        self.kind = kind
        self.ballast = folder / "ballast"
        if kind == "tmpfs":
            subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=True
            )
            self.ballast.write_bytes(b"x" * BALLAST)
        else:
            self.allow(LIMIT)

    def give_space(self) -> None:
        """There is room again."""
        if self.kind == "tmpfs":
            self.ballast.unlink()
        else:
            self.allow(resource.RLIM_INFINITY)

    @staticmethod
    def allow(size: int) -> None:
        """No file grows beyond; Python ignores the signal that comes with it."""
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


async def fill(folder: Path, kind: str) -> dict[str, object]:
    """Write until the disk is full, by quick and by durable writes, then publish with new space."""
    disk = SmallDisk(folder, kind)
    store = SqliteStore(folder / "runs.db")
    run = await begin_run(store)
    lease = await lease_run(store, run.id)
    lines, failures = list(run.lines), []
    for size in (40_000, 4_000, 10):  # until not even a small write finds room
        for durable in (False, True):
            for step in range(1000):
                new = next_lines(lines[-1], event(EventType.STEP_DECIDED, f"{step} " * (size // 9)))
                content = b"%d " % new[0].seq + b"x" * size
                try:
                    await store.append(lease, Append(new, [artifact(content)], durable=durable))
                except RecordFailed as failed:
                    failures.append(f"{failed.code}: {failed.message}")
                    break
                lines += new
    try:
        await store.append(lease, ending(lines[-1], artifacts=[artifact(b"r" * 9000, "release")]))
    except RecordFailed as failed:
        failures.append(f"{failed.code}: {failed.message}")
    full, kept = await store.read(run.id), await store.artifacts(run.id)
    second = try_to_open(folder / "second.db")
    disk.give_space()
    end = ending(lines[-1], artifacts=[artifact(b"r" * 9000, "release")])
    await store.append(lease, end)
    final = await store.read(run.id)
    head = await store.head(run.id)
    await store.close()
    return {
        "failures": failures,
        "second": second,
        "written": len(lines) - 1,
        "kept_whole": full == tuple(lines) and len(kept) == len(lines) - 1,
        "chain_broken_at": first_break(run.id, final),
        "decisions": sum(line.type is EventType.RELEASE_DECISION for line in final),
        "state": head and head.state,
    }


def try_to_open(path: Path) -> str:
    """Why no further store can be made, if it cannot."""
    try:
        SqliteStore(path)
    except InputRefused as refused:
        return f"{refused.code}: {refused.message}"
    return ""


if __name__ == "__main__":
    print(json.dumps(anyio.run(fill, Path(sys.argv[1]), sys.argv[2])))
