"""The folder that a recording becomes: signals, the question without the answer, the truth."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import yaml

from affidavit.lab.alarm import Alert
from affidavit.lab.faults import FAULTS
from affidavit.lab.folder import write_rows, write_signal
from affidavit.lab.incident import write_incident
from affidavit.lab.observation import Observation
from affidavit.lab.plant import PAIR
from affidavit.lab.recording import Schedule, plan_recording
from affidavit.lab.rig import Rig, RigError

NOON_US = 1_772_452_800_000_000  # 2026-03-02T12:00:00Z


@pytest.fixture
def observation(tmp_path: Path) -> Iterator[Observation]:
    """An observation of a rig that was never started, with what its processes would have said."""
    folder = tmp_path / "rig"
    folder.mkdir()
    made = Observation(Rig(PAIR, folder))
    made.times_us = {
        "baseline": NOON_US,
        "window": NOON_US + 10_000_000,
        "injected": NOON_US + 15_000_000,
        "end": NOON_US + 20_000_000,
    }
    made.fault = FAULTS["slow_query"]
    made.changes = ["chg-001"]
    for number, second in enumerate((-5, 3, 17)):
        write_rows(folder / f"orders-{number}.logs.jsonl", [log_row(second)])
    yield made
    made.close()


def log_row(second: int) -> dict[str, object]:
    return {
        "timestamp": NOON_US + second * 1_000_000,
        "service_name": "orders",
        "severity_text": "INFO",
        "body": f"line of second {second}\nwith 'quotes'",
        "instance": "orders-1",
        "trace_id": None,
        "span_id": None,
        "emitter": "workload",
    }


def test_a_folder_has_the_signals_that_were_written(
    observation: Observation, tmp_path: Path
) -> None:
    """Merged by time, without the warm-up, as UTC timestamps; a signal without rows has no file."""
    made = write_incident(observation, tmp_path / "out" / "slow-1")
    assert made.rows == {"metrics": 0, "logs": 2, "traces": 0, "events": 0}
    assert sorted(path.name for path in made.folder.iterdir()) == [
        "incident.yaml",
        "logs.parquet",
        "topology.json",
        "truth.yaml",
    ]
    with duckdb.connect() as session:
        session.execute("SET TimeZone = 'UTC'")
        rows = session.execute(
            "SELECT typeof(timestamp), CAST(timestamp AS VARCHAR), body FROM read_parquet(?)",
            [str(made.folder / "logs.parquet")],
        ).fetchall()
    assert rows[0] == (
        "TIMESTAMP WITH TIME ZONE",
        "2026-03-02 12:00:03+00",
        "line of second 3\nwith 'quotes'",
    )
    assert made.size_bytes == sum(path.stat().st_size for path in made.folder.iterdir())


def test_the_question_does_not_hold_the_answer(observation: Observation, tmp_path: Path) -> None:
    """The incident file is worded from the alert at the edge; the truth stands apart."""
    observation.alarm.fired = Alert(
        "HighLatency", "latency", "http.server.request.duration", NOON_US + 16_000_000,
        NOON_US + 18_000_000, "storefront: p95 latency is 500 ms",
    )  # fmt: skip
    out = write_incident(observation, tmp_path / "slow-1").folder
    text = (out / "incident.yaml").read_text(encoding="utf-8")
    incident = yaml.safe_load(text)
    truth = yaml.safe_load((out / "truth.yaml").read_text(encoding="utf-8"))
    assert truth["service"] == "orders-db"
    assert truth["fault"] not in text
    assert truth["service"] not in text
    assert incident["id"] == "slow-1"
    assert incident["question"] == "Why is storefront slow since 12:00:16 UTC?"
    assert incident["symptom"]["service"] == PAIR.edge
    assert incident["baseline"] == {
        "start": "2026-03-02T12:00:00.000Z",
        "end": incident["window"]["start"],
    }
    assert truth["injected_at"] == "2026-03-02T12:00:15.000Z"
    assert truth["changes"] == ["chg-001"]


def test_a_window_without_an_alert_asks_openly(observation: Observation, tmp_path: Path) -> None:
    """A healthy window has no symptom to name, and its truth names no service."""
    observation.fault = FAULTS["healthy"]
    observation.changes = []
    out = write_incident(observation, tmp_path / "well").folder
    incident = yaml.safe_load((out / "incident.yaml").read_text(encoding="utf-8"))
    truth = yaml.safe_load((out / "truth.yaml").read_text(encoding="utf-8"))
    assert incident["symptom"] == {"service": "storefront", "signal": "unknown"}
    assert "alert" not in incident
    assert truth == {"faulty": False, "changes": [], "notes": FAULTS["healthy"].notes}


def test_a_folder_that_exists_is_left_alone(observation: Observation, tmp_path: Path) -> None:
    """A recording never overwrites another."""
    out = tmp_path / "here"
    out.mkdir()
    (out / "kept").write_text("mine")
    with pytest.raises(RigError, match="exists already"):
        write_incident(observation, out)
    assert [path.name for path in out.iterdir()] == ["kept"]


def test_a_signal_keeps_numbers_and_gaps(tmp_path: Path) -> None:
    """What is null stays null; a double stays a double."""
    row = {
        "timestamp": NOON_US,
        "service_name": "orders",
        "metric_name": "up",
        "value": 0.25,
        "unit": None,
        "statistic": "gauge",
        "instance": "orders-1",
    }
    (tmp_path / "a.metrics.jsonl").write_text(json.dumps(row) + "\n")
    assert write_signal("metrics", tmp_path, 0, tmp_path) == 1
    with duckdb.connect() as session:
        found = session.execute(
            "SELECT value, unit FROM read_parquet(?)", [str(tmp_path / "metrics.parquet")]
        ).fetchall()
    assert found == [(0.25, None)]


def test_a_plan_breaks_the_plant_inside_the_window(observation: Observation) -> None:
    """Marks and steps come in order: baseline, window, injection, end; the end comes last."""
    schedule = Schedule(warm_up_s=10, baseline_s=100, before_s=20, fault_s=60, step_s=5)
    for fault in FAULTS.values():
        planned = plan_recording(observation, fault, schedule)
        times = [at for at, _ in planned]
        assert times == sorted(times)
        assert times[-1] == 190 + fault.lead_s
        marks = [do.args[0] for _, do in planned if do.func == observation.mark]
        injected = ["injected"] if fault.steps else []
        assert [m for m in marks if m != "ended"] == ["baseline", "window", *injected, "end"]
        assert ("ended" in marks) == bool(fault.ending)
