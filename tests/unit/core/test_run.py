"""One run under its driver: stops are felt, time is counted, one driver at a time."""

from __future__ import annotations

import anyio
import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.errors import (
    DeadlineReached,
    InputRefused,
    LeaseLost,
    PauseAsked,
    RecordFailed,
    RunCancelled,
)
from affidavit.contract.journal import Event, EventType
from affidavit.core.chain import first_break, to_us
from affidavit.core.commands import Answer
from affidavit.core.pen import Stage
from affidavit.core.run import (
    APPROVAL,
    LEASE_TTL_S,
    LEASE_TTL_US,
    CallTimedOut,
    Driver,
    Run,
    drive_lease,
)
from affidavit.testing import journals
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.runs import LIMITS, RUN_ID, create_run, decide_calls, driven, request

pytestmark = pytest.mark.anyio

NOTE = Event(EventType.STATUS_CHANGED, {"status": "DIAGNOSIS_RUNNING"})


@pytest.mark.spec("K1", "A4")
async def test_every_append_moves_the_view_and_keeps_the_chain() -> None:
    store = MemoryStore()
    async with driven(store) as run:
        await run.note(NOTE)
        assert run.view.last_seq == len(run.entries) == 3
    entries = await store.read(RUN_ID)
    assert first_break(RUN_ID, entries) is None
    assert [entry.type for entry in entries][-2:] == [
        EventType.DRIVER_ACQUIRED,
        EventType.STATUS_CHANGED,
    ]


@pytest.mark.spec("K1")
async def test_a_run_that_another_process_drives_is_refused() -> None:
    store = MemoryStore()
    async with driven(store):
        with pytest.raises(InputRefused, match="driven by another process") as caught:
            async with driven(store, holder="second"):
                raise AssertionError
    assert caught.value.code == "RUN_BUSY"


@pytest.mark.spec("K1")
async def test_an_unknown_run_is_refused() -> None:
    with pytest.raises((InputRefused, RecordFailed)) as caught:
        async with drive_lease(Driver("me", MemoryStore(), VirtualClock()), RUN_ID):
            raise AssertionError
    assert caught.value.code == "RUN_UNKNOWN"


@pytest.mark.spec("K1", "L6", "N12")
async def test_a_driver_that_slept_past_its_lease_can_neither_append_nor_publish() -> None:
    store, clock = MemoryStore(), VirtualClock()
    await create_run(store, request(), clock)
    sleeper = drive_lease(Driver("sleeper", store, clock), RUN_ID)
    asleep = await sleeper.__aenter__()
    # The machine stood still: no watcher ran, so nothing was renewed. Only the clock went on.
    clock.shift(LEASE_TTL_S + 1)
    async with drive_lease(Driver("second", store, clock), RUN_ID) as awake:
        with pytest.raises(LeaseLost):
            await asleep.note(NOTE)
        with pytest.raises(LeaseLost):
            await asleep.record(Stage((NOTE,), durable=True))
        await awake.note(NOTE)
    await sleeper.__aexit__(None, None, None)
    entries = await store.read(RUN_ID)
    holders = [item.data["holder"] for item in entries if "holder" in item.data]
    assert holders == ["sleeper", "second"]
    assert entries[-1].type is EventType.STATUS_CHANGED
    assert first_break(RUN_ID, entries) is None


@pytest.mark.spec("K5", "K6")
async def test_a_cancel_ends_what_is_under_way_within_a_moment_and_passes_except_exception() -> (
    None
):
    store, clock = MemoryStore(), VirtualClock()
    swallowed: list[str] = []

    async def stubborn() -> None:
        try:
            await anyio.sleep_forever()
        except Exception:  # noqa: BLE001 - this is the tool that swallows whatever it can
            swallowed.append("swallowed")

    async with clock.jumping(), driven(store, clock=clock) as run:
        await store.post(RUN_ID, "cancel", "somebody")
        with pytest.raises(RunCancelled):
            await run.interruptible(stubborn)
    assert swallowed == []
    assert clock.monotonic_s() < 1
    assert (await store.read(RUN_ID))[-1].data == {"by": "somebody"}
    assert await store.inbox(RUN_ID) == ()


@pytest.mark.spec("K5")
async def test_a_cancel_outlives_its_driver_and_a_pause_does_not() -> None:
    store = MemoryStore()
    await create_run(store, request(), VirtualClock())
    await store.post(RUN_ID, "pause", "somebody")
    with pytest.raises(PauseAsked):
        async with driven(store) as run:
            await run.check()
    async with driven(store, holder="second") as run:
        await run.check()
        await store.post(RUN_ID, "cancel", "somebody")
    for holder in ("third", "fourth"):
        with pytest.raises(RunCancelled):
            async with driven(store, holder=holder) as run:
                await run.check()


