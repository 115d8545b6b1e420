"""What a word of a report may stand for in a technical text, one way: a "backlog" is `messages`.

The specific may be called by the general, a thing by what it does, an event by the state that it
leaves. Never the other way round, and never a word by its opposite. General to any system.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from affidavit.verify.prose.gloss_events import EVENTS
from affidavit.verify.prose.gloss_things import THINGS
from affidavit.verify.statements.words import stem


def _read() -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in (*THINGS.strip().splitlines(), *EVENTS.strip().splitlines()):
        words, meant = line.split(" = ")
        stems = frozenset(map(stem, meant.split()))
        for word in words.split():
            key = stem(word)
            found[key] = found.get(key, frozenset()) | stems
    return MappingProxyType(found)


GLOSSES: Final = _read()
"""The stems that a word's stem may be found as."""
ANTONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "offline": "online", "down": "up", "stopped": "running", "idle": "busy", "absent": "present",
        "disabled": "enabled", "closed": "open", "inactive": "active", "unavailable": "available",
        "unhealthy": "healthy", "unreachable": "reachable", "disconnected": "connected",
        "free": "busy", "missing": "present", "false": "true", "off": "on",
    }
)  # fmt: skip
"""Words that a record says by denying their opposite: `online: false` is offline."""
