"""cause: the subject caused what is seen at the object (M5).

Three ways, and no other:
(a) the platform printed it about itself: one record of a platform emitter that explains (a reason,
    a message, "because", "failed: …") and holds both ends;
(b) a workload's own words, or an exception chain, explain it the same way, and a second record from
    another call holds either end;
(c) a tool recorded an abnormality at the subject, its onset lies wholly before the object's, and a
    recorded path leads between the two.
Text that a caller could have written proves no cause, nor does guidance, nor a change that merely
happened before. The code says which leg is missing.
"""

from __future__ import annotations

import re
from typing import Final

from affidavit.contract.evidence import Change, Edge, Line, Onset
from affidavit.contract.statement import CauseStatement
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.graph import find_edge
from affidavit.verify.statements.outcome import Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import select
from affidavit.verify.statements.timing import begin
from affidavit.verify.statements.words import names_in, stems_of

EXPLAINS: Final = re.compile(
    r"\b(because|due to|caused by|reason|cause|fail(?:ed|s|ure|ing)?|error|err|cannot|can't|could not"
    r"|unable|message|panic|exception|fatal|refused|denied|rejected|killed|exceeded|expired|since"
    r"|not found|exhausted|timed? out|timeout(?!\s?[=:_])|back-?off|unhealthy|mismatch)\b|因为|由于|原因|失败|错误|导致",
    re.IGNORECASE,
)
"""What makes a record an explanation and not only a list of things that stand side by side."""

_TELLS: Final = re.compile(r"[a-z]{2,40}: [a-z]{2,40} [a-z]")
"""What a platform says behind a colon: "neighbor 10.0.0.1 Down: interface flap"."""

_STATED: Final = re.compile(r"\b[Dd]own,? (?=[A-Z])")
"""A state with its reason behind it, as devices log it: "neighbor 10.0.0.1 Down Interface flap"."""

_EXPLAINING_FIELDS: Final = frozenset(
    "reason message error cause description detail err msg status exception".split()
)
HOPS_MAX: Final = 8
"""A longer way between two entities explains nothing that a reader could follow."""


def explains(record: RecordView) -> bool:
    """Whether a record explains something: it has a reason, an error, a "because"."""
    if any(frozenset(_last(field.name)) & _EXPLAINING_FIELDS for field in record.fields):
        return True
    if EXPLAINS.search(record.text) is not None:
        return True
    return record.emitter is Emitter.PLATFORM and (
        _TELLS.search(record.text) is not None or _STATED.search(record.text) is not None
    )


def explanation(record: RecordView) -> str:
    """What a record says as a reason: its reason and its message, or the line itself.

    A row that has no such field gives none: what stands beside a state does not explain it.
    """
    cells = [
        field.text
        for field in record.fields
        if not field.loose and field.text and frozenset(_last(field.name)) & _EXPLAINING_FIELDS
    ]
    if cells:
        return " ; ".join(dict.fromkeys(cells))
    named = any(not field.loose for field in record.fields)
    if named and record.at is None and record.shape != "line":
        return ""
    if isinstance(record.fact, Line) and record.shape != "report":
        return record.fact.text
    return record.text


_PARTED: Final = re.compile(
    r": |\b(?i:because)\b|\b(?i:due to)\b|\b(?i:caused by)\b|因为|由于|\b[Dd]own,? (?=[A-Z])"
)


def part_reason(text: str) -> tuple[str, str] | None:
    """What a text explains, and what it explains it by: around its last colon or "because".

    The reason ends at the bracket or semicolon behind it; what follows is about something else.
    """
    marks = list(_PARTED.finditer(text))
    if not marks:
        return None
    behind = re.split(r"[);]", text[marks[-1].end() :], maxsplit=1)[0]
    return text[: marks[-1].start()], behind


def is_reversed(text: str, cause: frozenset[str], effect: frozenset[str]) -> bool:
    """Whether a text explains the cause by the effect: what stands behind its last colon explains.

    Both are given as stems and names, lower case.
    """
    parts = part_reason(text)
    if parts is None:
        return False
    before, behind = parts
    explaining = stems_of(behind) | names_in(behind)
    explained = stems_of(before) | names_in(before)
    return not cause & explaining and bool(effect & explaining) and bool(cause & explained)


def _last(name: str) -> tuple[str, ...]:
    return (re.split(r"[.\[\]]+", name.casefold().rstrip("]"))[-1],)


def may_explain(call: CallView, record: RecordView) -> bool:
    """Whether a record's words may prove a cause at all (N16, N17)."""
    return (
        record.emitter is not Emitter.REQUEST
        and call.call.envelope.evidence_class is EvidenceClass.OBSERVATION
        and explains(record)
    )


def prove_cause(statement: CauseStatement, calls: tuple[CallView, ...]) -> Outcome:
    """Whether one of the three ways leads from subject to object."""
    printed = _printed(statement, calls)
    if printed is not None:
        return printed
    return prove_abnormal(statement, calls)


