"""Work behind a fence: waited for, ended, or left; and what it says after that is late."""

from __future__ import annotations

import threading

import anyio
import pytest

from affidavit.contract.errors import BudgetSpent, InternalFault, PauseAsked, RunCancelled
from affidavit.core.fence import GRACE_S, Fenced, Orphans, run_blocking
from affidavit.core.run import WATCH_S, CallTimedOut
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.runs import RUN_ID, driven

pytestmark = pytest.mark.anyio


async def answer() -> str:
    return "answer"


@pytest.mark.spec("K5")
async def test_a_result_is_a_result_and_nothing_is_late() -> None:
    told: list[str] = []
    orphans = Orphans()
    fenced = Fenced(answer, orphans, told.append)
    await fenced.over.wait()
    assert (fenced.result(), fenced.has_returned, told) == ("answer", True, [])
    await anyio.lowlevel.checkpoint()
    assert len(orphans) == 0


@pytest.mark.spec("K6")
@pytest.mark.parametrize(
    "raised", [KeyboardInterrupt(), SystemExit(3), BudgetSpent("tokens"), ValueError("x")]
)
async def test_what_work_raises_is_raised_unchanged_where_it_is_waited_for(
    raised: BaseException,
) -> None:
    async def raising() -> None:
        raise raised

    fenced = Fenced(raising, Orphans())
    await fenced.over.wait()
    with pytest.raises(type(raised)) as caught:
        fenced.result()
    assert caught.value is raised
    assert fenced.is_broken == (not isinstance(raised, Exception))


@pytest.mark.spec("K5")
@pytest.mark.fault("F27", "F32")
@pytest.mark.parametrize(("returns", "word"), [(True, "done"), (False, "failed")])
async def test_work_that_is_left_goes_on_is_held_and_tells_its_end_once(
    returns: bool, word: str
) -> None:
    told: list[str] = []
    gate, orphans = anyio.Event(), Orphans()

    async def stubborn() -> str:
        with anyio.CancelScope(shield=True):
            await gate.wait()
        if not returns:
            raise OSError("canary")
        return "late"

    fenced = Fenced(stubborn, orphans, told.append)
    await anyio.lowlevel.checkpoint()
    fenced.cancel()
    fenced.leave()
    await fenced.over.wait()
    assert (fenced.has_ended, told, len(orphans)) == (False, [], 1)
    with pytest.raises(InternalFault):
        fenced.result()
    gate.set()
    await anyio.wait_all_tasks_blocked()
    await anyio.lowlevel.checkpoint()
    assert (told, len(orphans)) == ([word], 0)
    fenced.leave()
    assert told == [word]


@pytest.mark.spec("K5", "K6")
async def test_whoever_waits_is_cancelled_and_the_work_with_it() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cleaned up")

    async with driven() as run:
        with anyio.move_on_after(0.05):
            await run.interruptible(work)
        assert ended == ["cleaned up"]
        assert len(run.orphans) == 0


@pytest.mark.spec("K5", "K6")
@pytest.mark.fault("F32")
async def test_a_cancelled_waiter_leaves_stubborn_work_after_the_grace() -> None:
    clock = VirtualClock()

    async def stubborn() -> None:
        with anyio.CancelScope(shield=True):
            await clock.sleep(3600)

    async with clock.jumping(), driven(clock=clock) as run:
        with anyio.CancelScope() as scope:

            async def cancel() -> None:
                await clock.sleep(1)
                scope.cancel()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(cancel)
                await run.interruptible(stubborn)
        assert scope.cancelled_caught
        assert clock.monotonic_s() <= 1 + GRACE_S + WATCH_S
        assert len(run.orphans) == 1


@pytest.mark.spec("K5", "K6")
@pytest.mark.parametrize("kind", ["cancel", "pause"])
async def test_a_stop_is_felt_within_a_moment_and_at_the_latest_after_the_grace(kind: str) -> None:
    clock = VirtualClock()
    stop = RunCancelled if kind == "cancel" else PauseAsked

    async def stubborn() -> None:
        with anyio.CancelScope(shield=True):
            await clock.sleep(3600)

    async with clock.jumping(), driven(clock=clock) as run:
        await run.store.post(RUN_ID, kind, "somebody")  # type: ignore[arg-type]
        with pytest.raises(stop):
            await run.interruptible(anyio.sleep_forever)
        assert clock.monotonic_s() <= 2 * WATCH_S
    async with clock.jumping(), driven(clock=clock) as run:
        began_s = clock.monotonic_s()

        async def post() -> None:
            await clock.sleep(1)
            await run.store.post(RUN_ID, kind, "somebody")  # type: ignore[arg-type]

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(post)
            with pytest.raises(stop):
                await run.interruptible(stubborn)
        assert clock.monotonic_s() - began_s <= 1 + GRACE_S + 4 * WATCH_S


@pytest.mark.spec("K5", "K9")
async def test_a_pause_waits_for_an_effect_and_a_cancel_overtakes_the_pause() -> None:
    clock = VirtualClock()

    async def effect() -> str:
        await clock.sleep(5)
        return "done"

    async with clock.jumping(), driven(clock=clock) as run:

        async def post() -> None:
            await clock.sleep(1)
            await run.store.post(RUN_ID, "pause", "somebody")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(post)
            assert await run.interruptible(effect, 60, effect=True) == "done"
        with pytest.raises(PauseAsked):
            await run.check()
        await run.store.post(RUN_ID, "cancel", "somebody")
        with pytest.raises(RunCancelled):
            await run.interruptible(effect, 60, effect=True)


@pytest.mark.spec("K5")
async def test_a_stop_counts_before_the_time_limit_and_the_limit_before_a_late_error() -> None:
    clock = VirtualClock()

    async def sour() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            raise OSError("canary: clean-up failed")

    async with clock.jumping(), driven(clock=clock) as run:
        with pytest.raises(CallTimedOut):
            await run.interruptible(sour, 1)
        await run.store.post(RUN_ID, "cancel", "somebody")
        with pytest.raises(RunCancelled):
            await run.interruptible(sour, 1)


async def test_blocking_work_runs_beside_the_loop_and_raises_what_it_raises() -> None:
    ticks: list[int] = []
    gate = threading.Event()

    async def tick() -> None:
        for number in range(3):
            await anyio.lowlevel.checkpoint()
            ticks.append(number)
        gate.set()

    def block() -> bool:
        return gate.wait(60)

    def broken() -> None:
        raise KeyError("x")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        assert await run_blocking(block)
    assert ticks == [0, 1, 2]
    with pytest.raises(KeyError):
        await run_blocking(broken)
