"""Where did a recorded scan stand out, and what is missing to call it a cause? (C9; pure)

A lead is no root cause. It names an entity, the recorded signal and its size, and the leg that
nobody has recorded: a path to the symptom, an order in time, a second independent record. A tool's
own word `anomalous`, an onset, or an error line make an entity stand out; nothing is computed anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Change, Edge, Fact, Line, Onset
from affidavit.contract.report import Lead
from affidavit.contract.states import Emitter
from affidavit.progress.selection import FACT_CLASSES, SeenCall, is_abnormal_line
from affidavit.progress.wording import clip, name, word_change, word_signal

LEADS_MAX: Final = 3
"""C9: a person can follow three."""

LEAD_CHARS_MAX: Final = 160
"""Signal and size of a lead: one line."""

HOPS_MAX: Final = 8
"""Longer call chains are not followed; a path of that length explains nothing."""

NO_SYMPTOM: Final = "the symptom's service is not known"
NO_PATH: Final = "no recorded path between it and the symptom's service"
NO_ORDER: Final = "no record that it began before the symptom"
ONE_RECORD: Final = "no second independent record"
OWN_SYMPTOM: Final = "it is the symptom's own service, and no record says what made it so"
NO_CAUSE: Final = "no record that states a cause"


@dataclass(frozen=True, slots=True)
class _Mark:
    """One fact that makes an entity stand out."""

    entity: str
    call: SeenCall
    fact: Change | Onset | Line


def find_leads(calls: Iterable[SeenCall], symptom: str | None) -> tuple[Lead, ...]:
    """Up to three entities that stand out, the strongest first; none where nothing does."""
    seen = tuple(call for call in calls if call.envelope.evidence_class in FACT_CLASSES)
    marks: dict[str, list[_Mark]] = {}
    for mark in _marks(seen):
        marks.setdefault(mark.entity, []).append(mark)
    suspects = [
        (entity, _strongest(own)) for entity, own in marks.items() if _strongest(own) is not None
    ]
    suspects.sort(key=lambda item: (*_strength(item[1]), item[0]))
    map_ = _Map.of(seen, symptom)
    return tuple(
        _lead(entity, best, map_.missing(entity, marks[entity]))
        for entity, best in suspects[:LEADS_MAX]
        if best is not None
    )


def _marks(calls: tuple[SeenCall, ...]) -> Iterator[_Mark]:
    for call in calls:
        for fact in call.envelope.facts:
            match fact:
                case Change(anomalous=True) | Onset():
                    yield _Mark(fact.subject, call, fact)
                case Line() as line if _is_own_error(call, line):
                    entity = line.subject or call.envelope.scope.service
                    if entity is not None:
                        yield _Mark(entity, call, line)
                case _:
                    pass


def _is_own_error(call: SeenCall, line: Line) -> bool:
    """An error line in the platform's or the workload's words; never a caller's (N16)."""
    emitter = line.emitter or call.envelope.emitter
    return is_abnormal_line(line) and emitter is not Emitter.REQUEST


def _strongest(marks: list[_Mark]) -> _Mark | None:
    """The mark that a lead names; an onset alone has no size and makes no lead."""
    sized = [mark for mark in marks if not isinstance(mark.fact, Onset)]
    return min(sized, key=_strength, default=None)


def _strength(mark: _Mark | None) -> tuple[int, Decimal, int]:
    """Scans before log lines, then the scan's own score or the line's count, largest first."""
    match mark.fact if mark else None:
        case Change() as change:
            score = Decimal(0) if change.score is None else change.score.copy_abs()
            return (0, score.copy_negate(), 0)
        case Line() as line:
            return (1, Decimal(0), -(line.count or 1))
        case _:
            return (2, Decimal(0), 0)


def _lead(entity: str, mark: _Mark, missing: str) -> Lead:
    return Lead(
        entity=name(entity),
        signal=clip(_signal(mark.fact), LEAD_CHARS_MAX),
        size=clip(_size(mark.fact), LEAD_CHARS_MAX),
        missing=missing,
        tool_call_id=mark.call.tool_call_id,
    )


def _signal(fact: Fact) -> str:
    if isinstance(fact, Change):
        return word_signal(fact.attribute, fact.statistic)
    return "error lines"


def _size(fact: Fact) -> str:
    if isinstance(fact, Change):
        return word_change(fact)
    count = fact.count if isinstance(fact, Line) else None
    return "one line" if (count or 1) == 1 else f"{count} lines"


@dataclass(frozen=True, slots=True)
class _Map:
    """What was recorded about who talks to whom, and about when the symptom began."""

    symptom: str | None
    neighbours: dict[str, set[str]]
    symptom_onsets: tuple[Onset, ...]

    @classmethod
    def of(cls, calls: tuple[SeenCall, ...], symptom: str | None) -> _Map:
        """The map of these calls around a symptom's service."""
        neighbours: dict[str, set[str]] = {}
        onsets: list[Onset] = []
        for call in calls:
            for fact in call.envelope.facts:
                if isinstance(fact, Edge):
                    neighbours.setdefault(fact.source, set()).add(fact.target)
                    neighbours.setdefault(fact.target, set()).add(fact.source)
                elif isinstance(fact, Onset) and fact.subject == symptom:
                    onsets.append(fact)
        return cls(symptom, neighbours, tuple(onsets))

    def missing(self, entity: str, marks: list[_Mark]) -> str:
        """The legs that nobody has recorded for this entity."""
        if self.symptom is None:
            return NO_SYMPTOM
        if entity == self.symptom:
            return OWN_SYMPTOM
        legs = [
            NO_PATH if not self._is_reached(entity) else "",
            NO_ORDER if not self._began_before(marks) else "",
            ONE_RECORD if len({mark.call.envelope.source_type for mark in marks}) < 2 else "",
        ]
        return "; ".join(leg for leg in legs if leg) or NO_CAUSE

    def _is_reached(self, entity: str) -> bool:
        """Whether recorded edges join the entity to the symptom's service."""
        reached = frontier = {self.symptom or ""}
        for _ in range(HOPS_MAX):
            frontier = {
                near
                for at in frontier
                for near in self.neighbours.get(at, ())
                if near not in reached
            }
            if entity in frontier:
                return True
            reached = reached | frontier
        return False

    def _began_before(self, marks: list[_Mark]) -> bool:
        """Whether an onset here ends before every recorded onset of the symptom begins (M5)."""
        own = [mark.fact for mark in marks if isinstance(mark.fact, Onset)]
        if not own or not self.symptom_onsets:
            return False
        first = min(onset.earliest for onset in self.symptom_onsets)
        return any(onset.latest < first for onset in own)