def _printed(statement: CauseStatement, calls: tuple[CallView, ...]) -> Outcome | None:
    """Ways (a) and (b); None where no record explains both ends."""
    lone = False
    for call in calls:
        for record in _both(statement, call):
            if not may_explain(call, record) or not _is_directed(statement, record):
                continue
            if record.emitter is Emitter.PLATFORM:
                return Proved(((call.id, record.facts),))
            second = _second(statement, call, calls)
            if second is not None:
                return Proved(((call.id, record.facts), second))
            lone = True
    return Unproved(SupportCode.CAUSE_ONE_RECORD) if lone else None


def _both(statement: CauseStatement, call: CallView) -> tuple[RecordView, ...]:
    """The records of a call that hold both ends, each with its attribute."""
    ends: list[frozenset[int]] = []
    for subject, attribute in (
        (statement.subject, statement.attribute),
        (statement.object, statement.object_attribute),
    ):
        records = select(call, subject)
        if isinstance(records, SupportCode):
            return ()
        words = stems_of(attribute or "")
        ends.append(frozenset(item.place for item in records if words <= item.stems))
    return tuple(call.records[place] for place in sorted(ends[0] & ends[1]))


def _is_directed(statement: CauseStatement, record: RecordView) -> bool:
    """Whether the record's reason speaks of the cause, and not of the effect instead."""
    text = explanation(record)
    cause = stems_of(statement.subject) | names_in(statement.subject)
    effect = stems_of(statement.object) | names_in(statement.object)
    if not cause & (stems_of(text) | names_in(text)):
        return False
    return not is_reversed(text, cause - effect, effect - cause)


def _second(
    statement: CauseStatement, call: CallView, calls: tuple[CallView, ...]
) -> tuple[str, tuple[int, ...]] | None:
    """A record from another call that holds either end."""
    for other in calls:
        if other.id == call.id or other.call.envelope.evidence_class is EvidenceClass.GUIDANCE:
            continue
        for end in (statement.subject, statement.object):
            records = select(other, end)
            if not isinstance(records, SupportCode) and len(records) < len(other.records) + 1:
                kept = [item for item in records if item.emitter is not Emitter.REQUEST]
                if kept:
                    return other.id, kept[0].facts
    return None


def prove_abnormal(statement: CauseStatement, calls: tuple[CallView, ...]) -> Outcome:
    """Way (c) alone: abnormality at the cause, before the symptom, along a recorded path."""
    sick = _abnormality(statement.subject, statement.attribute, calls)
    if sick is None:
        return Unproved(SupportCode.CAUSE_NO_ABNORMALITY)
    first = begin(statement.subject, statement.attribute, calls)
    second = begin(statement.object, statement.object_attribute, calls)
    if first is None or second is None or not first[0][1] < second[0][0]:
        return Unproved(SupportCode.CAUSE_NO_ORDER)
    way = find_way(statement.object, statement.subject, statement.hops, calls)
    if way is None:
        return Unproved(SupportCode.CAUSE_NO_PATH)
    legs = (sick, (first[1], (first[2],)), (second[1], (second[2],)), *way)
    return Proved(tuple(dict.fromkeys(legs)))


def _abnormality(
    subject: str, attribute: str | None, calls: tuple[CallView, ...]
) -> tuple[str, tuple[int, ...]] | None:
    for call in calls:
        records = select(call, subject)
        if isinstance(records, SupportCode):
            continue
        for record in records:
            fact = record.fact
            named = not attribute or bool(stems_of(attribute) & record.stems)
            if named and (isinstance(fact, Onset) or (isinstance(fact, Change) and fact.anomalous)):
                return call.id, record.facts
    return None


def find_way(
    source: str, target: str, hops: tuple[str, ...], calls: tuple[CallView, ...]
) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """The recorded edges from the entity that suffers to the one that it depends on, or None."""
    if hops:
        ends = {hops[0].casefold(), hops[-1].casefold()}
        if ends != {source.casefold(), target.casefold()}:
            return None
        ordered = hops if hops[0].casefold() == source.casefold() else tuple(reversed(hops))
        found = [find_edge(a, b, calls) for a, b in zip(ordered, ordered[1:], strict=False)]
        return None if None in found else tuple((f[0], (f[1],)) for f in found if f)
    return _search(source.casefold(), target.casefold(), calls)


def _search(
    source: str, target: str, calls: tuple[CallView, ...]
) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """Breadth first over the recorded edges, in their direction."""
    edges: dict[str, list[tuple[str, str, int]]] = {}
    for call in calls:
        for record in call.records:
            if isinstance(record.fact, Edge):
                edges.setdefault(record.fact.source.casefold(), []).append(
                    (record.fact.target.casefold(), call.id, record.facts[0])
                )
    reached: dict[str, tuple[tuple[str, tuple[int, ...]], ...]] = {source: ()}
    front = [source]
    for _ in range(HOPS_MAX):
        ahead: list[str] = []
        for node in front:
            for target_node, name, place in edges.get(node, ()):
                if target_node not in reached:
                    reached[target_node] = (*reached[node], (name, (place,)))
                    ahead.append(target_node)
        if target in reached:
            return reached[target] or None
        front = ahead
    return None
