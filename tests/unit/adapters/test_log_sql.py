"""Error templates against a service's activity, and templates that come or go."""

from __future__ import annotations

import duckdb
import pytest

from affidavit.adapters.log_sql import TEMPLATE_CHARS, error_rise, masked, template_changes
from tests.unit.adapters.telemetry_tables import BOUNDS, START, S, Tables, by_service


def work(tables: Tables, *services: str) -> None:
    """Every service works as much before as during."""
    for service in services:
        for second in range(-100, 100, 2):
            tables.call(second, (service, "op", 10))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10:00:01.5 order 17 took 3 ms", "11:22:33.9 order 99812 took 4000 ms"),
        ("GET /a/7f3c2a10-1111-4222-8333-444455556666 ok", "GET /a/0a0a0a0a-9-9-9-9 ok"),
        ("user=alice, retries=3", "user=bob, retries=12"),
        ("[pay][amount: 12.50 EUR]", "[pay][amount: none]"),
        ("items 1, 2, 3 left", "items 4 left"),
        ("a   b\tc", "a b c"),
    ],
)
def test_lines_of_one_kind_have_one_template(one: str, other: str) -> None:
    sql = f"SELECT {masked('$a')}, {masked('$b')}"
    row = duckdb.execute(sql, {"a": one, "b": other}).fetchone()
    assert row is not None
    assert row[0] == row[1]


def test_what_a_person_keeps_apart_stays_apart() -> None:
    sql = f"SELECT {masked('$a')}, {masked('$b')}"
    row = duckdb.execute(sql, {"a": "payment accepted 1", "b": "payment refused 1"}).fetchone()
    assert row is not None
    assert row[0] != row[1]


def test_a_template_is_bounded() -> None:
    row = duckdb.execute(f"SELECT {masked('$a')}", {"a": "word " * 10_000}).fetchone()
    assert row is not None
    assert len(row[0]) <= TEMPLATE_CHARS


@pytest.mark.spec("T5")
def test_a_new_error_is_strong_and_an_old_one_is_not() -> None:
    tables = Tables()
    work(tables, "shop", "till")
    for second in range(-100, 100, 5):
        tables.line("shop", second, f"order {second} not found", "ERROR")
    for second in range(10, 100, 5):
        tables.line("till", second, f"cannot round {second}", "ERROR")
    found = by_service(tables.ask(error_rise("logs", "traces", BOUNDS)))
    assert set(found) == {"till"}
    assert found["till"]["template"] == "cannot round #"
    assert (found["till"]["lines"], found["till"]["baseline_lines"]) == (18, 0)
    assert found["till"]["first_us"] == START + 10 * S


def test_an_error_that_names_another_service_hardly_counts_for_its_emitter() -> None:
    tables = Tables()
    work(tables, "front-shop", "back-till", "other-shop")
    for second in range(10, 100, 5):
        tables.line("front-shop", second, f"no instance of back-till {second}", "ERROR")
        tables.line("other-shop", second, f"it broke {second}", "ERROR")
    found = by_service(tables.ask(error_rise("logs", "traces", BOUNDS)))
    assert found["front-shop"]["named"] == "back-till"
    assert found["front-shop"]["strength"] < found["other-shop"]["strength"] / 5


def test_a_calls_failure_counts_less_than_an_error_of_ones_own() -> None:
    tables = Tables()
    work(tables, "caller", "culprit")
    for second in range(10, 100, 5):
        tables.line("caller", second, "read timed out", "ERROR")
        tables.line("culprit", second, "division by zero", "ERROR")
    found = by_service(tables.ask(error_rise("logs", "traces", BOUNDS)))
    assert found["caller"]["carried"] is True
    assert found["culprit"]["strength"] > 2 * found["caller"]["strength"]


def test_more_work_alone_is_no_rise() -> None:
    tables = Tables()
    for second in range(-100, 0, 10):
        tables.call(second, ("shop", "op", 10))
        tables.line("shop", second, "not found", "ERROR")
    for number in range(100):
        tables.call(number, ("shop", "op", 10))
        tables.line("shop", number, "not found", "ERROR")
    rows = tables.ask(error_rise("logs", "traces", BOUNDS))
    assert not rows or rows[0]["strength"] < 1.5


def test_one_error_of_the_platform_is_enough_and_of_an_application_is_not() -> None:
    tables = Tables()
    work(tables, "db-host", "shop")
    tables.line("db-host", 30, "ran out of storage", "ERROR", emitter="platform")
    tables.line("shop", 30, "ran out of storage", "ERROR")
    assert set(by_service(tables.ask(error_rise("logs", "traces", BOUNDS)))) == {"db-host"}


def test_without_spans_lines_measure_the_activity() -> None:
    tables = Tables()
    for second in range(-100, 100, 2):
        tables.line("shop", second, "fine")
    for second in range(10, 100, 5):
        tables.line("shop", second, "broke", "ERROR")
    (row,) = tables.ask(error_rise("logs", None, BOUNDS))
    assert row["service"] == "shop"


def test_templates_vanish_and_appear_although_their_service_speaks_on() -> None:
    tables = Tables()
    for second in range(-100, 100, 2):
        tables.line("shop", second, "tick")
        tables.line("shop", second, "order saved" if second < 0 else "order dropped")
        if second < 0:
            tables.line("silent", second, "tick")  # the whole service is gone: not this tool's
    found = tables.ask(template_changes("logs", BOUNDS))
    assert {(row["service"], row["change"], row["template"]) for row in found} == {
        ("shop", "vanished", "order saved"),
        ("shop", "new", "order dropped"),
    }
