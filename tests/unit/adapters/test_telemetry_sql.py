"""Metric shifts: what counts as a rise over a service's own quiet time."""

from __future__ import annotations

import pytest

from affidavit.adapters.telemetry_sql import (
    SERVICES_MAX,
    Bounds,
    level_shifts,
    resource_shifts,
)
from tests.unit.adapters.telemetry_tables import (
    BOUNDS,
    MINUTE,
    QUIET,
    START,
    S,
    Tables,
    by_service,
)

CPU = "container.cpu.utilization"
BEFORE = {-60 * n: 10.0 + n % 2 for n in range(1, 20)}
"""A quiet twenty minutes around 10 %."""


@pytest.mark.spec("T5")
def test_a_rise_is_measured_in_the_services_own_scale() -> None:
    tables = Tables()
    tables.metric("hot", CPU, BEFORE | {30: 90.0, 90: 95.0, 150: 92.0})
    tables.metric("calm", CPU, BEFORE | {30: 11.0, 90: 10.0, 150: 12.0})
    found = by_service(tables.ask(resource_shifts("metrics", BOUNDS)))
    hot = found["hot"]
    assert hot["before"] == 11.0
    assert hot["after"] == 92.0  # the second highest: one sample alone is a spike
    assert hot["scale"] == 2.0  # two points, more than MAD and 15 % of the median
    assert hot["strength"] == pytest.approx(40.5)
    assert found.get("calm", {"strength": 0})["strength"] < 1


def test_one_sample_alone_is_a_spike() -> None:
    tables = Tables()
    tables.metric("spiky", CPU, BEFORE | {30: 11.0, 90: 99.0, 150: 11.0})
    assert tables.ask(resource_shifts("metrics", BOUNDS)) == []


@pytest.mark.spec("M5")
def test_the_onset_is_an_interval_between_two_samples() -> None:
    tables = Tables()
    tables.metric("hot", CPU, BEFORE | {30: 11.0, 90: 95.0, 150: 96.0})
    (row,) = tables.ask(resource_shifts("metrics", BOUNDS))
    assert (row["normal_us"], row["abnormal_us"]) == (START + 30 * S, START + 90 * S)


def test_a_ratio_and_a_percentage_have_the_same_floor() -> None:
    tables = Tables()
    tables.metric("percent", CPU, {-60: 0.5, -120: 0.5, 60: 1.4, 120: 1.4})
    tables.metric("ratio", CPU, {-60: 0.005, -120: 0.005, 60: 0.014, 120: 0.014}, unit="1")
    found = by_service(tables.ask(resource_shifts("metrics", BOUNDS)))
    assert found["percent"]["scale"] == pytest.approx(2.0)
    assert found["ratio"]["scale"] == pytest.approx(0.02)


def test_a_series_of_the_node_convicts_nobody() -> None:
    tables = Tables()
    tables.metric("pod", "system.cpu.utilization", BEFORE | {30: 99.0, 90: 99.0})
    assert tables.ask(resource_shifts("metrics", BOUNDS)) == []


def test_raw_usage_speaks_only_where_there_is_no_share() -> None:
    tables = Tables()
    tables.metric("both", "container.memory.usage", {-60: 1.0, -120: 1.0, 60: 9.0, 90: 9.0}, "MiBy")
    tables.metric("both", "container.memory.utilization", {-60: 5.0, -120: 5.0, 60: 5.5, 90: 5.5})
    tables.metric("raw", "container.memory.usage", {-60: 1.0, -120: 1.0, 60: 9.0, 90: 9.0}, "MiBy")
    found = by_service(tables.ask(resource_shifts("metrics", BOUNDS)))
    assert found["both"]["metric"] == "container.memory.utilization"
    assert found["both"]["strength"] < 1
    assert found["raw"]["strength"] > 10


def test_a_rise_that_was_there_before_is_none() -> None:
    """A drift between a far quiet time and the last half hour is no incident."""
    tables = Tables()
    quiet = {-7200 + n: 0.1 for n in range(20)}
    steady = {-60 * n: 2.0 for n in range(1, 5)}
    for service, now in (("drifted", 2.0), ("slow", 9.0)):
        samples = quiet | steady | {60 * n: now for n in range(1, 5)}
        tables.metric(service, "rpc.server.duration", samples, unit="s")
    found = by_service(tables.ask(level_shifts("metrics", QUIET)))
    assert set(found) == {"slow"}
    assert found["slow"]["before"] == 2.0
    assert found["slow"]["strength"] == pytest.approx(1.5, abs=0.05)


def test_each_aspect_is_told_by_the_name_of_its_series() -> None:
    tables = Tables()
    up, down = {-60: 10.0, -120: 10.0, 60: 90.0, 120: 80.0}, {-60: 100.0, 60: 91.0, 120: 92.0}
    tables.metric("a", "rpc.client.duration", up, unit="ms")
    tables.metric("a", "rpc.server.success_ratio", down)
    tables.metric("a", "http_5xx_total", up, unit="1")
    tables.metric("a", "cache.size", up, unit="1")
    rows = tables.ask(level_shifts("metrics", BOUNDS))
    assert {row["aspect"] for row in rows} == {"client_latency", "availability", "errors"}
    (lost,) = [row["strength"] for row in rows if row["aspect"] == "availability"]
    assert lost == pytest.approx(8.0)  # points, of the second lowest


def test_durations_are_compared_in_seconds_whatever_their_unit() -> None:
    tables = Tables()
    for service, unit, factor in (("s", "s", 1.0), ("ms", "ms", 1e3), ("us", "us", 1e6)):
        tables.metric(service, "latency", {-60: 0.1 * factor, 60: factor, 90: factor}, unit=unit)
    tables.metric("named", "duration_p99_ms", {-60: 100.0, 60: 1e3, 90: 1e3}, unit="")
    strengths = {
        row["service"]: row["strength"] for row in tables.ask(level_shifts("metrics", BOUNDS))
    }
    assert len(strengths) == 4
    assert max(strengths.values()) == pytest.approx(min(strengths.values()))


def test_values_that_are_no_numbers_are_left_out() -> None:
    tables = Tables()
    tables.metric("a", CPU, BEFORE | {30: float("nan"), 90: float("inf"), 150: 90.0, 210: 91.0})
    (row,) = tables.ask(resource_shifts("metrics", BOUNDS))
    assert row["samples"] == 2


@pytest.mark.spec("C15")
def test_an_answer_is_bounded_however_many_services_deviate() -> None:
    tables = Tables()
    for n in range(2 * SERVICES_MAX + 5):
        tables.metric(f"s{n:03}", CPU, {-60: 1.0, -120: 1.0, 60: 90.0 - n / 10, 120: 90.0 - n / 10})
    rows = tables.ask(resource_shifts("metrics", BOUNDS))
    assert len(rows) == 2 * SERVICES_MAX
    assert rows[0]["service"] == "s000"  # the strongest stay


def test_an_empty_table_answers_with_no_row() -> None:
    tables = Tables()
    assert tables.ask(resource_shifts("metrics", BOUNDS)) == []
    assert tables.ask(level_shifts("metrics", BOUNDS)) == []


def test_without_a_quiet_window_no_moment_is_in_it() -> None:
    bounds = Bounds(START, START + MINUTE)
    assert bounds.base_end_us < bounds.base_start_us