async def ask(run: Run) -> PauseAsked:
    """A person is asked about the first call of a step; what the run then waits for."""
    step = await decide_calls(run, ToolCallRequest("restart", {}))
    waiting = journals.ask(step.calls[0])
    asked = {
        "step": step.step,
        "tool_call_id": waiting.tool_call_id,
        "tool": waiting.tool,
        "action_digest": waiting.action_digest,
        "shown_digest": waiting.shown_digest,
        "expires_us": waiting.expires_us,
    }
    event = Event(EventType.APPROVAL_REQUESTED, asked)
    await run.record(Stage((event,), asked=(waiting,)))
    return PauseAsked(APPROVAL, waiting.expires_us, (waiting.tool_call_id,))


APPROVE = Answer("call_0001", "a" * 64, "Mo").payload()


@pytest.mark.spec("H10", "K8")
async def test_a_decision_that_was_taken_in_before_the_pause_keeps_the_run_awake() -> None:
    store, clock = MemoryStore(), VirtualClock()
    async with driven(store, clock=clock) as run:
        asked = await ask(run)
        await store.post(RUN_ID, "approve", "Mo", APPROVE)
        await run.check()
        assert await store.inbox(RUN_ID) == ()
        assert not await run.pause(asked)
        assert EventType.RUN_PAUSED not in [entry.type for entry in run.entries]
    assert await store.approvals("acme") == ()


@pytest.mark.spec("H10", "K8")
async def test_a_driver_that_has_paused_takes_no_word_in_and_leaves_it_for_the_next() -> None:
    store, clock = MemoryStore(), VirtualClock()
    async with driven(store, clock=clock) as run:
        asked = await ask(run)
        assert await run.pause(asked)
        await store.post(RUN_ID, "approve", "Mo", APPROVE)
        await clock.advance(1)
        await run.check()
        assert len(await store.inbox(RUN_ID)) == 1
    head = await store.head(RUN_ID)
    assert head is not None
    assert (head.paused, head.wake_at_us) == (True, asked.wake_at_us)
    assert await store.due(0) == (RUN_ID,)


@pytest.mark.spec("K3", "E14")
@pytest.mark.fault("F4", "F26")
async def test_working_time_survives_a_resume_and_time_without_a_driver_is_free() -> None:
    store, clock = MemoryStore(), VirtualClock()
    async with driven(store, clock=clock) as run:
        clock.shift(0)
        await clock.advance(40)
        await run.note(NOTE)
    await clock.advance(3 * 24 * 3600)
    async with driven(store, clock=clock, holder="second") as run:
        assert run.remaining_s() == pytest.approx(LIMITS.timeout_s - 40)
        await run.check()
        async with clock.jumping():
            with pytest.raises(DeadlineReached):
                await run.interruptible(anyio.sleep_forever)


@pytest.mark.spec("K5")
async def test_the_works_own_time_limit_ends_the_work_and_not_the_run() -> None:
    clock = VirtualClock()
    async with clock.jumping(), driven(clock=clock) as run:
        with pytest.raises(CallTimedOut):
            await run.interruptible(anyio.sleep_forever, 5)
        assert 5 <= clock.monotonic_s() < 6
        await run.check()


@pytest.mark.spec("L5")
async def test_after_a_failed_write_nothing_has_moved_and_the_run_can_be_driven_again() -> None:
    class Full(MemoryStore):
        is_full = False

        async def append(self, lease, write):  # type: ignore[no-untyped-def]
            if self.is_full:
                raise RecordFailed("no space left")
            await super().append(lease, write)

    store = Full()
    async with driven(store) as run:
        store.is_full = True
        before = run.view
        with pytest.raises(RecordFailed):
            await run.note(NOTE)
        assert run.view is before
        store.is_full = False
    async with driven(store, holder="second") as run:
        await run.note(NOTE)
        assert first_break(RUN_ID, run.entries) is None


@pytest.mark.spec("K6", "L4")
async def test_what_the_driver_raises_leaves_the_lease_unwrapped() -> None:
    with pytest.raises(KeyboardInterrupt):
        async with driven():
            raise KeyboardInterrupt
    with pytest.raises(ZeroDivisionError):
        async with driven():
            raise ZeroDivisionError


@pytest.mark.spec("L6", "K8")
async def test_the_lease_of_a_driver_that_is_certainly_gone_need_not_run_out() -> None:
    store, clock = MemoryStore(), VirtualClock()
    asked = request()
    await create_run(store, asked, clock)
    dead = Driver("dead", store, clock)
    async with drive_lease(dead, asked.run_id) as first:
        for unsure in (None, lambda _: False):
            with pytest.raises(InputRefused) as caught:
                async with drive_lease(Driver("b", store, clock, is_gone=unsure), asked.run_id):
                    raise AssertionError("a driver that may be alive is not taken over")
            assert caught.value.code == "RUN_BUSY"
        sure = Driver("b", store, clock, is_gone=lambda holder: holder == "dead")
        async with drive_lease(sure, asked.run_id) as second:
            assert second.lease.epoch == first.lease.epoch + 1
            with pytest.raises(LeaseLost):
                await first.note(Event(EventType.STATUS_CHANGED, {"status": "ROUTING"}))
            await second.note(Event(EventType.STATUS_CHANGED, {"status": "ROUTING"}))
            expires_us = to_us(clock.now()) + LEASE_TTL_US
            assert second.lease.expires_us <= expires_us, "and no longer than any other"
