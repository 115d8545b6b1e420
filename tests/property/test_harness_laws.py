"""Laws of every run, whatever its agent does, its tools do, and whoever dies or interferes.

One generator makes whole stories: steps of calls to tools that find, fail, hang, act, are invented
or are not allowed; tight limits; a cancel, a pause, a death or a failing store at any write; people
who approve, reject, or never come. After each story the same checkers look at what is left.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from affidavit.affidavit.recheck import Verdict
from affidavit.contract.agent import Act, Conclude, Decision, GiveUp, ToolCallRequest
from affidavit.contract.errors import InputRefused, RecordFailed, ToolFailed
from affidavit.contract.evidence import Fact
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.limits import Limits
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import (
    AGENT_RUN_STATES,
    AGENT_STOP_REASONS,
    ReleaseOutcome,
    RunState,
)
from affidavit.core.breaker import BreakerRule, Circuits
from affidavit.core.chain import first_break
from affidavit.core.fold import OUTCOME_UNKNOWN, fold
from affidavit.core.run import LEASE_TTL_S
from affidavit.diagnose import Paused
from affidavit.ports.store import CommandKind
from affidavit.testing.faulty_store import Effect, Fault, FaultyStore, Killed, Moment
from affidavit.testing.scripted import ScriptedArguments, scripted_tool
from affidavit.tools.approval import APPROVAL_WAIT_S
from tests.support.acting import Theatre
from tests.support.checking import recheck
from tests.support.runs import RUN_ID, reading, request
from tests.support.worlds import Backend, true_draft

TOOLS: Final = ("look", "search", "down", "hang", "busy", "restart", "invented", "job")
SETTLED: Final = (
    EventType.TOOL_CALL_READY,
    EventType.TOOL_CALL_ERROR,
    EventType.TOOL_CALL_REFUSED,
    EventType.TOOL_CALL_REUSED,
)
LIVES_MAX: Final = 12


@dataclass(frozen=True)
class Story:
    """What happens in one run, and to it."""

    steps: tuple[tuple[tuple[str, str], ...], ...]
    ending: str
    limits: Limits
    fault: Fault | None
    word: tuple[CommandKind, float] | None
    people: tuple[str, ...]


CALL = st.tuples(st.sampled_from(TOOLS), st.sampled_from("abc"))
STEP = st.lists(CALL, min_size=1, max_size=4).map(tuple)
STORIES = st.builds(
    Story,
    steps=st.lists(STEP, max_size=5).map(tuple),
    ending=st.sampled_from(["conclude", "give up", "nonsense", "explode", "repeat"]),
    limits=st.builds(
        Limits,
        iterations=st.integers(1, 8),
        tokens=st.just(0),
        timeout_s=st.sampled_from([2, 8, 60]),
        tool_calls=st.integers(1, 8),
        concurrency=st.integers(1, 3),
    ),
    fault=st.none()
    | st.builds(
        Fault,
        at=st.integers(1, 45),
        moment=st.sampled_from(list(Moment)),
        effect=st.sampled_from(list(Effect)),
    ),
    word=st.none() | st.tuples(st.sampled_from(["cancel", "pause"]), st.floats(0, 12)),
    people=st.lists(st.sampled_from(["approve", "reject", "wait"]), min_size=1, max_size=3).map(
        tuple
    ),
)


def script_of(story: Story) -> list[Decision | Any]:
    """The agent's part."""

    def explode(state: object) -> Act:
        raise RuntimeError("canary")

    ends: dict[str, list[Any]] = {
        "conclude": [Conclude(true_draft())],
        "give up": [GiveUp("canary")],
        "nonsense": [Conclude("no JSON, canary")],
        "explode": [explode],
        "repeat": [],
    }
    acts: list[Any] = [
        Act(tuple(ToolCallRequest(tool, {"query": query}) for tool, query in step))
        for step in story.steps
    ]
    return [*acts, *ends[story.ending]] or [GiveUp("nothing")]


