"""No effect twice: whatever dies, and whenever, what is done is done once or known as unknown (K9).

The run looks, asks a person, restarts something, looks again and concludes. It is killed, or its
store fails, at every write in turn; whoever goes on finds out from the journal alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Final

import anyio
import pytest

from affidavit.contract.agent import AgentState, Conclude, GiveUp
from affidavit.contract.decisions import DecisionId
from affidavit.contract.errors import InputRefused, RecordFailed, ToolFailed
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.limits import Limits
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import AgentStatus
from affidavit.core.chain import first_break, to_us
from affidavit.core.fold import OUTCOME_UNKNOWN, fold
from affidavit.diagnose import Paused
from affidavit.ports.store import Store
from affidavit.testing.faulty_store import Effect, Fault, FaultyStore, Killed, Moment
from affidavit.testing.scripted import ScriptedArguments
from affidavit.tools.boundary import OUTCOME_WAIT_S
from tests.support.acting import Theatre, writing_tool
from tests.support.runs import LIMITS, RUN_ID, request
from tests.support.worlds import act, conclude

pytestmark = pytest.mark.anyio

ASKED: Final = request().model_validate({**dict(request()), "requested_by": "Ada"})


def theatre(*script: Any, **more: Any) -> Theatre:
    """Look, restart, look again, conclude."""
    steps: list[Any] = [
        act("look"),
        act("look", "restart", service="cart"),
        act("look", service="cart", query="after"),
        conclude(),
    ]
    return Theatre(list(script) or steps, asked=ASKED, **more)


async def tell(stage: Theatre, store: Store | None = None) -> ReleaseRecord:
    """Drive the run to its end; people answer whenever it waits for them."""
    for _ in range(6):
        told = await stage.drive(store)
        if isinstance(told, ReleaseRecord):
            return told
        for call in (await stage.view()).waiting():
            await stage.decide(call.tool_call_id)
        for call in (await stage.view()).unresolved():
            await stage.resolve(call.tool_call_id)
    raise AssertionError("it never came to an end")


def check(entries: tuple[Entry, ...], stage: Theatre) -> int:
    """What must hold of every history; how many outcomes nobody knew."""
    assert first_break(RUN_ID, entries) is None
    kinds = [entry.type for entry in entries]
    assert kinds.count(EventType.RELEASE_DECISION) == kinds.count(EventType.RUN_ENDED) == 1
    assert kinds[-1] is EventType.RUN_ENDED
    assert stage.outside.most <= 1, "no effect twice"
    view = fold(entries)
    writes = [call for call in view.calls.values() if call.effect == "write"]
    settled = Counter(
        str(entry.data["tool_call_id"])
        for entry in entries
        if entry.type
        in (EventType.TOOL_CALL_READY, EventType.TOOL_CALL_ERROR, EventType.TOOL_CALL_REFUSED)
    )
    assert set(settled.values()) <= {1}
    for call in writes:
        ready = call.settled is EventType.TOOL_CALL_READY
        assert ready or call.code == OUTCOME_UNKNOWN
        if ready:
            assert sum(stage.outside.done.values()) == 1, "what is READY was done"
        assert call.attempts == 1
    return sum(call.code == OUTCOME_UNKNOWN for call in writes)


DRIVERS: Final = 2
"""Of an undisturbed run: one until the question, one after the answer."""


async def count_writes() -> int:
    """How many writes one undisturbed run makes, people's answers left out."""
    stage = theatre()
    writes = 0
    for _ in range(3):
        store = FaultyStore(stage.store.reopen())
        told = await stage.drive(store)
        writes += len(store.writes)
        if isinstance(told, ReleaseRecord):
            assert told.decision is DecisionId.D1
            return writes
        await stage.decide("call_0003")
    raise AssertionError("it never came to an end")


@dataclass
class Dying:
    """The processes that drive one run: the n-th write of all of them together goes wrong."""

    stage: Theatre
    fault: Fault
    made: int = 0

    async def drive(self) -> ReleaseRecord | Paused | None:
        """One process; None when it died or its store failed."""
        at = self.fault.at - self.made
        faults = (replace(self.fault, at=at),) if at >= 1 else ()
        store = FaultyStore(self.stage.store.reopen(), *faults)
        told: ReleaseRecord | Paused | None = None
        try:
            told = await self.stage.drive(store)
        except* (Killed, RecordFailed):
            told = None
        self.made += len(store.writes)
        return told


