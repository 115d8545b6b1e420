"""Which change to look at first. Pure.

A change is a lead and never convicted: what precedes an incident need not have caused it (M5). A
lead is worth more when it was running before the page, reached the suspect or what it calls,
touches files that bear the suspect's name, and speaks of what the errors speak of.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

LEADS_MAX: Final = 3
"""As many as a person looks at, and as a fallback may show (C9)."""

MINUTE_US: Final = 60_000_000

RECENT_MIN: Final = 30.0
"""Minutes after which a change's nearness has lost most of its weight: many take effect late."""

SHARED_WORDS_FULL: Final = 4
"""Words in common with the errors from which on more say nothing more."""

WORD_CHARS_MIN: Final = 3

INERT: Final = re.compile(
    r"(^|/)(docs?|documentation|testdata|\.github|\.circleci|runbooks?)/|_test\.\w+$|"
    r"(^|/)(README|CODEOWNERS|CHANGELOG|LICENSE)|\.(md|rst|txt|css|svg|png)$|^\.\w+(\.\w+)?$"
)
"""Files that no server executes."""

GENERIC: Final = frozenset(
    "the and for with from into that this not null nil none true false error errors failed failure "
    "service services server client request response http https main func return package import "
    "const string int type var new add fix feat chore refactor docs test tidy update".split()
)
"""Words that every change and every error shares."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One change event. `effect_us` is when it began to run, else when it was made."""

    id: str
    kind: str
    effect_us: int
    is_running: bool
    services: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a change is held against.

    `blame` says how suspect each service is, 0 to 1, the symptom's own service among them; `calls`
    are pairs of caller and callee; `words` is what the alert and the errors say.
    """

    paged_us: int
    blame: Mapping[str, float]
    calls: frozenset[tuple[str, str]] = frozenset()
    words: str = ""


@dataclass(frozen=True, slots=True)
class Lead:
    """A change worth a look, and why: reasons from a closed set, strongest first."""

    change: Changed
    worth: float
    reasons: tuple[str, ...]


def rank_changes(changes: Iterable[Changed], scene: Scene) -> tuple[Lead, ...]:
    """The changes before the page, the most worth looking at first; at most LEADS_MAX."""
    leads = [lead_of(change, scene) for change in changes if change.effect_us <= scene.paged_us]
    leads.sort(key=lambda lead: (-lead.worth, -lead.change.effect_us, lead.change.id))
    return tuple(lead for lead in leads[:LEADS_MAX] if lead.worth > 0)


def lead_of(change: Changed, scene: Scene) -> Lead:
    """One change's worth and its parts."""
    age_min = (scene.paged_us - change.effect_us) / MINUTE_US
    shared = words_of(change.text) & words_of(scene.words)
    parts = {
        "it was running before the page": 1.5 * change.is_running,
        "it reached a suspect": 1.5 * reach(change.services, scene),
        "its files bear a suspect's name": 1.0 * named(change, scene),
        "it speaks of what the errors speak of": min(1.0, len(shared) / SHARED_WORDS_FULL),
        "it came shortly before": 0.5 * math.exp(-age_min / RECENT_MIN),
    }
    inert = bool(change.files) and all(INERT.search(file) for file in change.files)
    worth = 0.0 if inert else sum(parts.values())
    ordered = sorted(parts, key=lambda reason: (-parts[reason], reason))
    return Lead(change, worth, tuple(reason for reason in ordered if parts[reason] >= 0.25))


def reach(services: Iterable[str], scene: Scene) -> float:
    """The blame of the best service that the change reached; half that of a neighbour."""
    best = 0.0
    for service in services:
        best = max(best, scene.blame.get(service, 0.0))
        for caller, callee in scene.calls:
            if service in {caller, callee}:
                other = callee if service == caller else caller
                best = max(best, scene.blame.get(other, 0.0) / 2)
    return best


def named(change: Changed, scene: Scene) -> float:
    """The blame of the best service whose name the files or the text bear."""
    bearing = names_of(" ".join((*change.files, change.text.split("\n", 1)[0])))
    found = [blame for service, blame in scene.blame.items() if names_of(service) & bearing]
    return max(found, default=0.0)


def names_of(text: str) -> frozenset[str]:
    """The words of a service's name or a path, without what every service is called."""
    stems = (re.sub(r"(service|svc|server|api)$", "", word) for word in tokens(text))
    return frozenset(stem for stem in stems if len(stem) >= WORD_CHARS_MIN and stem not in GENERIC)


def words_of(text: str) -> frozenset[str]:
    """The telling words of a text."""
    return frozenset(w for w in tokens(text) if len(w) >= WORD_CHARS_MIN and w not in GENERIC)


def tokens(text: str) -> Iterable[str]:
    """Lower-case words; camelCase and snake_case fall apart."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return (word.lower() for word in re.findall(r"[A-Za-z]{2,}", spaced))
