"""From recorded strengths to ranked suspects."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import affidavit.agents
from affidavit.agents.signals import (
    SUSPECTS_MAX,
    Reading,
    Seen,
    Signal,
    Weight,
    Weights,
    rank,
    read_weights,
)
from affidavit.contract.errors import InputRefused

FILE = Path(affidavit.agents.__file__).with_name("weights.json")

EVEN = Weights(
    version="test",
    signals=dict.fromkeys(Signal, Weight(1.0, 1.0, 1.0)),
    explained=0.3,
    external=0.5,
    score_min=0.4,
    margin_min=0.2,
    fitted_on=("case",),
    curve=(),
)
"""Every signal weighs the same; 1 is noise, 2 is half support."""


def see(*readings: tuple[str, Signal, float], **more: Any) -> Seen:
    return Seen(tuple(Reading(*reading) for reading in readings), timed_spans=True, **more)


def names(seen: Seen) -> list[str]:
    return [suspect.service for suspect in rank(seen, EVEN).suspects]


def test_nothing_that_deviates_is_nothing_to_conclude() -> None:
    ranking = rank(see(("a", Signal.CPU, 0.9)), EVEN)
    assert ranking.suspects == ()
    assert not ranking.is_separable


def test_supports_add_up_and_say_where_they_come_from() -> None:
    seen = Seen(
        (Reading("a", Signal.CPU, 2.0, "call_0001"), Reading("a", Signal.EDGE, 3.0, "call_0002"))
    )
    (suspect,) = rank(seen, EVEN).suspects
    assert suspect.score == pytest.approx(0.5 + 2 / 3)
    assert [(s.signal, s.tool_call_id) for s in suspect.supports] == [
        (Signal.EDGE, "call_0002"),
        (Signal.CPU, "call_0001"),
    ]


def test_no_signal_shouts_down_two_others() -> None:
    seen = see(("loud", Signal.CPU, 1e9), ("both", Signal.LOST, 3.0), ("both", Signal.ENDED, 3.0))
    assert names(seen) == ["both", "loud"]


def test_the_strongest_reading_of_a_signal_counts_once() -> None:
    once = rank(see(("a", Signal.CPU, 3.0)), EVEN)
    twice = rank(see(("a", Signal.CPU, 3.0), ("a", Signal.CPU, 2.0)), EVEN)
    assert once.suspects == twice.suspects


def test_a_callee_that_deviates_too_explains_its_caller() -> None:
    readings = (("web", Signal.EDGE, 3.0), ("db", Signal.EDGE, 3.0))
    assert names(see(*readings)) == ["db", "web"]  # equal: by name
    ranking = rank(see(*readings, calls=frozenset({("db", "web")})), EVEN)
    assert [s.service for s in ranking.suspects] == ["web", "db"]
    assert ranking.suspects[1].explained_by == "web"
    assert ranking.margin == pytest.approx(0.3 * 2 / 3)


def test_a_quiet_callee_explains_nothing() -> None:
    seen = see(("web", Signal.EDGE, 3.0), calls=frozenset({("web", "db")}))
    assert rank(seen, EVEN).suspects[0].explained_by is None


def test_a_far_end_without_telemetry_of_its_own_counts_half() -> None:
    seen = see(("far", Signal.EDGE, 9.0), ("near", Signal.EDGE, 4.0), external=frozenset({"far"}))
    assert names(seen) == ["near", "far"]


def test_the_order_of_readings_does_not_matter() -> None:
    readings = [("a", Signal.CPU, 2.0), ("b", Signal.CPU, 2.0), ("b", Signal.LOST, 1.5)]
    rankings = {rank(see(*order), EVEN) for order in permutations(readings)}
    assert len(rankings) == 1


def test_metrics_of_latency_speak_only_where_no_span_was_timed() -> None:
    readings = (Reading("a", Signal.LATENCY, 5.0),)
    assert rank(Seen(readings, timed_spans=True), EVEN).suspects == ()
    assert rank(Seen(readings), EVEN).suspects != ()


@pytest.mark.spec("M5")
def test_latency_alone_is_no_finding_where_the_symptom_does_not_show() -> None:
    """Among many series some tail is always longer than it was."""
    alone = Seen((Reading("a", Signal.LATENCY, 9.0),), symptom="web")
    shown = Seen((*alone.readings, Reading("web", Signal.LATENCY, 1.5)), symptom="web")
    assert not rank(alone, EVEN).is_separable
    assert rank(shown, EVEN).is_separable
    assert rank(replace(alone, readings=(Reading("a", Signal.CPU, 9.0),)), EVEN).is_separable


def test_a_slow_client_speaks_of_the_callees_that_all_its_callers_share() -> None:
    seen = Seen(
        (Reading("web", Signal.CLIENT_LATENCY, 4.0),),
        calls=frozenset({("web", "own"), ("web", "shared"), ("calm", "shared")}),
    )
    found = {s.service: s.score for s in rank(seen, EVEN).suspects}
    assert set(found) == {"own", "shared"}
    assert found["own"] > found["shared"]


@pytest.mark.parametrize(
    ("strengths", "separable"),
    [
        ((9.0, 1.2), True),
        ((1.2, 0.0), False),  # too weak
        ((9.0, 8.0), False),  # too close
        ((9.0, 0.0), True),
    ],
)
def test_a_conclusion_needs_strength_and_a_lead(
    strengths: tuple[float, float], separable: bool
) -> None:
    seen = see(("a", Signal.CPU, strengths[0]), ("b", Signal.CPU, strengths[1]))
    assert rank(seen, EVEN).is_separable is separable


@pytest.mark.spec("M5")
@pytest.mark.parametrize(("felt", "separable"), [(0.0, False), (0.6, False), (0.7, True)])
def test_latency_alone_needs_a_paged_service_that_feels_it(felt: float, separable: bool) -> None:
    """What users feel is less than what convicts, and more than any tail that is long by chance."""
    readings = (Reading("a", Signal.LATENCY, 9.0), Reading("web", Signal.LATENCY, felt))
    assert rank(Seen(readings, symptom="web"), EVEN).is_separable is separable


@pytest.mark.spec("C15")
def test_no_more_suspects_than_anybody_looks_at() -> None:
    readings = [(f"s{n}", Signal.CPU, 2.0 + n) for n in range(20)]
    assert len(rank(see(*readings), EVEN).suspects) == SUSPECTS_MAX


def test_the_weights_in_use_can_be_read_and_say_what_they_were_fitted_on() -> None:
    weights = read_weights(json.loads(FILE.read_text()))
    assert set(weights.signals) == set(Signal)
    assert weights.fitted_on
    assert all(0 < coverage <= 1 for coverage, _ in weights.curve)


def broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(FILE.read_text())
    change(record)
    return record


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.update(schema="affidavit.weights/2"), "is not 'affidavit.weights/1'"),
        (lambda r: r.pop("schema"), "schema is missing"),
        (lambda r: r["signals"].pop("cpu"), "no weight for cpu"),
        (lambda r: r["signals"].update(mood=r["signals"]["cpu"]), "mood"),
        (lambda r: r["signals"]["cpu"].update(weight=-1), "-1 is no number"),
        (lambda r: r["signals"]["cpu"].update(half=0), "half is above 0"),
        (lambda r: r["signals"]["cpu"].update(weight=True), "True is no number"),
        (lambda r: r.update(fitted_on=[]), "on which cases"),
        (lambda r: r.update(explained=1.5), "1.5 is no number from 0 to 1"),
        (lambda r: r.update(margin_min=float("nan")), "nan is no number"),
        (lambda r: r.update(curve=[[0.5]]), "not enough values"),
        (lambda r: r.update(signals=[]), "signals are no object"),
    ],
)
def test_other_weights_refuse_to_load(
    change: Callable[[dict[str, Any]], object], words: str
) -> None:
    with pytest.raises(InputRefused, match="these weights cannot be used") as refused:
        read_weights(broken(change))
    assert words in refused.value.message