async def live_through(fault: Fault) -> tuple[Theatre, bool]:
    """A run through this fault, and whether anybody died of it."""
    stage = theatre()
    dying = Dying(stage, fault)
    died = False
    for _ in range(8):
        told = await dying.drive()
        if isinstance(told, ReleaseRecord):
            return stage, died
        died = died or told is None
        stage.outlive_lease()  # its giving back may be what failed
        if await stage.store.head(RUN_ID) is None:
            continue
        for call in (await stage.view()).waiting():
            await stage.decide(call.tool_call_id)
        if isinstance(told, Paused) and told.reason == "outcome":
            for call in (await stage.view()).unresolved():
                await stage.resolve(call.tool_call_id)
    raise AssertionError("it never came to an end")


@pytest.mark.spec("K9", "K8", "K1", "H10", "L6", "T2", "N12")
@pytest.mark.fault("F12", "F13", "F14", "F15", "F17", "F28")
@pytest.mark.parametrize("effect", list(Effect))
@pytest.mark.parametrize("moment", list(Moment))
async def test_killed_at_every_write_no_effect_happens_twice(
    effect: Effect, moment: Moment, capsys: pytest.CaptureFixture[str]
) -> None:
    writes = await count_writes()
    unknown, deaths = 0, 0
    for at in range(1, writes + 1):
        stage, died = await live_through(Fault(at, moment, effect))
        deaths += died
        unknown += check(await stage.entries(), stage)
        (last,) = await stage.data(EventType.RUN_ENDED)
        assert last["agent_status"] == "DONE"
    with capsys.disabled():
        print(f" [{effect} {moment}: {writes} writes, {deaths} deaths, {unknown} OUTCOME_UNKNOWN]")
    assert deaths >= writes - DRIVERS, "only the giving back of a lease may fail unheard"
    assert unknown <= 2, "only a death between intent and outcome leaves an outcome unknown"


@pytest.mark.spec("K9")
@pytest.mark.fault("F14")
async def test_the_intent_is_durable_before_the_effect_and_so_is_the_outcome() -> None:
    durable: list[tuple[bool, list[EventType]]] = []
    stage = theatre()
    inner = stage.store

    class Watching(FaultyStore):
        async def append(self, lease: Any, write: Any) -> None:
            durable.append((write.durable, [entry.type for entry in write.entries]))
            await super().append(lease, write)

    await stage.drive(Watching(inner.reopen()))
    await stage.decide("call_0003")
    during: list[int] = []

    async def restart(arguments: ScriptedArguments, key: str) -> None:
        during.append(len(durable))

    stage.tools = (writing_tool("restart", restart),)
    await stage.drive(Watching(inner.reopen()))
    (at,) = during
    before, after = durable[at - 1], durable[at]
    assert before[0]
    assert EventType.TOOL_CALL_INTENDED in before[1]
    assert after[0]
    assert EventType.TOOL_CALL_READY in after[1]


@pytest.mark.spec("K9")
async def test_one_call_has_one_key_and_it_stands_in_the_record_before_the_effect() -> None:
    keys: list[str] = []

    async def restart(arguments: ScriptedArguments, key: str) -> None:
        keys.append(key)

    stage = theatre()
    stage.tools = (writing_tool("restart", restart),)
    await tell(stage)
    (key,) = keys
    assert len(key) == 32
    contents = {item.digest: item.content for item in await stage.store.artifacts(RUN_ID)}
    (intended,) = [
        entry
        for entry in await stage.entries()
        if entry.type is EventType.TOOL_CALL_INTENDED and entry.data["effect"] == "write"
    ]
    assert f'"idempotency_key":"{key}"'.encode() in contents[str(intended.data["request_digest"])]


async def dead_in_the_middle(stage: Theatre) -> None:
    """The process dies after the effect and before its outcome is on record."""

    async def dying(arguments: ScriptedArguments, key: str) -> None:
        await stage.outside.restart(arguments, key)
        raise KeyboardInterrupt

    stage.tools = (writing_tool("restart", dying),)
    await stage.drive()
    await stage.decide("call_0003")
    with pytest.raises(KeyboardInterrupt):
        await stage.drive()
    stage.outlive_lease()


