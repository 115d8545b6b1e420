"""Budgets belong to the core, gain to progress; neither ends a run for the other (K2)."""

from __future__ import annotations

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.document import read_document
from affidavit.contract.agent import GiveUp
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import AgentStatus, DiagnosisStopReason, ReleaseOutcome, RunState
from affidavit.diagnose import drive, start
from affidavit.testing.scripted import ScriptedArguments
from tests.support.desks import limits
from tests.support.runs import RUN_ID, reading, request
from tests.support.worlds import Backend, Script, act, world


async def run_of(script: Script, iterations: int, backends: dict[str, Backend]) -> ReleaseRecord:
    told = world(script, backends=backends)
    await start(told, request(limits=limits(iterations=iterations)))
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    return release


async def always_news(asked: ScriptedArguments) -> tuple[object, ...]:
    return (reading(asked.query, asked.query),)


@pytest.mark.spec("K2", "P2", "E18")
async def test_gain_ends_a_run_that_has_budget_and_budget_one_that_still_gains() -> None:
    asks = [act("probe", query=str(place), service="checkout") for place in range(1, 9)]
    same = await run_of([*asks[:5], GiveUp("nothing new")], 20, {})
    assert same.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED
    assert same.run_state is RunState.SUCCESS
    assert same.usage.iterations < 20
    news = await run_of(asks, 5, {"probe": always_news})  # type: ignore[dict-item]
    assert news.stop_reason is DiagnosisStopReason.BUDGET_LIMIT_REACHED
    assert news.agent_status is AgentStatus.MAX_ITERATIONS
    assert news.usage.iterations == 5


@pytest.mark.spec("A5", "C11")
@pytest.mark.fault("R77")
@pytest.mark.parametrize("tool", ["down", "probe"])
async def test_an_inconclusive_run_leaves_its_whole_record(tool: str) -> None:
    """Failed or fallen back: ledger and audit are sealed and can be exported all the same."""
    store = MemoryStore()
    told = world([act(tool), GiveUp("cannot tell")], store=store)
    await start(told, request())
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    assert release.outcome in {ReleaseOutcome.FAILED, ReleaseOutcome.FALLBACK}
    (sealed,) = [item for item in await store.artifacts(RUN_ID) if item.kind == "affidavit"]
    document = read_document(sealed.content)
    assert document.release == release
    assert [entry.hash for entry in document.journal] == [
        entry.hash for entry in await store.read(RUN_ID)
    ]
