"""The playbook: where it broke, said in provable sentences, or that it cannot tell (H1)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.agents.drafting import readable, rounded, say_absence, say_change
from affidavit.agents.playbook import MARGIN_MIN, decide_step
from affidavit.agents.suspects import rank_suspects
from affidavit.contract.agent import (
    Act,
    AgentState,
    Conclude,
    Observation,
    ObservationKind,
    ToolSpec,
)
from affidavit.contract.evidence import Change, Edge, Envelope, Fact, Line, Quantity, Scope, Window
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from tests.support.runs import TENANT, WINDOW, request

TOOLS = ("topology", "metric_scan", "error_logs")


def change(subject: str, attribute: str = "latency", score: str = "100", **more: Any) -> Change:
    return Change(
        subject=subject,
        attribute=attribute,
        statistic="p95",
        before=Quantity(number=Decimal("1.25"), unit="ms"),
        after=Quantity(number=Decimal("250.4"), unit="ms"),
        direction="up",
        score=Decimal(score),
        anomalous=True,
        **more,
    )


def saw(
    number: int, tool: str, *facts: Fact, step: int = 1, service: str | None = None
) -> Observation:
    """One answer of a tool."""
    scope = Scope(tenant=TENANT, service=service, window=WINDOW, query="error lines")
    status = EvidenceStatus.EVIDENCE_FOUND if facts else EvidenceStatus.NO_EVIDENCE
    envelope = Envelope(
        source_type=tool,
        source=tool,
        evidence_class=EvidenceClass.OBSERVATION,
        emitter=Emitter.PLATFORM,
        scope=scope,
        status=status,
        count=len(facts),
        facts=facts,
        observed_at=datetime(2026, 3, 2, 11, tzinfo=UTC),
    )
    arguments = {} if service is None else {"service": service}
    kind = ObservationKind.FOUND if facts else ObservationKind.EMPTY
    return Observation(step, tool, arguments, kind, f"call_{number:04d}", scope, envelope, "x")


def state(*observations: Observation, **changes: Any) -> AgentState:
    specs = tuple(ToolSpec(name, "", name, EvidenceClass.OBSERVATION, {}) for name in TOOLS)
    bare = AgentState(
        request=request(),
        step=1 + len({item.step for item in observations}),
        tools=specs,
        observations=observations,
        iterations_left=5,
        calls_left=20,
        seconds_left=60.0,
    )
    return replace(bare, **changes)


def concluded(*observations: Observation) -> dict[str, Any]:
    decision = decide_step(state(*observations, must_conclude=True))
    assert isinstance(decision, Conclude)
    assert isinstance(decision.draft, dict)
    return decision.draft


CHAIN = (Edge(source="web", target="api"), Edge(source="api", target="db"))


@pytest.mark.spec("H1")
def test_it_first_asks_every_tool_side_by_side() -> None:
    decision = decide_step(state())
    assert isinstance(decision, Act)
    assert [call.tool for call in decision.calls] == list(TOOLS)


def test_it_then_looks_closely_at_suspects_and_what_they_call_and_asks_nothing_twice() -> None:
    seen = [saw(1, "topology", *CHAIN), saw(2, "metric_scan", change("api"))]
    decision = decide_step(state(*seen))
    assert isinstance(decision, Act)
    asked = [(call.tool, call.arguments["service"]) for call in decision.calls]
    assert asked == [
        ("metric_scan", "api"),
        ("metric_scan", "db"),
        ("error_logs", "api"),
        ("error_logs", "db"),
    ]
    answers = [
        saw(3 + place, tool, change("api"), step=2, service=str(service))
        for place, (tool, service) in enumerate(asked)
    ]
    assert isinstance(decide_step(state(*seen, *answers)), Conclude)


def test_a_caller_that_shows_what_its_callee_shows_is_explained_away() -> None:
    seen = (saw(1, "topology", *CHAIN), saw(2, "metric_scan", *map(change, ("web", "api", "db"))))
    first, *rest = rank_suspects(seen)
    assert first.entity == "db"
    assert all(first.score - other.score > MARGIN_MIN for other in rest)
    conclusion = concluded(*seen)["conclusion"]
    assert conclusion["text"].startswith("db is abnormal: p95 latency rose from 1.25 ms to 250 ms")


def test_two_places_that_nothing_tells_apart_are_no_conclusion() -> None:
    draft = concluded(saw(1, "metric_scan", change("api"), change("cart")))
    assert draft["conclusion"] is None
    assert draft["recommendations"] == []
    assert draft["limitations"]["missing_info"] == ["a signal in which one service stands out"]
    assert {item["sentences"][0]["statements"][0]["subject"] for item in draft["analyses"]} == {
        "api",
        "cart",
    }


def test_a_healthy_system_is_no_conclusion() -> None:
    quiet = change("api").model_validate({**dict(change("api")), "anomalous": False})
    assert concluded(saw(1, "metric_scan", quiet))["conclusion"] is None
    assert concluded()["conclusion"] is None


def test_the_answers_it_did_not_get_are_named() -> None:
    failed = Observation(1, "error_logs", {}, ObservationKind.FAILED, "call_0003", code="TIMEOUT")
    draft = concluded(saw(1, "metric_scan", change("api")), failed)
    assert draft["limitations"]["missing_info"] == ["the answer of error_logs"]


@pytest.mark.spec("C4", "C10")
def test_every_sentence_names_one_call_and_the_calls_of_its_analysis() -> None:
    line = Line(text='boom at "x"', subject="api", level="ERROR", count=3)
    draft = concluded(
        saw(1, "topology", *CHAIN),
        saw(2, "metric_scan", change("api"), change("web")),
        saw(3, "error_logs", line),
        saw(4, "error_logs", step=2, service="db"),
    )
    assert [item["kind"] for item in draft["analyses"]] == [
        "NORMAL",
        "NORMAL",
        "NEGATIVE_OBSERVATION",
    ]
    for analysis in draft["analyses"]:
        for sentence in analysis["sentences"]:
            assert len(sentence["tool_call_ids"]) == 1
            assert set(sentence["tool_call_ids"]) <= set(analysis["tool_call_ids"])
            assert sentence["statements"]


@pytest.mark.spec("G9")
def test_an_absence_speaks_of_whole_seconds_inside_what_was_looked_at() -> None:
    window = Window(
        start=datetime(2026, 3, 2, 10, 0, 0, 1, tzinfo=UTC),
        end=datetime(2026, 3, 2, 10, 30, 0, 999_999, tzinfo=UTC),
    )
    sentence = say_absence("db", Scope(tenant=TENANT, window=window), "error line", "call_0001")
    assert sentence is not None
    assert "from 2026-03-02T10:00:01Z to 2026-03-02T10:30:00Z" in sentence.text
    assert say_absence("db", Scope(tenant=TENANT), "error line", "call_0001") is None


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9
    )
)
def test_rounding_keeps_three_digits_or_the_whole_and_never_an_exponent(number: Decimal) -> None:
    told = rounded(Quantity(number=number))
    assert "E" not in str(told)
    assert abs(told - number) <= max(abs(number) / 200, Decimal("0.0000005")) or abs(
        told - number
    ) <= Decimal("0.5")


def test_bytes_are_told_in_a_unit_that_fits_both_numbers() -> None:
    before, after = readable(
        Quantity(number=Decimal(32_200_000), unit="By"),
        Quantity(number=Decimal(1_470_000_000), unit="By"),
    )
    assert (str(before.number), before.unit) == ("0.0322", "GB")
    assert (str(after.number), after.unit) == ("1.47", "GB")


def test_a_rate_of_named_things_is_told_without_the_annotation() -> None:
    rate = change("api", "timeouts").model_validate(
        {
            **dict(change("api", "timeouts")),
            "statistic": "rate",
            "before": Quantity(number=Decimal(0), unit="{timeout}/s"),
            "after": Quantity(number=Decimal("1.2"), unit="{timeout}/s"),
        }
    )
    assert say_change(rate, "call_0001").text == "At api, rate timeouts rose from 0/s to 1.2/s."
