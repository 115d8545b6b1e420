"""Reads `incident.yaml`, which may come from anybody.

Every scalar is text: no number, date or Norwegian `no` is guessed. Anchors, aliases, tags and
repeated keys are refused, and so is depth, before anything is built.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

import yaml
from pydantic import ValidationError

from affidavit.contract.errors import InputRefused
from affidavit.contract.evidence import Window
from affidavit.ports.telemetry import Alert, Incident, Symptom

INCIDENT_FILE: Final = "incident.yaml"

INCIDENT_BYTES_MAX: Final = 64 * 1024
"""A title, a question and two windows; a long description fits a hundred times."""

DEPTH_MAX: Final = 6
"""alert.labels.key is three; the rest is slack."""

NODES_MAX: Final = 1000
"""Scalars, lists and mappings of the whole document; labels are the only long part."""

SHAPE: Final[Mapping[str, tuple[str, ...]]] = {
    "": (
        *("id", "title", "question", "window", "symptom"),
        *("alert", "tenant", "baseline", "description"),
    ),
    "window": ("start", "end"),
    "baseline": ("start", "end"),
    "symptom": ("service", "signal", "metric"),
    "alert": ("name", "at", "labels", "text"),
}
"""The keys of each part; an unknown one is refused, for it may be a misspelt one."""

STAMP: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)

Part: TypeAlias = "Mapping[str, object]"


class TextLoader(yaml.SafeLoader):
    """YAML whose scalars are text or null, and whose keys are told apart."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping. Raises ConstructorError for a key that is no text or stands there twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                problem = "a key is no text"
            elif key.value in seen:
                problem = f"the key {key.value[:40]!r} stands there twice"
            else:
                seen.add(key.value)
                continue
            raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
        return super().construct_mapping(node, deep)


TextLoader.yaml_implicit_resolvers = {
    sign: kept
    for sign, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    if (kept := [(tag, rule) for tag, rule in found if tag == "tag:yaml.org,2002:null"])
}


def parse_incident(content: bytes, where: str = INCIDENT_FILE) -> Incident:
    """The incident. Raises InputRefused, naming the place and the way out."""
    document = _load(content, where)
    top = _part(document, "", where)
    try:
        incident = Incident(
            id=_text(top, "id", where),
            title=_text(top, "title", where),
            question=_text(top, "question", where),
            window=_window(top, "window", where),
            symptom=_symptom(_part(top.get("symptom"), "symptom", where)),
            alert=_alert(top, where),
            tenant=_optional(top, "tenant", "default"),
            baseline=_window(top, "baseline", where) if top.get("baseline") is not None else None,
            description=_optional(top, "description", ""),
        )
    except ValidationError as error:
        raise _refused(error, where) from None
    _check_baseline(incident, where)
    return incident


def _load(content: bytes, where: str) -> object:
    if len(content) > INCIDENT_BYTES_MAX:
        raise InputRefused(
            f"{where} is larger than {INCIDENT_BYTES_MAX} bytes",
            hint="keep it to the question; telemetry belongs in its own files",
        )
    try:
        text = content.decode("utf-8")
        _inspect(text, where)
        return yaml.load(text, Loader=TextLoader)  # noqa: S506 -- a SafeLoader with less
    except UnicodeDecodeError as error:
        raise InputRefused(
            f"{where} is not UTF-8 (byte {error.start})", hint="save it as UTF-8"
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "unreadable characters"
        raise InputRefused(
            f"{where}{line}: broken YAML: {problem}", hint="mend that line"
        ) from None


def _inspect(text: str, where: str) -> None:
    """Refuse what could grow or deceive, over the flat list of events."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=TextLoader)):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise InputRefused(
                f"{where}, line {line}: YAML anchors and aliases are not allowed",
                hint="write the value out where it is needed",
            )
        if getattr(event, "tag", None) is not None:
            raise InputRefused(f"{where}, line {line}: YAML tags are not allowed", hint="remove it")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_MAX or count > NODES_MAX:
            raise InputRefused(
                f"{where}, line {line}: nested deeper or longer than any incident",
                hint="docs/incident-folder.md lists the keys",
            )


def _part(value: object, name: str, where: str) -> Part:
    place = f"{where}: {name}" if name else where
    if not isinstance(value, dict):
        what = "missing" if value is None else "no mapping"
        raise InputRefused(f"{place} is {what}", hint=f"give it {', '.join(SHAPE[name])}")
    unknown = sorted(str(key) for key in value if key not in SHAPE[name])
    if unknown:
        raise InputRefused(
            f"{place}: unknown key {unknown[0][:40]!r}", hint=f"known: {', '.join(SHAPE[name])}"
        )
    return value


def _text(part: Part, key: str, where: str) -> str:
    value = part.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputRefused(f"{where}: {key} is missing or no text", hint=f"add a line {key}: …")
    return value


def _optional(part: Part, key: str, default: str) -> str:
    value = part.get(key)
    return default if value is None else _text(part, key, key)


def _symptom(part: Part) -> Symptom:
    return Symptom.model_validate({key: value for key, value in part.items() if value is not None})


def _alert(top: Part, where: str) -> Alert | None:
    if top.get("alert") is None:
        return None
    part = _part(top["alert"], "alert", where)
    labels = part.get("labels") or {}
    return Alert.model_validate(
        {
            "name": _text(part, "name", f"{where}: alert"),
            "at": _instant(part.get("at"), f"{where}: alert.at"),
            "labels": labels,
            "text": part.get("text") or "",
        }
    )


def _window(top: Part, name: str, where: str) -> Window:
    part = _part(top.get(name), name, where)
    start = _instant(part.get("start"), f"{where}: {name}.start")
    end = _instant(part.get("end"), f"{where}: {name}.end")
    if end <= start:
        raise InputRefused(
            f"{where}: {name} ends at {part['end']}, which is not after its start {part['start']}",
            hint="swap start and end, or check their zones",
        )
    return Window(start=start, end=end)


def _instant(value: object, place: str) -> datetime:
    """RFC 3339 with a zone; anything else is refused, never read as UTC (R26)."""
    example = "for example 2026-03-02T10:00:00Z or 2026-03-02T18:00:00+08:00"
    match = STAMP.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        what = "missing" if value is None else f"{str(value)[:40]!r}, which is no RFC 3339 time"
        raise InputRefused(f"{place} is {what}", hint=f"write it with its zone, {example}")
    day, clock, zone = match.groups()
    if zone is None:
        raise InputRefused(f"{place} has no zone: {value!r}", hint=f"add Z or an offset, {example}")
    try:
        return datetime.fromisoformat(f"{day}T{clock}{zone.upper()}").astimezone(UTC)
    except (ValueError, OverflowError):
        raise InputRefused(f"{place} is no moment: {value!r}", hint=example) from None


def _check_baseline(incident: Incident, where: str) -> None:
    baseline, window = incident.baseline, incident.window
    if baseline and baseline.start < window.end and window.start < baseline.end:
        raise InputRefused(
            f"{where}: baseline overlaps the window",
            hint="a baseline is known to be normal; choose a stretch before or after the window",
        )


def _refused(error: ValidationError, where: str) -> InputRefused:
    """The first finding of the record itself, without the value."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return InputRefused(
        f"{where}: {error.title.lower()}.{place}: {first['msg']}",
        hint="docs/incident-folder.md lists the keys and their values",
    )