@pytest.mark.spec("K9")
@pytest.mark.fault("F14", "F12")
async def test_an_unknown_outcome_waits_for_an_operator_and_is_never_tried_again() -> None:
    codes: list[str | None] = []

    def note(state: AgentState) -> Conclude:
        codes.append(state.observations[2].code)
        return conclude()

    stage = theatre(act("look"), act("look", "restart", service="cart"), note)
    await dead_in_the_middle(stage)
    assert await stage.drive() == Paused(RUN_ID, "outcome")
    assert await stage.drive() == Paused(RUN_ID, "outcome")
    head = await stage.store.head(RUN_ID)
    assert head is not None
    assert head.paused
    await stage.resolve("call_0003", "done")
    assert await stage.store.due(0) == (RUN_ID,)
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert sum(stage.outside.done.values()) == 1
    assert codes == ["OUTCOME_DONE"]
    (resolved,) = await stage.data(EventType.OUTCOME_RESOLVED)
    assert resolved == {"tool_call_id": "call_0003", "outcome": "done", "by": "Mo"}


@pytest.mark.spec("K9")
async def test_an_unknown_outcome_that_nobody_resolves_does_not_hold_the_run_for_ever() -> None:
    stage = theatre()
    await dead_in_the_middle(stage)
    assert await stage.drive() == Paused(RUN_ID, "outcome")
    await stage.clock.advance(OUTCOME_WAIT_S + 1)
    assert await stage.store.due(to_us(stage.clock.now())) == (RUN_ID,)
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert sum(stage.outside.done.values()) == 1
    assert [call.tool_call_id for call in (await stage.view()).unresolved()] == ["call_0003"]


@pytest.mark.spec("K9")
@pytest.mark.parametrize(
    ("call", "outcome", "by", "code"),
    [
        ("call_0001", "done", "Mo", "OUTCOME_KNOWN"),
        ("call_0099", "done", "Mo", "OUTCOME_KNOWN"),
        ("call_0003", "perhaps", "Mo", "OUTCOME_MALFORMED"),
        ("call_0003", "done", " ", "APPROVER_UNNAMED"),
        ("call_0003", "done", "scripted", "APPROVER_IS_AGENT"),
    ],
)
async def test_only_an_unknown_outcome_is_resolved_by_a_person_with_a_name(
    call: str, outcome: str, by: str, code: str
) -> None:
    stage = theatre()
    await dead_in_the_middle(stage)
    await stage.drive()
    with pytest.raises(InputRefused) as caught:
        await stage.resolve(call, outcome, by)
    assert caught.value.code == code
    assert await stage.store.inbox(RUN_ID) == ()


@pytest.mark.spec("K9")
async def test_the_first_word_about_an_outcome_counts_and_the_second_is_refused_on_record() -> None:
    stage = theatre()
    await dead_in_the_middle(stage)
    await stage.drive()
    await stage.resolve("call_0003", "done")
    await stage.resolve("call_0003", "not-done", by="Jo")
    await stage.finish()
    (refused,) = await stage.data(EventType.COMMAND_REFUSED)
    assert refused == {"kind": "resolve", "by": "Jo", "code": "OUTCOME_KNOWN"}
    assert (await stage.view()).calls["call_0003"].resolution == "done"


@pytest.mark.spec("K9", "T4")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ToolFailed("quota", code="HTTP_409"), "HTTP_409"),
        (OSError("canary: connection reset"), OUTCOME_UNKNOWN),
        (ToolFailed("no code of ours", code="canary text"), "TOOL_FAILED"),
    ],
    ids=["it knows that nothing happened", "nobody knows", "a code that is none"],
)
async def test_only_a_tool_that_knows_says_that_nothing_happened(
    error: Exception, code: str
) -> None:
    async def failing(arguments: ScriptedArguments, key: str) -> None:
        raise error

    stage = theatre()
    stage.tools = (writing_tool("restart", failing),)
    await stage.drive()
    await stage.decide("call_0003")
    await stage.drive()
    assert (await stage.view()).calls["call_0003"].code == code
    assert "canary" not in repr(await stage.entries())


