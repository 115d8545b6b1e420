"""OpenSRE's layout: inheritance, what gives the answer away, states without a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.opensre import import_opensre, snake

ALERT = {
    "title": "Disk Full on db-1",
    "commonLabels": {"alertname": "Health", "service": "rds", "x_failure_mode": "disk_full"},
    "commonAnnotations": {"summary": "look at it", "rds_failure_mode": "disk_full"},
}


def add(root: Path, name: str, value: Any) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A database with a broken disk, and a workload of which a healthy and an odd state exist."""
    root = tmp_path / "set"
    add(
        root,
        "rds_x/001-disk-full/scenario.yml",
        "db_instance_identifier: db-1\nfailure_mode: disk_full\n",
    )
    add(root, "rds_x/001-disk-full/alert.json", ALERT)
    add(root, "rds_x/001-disk-full/answer.yml", "root_cause_category: resource_exhaustion\n")
    add(root, "rds_x/001-disk-full/aws_cloudwatch_metrics.json", {"metric_data_results": [{
        "metric_name": "CPUUtilization", "unit": "Percent", "stat": "Average",
        "dimensions": [{"Name": "DBInstanceIdentifier", "Value": "db-1"}],
        "timestamps": ["2026-05-01T10:00:00Z", "2026-05-01T10:03:00Z"], "values": [1, 2],
    }]})  # fmt: skip
    add(root, "rds_x/001-disk-full/aws_rds_events.json", {"events": [
        {"date": "2026-05-01T10:02:00Z", "message": "out of storage", "source_identifier": "db-1",
         "event_categories": ["failure"]},
    ]})  # fmt: skip
    add(root, "eks/000-healthy/scenario.yml", "workload_name: web\nfailure_mode: healthy\n")
    add(root, "eks/000-healthy/alert.json", ALERT)
    add(root, "eks/000-healthy/answer.yml", "root_cause_category: healthy\n")
    add(root, "eks/000-healthy/eks_pods.json", {"pods": [
        {"name": "web-1", "conditions": [{"type": "Ready", "status": "True"}],
         "containers": [{"restart_count": 3}]},
    ]})  # fmt: skip
    add(root, "eks/000-healthy/datadog_logs.json", {"logs": [
        {"timestamp": "2026-05-01T10:00:00Z", "message": "ok", "status": "info", "service": "web"},
        {"timestamp": "2026-05-01T10:01:00Z", "message": "bound", "status": "info",
         "service": "scheduler"},
    ]})  # fmt: skip
    add(root, "eks/007-odd/scenario.yml", "base: 000-healthy\nfailure_mode: odd\n")
    add(root, "eks/007-odd/alert.json", ALERT)
    add(root, "eks/007-odd/answer.yml", "root_cause_category: configuration_error\n")
    add(root, "eks/007-odd/eks_events.json", {"warning_events": [
        {"reason": "BackOff", "message": "restarting", "count": 4, "involved_object": "Pod/web-1",
         "last_time": "2026-05-01T10:09:00Z"},
    ]})  # fmt: skip
    add(root, "eks/007-odd/eks_pod_logs.json", {"pod_name": "web-1", "logs":
        "early\n2026-05-01T10:08:00Z FATAL no config\n  at line 3\n"})  # fmt: skip
    return root


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def folders(source: Path, tmp_path: Path) -> dict[str, Path]:
    return {path.name: path for path in import_opensre(source, tmp_path / "out")}


def test_folders_are_named_by_group_and_number(source: Path, tmp_path: Path) -> None:
    assert set(folders(source, tmp_path)) == {
        "opensre-eks-000",
        "opensre-eks-007",
        "opensre-rds-001",
    }


def test_the_alert_loses_what_gives_the_answer_away(source: Path, tmp_path: Path) -> None:
    folder = folders(source, tmp_path)["opensre-rds-001"]
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "truth.yaml":
            assert "disk_full" not in path.read_text()
            assert "Disk Full" not in path.read_text()
    assert yaml.safe_load((folder / "truth.yaml").read_text())["fault"] == "disk_full"


def test_healthy_is_not_faulty(source: Path, tmp_path: Path) -> None:
    truth = (folders(source, tmp_path)["opensre-eks-000"] / "truth.yaml").read_text()
    assert yaml.safe_load(truth)["faulty"] is False
    assert yaml.safe_load(truth)["service"] is None


def test_what_a_scenario_lacks_comes_from_its_base(source: Path, tmp_path: Path) -> None:
    folder = folders(source, tmp_path)["opensre-eks-007"]
    assert [row["value"] for row in lines(folder / "metrics.jsonl")] == [1.0, 3.0]
    assert yaml.safe_load((folder / "incident.yaml").read_text())["symptom"]["service"] == "web"


def test_states_are_as_of_the_end(source: Path, tmp_path: Path) -> None:
    folder = folders(source, tmp_path)["opensre-eks-007"]
    end = yaml.safe_load((folder / "incident.yaml").read_text())["window"]["end"]
    assert end == "2026-05-01T10:09:00Z"
    assert {row["timestamp"] for row in lines(folder / "metrics.jsonl")} == {
        "2026-05-01T10:09:00+00:00"
    }


def test_lines_say_whose_words_they_are(source: Path, tmp_path: Path) -> None:
    found = folders(source, tmp_path)
    eks = {row["body"]: row for row in lines(found["opensre-eks-007"] / "logs.jsonl")}
    assert eks["BackOff: restarting (x4)"]["emitter"] == "platform"
    assert eks["bound"]["emitter"] == "platform"
    assert eks["ok"]["emitter"] == "workload"
    assert eks["no config"]["severity_text"] == "FATAL"
    assert eks["  at line 3"]["timestamp"] == "2026-05-01T10:08:00+00:00"
    assert "early" not in eks  # no time before it
    (rds,) = lines(found["opensre-rds-001"] / "logs.jsonl")
    assert (rds["severity_text"], rds["emitter"]) == ("ERROR", "platform")


def test_the_window_leaves_a_third_before_it(source: Path, tmp_path: Path) -> None:
    page = (folders(source, tmp_path)["opensre-rds-001"] / "incident.yaml").read_text()
    assert yaml.safe_load(page)["window"] == {
        "start": "2026-05-01T10:01:00Z",
        "end": "2026-05-01T10:03:00Z",
    }


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("eks/000-healthy/scenario.yml", "base: 007-odd\n", "circle"),
        ("eks/000-healthy/scenario.yml", "- a\n", "no YAML mapping"),
        ("eks/000-healthy/answer.yml", "a: [", "no YAML"),
        ("rds_x/001-disk-full/alert.json", "[", "no JSON"),
    ],
)
def test_a_broken_scenario_is_refused(
    source: Path, tmp_path: Path, name: str, text: str, match: str
) -> None:
    (source / name).write_text(text)
    with pytest.raises(InputRefused, match=match):
        import_opensre(source, tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CPUUtilization", "cpu_utilization"),
        ("ReadIOPS", "read_iops"),
        ("FreeStorageSpace", "free_storage_space"),
    ],
)
def test_cloudwatchs_names_become_snake_case(name: str, expected: str) -> None:
    assert snake(name) == expected
