"""A run's decisions again, from what was recorded, by the code that made them (A3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.replay import Recording, Replay, Same, first_difference, replay
from affidavit.affidavit.timeline import write_timeline
from affidavit.contract.journal import EventType
from affidavit.contract.states import SemanticVerdict
from affidavit.core.chain import to_us
from affidavit.diagnose import World, drive, start
from affidavit.progress.coverage import Reach
from affidavit.release.withdrawal import ConsentingAuthor
from affidavit.verify.support import SupportReport
from tests.simulation.test_release_table import CASES, Case
from tests.support.runs import RUN_ID, request
from tests.support.worlds import ScriptedJudge, act, conclude, true_draft, world
from tests.unit.affidavit.files import chained

pytestmark = [pytest.mark.anyio, pytest.mark.spec("A3")]

GOLDEN: Final = Path(__file__).parents[1] / "data" / "timelines.txt"
VARYING: Final = frozenset({EventType.RUN_STARTED, EventType.DRIVER_ACQUIRED})
"""Lines that name a version or a process."""


def reach_of(told: World) -> Reach:
    catalogue = told.collection.catalogue
    return Reach(tuple(catalogue.tools.values()), catalogue.unavailable)


async def recorded(told: World, store: MemoryStore, **asked: Any) -> Recording:
    """A whole run, as its store holds it."""
    await start(told, request(**asked))
    await drive(RUN_ID, told)
    return await recording_in(store, reach_of(told))


async def recording_in(store: MemoryStore, reach: Reach | None = None) -> Recording:
    contents = {item.digest: item.content for item in await store.artifacts(RUN_ID)}
    return Recording(await store.read(RUN_ID), contents, reach)


async def of_case(case: Case) -> Recording:
    store = MemoryStore()
    told = world(case.script, store=store, judge=case.judge(), repairer=case.repairer)
    return await recorded(told, store, limits=case.limits)


def altered(
    recording: Recording, kind: EventType, change: Callable[[dict[str, object]], None]
) -> Recording:
    """The recording with every line of that kind changed, and chained anew as a forger would."""
    lines = []
    for entry in recording.journal:
        data = dict(entry.data)
        if entry.type is kind:
            change(data)
        lines.append(replace(entry, data=data))
    return replace(recording, journal=chained(lines))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.decision} {case.name}")
async def test_every_row_of_the_release_table_replays_to_itself(case: Case) -> None:
    """The same records lead to the same lines, the same row and the same answer, byte for byte."""
    made = await replay(await of_case(case))
    assert made.result is Same.SAME, made
    assert [step.name for step in made.steps] == ["chain", "examination", "answer"]
    assert made.steps[-1].says.startswith(f"{case.decision}:")


@pytest.mark.spec("M6", "D2b")
async def test_a_withdrawal_is_replayed_from_its_record() -> None:
    honest: Any = true_draft()["analyses"]
    unproved = {"text": "Customers were unhappy about checkout.", "tool_call_ids": ["call_0001"]}
    loose = {**honest[0], "id": "A2", "sentences": [*honest[0]["sentences"], unproved]}
    extra = [honest[0], loose, {**honest[0], "id": "A3"}]
    store = MemoryStore()
    told = world([act("probe"), conclude(analyses=extra)], store=store)
    told = replace(told, examiner=replace(told.examiner, author=ConsentingAuthor()))
    recording = await recorded(told, store)
    kinds = [entry.type for entry in recording.journal]
    assert EventType.DRAFT_WITHDRAWAL_ATTEMPT in kinds
    assert (await replay(recording)).result is Same.SAME


async def test_the_golden_timelines_are_what_the_runs_write() -> None:
    """Each row's gates, as recorded once; AFFIDAVIT_GOLDEN=write records them anew."""
    sections = []
    for case in CASES:
        recording = await of_case(case)
        lines = zip(write_timeline(recording.journal), recording.journal, strict=True)
        marks = [line.mark for line, entry in lines if entry.type not in VARYING]
        sections.append("\n".join((f"# {case.decision} {case.name}", *marks)))
    text = "\n\n".join(sections) + "\n"
    if os.environ.get("AFFIDAVIT_GOLDEN") == "write":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def difference(made: Replay) -> tuple[str, str]:
    assert made.result is Same.DIFFERENT
    return made.steps[-1].pointer, made.steps[-1].says


@pytest.fixture
async def published() -> Recording:
    """A published run with a recorded model's verdict."""
    return await of_case(CASES[0])


def place_of(recording: Recording, kind: EventType) -> int:
    return next(at for at, entry in enumerate(recording.journal) if entry.type is kind)


