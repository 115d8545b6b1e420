"""An incident folder while it is being written: whole, or not there at all.

The layout is described in docs/incident-folder.md. A folder is filled beside its final place and
moved there by one rename, so that a failed import leaves nothing half-written.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import yaml

from affidavit.contract.errors import InputRefused

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
SymptomSignal: TypeAlias = Literal[
    "latency", "errors", "availability", "cpu", "memory", "throughput", "unknown"
]

SOURCE_FILE_BYTES_MAX: Final = 64 * 1024 * 1024
"""The largest text file of a foreign set that is read whole; the largest one known has 1.2 MB."""


@dataclass(frozen=True, slots=True)
class Window:
    """A closed stretch of time; both ends carry a zone."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Symptom:
    """What was noticed: where, and of which kind."""

    service: str
    signal: SymptomSignal = "unknown"
    metric: str | None = None


@dataclass(frozen=True, slots=True)
class Alert:
    """The page that started the investigation, as it was received."""

    name: str
    at: datetime
    labels: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class Incident:
    """What `incident.yaml` says. Nothing in it may name the fault or the faulty service."""

    id: str
    title: str
    question: str
    window: Window
    symptom: Symptom
    alert: Alert | None = None
    baseline: Window | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class Truth:
    """The answer, for the scorer alone. `faulty` is None where the set does not say it in kind: a
    question to be judged by its text is not evaluated rather than counted wrong."""

    faulty: bool | None
    service: str | None = None
    fault: str | None = None
    injected_at: datetime | None = None
    changes: tuple[str, ...] = ()
    notes: str = ""


@contextmanager
def new_folder(dst: Path, incident: Incident, truth: Truth | None) -> Iterator[Path]:
    """Yields a path to fill with signals; on success it becomes `dst/<incident id>`.

    Without a truth there is no truth.yaml: nobody knows the answer.

    Errors: InputRefused when that folder is there already; whatever the body raises, after the
    half-filled folder is gone.
    """
    final = dst / incident.id
    if final.exists():
        raise InputRefused(
            f"{final} is there already", hint="choose an empty destination or remove the folder"
        )
    dst.mkdir(parents=True, exist_ok=True)
    part = dst / f".{incident.id}.part"
    shutil.rmtree(part, ignore_errors=True)  # what a killed import left behind
    part.mkdir()
    try:
        yield part
        write_yaml(part / "incident.yaml", incident_record(incident))
        if truth is not None:
            write_yaml(part / "truth.yaml", truth_record(truth))
        part.rename(final)
    finally:
        shutil.rmtree(part, ignore_errors=True)  # gone already when the rename happened


def incident_record(incident: Incident) -> dict[str, Json]:
    """The keys of `incident.yaml`; an absent value is left out."""
    symptom = {
        "service": incident.symptom.service,
        "signal": incident.symptom.signal,
        "metric": incident.symptom.metric,
    }
    record: dict[str, Json] = {
        "id": incident.id,
        "title": incident.title,
        "question": incident.question,
        "window": window_record(incident.window),
        "symptom": {key: value for key, value in symptom.items() if value is not None},
    }
    if incident.alert is not None:
        record["alert"] = {
            "name": incident.alert.name,
            "at": stamp_text(incident.alert.at),
            "labels": dict(incident.alert.labels),
            "text": incident.alert.text,
        }
    if incident.baseline is not None:
        record["baseline"] = window_record(incident.baseline)
    if incident.description:
        record["description"] = incident.description
    return record


def truth_record(truth: Truth) -> dict[str, Json]:
    """The keys of `truth.yaml`; an absent value is left out, except for `service`."""
    record: dict[str, Json] = {} if truth.faulty is None else {"faulty": truth.faulty}
    record["service"] = truth.service
    if truth.fault is not None:
        record["fault"] = truth.fault
    if truth.injected_at is not None:
        record["injected_at"] = stamp_text(truth.injected_at)
    if truth.changes:
        record["changes"] = list(truth.changes)
    if truth.notes:
        record["notes"] = truth.notes
    return record


def window_record(window: Window) -> dict[str, Json]:
    """A window as two RFC 3339 texts."""
    return {"start": stamp_text(window.start), "end": stamp_text(window.end)}


def stamp_text(at: datetime) -> str:
    """RFC 3339 in UTC. A time without zone is a fault of the importer, not of its input."""
    if at.tzinfo is None:
        raise ValueError(f"{at} has no zone")
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def parse_stamp(text: str, source: Path) -> datetime:
    """RFC 3339 with a zone; anything else is refused, never read as UTC."""
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputRefused(f"{source}: {text!r} is no RFC 3339 time") from error
    raise InputRefused(f"{source}: {text!r} has no zone", hint="add Z or an offset")


def write_yaml(path: Path, record: Mapping[str, Json]) -> None:
    """Writes one YAML document, keys in the given order."""
    text = yaml.safe_dump(dict(record), sort_keys=False, allow_unicode=True, width=100)
    path.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Json) -> None:
    """Writes one indented JSON document."""
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Json]]) -> int:
    """Writes JSON lines, absent values left out; no row, no file. Returns the number of rows."""
    lines = [
        json.dumps({k: v for k, v in row.items() if v is not None}, ensure_ascii=False)
        for row in rows
    ]
    if lines:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    """Writes a CSV table; no row, no file. Returns the number of rows."""
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow(row)
            count += 1
    if not count:
        path.unlink()
    return count


def read_text(path: Path) -> str:
    """A foreign text file, whole. Errors: InputRefused when missing, too large, or not UTF-8."""
    try:
        if path.stat().st_size > SOURCE_FILE_BYTES_MAX:
            raise InputRefused(f"{path} is larger than {SOURCE_FILE_BYTES_MAX} bytes")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputRefused(f"{path} is missing") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputRefused(f"{path} cannot be read: {error}") from error


def copy_recording(source: Path, folder: Path) -> None:
    """Keeps a tool's output as it is, below `recordings/`; what is not there is left out."""
    if source.is_file():
        target = folder / "recordings" / source.name
        target.parent.mkdir(exist_ok=True)
        target.write_text(read_text(source), encoding="utf-8")


def read_object(path: Path) -> Mapping[str, Any]:
    """A JSON object. Errors: InputRefused."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputRefused(f"{path} is no JSON object")
    return value


def read_list(path: Path) -> list[Mapping[str, Any]]:
    """A JSON list of objects. Errors: InputRefused."""
    value = read_json(path)
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise InputRefused(f"{path} is no JSON list of objects")
    return value


def read_json(path: Path) -> Any:
    """One JSON document. Errors: InputRefused."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputRefused(f"{path} is no JSON: {error}") from error
