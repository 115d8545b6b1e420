"""What holds of every run that a model drives, whatever it answers, when it dies, who cancels it.

Answers come late, cut, malformed or not at all, cost what they cost within what was held back, and
call tools side by side; the store fails or the process dies at any write; a cancel comes at any
moment. Each story is told to its end by as many drivers as it takes.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.agent import Ending
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.contract.evidence import Fact
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.limits import Limits
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.core.chain import first_break
from affidavit.core.fold import RunView, advance
from affidavit.core.run import LEASE_TTL_S
from affidavit.diagnose import drive, start
from affidavit.ports.model import (
    Finish,
    ModelAnswer,
    ModelRequest,
    TokenUsage,
    encode_request,
    model_failure,
)
from affidavit.testing.faulty_store import Effect, Fault, FaultyStore, Killed, Moment
from affidavit.testing.scripted import ScriptedArguments
from affidavit.testing.scripted_model import ScriptedModel, call_tools, say
from affidavit.testing.virtual_clock import VirtualClock
from tests.simulation.test_model_runs import thinking
from tests.support.runs import RUN_ID, reading, request
from tests.support.worlds import true_draft

LIVES_MAX: Final = 8
SETTLED: Final = frozenset(
    {
        EventType.TOOL_CALL_READY,
        EventType.TOOL_CALL_ERROR,
        EventType.TOOL_CALL_REFUSED,
        EventType.TOOL_CALL_REUSED,
    }
)
INPUT_PER_KB: Final = 300
"""Tokens that the provider counts in 1 000 bytes: fewer than are held back for them."""

STOPPED: Final = frozenset({str(Ending.BUDGET_EXHAUSTED), str(Ending.TIMED_OUT)})
"""Stops that were there first: a cancel that comes after one of them changes nothing."""


@dataclass(frozen=True)
class Turn:
    """One answer: what it is, how late it comes, and which part of its bound it uses."""

    kind: str
    late_s: float
    share: float


@dataclass(frozen=True)
class Story:
    turns: tuple[Turn, ...]
    limits: Limits
    fault: Fault | None
    cancel_s: float | None


KINDS: Final = ("look", "look", "two looks", "write", "prose", "cut", "down", "odd arguments")
STORIES = st.builds(
    Story,
    turns=st.lists(
        st.builds(
            Turn,
            kind=st.sampled_from(KINDS),
            late_s=st.sampled_from([0.0, 0.0, 0.01, 1.0, 7.0]),
            share=st.sampled_from([0.3, 1.0]),
        ),
        min_size=1,
        max_size=12,
    ).map(tuple),
    limits=st.builds(
        Limits,
        iterations=st.integers(1, 12),
        tokens=st.sampled_from([10_000, 14_000, 40_000]),
        timeout_s=st.sampled_from([3, 15, 60]),
        tool_calls=st.sampled_from([2, 6, 20]),
        concurrency=st.integers(1, 3),
    ),
    fault=st.none()
    | st.builds(
        Fault,
        at=st.integers(1, 25),
        moment=st.sampled_from(list(Moment)),
        effect=st.sampled_from(list(Effect)),
    ),
    cancel_s=st.none() | st.floats(0, 12),
)


def author(story: Story, clock: VirtualClock) -> ScriptedModel:
    """The model of the story; it goes on with its turns whoever drives."""
    asked: list[ModelRequest] = []

    async def answer(wanted: ModelRequest) -> ModelAnswer:
        asked.append(wanted)
        turn = story.turns[min(len(asked), len(story.turns)) - 1]
        await clock.sleep(turn.late_s)
        spent = TokenUsage(
            input_tokens=len(encode_request(wanted)) * INPUT_PER_KB // 1000,
            output_tokens=int(wanted.max_output_tokens * turn.share),
        )
        place = str(len(asked))
        look = ("probe", {"service": "checkout", "query": place})
        if not wanted.tools:
            return say(true_draft(), usage=spent)
        match turn.kind:
            case "look":
                return call_tools(look, usage=spent)
            case "two looks":
                return call_tools(look, ("slow", {"query": place}), usage=spent)
            case "write":
                return call_tools(("write_report", {}), usage=spent)
            case "cut":
                return say("{", finish=Finish.LENGTH, usage=spent)
            case "down":
                raise model_failure("MODEL_SERVER_ERROR")
            case "odd arguments":
                return call_tools(("probe", {"service": {"canary": 1}}), usage=spent)
            case _:
                return say("canary: now investigating …", usage=spent)

    return ScriptedModel([answer])


async def live(story: Story, store: MemoryStore, clock: VirtualClock) -> ReleaseRecord:
    """Tell the story to its end; whoever dies is followed."""
    model, made = author(story, clock), 0

    async def fresh(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        return (reading(), reading(f"pod-{arguments.query}", arguments.query or "0"))

    async def slow(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        await clock.sleep(0.7)
        return (reading("slow", "1", f"of {arguments.query}"),)

    for life in range(LIVES_MAX):
        faults: tuple[Fault, ...] = ()
        if story.fault is not None and story.fault.at > made:
            faults = (replace(story.fault, at=story.fault.at - made),)
        broken = FaultyStore(store.reopen(), *faults)
        told = thinking(
            model,
            store=broken,
            clock=clock,
            backends={"probe": fresh, "slow": slow},
            holder=f"life {life}",
            limits=story.limits,
        )
        try:
            if await store.head(RUN_ID) is None:
                await start(told, request(limits=story.limits))
            release = await drive(RUN_ID, told)
            assert isinstance(release, ReleaseRecord)
            return release
        except* (Killed, RecordFailed):
            clock.shift(LEASE_TTL_S + 1)
        made += len(broken.writes)
    raise AssertionError(f"it never came to an end: {story}")


def check(story: Story, release: ReleaseRecord, entries: tuple[Entry, ...]) -> None:
    kinds = [entry.type for entry in entries]
    assert first_break(RUN_ID, entries) is None
    assert kinds.count(EventType.RELEASE_DECISION) == kinds.count(EventType.RUN_ENDED) == 1
    assert kinds[-1] is EventType.RUN_ENDED
    # Spend: an honest provider never takes a run over its limit, at any line, across deaths (K3).
    view = RunView()
    for entry in entries:
        view = advance(view, entry)
        assert view.spend.committed.tokens <= story.limits.tokens
    assert view.spend.overruns == 0
    assert view.reserved_calls <= story.limits.tool_calls
    assert len(view.steps) <= story.limits.iterations
    # Every attempt was intended first, and is settled at most once.
    intended = [e.data["call"] for e in entries if e.type is EventType.MODEL_CALL_INTENDED]
    attempted = [e.data["call"] for e in entries if e.type is EventType.MODEL_ATTEMPT]
    assert len(set(intended)) == len(intended)
    assert len(set(attempted)) == len(attempted)
    assert set(attempted) <= set(intended)
    settled = Counter(str(e.data["tool_call_id"]) for e in entries if e.type in SETTLED)
    assert set(settled.values()) <= {1}
    assert set(settled) == {key for step in view.steps for key in step.calls}
    # A cancel that was taken in is never swallowed, and nothing becomes READY after it (K5, N5).
    if EventType.CANCEL_REQUESTED in kinds:
        place = kinds.index(EventType.CANCEL_REQUESTED)
        assert EventType.TOOL_CALL_READY not in kinds[place:]
        first = [e.data["ending"] for e in entries[:place] if e.type is EventType.COLLECTION_ENDED]
        if not set(map(str, first)) & STOPPED:
            assert (release.run_state, release.outcome) == (
                *(RunState.CANCELLED, ReleaseOutcome.CANCELLED),
            )
    assert "canary" not in release.model_dump_json()
    assert "canary" not in repr(entries)


@pytest.mark.slow
@pytest.mark.spec("K1", "K3", "K4", "K5", "K6", "K7", "K8", "L6", "N5", "N12", "E14", "E15")
@pytest.mark.fault("F1", "F2", "F4", "F5", "F12", "F18", "R13", "R24", "R30", "R37", "R50")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(story=STORIES)
def test_laws_of_every_run_that_a_model_drives(story: Story) -> None:
    async def tell() -> None:
        store, clock = MemoryStore(), VirtualClock()

        async def interfere() -> None:
            if story.cancel_s is not None:
                await clock.sleep(story.cancel_s)
                if await store.head(RUN_ID) is not None:
                    with suppress(InputRefused):  # the run has ended by then
                        await store.post(RUN_ID, "cancel", "somebody")

        async with clock.jumping(), anyio.create_task_group() as tasks:
            tasks.start_soon(interfere)
            release = await live(story, store, clock)
            tasks.cancel_scope.cancel()
        check(story, release, await store.read(RUN_ID))

    anyio.run(tell)
