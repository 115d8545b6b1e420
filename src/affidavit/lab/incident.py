"""Turn an observation into an incident folder: what somebody at the edge knows, and the truth."""

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from affidavit.lab.alarm import Alert
from affidavit.lab.folder import COLUMNS, write_json, write_signal, write_yaml
from affidavit.lab.observation import Observation
from affidavit.lab.rig import RigError


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded: rows by signal, the alert that fired (None: none did), bytes on disk."""

    folder: Path
    rows: dict[str, int]
    alert: Alert | None
    size_bytes: int


def write_incident(observation: Observation, out: Path) -> Recording:
    """Write the new folder `out`, whose name becomes the incident's id.

    Raises `RigError` when `out` exists; then, and on any other failure, `out` is left as it was.
    """
    if out.exists():
        raise RigError(f"{out} exists already: choose another folder, or remove it")
    sources, edge = observation.rig.folder, observation.rig.plant.edge
    staged = sources / "incident"
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir()
    since_us = observation.times_us["baseline"]
    rows = {signal: write_signal(signal, sources, since_us, staged) for signal in COLUMNS}
    write_json(staged / "topology.json", observation.rig.plant.topology())
    write_yaml(staged / "incident.yaml", describe_incident(out.name, observation, edge))
    write_yaml(staged / "truth.yaml", describe_truth(observation))
    out.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(staged, out)
    size_bytes = sum(path.stat().st_size for path in out.iterdir())
    return Recording(out, rows, observation.alarm.fired, size_bytes)


def describe_incident(name: str, observation: Observation, edge: str) -> dict[str, Any]:
    """The content of `incident.yaml`: worded from the alert alone, so without the answer."""
    times, alert = observation.times_us, observation.alarm.fired
    content: dict[str, Any] = {"id": name}
    symptom = {"service": edge, "signal": "unknown"}
    if alert is None:
        content["title"] = f"Is {edge} well?"
        content["question"] = f"Is anything wrong with {edge} in this window, and if so, what?"
    else:
        state = "slow" if alert.signal == "latency" else "answering with server errors"
        content["title"] = f"{edge} is {state}"
        content["question"] = f"Why is {edge} {state} since {clock_text(alert.since_us)} UTC?"
        symptom = {"service": edge, "signal": alert.signal, "metric": alert.metric}
    content["window"] = {"start": time_text(times["window"]), "end": time_text(times["end"])}
    content["baseline"] = {
        "start": time_text(times["baseline"]),
        "end": time_text(times["window"]),
    }
    content["symptom"] = symptom
    if alert:
        content["alert"] = {
            "name": alert.name,
            "at": time_text(alert.at_us),
            "labels": {"service": edge, "severity": "page"},
            "text": alert.text,
        }
    return content


def describe_truth(observation: Observation) -> dict[str, Any]:
    """The content of `truth.yaml`."""
    times, fault = observation.times_us, observation.fault
    content: dict[str, Any] = {"faulty": bool(fault and fault.component)}
    if fault and fault.component:
        content |= {
            "service": fault.component,
            "fault": fault.name,
            "injected_at": time_text(times["injected"]),
        }
    if "ended" in times:
        content["ended_at"] = time_text(times["ended"])
    notes = fault.notes if fault else "Nothing was injected."
    return content | {"changes": list(observation.changes), "notes": notes}


def time_text(at_us: int) -> str:
    """Epoch microseconds as RFC 3339 in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(at_us / 1e6, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock_text(at_us: int) -> str:
    """The time of day in UTC."""
    return datetime.fromtimestamp(at_us / 1e6, UTC).strftime("%H:%M:%S")
