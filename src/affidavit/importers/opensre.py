"""OpenSRE's synthetic incidents: databases on RDS and workloads on EKS, healthy ones among them.

Layout: a folder a scenario below `rds_postgres/` and `eks/` with `scenario.yml`, `alert.json`,
`answer.yml`, and tool answers as JSON. What a scenario lacks it inherits from the one that
`base` names. Its folder is named after the fault, and the alert's annotations hold a key
`…failure_mode`: both stay behind.

An alert of this set carries no time: it counts as fired at the end of what was recorded. The first
third of a series is what came before, since there is nothing earlier.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.folder import (
    Alert,
    Incident,
    Json,
    Symptom,
    Truth,
    Window,
    copy_recording,
    new_folder,
    parse_stamp,
    read_object,
    read_text,
    write_jsonl,
)

HEALTHY: Final = "healthy"
"""The answer's category for "nothing is wrong", recovered ones included."""

EKS_WINDOW: Final = timedelta(minutes=30)

GIVES_AWAY: Final = "failure_mode"
"""A key of the alert that names the answer."""

UNITS: Final = {
    "Percent": "%", "Count": "1", "Bytes": "By", "Seconds": "s", "Milliseconds": "ms",
    "Bytes/Second": "By/s", "Count/Second": "1/s",
}  # fmt: skip
STATISTICS: Final = {"Average": "mean", "Maximum": "max", "Minimum": "min", "Sum": "sum"}

PLATFORM: Final = frozenset(
    {
        "scheduler",
        "cluster-autoscaler",
        "kubelet",
        "deployment-controller",
        "kube-controller-manager",
    }
)
"""Log services that are the cluster itself."""

LINE: Final = re.compile(r"^(\S+T\S+Z)\s+(?:(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s+)?(.*)$")
"""A container's log line: time, level, words."""

Row = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario: its folder, and the folders where a file of it is looked for, nearest first."""

    folders: tuple[Path, ...]
    settings: Mapping[str, Any]
    alert: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Group and number, without the words."""
        path = self.folders[0]
        return f"opensre-{path.parent.name.split('_')[0]}-{path.name.split('-')[0]}"

    @property
    def service(self) -> str:
        """The database instance or the workload."""
        for key in ("db_instance_identifier", "workload_name"):
            if name := self.settings.get(key):
                return str(name)
        return str(self.alert.get("commonLabels", {}).get("service", "unknown"))

    def find(self, name: str) -> Path | None:
        """A file of the scenario or of its bases."""
        return next((f / name for f in self.folders if (f / name).is_file()), None)


def import_opensre(src: Path, dst: Path) -> list[Path]:
    """Writes one folder a scenario of `src` under `dst`."""
    found = sorted(path.parent for path in src.glob("*/*/scenario.yml"))
    if not found:
        raise InputRefused(f"{src} holds no scenario", hint="expected GROUP/NAME/scenario.yml")
    return [import_scenario(path, dst) for path in found]


def import_scenario(path: Path, dst: Path) -> Path:
    """Writes one scenario."""
    scenario = read_scenario(path)
    metrics = [*cloudwatch_rows(scenario), *load_rows(scenario), *object_rows(scenario)]
    logs = [*rds_lines(scenario), *event_lines(scenario), *datadog_lines(scenario),
            *pod_lines(scenario)]  # fmt: skip
    window = window_of(scenario, metrics, logs)
    for row in metrics:
        row.setdefault("timestamp", window.end.isoformat())  # a state, as of now
    with new_folder(dst, make_incident(scenario, window), make_truth(scenario)) as folder:
        write_jsonl(folder / "metrics.jsonl", metrics)
        write_jsonl(folder / "logs.jsonl", logs)
        for name in sorted({p.name for f in scenario.folders for p in f.glob("*.json")}):
            if name != "alert.json" and (source := scenario.find(name)):
                copy_recording(source, folder)
    return dst / scenario.id


def read_scenario(path: Path) -> Scenario:
    """A scenario with what it inherits. Errors: InputRefused."""
    folders = [path]
    settings: dict[str, Any] = read_settings(path / "scenario.yml")
    while base := settings.pop("base", None):
        below = path.parent / str(base)
        if below in folders:
            raise InputRefused(f"{path}: its bases go round in a circle")
        folders.append(below)
        settings = read_settings(below / "scenario.yml") | settings
    return Scenario(
        tuple(folders),
        settings,
        read_object(path / "alert.json"),
        read_settings(path / "answer.yml"),
    )


def read_settings(path: Path) -> dict[str, Any]:
    """A YAML mapping. Errors: InputRefused."""
    try:
        value = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        raise InputRefused(f"{path} is no YAML: {error}") from error
    if not isinstance(value, dict):
        raise InputRefused(f"{path} is no YAML mapping")
    return value


def window_of(scenario: Scenario, metrics: Iterable[Row], logs: Iterable[Row]) -> Window:
    """The later two thirds of the series; without series the last half hour of the lines."""
    at = sorted(str(row["timestamp"]) for row in metrics if "timestamp" in row)
    lines = sorted(str(row["timestamp"]) for row in logs)
    source = scenario.folders[0]
    if at:
        first, last = parse_stamp(at[0], source), parse_stamp(at[-1], source)
        return Window(first + (last - first) / 3, last)
    if not lines:
        raise InputRefused(f"{source} holds neither series nor lines")
    last = parse_stamp(lines[-1], source)
    return Window(last - EKS_WINDOW, last)


def make_incident(scenario: Scenario, window: Window) -> Incident:
    """The page, without what gives the answer away."""
    labels, notes = (scenario.alert.get(key) or {} for key in ("commonLabels", "commonAnnotations"))
    name = str(labels.get("alertname", "alert"))
    text = " ".join(
        str(notes[key]) for key in ("summary", "description", "error", "suspected_symptom")
        if notes.get(key)
    )  # fmt: skip
    return Incident(
        id=scenario.id,
        title=f"{name} on {scenario.service}",
        question=(
            f"{name} was raised for {scenario.service}. Is something wrong now, and if so, what is "
            "at fault?"
        ),
        window=window,
        symptom=Symptom(scenario.service),
        alert=Alert(
            name, window.end,
            {str(k): str(v) for k, v in labels.items() if GIVES_AWAY not in str(k)}, text,
        ),
        description="OpenSRE, Apache-2.0. A hand-written incident.",
    )  # fmt: skip


def make_truth(scenario: Scenario) -> Truth:
    """The answer."""
    category = str(scenario.answer.get("root_cause_category", ""))
    faulty = category != HEALTHY
    return Truth(
        faulty=faulty,
        service=scenario.service if faulty else None,
        fault=str(scenario.settings.get("failure_mode", category)) if faulty else None,
        notes=str(scenario.answer.get("model_response", "")),
    )


def metric(at: datetime | None, service: str, name: str, value: float, **more: Json) -> Row:
    """One row of the metrics table."""
    row: Row = {"service_name": service, "metric_name": name, "value": value, **more}
    return row if at is None else {"timestamp": at.isoformat(), **row}


def line(at: datetime, service: str, level: str, body: str, **more: Json) -> Row:
    """One row of the logs table."""
    return {"timestamp": at.isoformat(), "service_name": service, "severity_text": level,
            "body": body, **more}  # fmt: skip


def cloudwatch_rows(scenario: Scenario) -> Iterator[Row]:
    """CloudWatch's series: all in one file, or a file each."""
    whole = scenario.folders[0] / "aws_cloudwatch_metrics.json"
    if whole.is_file():
        series = read_object(whole).get("metric_data_results") or ()
    else:
        paths = sorted(scenario.folders[0].glob("aws_cloudwatch_metrics_*.json"))
        series = [s for s in map(read_object, paths) if "metric_name" in s]
    for one in series:
        names = [str(d.get("Value")) for d in one.get("dimensions") or ()]
        unit = str(one.get("unit", ""))
        for stamp, value in zip(one["timestamps"], one["values"], strict=True):
            yield metric(
                parse_stamp(stamp, whole), names[0] if names else scenario.service,
                "aws.rds." + snake(str(one["metric_name"])), float(value),
                unit=UNITS.get(unit, unit),
                statistic=STATISTICS.get(str(one.get("stat")), ""),
            )  # fmt: skip


def load_rows(scenario: Scenario) -> Iterator[Row]:
    """The load curve of Performance Insights; its tables stay a recording."""
    path = scenario.folders[0] / "aws_performance_insights.json"
    if path.is_file():
        record = read_object(path)
        load = record.get("db_load") or {}
        service = str(record.get("db_instance_identifier", scenario.service))
        for stamp, value in zip(
            load.get("timestamps") or (), load.get("values") or (), strict=True
        ):
            yield metric(parse_stamp(stamp, path), service, "aws.rds.db_load", float(value),
                         unit="{session}", statistic="mean")  # fmt: skip


def object_rows(scenario: Scenario) -> Iterator[Row]:
    """States of pods, deployments and nodes as metrics without a time: they are as of now."""
    for pod in listed(scenario, "eks_pods.json", "pods"):
        ready = [c for c in pod.get("conditions") or () if c.get("type") == "Ready"]
        service, name = scenario.service, str(pod["name"])
        is_ready = bool(ready) and ready[0].get("status") == "True"
        yield metric(None, service, "k8s.pod.ready", float(is_ready), unit="1", instance=name)
        for container in pod.get("containers") or ():
            yield metric(None, service, "k8s.container.restarts",
                         float(container.get("restart_count", 0)), unit="{restart}",
                         instance=name)  # fmt: skip
    for deployment in listed(scenario, "eks_deployments.json", "deployments"):
        for key in ("desired", "ready", "available", "unavailable"):
            if key in deployment:
                yield metric(None, str(deployment["name"]), f"k8s.deployment.{key}_pods",
                             float(deployment[key]), unit="{pod}")  # fmt: skip
    for node in listed(scenario, "eks_node_health.json", "nodes"):
        yield metric(None, str(node["name"]), "k8s.node.ready",
                     float(node.get("ready") == "True"), unit="1")  # fmt: skip


def rds_lines(scenario: Scenario) -> Iterator[Row]:
    """What RDS said about the instance: the platform's own words."""
    path = scenario.folders[0] / "aws_rds_events.json"
    for event in (read_object(path).get("events") or ()) if path.is_file() else ():
        level = "ERROR" if "failure" in (event.get("event_categories") or ()) else "INFO"
        yield line(parse_stamp(event["date"], path), str(event["source_identifier"]), level,
                   str(event["message"]), emitter="platform")  # fmt: skip


def event_lines(scenario: Scenario) -> Iterator[Row]:
    """Kubernetes' warning events."""
    for event in listed(scenario, "eks_events.json", "warning_events"):
        words = f"{event['reason']}: {event['message']} (x{event.get('count', 1)})"
        yield line(
            parse_stamp(event["last_time"], Path("eks_events.json")), scenario.service, "WARN",
            words, emitter="platform", instance=str(event.get("involved_object", "")),
        )  # fmt: skip


def datadog_lines(scenario: Scenario) -> Iterator[Row]:
    """Log lines, of the workload or of the cluster."""
    for entry in listed(scenario, "datadog_logs.json", "logs"):
        service = str(entry["service"])
        level = str(entry.get("status", "info")).upper()
        yield line(
            parse_stamp(entry["timestamp"], Path("datadog_logs.json")), service, level,
            str(entry["message"]), instance=str(entry.get("host", "")),
            emitter="platform" if service in PLATFORM else "workload",
        )  # fmt: skip


def pod_lines(scenario: Scenario) -> Iterator[Row]:
    """A container's own output; lines without a time belong to the one before."""
    path = scenario.find("eks_pod_logs.json")
    record = read_object(path) if path else {}
    last: datetime | None = None
    for text in str(record.get("logs", "")).splitlines():
        if found := LINE.match(text):
            last = parse_stamp(found[1], Path("eks_pod_logs.json"))
        level, body = (found[2] or "INFO", found[3]) if found else ("INFO", text)
        if last is not None and body:
            yield line(last, scenario.service, level, body, instance=str(record["pod_name"]))


def listed(scenario: Scenario, name: str, key: str) -> list[Mapping[str, Any]]:
    """The records of an answer, of the scenario or of its base; empty where there is none."""
    path = scenario.find(name)
    return list(read_object(path).get(key) or ()) if path else []


def snake(name: str) -> str:
    """CPUUtilization → cpu_utilization, ReadIOPS → read_iops, as OpenTelemetry writes names."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
