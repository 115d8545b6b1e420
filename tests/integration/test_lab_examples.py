"""The incidents that ship with the project: readable, small, honest, and diagnosable."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest
import yaml

from affidavit.lab.faults import FAULTS
from affidavit.lab.folder import COLUMNS
from affidavit.lab.plant import PLANTS

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
FOLDERS: Final = tuple(sorted(path.parent for path in EXAMPLES.glob("*/incident.yaml")))
BYTES_MAX: Final = 1_000_000  # an incident stays small enough to look at in a review

MACHINE_PATH: Final = re.compile(r"/(?:work|tmp|home|root|usr)/")

RISES: Final = """
    SELECT median(value) FILTER (timestamp >= $injected) AS after,
           median(value) FILTER (timestamp < $injected) AS before
    FROM metrics WHERE service_name = $service AND metric_name = '{metric}'
    AND statistic = '{statistic}'
"""

WITNESSES: Final = {
    "slow_query": "SELECT count(*) > 50 FROM logs WHERE service_name = $service "
    "AND emitter = 'platform' AND body LIKE '%full scan of table orders%' "
    "AND timestamp >= $injected",
    "pool_exhaustion": "SELECT max(value) = 8 FROM metrics WHERE service_name = $service "
    "AND metric_name = 'db.client.connection.count' AND timestamp >= $injected",
    "error_burst": "SELECT count(*) > 20 FROM logs WHERE service_name = $service "
    "AND body LIKE '%KeyError%' AND timestamp >= $injected",
    "bad_deploy": "SELECT count(*) FILTER (timestamp >= $injected) "
    "> 3 * count(*) FILTER (timestamp < $injected) FROM traces "
    "WHERE service_name = $service AND name LIKE '%SELECT order%'",
    "config_error": "SELECT count(*) > 20 FROM logs WHERE service_name = $service "
    "AND body LIKE '%no answer within 2 ms%' AND timestamp >= $injected",
    "memory_leak": "SELECT count(*) > 0 FROM logs WHERE service_name = $service "
    "AND emitter = 'platform' AND body LIKE 'out of memory%' AND timestamp >= $injected",
    "lock": "SELECT count(*) > 20 FROM logs WHERE service_name = $service "
    "AND emitter = 'platform' AND body LIKE '%for the write lock%' AND timestamp >= $injected",
    "dependency_down": "SELECT max(value) = 0 FROM metrics WHERE service_name = $service "
    "AND metric_name = 'up' AND timestamp >= $injected + INTERVAL 5 SECOND",
    "recovered": "SELECT min(value) = 0 AND arg_max(value, timestamp) = 1 FROM metrics "
    "WHERE service_name = $service AND metric_name = 'up' AND timestamp >= $injected",
    "cpu_burn": "SELECT after > 0.5 AND before < 0.1 FROM ("
    + RISES.format(metric="process.cpu.utilization", statistic="mean")
    + ")",
    "slow_edge": "SELECT quantile_cont((c.duration_us - s.duration_us) / 1000, 0.5) > 200 "
    "FROM traces c JOIN traces s ON s.parent_span_id = c.span_id AND s.trace_id = c.trace_id "
    "WHERE c.kind = 'CLIENT' AND s.service_name = $service AND s.timestamp >= $injected",
    "cache_gone": "SELECT max(value) = 0 FROM metrics WHERE service_name = $service "
    "AND metric_name = 'up' AND timestamp >= $injected + INTERVAL 5 SECOND",
    "poison_message": "SELECT count(*) > 20 FROM logs WHERE service_name = $service "
    "AND body LIKE '%ValueError%' AND timestamp >= $injected",
}
"""For each fault, a question about the faulty component's own records that its folder affirms."""


