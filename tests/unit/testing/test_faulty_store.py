"""Faults come at the write that was named, and leave exactly what they say."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.errors import RecordFailed
from affidavit.core.chain import first_break
from affidavit.ports.store import Append, Store
from affidavit.testing import Effect, Fault, FaultyStore, Killed, Moment, every_fault
from affidavit.testing.journals import (
    START_US,
    TTL_US,
    artifact,
    begin_run,
    ending,
    lease_run,
    next_lines,
)

PATH = ("create", "acquire", "append", "renew", "post", "append", "release", "expire_artifacts")
"""The writes of `live`, in order."""


async def live(store: Store) -> None:
    """One short run, through every kind of write."""
    run = await begin_run(store)
    lease = await lease_run(store, run.id)
    lines = next_lines(run.last)
    await store.append(lease, Append(lines, [artifact(b"x")]))
    lease = await store.renew(lease, START_US, TTL_US)
    await store.post(run.id, "cancel", "somebody")
    await store.append(lease, ending(lines[-1], artifacts=[artifact(b"y", "release")]))
    await store.release(lease)
    await store.expire_artifacts(START_US * 2)


@dataclass(frozen=True)
class Left:
    """What a store holds of that run."""

    lines: int
    artifacts: int
    commands: int


async def look(store: Store) -> Left:
    """What is left of the run, whose chain must hold in any case."""
    (head,) = await store.runs("local") or (None,)
    if head is None:
        return Left(0, 0, 0)
    lines = await store.read(head.run_id)
    assert first_break(head.run_id, lines) is None
    artifacts, commands = await store.artifacts(head.run_id), await store.inbox(head.run_id)
    return Left(len(lines), len(artifacts), len(commands))


async def test_store_without_faults_names_its_writes() -> None:
    """The first run of a test learns the boundaries."""
    store = FaultyStore(MemoryStore())
    await live(store)
    assert store.writes == PATH
    assert await look(store) == Left(4, 1, 0)


LEFT_AFTER = (
    Left(0, 0, 0),
    Left(1, 0, 0),
    Left(1, 0, 0),
    Left(2, 1, 0),
    Left(2, 1, 0),
    Left(2, 1, 1),
    Left(4, 2, 0),
    Left(4, 2, 0),
    Left(4, 1, 0),
)
"""What the first n writes leave."""


@pytest.mark.spec("L5", "K8")
@pytest.mark.fault("F14")
@pytest.mark.parametrize("effect", Effect)
@pytest.mark.parametrize("fault", every_fault(len(PATH), Effect.FAIL), ids=str)
async def test_each_boundary_breaks_as_named(fault: Fault, effect: Effect) -> None:
    """Before: nothing of the write; torn: its artifacts alone; after: all, and nobody knows."""
    inner = MemoryStore()
    store = FaultyStore(inner, Fault(fault.at, fault.moment, effect))
    with pytest.raises(Killed if effect is Effect.KILL else RecordFailed):
        await live(store)
    assert store.writes == PATH[: fault.at]
    left = await look(inner)
    match fault.moment:
        case Moment.AFTER:
            assert left == LEFT_AFTER[fault.at]
        case Moment.TORN if PATH[fault.at - 1] == "append":
            before, whole = LEFT_AFTER[fault.at - 1], LEFT_AFTER[fault.at]
            assert left == Left(before.lines, whole.artifacts, before.commands)
        case _:
            assert left == LEFT_AFTER[fault.at - 1]


@pytest.mark.spec("K6")
async def test_killed_process_does_nothing_more() -> None:
    """No handler of errors sees a kill, and no clean-up reaches the store."""
    inner = MemoryStore()
    store = FaultyStore(inner, Fault(3, Moment.AFTER, Effect.KILL))
    assert not issubclass(Killed, Exception)
    with pytest.raises(Killed):
        await live(store)
    run_id = (await inner.runs("local"))[0].run_id
    for call in (store.head(run_id), store.post(run_id, "cancel", "x"), store.due(START_US)):
        with pytest.raises(Killed):
            await call
    assert await inner.inbox(run_id) == ()
    await store.close()


async def test_disk_stays_full() -> None:
    """A fault may stay, or go away by itself."""
    store = FaultyStore(MemoryStore(), Fault(2, times=None))
    run = await begin_run(store)
    for _ in range(3):
        with pytest.raises(RecordFailed, match="acquire"):
            await lease_run(store, run.id)
    store = FaultyStore(MemoryStore(), Fault(2, times=2))
    run = await begin_run(store)
    for _ in range(2):
        with pytest.raises(RecordFailed, match="acquire"):
            await lease_run(store, run.id)
    await lease_run(store, run.id)
