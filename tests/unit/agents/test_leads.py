"""Changes are leads, ranked, and never more than that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from affidavit.agents.leads import LEADS_MAX, MINUTE_US, Changed, Scene, rank_changes

PAGED = 100 * MINUTE_US
SCENE = Scene(
    paged_us=PAGED,
    blame={"payment-service": 1.0, "cart-service": 0.2},
    calls=frozenset({("payment-service", "ledger")}),
    words="token expired after rounding",
)
PLAIN = Changed("plain", "commit", PAGED - 20 * MINUTE_US, is_running=False)


def ids(*changes: Changed) -> list[str]:
    return [lead.change.id for lead in rank_changes(changes, SCENE)]


def but(id_: str, **more: object) -> Changed:
    return replace(PLAIN, id=id_, **more)  # type: ignore[arg-type]


@pytest.mark.spec("C9")
def test_what_came_after_the_page_is_no_lead() -> None:
    late = but("late", effect_us=PAGED + 1, is_running=True, services=("payment-service",))
    assert ids(late) == []


def test_a_running_change_goes_before_one_that_was_only_written() -> None:
    assert ids(but("written"), but("running", is_running=True)) == ["running", "written"]


def test_a_change_that_reached_the_suspect_goes_before_one_elsewhere() -> None:
    here = but("here", is_running=True, services=("payment-service",))
    near = but("near", is_running=True, services=("ledger",))
    far = but("far", is_running=True, services=("search",))
    assert ids(far, near, here) == ["here", "near", "far"]


def test_files_that_bear_the_suspects_name_speak_for_a_change() -> None:
    named = but("named", files=("services/payment/charge.go",))
    assert ids(but("other", files=("services/search/index.go",)), named)[0] == "named"


def test_speaking_of_what_the_errors_speak_of_speaks_for_a_change() -> None:
    about = but("about", text="drop leeway\n+ if token.expired() { return ErrExpired }")
    assert ids(but("other", text="tidy"), about)[0] == "about"


@pytest.mark.parametrize(
    "file",
    ["docs/pay.md", "pkg/payment_test.go", ".github/workflows/ci.yml", "CODEOWNERS", "README.md"],
)
def test_what_no_server_executes_is_no_lead(file: str) -> None:
    assert ids(but("inert", is_running=True, services=("payment-service",), files=(file,))) == []


def test_a_change_of_files_both_inert_and_live_stays() -> None:
    assert ids(but("mixed", files=("docs/pay.md", "payment/pay.go"))) == ["mixed"]


def test_the_nearer_of_two_equals_goes_first() -> None:
    older = but("older", effect_us=PAGED - 60 * MINUTE_US)
    assert ids(older, but("newer", effect_us=PAGED - MINUTE_US)) == ["newer", "older"]


@pytest.mark.spec("C9", "C15")
def test_there_are_three_leads_at_most_and_each_says_why() -> None:
    many = [but(f"c{n}", is_running=True, services=("payment-service",)) for n in range(9)]
    leads = rank_changes(many, SCENE)
    assert len(leads) == LEADS_MAX
    assert leads[0].reasons[:2] == ("it reached a suspect", "it was running before the page")