def read_yaml(path: Path) -> dict[str, Any]:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def instant(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    """One shipped incident."""
    assert isinstance(request.param, Path)
    return request.param


@pytest.fixture
def tables(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The folder's signals as views of the same names."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for path in folder.glob("*.parquet"):
            connection.execute(f"CREATE VIEW {path.stem} AS FROM read_parquet('{path}')")
        yield connection


def ask(tables: duckdb.DuckDBPyConnection, query: str, given: dict[str, object]) -> object:
    """One value; only the parameters that the query names are given."""
    used = {name: value for name, value in given.items() if f"${name}" in query}
    row = tables.execute(query, used).fetchone()
    assert row is not None
    return row[0]


def test_there_are_incidents() -> None:
    """Some for each plant, and at least ten in all; every window without a fault among them."""
    truths = [read_yaml(folder / "truth.yaml") for folder in FOLDERS]
    assert len(FOLDERS) >= 10
    assert {truth.get("fault") for truth in truths if truth["faulty"]} <= set(WITNESSES)
    assert any(not truth["faulty"] for truth in truths)


def test_an_incident_is_small(folder: Path) -> None:
    """A folder can be read in a review, and the project stays light."""
    assert sum(path.stat().st_size for path in folder.iterdir()) < BYTES_MAX


def test_columns_are_those_of_the_format(folder: Path, tables: duckdb.DuckDBPyConnection) -> None:
    """Every signal that is there has its columns, and a time with its zone."""
    for path in folder.glob("*.parquet"):
        described = tables.execute(f"DESCRIBE {path.stem}").fetchall()
        assert [row[0] for row in described] == list(COLUMNS[path.stem])
        types = {row[0]: row[1] for row in described}
        assert types["timestamp"] == "TIMESTAMP WITH TIME ZONE"


def test_the_question_does_not_hold_the_answer(folder: Path) -> None:
    """The incident file names the edge alone, and is called after no fault."""
    incident = (folder / "incident.yaml").read_text(encoding="utf-8")
    truth = read_yaml(folder / "truth.yaml")
    names = {component.name for plant in PLANTS.values() for component in plant.components}
    for name in (names - {"storefront"}) | set(FAULTS):
        assert not re.search(rf"\b{name}\b", incident), name
    assert read_yaml(folder / "incident.yaml")["id"] == folder.name
    assert truth.get("service") != "storefront"


def test_nothing_tells_on_the_machine(tables: duckdb.DuckDBPyConnection) -> None:
    """A path in a log line or a span would say where it was recorded."""
    for table, column in (("logs", "body"), ("traces", "status_message"), ("events", "body")):
        shown = tables.execute("SHOW TABLES").fetchall()
        if (table,) in shown:
            texts = tables.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()
            assert [text for (text,) in texts if text and MACHINE_PATH.search(text)] == []


def test_the_fault_began_inside_the_window_and_before_the_alert(folder: Path) -> None:
    """Baseline, window, injection, alert: in this order."""
    incident, truth = read_yaml(folder / "incident.yaml"), read_yaml(folder / "truth.yaml")
    window, baseline = incident["window"], incident["baseline"]
    assert instant(baseline["start"]) < instant(baseline["end"]) <= instant(window["start"])
    if not truth["faulty"]:
        assert "alert" not in incident
        return
    injected = instant(truth["injected_at"])
    assert instant(window["start"]) < injected < instant(incident["alert"]["at"])
    assert instant(incident["alert"]["at"]) <= instant(window["end"])
    if "ended_at" in truth:
        assert injected < instant(truth["ended_at"]) < instant(window["end"])


def test_changes_of_the_truth_are_in_the_change_log(
    folder: Path, tables: duckdb.DuckDBPyConnection
) -> None:
    """A guilty change is one that an investigation can find."""
    changes = read_yaml(folder / "truth.yaml")["changes"]
    if changes:
        found = tables.execute("SELECT id FROM events WHERE list_contains(?, id)", [changes])
        assert {row[0] for row in found.fetchall()} == set(changes)


def test_the_faulty_component_shows_in_its_own_records(
    folder: Path, tables: duckdb.DuckDBPyConnection
) -> None:
    """Diagnosable: what is wrong can be seen where it is wrong, and could not before."""
    truth = read_yaml(folder / "truth.yaml")
    if truth["faulty"]:
        given: dict[str, object] = {
            "injected": instant(truth["injected_at"]),
            "service": truth["service"],
        }
        assert ask(tables, WITNESSES[truth["fault"]], given) is True


def test_the_edge_shows_the_symptom(folder: Path, tables: duckdb.DuckDBPyConnection) -> None:
    """Honest: the alert's own measurement is in the folder, over what was usual."""
    incident = read_yaml(folder / "incident.yaml")
    symptom = incident["symptom"]
    if symptom["signal"] == "unknown":
        return
    statistic = "p95" if symptom["signal"] == "latency" else "mean"
    worst = (
        "SELECT max(value) FILTER (timestamp >= $start) > 3 * median(value) "
        "FILTER (timestamp < $start) FROM metrics WHERE service_name = $service "
        f"AND metric_name = $metric AND statistic = '{statistic}'"
    )
    given: dict[str, object] = {
        "start": instant(incident["window"]["start"]),
        "service": symptom["service"],
        "metric": symptom["metric"],
    }
    assert ask(tables, worst, given) is True
