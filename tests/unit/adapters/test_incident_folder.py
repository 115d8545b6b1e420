"""What an incident folder says, in each form that it may be written in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import duckdb
import pytest

from affidavit.adapters.duckdb_stage import BODY_CHARS_MAX, NAME_CHARS_MAX
from affidavit.adapters.incident_folder import load_incident
from affidavit.adapters.incident_topology import parse_topology
from affidavit.adapters.incident_yaml import parse_incident
from affidavit.contract.errors import InputRefused
from affidavit.contract.record import format_instant
from affidavit.ports.telemetry import Link, Node, Signal
from tests.support.incidents import (
    INCIDENT,
    METRICS_HEADER,
    START,
    jsonl,
    log_row,
    metrics_csv,
    quiet,
    stamp,
    write_folder,
)

WHOLE: Final = """\
id: 42
title: no
question: "Why: is it slow?"
window: {start: "2026-03-02T18:00:00+08:00", end: 2026-03-02 10:10:00.250000Z}
baseline: {start: 2026-03-02T09:00:00Z, end: 2026-03-02T10:00:00Z}
symptom: {service: checkout, signal: errors, metric: null}
alert:
  name: HighErrorRate
  at: 2026-03-02T10:01:00Z
  labels: {severity: page, attempts: 3, muted: false}
  text: |
    checkout fails
