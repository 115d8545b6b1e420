"""RootCauseBench's layout with a scenario of its own making."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.rootcausebench import import_rootcausebench

SHA = "a" * 40
FILES: dict[str, Any] = {
    "environment/data/alert.json": {
        "service": "till",
        "metric": "http_5xx_ratio",
        "threshold": 0.05,
        "observed": 0.5,
        "fired_at": "2026-05-01T10:00:00Z",
        "monitor": "till-errors",
        "summary": "till fails",
    },
    "environment/data/traces.json": [
        {"trace_id": "t", "span_id": "a", "parent_id": None, "service": "till", "name": "pay",
         "start": "2026-05-01T09:59:00Z", "duration_ms": 4.5, "status": "ERROR", "error": "boom",
         "http.status_code": 500},
    ],
    "environment/data/patterns.json": [{"signature": "boom"}],
    "environment/data/context/commits.json": [
        {"sha": SHA, "author": "x", "timestamp": "2026-05-01T09:30:00Z", "message": "tidy",
         "files_changed": ["till/pay.go"], "diff": "+ x" * 900},
    ],
    "environment/data/context/deploys.json": [
        {"timestamp": "2026-05-01T09:50:00Z", "service": "till", "commit_sha": SHA,
         "version": "v2"},
    ],
    "environment/data/context/flags.json": [
        {"timestamp": "2026-05-01T09:40:00Z", "flag": "new_till", "service": "till",
         "change": "off->on", "actor": "y"},
    ],
    "tests/ground_truth.json": {
        "root_cause_commit": SHA,
        "first_failing_service": "till",
        "notes": "the tidy",
    },
}  # fmt: skip
TEXTS = {
    "environment/data/metrics.csv": (
        "timestamp,service,metric,value\n2026-05-01T09:00:00Z,till,http_p99_ms,12.5\n"
    ),
    "environment/data/logs.ndjson": (
        '{"timestamp": "2026-05-01T09:59:00Z", "service": "till", "severity_text": "ERROR",'
        ' "msg": "boom", "trace_id": "t", "http.route": "/pay"}\n\n'
    ),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """One scenario whose folder is named after its fault."""
    root = tmp_path / "set" / "till-null-pointer"
    for name, value in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(json.dumps(value))
    for name, text in TEXTS.items():
        (root / name).write_text(text)
    return tmp_path / "set"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_neither_name_nor_page_gives_the_fault_away(source: Path, tmp_path: Path) -> None:
    (folder,) = import_rootcausebench(source, tmp_path / "out")
    page = (folder / "incident.yaml").read_text()
    assert "null-pointer" not in folder.name + page
    assert SHA not in page
    assert yaml.safe_load(page)["symptom"]["signal"] == "errors"
    truth = yaml.safe_load((folder / "truth.yaml").read_text())
    assert truth["changes"] == [SHA]
    assert truth["service"] == "till"


def test_an_operational_cause_has_no_change(source: Path, tmp_path: Path) -> None:
    path = source / "till-null-pointer" / "tests" / "ground_truth.json"
    path.write_text(json.dumps({"root_cause_commit": "none", "first_failing_service": "till"}))
    (folder,) = import_rootcausebench(source, tmp_path / "out")
    assert "changes" not in yaml.safe_load((folder / "truth.yaml").read_text())


def test_a_commit_and_its_deploy_are_events_that_name_each_other(
    source: Path, tmp_path: Path
) -> None:
    (folder,) = import_rootcausebench(source, tmp_path / "out")
    commit, flag, deploy = lines(folder / "events.jsonl")
    assert [row["event_name"] for row in (commit, flag, deploy)] == ["commit", "flag", "deploy"]
    assert commit["id"] == SHA
    assert json.loads(deploy["attributes"])["commit_sha"] == SHA
    assert deploy["service_name"] == "till"
    assert "service_name" not in commit
    assert len(json.loads(commit["attributes"])["diff"]) == 1200


def test_signals_keep_what_else_their_records_hold(source: Path, tmp_path: Path) -> None:
    (folder,) = import_rootcausebench(source, tmp_path / "out")
    assert lines(folder / "logs.jsonl")[0]["body"] == "boom http.route=/pay"
    (span,) = lines(folder / "traces.jsonl")
    assert span["status_message"] == "boom http.status_code=500"
    assert span["duration_us"] == 4500
    assert (folder / "metrics.csv").read_text().splitlines()[1] == (
        "2026-05-01T09:00:00+00:00,till,http_p99_ms,12.5,ms,p99"
    )
    assert (folder / "recordings" / "patterns.json").is_file()
    assert not (folder / "recordings" / "status_feed.json").exists()


@pytest.mark.parametrize(
    ("name", "text", "match"),
    [
        ("environment/data/alert.json", '{"fired_at": "2026-05-01T10:00:00"}', "has no zone"),
        ("environment/data/alert.json", "[]", "is no JSON object"),
        ("environment/data/logs.ndjson", "{}\n", "line 1: no log record"),
        ("environment/data/traces.json", "[{}]", "no span"),
        ("environment/data/traces.json", "{}", "is no JSON list"),
        ("tests/ground_truth.json", "x", "is no JSON"),
    ],
)
def test_a_broken_file_is_named(
    source: Path, tmp_path: Path, name: str, text: str, match: str
) -> None:
    (source / "till-null-pointer" / name).write_text(text)
    with pytest.raises(InputRefused, match=match):
        import_rootcausebench(source, tmp_path / "out")
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
