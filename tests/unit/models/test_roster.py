"""Who may be asked, and whether a run can hold what its release will need."""

from __future__ import annotations

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.contract.limits import PROFILES
from affidavit.models.roster import Roster
from affidavit.ports.model import Price, Purpose
from affidavit.testing.scripted_model import ScriptedModel, say
from tests.support.desks import limits

MODEL = ScriptedModel([say("x")])
JUDGE = ScriptedModel([say("x")], name="judge")


@pytest.mark.spec("K4", "K0")
def test_every_profile_holds_one_step_and_its_release() -> None:
    roster = Roster((MODEL,), (JUDGE,))
    for name, profile in PROFILES.items():
        kept = roster.admit(profile, "acme").amount.tokens
        assert 0 < kept < profile.tokens * 2 // 3, name
    assert Roster().admit(PROFILES["simple"], "acme").amount.tokens == 0


@pytest.mark.spec("K4", "K0")
def test_a_profile_that_cannot_hold_the_reserve_is_refused_at_the_start() -> None:
    with pytest.raises(InputRefused) as refused:
        Roster((MODEL,), (JUDGE,)).admit(limits(tokens=9_000), "acme")
    assert refused.value.code == "LIMITS_TOO_SMALL"
    priced = Price(input_micros=10_000_000, output_micros=30_000_000)
    dear = ScriptedModel([say("x")], price=priced)
    with pytest.raises(InputRefused) as refused:
        Roster((dear,), (dear,)).admit(limits(tokens=80_000, money_micros=100_000), "acme")
    assert refused.value.code == "LIMITS_TOO_SMALL"
    enough = limits(tokens=80_000, money_micros=2_000_000)
    assert Roster((dear,), (dear,)).admit(enough, "acme").amount.micros


@pytest.mark.spec("K3", "K0")
@pytest.mark.fault("R38")
def test_an_unknown_price_under_a_limit_of_money_is_refused_at_the_start() -> None:
    with pytest.raises(InputRefused) as refused:
        Roster((MODEL,)).admit(limits(tokens=80_000, money_micros=1_000_000), "acme")
    assert refused.value.code == "PRICE_UNKNOWN"


@pytest.mark.spec("H8", "K0")
def test_a_tenant_without_an_allowed_model_is_refused_at_the_start() -> None:
    roster = Roster((MODEL,), allowed={"acme": frozenset()})
    with pytest.raises(InputRefused) as refused:
        roster.admit(limits(tokens=80_000), "acme")
    assert refused.value.code == "NO_MODEL_ALLOWED"
    assert roster.models_for(Purpose.DECIDE, "other") == (MODEL,)


@pytest.mark.spec("H6")
def test_judges_and_authors_are_never_mixed() -> None:
    roster = Roster((MODEL,), (JUDGE,))
    assert roster.models_for(Purpose.JUDGE, "acme") == (JUDGE,)
    for purpose in set(Purpose) - {Purpose.JUDGE}:
        assert roster.models_for(purpose, "acme") == (MODEL,)


@pytest.mark.spec("K3")
def test_a_price_is_rounded_up_and_never_down_to_nothing() -> None:
    assert Price(input_micros=1, output_micros=0).of(1, 0) == 1
    assert Price(input_micros=3_000_000, output_micros=15_000_000).of(1_000, 100) == 4_500
