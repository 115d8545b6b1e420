"""A run whose history outgrows its model's window: nothing recorded is lost by telling less (K10).

A real harness, a model that looks again and again, results that are large, and a small window. What
a request tells of a call gets shorter; its record does not.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.decisions import DecisionId
from affidavit.contract.evidence import Fact, Line
from affidavit.contract.journal import EventType
from affidavit.contract.limits import Limits
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import AgentStatus, DiagnosisStopReason
from affidavit.core.run import LEASE_TTL_S
from affidavit.diagnose import World, drive, start
from affidavit.ports.model import ModelAnswer, ModelRequest, encode_request
from affidavit.ports.store import Store
from affidavit.testing.faulty_store import Effect, Fault, FaultyStore, Killed
from affidavit.testing.scripted import ScriptedArguments
from affidavit.testing.scripted_model import ScriptedModel, call_tools, say
from affidavit.testing.virtual_clock import VirtualClock
from tests.simulation.test_model_runs import thinking
from tests.support.runs import RUN_ID, reading, request
from tests.support.worlds import true_draft

pytestmark = pytest.mark.anyio

LOOKS = 30
WINDOW_TOKENS = 10_000
LIMITS = Limits(iterations=60, tokens=900_000, timeout_s=600, tool_calls=120, concurrency=4)
LARGE = "a line of some length about what happened there " * 40


async def large(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    """Something new each time, and a lot of it; the first time what the report rests on."""
    if arguments.query == "1":
        return (reading(), Line(text=LARGE, subject="checkout"))
    return (reading(number=arguments.query or "0"), Line(text=LARGE, subject="checkout"))


def look(number: int) -> ModelAnswer:
    return call_tools(("probe", {"service": "checkout", "query": str(number)}))


def looks(asked: ModelRequest) -> int:
    """How many calls the request tells of, in whatever form."""
    text = encode_request(asked).decode()
    return max(number for number in range(LOOKS + 2) if number == 0 or f"call_{number:04d}" in text)


def investigator(asked: ModelRequest) -> ModelAnswer:
    """Looks so often, and then reports about the very first thing that it saw."""
    if not asked.tools:
        return say(true_draft("call_0001"))
    done = looks(asked)
    return call_tools(("write_report", {})) if done >= LOOKS else look(done + 1)


def small(script: Callable[[ModelRequest], ModelAnswer]) -> ScriptedModel:
    """A model with a small window."""
    return ScriptedModel([script], window_tokens=WINDOW_TOKENS)


def told(model: ScriptedModel, store: Store, clock: VirtualClock, holder: str = "one") -> World:
    return thinking(
        model, store=store, clock=clock, backends={"probe": large}, holder=holder, limits=LIMITS
    )


async def finish(world: World, store: Store) -> ReleaseRecord:
    if await store.head(RUN_ID) is None:
        await start(world, request(limits=LIMITS))
    release = await drive(RUN_ID, world)
    assert isinstance(release, ReleaseRecord)
    return release


@pytest.mark.spec("K10", "G7", "C1", "D1")
@pytest.mark.fault("R40", "R42", "R45")
async def test_a_record_that_was_told_shorter_and_shorter_can_still_be_cited() -> None:
    store, model = MemoryStore(), small(investigator)
    release = await finish(told(model, store, VirtualClock()), store)
    assert release.decision is DecisionId.D1
    assert release.result is not None
    (cited,) = {call for item in release.result.analyses for call in item.tool_call_ids}
    assert cited == "call_0001"
    sizes = [len(encode_request(asked)) for asked in model.asked]
    last = model.asked[-1]
    assert max(sizes) <= WINDOW_TOKENS * 1000 // 400
    assert "call_0001" in last.messages[0].text, "the index holds it"
    assert LARGE not in last.messages[0].text
    whole = [message for message in last.messages if LARGE.strip() in message.text]
    assert whole, "and the newest stand whole"
    kept = await store.artifacts(RUN_ID)
    assert sum(
        LARGE.strip() in item.content.decode() for item in kept if item.kind == "result"
    ) == (LOOKS), "the ledger is not compressed"


@pytest.mark.spec("K10", "K8")
@pytest.mark.fault("F12", "F13", "R29")
async def test_killed_across_a_compression_the_same_requests_are_made_and_no_answer_is_lost() -> (
    None
):
    whole = FaultyStore(MemoryStore())
    await finish(told(small(investigator), whole, VirtualClock()), whole)
    last = len(whole.writes)
    for at in range(last // 2, last, 11):
        inner, clock, model = MemoryStore(), VirtualClock(), small(investigator)
        broken = FaultyStore(inner, Fault(at, effect=Effect.KILL))
        try:
            await finish(told(model, broken, clock), broken)
        except* Killed:
            pass
        clock.shift(LEASE_TTL_S + 1)
        again = inner.reopen()
        release = await finish(told(model, again, clock, "two"), again)
        assert release.decision is DecisionId.D1, at
        answered = [
            entry.data["input_digest"]
            for entry in await inner.read(RUN_ID)
            if entry.type is EventType.MODEL_ATTEMPT and entry.data["result"] == "ANSWERED"
        ]
        assert len(answered) == len(set(answered)), "no recorded answer was asked for again"
        assert len(model.asked) <= len(answered) + 1


@pytest.mark.spec("K10", "H7")
@pytest.mark.fault("R28", "R29")
@pytest.mark.parametrize("period", [1, 2, 3])
async def test_going_round_in_circles_is_seen_though_the_model_cannot_see_it(period: int) -> None:
    """It was told of its first looks in one line each, and asks for them again."""
    turns: list[int] = []

    def forgetful(asked: ModelRequest) -> ModelAnswer:
        turns.append(looks(asked))
        place = len(turns)
        return look(place if place <= LOOKS // 2 else 1 + place % period)

    store = MemoryStore()
    release = await finish(told(small(forgetful), store, VirtualClock()), store)
    assert release.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED
    assert (release.agent_status is AgentStatus.LOOP_DETECTED) == (period == 1), (
        "a loop, or no news"
    )
    assert len(turns) <= LOOKS // 2 + 3 * period + 3
    assert release.fallback is not None
    assert release.fallback.observed_facts
