"""Work that breaks off: what is missing, and whose the blame is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from affidavit.adapters.interruption_sql import interruptions
from tests.unit.adapters.telemetry_tables import BOUNDS, S, Tables, by_service

BEFORE = range(-120, 0, 3)
DURING = range(2, 122, 3)


def request(tables: Tables, at: float, *steps: str, lines: tuple[str, ...] = ()) -> None:
    """A span of shop with a client span per step into the service of that name."""
    tables.number += 1
    trace = f"t{tables.number}"
    tables.span((trace, f"{trace}.0", ""), ("shop", "order", 100), at)
    for number, step in enumerate(steps, start=1):
        client, server = f"{trace}.{number}c", f"{trace}.{number}s"
        tables.span(
            (trace, client, f"{trace}.0"), ("shop", f"call {step}", 100), at + number / 1000
        )
        tables.span((trace, server, client), (step, "serve", 100), at + number / 1000)
    for text in lines:
        tables.line("shop", at, text, trace=trace, span=f"{trace}.0")


def for_bank(tables: Tables, at: float, *steps: str) -> None:
    """A span of bank that calls the services of these names directly, one after the other."""
    tables.number += 1
    trace = f"t{tables.number}"
    tables.span((trace, f"{trace}.0", ""), ("bank", "pay", 100), at)
    for number, step in enumerate(steps, start=1):
        client = (trace, f"{trace}.{number}c", f"{trace}.0")
        tables.span(client, ("bank", f"call {step}", 90), at + number)
        tables.span((trace, f"{trace}.{number}s", client[1]), (step, "serve", 80), at + number)


def fill(tables: Tables, faulty: Callable[[float, int], None]) -> None:
    """Orders as usual before, `faulty` ones during."""
    for second in BEFORE:
        request(tables, second, "stock", "price", "mail")
    for number, second in enumerate(DURING):
        faulty(second, number)


@pytest.mark.spec("T5")
def test_a_service_that_returns_early_is_blamed_itself() -> None:
    tables = Tables()
    fill(tables, lambda at, n: request(tables, at))
    (row,) = tables.ask(interruptions("traces", None, BOUNDS))
    assert row["service"] == "shop"
    assert row["lost"] > 0.9
    assert row["ended"] > 0.9
    assert row["handed"] == 0
    assert (row["operation"], row["kind"]) == ("order", "call")
    assert (row["baseline_spans"], row["baseline_taken"], row["taken"]) == (40, 40, 0)


def test_work_that_ends_with_a_callee_shares_the_blame() -> None:
    """Two callers whose work now ends with a call to stock agree about it."""
    tables = Tables()
    fill(tables, lambda at, n: request(tables, at, "stock"))
    one = by_service(tables.ask(interruptions("traces", None, BOUNDS)))
    assert set(one) == {"shop"}  # one caller alone may be at fault itself
    assert one["shop"]["lost"] < 0.6
    for at in (*BEFORE, *DURING):
        for_bank(tables, at, *("stock", "mail")[: 2 if at < 0 else 1])
    two = by_service(tables.ask(interruptions("traces", None, BOUNDS)))
    assert two["stock"]["callers"] == 2
    assert two["stock"]["handed"] > two["shop"]["lost"]


def test_another_mix_of_work_is_no_loss() -> None:
    """As often the one call or the other: what one step gains another has not lost."""
    tables = Tables()
    for number, second in enumerate(BEFORE):
        request(tables, second, "stock" if number % 4 else "price")
    for number, second in enumerate(DURING):
        request(tables, second, "price" if number % 4 else "stock")
    rows = tables.ask(interruptions("traces", None, BOUNDS))
    assert all(row["lost"] == 0 and row["handed"] == 0 for row in rows)


def test_a_missing_log_line_is_a_lost_step() -> None:
    tables = Tables()
    for second in BEFORE:
        request(tables, second, "stock", lines=("checked 1", "saved 2"))
    for second in DURING:
        request(tables, second, "stock", lines=("checked 3",))
    (row,) = tables.ask(interruptions("traces", "logs", BOUNDS))
    assert (row["service"], row["kind"], row["step"]) == ("shop", "line", "saved #")
    assert tables.ask(interruptions("traces", None, BOUNDS)) == []


def test_fewer_repetitions_are_a_loss_too() -> None:
    tables = Tables()
    for second in BEFORE:
        request(tables, second, lines=("row 1", "row 2"))
    for second in DURING:
        request(tables, second, lines=("row 1",))
    (row,) = tables.ask(interruptions("traces", "logs", BOUNDS))
    assert (row["baseline_times"], row["times"]) == (2.0, 1.0)
    assert 0.4 < row["lost"] <= 0.5


def test_errors_that_stop_are_good_news() -> None:
    tables = Tables()
    for second in BEFORE:
        tables.call(second, ("shop", "order", 9), ("shop", "ErrorController.error", 5))
        tables.line("shop", second, "it broke", "ERROR", trace=f"t{tables.number}",
                    span=f"t{tables.number}.0")  # fmt: skip
    for second in DURING:
        tables.call(second, ("shop", "order", 9))
    assert tables.ask(interruptions("traces", "logs", BOUNDS)) == []


def test_a_few_spans_decide_nothing() -> None:
    tables = Tables()
    for second in (-9, -6, -3):
        request(tables, second, "stock")
    for second in (3, 6, 9):
        request(tables, second)
    assert tables.ask(interruptions("traces", None, BOUNDS)) == []


def test_a_fault_that_begins_halfway_is_seen_in_the_later_half() -> None:
    tables = Tables()
    fill(
        tables, lambda at, n: request(tables, at, *(() if n >= 20 else ("stock", "price", "mail")))
    )
    (row,) = tables.ask(interruptions("traces", None, BOUNDS))
    assert row["service"] == "shop"
    assert row["lost"] > 0.5


def test_empty_tables_answer_with_no_row() -> None:
    assert Tables().ask(interruptions("traces", "logs", BOUNDS)) == []


@pytest.mark.spec("M5")
@pytest.mark.parametrize("ahead_s", [-40, 40])
def test_a_host_whose_clock_is_off_loses_no_step(ahead_s: int) -> None:
    """A trace counts where it began: else its calls at the window's end would be missing."""
    tables = Tables()
    for at in (*range(-200, 0, 2), *range(0, 320, 2)):
        request(tables, at, "stock", "price", lines=("order taken",))
    name, clock = 3, 5  # columns of a span
    tables.rows["traces"] = [
        (*row[:clock], int(str(row[clock])) + ahead_s * S, *row[clock + 1 :])
        if row[name] == "price"
        else row
        for row in tables.rows["traces"]
    ]
    assert tables.ask(interruptions("traces", "logs", BOUNDS)) == []
