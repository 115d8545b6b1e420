"""An engine and nothing else keeps runs going: over days, deaths, decisions and stops."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from affidavit.adapters.in_process_engine import EngineRules, InProcessEngine
from affidavit.contract.agent import GiveUp
from affidavit.contract.decisions import DecisionId
from affidavit.contract.evidence import Fact
from affidavit.contract.journal import EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.core.chain import first_break, to_us
from affidavit.core.commands import STOPPING as STOPPING_WORD
from affidavit.core.run import LEASE_TTL_S
from affidavit.diagnose import drive, start, stored_release
from affidavit.ports.engine import STOPPING, EngineNote
from affidavit.testing.faulty_store import Effect, Fault, FaultyStore, Killed
from affidavit.testing.scripted import ScriptedArguments
from affidavit.tools.approval import APPROVAL_WAIT_S
from tests.support.acting import Theatre
from tests.support.runs import RUN_ID, reading, request
from tests.support.worlds import act, conclude

pytestmark = pytest.mark.anyio

ASKED = request().model_validate({**dict(request()), "requested_by": "Ada"})


def theatre(*script: Any, **more: Any) -> Theatre:
    return Theatre(list(script), asked=ASKED, **more)


SELDOM = EngineRules(look_s=300)
"""Days of virtual time are made of looks; a test of days looks every five minutes."""


def engine_of(stage: Theatre, told: list[EngineNote] | None = None) -> InProcessEngine:
    """An engine whose every drive is a new process's."""

    async def drive_one(run_id: str) -> object:
        return await drive(run_id, stage.world())

    tell = None if told is None else told.append
    return InProcessEngine(stage.store.reopen(), stage.clock, drive_one, SELDOM, tell)


@asynccontextmanager
async def serving(stage: Theatre) -> AsyncIterator[InProcessEngine]:
    """The run exists, and an engine is at work."""
    await start(stage.world(), stage.asked)
    engine = engine_of(stage)
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        tasks.start_soon(engine.serve)
        yield engine
        engine.stop()


async def ended(stage: Theatre, within_s: float = 1800) -> ReleaseRecord:
    """The answer, once it is there."""
    until_s = stage.clock.monotonic_s() + within_s
    while stage.clock.monotonic_s() < until_s:
        release = await stored_release(stage.store, RUN_ID)
        if release is not None:
            return release
        await stage.clock.sleep(10)
    raise AssertionError(f"no answer: {await stage.kinds()}")


def test_two_rooms_that_do_not_know_each_other_say_the_same_word() -> None:
    assert STOPPING_WORD == STOPPING


@pytest.mark.spec("H10", "K8", "K3")
@pytest.mark.fault("F23", "F26")
async def test_a_decision_after_three_days_is_taken_up_by_the_engine() -> None:
    stage = theatre(act("look"), act("restart", service="cart"), conclude())
    async with serving(stage):
        await stage.clock.sleep(2.9 * 24 * 3600)
        assert (await stage.view()).paused
        await stage.decide("call_0002")
        release = await ended(stage)
    assert release.decision is DecisionId.D1
    assert sum(stage.outside.done.values()) == 1
    assert release.usage.duration_ms < 60_000


@pytest.mark.spec("H10", "K8")
async def test_a_question_that_nobody_answers_expires_by_itself() -> None:
    stage = theatre(act("look"), act("restart", service="cart"), conclude())
    async with serving(stage):
        await stage.clock.sleep(APPROVAL_WAIT_S - 60)
        assert await stored_release(stage.store, RUN_ID) is None
        await stage.clock.sleep(120)
        release = await ended(stage)
    assert release.decision is DecisionId.D1
    assert stage.outside.most == 0


