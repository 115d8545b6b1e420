"""What one append costs, in memory and on disk: `python bench/store.py [FOLDER]`.

FOLDER (a temporary one by default) decides which disk is measured. Each figure is the median of
`ROUNDS` rounds, in microseconds a call.
"""

# ruff: noqa: INP001, T201 -- a script, and it prints

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import anyio

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.journal import EventType
from affidavit.ports.store import Append, Store
from affidavit.testing.journals import (
    START_US,
    TTL_US,
    Begun,
    artifact,
    begin_run,
    event,
    lease_run,
    next_lines,
)

ROUNDS: Final = 5
QUICK_CALLS: Final = 400
DURABLE_CALLS: Final = 60
STEP_LINES: Final = 4
PAYLOAD: Final = b"a log line of an incident " * 80


async def time_call(calls: int, call: Callable[[int], Awaitable[object]]) -> float:
    """Microseconds a call."""
    rounds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        for number in range(calls):
            await call(number)
        rounds.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(rounds)


def prepare_writes(run: Begun, count: int, lines: int, durable: bool) -> list[Append]:
    """That many appends, made beforehand: chain and digest are not the store's."""
    writes, last = [], run.last
    for number in range(count):
        new = next_lines(last, *(event(EventType.STEP_DECIDED, number) for _ in range(lines)))
        payload = [artifact(b"%d " % number + PAYLOAD)] if lines > 1 else []
        writes.append(Append(new, payload, durable=durable))
        last = new[-1]
    return writes


async def measure_appends(store: Store, number: int, lines: int, durable: bool) -> float:
    """Microseconds an append of so many lines, and an artifact of 2 KB where there are several."""
    calls = DURABLE_CALLS if durable else QUICK_CALLS
    run = await begin_run(store, number)
    lease = await lease_run(store, run.id)
    writes = iter(prepare_writes(run, calls * ROUNDS, lines, durable))
    return await time_call(calls, lambda _: store.append(lease, next(writes)))


async def measure(name: str, store: Store) -> None:
    """Print the figures of one store."""
    quick = await measure_appends(store, 1, 1, durable=False)
    durable = await measure_appends(store, 2, 1, durable=True)
    step = await measure_appends(store, 3, STEP_LINES, durable=False)
    sure_step = await measure_appends(store, 4, STEP_LINES, durable=True)
    run = await begin_run(store, 5)
    lease = await lease_run(store, run.id)
    inbox = await time_call(QUICK_CALLS, lambda _: store.inbox(run.id))
    renew = await time_call(QUICK_CALLS, lambda _: store.renew(lease, START_US, TTL_US))
    journal = (await store.runs("local"))[-1].run_id
    read = await time_call(3, lambda _: store.read(journal))
    print(f"{name}")
    print(f"  append, 1 line              {quick:9.1f} µs")
    print(f"  append, 1 line, durable     {durable:9.1f} µs   {durable / quick:5.1f} times")
    print(f"  append, 4 lines + 2 KB      {step:9.1f} µs")
    print(f"  append, 4 + 2 KB, durable   {sure_step:9.1f} µs   {sure_step / step:5.1f} times")
    print(f"  inbox, empty                {inbox:9.1f} µs")
    print(f"  renew a lease               {renew:9.1f} µs")
    print(f"  read a journal, a line      {read / (QUICK_CALLS * ROUNDS + 1):9.1f} µs")


async def main(folder: Path) -> None:
    """Both stores."""
    await measure("memory", MemoryStore())
    store = SqliteStore(folder / "bench.db")
    await measure(f"SQLite in {folder}", store)
    await store.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as name:
        anyio.run(main, Path(name))
