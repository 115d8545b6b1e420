"""Recorded change events as leads: read from rows, ranked by `leads`. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from affidavit.agents.leads import Changed, Scene, rank_changes
from affidavit.agents.reading import Found, Material, each_fact
from affidavit.agents.signals import Ranking
from affidavit.contract.agent import AgentState
from affidavit.contract.evidence import Line, Onset, Row

TOOL: Final = "change_events"

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

BLAME_MIN: Final = 0.1
"""Of a suspect that hardly deviates."""

COMMIT: Final = "commit"
"""A change that runs nowhere until something deploys it."""


def leads_of(state: AgentState, material: Material, ranking: Ranking) -> tuple[Found, ...]:
    """The recorded changes most worth a look, the best first; no cause is said of any."""
    events = [event for item in rows_of(state) if (event := event_of(item)) is not None]
    if not events or state.request.window is None:
        return ()
    scene = Scene(
        paged_us=microseconds(noticed_at(material, ranking) or state.request.window.end),
        blame=blame_of(ranking, material.seen.symptom),
        calls=material.seen.calls,
        words=" ".join((state.request.question, *words_of_lines(material))),
    )
    held = {str(place): event for place, event in enumerate(stand_alone(events))}
    runs = running_since(event for event in events if event.at_us <= scene.paged_us)
    changes = [changed(key, event, runs) for key, event in held.items()]
    return tuple(held[lead.change.id].found for lead in rank_changes(changes, scene))


@dataclass(frozen=True, slots=True)
class Event:
    """One row of the change log, read."""

    found: Found
    id: str
    kind: str
    at_us: int
    service: str
    body: str
    attributes: Mapping[str, object]

    @property
    def carries(self) -> str:
        """The change that this one makes run; "" where it names none."""
        commit = self.attributes.get("commit_sha")
        return commit if isinstance(commit, str) and commit != self.id else ""


def event_of(found: Found) -> Event | None:
    """The event of a row; None for a row without a time."""
    if not isinstance(found.fact, Row) or found.fact.at is None:
        return None
    cells = {cell.name: cell.text for cell in found.fact.cells if cell.text is not None}
    return Event(
        found=found,
        id=cells.get("id", ""),
        kind=cells.get("event", ""),
        at_us=microseconds(found.fact.at),
        service=found.fact.subject or "",
        body=cells.get("body", ""),
        attributes=attributes_of(cells.get("attributes", "")),
    )


def stand_alone(events: Iterable[Event]) -> Iterator[Event]:
    """The events without those that only make another recorded one run."""
    kept = tuple(events)
    known = {event.id for event in kept}
    return (event for event in kept if event.carries not in known or not event.carries)


def noticed_at(material: Material, ranking: Ranking) -> datetime | None:
    """By when the first suspect was seen to deviate: what came later did not make it."""
    if not ranking.suspects:
        return None
    service = ranking.suspects[0].service
    onsets = [
        item.fact.latest
        for (subject, _), item in material.onsets.items()
        if subject == service and isinstance(item.fact, Onset)
    ]
    line = material.lines.get(service)
    said = [line.fact.at] if line and isinstance(line.fact, Line) and line.fact.at else []
    return min((*onsets, *said), default=None)


def rows_of(state: AgentState) -> Iterator[Found]:
    """The rows of the change log."""
    for item in each_fact(state.observations):
        if item.tool == TOOL and isinstance(item.fact, Row) and item.fact.at is not None:
            yield item


def changed(key: str, event: Event, runs: Mapping[str, tuple[int, frozenset[str]]]) -> Changed:
    """One event as a change; a commit counts from when a deploy made it run."""
    own = frozenset({event.service} - {""})
    since_us, reached = runs.get(event.id, (event.at_us, own))
    return Changed(
        id=key,
        kind=event.kind,
        effect_us=since_us,
        is_running=event.kind != COMMIT or event.id in runs,
        services=tuple(sorted(own | reached)),
        files=tuple(str(name) for name in listed(event.attributes.get("files_changed"))),
        text=f"{event.body}\n{event.attributes.get('diff', '')}",
    )


def running_since(events: Iterable[Event]) -> dict[str, tuple[int, frozenset[str]]]:
    """For each change that another event made run: when it first ran, and where."""
    runs: dict[str, tuple[int, frozenset[str]]] = {}
    for event in events:
        if not event.carries:
            continue
        at_us, services = runs.get(event.carries, (event.at_us, frozenset()))
        reached = services | ({event.service} - {""})
        runs[event.carries] = (min(at_us, event.at_us), reached)
    return runs


def blame_of(ranking: Ranking, symptom: str) -> dict[str, float]:
    """How suspect each service is, 0 to 1; whoever was paged is fully so."""
    most = max((suspect.score for suspect in ranking.suspects), default=1.0)
    blame = {s.service: max(BLAME_MIN, s.score / most) for s in ranking.suspects}
    return blame | ({symptom: 1.0} if symptom else {})


def words_of_lines(material: Material) -> Iterator[str]:
    """What the errors say."""
    for item in material.lines.values():
        yield getattr(item.fact, "text", "")


def attributes_of(text: str) -> Mapping[str, object]:
    """The attributes of an event; none where they are no object or were cut."""
    try:
        read = json.loads(text) if text else {}
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def listed(value: object) -> list[object]:
    """A list, or none."""
    return value if isinstance(value, list) else []


def microseconds(at: datetime) -> int:
    """Microseconds since the epoch."""
    return int((at - EPOCH).total_seconds() * 1_000_000)
