"""The playbook: where it broke, said in provable sentences, or that it cannot tell (H1)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.agents.drafting import readable, rounded, say_absence, say_change
from affidavit.agents.playbook import CLOSE, FIRST, decide_step
from affidavit.agents.weighing import shipped_weights
from affidavit.contract.agent import (
    Act,
    AgentState,
    Conclude,
    Observation,
    ObservationKind,
    ToolSpec,
)
from affidavit.contract.evidence import (
    Cell,
    Change,
    Edge,
    Envelope,
    Fact,
    Line,
    Onset,
    Quantity,
    Row,
    Scope,
    Window,
)
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from tests.support.runs import TENANT, WINDOW, request

TOOLS = (*FIRST, *CLOSE)
WEIGHTS = shipped_weights()


def change(subject: str, attribute: str = "latency", score: str = "2.5", **more: Any) -> Change:
    """A latency that rose twelvefold, as `level_shifts` records it."""
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
    decision = decide_step(state(*observations, must_conclude=True), WEIGHTS)
    assert isinstance(decision, Conclude)
    assert isinstance(decision.draft, dict)
    return decision.draft


CHAIN = (Edge(source="web", target="api"), Edge(source="api", target="db"))


@pytest.mark.spec("H1")
def test_it_first_asks_for_every_signal_side_by_side() -> None:
    decision = decide_step(state(), WEIGHTS)
    assert isinstance(decision, Act)
    assert [call.tool for call in decision.calls] == list(FIRST)


def test_it_asks_no_tool_that_is_not_offered_and_no_more_than_it_may() -> None:
    specs = tuple(spec for spec in state().tools if spec.name in {"topology", "trace_edges"})
    decision = decide_step(state(tools=specs), WEIGHTS)
    assert isinstance(decision, Act)
    assert [call.tool for call in decision.calls] == ["topology", "trace_edges"]
    bounded = decide_step(state(calls_left=3), WEIGHTS)
    assert isinstance(bounded, Act)
    assert len(bounded.calls) == 3


def test_it_then_looks_closely_at_two_suspects_and_asks_nothing_twice() -> None:
    seen = [saw(1, "topology", *CHAIN), saw(2, "level_shifts", *map(change, ("api", "db", "web")))]
    decision = decide_step(state(*seen), WEIGHTS)
    assert isinstance(decision, Act)
    asked = [(call.tool, call.arguments["service"]) for call in decision.calls]
    assert asked == [("error_logs", "db"), ("error_logs", "api")]
    answers = [
        saw(3 + place, tool, step=2, service=str(service))
        for place, (tool, service) in enumerate(asked)
    ]
    assert isinstance(decide_step(state(*seen, *answers), WEIGHTS), Conclude)


def test_a_caller_that_shows_what_its_callee_shows_is_explained_away() -> None:
    seen = (
        saw(1, "topology", *CHAIN),
        saw(2, "level_shifts", *map(change, ("web", "api", "db")), change("db", "error_ratio")),
    )
    draft = concluded(*seen)
    assert draft["conclusion"]["text"].startswith("db is abnormal: ")
    assert draft["recommendations"][0]["based_on_analysis_ids"] == ["A1"]


def test_two_places_that_nothing_tells_apart_are_no_conclusion() -> None:
    draft = concluded(saw(1, "level_shifts", change("api"), change("cart")))
    assert draft["conclusion"] is None
    assert draft["recommendations"] == []
    assert draft["limitations"]["missing_info"] == ["a signal in which one service stands out"]
    assert {item["sentences"][0]["statements"][0]["subject"] for item in draft["analyses"]} == {
        "api",
        "cart",
    }


def test_a_healthy_system_is_no_conclusion() -> None:
    assert concluded(saw(1, "level_shifts", change("api", score="0.05")))["conclusion"] is None
    assert concluded()["conclusion"] is None


def test_a_conclusion_says_abnormal_only_of_what_a_tool_called_so() -> None:
    quiet = change("api", "cpu", "60").model_validate(
        {**dict(change("api", "cpu", "60")), "anomalous": False}
    )
    text = concluded(saw(1, "resource_shifts", quiet))["conclusion"]["text"]
    assert text == "At api, p95 cpu rose from 1.25 ms to 250 ms."


def test_a_slow_edge_is_told_of_the_callee_as_it_was_recorded() -> None:
    name = "transit time from api"
    edge = change("db", name).model_validate({**dict(change("db", name)), "statistic": None})
    draft = concluded(saw(1, "trace_edges", edge, Edge(source="api", target="db")))
    told = draft["conclusion"]["text"]
    assert told == "db is abnormal: transit time from api rose from 1.25 ms to 250 ms."


def test_what_was_looked_at_as_well_stands_beside_the_place() -> None:
    draft = concluded(
        saw(1, "resource_shifts", change("db", "cpu", "60"), change("cart", "memory", "4"))
    )
    assert draft["conclusion"]["text"].startswith("db is abnormal")
    subjects = [item["sentences"][0]["statements"][0]["subject"] for item in draft["analyses"]]
    assert subjects == ["db", "cart"]


@pytest.mark.spec("M5")
def test_a_change_is_told_as_it_was_recorded_and_never_convicted() -> None:
    deploy = Row(
        subject="db",
        cells=(Cell(name="event", text="deploy"), Cell(name="body", text="db 2.0")),
        at=WINDOW.start - timedelta(minutes=5),
    )
    draft = concluded(
        saw(1, "resource_shifts", change("db", "cpu", "60")), saw(2, "change_events", deploy)
    )
    last = draft["analyses"][-1]["sentences"]
    assert [item["text"] for item in last] == ['The deploy of db reads "db 2.0".']
    assert "deploy" not in draft["conclusion"]["text"]
    alone = concluded(saw(1, "change_events", deploy))
    assert alone["conclusion"] is None


def test_an_onset_is_told_from_the_last_moment_as_usual() -> None:
    began = Onset(
        subject="db",
        attribute="cpu",
        earliest=datetime(2026, 3, 2, 10, 3, 0, 500_000, tzinfo=UTC),
        latest=datetime(2026, 3, 2, 10, 4, tzinfo=UTC),
    )
    draft = concluded(saw(1, "resource_shifts", change("db", "cpu", score="60"), began))
    sentence = draft["analyses"][0]["sentences"][1]
    assert sentence["text"] == "At db, cpu rose after 2026-03-02T10:03:00Z."
    assert sentence["statements"][0]["at"] == "2026-03-02T10:03:00.500000Z"


def test_the_answers_it_did_not_get_are_named() -> None:
    failed = Observation(1, "error_rise", {}, ObservationKind.FAILED, "call_0003", code="TIMEOUT")
    draft = concluded(saw(1, "resource_shifts", change("api", "cpu", "60")), failed)
    assert draft["limitations"]["missing_info"] == ["the answer of error_rise"]


@pytest.mark.spec("C4", "C10")
def test_every_sentence_names_one_call_and_the_calls_of_its_analysis() -> None:
    line = Line(text='boom at "x"', subject="api", level="ERROR", count=3)
    draft = concluded(
        saw(1, "topology", *CHAIN),
        saw(2, "level_shifts", change("api"), change("api", "error_ratio"), change("web")),
        saw(3, "error_rise", line),
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
