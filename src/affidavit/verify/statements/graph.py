"""edge and path: one entity's relation to another, as recorded.

edge proves a recorded edge in the stated direction, or two spans of one trace of which one is the
other's parent. path proves an edge for every hop, in order. Neither is inferred from timing, and
neither proves a cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from affidavit.contract.evidence import Edge, Line, Row
from affidavit.contract.statement import EdgeStatement, PathStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.outcome import Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.words import names_in, stems_of

Hop = tuple[str, int]
_ID_NAMES = ("spanid", "span_id", "span", "id")
_PARENT_NAMES = ("parent", "parentspanid", "parent_span_id", "parentid", "parent_id")


def prove_edge(statement: EdgeStatement, calls: tuple[CallView, ...]) -> Outcome:
    """Whether an edge leads from the subject to the object."""
    found = find_edge(statement.subject, statement.object, calls)
    if found is not None:
        return Proved(((found[0], (found[1],)),))
    if find_edge(statement.object, statement.subject, calls) is not None:
        return Unproved(SupportCode.DIRECTION_REFUTED)
    return Unproved(SupportCode.STATEMENT_UNPROVED)


def prove_path(statement: PathStatement, calls: tuple[CallView, ...]) -> Outcome:
    """Whether each entity leads to the next."""
    hops: list[Hop] = []
    for source, target in zip(statement.hops, statement.hops[1:], strict=False):
        if source.casefold() == target.casefold():
            continue
        found = find_edge(source, target, calls)
        if found is None:
            backwards = find_edge(target, source, calls) is not None
            return Unproved(
                SupportCode.DIRECTION_REFUTED if backwards else SupportCode.STATEMENT_UNPROVED
            )
        hops.append(found)
    return Proved(tuple((name, (place,)) for name, place in dict.fromkeys(hops)))


def find_edge(source: str, target: str, calls: tuple[CallView, ...]) -> Hop | None:
    """The first recorded edge from one entity to another: its call and its place, or None."""
    for call in calls:
        for record in call.records:
            fact = record.fact
            if isinstance(fact, Edge) and _is(source, fact.source) and _is(target, fact.target):
                return call.id, record.facts[0]
        for parent, child in spans(call):
            if _mentions(source, parent) and _mentions(target, child):
                return call.id, child.facts[0]
        told = next((record for record in call.records if _tells(source, target, record)), None)
        if told is not None:
            return call.id, told.facts[0]
    return None


_TYING: Final = (
    r"(?:depends? (?:up)?on|relies on|rely on|requires?|calls?|reads? from|writes? to"
    r"|connects? to|runs? on|sends? to|consumes? from|publishes to)"
)


def _tells(source: str, target: str, record: RecordView) -> bool:
    """Whether a record says in so many words that the one depends on the other.

    In its own text, whatever a caller wrote aside; or in a field that is named so.
    """
    low = source.casefold().strip()
    if record.shape == "report" or low not in record.names:
        return False
    said = re.compile(
        rf"(?<![\w.-]){re.escape(source.strip())}(?: [a-z]{{1,20}}){{0,2}} {_TYING} "
        rf"(?:the |an? )?{re.escape(target.strip())}(?![\w-])",
        re.IGNORECASE,
    )
    if said.search(" ".join(record.own.split())):
        return True
    return low == record.subject.casefold() and any(
        not item.loose
        and item.names & _DEPENDING
        and target.casefold().strip() in names_in(item.text)
        for item in record.fields
    )


_DEPENDING: Final = stems_of("depends dependencies dependson requires upstream")


def _is(name: str, entity: str) -> bool:
    low, held = name.casefold().strip(), entity.casefold().strip()
    return low == held or low in names_in(entity)


def _mentions(name: str, record: RecordView) -> bool:
    low = name.casefold().strip()
    return low in record.names or low in " ".join(record.text.casefold().split())


def spans(call: CallView) -> Iterator[tuple[RecordView, RecordView]]:
    """Every parent and child among the spans of a call's traces."""
    rows = [
        record
        for record in call.records
        if isinstance(record.fact, Row | Line) and record.shape != "report"
    ]
    by_id: dict[str, RecordView] = {}
    for record in rows:
        name = _cell(record, _ID_NAMES)
        if name:
            by_id.setdefault(name, record)
    for record in rows:
        parent = by_id.get(_cell(record, _PARENT_NAMES))
        if parent is not None and parent is not record:
            yield parent, record


def _cell(record: RecordView, names: tuple[str, ...]) -> str:
    held: dict[str, str] = {}
    for field in record.fields:
        held.setdefault(field.name.casefold(), field.text)
    return next((held[name] for name in names if held.get(name)), "")
