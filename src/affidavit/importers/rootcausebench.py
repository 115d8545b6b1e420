"""RootCauseBench (edgedelta): synthetic incidents with commits, deploys, flags and decoys.

Layout: a folder a scenario with `environment/data/` (alert.json, logs.ndjson, metrics.csv,
traces.json, patterns.json, status_feed.json, context/{commits,deploys,flags}.json), and
`tests/ground_truth.json`, the answer. A scenario's folder is named after its fault, so that an
incident is named by a digest of that name.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from affidavit.contract.errors import InputRefused
from affidavit.importers.folder import (
    Alert,
    Incident,
    Json,
    Symptom,
    SymptomSignal,
    Truth,
    Window,
    copy_recording,
    new_folder,
    parse_stamp,
    read_list,
    read_object,
    read_text,
    write_csv,
    write_jsonl,
)

BEFORE_PAGE: Final = timedelta(minutes=15)
AFTER_PAGE: Final = timedelta(minutes=15)
"""The window around the page; the set's metrics begin an hour or more before it."""

DIFF_CHARS_MAX: Final = 1200
"""Of a commit's diff; the set's longest has 1108, and an event's attributes are cut at 2000."""

NO_COMMIT: Final = "none"
"""How the set says that no commit is to blame."""

UNITS: Final = (
    ("_ms", "ms"),
    ("_pct", "%"),
    ("_ratio", "1"),
    ("_rps", "{request}/s"),
    ("_per_sec", "1/s"),
    ("_per_second", "1/s"),
    ("_seconds", "s"),
    ("_mb", "MBy"),
    ("_gib", "GiBy"),
)
"""The unit that a metric's name ends with."""

SYMPTOMS: Final[tuple[tuple[str, SymptomSignal], ...]] = (
    ("duration|latency", "latency"),
    ("error|5xx|4xx|401|fail|restart|panic|oom", "errors"),
    ("cpu", "cpu"),
    ("mem", "memory"),
)

