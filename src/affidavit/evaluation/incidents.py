"""Incidents with known answers: which folders there are, and what their `truth.yaml` says.

A folder that cannot be scored is "not evaluated", with its reason; it never counts as a miss. What
a truth file says is read here and nowhere else: no tool, agent or prompt sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from affidavit.adapters.incident_yaml import (
    INCIDENT_BYTES_MAX,
    INCIDENT_FILE,
    TextLoader,
    parse_incident,
)
from affidavit.contract.errors import InputRefused
from affidavit.ports.telemetry import Incident

TRUTH_FILE: Final = "truth.yaml"

TRUTH_BYTES_MAX: Final = 64 * 1024
"""An answer and a note for people."""

TRUTH_KEYS: Final = frozenset(
    "faulty service services fault injected_at ended_at changes notes".split()
)
"""docs/incident-folder.md; another key may be a misspelt one, so the folder is not evaluated."""

SYSTEM_LABEL: Final = "system"
"""The alert label by which a set of several systems falls into rows of its own."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The answer. `services` holds every name that is right; empty where nothing was broken."""

    faulty: bool
    services: frozenset[str] = frozenset()
    fault: str = ""
    changes: tuple[str, ...] = ()

    def holds(self, entity: str) -> bool:
        """Whether this is a right name: the whole name, in either case, and nothing like it."""
        return entity.casefold() in {name.casefold() for name in self.services}


@dataclass(frozen=True, slots=True)
class Case:
    """One incident folder with its answer. `source` is the set that it belongs to; `shift_s` is not
    zero in a copy whose alert comes so many seconds late."""

    source: str
    id: str
    folder: Path
    truth: Truth
    system: str = ""
    symptom: str = ""
    shift_s: int = 0


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A case, or one contender's turn at it, that has no score; and why."""

    source: str
    case: str
    why: str
    contender: str = ""


@dataclass(frozen=True, slots=True)
class Collected:
    """Every case of the places that were named, and what could not be one."""

    cases: tuple[Case, ...]
    left_out: tuple[NotEvaluated, ...] = ()


def collect_cases(places: Iterable[tuple[str, Path]]) -> Collected:
    """The cases below each place, in the order of the places and of the folders' names.

    Raises InputRefused (NO_INCIDENTS) for a place that is no folder or holds no incident.
    """
    cases: list[Case] = []
    left_out: list[NotEvaluated] = []
    for source, place in places:
        for item in _below(source, place):
            if isinstance(item, Case):
                cases.append(item)
            else:
                left_out.append(item)
    return Collected(tuple(cases), tuple(left_out))


def _below(source: str, place: Path) -> Iterator[Case | NotEvaluated]:
    folders = sorted(path.parent for path in place.rglob(INCIDENT_FILE)) if place.is_dir() else []
    if not folders:
        raise InputRefused(
            f"{place} holds no incident folder",
            code="NO_INCIDENTS",
            hint=f"give a folder with {INCIDENT_FILE} and {TRUTH_FILE} in it or below it",
        )
    for folder in folders:
        try:
            yield _case(source, folder)
        except InputRefused as refused:
            yield NotEvaluated(source, folder.name, refused.message)


def _case(source: str, folder: Path) -> Case:
    incident = _incident(folder)
    return Case(
        source=source,
        id=incident.id,
        folder=folder,
        truth=read_truth(folder),
        system=incident.alert.labels.get(SYSTEM_LABEL, "") if incident.alert else "",
        symptom=incident.symptom.service,
    )


def _incident(folder: Path) -> Incident:
    return parse_incident(_read(folder / INCIDENT_FILE, INCIDENT_BYTES_MAX), INCIDENT_FILE)


def read_truth(folder: Path) -> Truth:
    """The answer beside an incident. Raises InputRefused, which says what is missing in it."""
    record = _mapping(_read(folder / TRUTH_FILE, TRUTH_BYTES_MAX))
    unknown = sorted(str(key) for key in record if key not in TRUTH_KEYS)
    if unknown:
        raise InputRefused(f"{TRUTH_FILE}: unknown key {unknown[0][:40]!r}")
    services = frozenset((*_texts(record, "service"), *_texts(record, "services")))
    match record.get("faulty"):
        case "true" if services:
            changes = _texts(record, "changes")
            return Truth(True, services, "".join(_texts(record, "fault")), changes)
        case "true":
            raise InputRefused(f"{TRUTH_FILE} names no service, so that nothing can be located")
        case "false" if not services:
            return Truth(False)
        case "false":
            raise InputRefused(f"{TRUTH_FILE} names a service and says that nothing was broken")
        case _:
            raise InputRefused(f"{TRUTH_FILE} does not say whether anything was broken")


def _texts(record: Mapping[object, object], key: str) -> tuple[str, ...]:
    """A text or a list of texts; empty where the key is absent or null."""
    value = record.get(key)
    found = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(item, str) and item.strip() for item in found):
        raise InputRefused(f"{TRUTH_FILE}: {key} is no text and no list of texts")
    return tuple(found)


def _mapping(content: bytes) -> Mapping[object, object]:
    try:
        record = yaml.load(content.decode(), Loader=TextLoader)  # noqa: S506 - a SafeLoader of ours
    except (UnicodeDecodeError, yaml.YAMLError):
        raise InputRefused(f"{TRUTH_FILE} is no YAML") from None
    if not isinstance(record, dict):
        raise InputRefused(f"{TRUTH_FILE} is no mapping")
    return record


def _read(path: Path, bytes_max: int) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(bytes_max + 1)
    except FileNotFoundError:
        raise InputRefused(f"there is no {path.name}, so that nobody knows the answer") from None
    except OSError as error:
        raise InputRefused(f"{path.name} cannot be read: {error.strerror}") from None
    if len(content) > bytes_max:
        raise InputRefused(f"{path.name} is larger than {bytes_max} bytes")
    return content
