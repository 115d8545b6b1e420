"""nezha's traps, each with rows of its own making."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.nezha import import_nezha

INJECTED = 1_674_990_245  # 2023-01-29 11:04:05
QUIET = INJECTED - 7200
LOST = -6_795_364_578_871_345_152  # the zero time of another language, as the set has it

CASE = {
    "id": "tt-2023-01-29-1104",
    "system": "TrainTicket",
    "day": "2023-01-29",
    "inject_epoch": INJECTED,
    "service": "ts-culprit-service",
    "fault": "exception",
}
POD = "ts-a-service-5f55b6cf68-77cfw"


def write(path: Path, sql: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    duckdb.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")


def spans(*rows: tuple[str, str, int, int]) -> str:
    """Spans of (id, parent, start in seconds, duration)."""
    values = ", ".join(
        f"('t', '{span}', '{parent}', '{POD}', 'op', {start}::BIGINT * 1000000000, {us}::BIGINT)"
        for span, parent, start, us in rows
    )
    return (
        f"SELECT * FROM (VALUES {values}) AS v(TraceID, SpanID, ParentID, PodName, OperationName,"
        " StartTimeUnixNano, Duration)"
    )


def lines(*rows: tuple[int, str]) -> str:
    """Log lines of (stamp in nanoseconds, text)."""
    values = ", ".join(f"('{POD}', 'c', 't', 's', {at}::BIGINT, '{text}')" for at, text in rows)
    return (
        f"SELECT * FROM (VALUES {values})"
        " AS v(PodName, Container, TraceID, SpanID, TimeUnixNano, Log)"
    )


METRICS = f"""SELECT * FROM (VALUES
    ({INJECTED - 4000}, '{POD}', 1.0::FLOAT, 0.5::FLOAT, 0.0::FLOAT, 40.0::FLOAT),
    ({INJECTED - 60}, '{POD}', 2.0::FLOAT, 'NaN'::FLOAT, 0.0::FLOAT, 41.0::FLOAT),
    ({INJECTED + 60}, '{POD}', 3.0::FLOAT, 0.7::FLOAT, 0.0::FLOAT, 42.0::FLOAT),
    ({INJECTED + 900}, '{POD}', 4.0::FLOAT, 0.8::FLOAT, 0.0::FLOAT, 43.0::FLOAT)
) AS v(TimeStamp, PodName, "CpuUsageRate(%)", "PodServerLatencyP90(s)", "PodSuccessRate(%)",
       "NodeCpuUsageRate(%)")"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A set of one case: quiet minute at 17:04 local time, 8 hours ahead of UTC."""
    day = tmp_path / "set" / "2023-01-29"
    write(day / "metrics.parquet", METRICS)
    write(
        day / "1104_traces.parquet", spans(("b", "a", INJECTED + 9, 5), ("a", "root", INJECTED, 9))
    )
    write(day / "faultfree_traces.parquet", spans(("q", "root", QUIET, 7)))
    write(
        day / "1104_logs.parquet",
        lines(
            (INJECTED * 10**9, "19:04:05.000 INFO  a.B#1 fine"),
            (LOST, "19:04:06.250 ERROR a.B#2 it broke"),
            (LOST, "    at some.Frame(Frame.java:1)"),
        ),
    )
    write(day / "faultfree_logs.parquet", lines((QUIET * 10**9, "17:04:05.000 INFO  a.B#1 fine")))
    (tmp_path / "set" / "cases.json").write_text(json.dumps([CASE]))
    return tmp_path / "set"


def rows(path: Path, columns: str = "*") -> list[Mapping[str, Any]]:
    cursor = duckdb.execute(f"SELECT {columns} FROM '{path}'")
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def test_a_lost_stamp_is_rebuilt_from_the_lines_own_clock(source: Path, tmp_path: Path) -> None:
    (folder,) = import_nezha(source, tmp_path / "out")
    found = rows(folder / "logs.parquet", "epoch_us(timestamp) AS us, severity_text, body")
    broke = [row for row in found if "it broke" in row["body"]]
    assert [(row["us"], row["severity_text"]) for row in broke] == [
        ((INJECTED + 1) * 10**6 + 250_000, "ERROR")
    ]
    # a line with neither a stamp nor a clock has no place in time
    assert not [row for row in found if "Frame" in row["body"]]


