"""From the entries of a systemd journal to rows of logs (pure): JSON lines, or the export format.

Fields that begin with an underscore are journald's own word and cannot be written by the process
that logs (systemd.journal-fields(7)); so the platform is told by them alone: the kernel by its
transport, systemd by the number of its process. Everything else is a workload's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

Entry: TypeAlias = Mapping[str, str]

LEVELS: Final = ("EMERG", "ALERT", "CRIT", "ERR", "WARNING", "NOTICE", "INFO", "DEBUG")
"""By syslog's numbers, from 0 on."""

FIELDS: Final = (
    "MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER", "UNIT", "_SYSTEMD_UNIT", "_PID", "_TRANSPORT",
    "_HOSTNAME", "_SOURCE_REALTIME_TIMESTAMP",
)  # fmt: skip
"""What is asked for; neither command lines nor environment."""

TIME: Final = "__REALTIME_TIMESTAMP"

FIELD_BYTES_MAX: Final = 256 * 1024
"""Of one field of an export; a longer one is a core dump's."""


def row_of(entry: Entry, services: Mapping[str, str]) -> dict[str, object] | None:
    """One entry as a row of logs; None for one without a time or a message."""
    told = entry.get("_SOURCE_REALTIME_TIMESTAMP") or entry.get(TIME, "")
    message = entry.get("MESSAGE", "")
    if not told.isdigit() or not message.strip():
        return None
    is_systemd = entry.get("_PID") == "1"
    unit = (entry.get("UNIT") if is_systemd else None) or entry.get("_SYSTEMD_UNIT", "")
    is_kernel = entry.get("_TRANSPORT") == "kernel"
    name = unit.removesuffix(".service") or entry.get("SYSLOG_IDENTIFIER", "")
    level = entry.get("PRIORITY", "")
    return {
        "timestamp": int(told),
        "service_name": services.get(unit, "kernel" if is_kernel else name),
        "body": message,
        "severity_text": LEVELS[int(level)] if level in set("01234567") else "",
        "instance": entry.get("_HOSTNAME", ""),
        "emitter": "platform" if is_kernel or is_systemd else "workload",
    }


def read_json_line(line: bytes) -> Entry | None:
    """An entry of `journalctl -o json`; None for what is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return {str(name): _text(value) for name, value in found.items()}


def _text(value: object) -> str:
    """A field's value: a text, its bytes where it is no UTF-8, or the first of several."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        if all(isinstance(one, int) and 0 <= one < 256 for one in value):
            return bytes(value).decode("utf-8", "replace")
        return _text(value[0]) if isinstance(value[0], (str, list)) else ""
    return ""


def read_export(content: bytes) -> Iterator[Entry | None]:
    """The entries of a journal in the Journal Export Format; None where one is broken, after which
    nothing is read."""
    entry: dict[str, str] = {}
    at = 0
    while at < len(content):
        end = content.find(b"\n", at)
        if end < 0:
            yield None
            return
        line = content[at:end]
        at = end + 1
        name, is_plain, value = line.partition(b"=")
        if not line:
            if entry:
                yield entry
                entry = {}
            continue
        if not is_plain:
            size = int.from_bytes(content[at : at + 8], "little")
            value = content[at + 8 : at + 8 + size]
            at += 8 + size + 1
            if len(value) != size or content[at - 1 : at] != b"\n":
                yield None
                return
        entry.setdefault(_word(name), _word(value[:FIELD_BYTES_MAX]))
    if entry:
        yield entry


def _word(content: bytes) -> str:
    return content.decode("utf-8", "replace")
