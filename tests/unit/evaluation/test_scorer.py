"""Scores of single answers: ranks, sentences, leads, and files that cannot be read."""

from __future__ import annotations

import pytest

from affidavit.contract.errors import InternalFault
from affidavit.evaluation.incidents import Truth
from affidavit.evaluation.rankings import Ranked, margin, order_suspects
from affidavit.evaluation.report import verdict_of
from affidavit.evaluation.scorer import score_file
from tests.unit.evaluation.answers import (
    ORDERS_ROSE,
    PAYMENTS_ROSE,
    TRUTH,
    bound,
    scored,
    sentence,
)

pytestmark = pytest.mark.anyio

RANKED = (Ranked("payments", 0.9), Ranked("Orders", 0.5), Ranked("catalog", 0.1))


async def test_the_published_place_comes_before_the_ranking() -> None:
    score = await scored(RANKED, conclusion=bound(ORDERS_ROSE))
    assert score.suspects == ("orders", "payments", "catalog")
    assert score.rank == 1


async def test_without_a_publication_the_ranking_stands_and_leads_follow() -> None:
    score = await scored((Ranked("catalog", 1.0),), conclusion=None)
    assert score.suspects == ("catalog", "orders", "payments")
    assert (score.rank, score.lead_rank) == (2, 1)
    assert score.hits == (0.0, 1.0, 1.0, 1.0, 1.0)
    assert verdict_of(score, faulty=True) == "held"


async def test_a_publication_on_a_healthy_window_is_a_false_alarm() -> None:
    score = await scored(truth=Truth(False), conclusion=bound(ORDERS_ROSE))
    assert verdict_of(score, faulty=False) == "false alarm"
    assert not score.right
    assert verdict_of(await scored(conclusion=None), faulty=False) == "quiet"


async def test_published_claims_are_counted_and_advice_is_not() -> None:
    score = await scored(conclusion=bound(ORDERS_ROSE), recommendations=[bound(PAYMENTS_ROSE)])
    assert (score.sentences.all, score.sentences.cited, score.sentences.proved) == (3, 3, 3)
    assert score.intact


async def test_a_claim_that_a_lenient_judge_let_through_is_unsupported() -> None:
    """The judge says SUPPORTED; the file still shows that nothing proves the sentence."""
    guess = sentence("A deadlock grew somewhere.")
    score = await scored(conclusion=bound(ORDERS_ROSE, guess))
    assert score.published
    assert score.sentences.all == 4
    assert score.sentences.proved == 3


async def test_a_guilty_change_counts_only_among_leads() -> None:
    assert (await scored(conclusion=None)).change_lead is False
    assert (await scored(truth=Truth(True, frozenset({"orders"})))).change_lead is None


async def test_bytes_that_are_no_file_are_a_fault_and_no_zero() -> None:
    with pytest.raises(InternalFault):
        score_file(b"{}", (), TRUTH)


async def test_names_that_differ_in_case_are_one_suspect() -> None:
    release = (await scored(conclusion=None)).release
    assert order_suspects("ORDERS", RANKED, release) == ("ORDERS", "payments", "catalog")


def test_a_margin_is_the_lead_of_the_first() -> None:
    assert margin(RANKED) == pytest.approx(0.4)
    assert margin(RANKED[:1]) == pytest.approx(0.9)
    assert margin(()) is None


@pytest.mark.fault("R78")
@pytest.mark.parametrize(
    "aside",
    [
        sentence("orders, orders, orders: a lock, as in chg-7."),
        sentence("The root cause is orders."),
        ORDERS_ROSE,
    ],
    ids=["every right word", "the right answer as an aside", "a true sentence about the right one"],
)
async def test_right_words_beside_a_wrong_answer_earn_nothing(aside: dict[str, object]) -> None:
    """What is concluded is scored, by its bound statements; no model reads the words."""
    ranked = (Ranked("payments", 0.9), Ranked("orders", 0.5))
    wrong, advice = bound(PAYMENTS_ROSE), [bound(aside)]
    score = await scored(ranked, conclusion=wrong, recommendations=advice)
    assert not score.right
    assert (score.suspects[0], score.rank) == ("payments", 2)
    again = await scored(ranked, conclusion=wrong, recommendations=advice)
    assert (again.suspects, again.hits, again.sentences, again.right) == (
        *(score.suspects, score.hits),
        *(score.sentences, score.right),
    )