tenant: acme
description: 0x10
"""


def test_every_key_is_read_and_nothing_is_guessed() -> None:
    """Numbers, booleans and dates of YAML stay the texts that they are; times become UTC."""
    incident = parse_incident(WHOLE.encode())
    assert (incident.id, incident.title, incident.description) == ("42", "no", "0x10")
    assert incident.window.start == START
    assert incident.window.end == START + timedelta(minutes=10, microseconds=250_000)
    assert incident.baseline is not None
    assert incident.baseline.end == incident.window.start
    assert (incident.symptom.signal, incident.symptom.metric) == ("errors", None)
    assert incident.alert is not None
    assert incident.alert.at == datetime(2026, 3, 2, 10, 1, tzinfo=UTC)
    assert dict(incident.alert.labels) == {"severity": "page", "attempts": "3", "muted": "false"}
    assert incident.alert.text == "checkout fails\n"
    assert incident.tenant == "acme"


def test_what_may_be_left_out() -> None:
    """A question about a window and a symptom is an incident."""
    incident = parse_incident(INCIDENT.encode())
    assert (incident.alert, incident.baseline, incident.description) == (None, None, "")


@pytest.mark.fault("R26")
@pytest.mark.parametrize(
    "start",
    ["2026-03-02T10:00:00", "2026-03-02 10:00:00", "'10:00'", "2026-03-02", "1772445600", "null"],
)
def test_a_time_without_zone_is_refused(start: str) -> None:
    """Never read as UTC, never as local."""
    text = INCIDENT.replace("{start: 2026-03-02T10:00:00Z", f"{{start: {start}")
    with pytest.raises(InputRefused, match=r"window\.start"):
        parse_incident(text.encode())


def test_a_topology_holds_each_thing_once() -> None:
    """Nodes and edges, sorted; a repeated edge is one edge."""
    topology = parse_topology(
        b"""{"nodes": [{"name": "b", "kind": "database", "host": "h1"}, {"name": "a"}],
        "edges": [{"from": "a", "to": "b", "kind": "reads"}, {"from": "a", "to": "b",
        "kind": "reads"}, {"from": "a", "to": "c"}]}""",
        "topology.json",
    )
    assert topology.nodes == (Node("a"), Node("b", "database", "h1"))
    assert topology.links == (Link("a", "b", "reads"), Link("a", "c", "calls"))


def loaded(folder: Path, name: str) -> Signal:
    """One table of a folder."""
    with load_incident(folder) as incident:
        return incident.signals[name]  # type: ignore[index]  # the test names a table


def test_one_table_in_three_forms(tmp_path: Path) -> None:
    """CSV, JSON lines and Parquet of the same rows are the same table."""
    text = metrics_csv({"checkout latency p95": quiet(range(-5, 5))})
    csv = write_folder(tmp_path / "csv", metrics_csv=text)
    rows = [
        dict(zip(METRICS_HEADER.split(","), line.split(","), strict=True))
        for line in text.splitlines()[1:]
    ]
    lines = write_folder(tmp_path / "jsonl", metrics_jsonl=jsonl(rows))
    parquet = write_folder(tmp_path / "parquet")
    duckdb.execute(
        f"COPY (SELECT * REPLACE (timestamp::TIMESTAMPTZ AS timestamp) FROM"
        f" read_csv('{csv}/metrics.csv', all_varchar = true)) TO '{parquet}/metrics.parquet'"
    )
    found = [loaded(folder, "metrics") for folder in (csv, lines, parquet)]
    assert {signal.source for signal in found} == {
        "metrics.csv",
        "metrics.jsonl",
        "metrics.parquet",
    }
    for signal in found:
        assert (signal.rows, signal.zone, signal.dropped, signal.cut) == (10, "UTC", 0, 0)
        assert signal.first == START - timedelta(minutes=5)
        assert signal.last == START + timedelta(minutes=4)


@pytest.mark.fault("R26")
@pytest.mark.parametrize(
    ("written", "zone"),
    [
        ("2026-03-02T10:01:00Z", "UTC"),
        ("2026-03-02T18:01:00+08:00", "UTC"),
        ("2026-03-02T18:01:00.000+0800", "UTC"),
        (1772445660000000, "UTC"),
        ("1772445660000000", "UTC"),
        ("2026-03-02T10:01:00", None),
        ("2026-03-02 10:01:00.000000", None),
    ],
)
def test_how_a_line_may_write_its_time(
    tmp_path: Path, written: str | int, zone: str | None
) -> None:
    """An offset, Z, or microseconds; without a zone it is read, and said to be unsure."""
    row = log_row(1, "down") | {"timestamp": written}
    signal = loaded(write_folder(tmp_path / "in", logs_jsonl=jsonl([row])), "logs")
    assert (signal.first, signal.zone) == (START + timedelta(minutes=1), zone)


@pytest.mark.parametrize(
    ("written", "zone"),
    [
        ("TIMESTAMPTZ '2026-03-02 18:01:00+08:00'", "UTC"),
        ("TIMESTAMP '2026-03-02 10:01:00'", None),
        ("TIMESTAMP_NS '2026-03-02 10:01:00'", None),
        ("1772445660000000::BIGINT", "UTC"),
        ("'2026-03-02T10:01:00Z'", "UTC"),
    ],
)
def test_how_a_parquet_column_may_hold_its_time(
    tmp_path: Path, written: str, zone: str | None
) -> None:
    """A column declared as UTC is UTC; a bare TIMESTAMP says nothing."""
    folder = write_folder(tmp_path / "in")
    duckdb.execute(
        f"COPY (SELECT {written} AS timestamp, 'checkout' AS service_name, 'down' AS body)"
        f" TO '{folder}/logs.parquet'"
    )
    signal = loaded(folder, "logs")
    assert (signal.first, signal.zone) == (START + timedelta(minutes=1), zone)


def test_a_parquet_column_of_the_wrong_type_is_refused(tmp_path: Path) -> None:
    """A list is no text, and a text in days is no time."""
    for column, value in (("body", "['a', 'b']"), ("timestamp", "DATE '2026-03-02'")):
        cells = {"timestamp": "now()", "service_name": "'a'", "body": "'b'"} | {column: value}
        folder = write_folder(tmp_path / column)
        listed = ", ".join(f"{value} AS {name}" for name, value in cells.items())
        duckdb.execute(f"COPY (SELECT {listed}) TO '{folder}/logs.parquet'")
        with pytest.raises(InputRefused, match=f"column {column} is"):
            load_incident(folder)


def test_rows_without_a_value_are_counted(tmp_path: Path) -> None:
    """Empty, NaN and infinite: no measurement, and no error."""
    text = metrics_csv({"checkout latency p95": quiet(range(3))})
    text += "".join(f"{stamp(4)},checkout,latency,{value},ms,p95\n" for value in ("", "nan", "inf"))
    signal = loaded(write_folder(tmp_path / "in", metrics_csv=text), "metrics")
    assert (signal.rows, signal.dropped) == (6, 3)


@pytest.mark.spec("C15")
def test_long_texts_are_cut_and_counted(tmp_path: Path) -> None:
    """What is cut is declared."""
    rows = [
        log_row(1, "x" * BODY_CHARS_MAX),
        log_row(1, "x" * (BODY_CHARS_MAX + 1)),
        log_row(1, "down", service_name="s" * (NAME_CHARS_MAX + 1)),
    ]
    signal = loaded(write_folder(tmp_path / "in", logs_jsonl=jsonl(rows)), "logs")
    assert (signal.rows, signal.cut) == (3, 2)


def test_forms_that_editors_leave_behind(tmp_path: Path) -> None:
    """A byte order mark, carriage returns, empty lines at the end, a quoted header."""
    text = metrics_csv({"checkout latency p95": quiet(range(3))})
    header = ",".join(f'"{name}"' for name in METRICS_HEADER.split(","))
    dressed = "\ufeff" + text.replace(METRICS_HEADER, header).replace("\n", "\r\n") + "\r\n"
    lines = jsonl([log_row(1, "one"), log_row(2, "two")]).replace("\n", "\r\n\r\n")
    folder = write_folder(tmp_path / "in")
    (folder / "metrics.csv").write_bytes(dressed.encode())
    (folder / "logs.jsonl").write_bytes(("\ufeff" + lines).encode())
    with load_incident(folder) as incident:
        assert incident.signals["metrics"].rows == 3
        assert incident.signals["logs"].rows == 2
        assert incident.signals["logs"].first == START + timedelta(minutes=1)


def test_what_else_lies_in_the_folder_is_left_alone(tmp_path: Path) -> None:
    """Notes, a truth and an unknown table are neither read nor refused."""
    folder = write_folder(
        tmp_path / "in", metrics_csv=metrics_csv({"checkout latency p95": quiet(range(3))})
    )
    (folder / "truth.yaml").write_text("faulty: [")
    (folder / "README").write_text("x")
    (folder / "profiles.csv").write_text("x")
    with load_incident(folder) as incident:
        assert list(incident.signals) == ["metrics"]
        assert format_instant(incident.incident.window.start) == stamp(0)
