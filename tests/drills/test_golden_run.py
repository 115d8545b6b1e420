"""The golden run (S2 section 5): each gate of one run, in order, as its journal tells it (A2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import AnalysisKind, ReleaseOutcome, RunState
from affidavit.diagnose import drive, start
from affidavit.wiring import incident_world, request_of
from tests.support.runs import RUN_ID, request
from tests.support.worlds import ScriptedJudge, act, conclude, true_draft, world

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parents[2] / "examples" / "failing-storefront"

GATES = {
    EventType.ROUTING_DECISION: "intent",
    EventType.STATUS_CHANGED: "status",
    EventType.EVIDENCE_GUARD_INITIAL: "result",
    EventType.SUPPORT_CHECK: "result",
    EventType.SEMANTIC_GUARD_DECISION: "verdict",
    EventType.RELEASE_DECISION: "outcome",
    EventType.RUN_ENDED: "run_state",
}

GOLDEN = [
    "STATUS_CHANGED=ROUTING",
    "ROUTING_DECISION=DIAGNOSIS",
    "STATUS_CHANGED=DIAGNOSIS_RUNNING",
    "STATUS_CHANGED=SAFETY_VALIDATING",
    "EVIDENCE_GUARD_INITIAL=PASSED",
    "SUPPORT_CHECK=PASSED",
    "SEMANTIC_GUARD_DECISION=SUPPORTED",
    "RELEASE_DECISION=SUCCESS",
    "RUN_ENDED=SUCCESS",
]


def timeline(entries: tuple[Entry, ...]) -> list[str]:
    """The gates of a run, each with its word."""
    return [
        f"{entry.type}={entry.data[GATES[entry.type]]}" for entry in entries if entry.type in GATES
    ]


def check_calls(entries: tuple[Entry, ...]) -> None:
    """Each executed call went from intent through PROJECTING to READY, in that order."""
    lives: dict[str, list[EventType]] = {}
    for entry in entries:
        if "tool_call_id" in entry.data:
            lives.setdefault(str(entry.data["tool_call_id"]), []).append(entry.type)
    assert lives
    for life in lives.values():
        assert life == [
            EventType.TOOL_CALL_INTENDED,
            EventType.TOOL_CALL_PROJECTING,
            EventType.TOOL_CALL_READY,
        ]


def check_golden(release: ReleaseRecord, entries: tuple[Entry, ...]) -> None:
    assert timeline(entries) == GOLDEN
    (guard,) = [item for item in entries if item.type is EventType.EVIDENCE_GUARD_INITIAL]
    assert guard.data["violations"] == 0
    check_calls(entries)
    assert release.outcome is ReleaseOutcome.SUCCESS
    assert release.run_state is RunState.SUCCESS


@pytest.mark.spec("A1", "A2", "E9", "E12", "V1")
async def test_the_golden_run_passes_each_gate_in_order() -> None:
    draft: dict[str, Any] = true_draft()
    three = [{**draft["analyses"][0], "id": f"A{number}"} for number in (1, 2, 3)]
    store = MemoryStore()
    golden = world([act("probe"), conclude(analyses=three)], store=store, judge=ScriptedJudge())
    await start(golden, request())
    release = await drive(RUN_ID, golden)
    assert isinstance(release, ReleaseRecord)
    check_golden(release, await store.read(RUN_ID))
    assert release.result is not None
    kinds = [analysis.kind for analysis in release.result.analyses]
    assert kinds == [AnalysisKind.NORMAL] * 3
    ready = [
        entry.data["evidence_status"]
        for entry in await store.read(RUN_ID)
        if entry.type is EventType.TOOL_CALL_READY
    ]
    assert ready == ["EVIDENCE_FOUND"]


@pytest.mark.spec("A2", "V1", "L7", "C10")
async def test_a_live_run_over_a_recorded_incident_passes_the_same_gates() -> None:
    store = MemoryStore()
    async with incident_world(EXAMPLE, store) as (live, incident):
        asked = request_of(incident, EXAMPLE)
        await start(live, asked)
        release = await drive(asked.run_id, live)
    assert isinstance(release, ReleaseRecord)
    check_golden(release, await store.read(asked.run_id))
    assert release.result is not None
    normal = [item for item in release.result.analyses if item.kind is AnalysisKind.NORMAL]
    sentences = [sentence for item in normal for sentence in item.sentences]
    for sentence in (*sentences, *release.result.conclusion.sentences):
        assert sentence.statements, "every sentence names its evidence"
