"""Which place an answer names; no way of writing it earns a place that it does not name."""

from __future__ import annotations

import pytest

from affidavit.evaluation import locating
from affidavit.evaluation.incidents import Truth
from affidavit.evaluation.locating import is_denial, locate
from tests.support.checking import recheck
from tests.unit.evaluation.answers import (
    CALL,
    FACTS,
    ORDERS_ROSE,
    PAYMENTS_ROSE,
    bound,
    file_of,
    rose,
    scored,
    sentence,
)

pytestmark = pytest.mark.anyio


async def test_the_subject_of_a_proved_conclusion_is_the_answer() -> None:
    score = await scored(conclusion=bound(ORDERS_ROSE))
    assert (score.published, score.located.entity, score.right) == (True, "orders", True)


async def test_another_subject_is_a_wrong_answer() -> None:
    score = await scored(conclusion=bound(PAYMENTS_ROSE))
    assert (score.published, score.located.entity, score.right) == (True, "payments", False)
    assert score.hits == (0.0,) * 5


async def test_naming_every_service_is_no_answer() -> None:
    score = await scored(conclusion=bound(ORDERS_ROSE, PAYMENTS_ROSE))
    assert score.published
    assert score.located == locating.Located(None, locating.HEDGED, ("orders", "payments"))
    assert not score.right


async def test_naming_every_service_in_prose_is_no_answer() -> None:
    text = "At orders and payments, latency rose."
    score = await scored(conclusion=bound(sentence(text)))
    assert score.published
    assert score.located.why == locating.NAMELESS


async def test_a_second_subject_in_one_sentence_is_a_hedge() -> None:
    first, second = str(ORDERS_ROSE["text"]), str(PAYMENTS_ROSE["text"])
    text = f"{first.rstrip('.')}; {second[0].lower()}{second[1:]}"
    both = sentence(text, rose("orders", 900), rose("payments", 400))
    score = await scored(conclusion=bound(both))
    assert score.published
    assert score.located.why == locating.HEDGED


async def test_a_name_in_a_recommendation_or_a_limitation_is_no_answer() -> None:
    score = await scored(
        conclusion=bound(PAYMENTS_ROSE),
        recommendations=[bound(ORDERS_ROSE)],
        limitations={"scope": "orders", "missing_info": ["the logs of orders"]},
    )
    assert score.published
    assert (score.located.entity, score.right) == ("payments", False)


async def test_a_name_in_the_question_is_no_answer() -> None:
    """The question of every run here asks about checkout."""
    truth = Truth(True, frozenset({"checkout"}))
    score = await scored(truth=truth, conclusion=bound(sentence("The latency rose.")))
    assert score.published
    assert "checkout" in score.release.question
    assert score.located.entity is None


async def test_the_right_words_under_a_negation_are_no_answer() -> None:
    cleared = sentence("orders is not at fault: latency rose to 900 ms.", rose("orders", 900))
    score = await scored(conclusion=bound(cleared))
    assert score.located.entity is None
    assert not score.right


async def test_a_fact_that_the_tool_calls_normal_names_nothing() -> None:
    well: dict[str, object] = {**rose("catalog", 20), "direction": "flat"}
    text = "At catalog, latency stayed from 20 ms to 20 ms."
    score = await scored(
        truth=Truth(True, frozenset({"catalog"})), conclusion=bound(sentence(text, well))
    )
    assert score.published
    assert score.located.why == locating.NAMELESS


async def test_an_edge_names_neither_of_its_ends() -> None:
    edge: dict[str, object] = {
        "kind": "edge",
        "tool_call_id": CALL,
        "subject": "payments",
        "object": "orders",
    }
    told = sentence("payments calls orders.", edge)
    score = await scored(conclusion=bound(told))
    assert score.published
    assert score.located.why == locating.NAMELESS


async def test_a_conclusion_without_the_service_is_no_answer() -> None:
    score = await scored(conclusion=bound(sentence("The latency rose to 900 ms.")))
    assert score.located.entity is None
    assert not score.right


async def test_a_false_name_is_never_published() -> None:
    false = sentence("At catalog, latency rose from 20 ms to 900 ms.", rose("catalog", 900))
    score = await scored(truth=Truth(True, frozenset({"catalog"})), conclusion=bound(false))
    assert not score.published
    assert score.located.why == locating.UNPUBLISHED
    assert score.codes


async def test_a_name_is_a_whole_name() -> None:
    """orders-db is another service than orders; the case of letters does not matter."""
    truth = Truth(True, frozenset({"orders-db"}))
    assert not (await scored(truth=truth, conclusion=bound(ORDERS_ROSE))).right
    assert Truth(True, frozenset({"Orders"})).holds("orders")


async def test_any_of_the_names_that_a_truth_holds_is_right() -> None:
    truth = Truth(True, frozenset({"orders", "payments"}))
    assert (await scored(truth=truth, conclusion=bound(PAYMENTS_ROSE))).right


async def test_a_file_that_does_not_verify_names_nothing() -> None:
    content = await file_of(conclusion=bound(ORDERS_ROSE))
    assert locate(recheck(content)).entity == "orders"
    altered = recheck(content.replace(b'"question":"Why', b'"question":"How', 1))
    assert locate(altered).why == locating.NOT_INTACT


async def test_without_a_conclusion_nothing_is_named() -> None:
    score = await scored(conclusion=None)
    assert not score.published
    assert score.located.why == locating.UNPUBLISHED


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("orders is abnormal: latency rose.", False),
        ('orders logged "connection not available".', False),
        ("orders isn't the cause.", True),
        ("orders was never slow.", True),
        ("orders is healthy.", True),
        ("Nothing at orders deviates.", True),
        ("orders works without errors.", True),
        ("orders is unrelated.", True),
    ],
)
def test_denials(text: str, denies: bool) -> None:
    """Quoted words aside, a sentence that denies or clears is seen."""
    assert is_denial(text) is denies


def test_the_scene_has_what_the_tests_speak_of() -> None:
    assert [getattr(fact, "anomalous", None) for fact in FACTS] == [True, True, False, None]
