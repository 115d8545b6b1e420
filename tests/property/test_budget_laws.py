"""Under any interleaving of calls side by side, spend stays within the rule of K3."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from affidavit.contract.errors import BudgetSpent, ModelFailed
from affidavit.contract.journal import EventType
from affidavit.contract.limits import Limits
from affidavit.core.breaker import BreakerRule, Circuits
from affidavit.core.budget import release_reserve
from affidavit.core.fold import fold
from affidavit.core.run import Run
from affidavit.ports.model import (
    ModelAnswer,
    ModelRequest,
    Price,
    Purpose,
    TokenUsage,
    model_failure,
)
from affidavit.testing.scripted_model import ScriptedModel
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.desks import ask_for, desk_of, limits
from tests.support.runs import driven, request

PRICE = Price(input_micros=2_000_000, output_micros=8_000_000)


@dataclass(frozen=True)
class Plan:
    """One call: how much it may answer, how long it takes, and what comes of it."""

    purpose: Purpose
    answer_tokens: int
    seconds: float
    share: int
    fails: str | None


PLANS = st.builds(
    Plan,
    purpose=st.sampled_from([Purpose.DECIDE, Purpose.ROUTE, Purpose.JUDGE, Purpose.REPAIR]),
    answer_tokens=st.integers(1, 400),
    seconds=st.sampled_from([0.0, 1.0, 2.0, 3.0]),
    share=st.integers(0, 100),
    fails=st.sampled_from([None, None, None, "MODEL_CUT", "MODEL_SERVER_ERROR"]),
)


async def spend(
    plans: list[Plan], spending: Limits, reserve: int, *, overrun: int = 0
) -> tuple[Run, list[int], int]:
    """Make all calls side by side: the run, what was committed at each step, how many were sent."""
    clock = VirtualClock()
    committed: list[int] = []
    sent = 0
    by_text = {f"call {place}": plan for place, plan in enumerate(plans)}
    async with clock.jumping(), driven(clock=clock, asked=request(limits=spending)) as run:

        async def answer(asked: ModelRequest) -> ModelAnswer:
            nonlocal sent
            sent += 1
            plan = by_text[asked.messages[0].text]
            committed.append(run.view.spend.committed.tokens)
            await clock.sleep(plan.seconds)
            committed.append(run.view.spend.committed.tokens)
            if plan.fails is not None:
                raise model_failure(plan.fails)
            used = asked.max_output_tokens * plan.share // 100 + overrun
            usage = TokenUsage(input_tokens=10, output_tokens=used)
            return ModelAnswer(text="x", model="m", usage=usage)

        model = ScriptedModel([answer], price=PRICE)
        judge = ScriptedModel([answer], name="judge", price=PRICE)
        circuits = Circuits(clock, BreakerRule(failures_max=1000))
        desk = desk_of(run, model, judges=(judge,), reserve=reserve, circuits=circuits)

        async def one(text: str, plan: Plan) -> None:
            asked = ask_for(text, purpose=plan.purpose, answer_tokens=plan.answer_tokens)
            try:
                await desk.ask(asked)
            except (BudgetSpent, ModelFailed):
                committed.append(run.view.spend.committed.tokens)

        async with anyio.create_task_group() as tasks:
            for text, plan in by_text.items():
                tasks.start_soon(partial(one, text, plan))
        committed.append(run.view.spend.committed.tokens)
        return run, committed, sent


@pytest.mark.spec("K3", "K4")
@pytest.mark.fault("F8", "F9", "R37")
@settings(max_examples=60, deadline=None)
@given(st.lists(PLANS, min_size=1, max_size=8), st.integers(200, 3000), st.integers(0, 600))
def test_honest_providers_never_exceed_the_limit_at_any_moment(
    plans: list[Plan], tokens: int, reserve: int
) -> None:
    spending = limits(tokens=tokens, money_micros=tokens * 4)
    run, committed, sent = anyio.run(partial(spend, plans, spending, reserve))
    assert max(committed) <= tokens
    spent = run.view.spend
    assert (spent.settled.micros or 0) <= tokens * 4
    assert spent.committed_to(frozenset({Purpose.DECIDE, Purpose.ROUTE})).tokens <= max(
        0, tokens - reserve
    )
    attempts = [entry for entry in run.entries if entry.type is EventType.MODEL_ATTEMPT]
    intents = [entry for entry in run.entries if entry.type is EventType.MODEL_CALL_INTENDED]
    assert len(attempts) == len(intents) == sent
    assert len({entry.data["call"] for entry in intents}) == sent
    assert not spent.held
    assert fold(run.entries).spend == spent, "the spend is a fold of the journal"


@pytest.mark.spec("K3")
@pytest.mark.fault("F1", "F2")
@settings(max_examples=40, deadline=None)
@given(st.lists(PLANS, min_size=1, max_size=8), st.integers(400, 3000), st.integers(1, 5000))
@example(  # the first call's overrun becomes known while the third one looks for room
    [Plan(Purpose.DECIDE, most, 0.0, 0, None) for most in (93, 109, 1)], 400, 291
)
def test_providers_that_ignore_their_maximum_overrun_by_no_more_than_was_under_way(
    plans: list[Plan], tokens: int, overrun: int
) -> None:
    spending = limits(tokens=tokens)
    run, _, _ = anyio.run(partial(spend, plans, spending, 0, overrun=overrun))
    over = 0
    held: dict[object, int] = {}
    total = 0
    for entry in run.entries:
        data = entry.data
        if entry.type is EventType.MODEL_CALL_INTENDED:
            held[data["call"]] = int(str(data["reserved_tokens"]))
            assert total + sum(held.values()) <= tokens, "nothing starts over the limit"
        elif entry.type is EventType.MODEL_ATTEMPT:
            cost = int(str(data["tokens_in"])) + int(str(data["tokens_out"]))
            excess = max(0, cost - held.pop(data["call"]))
            over += excess
            total += cost
    assert total <= tokens + over
    if not over:
        assert run.view.spend.overruns == 0
    else:
        assert run.view.spend.overruns >= 1, "and it is said so"


@pytest.mark.spec("K4")
@given(st.integers(15_000, 2_000_000))
def test_a_release_reserve_leaves_room_to_collect_in_every_profile_that_is_admitted(
    tokens: int,
) -> None:
    everything = frozenset({Purpose.JUDGE, Purpose.REPAIR, Purpose.WITHDRAW})
    assert release_reserve(limits(tokens=tokens), everything) < tokens * 9 // 10
    assert release_reserve(limits(tokens=tokens), frozenset()) == 0
