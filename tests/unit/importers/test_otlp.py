"""OTLP JSON as a collector's file exporter writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.otlp import import_otlp

NS = 10**9
AT = 1_700_000_000

RESOURCE = {
    "attributes": [
        {"key": "service.name", "value": {"stringValue": "cart"}},
        {"key": "host.name", "value": {"stringValue": "h1"}},
    ]
}
SPANS = {
    "resourceSpans": [
        {
            "resource": RESOURCE,
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "t",
                            "spanId": "a",
                            "name": "get",
                            "kind": 2,
                            "startTimeUnixNano": str(AT * NS),
                            "endTimeUnixNano": str(AT * NS + 1_500_999),
                            "status": {"code": "STATUS_CODE_ERROR", "message": "boom"},
                        },
                        {"traceId": "t", "spanId": "b", "parentSpanId": "a", "name": "never"},
                    ]
                }
            ],
        }
    ]
}
LOGS = {
    "resourceLogs": [
        {
            "scopeLogs": [
                {
                    "logRecords": [
                        {
                            "timeUnixNano": "0",
                            "observedTimeUnixNano": str((AT + 30) * NS),
                            "severityText": "WARN",
                            "body": {"kvlistValue": {"values": []}},
                        }
                    ]
                }
            ]
        }
    ]
}
METRICS = {
    "resourceMetrics": [
        {
            "resource": RESOURCE,
            "scopeMetrics": [
                {
                    "metrics": [
                        {
                            "name": "m",
                            "unit": "s",
                            "histogram": {
                                "dataPoints": [
                                    {"timeUnixNano": str((AT + 3) * NS), "count": "4", "sum": 2.0},
                                    {"timeUnixNano": str((AT + 4) * NS), "count": "0", "sum": 0.0},
                                ]
                            },
                        },
                        {
                            "name": "g",
                            "gauge": {"dataPoints": [{"timeUnixNano": str(AT * NS), "asInt": "7"}]},
                        },
                    ]
                }
            ],
        }
    ]
}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """All three signals, two requests in one file of lines."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text(json.dumps(SPANS) + "\n" + json.dumps(LOGS) + "\n")
    (tmp_path / "in" / "b.json").write_text(json.dumps(METRICS, indent=1))
    (made,) = import_otlp(tmp_path / "in", tmp_path / "out")
    return made


def test_a_span_keeps_its_kind_status_and_duration(folder: Path) -> None:
    (span,) = lines(folder / "traces.jsonl")  # the one without a time is no span
    assert span["service_name"] == "cart"
    assert span["duration_us"] == 1500
    assert (span["kind"], span["status_code"], span["status_message"]) == (
        "SERVER",
        "ERROR",
        "boom",
    )


def test_a_line_without_its_own_time_has_the_observers(folder: Path) -> None:
    (line,) = lines(folder / "logs.jsonl")
    assert line["timestamp"] == "2023-11-14T22:13:50+00:00"
    assert line["service_name"] == "unknown"
    assert line["body"] == '{"kvlistValue": {"values": []}}'


def test_histograms_give_their_mean(folder: Path) -> None:
    found = [
        (r["metric_name"], r["statistic"], r["value"]) for r in lines(folder / "metrics.jsonl")
    ]
    assert found == [("m", "mean", 0.5), ("g", "gauge", 7.0)]


def test_nobody_knows_the_answer(folder: Path) -> None:
    assert not (folder / "truth.yaml").exists()
    window = yaml.safe_load((folder / "incident.yaml").read_text())["window"]
    assert window == {"start": "2023-11-14T22:13:40Z", "end": "2023-11-14T22:13:50Z"}


@pytest.mark.parametrize(
    ("text", "match"),
    [("{\n", "line 1: no JSON"), ("[1]", "something else"), ("{}", "holds no span")],
)
def test_what_is_no_export_is_refused(tmp_path: Path, text: str, match: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputRefused, match=match):
        import_otlp(tmp_path / "a.json", tmp_path / "out")
