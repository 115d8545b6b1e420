"""A process that drives runs in a SQLite store until it is killed: `sqlite_writer.py FILE`.

It goes on with the run that it finds, and ends a run now and then. Each line of its output is said
after a write returned: `run_id seq`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import anyio

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.journal import EventType
from affidavit.contract.states import RunState
from affidavit.ports.store import LISTED_MAX, Append, Store
from affidavit.testing.journals import artifact, begin_run, ending, event, next_lines

LINES_MAX = 200
"""A run ends after so many lines, so that ends are met too."""


async def drive(store: Store) -> None:
    """Go on with the newest run, then with new ones, for ever."""
    while True:
        heads = await store.runs("local", LISTED_MAX)
        if heads and heads[0].state is RunState.RUNNING:
            await go_on(store, heads[0].run_id)
        else:
            run = await begin_run(store, len(heads))
            say(run.id, 1)


async def go_on(store: Store, run_id: str) -> None:
    """Append to one run until it ends."""
    # It runs out at once: the next process need not wait until this one is taken for dead.
    lease = await store.acquire(run_id, "writer", time.time_ns() // 1000, 1)
    if lease is None:
        raise RuntimeError(f"{run_id} is held")
    last = (await store.read(run_id))[-1]
    while last.seq < LINES_MAX:
        kinds = [EventType.STEP_DECIDED] * (1 + last.seq % 5)
        lines = next_lines(last, *(event(kind, last.seq) for kind in kinds))
        content = b"%d " % lines[0].seq + b"payload " * (last.seq % 900)
        durable = last.seq % 3 == 0
        await store.append(lease, Append(lines, [artifact(content)], durable=durable))
        last = lines[-1]
        say(run_id, last.seq)
    end = ending(last, artifacts=[artifact(b"published " + run_id.encode(), "release")])
    await store.append(lease, end)
    say(run_id, end.entries[-1].seq)


def say(run_id: str, seq: int) -> None:
    """One whole line, at once."""
    sys.stdout.write(f"{run_id} {seq}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    anyio.run(drive, SqliteStore(Path(sys.argv[1])))