def test_the_quiet_minute_is_the_baseline_and_stands_among_the_rows(
    source: Path, tmp_path: Path
) -> None:
    (folder,) = import_nezha(source, tmp_path / "out")
    incident = yaml.safe_load((folder / "incident.yaml").read_text())
    assert incident["baseline"] == {"start": "2023-01-29T09:04:05Z", "end": "2023-01-29T09:04:06Z"}
    found = rows(folder / "traces.parquet", "span_id, parent_span_id, service_name")
    assert [(row["span_id"], row["parent_span_id"]) for row in found] == [
        ("q", None),
        ("a", None),
        ("b", "a"),
    ]
    assert {row["service_name"] for row in found} == {"ts-a-service"}


def test_metrics_are_cut_to_the_incident_and_hold_no_absent_value(
    source: Path, tmp_path: Path
) -> None:
    (folder,) = import_nezha(source, tmp_path / "out")
    found = rows(folder / "metrics.parquet", "metric_name, statistic, unit, value, instance")
    cpu = [r["value"] for r in found if r["metric_name"] == "container.cpu.utilization"]
    assert cpu == [2.0, 3.0]
    latency = [r["value"] for r in found if r["metric_name"] == "rpc.server.duration"]
    assert latency == pytest.approx([0.7])
    assert not [r for r in found if "success" in r["metric_name"]]


def test_columns_of_the_node_do_not_pass_for_the_pods(source: Path, tmp_path: Path) -> None:
    (folder,) = import_nezha(source, tmp_path / "out")
    found = rows(folder / "metrics.parquet", "DISTINCT metric_name")
    names = {row["metric_name"] for row in found}
    assert "system.cpu.utilization" in names
    assert {name for name in names if name.startswith("container.")} == {
        "container.cpu.utilization"
    }


def test_nothing_but_the_truth_names_the_answer(source: Path, tmp_path: Path) -> None:
    (folder,) = import_nezha(source, tmp_path / "out")
    page = (folder / "incident.yaml").read_text()
    assert "culprit" not in page
    assert "exception" not in page
    assert yaml.safe_load(page)["alert"]["at"] == "2023-01-29T11:04:00Z"
    truth = yaml.safe_load((folder / "truth.yaml").read_text())
    assert (truth["service"], truth["fault"]) == ("ts-culprit-service", "exception")


def test_a_day_without_a_quiet_minute_takes_the_nearest_day_of_its_system(
    source: Path, tmp_path: Path
) -> None:
    other = CASE | {
        "id": "tt-2023-01-30-0000",
        "day": "2023-01-30",
        "inject_epoch": INJECTED + 46_555,
    }
    (source / "cases.json").write_text(json.dumps([CASE, other]))
    _, folder = import_nezha(source, tmp_path / "out")
    assert [row["span_id"] for row in rows(folder / "traces.parquet", "span_id")] == ["q"]
    assert not (folder / "metrics.parquet").exists()


@pytest.mark.parametrize("text", ["{", "[{}]", '[{"id": "x"}]', '{"a": 1}'])
def test_a_broken_list_of_cases_is_refused(source: Path, tmp_path: Path, text: str) -> None:
    (source / "cases.json").write_text(text)
    with pytest.raises(InputRefused, match=r"cases\.json is not a list of cases"):
        import_nezha(source, tmp_path / "out")


def test_a_broken_table_is_refused_and_leaves_nothing(source: Path, tmp_path: Path) -> None:
    (source / "2023-01-29" / "1104_traces.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputRefused, match="cannot read"):
        import_nezha(source, tmp_path / "out")
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []
