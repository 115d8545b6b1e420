"""Which facts does a person need first? (C5; pure)

At most twelve: what recorded results disagree about, then what a scan or a log calls abnormal, then
the rest, then empty answers. Within each group what is new comes first, and no entity takes all the
room. Observations and recorded changes alone are facts: an alert's own text and a runbook are not
(C13).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import IntEnum
from typing import Final

from affidavit.contract.evidence import Change, Envelope, Fact, Line, Onset, Value, Window
from affidavit.contract.report import ObservedFact
from affidavit.contract.snapshots import FACTS_MAX
from affidavit.contract.states import EvidenceClass, EvidenceStatus, IntentType
from affidavit.progress.fingerprint import Fingerprint, fingerprint
from affidavit.progress.wording import word_absence, word_fact

FACT_CLASSES: Final = frozenset({EvidenceClass.OBSERVATION, EvidenceClass.CHANGE})
"""The classes whose results are facts; alerts and guidance are sources and no more (C13)."""

ABNORMAL_LEVELS: Final = frozenset(
    {"error", "err", "severe", "fatal", "critical", "crit", "alert", "emerg", "panic"}
)
"""Levels by which a log calls its own line abnormal (syslog, OpenTelemetry, java.util.logging)."""


@dataclass(frozen=True, slots=True)
class SeenCall:
    """One call that was read back, whoever cites it: its id and its projection."""

    tool_call_id: str
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Selection:
    """The facts that fit, worded; how many did not fit; and about how many readings the recorded
    results disagree."""

    facts: tuple[ObservedFact, ...]
    left_out: int
    disputed: int = 0


class _Rank(IntEnum):
    DISPUTED = 0
    ABNORMAL = 1
    PLAIN = 2
    NEGATIVE = 3


@dataclass(frozen=True, slots=True)
class _Seen:
    """One fact at its place; `fact` is None for an empty answer."""

    call: SeenCall
    fact: Fact | None
    order: int


def is_fact(envelope: Envelope, intent: IntentType | None = IntentType.DIAGNOSIS) -> bool:
    """Whether a result is a fact to who asked. To who asked for pages, that none matched is one."""
    if envelope.evidence_class in FACT_CLASSES:
        return True
    is_page = envelope.evidence_class is EvidenceClass.GUIDANCE
    is_empty = envelope.status is EvidenceStatus.NO_EVIDENCE
    return intent is IntentType.KNOWLEDGE and is_page and is_empty


def select_facts(
    calls: Iterable[SeenCall],
    first: tuple[ObservedFact, ...] = (),
    intent: IntentType | None = IntentType.DIAGNOSIS,
) -> Selection:
    """The facts of these calls that a person needs first; those in `first` come before all."""
    seen = tuple(_distinct(call for call in calls if is_fact(call.envelope, intent)))
    disputes = tuple(_disputes(seen))
    disputed = {item.order for item in disputes}
    worded = {_reading(fact): fact for fact in first}
    waiting = _in_order(seen, disputed)
    while waiting and len(worded) < FACTS_MAX:
        item = waiting.popleft()
        fact = word(item.call, item.fact)
        worded.setdefault(_reading(fact), fact)
    facts = tuple(worded.values())
    topics = {_topic(item.fact) for item in disputes}
    return Selection(facts[:FACTS_MAX], len(waiting) + len(facts[FACTS_MAX:]), len(topics))


def _reading(fact: ObservedFact) -> tuple[str, str, str]:
    """What makes two facts one to a reader: the same words of the same source."""
    return (fact.text, fact.source_type, fact.source)


def word(call: SeenCall, fact: Fact | None) -> ObservedFact:
    """One fact of a call, or its empty answer, as a person reads it."""
    envelope = call.envelope
    return ObservedFact(
        text=word_absence(envelope) if fact is None else word_fact(envelope, fact),
        tool_call_id=call.tool_call_id,
        status=envelope.status,
        source_type=envelope.source_type,
        source=envelope.source,
    )


def is_abnormal_line(line: Line) -> bool:
    """Whether a log calls its own line an error."""
    return line.level is not None and line.level.casefold() in ABNORMAL_LEVELS


def _distinct(calls: Iterable[SeenCall]) -> Iterator[_Seen]:
    """Every fact once, whichever of two equal calls of a source returned it first."""
    known: set[object] = set()
    order = 0
    for call in calls:
        envelope = call.envelope
        empty = envelope.status is EvidenceStatus.NO_EVIDENCE
        for fact in (None,) if empty else envelope.facts:
            said = envelope.scope if fact is None else fact
            key = (envelope.source_type, envelope.source, said)
            if key not in known:
                known.add(key)
                yield _Seen(call, fact, order)
                order += 1


def _in_order(seen: tuple[_Seen, ...], disputed: set[int]) -> deque[_Seen]:
    """Rank, then news before repetition, then every entity's strongest before its second."""
    ranked = sorted(
        seen, key=lambda item: (_rank(item, disputed), _weakness(item.fact), item.order)
    )
    known: set[Fingerprint] = set()
    turns: Counter[tuple[_Rank, str, str]] = Counter()
    places: dict[int, tuple[_Rank, bool, int, int]] = {}
    for place, item in enumerate(ranked):
        rank = _rank(item, disputed)
        mark = fingerprint(item.fact) if item.fact is not None else None
        repeats = mark in known and rank is not _Rank.DISPUTED
        if mark is not None:
            known.add(mark)
        topic = (rank, item.fact.kind if item.fact else "absence", _entity(item.fact))
        places[item.order] = (rank, repeats, turns[topic], place)
        turns[topic] += 1
    return deque(sorted(ranked, key=lambda item: places[item.order]))