@pytest.mark.spec("K8", "L6", "N12")
async def test_a_run_whose_process_died_is_found_and_finished_once() -> None:
    stage = theatre(act("look"), act("look", query="b"), conclude())
    with pytest.raises((Killed, BaseExceptionGroup)):
        await stage.drive(FaultyStore(stage.store.reopen(), Fault(9, effect=Effect.KILL)))
    engine = engine_of(stage)
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        tasks.start_soon(engine.serve)
        tasks.start_soon(engine_of(stage).serve)
        await stage.clock.sleep(LEASE_TTL_S / 2)
        assert await stored_release(stage.store, RUN_ID) is None
        release = await ended(stage)
        tasks.cancel_scope.cancel()
    assert release.decision is DecisionId.D1
    kinds = await stage.kinds()
    assert kinds.count(EventType.RUN_ENDED) == 1
    assert first_break(RUN_ID, await stage.entries()) is None


@pytest.mark.spec("K8", "K9", "K5")
async def test_a_graceful_stop_pauses_the_run_and_another_engine_goes_on_at_once() -> None:
    async def slow(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        await stage.clock.sleep(20)
        return (reading(),)

    stage = theatre(act("slow"), conclude(), backends={"slow": slow})
    await start(stage.world(), stage.asked)
    first = engine_of(stage)
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        tasks.start_soon(first.serve)
        await stage.clock.sleep(5)
        assert first.under_way == {RUN_ID}
        first.stop()
    assert first.under_way == frozenset()
    head = await stage.store.head(RUN_ID)
    assert head is not None
    assert head.paused
    assert await stage.store.due(to_us(stage.clock.now())) == (RUN_ID,)
    (paused,) = await stage.data(EventType.RUN_PAUSED)
    assert paused == {"reason": "stopping"}
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        second = engine_of(stage)
        tasks.start_soon(second.serve)
        release = await ended(stage)
        second.stop()
    assert release.decision is DecisionId.D1


@pytest.mark.spec("K8", "K9")
async def test_an_effect_that_died_half_way_waits_for_its_operator_under_the_engine_too() -> None:
    deaths = 0

    async def dying(arguments: ScriptedArguments, key: str) -> None:
        nonlocal deaths
        await stage.outside.restart(arguments, key)
        deaths += 1
        raise KeyboardInterrupt

    from tests.support.acting import writing_tool

    stage = theatre(act("look"), act("restart", service="cart"), conclude())
    stage.tools = (writing_tool("restart", dying),)
    await stage.drive()
    await stage.decide("call_0002")
    with pytest.raises(KeyboardInterrupt):
        await stage.drive()
    engine = engine_of(stage)
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        tasks.start_soon(engine.serve)
        await stage.clock.sleep(3600)
        assert (await stage.view()).paused
        await stage.resolve("call_0002", "done")
        release = await ended(stage)
        engine.stop()
    assert release.decision is DecisionId.D1
    assert (deaths, sum(stage.outside.done.values())) == (1, 1)


@pytest.mark.spec("K3", "K8")
async def test_many_runs_are_driven_side_by_side_and_each_ends_once() -> None:
    stage = theatre(act("look"), GiveUp("done"))
    ids = [f"run_{number:016d}" for number in range(30)]
    inside, most = 0, 0
    for run_id in ids:
        await start(stage.world(), replace_id(run_id))

    async def drive_one(run_id: str) -> object:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        try:
            return await drive(run_id, stage.world())
        finally:
            inside -= 1

    rules = EngineRules(runs_max=5)
    engines = [
        InProcessEngine(stage.store.reopen(), stage.clock, drive_one, rules) for _ in range(2)
    ]
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        for engine in engines:
            tasks.start_soon(engine.serve)
        for run_id in ids:
            while await stored_release(stage.store, run_id) is None:
                await stage.clock.sleep(1)
        for engine in engines:
            engine.stop()
    assert most <= 10
    for run_id in ids:
        kinds = [entry.type for entry in await stage.store.read(run_id)]
        assert kinds.count(EventType.RUN_ENDED) == 1


def replace_id(run_id: str) -> Any:
    return ASKED.model_validate({**dict(ASKED), "run_id": run_id})
