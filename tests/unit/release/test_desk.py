"""The desk of a really driven run: lines, stops, time limits (K5, K8, L4, L5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.errors import InternalFault, ModelFailed, RecordFailed, RunCancelled
from affidavit.contract.journal import Event, EventType
from affidavit.core.run import Run
from affidavit.ports.store import Store
from affidavit.release.desk import EXAMINATION, RunDesk, Trail, text_artifact
from affidavit.release.examine import Examiner, examine
from affidavit.release.repair import NoRepairer
from affidavit.release.situation import Cited, Opinion
from affidavit.testing.faulty_store import Fault, FaultyStore
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.runs import RUN_ID, driven
from tests.unit.progress.ledgers import Book, value
from tests.unit.release.drafts import ScriptedJudge, concluded, draft, progress_of

GUARDED = Event(
    EventType.EVIDENCE_GUARD_INITIAL, {"result": "PASSED", "violations": 0, "codes": ()}
)
FAILED = Event(
    EventType.EVIDENCE_GUARD_INITIAL,
    {"result": "FAILED", "violations": 1, "codes": ("INVOCATION_NOT_FOUND",)},
)


@asynccontextmanager
async def desk_of(store: Store | None = None) -> AsyncIterator[tuple[Run, VirtualClock]]:
    """A driven run under virtual time."""
    clock = VirtualClock()
    async with driven(store, clock=clock) as run:
        yield run, clock


@pytest.mark.spec("A1")
async def test_an_examination_stands_in_the_runs_own_journal() -> None:
    """Its lines, its verdict, and the reason as a private artifact of the run."""
    book = Book()
    book.found(value())
    async with desk_of() as (run, _):
        gathered = await examine(
            concluded(draft("call_0001")),
            progress_of(book),
            book.ledger(),
            Examiner(ScriptedJudge(), NoRepairer()),
            RunDesk(run),
        )
        kinds = [entry.type for entry in run.entries if entry.type in EXAMINATION]
        stored = await run.store.artifacts(run.id)
    assert gathered.situation == Cited(Opinion.SUPPORTED)
    assert kinds == [
        EventType.EVIDENCE_GUARD_INITIAL,
        EventType.SUPPORT_CHECK,
        EventType.SEMANTIC_GUARD_ATTEMPT,
        EventType.SEMANTIC_GUARD_DECISION,
    ]
    assert b"a private reason" in [item.content for item in stored]


@pytest.mark.spec("K5", "L4")
async def test_a_cancel_ends_a_judge_that_is_thinking() -> None:
    """The answer that comes too late is never heard."""
    async with desk_of() as (run, clock):
        heard: list[str] = []

        async def think() -> str:
            await anyio.sleep_forever()
            return "too late"

        async def listen() -> None:
            with pytest.raises(RunCancelled):
                heard.append(await RunDesk(run).ask(think))
            heard.append("cancelled")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await anyio.wait_all_tasks_blocked()
            await run.store.post(RUN_ID, "cancel", "somebody")
            await clock.advance(1)
        assert heard == ["cancelled"]


@pytest.mark.spec("M3")
async def test_an_opinion_has_a_time_limit_of_its_own() -> None:
    """The run goes on, and the attempt has failed with a stable code."""
    async with desk_of() as (run, clock):
        failures: list[ModelFailed] = []

        async def listen() -> None:
            with pytest.raises(ModelFailed) as raised:
                await RunDesk(run, timeout_s=1.0).ask(anyio.sleep_forever)
            failures.append(raised.value)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await clock.advance(0.9)
            assert failures == []
            await clock.advance(0.2)
        assert [failure.code for failure in failures] == ["MODEL_TIMEOUT"]
        assert run.remaining_s() > 0


@pytest.mark.spec("K8")
async def test_what_stands_on_record_is_not_written_again() -> None:
    """Equal lines are skipped, others are refused, and a mix of old and new writes the new."""
    async with desk_of() as (run, _):
        desk = RunDesk(run)
        await Trail.at(desk).write(GUARDED)
        before = len(run.entries)
        again = Trail.at(desk)
        await again.write(GUARDED)
        assert len(run.entries) == before
        await again.write(GUARDED)
        assert len(run.entries) == before + 1
        with pytest.raises(InternalFault):
            await Trail.at(desk).write(FAILED)
        with pytest.raises(InternalFault):
            Trail.at(desk).take(EventType.SUPPORT_CHECK)
        assert Trail.at(desk).take(EventType.EVIDENCE_GUARD_INITIAL) is not None


@pytest.mark.spec("L5")
async def test_a_store_that_fails_is_heard() -> None:
    """And the trail is where it was: the same line can be written later."""
    probe = FaultyStore(MemoryStore())
    async with desk_of(probe):
        opened = len(probe.writes)
    store = FaultyStore(MemoryStore(), Fault(at=opened + 1))
    async with desk_of(store) as (run, _):
        trail = Trail.at(RunDesk(run))
        with pytest.raises(RecordFailed):
            await trail.write(GUARDED)
        assert not [entry for entry in run.entries if entry.type in EXAMINATION]
        await trail.write(GUARDED)
        assert [entry for entry in run.entries if entry.type in EXAMINATION]


def test_a_text_that_is_no_text_is_still_an_artifact() -> None:
    """A model may answer with a lone surrogate; it is escaped, not refused."""
    assert text_artifact("patch", "a\ud800").content == b"a\\ud800"
