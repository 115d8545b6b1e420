"""The guard chain: one order, cheap before dear, and a broken guard stops the run by name."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from affidavit.contract.agent import Action, AgentRequest, AgentState, GuardResult, Moment
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.contract.states import AgentStatus
from affidavit.guards.audit import AuditGuard
from affidavit.guards.budget import BudgetGuard
from affidavit.guards.chain import GUARD_FAILED, Blocked, CostClass, in_order
from affidavit.guards.circuit import CircuitGuard
from affidavit.guards.loop import LoopGuard
from affidavit.guards.timeout import TimeoutGuard
from tests.unit.guards.states import REQUEST, action, state

pytestmark = pytest.mark.anyio

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
        self, state: AgentState, request: AgentRequest, action: Action | None
    ) -> GuardResult | Awaitable[GuardResult]:
        self.asked.append(self.name)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.spec("C14", "H2", "H3")
async def test_guards_are_asked_by_order_whatever_order_they_were_given_in() -> None:
    asked: list[str] = []
    probes = [Probe(name, order, asked=asked) for name, order in (("c", 3), ("a", 1), ("b", 2))]
    verdicts = await in_order(probes).ask(Moment.BEFORE_THINKING, state(), REQUEST)
    assert asked == ["a", "b", "c"] == [verdict.guard for verdict in verdicts]


@pytest.mark.spec("H2")
async def test_the_first_stop_ends_the_asking() -> None:
    asked: list[str] = []
    stop = GuardResult(AgentStatus.TIMEOUT, "why")
    chain = in_order([Probe("a", 1, answer=stop, asked=asked), Probe("b", 2, asked=asked)])
    verdicts = await chain.ask(Moment.BEFORE_THINKING, state(), REQUEST)
    assert asked == ["a"]
    assert verdicts[-1].result == stop


@pytest.mark.spec("H2")
async def test_a_guard_is_asked_at_its_own_moment_only() -> None:
    acting = Probe("acting", 5, when=Moment.BEFORE_ACTING)
    chain = in_order([acting])
    assert await chain.ask(Moment.BEFORE_THINKING, state(), REQUEST) == ()
    assert len(await chain.ask(Moment.BEFORE_ACTING, state(), REQUEST)) == 1


@pytest.mark.spec("H3")
def test_a_dear_guard_before_a_cheap_one_refuses_the_start() -> None:
    dear, cheap = Probe("dear", 1, CostClass.PAUSE), Probe("cheap", 2, CostClass.MEMORY)
    with pytest.raises(InputRefused, match="'dear' costs more than 'cheap'"):
        in_order([cheap, dear])


@pytest.mark.spec("H3")
def test_two_guards_in_one_place_refuse_the_start() -> None:
    with pytest.raises(InputRefused, match="same order 1"):
        in_order([Probe("a", 1), Probe("b", 1)])


FAILED = GuardResult(AgentStatus.FAILED, GUARD_FAILED)


@pytest.mark.spec("H4")
@pytest.mark.fault("F43")
async def test_a_guard_that_raises_stops_the_run_and_is_named() -> None:
    asked: list[str] = []
    broken = Probe("broken", 1, answer=ValueError("secret"), asked=asked)
    chain = in_order([broken, Probe("after", 2, asked=asked)])
    (verdict,) = await chain.ask(Moment.BEFORE_THINKING, state(), REQUEST)
    assert (verdict.guard, verdict.result) == ("broken", FAILED)
    assert verdict.words() == ("broken", "FAILED", "GUARD_FAILED")
    assert asked == ["broken"]


@pytest.mark.spec("H4")
@pytest.mark.fault("F41")
async def test_a_guard_that_overruns_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Probe):
        def check(self, *_: object) -> Awaitable[GuardResult]:
            return anyio.sleep_forever()  # type: ignore[return-value]

    monkeypatch.setattr("affidavit.guards.chain.GUARD_TIMEOUT_S", 0.01)
    (verdict,) = await in_order([Slow("slow", 1)]).ask(Moment.BEFORE_THINKING, state(), REQUEST)
    assert (verdict.guard, verdict.result) == ("slow", FAILED)


@pytest.mark.spec("H4")
@pytest.mark.parametrize("word", [None, True, "pass", AgentStatus.DONE])
async def test_a_guard_that_says_something_else_than_a_word_stops_the_run(word: object) -> None:
    class Mumbling(Probe):
        def check(self, *_: object) -> GuardResult:
            return word  # type: ignore[return-value]

    (verdict,) = await in_order([Mumbling("m", 1)]).ask(Moment.BEFORE_THINKING, state(), REQUEST)
    assert verdict.result == FAILED


@pytest.mark.spec("H4")
async def test_before_thinking_there_is_nothing_to_refuse() -> None:
    refusing = Probe("refusing", 1, answer=GuardResult(refusal="NO"))
    (verdict,) = await in_order([refusing]).ask(Moment.BEFORE_THINKING, state(), REQUEST)
    assert verdict.result == FAILED
    acting = Probe("acting", 1, when=Moment.BEFORE_ACTING, answer=GuardResult(refusal="NO"))
    chain = in_order([acting])
    (verdict,) = await chain.ask(Moment.BEFORE_ACTING, state(), REQUEST, action())
    assert verdict.words() == ("acting", "REFUSED", "NO")


@pytest.mark.spec("H3")
def test_two_guards_of_one_name_refuse_the_start() -> None:
    with pytest.raises(InputRefused, match="called 'a'") as caught:
        in_order([Probe("a", 1), Probe("a", 2)])
    assert caught.value.code == "GUARD_ORDER"


@pytest.mark.spec("H2")
async def test_the_audit_hears_what_comes_in_what_runs_and_what_is_blocked() -> None:
    told: list[tuple[str, str, str]] = []

    async def sink(line: object) -> None:
        told.append((line.word, line.tool, line.code))  # type: ignore[attr-defined]

    chain = in_order([AuditGuard(sink), Probe("p", 50, when=Moment.BEFORE_ACTING)])
    assert await chain.enter(REQUEST) == ("audit",)
    await chain.enter(REQUEST, action())
    await chain.block(REQUEST, Blocked("call_0002", "restart", "NO"))
    assert await chain.ask(Moment.BEFORE_ACTING, state(), REQUEST, action())
    (verdict,) = await chain.ask(Moment.AROUND, state(), REQUEST, action())
    assert verdict.words() == ("audit", "PASS", "EXECUTED")
    assert told == [
        ("ENTERED", "", ""),
        ("ENTERED", "probe", ""),
        ("BLOCKED", "restart", "NO"),
        ("EXECUTED", "probe", ""),
    ]


@pytest.mark.spec("H2", "L5", "N15")
async def test_an_audit_that_cannot_write_stops_everything_and_decides_nothing() -> None:
    async def full(line: object) -> None:
        raise OSError("canary: no space left on /secret")

    chain = in_order([AuditGuard(full)])
    for ask in (
        lambda: chain.enter(REQUEST),
        lambda: chain.block(REQUEST, Blocked("call_0001", "probe", "NO")),
        lambda: chain.ask(Moment.AROUND, state(), REQUEST, action()),
    ):
        with pytest.raises(RecordFailed, match="'audit' could not record") as caught:
            await ask()
        assert caught.value.code == "AUDIT_FAILED"
        assert "canary" not in str(caught.value)


@pytest.mark.spec("H8", "H2")
def test_an_agent_all_of_whose_models_are_down_is_not_asked() -> None:
    guard = CircuitGuard()
    two = ("model:a", "model:b")
    assert guard.check(state(models=two, circuits_open=("model:a",)), REQUEST, None).passed
    assert guard.check(state(models=(), circuits_open=("tool:x",)), REQUEST, None).passed
    down = state(models=two, circuits_open=("model:b", "model:a", "tool:x"))
    assert guard.check(down, REQUEST, None) == GuardResult(AgentStatus.FAILED, "CIRCUIT_OPEN")


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
