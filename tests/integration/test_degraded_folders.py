"""Folders as real systems leave them: gaps, doubled rows, clocks that differ, whole tables missing.

Each generator damages a copy of a recorded incident in one way. The agent runs for real over what
is left. It may say less; it may not break, and it may not name a place that is not at fault.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import duckdb
import pytest

from affidavit.adapters.incident_folder import load_incident
from affidavit.contract.errors import InputRefused
from affidavit.contract.states import ReleaseOutcome
from affidavit.evaluation.incidents import Case, collect_cases
from affidavit.evaluation.rankings import playbook
from affidavit.evaluation.scorer import RunScore
from affidavit.evaluation.trials import Order, Trial, play_case

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

EXAMPLES: Final = Path(__file__).parents[2] / "examples"

TABLES: Final = ("metrics", "logs", "traces", "events")

Damage = Callable[[Path], None]


def without(*tables: str) -> Damage:
    """The tables are not there."""

    def act(folder: Path) -> None:
        for table in tables:
            (folder / f"{table}.parquet").unlink(missing_ok=True)

    return act


def rewrite(folder: Path, table: str, query: str) -> None:
    """The table as a query over its `rows` says."""
    path = folder / f"{table}.parquet"
    if path.is_file():
        damaged = path.with_suffix(".damaged")
        with duckdb.connect() as con:
            con.execute(
                f"COPY (WITH rows AS (SELECT * FROM read_parquet('{path}')) {query})"
                f" TO '{damaged}' (FORMAT parquet)"
            )
        damaged.rename(path)


def every(query: str, tables: Iterable[str] = ("metrics",)) -> Damage:
    """Each of these tables, rewritten."""

    def act(folder: Path) -> None:
        for table in tables:
            rewrite(folder, table, query)

    return act


def both(first: Damage, second: Damage) -> Damage:
    def act(folder: Path) -> None:
        first(folder)
        second(folder)

    return act


def crowd(folder: Path) -> None:
    """Two hundred services that are as they always were beside those of the incident."""
    rewrite(
        folder,
        "metrics",
        """, quiet AS (
            SELECT * FROM rows WHERE metric_name ILIKE '%cpu%' OR metric_name ILIKE '%memory%'
        ), one AS (SELECT * FROM quiet WHERE service_name = (SELECT min(service_name) FROM quiet))
        SELECT * FROM rows UNION ALL BY NAME
        SELECT one.* REPLACE ('extra-' || n AS service_name,
               10 + 0.1 * (hash(n, timestamp) % 10) AS value)
        FROM one, range(200) AS extra(n)""",
    )


SKEWED: Final = """SELECT * REPLACE (timestamp + to_milliseconds(
    ((hash(service_name) % 7)::BIGINT - 3) * 10000) AS timestamp) FROM rows"""
"""Every host's clock is off by up to half a minute."""

THINNED: Final = "SELECT * FROM rows WHERE hash(timestamp, service_name) % 10 >= {} "

DAMAGES: Final[dict[str, Damage]] = {
    "no logs": without("logs"),
    "no traces": without("traces"),
    "no metrics": without("metrics"),
    "metrics alone": without("logs", "traces", "events"),
    "logs alone": without("metrics", "traces", "events"),
    "gaps in four of ten": every(THINNED.format(4), TABLES),
    "NaN and infinity": every(
        """SELECT * REPLACE (CASE hash(timestamp, metric_name) % 5 WHEN 0 THEN 'nan'::DOUBLE
           WHEN 1 THEN 'inf'::DOUBLE ELSE value END AS value) FROM rows"""
    ),
    "every row twice": every("SELECT * FROM rows UNION ALL SELECT * FROM rows", TABLES),
    "one sample in four": every(
        """SELECT * EXCLUDE (place) FROM (SELECT *, row_number() OVER (PARTITION BY service_name,
           metric_name, statistic ORDER BY timestamp) AS place FROM rows) WHERE place % 4 = 0"""
    ),
    "rows in no order": every("SELECT * FROM rows ORDER BY hash(timestamp)", TABLES),
    "clocks that differ": every(SKEWED, TABLES),
    "two hundred services more": crowd,
    "gaps without traces": both(without("traces"), every(THINNED.format(5), ("metrics", "logs"))),
}
"""One generator a kind."""


def damaged(example: str, damage: Damage, room: Path) -> Case:
    """A copy of an example, damaged."""
    folder = room / example
    shutil.copytree(EXAMPLES / example, folder)
    damage(folder)
    (case,) = collect_cases([("damaged", folder)]).cases
    return case


async def run_of(case: Case) -> RunScore:
    """The case, played to its end."""
    played = await play_case(case, Order(playbook()))
    assert isinstance(played, Trial), played
    (run,) = played.runs
    assert run.intact
    return run


def unavailable(run: RunScore) -> set[str]:
    """The sources that the result says were not there."""
    return {line.source for line in run.release.coverage.lines if line.status == "unavailable"}


@pytest.mark.spec("C11", "T4", "M5")
@pytest.mark.parametrize("name", DAMAGES)
async def test_what_is_named_is_at_fault_whatever_is_missing(tmp_path: Path, name: str) -> None:
    run = await run_of(damaged("shop-13", DAMAGES[name], tmp_path))
    assert run.release.outcome in {ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK}
    assert not run.published or run.right


@pytest.mark.spec("M5", "G9")
@pytest.mark.parametrize(
    "name", ["no traces", "metrics alone", "gaps in four of ten", "one sample in four",
             "clocks that differ", "NaN and infinity"],
)  # fmt: skip
async def test_a_healthy_window_stays_quiet_however_it_is_damaged(
    tmp_path: Path, name: str
) -> None:
    run = await run_of(damaged("shop-12", DAMAGES[name], tmp_path))
    assert not run.published


@pytest.mark.spec("C11")
@pytest.mark.fault("R15")
@pytest.mark.parametrize(
    ("name", "missing"),
    [("no logs", {"logs"}), ("metrics alone", {"logs", "traces", "events"})],
)
async def test_what_was_missing_is_said(tmp_path: Path, name: str, missing: set[str]) -> None:
    run = await run_of(damaged("slow-storefront", DAMAGES[name], tmp_path))
    assert unavailable(run) == missing


@pytest.mark.spec("M5")
async def test_more_services_at_rest_change_nothing_of_who_is_first(tmp_path: Path) -> None:
    run = await run_of(damaged("slow-storefront", crowd, tmp_path))
    assert run.rank == 1


async def test_rows_that_came_twice_say_what_they_said_once(tmp_path: Path) -> None:
    once = await run_of(damaged("slow-storefront", without(), tmp_path / "once"))
    twice = await run_of(damaged("slow-storefront", DAMAGES["every row twice"], tmp_path / "two"))
    assert once.published
    assert twice.suspects[0] == once.suspects[0]


async def test_one_service_alone_is_no_crash(tmp_path: Path) -> None:
    only = every("SELECT * FROM rows WHERE service_name = 'orders-db'", TABLES)
    run = await run_of(damaged("slow-storefront", only, tmp_path))
    assert not run.published or run.right


@pytest.mark.spec("C15")
def test_an_alert_outside_the_data_is_one_clear_line(tmp_path: Path) -> None:
    folder = tmp_path / "late"
    shutil.copytree(EXAMPLES / "shop-13", folder)
    incident = folder / "incident.yaml"
    year = "2026"
    incident.write_text(incident.read_text().replace(f"'{year}-", "'2031-"))
    with pytest.raises(InputRefused, match="holds no row of any table"):
        load_incident(folder)
