"""What takes too long is stopped where it can be, fenced where it cannot, and never waited for.

Time is virtual, but for threads: a thread is real, and its test decides when it ends.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from typing import Any

import anyio
import pytest

from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import AgentState, Conclude, GiveUp
from affidavit.contract.decisions import DecisionId
from affidavit.contract.evidence import Fact
from affidavit.contract.journal import EventType
from affidavit.contract.limits import Limits
from affidavit.contract.record import Record
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import AgentStatus, RunState
from affidavit.core.fence import GRACE_S
from affidavit.core.fold import OUTCOME_UNKNOWN
from affidavit.core.run import WATCH_S
from affidavit.diagnose import Paused, drive, start
from affidavit.testing.scripted import ScriptedArguments, scripted_tool
from affidavit.tools.catalogue import Tool
from affidavit.tools.runner import in_thread
from tests.support.acting import Theatre
from tests.support.runs import LIMITS, RUN_ID, request
from tests.support.worlds import act, conclude, found

pytestmark = pytest.mark.anyio

ASKED = request().model_validate({**dict(request()), "requested_by": "Ada"})


def theatre(*script: Any, **more: Any) -> Theatre:
    return Theatre(list(script), asked=ASKED, **more)


@pytest.mark.spec("K5", "K6")
@pytest.mark.fault("F32", "R31")
async def test_clean_up_that_overruns_is_bounded_and_the_run_goes_on() -> None:
    cleaned: list[float] = []

    async def untidy(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await stage.clock.sleep(10)
                cleaned.append(stage.clock.monotonic_s())
        return ()

    told: list[float] = []

    def note(state: AgentState) -> Conclude:
        told.append(stage.clock.monotonic_s())
        assert state.observations[1].code == "TIMEOUT"
        return conclude()

    stage = theatre(act("look"), act("untidy"), note)
    stage.tools = (scripted_tool("untidy", untidy, timeout_s=5),)
    async with stage.clock.jumping():
        release = await stage.finish()
        assert release.decision is DecisionId.D1
        await stage.clock.sleep(30)
    assert told[0] <= 5 + GRACE_S + 5 * WATCH_S
    assert cleaned == [pytest.approx(5 + 10, abs=1)], "it was left, and cleaned up all the same"


def blocking(name: str, gate: threading.Event, began: list[int], *, effect: bool) -> Tool[Record]:
    """A tool that blocks its thread until the gate opens."""

    def wait(arguments: object, scope: object, key: str = "") -> bytes:
        began.append(1)
        gate.wait(60)
        return b'{"facts": []}'

    tool = scripted_tool(name, found, timeout_s=0.1)
    if effect:
        return replace(tool, effect="write", perform=in_thread(wait))
    return replace(tool, fetch=in_thread(wait))


@pytest.mark.spec("K5", "K9")
@pytest.mark.fault("F27", "F28")
@pytest.mark.parametrize("effect", [False, True], ids=["a read", "an effect"])
async def test_a_blocking_tool_is_fenced_and_its_late_end_is_on_record_and_nothing_else(
    effect: bool,
) -> None:
    gate = threading.Event()
    began: list[int] = []
    seen: list[str | None] = []

    async def opens(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        gate.set()
        await anyio.sleep(0.5)
        return await found(arguments)

    def note(state: AgentState) -> Conclude:
        seen.extend(item.code for item in state.observations)
        return conclude()

    stage = theatre(act("look"), act("slow"), act("opens"), note, backends={"opens": opens})
    stage.tools = (blocking("slow", gate, began, effect=effect),)
    stage.real_time = SystemClock()
    told = await stage.drive()
    if effect:
        assert told == Paused(RUN_ID, "approval")
        await stage.decide("call_0002")
        told = await stage.drive()
        assert told == Paused(RUN_ID, "outcome")
        await stage.resolve("call_0002", "done")
        told = await stage.drive()
    assert isinstance(told, ReleaseRecord)
    assert told.decision is DecisionId.D1
    view = await stage.view()
    call = view.calls["call_0002"]
    assert call.settled is EventType.TOOL_CALL_ERROR
    assert call.code == (OUTCOME_UNKNOWN if effect else "TIMEOUT")
    assert seen[1] == ("OUTCOME_DONE" if effect else "TIMEOUT")
    assert began == [1]
    if not effect:
        assert await stage.data(EventType.TOOL_CALL_LATE) == [
            {"tool_call_id": "call_0002", "outcome": "done"}
        ]
    kinds = [
        entry.type
        for entry in await stage.entries()
        if entry.data.get("tool_call_id") == "call_0002"
    ]
    assert EventType.TOOL_CALL_READY not in kinds
    assert EventType.TOOL_CALL_PROJECTING not in kinds


@pytest.mark.spec("K5", "D14")
@pytest.mark.fault("F27", "F28", "R32")
async def test_a_cancelled_run_leaves_no_call_without_its_last_line() -> None:
    gate = threading.Event()

    async def asks(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        await stage.store.post(RUN_ID, "cancel", "somebody")
        await anyio.sleep_forever()
        return ()

    many = act("asks", "slow", "look", query="b")
    stage = theatre(act("look"), many, backends={"asks": asks})
    stage.tools = (replace(blocking("slow", gate, [], effect=False), timeout_s=60),)
    stage.real_time = SystemClock()
    tight = Limits.model_validate({**dict(LIMITS), "concurrency": 2})
    stage.asked = ASKED.model_validate({**dict(ASKED), "limits": tight})
    release = await stage.finish()
    gate.set()
    assert release.decision is DecisionId.D14
    view = await stage.view()
    assert [call.code for call in view.calls.values()] == [None, *["CANCELLED"] * 3]
    assert all(call.settled for call in view.calls.values())


@pytest.mark.spec("K5", "D12", "H2")
@pytest.mark.fault("R30")
async def test_the_deadline_ends_a_call_with_its_own_code_and_keeps_what_was_seen() -> None:
    async def hang(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        await anyio.sleep_forever()
        return ()

    stage = theatre(act("look"), act("hang"), backends={"hang": hang})
    short = Limits.model_validate({**dict(LIMITS), "timeout_s": 20})
    stage.asked = ASKED.model_validate({**dict(ASKED), "limits": short})
    async with stage.clock.jumping():
        release = await stage.finish()
    assert (release.decision, release.run_state) == (DecisionId.D12, RunState.TIMED_OUT)
    assert release.agent_status is AgentStatus.TIMEOUT
    assert release.fallback is not None
    assert release.fallback.observed_facts
    assert (await stage.view()).calls["call_0002"].code == "DEADLINE"


@pytest.mark.spec("K5")
@pytest.mark.fault("F29")
async def test_what_was_seen_before_a_cancel_can_be_read_back_after_it() -> None:
    shown: list[str] = []

    def listen(entry: Any, contents: Any) -> None:
        if entry.type is EventType.TOOL_CALL_READY:
            shown.append(str(entry.data["result_digest"]))

    async def asks(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        await stage.store.post(RUN_ID, "cancel", "somebody")
        await anyio.sleep_forever()
        return ()

    stage = theatre(act("look"), act("look", "asks", query="b"), backends={"asks": asks})
    told = stage.world()
    told = replace(told, driver=replace(told.driver, listen=listen))
    await start(told, ASKED)
    async with stage.clock.jumping():
        await drive(RUN_ID, told)
    assert shown
    for address in shown:
        assert await stage.store.artifact(RUN_ID, address) is not None


@pytest.mark.spec("K6", "K5")
@pytest.mark.fault("F27")
async def test_a_tool_that_swallows_its_cancel_and_answers_is_not_believed() -> None:
    async def swallow(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        with suppress(BaseException):  # this is the tool that swallows whatever it can
            await anyio.sleep_forever()
        return await found(arguments)

    stage = theatre(act("look"), act("swallow"), GiveUp("done"))
    stage.tools = (scripted_tool("swallow", swallow, timeout_s=1),)
    async with stage.clock.jumping():
        await stage.finish()
    call = (await stage.view()).calls["call_0002"]
    assert (call.code, call.late) == ("TIMEOUT", "done")
