"""Where spans lose time: between services, inside them; and where failures begin."""

from __future__ import annotations

import pytest

from affidavit.adapters.telemetry_sql import Bounds
from affidavit.adapters.trace_sql import SLICE_US, edge_excess, edge_onset, error_spans, self_time
from tests.unit.adapters.telemetry_tables import BOUNDS, MINUTE, QUIET, START, S, Tables, by_service

BEFORE = range(-60, 0, 3)
DURING = range(2, 120, 3)


def calls(tables: Tables, at: range, outside_us: int, inside_us: int = 1000) -> None:
    """web calls shop, shop calls db; `outside_us` is lost on each way."""
    for second in at:
        tables.call(
            second,
            ("web", "GET /", inside_us * 3 + outside_us * 2),
            ("shop", "list", inside_us * 2 + outside_us),
            ("db", "select", inside_us),
        )


@pytest.mark.spec("T5")
def test_who_is_hot_on_all_edges_is_stronger_than_who_is_hot_on_one() -> None:
    tables = Tables()
    calls(tables, BEFORE, 1000)
    calls(tables, DURING, 50_000)
    found = by_service(tables.ask(edge_excess("traces", BOUNDS)))
    assert (found["shop"]["edges"], found["shop"]["hot"]) == (2, 2)
    assert found["web"]["hot"] == 1
    assert found["shop"]["strength"] > found["web"]["strength"]
    assert found["shop"]["strength"] > found["db"]["strength"]
    assert found["shop"]["before_us"] == 2000
    assert found["shop"]["after_us"] == 51_000


def test_work_inside_the_callee_is_not_the_edges() -> None:
    tables = Tables()
    calls(tables, BEFORE, 1000)
    calls(tables, DURING, 1000, inside_us=80_000)
    found = by_service(tables.ask(self_time("traces", BOUNDS)))
    assert set(found) == {"db"}  # the others wait: their time is the edge's
    assert (found["db"]["before_us"], found["db"]["after_us"]) == (1000, 80_000)


@pytest.mark.spec("T5")
def test_who_works_longer_in_all_it_does_is_stronger_than_who_does_in_one_thing() -> None:
    """Of many operations one is always slower than it was; a lost processor slows them all."""
    tables = Tables()
    operations = [f"operation {number}" for number in range(8)]
    for second in (*BEFORE, *DURING):
        for name in operations:
            slowed = 80_000 if second > 0 else 1000
            tables.call(second, ("starved", name, slowed))
            tables.call(second, ("busy", name, slowed if name == operations[0] else 1000))
    found = by_service(tables.ask(self_time("traces", BOUNDS)))
    assert found["starved"]["strength"] == pytest.approx(8 * found["busy"]["strength"], rel=0.01)
    assert found["busy"]["operation"] == operations[0]
    assert (found["busy"]["before_us"], found["busy"]["after_us"]) == (1000, 80_000)


def test_an_alert_a_minute_early_costs_no_edge() -> None:
    tables = Tables()
    calls(tables, range(-300, -240, 3), 1000)
    calls(tables, BEFORE, 1000)
    calls(tables, DURING, 50_000)
    early = Bounds(START - MINUTE, START + 4 * MINUTE)
    assert tables.ask(edge_excess("traces", early))[0]["service"] == "shop"


def test_the_declared_quiet_window_goes_before_what_was_just_before() -> None:
    """Where the alert comes late, the rows before it are faulty already."""
    tables = Tables()
    calls(tables, range(-7200, -7140, 3), 1000)
    calls(tables, range(-60, 120, 3), 50_000)
    assert tables.ask(edge_excess("traces", QUIET))[0]["service"] == "shop"
    assert tables.ask(edge_excess("traces", BOUNDS)) == []


def test_few_calls_prove_little() -> None:
    few, many = Tables(), Tables()
    for tables, step in ((few, 50), (many, 1)):
        calls(tables, range(-150, 0, step), 1000)
        calls(tables, range(1, 150, step), 50_000)
    strength = {id(t): t.ask(edge_excess("traces", BOUNDS)) for t in (few, many)}
    assert not strength[id(few)] or (
        strength[id(few)][0]["strength"] < strength[id(many)][0]["strength"]
    )


@pytest.mark.spec("M5")
def test_the_onset_of_an_edge_is_an_interval_of_slices() -> None:
    tables = Tables()
    calls(tables, range(-60, 40), 1000)
    calls(tables, range(40, 120), 50_000)
    (row,) = tables.ask(edge_onset("traces", BOUNDS, "web", "shop"))
    assert row["normal_us"] < START + 40 * S < row["abnormal_us"]
    assert row["abnormal_us"] - row["normal_us"] <= 3 * SLICE_US
    assert tables.ask(edge_onset("traces", BOUNDS, "shop", "web")) == []


def test_an_edge_that_never_was_hot_has_no_onset() -> None:
    tables = Tables()
    calls(tables, range(-60, 120), 1000)
    assert tables.ask(edge_onset("traces", BOUNDS, "web", "shop")) == []


def test_a_failure_begins_where_no_child_failed() -> None:
    tables = Tables()
    chain = (("web", "GET /", 30), ("shop", "list", 20), ("db", "select", 10))
    for second in BEFORE:
        tables.call(second, *chain)
    for second in DURING:
        tables.call(second, *chain, status="ERROR")
    found = by_service(tables.ask(error_spans("traces", BOUNDS)))
    assert set(found) == {"db"}
    assert found["db"]["strength"] > 0.9
    assert found["db"]["began"] == found["db"]["spans"]


def test_failures_as_usual_are_no_rise() -> None:
    tables = Tables()
    for second in (*BEFORE, *DURING):
        tables.call(second, ("web", "GET /", 10), status="ERROR")
    rows = tables.ask(error_spans("traces", BOUNDS))
    assert all(row["strength"] < 0.05 for row in rows)


def test_an_empty_table_answers_with_no_row() -> None:
    tables = Tables()
    for query in (edge_excess, self_time, error_spans):
        assert tables.ask(query("traces", BOUNDS)) == []
