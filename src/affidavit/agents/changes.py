"""Recorded change events as leads: read from rows, ranked by `leads`. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from affidavit.agents.leads import Changed, Scene, rank_changes
from affidavit.agents.reading import Found, Material, each_fact
from affidavit.agents.signals import Ranking
from affidavit.contract.agent import AgentState
from affidavit.contract.evidence import Row

TOOL: Final = "change_events"

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

BLAME_MIN: Final = 0.1
"""Of a suspect that hardly deviates."""

RUNS: Final = re.compile(r"deploy|release|rollout")
"""Events by which another change, named in their attributes, begins to run."""


def leads_of(state: AgentState, material: Material, ranking: Ranking) -> tuple[Found, ...]:
    """The recorded changes most worth a look, the best first; no cause is said of any."""
    rows = {item.tool_call_id + str(place): item for place, item in enumerate(rows_of(state))}
    if not rows or state.request.window is None:
        return ()
    runs = running_since(item.fact for item in rows.values() if isinstance(item.fact, Row))
    changes = [changed(key, item.fact, runs) for key, item in rows.items()]
    scene = Scene(
        paged_us=microseconds(state.request.window.end),
        blame=blame_of(ranking, material.seen.symptom),
        calls=material.seen.calls,
        words=" ".join((state.request.question, *words_of_lines(material))),
    )
    return tuple(rows[lead.change.id] for lead in rank_changes(changes, scene))


def rows_of(state: AgentState) -> Iterator[Found]:
    """The rows of the change log."""
    for item in each_fact(state.observations):
        if item.tool == TOOL and isinstance(item.fact, Row) and item.fact.at is not None:
            yield item


def changed(key: str, row: object, runs: Mapping[str, tuple[int, frozenset[str]]]) -> Changed:
    """One row as a change; a commit counts from when a deploy made it run."""
    if not isinstance(row, Row):
        raise TypeError("a change event is a row")
    cells = cells_of(row)
    attributes = attributes_of(cells.get("attributes", ""))
    at_us = microseconds(row.at or EPOCH)
    own = frozenset({row.subject} if row.subject else ())
    since_us, reached = runs.get(cells.get("id", ""), (at_us, own))
    kind = cells.get("event", "")
    return Changed(
        id=key,
        kind=kind,
        effect_us=since_us,
        is_running=kind != "commit" or cells.get("id", "") in runs,
        services=tuple(sorted(own | reached)),
        files=tuple(str(name) for name in listed(attributes.get("files_changed"))),
        text=f"{cells.get('body', '')}\n{attributes.get('diff', '')}",
    )


def running_since(rows: Iterable[Row]) -> dict[str, tuple[int, frozenset[str]]]:
    """For each commit that a deploy names: when it first ran, and where."""
    runs: dict[str, tuple[int, frozenset[str]]] = {}
    for row in rows:
        cells = cells_of(row)
        commit = attributes_of(cells.get("attributes", "")).get("commit_sha")
        if not isinstance(commit, str) or not RUNS.search(cells.get("event", "")):
            continue
        at_us, services = microseconds(row.at or EPOCH), frozenset({row.subject or ""}) - {""}
        first_us, before = runs.get(commit, (at_us, frozenset()))
        runs[commit] = (min(first_us, at_us), before | services)
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


def cells_of(row: Row) -> dict[str, str]:
    """The texts of a row by name."""
    return {cell.name: cell.text for cell in row.cells if cell.text is not None}


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
