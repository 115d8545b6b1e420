"""Every row of the release table, reached by a whole run through the real release (section 10).

D2b, where an author takes sentences back, is reached in test_withdrawal.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.document import read_document
from affidavit.contract.agent import Act, AgentState, Conclude, GiveUp
from affidavit.contract.decisions import DECISIONS, DecisionId
from affidavit.contract.draft import DraftCandidate
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.limits import Limits
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import (
    AGENT_RUN_STATES,
    AGENT_STOP_REASONS,
    AgentStatus,
    ReleaseOutcome,
    RunState,
    SemanticVerdict,
)
from affidavit.contract.violations import Violation
from affidavit.core.chain import first_break
from affidavit.diagnose import World, drive, start
from affidavit.release.repair import Repairer
from affidavit.testing.scripted import ScriptedArguments
from affidavit.verify.judges import Judge
from tests.support.runs import LIMITS, RUN_ID, request
from tests.support.worlds import Script, ScriptedJudge, act, conclude, true_draft, world

pytestmark = pytest.mark.anyio


@dataclass
class PatchingRepairer:
    """Answers with one patch."""

    patch: str
    name: str = "scripted"
    asked: list[tuple[Violation, ...]] = field(default_factory=list)

    async def propose(
        self, query: str, draft: DraftCandidate, violations: tuple[Violation, ...]
    ) -> str:
        self.asked.append(violations)
        return self.patch


@dataclass(frozen=True)
class Case:
    """A script that leads to one row."""

    decision: DecisionId
    script: Script
    run_state: RunState
    status: AgentStatus
    judge: Callable[[], Judge] = ScriptedJudge
    repairer: Repairer | None = None
    limits: Limits = LIMITS
    name: str = ""


def tight(**changes: int) -> Limits:
    return Limits.model_validate({**dict(LIMITS), **changes})


def draft(**changes: Any) -> Conclude:
    return conclude(**changes)


UNCITED = {**true_draft("call_0099")}
FIXED = (
    '[{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0001"]},'
    ' {"pointer": "/analyses/0/sentences/0/tool_call_ids", "ids": ["call_0001"]}]'
)
BAD_IDS = [
    {
        "id": "A1",
        "kind": "NORMAL",
        "body": "The errors of checkout were 5.",
        "tool_call_ids": ["call_0099"],
    }
]
PLAIN = {"text": "The errors of checkout were 5.", "based_on_analysis_ids": ["A1"]}
ONE_FIX = '[{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0001"]}]'
NO_CITES = draft(analyses=BAD_IDS, conclusion=PLAIN)
LACKS = {"scope": "checkout", "missing_info": ["the logs of checkout"]}
DONE, FAILED = AgentStatus.DONE, AgentStatus.FAILED
OK = RunState.SUCCESS


def judge(*answers: SemanticVerdict | str) -> Callable[[], Judge]:
    return lambda: ScriptedJudge(list(answers))


def explode(state: AgentState) -> Act:
    raise RuntimeError("canary: the agent broke")


CASES = [
    Case(DecisionId.D1, [act("probe"), draft()], OK, DONE, name="supported"),
    Case(
        DecisionId.D2,
        [act("probe"), NO_CITES],
        OK,
        DONE,
        repairer=PatchingRepairer(ONE_FIX),
        name="repaired",
    ),
    Case(DecisionId.D3, [act("probe"), NO_CITES], OK, DONE, name="no repairer"),
    Case(
        DecisionId.D3,
        [act("probe"), NO_CITES],
        OK,
        DONE,
        repairer=PatchingRepairer(ONE_FIX.replace("0001", "0098")),
        name="recheck invalid",
    ),
    Case(
        DecisionId.D3,
        [act("probe"), NO_CITES],
        OK,
        DONE,
        repairer=PatchingRepairer('[{"pointer": "/conclusion/text", "ids": ["call_0001"]}]'),
        name="repair changes words",
    ),
    Case(
        DecisionId.D4,
        [act("probe"), draft()],
        OK,
        DONE,
        judge=judge(SemanticVerdict.UNSUPPORTED, SemanticVerdict.SUPPORTED),
        name="unsupported, and never asked again",
    ),
    Case(
        DecisionId.D5,
        [act("probe"), draft()],
        OK,
        DONE,
        judge=judge("MODEL_FAILED"),
        name="judge down twice",
    ),
    Case(
        DecisionId.D1,
        [act("probe"), draft()],
        OK,
        DONE,
        judge=judge("MODEL_FAILED", SemanticVerdict.SUPPORTED),
        name="judge down once",
    ),
    Case(DecisionId.D6, [act("probe"), draft(conclusion=None)], OK, DONE, name="no conclusion"),
    Case(
        DecisionId.D7,
        [Conclude({"analyses": [], "conclusion": None, "limitations": LACKS})],
        OK,
        DONE,
        name="missing context",
    ),
    Case(
        DecisionId.D8,
        [Conclude({"analyses": [], "conclusion": None, "limitations": {"scope": "x"}})],
        RunState.FAILED,
        DONE,
        name="nothing at all",
    ),
    Case(
        DecisionId.D8,
        [Conclude({"analyses": BAD_IDS, "conclusion": None, "limitations": LACKS})],
        RunState.FAILED,
        DONE,
        name="missing context, but an invented reference",
    ),
    Case(DecisionId.D9, [act("probe"), GiveUp("no idea")], OK, DONE, name="gave up with facts"),
    Case(
        DecisionId.D9,
        [act("probe", query="a"), *[act("search", query=str(n)) for n in range(9)]],
        OK,
        AgentStatus.LOOP_DETECTED,
        name="went on after the stop notice",
    ),
    Case(
        DecisionId.D9,
        [act("probe", query="a")],
        OK,
        AgentStatus.LOOP_DETECTED,
        name="loop",
    ),
    Case(DecisionId.D10, [act("probe"), Conclude("no JSON")], OK, DONE, name="illegal, facts"),
    Case(DecisionId.D11, [Conclude("no JSON")], RunState.FAILED, DONE, name="illegal, no facts"),
    Case(
        DecisionId.D11,
        [act("down"), GiveUp("no idea")],
        RunState.FAILED,
        DONE,
        name="gave up, nothing seen",
    ),
    Case(
        DecisionId.D12,
        [act("probe", query="a"), act("probe", query="b")],
        RunState.BUDGET_EXHAUSTED,
        AgentStatus.MAX_ITERATIONS,
        limits=tight(iterations=1),
        name="iterations",
    ),
    Case(
        DecisionId.D12,
        [act("probe", "search", "down")],
        RunState.BUDGET_EXHAUSTED,
        AgentStatus.BUDGET_EXCEEDED,
        limits=tight(tool_calls=2),
        name="calls",
    ),
    Case(
        DecisionId.D13,
        [act("down", query="a"), act("down", query="b")],
        RunState.BUDGET_EXHAUSTED,
        AgentStatus.MAX_ITERATIONS,
        limits=tight(iterations=1),
        name="spent, nothing seen",
    ),
    Case(DecisionId.D15, [explode], RunState.FAILED, FAILED, name="agent broke"),
    Case(DecisionId.D15, [act("probe"), explode], RunState.FAILED, FAILED, name="broke later"),
]


async def run(case_world: World, limits: Limits = LIMITS) -> ReleaseRecord:
    await start(case_world, request(limits=limits))
    release = await drive(RUN_ID, case_world)
    assert isinstance(release, ReleaseRecord)
    return release


def check_end(release: ReleaseRecord, entries: tuple[Entry, ...]) -> None:
    """What must hold after every run, whatever happened in it."""
    row = DECISIONS[release.decision]
    assert release.outcome is row.outcome
    assert release.run_state in row.run_states
    assert release.failure_code is row.failure_code
    assert (release.fallback and release.fallback.type) == row.fallback
    assert (release.fallback and release.fallback.failure_stage) == row.stage
    assert (release.result is not None) == (row.outcome is ReleaseOutcome.SUCCESS)
    assert release.run_state in AGENT_RUN_STATES[release.agent_status]
    assert release.stop_reason in AGENT_STOP_REASONS[release.agent_status]
    assert first_break(RUN_ID, entries) is None
    kinds = [entry.type for entry in entries]
    assert kinds.count(EventType.RELEASE_DECISION) == kinds.count(EventType.RUN_ENDED) == 1
    assert kinds[-2:] == [EventType.RELEASE_DECISION, EventType.RUN_ENDED]
    assert "canary" not in release.model_dump_json()


@pytest.mark.spec("D1", "D2", "D3", "D4", "D5", "D6", "D7")
@pytest.mark.spec("D8", "D9", "D10", "D11", "D12", "D13", "D15")
@pytest.mark.spec("L1", "L2", "L3", "L6", "L8", "K0", "K1")
@pytest.mark.spec("M3", "Q3", "N4", "N5", "N6", "N7", "N12")
@pytest.mark.fault("R30", "F5", "R23", "R48")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.decision} {case.name}")
async def test_each_row_is_reached_by_a_whole_run(case: Case) -> None:
    store = MemoryStore()
    case_world = world(case.script, store=store, judge=case.judge(), repairer=case.repairer)
    release = await run(case_world, case.limits)
    assert release.decision is case.decision
    assert release.run_state is case.run_state
    assert release.agent_status is case.status
    entries = await store.read(RUN_ID)
    check_end(release, entries)
    (sealed,) = [item for item in await store.artifacts(RUN_ID) if item.kind == "affidavit"]
    document = read_document(sealed.content)
    assert document.release == release
    assert [entry.hash for entry in document.journal] == [entry.hash for entry in entries]
    assert await drive(RUN_ID, case_world) == release


@pytest.mark.spec("D12", "D13", "K5", "H10")
@pytest.mark.parametrize(("seen", "row"), [(True, DecisionId.D12), (False, DecisionId.D13)])
async def test_a_run_that_is_timed_out_in_a_tool_ends_with_what_it_had(
    seen: bool, row: DecisionId
) -> None:
    async def hang(arguments: ScriptedArguments) -> tuple[()]:
        await anyio.sleep_forever()
        return ()

    store = MemoryStore()
    script = [act("probe"), act("hang")] if seen else [act("hang")]
    timed = world(script, store=store, backends={"hang": hang})
    release = await run(timed, tight(timeout_s=1))
    assert release.decision is row
    assert release.run_state is RunState.TIMED_OUT
    assert release.agent_status is AgentStatus.TIMEOUT
    check_end(release, await store.read(RUN_ID))


@pytest.mark.spec("D14", "K5", "L4", "N5")
@pytest.mark.parametrize("moment", ["thinking", "acting", "judging"])
async def test_a_cancel_at_any_moment_is_a_cancel_and_never_a_fallback(moment: str) -> None:
    store = MemoryStore()

    async def cancel(*_: object) -> tuple[()]:
        await store.post(RUN_ID, "cancel", "somebody")
        await anyio.sleep_forever()
        return ()

    class CancellingJudge(ScriptedJudge):
        async def review(self, *_: object) -> Any:
            await cancel()

    class Cancelling:
        name = "cancelling"

        async def decide(self, state: AgentState) -> Any:
            await cancel()

    scripts: dict[str, Script] = {
        "thinking": [act("probe"), act("probe")],
        "acting": [act("probe"), act("hang")],
        "judging": [act("probe"), draft()],
    }
    cancelled = world(
        scripts[moment],
        store=store,
        judge=CancellingJudge() if moment == "judging" else ScriptedJudge(),
        backends={"hang": cancel},
    )
    if moment == "thinking":
        object.__setattr__(cancelled.collection, "investigator", Cancelling())
    release = await run(cancelled)
    assert release.decision is DecisionId.D14
    assert release.outcome is ReleaseOutcome.CANCELLED
    assert release.fallback is None
    check_end(release, await store.read(RUN_ID))