async def test_another_verdict_on_record_is_another_decision(published: Recording) -> None:
    """The verdict is used as it stands; what follows from it is not the recorded answer."""
    forged = altered(
        published,
        EventType.SEMANTIC_GUARD_DECISION,
        lambda data: data.update(verdict=str(SemanticVerdict.UNSUPPORTED)),
    )
    pointer, says = difference(await replay(forged))
    assert pointer == "/release/decision"
    assert says == "recorded D1, found D4"


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (EventType.EVIDENCE_GUARD_INITIAL, "violations", 1),
        (EventType.SUPPORT_CHECK, "result", "UNPROVED"),
        (EventType.RELEASE_DECISION, "outcome", "FALLBACK"),
        (EventType.RUN_ENDED, "run_state", "FAILED"),
    ],
)
async def test_a_line_that_the_code_would_not_write_is_pointed_at(
    published: Recording, kind: EventType, field: str, value: object
) -> None:
    forged = altered(published, kind, lambda data: data.update({field: value}))
    pointer, says = difference(await replay(forged))
    assert pointer == f"/journal/{place_of(published, kind)}/data/{field}"
    assert (
        says
        == f"recorded {value}, found {published.journal[place_of(published, kind)].data[field]}"
    )


async def test_code_that_changed_its_mind_is_seen(
    published: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same run under another rule: the first line that comes out otherwise is named."""
    monkeypatch.setattr(SupportReport, "contradictions", lambda self: ("something",), raising=True)
    pointer, says = difference(await replay(published))
    assert pointer == f"/journal/{place_of(published, EventType.SUPPORT_CHECK)}/data/result"
    assert says == "recorded PASSED, found REFUTED"


async def test_a_missing_and_a_further_line_are_differences(published: Recording) -> None:
    without = [e for e in published.journal if e.type is not EventType.SUPPORT_CHECK]
    pointer, says = difference(await replay(replace(published, journal=chained(without))))
    assert "SUPPORT_CHECK" in says
    assert pointer.endswith("/type")
    at = place_of(published, EventType.SEMANTIC_GUARD_DECISION)
    doubled = [*published.journal[: at + 1], *published.journal[at - 1 :]]
    _, says = difference(await replay(replace(published, journal=chained(doubled))))
    assert says == "SEMANTIC_GUARD_ATTEMPT was recorded, and is not found now"


async def test_a_broken_chain_is_replayed_no_further(published: Recording) -> None:
    lines = list(published.journal)
    lines[3] = replace(lines[3], at_us=lines[3].at_us + 1)
    made = await replay(replace(published, journal=tuple(lines)))
    assert [step.name for step in made.steps] == ["chain"]
    assert difference(made)[0] == "/journal/3"


@pytest.mark.spec("C2", "V3")
async def test_after_expiry_it_says_what_can_no_longer_be_replayed() -> None:
    store = MemoryStore()
    told = world([act("probe"), conclude()], store=store, judge=ScriptedJudge())
    await recorded(told, store)
    far_us = to_us(told.driver.clock.now()) + 10**12
    assert await store.expire_artifacts(far_us) > 0
    made = await replay(await recording_in(store))
    assert made.result is Same.EXPIRED
    assert [step.result for step in made.steps] == [Same.SAME, Same.EXPIRED, Same.EXPIRED]
    says = made.steps[-1].says
    for words in ("the request", "the agent's report", "the record of call_0001"):
        assert words in says


async def test_without_its_tools_the_coverage_alone_is_taken_as_recorded(
    published: Recording,
) -> None:
    made = await replay(replace(published, reach=None))
    assert made.result is Same.EXPIRED
    assert {step.name: step.result for step in made.steps} == {
        "chain": Same.SAME,
        "examination": Same.SAME,
        "answer": Same.SAME,
        "coverage": Same.EXPIRED,
    }


def test_the_first_difference_has_a_pointer_and_lists_are_tuples() -> None:
    recorded: Mapping[str, object] = {"a": (1, {"b": "x"}), "c": 1}
    assert first_difference(recorded, {"a": [1, {"b": "x"}], "c": 1}) is None
    found = first_difference(recorded, {"a": [1, {"b": "y"}], "c": 2})
    assert found is not None
    assert (found.pointer, found.says) == ("/a/1/b", "recorded x, found y")
    more = first_difference(recorded, {"a": [1], "c": 1})
    assert more is not None
    assert more.pointer == "/a"
    added = first_difference({}, {"z": 1})
    assert added is not None
    assert added.pointer == "/z"
