"""A crash is not a second roll of the dice: kill or fail every write, then go on (K8, L5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import anyio
import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.agent import AgentState
from affidavit.contract.decisions import DecisionId
from affidavit.contract.errors import RecordFailed
from affidavit.contract.evidence import Fact
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import RunState, SemanticVerdict
from affidavit.core.chain import first_break
from affidavit.core.run import LEASE_TTL_S
from affidavit.diagnose import Paused, World, drive, start
from affidavit.ports.store import Store
from affidavit.testing.faulty_store import Effect, Fault, FaultyStore, Killed, Moment
from affidavit.testing.scripted import ScriptedArguments
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.runs import RUN_ID, reading, request
from tests.support.worlds import ScriptedJudge, act, conclude, world

pytestmark = pytest.mark.anyio


class Rig:
    """One story told several times: two steps, a repairable draft's judge, and a count of calls."""

    def __init__(self) -> None:
        self.inner = MemoryStore()
        self.clock = VirtualClock()
        self.executed: Counter[str] = Counter()
        self.judge = ScriptedJudge(["MODEL_FAILED", SemanticVerdict.SUPPORTED])
        self.decided = 0

    async def probe(self, arguments: ScriptedArguments) -> tuple[Fact, ...]:
        self.executed[arguments.query] += 1
        return (reading(arguments.service or "checkout"),)

    def counted(self, decision: object) -> Callable[[AgentState], object]:
        def decide(state: AgentState) -> object:
            self.decided += 1
            return decision

        return decide

    def world(self, store: Store, holder: str) -> World:
        script = [
            self.counted(act("probe", "search", query="first")),
            self.counted(act("probe", query="second")),
            self.counted(conclude()),
        ]
        return world(
            script,  # type: ignore[arg-type]
            store=store,
            clock=self.clock,
            judge=self.judge,
            backends={"probe": self.probe},
            holder=holder,
        )


async def tell(rig: Rig, store: Store, holder: str) -> ReleaseRecord:
    """Start the run if it is not there, and drive it."""
    told = rig.world(store, holder)
    if await store.head(RUN_ID) is None:
        await start(told, request())
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    return release


def check(entries: tuple[Entry, ...]) -> None:
    kinds = [entry.type for entry in entries]
    assert first_break(RUN_ID, entries) is None
    assert kinds.count(EventType.RELEASE_DECISION) == kinds.count(EventType.RUN_ENDED) == 1
    assert kinds[-1] is EventType.RUN_ENDED
    settled = [
        entry.data["tool_call_id"]
        for entry in entries
        if entry.type in (EventType.TOOL_CALL_READY, EventType.TOOL_CALL_ERROR)
    ]
    assert len(settled) == len(set(settled))
    assert kinds.count(EventType.SEMANTIC_GUARD_DECISION) == 1


async def count_writes() -> int:
    rig = Rig()
    store = FaultyStore(rig.inner)
    release = await tell(rig, store, "only")
    assert release.decision is DecisionId.D1
    return len(store.writes)


WRITES = 18
"""Boundaries that are tried; `test_every_write_is_among_the_boundaries` holds it against a run."""


@pytest.mark.spec("K8")
async def test_every_write_is_among_the_boundaries() -> None:
    assert WRITES - 2 <= await count_writes() <= WRITES


@pytest.mark.spec("K1", "K8", "L5", "L6", "N12", "N15")
@pytest.mark.fault("F12", "F13", "F14", "F15")
@pytest.mark.parametrize("moment", list(Moment))
@pytest.mark.parametrize("at", range(1, WRITES + 1))
@pytest.mark.parametrize("effect", list(Effect))
async def test_a_kill_or_failure_at_any_write_leaves_exactly_one_decision_after_a_resume(
    effect: Effect, at: int, moment: Moment
) -> None:
    rig = Rig()
    broken = FaultyStore(rig.inner, Fault(at, moment, effect))
    failed = False
    try:
        await tell(rig, broken, "first")
    except* (Killed, RecordFailed):
        failed = True
    if failed and await rig.inner.head(RUN_ID) is None:
        assert rig.decided == 0
    rig.clock.shift(LEASE_TTL_S + 1)
    release = await tell(rig, rig.inner.reopen(), "second")
    assert release.decision is DecisionId.D1
    assert release.run_state is RunState.SUCCESS
    check(await rig.inner.read(RUN_ID))
    assert rig.decided <= 4, "an answer that was recorded is not asked for again"
    assert max(rig.executed.values()) <= 2


@pytest.mark.spec("L5", "N15")
@pytest.mark.fault("F14")
async def test_a_disk_that_stays_full_publishes_nothing_and_loses_nothing() -> None:
    boundaries = await count_writes()
    for at in range(2, boundaries):
        rig = Rig()
        broken = FaultyStore(rig.inner, Fault(at, times=None))
        with pytest.raises(RecordFailed):
            await tell(rig, broken, "first")
        kinds = [entry.type for entry in await rig.inner.read(RUN_ID)]
        assert EventType.RELEASE_DECISION not in kinds
        rig.clock.shift(LEASE_TTL_S + 1)
        release = await tell(rig, rig.inner.reopen(), "second")
        assert release.decision is DecisionId.D1
        check(await rig.inner.read(RUN_ID))


@pytest.mark.spec("K8", "K3")
async def test_a_run_is_paused_and_resumed_and_its_sleep_is_no_working_time() -> None:
    rig = Rig()
    calls = 0

    async def pausing(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        nonlocal calls
        calls += 1
        if calls == 1:
            await rig.inner.post(RUN_ID, "pause", "somebody")
            await anyio.sleep_forever()
        return (reading(),)

    def paused_world(holder: str) -> World:
        return world(
            [act("probe"), conclude()],
            store=rig.inner,
            judge=ScriptedJudge(),
            backends={"probe": pausing},
            holder=holder,
        )

    first = paused_world("first")
    await start(first, request())
    assert await drive(RUN_ID, first) == Paused(RUN_ID)
    head = await rig.inner.head(RUN_ID)
    assert head is not None
    assert (head.paused, head.state) == (True, RunState.RUNNING)
    release = await drive(RUN_ID, paused_world("second"))
    assert isinstance(release, ReleaseRecord)
    assert release.decision is DecisionId.D1
    kinds = [entry.type for entry in await rig.inner.read(RUN_ID)]
    assert kinds.index(EventType.RUN_PAUSED) < kinds.index(EventType.RUN_RESUMED)
    assert calls == 2


@pytest.mark.spec("E6", "M3", "K8")
async def test_a_recorded_verdict_is_final_and_no_judge_is_asked_again() -> None:
    rig = Rig()
    rig.judge = ScriptedJudge([SemanticVerdict.UNSUPPORTED, SemanticVerdict.SUPPORTED])
    boundaries = await count_writes()
    for at in range(1, boundaries + 1):
        rig = Rig()
        rig.judge = ScriptedJudge([SemanticVerdict.UNSUPPORTED, SemanticVerdict.SUPPORTED])
        try:
            await tell(rig, FaultyStore(rig.inner, Fault(at, effect=Effect.KILL)), "first")
        except* Killed:
            pass
        verdicts = [
            entry
            for entry in await rig.inner.read(RUN_ID)
            if entry.type is EventType.SEMANTIC_GUARD_DECISION
        ]
        rig.clock.shift(LEASE_TTL_S + 1)
        release = await tell(rig, rig.inner.reopen(), "second")
        if verdicts:
            assert release.decision is DecisionId.D4
