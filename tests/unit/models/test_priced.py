"""A configured price makes a model's cost known; an unknown price is not zero (K3, R38)."""

from __future__ import annotations

import pytest

from affidavit.contract.errors import BudgetSpent, InputRefused, ModelFailed
from affidavit.models.priced import at_price
from affidavit.models.roster import Roster
from affidavit.ports.model import ModelAnswer, Price, TokenUsage
from affidavit.testing.scripted_model import ScriptedModel
from tests.support.desks import ask_for, desk_of, limits
from tests.support.runs import driven, request

ANSWER = ModelAnswer(text="x", model="m", usage=TokenUsage(input_tokens=100, output_tokens=50))
PRICE = Price(input_micros=10_000_000, output_micros=40_000_000)


@pytest.mark.spec("K3")
@pytest.mark.fault("R38")
async def test_money_stops_a_run_at_the_configured_price() -> None:
    model = at_price(ScriptedModel([ANSWER] * 5), PRICE)
    assert (model.name, model.vendor, model.window_tokens) == ("scripted", "test", 200_000)
    async with driven(asked=request(limits=limits(tokens=100_000, money_micros=10_000))) as run:
        desk = desk_of(run, model)
        await desk.ask(ask_for())
        assert run.view.spend.settled.micros == 3_000
        await desk.ask(ask_for())
        with pytest.raises(BudgetSpent, match="money"):  # 4.6 thousandths more than are left
            await desk.ask(ask_for())
        assert (run.view.spend.committed.micros or 0) <= 10_000


@pytest.mark.spec("K3")
@pytest.mark.fault("R38")
async def test_an_unknown_price_is_refused_where_money_is_limited() -> None:
    model = at_price(ScriptedModel([ANSWER]), None)
    assert model.price is None
    priced = limits(tokens=100_000, money_micros=10_000)
    with pytest.raises(InputRefused, match="not known"):
        Roster((model,)).admit(priced, "t")
    async with driven(asked=request(limits=priced)) as run:
        with pytest.raises(ModelFailed):
            await desk_of(run, model).ask(ask_for())
        assert run.view.spend.settled.tokens == 0
