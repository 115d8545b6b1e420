"""A person decides: the run waits for days and processes, and exactly that action happens once."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.agent import Act, AgentState, Conclude, GiveUp, ToolCallRequest
from affidavit.contract.decisions import DecisionId
from affidavit.contract.errors import InputRefused
from affidavit.contract.journal import EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import AgentStatus, ReleaseOutcome, RunState
from affidavit.core.chain import first_break, to_us
from affidavit.core.run import Driver
from affidavit.diagnose import Paused, drive, start
from affidavit.guards.chain import in_order
from affidavit.ports.store import CommandKind
from affidavit.testing.virtual_clock import VirtualClock
from affidavit.tools.approval import APPROVAL_WAIT_S, DESTRUCTIVE_WAIT_S
from affidavit.tools.approval_desk import Decision, decide_approval, page_of
from tests.support.acting import Theatre, permit_all, writing_tool
from tests.support.runs import RUN_ID, request
from tests.support.worlds import act, conclude

pytestmark = pytest.mark.anyio

RESTART = act("look", "restart", service="cart")


def theatre(*script: Any, **more: Any) -> Theatre:
    """A run that looks, restarts something, and concludes about what it saw."""
    told = script or (act("look"), RESTART, conclude())
    return Theatre(list(told), asked=request().model_validate(ASKED), **more)


ASKED = {**dict(request()), "requested_by": "Ada", "roles": ("sre",)}


def codes(told: list[dict[str, object]]) -> list[object]:
    """The codes on these lines."""
    return [item["code"] for item in told]


@pytest.mark.spec("H10", "E14", "E18", "K9", "T2", "C2")
@pytest.mark.fault("F17", "F12")
async def test_the_run_waits_and_after_the_approval_exactly_that_action_happens_once() -> None:
    stage = theatre()
    assert await stage.drive() == Paused(RUN_ID, "approval")
    head = await stage.store.head(RUN_ID)
    assert head is not None
    assert (head.state, head.paused) == (RunState.RUNNING, True)
    assert (stage.outside.most, stage.outside.read) == (0, {"": 2})
    (waiting,) = await stage.store.approvals("acme")
    assert (waiting.ask.tool_call_id, waiting.ask.tool) == ("call_0003", "restart")
    assert head.wake_at_us == waiting.ask.expires_us + 1
    await stage.decide("call_0003")
    assert await stage.store.due(0) == (RUN_ID,)
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert (sum(stage.outside.done.values()), stage.outside.read) == (1, {"": 2})
    assert await stage.store.approvals("acme") == ()
    kinds = await stage.kinds()
    order = [EventType.APPROVAL_REQUESTED, EventType.RUN_PAUSED, EventType.APPROVAL_DECIDED]
    places = [kinds.index(kind) for kind in order]
    assert places == sorted(places)
    intended = [e for e in await stage.entries() if e.data.get("effect") == "write"]
    assert [entry.type for entry in intended] == [EventType.TOOL_CALL_INTENDED]
    assert intended[0].seq > places[-1]
    assert first_break(RUN_ID, await stage.entries()) is None


@pytest.mark.spec("H10", "K9")
@pytest.mark.fault("R61")
async def test_what_only_reads_asks_nobody_and_what_acts_is_asked_about_once() -> None:
    """However its words look; and to wait for a person is no failure of the tool."""
    words = ("get pods | awk '{print $1}'", "logs cart > /tmp/x", "get events; true", "$(whoami)")
    seen: list[str | None] = []

    def note(state: AgentState) -> Conclude:
        seen.extend(item.code for item in state.observations)
        return conclude()

    reads = Act(tuple(ToolCallRequest("look", {"query": text}) for text in words))
    stage = theatre(reads, RESTART, note)
    assert await stage.drive() == Paused(RUN_ID, "approval")
    asked = [data["tool_call_id"] for data in await stage.data(EventType.APPROVAL_REQUESTED)]
    assert len(asked) == 1
    await stage.decide(str(asked[0]))
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert len(await stage.data(EventType.APPROVAL_REQUESTED)) == 1
    assert not any(seen), "neither a refusal nor an error"
    assert stage.outside.most == 1


@pytest.mark.spec("H10")
@pytest.mark.fault("R9", "R58")
async def test_the_page_shows_tool_arguments_and_records_and_never_the_agents_plea() -> None:
    plea = replace(RESTART, note="PLEA: please approve, I am 100 % certain")
    stage = theatre(act("look"), plea, conclude())
    await stage.drive()
    (waiting,) = await stage.store.approvals("acme")
    page = await page_of(stage.store, waiting)
    assert page is not None
    shown = json.loads(page)
    assert shown["tool"]["name"] == "restart"
    assert shown["arguments"] == {"service": "cart"}
    assert shown["requested_by"] == "Ada"
    assert shown["action_digest"] == waiting.ask.action_digest
    assert shown["expires_us"] == waiting.ask.expires_us
    (first,) = [item for item in shown["records"] if item["tool_call_id"] == "call_0001"]
    assert (first["tool"], first["status"]) == ("look", "READY")
    assert "errors" in first["facts"][0]
    assert b"PLEA" not in page


@pytest.mark.spec("H10")
async def test_a_rejection_is_an_observation_and_the_run_goes_on() -> None:
    seen: list[str | None] = []

    def note(state: AgentState) -> Conclude:
        seen.extend(item.code for item in state.observations)
        return conclude()

    stage = theatre(act("look"), RESTART, note)
    await stage.drive()
    await stage.decide("call_0003", "reject")
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert stage.outside.most == 0
    assert seen == [None, None, "APPROVAL_REJECTED"]


@pytest.mark.spec("H10", "K3")
@pytest.mark.fault("F26", "F23")
async def test_days_of_waiting_survive_and_are_not_charged_to_the_run() -> None:
    stage = theatre()
    await stage.drive()
    await stage.clock.advance(71 * 3600)
    assert [item.ask.tool for item in await stage.store.reopen().approvals("acme")] == ["restart"]
    await stage.decide("call_0003")
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert stage.outside.most == 1
    assert release.usage.duration_ms < 1000


@pytest.mark.spec("H10")
@pytest.mark.fault("F23")
@pytest.mark.parametrize(
    ("destructive", "wait_s"), [(False, APPROVAL_WAIT_S), (True, DESTRUCTIVE_WAIT_S)]
)
@pytest.mark.parametrize("approved", [False, True])
async def test_what_is_not_used_in_its_time_expires_and_the_run_goes_on_by_itself(
    destructive: bool, wait_s: int, approved: bool
) -> None:
    stage = theatre()
    stage.tools = (writing_tool("restart", stage.outside.restart, destructive=destructive),)
    await stage.drive()
    if approved:
        await stage.decide("call_0003")
    await stage.clock.advance(wait_s - 1)
    woken = (RUN_ID,) if approved else ()
    assert await stage.store.due(to_us(stage.clock.now())) == woken
    await stage.clock.advance(2)
    assert await stage.store.due(to_us(stage.clock.now())) == (RUN_ID,)
    with pytest.raises(InputRefused, match="time is over") as caught:
        await stage.decide("call_0003")
    assert caught.value.code == "APPROVAL_EXPIRED"
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert stage.outside.most == 0
    refused = await stage.data(EventType.TOOL_CALL_REFUSED)
    assert codes(refused) == ["APPROVAL_EXPIRED"]
    assert await stage.store.approvals("acme") == ()


FORGED: dict[str, tuple[dict[str, Any], str]] = {
    "the requester": ({"by": "Ada"}, "APPROVER_IS_REQUESTER"),
    "the requester in disguise": ({"by": " aDA "}, "APPROVER_IS_REQUESTER"),
    "the agent": ({"by": "scripted"}, "APPROVER_IS_AGENT"),
    "nobody": ({"by": "  "}, "APPROVER_UNNAMED"),
    "a call that asked nobody": ({"call": "call_0002"}, "APPROVAL_UNKNOWN"),
    "a call that there is not": ({"call": "call_0099"}, "APPROVAL_UNKNOWN"),
    "another action": ({"digest": "f" * 64}, "APPROVAL_MISMATCH"),
}


@pytest.mark.spec("H10", "N5")
@pytest.mark.fault("R58", "F19", "F21", "F22")
@pytest.mark.parametrize(("forged", "code"), FORGED.values(), ids=FORGED.keys())
async def test_a_decision_that_cannot_count_is_refused_loudly_and_nothing_happens(
    forged: dict[str, Any], code: str
) -> None:
    stage = theatre()
    await stage.drive()
    before = await stage.entries()
    with pytest.raises(InputRefused) as caught:
        await stage.decide(**{"call": "call_0003", **forged})
    assert caught.value.code == code
    assert await stage.store.inbox(RUN_ID) == ()
    assert await stage.entries() == before
    assert await stage.store.due(0) == ()


PAYLOADS = {
    "no JSON": ("{", "PAYLOAD_MALFORMED"),
    "another shape": ('["call_0003"]', "PAYLOAD_MALFORMED"),
    "one more field": (
        '{"tool_call_id": "call_0003", "action_digest": "x", "arguments": "y"}',
        "PAYLOAD_MALFORMED",
    ),
    "a wrong digest": ('{"tool_call_id": "call_0003", "action_digest": "x"}', "APPROVAL_MISMATCH"),
    "a call of no run": ('{"tool_call_id": "call_9", "action_digest": "x"}', "APPROVAL_UNKNOWN"),
}


@pytest.mark.spec("H10", "T6")
@pytest.mark.fault("R58", "F19", "F21")
@pytest.mark.parametrize("kind", ["approve", "reject"])
@pytest.mark.parametrize(("payload", "code"), PAYLOADS.values(), ids=PAYLOADS.keys())
async def test_whoever_writes_into_the_inbox_directly_is_refused_by_the_driver_on_record(
    kind: CommandKind, payload: str, code: str
) -> None:
    stage = theatre()
    await stage.drive()
    await stage.store.post(RUN_ID, kind, "Mallory", payload)
    assert await stage.drive() == Paused(RUN_ID, "approval")
    (refused,) = await stage.data(EventType.COMMAND_REFUSED)
    assert refused == {"kind": kind, "by": "Mallory", "code": code}
    assert stage.outside.most == 0


@pytest.mark.spec("H10")
@pytest.mark.fault("R58")
@pytest.mark.parametrize("by", ["Ada", "scripted", ""])
async def test_the_driver_looks_again_at_who_approves(by: str) -> None:
    stage = theatre()
    await stage.drive()
    (waiting,) = await stage.store.approvals("acme")
    payload = json.dumps({"tool_call_id": "call_0003", "action_digest": waiting.ask.action_digest})
    await stage.store.post(RUN_ID, "approve", by, payload)
    assert await stage.drive() == Paused(RUN_ID, "approval")
    assert stage.outside.most == 0


@pytest.mark.spec("H10")
@pytest.mark.fault("F19")
async def test_a_decision_counts_once_and_the_first_one_counts() -> None:
    stage = theatre()
    await stage.drive()
    await stage.decide("call_0003", "reject", by="Mo")
    await stage.decide("call_0003", "approve", by="Jo")
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert stage.outside.most == 0
    assert codes(await stage.data(EventType.COMMAND_REFUSED)) == ["APPROVAL_DECIDED"]
    with pytest.raises(InputRefused) as caught:
        await stage.decide("call_0003")
    assert caught.value.code == "RUN_ENDED"


@pytest.mark.spec("H10", "K9")
@pytest.mark.fault("F22")
async def test_two_calls_that_say_the_same_are_approved_one_by_one() -> None:
    one, two = act("restart", service="cart"), act("restart", service="cart")
    stage = theatre(one, two, GiveUp("done"))
    await stage.drive()
    (first,) = await stage.store.approvals("acme")
    await stage.decide("call_0001")
    assert await stage.drive() == Paused(RUN_ID, "approval")
    assert sum(stage.outside.done.values()) == 1
    (second,) = await stage.store.approvals("acme")
    assert second.ask.tool_call_id == "call_0002"
    assert second.ask.action_digest != first.ask.action_digest
    with pytest.raises(InputRefused) as caught:
        await stage.decide("call_0002", digest=first.ask.action_digest)
    assert caught.value.code == "APPROVAL_MISMATCH"


@pytest.mark.spec("H10")
@pytest.mark.fault("F19", "F21")
@pytest.mark.parametrize(
    ("changed", "count", "code"),
    [
        ({"description": "deletes a service"}, 0, "APPROVAL_STALE"),
        ({"destructive": True}, 0, "APPROVAL_STALE"),
        ({"timeout_s": 5.0}, 1, None),
    ],
    ids=["another tool", "another danger", "an option that is no part of the decision"],
)
async def test_an_approval_holds_for_the_tool_that_was_shown_and_no_other(
    changed: dict[str, Any], count: int, code: str | None
) -> None:
    stage = theatre()
    await stage.drive()
    await stage.decide("call_0003")
    stage.tools = (writing_tool("restart", stage.outside.restart, **changed),)
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert sum(stage.outside.done.values()) == count
    view = await stage.view()
    assert view.calls["call_0003"].code == code


@pytest.mark.spec("H10", "H9")
async def test_guards_are_asked_again_on_resume_and_a_permission_that_is_gone_is_gone() -> None:
    stage = theatre()
    await stage.drive()
    await stage.decide("call_0003")
    told = stage.world()
    kept = [guard for guard in told.collection.guards.guards if guard.name != "permission"]
    narrow = in_order([*kept, permit_all(["look"])])
    told = replace(told, collection=replace(told.collection, guards=narrow))
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    assert stage.outside.most == 0
    assert (await stage.view()).calls["call_0003"].code == "PERMISSION_DENIED"


@pytest.mark.spec("H10", "K8")
@pytest.mark.fault("F12")
async def test_a_model_that_fails_right_after_the_approved_action_does_not_repeat_it() -> None:
    asked = 0

    def failing(state: AgentState) -> Conclude:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise KeyboardInterrupt
        assert [item.kind for item in state.observations] == ["FOUND", "FOUND", "FOUND"]
        return conclude()

    stage = theatre(act("look"), RESTART, failing)
    await stage.drive()
    await stage.decide("call_0003")
    with pytest.raises(KeyboardInterrupt):
        await stage.drive()
    stage.outlive_lease()
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert sum(stage.outside.done.values()) == 1


@pytest.mark.spec("H10", "D14", "K5")
async def test_a_run_that_is_cancelled_while_it_waits_ends_and_nothing_waits_any_more() -> None:
    stage = theatre()
    await stage.drive()
    await stage.store.post(RUN_ID, "cancel", "Mo")
    release = await stage.finish()
    assert release.decision is DecisionId.D14
    assert release.outcome is ReleaseOutcome.CANCELLED
    assert stage.outside.most == 0
    assert (await stage.view()).calls["call_0003"].code == "CANCELLED"
    assert await stage.store.approvals("acme") == ()
    with pytest.raises(InputRefused) as caught:
        await stage.decide("call_0003")
    assert caught.value.code == "RUN_ENDED"


@pytest.mark.spec("H10")
async def test_several_actions_of_one_step_are_decided_apart_while_the_rest_is_done() -> None:
    both = act("look", "restart", service="cart")
    step = replace(both, calls=(*both.calls, *act("restart", service="search").calls))
    stage = theatre(step, GiveUp("done"))
    assert await stage.drive() == Paused(RUN_ID, "approval")
    assert len(await stage.store.approvals("acme")) == 2
    await stage.decide("call_0003")
    assert await stage.drive() == Paused(RUN_ID, "approval")
    assert sum(stage.outside.done.values()) == 1
    await stage.decide("call_0002", "reject")
    release = await stage.finish()
    assert release.decision is DecisionId.D9
    assert sum(stage.outside.done.values()) == 1


@pytest.mark.spec("H10", "K8")
async def test_a_decision_that_comes_while_the_run_is_about_to_wait_is_not_slept_through() -> None:
    """Whenever it comes between the question and the pause, the run goes on and does not sleep."""
    for turns in range(0, 40, 2):
        stage = theatre(act("restart", service="cart"), GiveUp("done"))

        async def hasty(turns: int = turns, stage: Theatre = stage) -> None:
            while not await stage.store.approvals("acme"):
                await anyio.lowlevel.checkpoint()
            for _ in range(turns):
                await anyio.lowlevel.checkpoint()
            await stage.decide("call_0001")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hasty)
            first = await stage.drive()
        if isinstance(first, Paused):
            assert await stage.store.due(0) == (RUN_ID,)
            await stage.finish()
        assert sum(stage.outside.done.values()) == 1


@pytest.mark.spec("H10", "K8")
@pytest.mark.fault("F23")
async def test_on_disk_the_question_the_decision_and_the_action_are_three_processes(
    tmp_path: Path,
) -> None:
    """Three handles on one file, each closed before the next is opened."""
    stage = theatre()
    clock = VirtualClock()

    def on_disk(store: SqliteStore) -> Any:
        told = stage.world(stage.store)
        return replace(told, driver=Driver(f"driver {stage.drivers}", store, clock))

    store = SqliteStore(tmp_path / "runs.db")
    first = on_disk(store)
    await start(first, stage.asked)
    assert await drive(RUN_ID, first) == Paused(RUN_ID, "approval")
    await store.close()

    clock.shift(timedelta(days=2).total_seconds())
    store = SqliteStore(tmp_path / "runs.db")
    (waiting,) = await store.approvals("acme")
    said = Decision(RUN_ID, "call_0003", True, "Mo", waiting.ask.action_digest)
    await decide_approval(store, to_us(clock.now()), said)
    await store.close()

    store = SqliteStore(tmp_path / "runs.db")
    assert await store.due(to_us(clock.now())) == (RUN_ID,)
    release = await drive(RUN_ID, on_disk(store))
    assert isinstance(release, ReleaseRecord)
    assert release.decision is DecisionId.D1
    assert sum(stage.outside.done.values()) == 1
    await store.close()


@pytest.mark.spec("H10")
@pytest.mark.fault("R9")
async def test_without_the_approval_guard_nothing_is_done_at_all() -> None:
    stage = theatre()
    told = stage.world()
    guards = in_order(g for g in told.collection.guards.guards if g.name != "approval")
    told = replace(told, collection=replace(told.collection, guards=guards))
    await start(told, stage.asked)
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    assert stage.outside.most == 0
    assert (await stage.view()).calls["call_0003"].code == "APPROVAL_UNAVAILABLE"


@pytest.mark.spec("H10", "E18")
async def test_what_the_run_says_while_it_waits_is_need_approval() -> None:
    stage = theatre()
    paused = await stage.drive()
    assert isinstance(paused, Paused)
    assert paused.agent_status is AgentStatus.NEED_APPROVAL
    assert Paused(RUN_ID).agent_status is None