def _rank(item: _Seen, disputed: set[int]) -> _Rank:
    if item.order in disputed:
        return _Rank.DISPUTED
    match item.fact:
        case None:
            return _Rank.NEGATIVE
        case Change(anomalous=True) | Onset():
            return _Rank.ABNORMAL
        case Line() as line if is_abnormal_line(line):
            return _Rank.ABNORMAL
        case _:
            return _Rank.PLAIN


def _weakness(fact: Fact | None) -> Decimal:
    """The scan's own score of a change, larger scores first; 0 for everything else.

    The sign is copied, not computed: arithmetic would round, and refuse a number beyond its range.
    """
    if isinstance(fact, Change) and fact.score is not None:
        return fact.score.copy_abs().copy_negate()
    return Decimal(0)


def _entity(fact: Fact | None) -> str:
    if fact is None:
        return ""
    return (fact.source if fact.kind == "edge" else fact.subject) or ""


_Topic = tuple[str, str, str | None, Window | None, datetime | None, str]


def _topic(fact: Fact | None) -> _Topic | None:
    """What a reading is about, where two readings of it can disagree; None where they cannot."""
    match fact:
        case Value() if fact.at is not None or fact.window is not None:
            unit = "text" if fact.quantity is None else f"in {fact.quantity.unit}"
            return (fact.subject, fact.attribute, fact.statistic, fact.window, fact.at, unit)
        case Change() if fact.window is not None:
            return (fact.subject, fact.attribute, fact.statistic, fact.window, None, "change")
        case _:
            return None


def _claim(fact: Fact | None) -> object:
    match fact:
        case Value():
            return fact.text if fact.quantity is None else fact.quantity.number
        case Change():
            return fact.direction
        case _:
            return None


def _disputes(seen: tuple[_Seen, ...]) -> Iterator[_Seen]:
    """Readings of one thing at one time that two calls give differently."""
    by_topic: dict[_Topic, list[_Seen]] = {}
    for item in seen:
        topic = _topic(item.fact)
        if topic is not None:
            by_topic.setdefault(topic, []).append(item)
    for readings in by_topic.values():
        calls = {item.call.tool_call_id for item in readings}
        if len(calls) > 1 and len({_claim(item.fact) for item in readings}) > 1:
            yield from readings