CONTEXT_LOGS: Final = ("timestamp", "service", "severity_text", "msg", "trace_id", "span_id")
CONTEXT_SPANS: Final = frozenset(
    "trace_id span_id parent_id service name start duration_ms status error".split()
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario's folder and what its files say."""

    path: Path
    alert: Mapping[str, Any]
    truth: Mapping[str, Any]

    @property
    def data(self) -> Path:
        """What an agent may see."""
        return self.path / "environment" / "data"

    @property
    def id(self) -> str:
        """A name without the fault's."""
        return "rcb-" + hashlib.sha256(self.path.name.encode()).hexdigest()[:8]

    @property
    def paged_at(self) -> datetime:
        """When the monitor fired."""
        return parse_stamp(str(self.alert.get("fired_at")), self.data / "alert.json")


def import_rootcausebench(src: Path, dst: Path) -> list[Path]:
    """Writes one folder a scenario of `src` under `dst`."""
    scenarios = sorted(path.parents[2] for path in src.glob("*/environment/data/alert.json"))
    if not scenarios:
        raise InputRefused(f"{src} holds no scenario", hint="expected NAME/environment/data")
    return [import_scenario(path, dst) for path in scenarios]


def import_scenario(path: Path, dst: Path) -> Path:
    """Writes one scenario."""
    data = path / "environment" / "data"
    scenario = Scenario(
        path,
        read_object(data / "alert.json"),
        read_object(path / "tests" / "ground_truth.json"),
    )
    with new_folder(dst, make_incident(scenario), make_truth(scenario)) as folder:
        write_csv(
            folder / "metrics.csv",
            ("timestamp", "service_name", "metric_name", "value", "unit", "statistic"),
            metric_rows(data / "metrics.csv"),
        )
        write_jsonl(folder / "logs.jsonl", log_rows(data / "logs.ndjson"))
        write_jsonl(folder / "traces.jsonl", span_rows(data / "traces.json"))
        write_jsonl(folder / "events.jsonl", event_rows(data / "context"))
        for name in ("patterns.json", "status_feed.json"):
            copy_recording(data / name, folder)
    return dst / scenario.id


def make_incident(scenario: Scenario) -> Incident:
    """The page."""
    alert, at = scenario.alert, scenario.paged_at
    service, metric = str(alert.get("service", "unknown")), str(alert.get("metric", ""))
    text = " ".join(str(alert[key]) for key in ("summary", "detail") if alert.get(key))
    return Incident(
        id=scenario.id,
        title=f"{alert.get('monitor', 'alert')} on {service}",
        question=(
            f"{service} paged at {at:%Y-%m-%d %H:%M} UTC for {metric}. Which service failed first, "
            "and did a change in the window cause it?"
        ),
        window=Window(at - BEFORE_PAGE, at + AFTER_PAGE),
        symptom=Symptom(service, symptom_of(metric), metric or None),
        alert=Alert(
            str(alert.get("monitor", "alert")),
            at,
            {
                k: str(alert[k])
                for k in ("service", "metric", "threshold", "observed", "severity")
                if k in alert
            },
            text,
        ),
        description="RootCauseBench, Apache-2.0. A synthetic incident.",
    )


def make_truth(scenario: Scenario) -> Truth:
    """The answer; an operational cause has no change."""
    commit = str(scenario.truth.get("root_cause_commit", NO_COMMIT))
    return Truth(
        faulty=True,
        service=str(scenario.truth.get("first_failing_service", "")) or None,
        fault=scenario.path.name,
        changes=() if commit == NO_COMMIT else (commit,),
        notes=str(scenario.truth.get("notes", "")),
    )


def symptom_of(metric: str) -> SymptomSignal:
    """What kind of thing a metric measures, by its name."""
    for pattern, signal in SYMPTOMS:
        if re.search(pattern, metric):
            return signal
    return "unknown"


def metric_rows(path: Path) -> Iterator[tuple[str, ...]]:
    """The metrics as long rows; they are that already. Errors: InputRefused."""
    for row in csv.DictReader(read_text(path).splitlines()):
        name = row.get("metric") or ""
        unit = next((unit for suffix, unit in UNITS if name.endswith(suffix)), "")
        found = re.search(r"_(p\d{2})(_|$)", name)
        at = parse_stamp(row.get("timestamp") or "", path)
        yield (at.isoformat(), row.get("service") or "unknown", name, row.get("value") or "",
               unit, found[1] if found else "")  # fmt: skip


def log_rows(path: Path) -> Iterator[dict[str, Json]]:
    """The lines; what else a record holds stands behind its message as key=value."""
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            extras = [f"{k}={v}" for k, v in record.items() if k not in CONTEXT_LOGS]
            yield {
                "timestamp": parse_stamp(record["timestamp"], path).isoformat(),
                "service_name": str(record["service"]),
                "severity_text": record.get("severity_text"),
                "body": " ".join([str(record["msg"]), *extras]),
                "trace_id": record.get("trace_id"),
                "span_id": record.get("span_id"),
            }
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise InputRefused(f"{path}, line {number}: no log record: {error!r}") from error


def span_rows(path: Path) -> Iterator[dict[str, Json]]:
    """The spans."""
    for span in read_list(path):
        try:
            extras = [f"{k}={v}" for k, v in span.items() if k not in CONTEXT_SPANS]
            message = " ".join([str(span.get("error") or ""), *extras]).strip()
            yield {
                "trace_id": str(span["trace_id"]),
                "span_id": str(span["span_id"]),
                "parent_span_id": span.get("parent_id"),
                "service_name": str(span["service"]),
                "name": str(span["name"]),
                "timestamp": parse_stamp(str(span["start"]), path).isoformat(),
                "duration_us": round(float(span["duration_ms"]) * 1000),
                "status_code": str(span.get("status") or "UNSET"),
                "status_message": message or None,
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputRefused(f"{path}: no span: {error!r}") from error


def event_rows(context: Path) -> list[dict[str, Json]]:
    """Commits, deploys and flags in the order of time. A lead is named by its commit."""
    events: list[dict[str, Json]] = []
    for commit in read_list(context / "commits.json"):
        files = [str(name) for name in commit.get("files_changed") or ()]
        events.append(event(commit, "commit", str(commit["sha"]), str(commit["message"]), {
            "commit_sha": str(commit["sha"]),
            "author": str(commit.get("author", "")),
            "files_changed": files,
            "diff": str(commit.get("diff") or "")[:DIFF_CHARS_MAX],
        }))  # fmt: skip
    for deploy in read_list(context / "deploys.json"):
        sha = str(deploy["commit_sha"])
        words = f"deploy of {deploy['service']} {deploy.get('version', '')} ({sha[:12]})"
        events.append(event(deploy, "deploy", f"deploy-{deploy['service']}-{sha[:12]}", words, {
            "commit_sha": sha,
            "version": str(deploy.get("version", "")),
        }))  # fmt: skip
    for flag in read_list(context / "flags.json"):
        words = f"flag {flag['flag']} {flag.get('change', '')} by {flag.get('actor', '')}"
        events.append(event(flag, "flag", f"flag-{flag['flag']}", words, {}))
    return sorted(events, key=lambda e: (str(e["timestamp"]), str(e["id"])))


def event(
    record: Mapping[str, Any], name: str, id_: str, body: str, attributes: Mapping[str, Json]
) -> dict[str, Json]:
    """One row of the events table."""
    at = parse_stamp(str(record["timestamp"]), Path(f"{name}s.json"))
    return {
        "timestamp": at.isoformat(),
        "event_name": name,
        "body": body,
        "service_name": record.get("service"),
        "id": id_,
        "attributes": json.dumps(attributes, ensure_ascii=False),
    }
