"""The guard chain: one order, cheap before dear, and a broken guard stops the run by name."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from affidavit.contract.agent import (
    Act,
    AgentRequest,
    AgentState,
    GuardResult,
    Moment,
    Observation,
    ObservationKind,
)
from affidavit.contract.errors import InputRefused
from affidavit.contract.limits import PROFILES
from affidavit.contract.states import AgentStatus
from affidavit.guards.budget import BudgetGuard
from affidavit.guards.chain import CostClass, GuardFailed, in_order
from affidavit.guards.loop import LoopGuard, cycle_period
from affidavit.guards.timeout import TimeoutGuard

pytestmark = pytest.mark.anyio

REQUEST = AgentRequest(
    run_id="run_0123456789abcdef", tenant="t", question="?", limits=PROFILES["simple"]
)


def state(**changes: Any) -> AgentState:
    """A state in which every guard passes, but for the changes."""
    values: dict[str, Any] = {
        "request": REQUEST,
        "step": 1,
        "tools": (),
        "iterations_left": 3,
        "calls_left": 3,
        "seconds_left": 10.0,
    }
    return AgentState(**{**values, **changes})


PASS = GuardResult()


@dataclass
class Probe:
    """A guard that says what it is told, and remembers that it was asked."""

    name: str
    order: int
    cost: CostClass = CostClass.MEMORY
    when: Moment = Moment.BEFORE_THINKING
    answer: GuardResult | Exception = PASS
    asked: list[str] = field(default_factory=list)

    def check(
        self, state: AgentState, request: AgentRequest, action: Act | None
    ) -> GuardResult | Awaitable[GuardResult]:
        self.asked.append(self.name)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.spec("H2", "H3")
async def test_guards_are_asked_by_order_whatever_order_they_were_given_in() -> None:
    asked: list[str] = []
    probes = [Probe(name, order, asked=asked) for name, order in (("c", 3), ("a", 1), ("b", 2))]
    verdicts = await in_order(probes).ask(Moment.BEFORE_THINKING, state(), REQUEST)  # type: ignore[arg-type]
    assert asked == ["a", "b", "c"] == [verdict.guard for verdict in verdicts]


@pytest.mark.spec("H2")
async def test_the_first_stop_ends_the_asking() -> None:
    asked: list[str] = []
    stop = GuardResult(AgentStatus.TIMEOUT, "why")
    chain = in_order([Probe("a", 1, answer=stop, asked=asked), Probe("b", 2, asked=asked)])  # type: ignore[list-item]
    verdicts = await chain.ask(Moment.BEFORE_THINKING, state(), REQUEST)
    assert asked == ["a"]
    assert verdicts[-1].result == stop


@pytest.mark.spec("H2")
async def test_a_guard_is_asked_at_its_own_moment_only() -> None:
    acting = Probe("acting", 5, when=Moment.BEFORE_ACTING)
    chain = in_order([acting])  # type: ignore[list-item]
    assert await chain.ask(Moment.BEFORE_THINKING, state(), REQUEST) == ()
    assert len(await chain.ask(Moment.BEFORE_ACTING, state(), REQUEST)) == 1


@pytest.mark.spec("H3")
def test_a_dear_guard_before_a_cheap_one_refuses_the_start() -> None:
    dear, cheap = Probe("dear", 1, CostClass.PAUSE), Probe("cheap", 2, CostClass.MEMORY)
    with pytest.raises(InputRefused, match="'dear' costs more than 'cheap'"):
        in_order([cheap, dear])  # type: ignore[list-item]


@pytest.mark.spec("H3")
def test_two_guards_in_one_place_refuse_the_start() -> None:
    with pytest.raises(InputRefused, match="same order 1"):
        in_order([Probe("a", 1), Probe("b", 1)])  # type: ignore[list-item]


@pytest.mark.spec("H4")
@pytest.mark.fault("F43")
async def test_a_guard_that_raises_stops_the_run_and_is_named() -> None:
    chain = in_order([Probe("broken", 1, answer=ValueError("secret"))])  # type: ignore[list-item]
    with pytest.raises(GuardFailed, match="'broken' failed") as caught:
        await chain.ask(Moment.BEFORE_THINKING, state(), REQUEST)
    assert "secret" not in str(caught.value)


@pytest.mark.spec("H4")
@pytest.mark.fault("F41")
async def test_a_guard_that_overruns_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Probe):
        def check(self, *_: object) -> Awaitable[GuardResult]:  # type: ignore[override]
            return anyio.sleep_forever()  # type: ignore[return-value]

    monkeypatch.setattr("affidavit.guards.chain.GUARD_TIMEOUT_S", 0.01)
    with pytest.raises(GuardFailed, match="'slow' failed"):
        await in_order([Slow("slow", 1)]).ask(Moment.BEFORE_THINKING, state(), REQUEST)  # type: ignore[list-item]


@pytest.mark.spec("E14", "K3")
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, None),
        ({"iterations_left": 1}, None),
        ({"iterations_left": 0}, AgentStatus.MAX_ITERATIONS),
        ({"calls_left": 0}, None),
        ({"over_limit": "tool_calls"}, AgentStatus.BUDGET_EXCEEDED),
    ],
)
def test_budget_stops_at_the_limit_and_not_before(
    changes: dict[str, Any], status: AgentStatus | None
) -> None:
    assert BudgetGuard().check(state(**changes), REQUEST, None).status is status


@pytest.mark.spec("H2")
def test_time_belongs_to_the_timeout_guard_alone() -> None:
    late = state(seconds_left=0.0)
    assert TimeoutGuard().check(late, REQUEST, None).status is AgentStatus.TIMEOUT
    assert BudgetGuard().check(late, REQUEST, None).passed
    assert LoopGuard().check(late, REQUEST, None).passed


def looked(step: int, tool: str, answer: str) -> Observation:
    """One call of a step, and the digest of what came back."""
    return Observation(step, tool, {"a": 1}, ObservationKind.FOUND, result_digest=answer)


@pytest.mark.spec("H7")
@pytest.mark.fault("F33", "R28")
@pytest.mark.parametrize(
    ("steps", "loops"),
    [
        ("AAA", True),
        ("AA", False),
        ("BAAA", True),
        ("ABABAB", True),
        ("ABCABCABC", True),
        ("ABCABCAB", False),
        ("ABCDEF", False),
    ],
)
def test_a_cycle_of_any_period_said_three_times_is_a_loop(steps: str, loops: bool) -> None:
    seen = tuple(looked(place, tool, "same") for place, tool in enumerate(steps))
    stopped = LoopGuard().check(state(observations=seen), REQUEST, None).status
    assert stopped is (AgentStatus.LOOP_DETECTED if loops else None)


@pytest.mark.spec("H7")
@pytest.mark.fault("F33")
def test_the_same_question_with_another_answer_is_no_loop() -> None:
    seen = tuple(looked(place, "A", f"answer {place}") for place in range(20))
    assert LoopGuard().check(state(observations=seen), REQUEST, None).passed


@pytest.mark.spec("H7")
def test_the_order_of_calls_within_a_step_does_not_hide_a_loop() -> None:
    one = (looked(1, "A", "x"), looked(1, "B", "y"))
    two = (looked(2, "B", "y"), looked(2, "A", "x"))
    three = (looked(3, "A", "x"), looked(3, "B", "y"))
    stopped = LoopGuard().check(state(observations=one + two + three), REQUEST, None)
    assert stopped.status is AgentStatus.LOOP_DETECTED


@pytest.mark.spec("H7")
def test_the_shortest_period_is_named() -> None:
    assert cycle_period(("a",) * 9) == 1
    assert cycle_period(("a", "b") * 3) == 2
