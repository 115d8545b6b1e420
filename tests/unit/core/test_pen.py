"""What rides is on the view at once, on the disk in time, and never told before it is (K8, K9)."""

from __future__ import annotations

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.errors import RecordFailed
from affidavit.contract.journal import Entry, Event, EventType
from affidavit.contract.states import ChatApplicationStatus
from affidavit.core.chain import first_break
from affidavit.core.fold import fold
from affidavit.core.pen import Stage
from affidavit.core.run import LEASE_TTL_S, WATCH_S, Driver, drive_lease
from affidavit.ports.store import Artifact
from affidavit.testing import FaultyStore
from affidavit.testing.faulty_store import Effect, Fault, Killed
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.runs import RUN_ID, create_run, driven, request

pytestmark = pytest.mark.anyio

ROUTED = Event(EventType.STATUS_CHANGED, {"status": str(ChatApplicationStatus.ROUTING)})
LOOKED = Event(EventType.STATUS_CHANGED, {"status": str(ChatApplicationStatus.DIAGNOSIS_RUNNING)})
NOTE = Artifact(
    "315f5bdb76d078c43b8ac0064e4a0164612b1fce77c869345bfc94c75894edd3", "note", b"Hello, world!"
)


async def lines(store: MemoryStore) -> list[Entry]:
    return list(await store.read(RUN_ID))


@pytest.mark.spec("K8", "A4")
async def test_what_rides_is_written_before_and_with_the_next_line_in_one_append() -> None:
    store = MemoryStore()
    async with driven(store) as run:
        before = len(await lines(store))
        await run.ride(Stage((ROUTED,), (NOTE,)))
        assert run.view.status is ChatApplicationStatus.ROUTING
        assert run.contents[NOTE.digest] == NOTE.content
        assert len(await lines(store)) == before
        await run.note(LOOKED)
        told = await lines(store)
        assert [entry.data for entry in told[before:]] == [ROUTED.data, LOOKED.data]
        assert await store.artifact(RUN_ID, NOTE.digest) == NOTE.content
        assert first_break(RUN_ID, told) is None
        assert fold(told) == run.view


@pytest.mark.spec("K8")
async def test_a_line_rides_no_longer_than_the_watcher_looks_away() -> None:
    """An agent that thinks for a minute leaves no line off the disk meanwhile."""
    store, clock = MemoryStore(), VirtualClock()
    async with driven(store, clock=clock) as run:
        before = len(await lines(store))
        await run.ride(Stage((ROUTED,)))
        await clock.advance(2 * WATCH_S)
        assert len(await lines(store)) == before + 1


@pytest.mark.spec("K8")
async def test_a_driver_that_leaves_writes_what_still_rides() -> None:
    store = MemoryStore()

    async def break_off() -> None:
        async with driven(store) as run:
            await run.ride(Stage((ROUTED,)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await break_off()
    assert (await lines(store))[-1].data == ROUTED.data


@pytest.mark.spec("K8", "K1")
async def test_a_process_that_dies_takes_with_it_only_what_nothing_came_of() -> None:
    store, clock = MemoryStore(), VirtualClock()
    await create_run(store, request(), clock)
    broken = FaultyStore(store, Fault(3, effect=Effect.KILL))

    async def drive_on() -> None:
        async with driven(broken, clock=clock) as run:
            await run.ride(Stage((ROUTED,)))
            await run.note(LOOKED)

    with pytest.raises((Killed, BaseExceptionGroup)):
        await drive_on()
    clock.shift(LEASE_TTL_S + 1)
    async with driven(store, clock=clock, holder="second") as run:
        assert run.view.status is None
        assert first_break(RUN_ID, await lines(store)) is None


@pytest.mark.spec("L5")
async def test_a_write_that_fails_leaves_what_rides_for_the_next_one() -> None:
    inner = MemoryStore()
    store = FaultyStore(inner, Fault(4))
    async with driven(store) as run:
        await run.ride(Stage((ROUTED,)))
        with pytest.raises(RecordFailed):
            await run.note(LOOKED)
        assert run.view.status is ChatApplicationStatus.ROUTING
        await run.note(LOOKED)
    assert [entry.data for entry in await lines(inner)][-2:] == [ROUTED.data, LOOKED.data]


@pytest.mark.spec("I4", "N15")
@pytest.mark.fault("F29")
async def test_nobody_is_told_of_a_line_that_is_not_on_the_disk() -> None:
    store, clock = MemoryStore(), VirtualClock()
    await create_run(store, request(), clock)
    heard: list[int] = []

    def listen(entry: Entry, _: object) -> None:
        heard.append(entry.seq)

    async with drive_lease(Driver("test", store, clock, listen), RUN_ID) as run:
        told = len(heard)
        await run.ride(Stage((ROUTED,)))
        assert len(heard) == told
        await run.note(LOOKED)
        assert heard == [entry.seq for entry in await lines(store)][1:]