def stage_of(story: Story) -> Theatre:
    """The run's world: tools that find, find nothing, fail, hang, are busy, act, and poll."""

    async def down(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        raise OSError("canary")

    async def busy(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        await stage.clock.sleep(1)
        raise ToolFailed("canary", code="HTTP_429")

    async def hang(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        with anyio.CancelScope(shield=True):
            await stage.clock.sleep(30)
        return (reading(),)

    async def job(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        await stage.clock.sleep(0.5)
        return (reading(attribute="jobs"),)

    backends: dict[str, Backend] = {"down": down, "busy": busy}
    asked = {**dict(request(limits=story.limits)), "requested_by": "Ada"}
    stage = Theatre(script_of(story), backends=backends, asked=request().model_validate(asked))
    stage.tools = (
        scripted_tool("hang", hang, timeout_s=3),
        scripted_tool("job", job, polling=True),
    )
    stage.circuits = Circuits(stage.clock, BreakerRule(failures_max=3))
    return stage


async def live(stage: Theatre, story: Story) -> ReleaseRecord:
    """Tell the story to its end: whoever dies is followed, and people answer or do not."""
    made, people = 0, list(story.people)
    for _ in range(LIVES_MAX):
        faults: tuple[Fault, ...] = ()
        if story.fault is not None and story.fault.at > made:
            faults = (replace(story.fault, at=story.fault.at - made),)
        store = FaultyStore(stage.store.reopen(), *faults)
        told: ReleaseRecord | Paused | None = None
        try:
            told = await stage.drive(store)
        except* (Killed, RecordFailed):
            pass
        made += len(store.writes)
        if isinstance(told, ReleaseRecord):
            return told
        stage.clock.shift(LEASE_TTL_S + 1)
        if await stage.store.head(RUN_ID) is not None:
            await answer(stage, people)
    raise AssertionError(f"it never came to an end: {story} {await stage.kinds()}")


async def answer(stage: Theatre, people: list[str]) -> None:
    """Somebody decides, or time passes until it is too late."""
    view = await stage.view()
    for call in view.waiting():
        word = people.pop(0) if people else "approve"
        if word == "wait":
            stage.clock.shift(APPROVAL_WAIT_S + 1)
            return
        with suppress(InputRefused):  # too late: its driver has yet to take note of it
            await stage.decide(call.tool_call_id, word)
    for call in view.unresolved():
        await stage.resolve(call.tool_call_id, "not-done")


def check(story: Story, stage: Theatre, release: ReleaseRecord, entries: tuple[Entry, ...]) -> None:
    """What holds after every story."""
    kinds = [entry.type for entry in entries]
    view = fold(entries)
    assert first_break(RUN_ID, entries) is None
    assert kinds.count(EventType.RELEASE_DECISION) == kinds.count(EventType.RUN_ENDED) == 1
    assert kinds[-2:] == [EventType.RELEASE_DECISION, EventType.RUN_ENDED]
    assert release.run_state in AGENT_RUN_STATES[release.agent_status]
    assert release.stop_reason in AGENT_STOP_REASONS[release.agent_status]
    # Spend: exact, under parallel calls, across deaths.
    assert view.reserved_calls <= story.limits.tool_calls
    assert len(view.steps) <= story.limits.iterations
    assert sum(bool(call.attempts) for call in view.calls.values()) == view.reserved_calls
    # Every call that was asked for has exactly one last line, and nothing is done twice.
    settled = Counter(str(entry.data["tool_call_id"]) for entry in entries if entry.type in SETTLED)
    assert set(settled.values()) <= {1}
    assert set(settled) == {key for step in view.steps for key in step.calls}
    assert stage.outside.most <= 1
    approved = {key for key, call in view.calls.items() if call.approval is not None}
    for key, call in view.calls.items():
        if call.effect == "write":
            assert key in approved
            assert call.approval is not None
            assert call.approval.decision == "approved"
            assert call.attempts == 1
        if call.code == OUTCOME_UNKNOWN:
            assert call.effect == "write"
    assert sum(stage.outside.done.values()) <= len(approved)
    # A stop is a stop: nothing becomes READY after it, and a cancel is never a fallback.
    if EventType.CANCEL_REQUESTED in kinds:
        after = kinds[kinds.index(EventType.CANCEL_REQUESTED) :]
        assert EventType.TOOL_CALL_READY not in after
        if release.run_state is RunState.CANCELLED:
            assert release.outcome is ReleaseOutcome.CANCELLED
            assert release.fallback is None
    assert "canary" not in release.model_dump_json()
    assert "canary" not in repr(entries)


async def check_file(stage: Theatre, entries: tuple[Entry, ...]) -> None:
    """The sealed file holds the very journal, and everything in it checks.

    A store that was torn may also hold the file of a publication that never was.
    """
    hashes = [entry.hash for entry in entries]
    files = [item for item in await stage.store.artifacts(RUN_ID) if item.kind == "affidavit"]
    found = [recheck(item.content) for item in files]
    (right,) = [
        item
        for item in found
        if item.document and [entry.hash for entry in item.document.journal] == hashes
    ]
    assert right.verdict is Verdict.INTACT_SIGNER_UNKNOWN, right.failure


@pytest.mark.slow
@pytest.mark.spec("K1", "K3", "K5", "K6", "K8", "K9", "H2", "H7", "H8", "H9", "H10", "L6", "N12")
@pytest.mark.spec("E17", "E18", "A4", "A5", "T2")
@pytest.mark.fault("F2", "F4", "F5", "F8", "F9", "F12", "F13", "F14", "F15", "F17", "F28", "R30")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(story=STORIES)
def test_laws_of_every_story(story: Story) -> None:
    async def tell() -> None:
        stage = stage_of(story)

        async def interfere() -> None:
            if story.word is not None:
                kind, at_s = story.word
                await stage.clock.sleep(at_s)
                if await stage.store.head(RUN_ID) is not None:
                    with suppress(InputRefused):  # the run has ended by then
                        await stage.store.post(RUN_ID, kind, "somebody")

        async with stage.clock.jumping(), anyio.create_task_group() as tasks:
            tasks.start_soon(interfere)
            release = await live(stage, story)
            tasks.cancel_scope.cancel()
        entries = await stage.entries()
        check(story, stage, release, entries)
        await check_file(stage, entries)
        assert await stage.finish() == release

    anyio.run(tell)