@pytest.mark.spec("K9", "K5")
@pytest.mark.fault("F27")
async def test_an_effect_that_takes_too_long_is_unknown_and_not_tried_again() -> None:
    async def slow(arguments: ScriptedArguments, key: str) -> None:
        await stage.outside.restart(arguments, key)
        await stage.clock.sleep(3600)

    stage = theatre()
    stage.tools = (writing_tool("restart", slow, timeout_s=5),)
    await stage.drive()
    await stage.decide("call_0003")
    async with stage.clock.jumping():
        assert await stage.drive() == Paused(RUN_ID, "outcome")
    view = await stage.view()
    assert view.calls["call_0003"].code == OUTCOME_UNKNOWN
    assert stage.outside.most == 1


@pytest.mark.spec("K5", "K9")
async def test_a_pause_lets_an_effect_under_way_come_to_its_end() -> None:
    async def slow(arguments: ScriptedArguments, key: str) -> None:
        await stage.store.post(RUN_ID, "pause", "somebody")
        await stage.clock.sleep(3)
        await stage.outside.restart(arguments, key)

    stage = theatre()
    stage.tools = (writing_tool("restart", slow),)
    await stage.drive()
    await stage.decide("call_0003")
    async with stage.clock.jumping():
        assert await stage.drive() == Paused(RUN_ID, "asked")
    view = await stage.view()
    assert view.calls["call_0003"].settled is EventType.TOOL_CALL_READY
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert sum(stage.outside.done.values()) == 1


@pytest.mark.spec("K5", "K9", "D14")
@pytest.mark.fault("F27", "F28")
async def test_a_cancel_reaches_an_effect_and_its_outcome_is_unknown() -> None:
    async def slow(arguments: ScriptedArguments, key: str) -> None:
        await stage.store.post(RUN_ID, "cancel", "somebody")
        await stage.clock.sleep(3600)

    stage = theatre()
    stage.tools = (writing_tool("restart", slow),)
    await stage.drive()
    await stage.decide("call_0003")
    async with stage.clock.jumping():
        release = await stage.finish()
    assert release.decision is DecisionId.D14
    view = await stage.view()
    assert view.calls["call_0003"].code == OUTCOME_UNKNOWN
    assert all(call.settled is not None for call in view.calls.values())


@pytest.mark.spec("K3", "K9")
async def test_an_effect_counts_as_a_call_and_over_the_limit_nothing_is_asked_or_done() -> None:
    tight = Limits.model_validate({**dict(LIMITS), "tool_calls": 1})
    stage = theatre(act("look"), act("restart", service="cart"), GiveUp("done"))
    stage.asked = ASKED.model_validate({**dict(ASKED), "limits": tight})
    await stage.drive()
    await stage.decide("call_0002")
    release = await stage.finish()
    assert release.agent_status is AgentStatus.BUDGET_EXCEEDED
    assert stage.outside.most == 0
    assert (await stage.view()).calls["call_0002"].code == "BUDGET_TOOL_CALLS"


@pytest.mark.spec("T8", "K9")
async def test_what_was_read_before_an_effect_is_read_again_after_it() -> None:
    stage = theatre(
        act("look", service="cart"),
        act("look", service="cart"),
        act("restart", service="cart"),
        act("look", service="cart"),
        GiveUp("done"),
    )
    stage.clock.shift(3600)  # the window is closed
    await tell(stage)
    assert stage.outside.read == {"": 2}


@pytest.mark.spec("K9", "K1")
async def test_a_driver_that_was_thought_dead_does_nothing_once_it_is_fenced() -> None:
    """It wakes up behind its lease: it may not even intend."""
    stage = theatre()
    await stage.drive()
    await stage.decide("call_0003")
    gate = anyio.Event()

    class Slow(FaultyStore):
        """Its machine stood still between reading the inbox and the first append after it."""

        async def append(self, lease: Any, write: Any) -> None:
            if any(entry.type is EventType.TOOL_CALL_INTENDED for entry in write.entries):
                await gate.wait()
            await super().append(lease, write)

    ends: list[object] = []

    async def sleeper() -> None:
        try:
            ends.append(await stage.drive(Slow(stage.store.reopen())))
        except RecordFailed as failed:
            ends.append(failed.code)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sleeper)
        await anyio.wait_all_tasks_blocked()
        stage.outlive_lease()
        release = await stage.finish()
        gate.set()
    assert release.decision is DecisionId.D1
    assert ends == ["LEASE_LOST"]
    assert sum(stage.outside.done.values()) == 1
