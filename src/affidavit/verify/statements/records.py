"""The facts of verified calls as records that words can be compared with.

One record is one item: a log entry, a table row, a reading, an edge. Readers give a line and the
fields that stand in it as two facts; here they are one record again, so that what was said together
is found together. Nothing is inferred here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final

from affidavit.contract.evidence import Cell, Change, Edge, Fact, Line, Onset, Quantity, Row, Value
from affidavit.contract.record import format_instant
from affidavit.contract.snapshots import VerifiedCall
from affidavit.contract.states import Emitter
from affidavit.verify.statements.fields import KEY_VALUE, Field, fields_of
from affidavit.verify.statements.moments import Moment, find_moments
from affidavit.verify.statements.words import names_in, parts_of, stems_of


@dataclass(frozen=True)
class RecordView:
    """One item of a call, ready to be compared with.

    `place` is its place among the call's records, `facts` its places among the envelope's facts;
    `fact` is the first of them. `own` is its text without what a caller could have written.
    """

    call: str
    place: int
    facts: tuple[int, ...]
    fact: Fact
    subject: str
    at: datetime | None
    emitter: Emitter
    fields: tuple[Field, ...]
    text: str
    own: str
    shape: str
    stated: str
    told: str = ""

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name in the record, lower case."""
        return names_in(self.text) | names_in(self.subject)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Every word stem in the record, names cut into parts."""
        return stems_of(self.text) | stems_of(self.subject)

    @cached_property
    def claimed(self) -> frozenset[str]:
        """The stems that the record states: its values, and the names of what is true or not zero.

        The name of a column ("READY", "Failed") says that it was looked at, not that it is so.
        """
        return stems_of(self.stated)

    @cached_property
    def happened(self) -> frozenset[str]:
        """The stems of what the record says in its values and its text, and not as a name."""
        return stems_of(self.told or self.stated)

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The names in what no caller could have written."""
        return names_in(self.own) | names_in(self.subject)

    @cached_property
    def own_stems(self) -> frozenset[str]:
        """The stems in what no caller could have written."""
        return stems_of(self.own) | stems_of(self.subject)

    @cached_property
    def squeezed(self) -> str:
        """The record's text with its runs of space made one."""
        return " ".join(self.text.split())

    @cached_property
    def moments(self) -> tuple[datetime, ...]:
        """Every moment that the record holds, its own first."""
        own = (self.at,) if self.at else ()
        written = (moment.instant() for moment in self.written)
        return tuple(dict.fromkeys((*own, *(at for at in written if at is not None))))

    @cached_property
    def dated(self) -> tuple[tuple[Field, Moment], ...]:
        """The fields that hold a moment. A length of time (`00:06:41`) is none."""
        return tuple(
            (item, moment)
            for item in self.fields
            if not item.loose and not (item.number is not None and item.unit == "s")
            for moment in find_moments(item.text)
        )

    @cached_property
    def written(self) -> tuple[Moment, ...]:
        """Every moment that is written in the record, whole or in part."""
        spans = {
            item.text.strip() for item in self.fields if item.number is not None and item.unit == "s"
        }
        return tuple(moment for moment in find_moments(self.text) if moment.text.strip() not in spans)

    def stands_at(self, moment: Moment) -> bool:
        """Whether the record holds this moment, as an instant or as it is written."""
        return any(moment.matches(at) for at in self.moments) or any(
            moment.is_like(other) for other in self.written if other.instant() is None
        )

    @property
    def when(self) -> datetime | None:
        """When the record was; for a row named by its only moment, that one."""
        if self.at is not None:
            return self.at
        if len(self.written) != 1:
            return None
        only = self.written[0]
        return only.instant() or only.midnight()

    @property
    def is_dated(self) -> bool:
        """Whether the record holds any moment at all."""
        return bool(self.moments or self.written)


@dataclass(frozen=True)
class CallView:
    """One verified call: its records, and the words that speak of all of it."""

    call: VerifiedCall
    records: tuple[RecordView, ...]

    @property
    def id(self) -> str:
        """The call's id."""
        return self.call.tool_call_id

    @cached_property
    def arguments(self) -> tuple[tuple[str, str], ...]:
        """What was asked, as name and value; a query that is no JSON object has the name query."""
        query = self.call.envelope.scope.query
        try:
            asked = json.loads(query) if query.startswith("{") else None
        except ValueError:
            asked = None
        if not isinstance(asked, dict):
            return (("query", query),) if query else ()
        return tuple(_flat(asked, ""))

    @cached_property
    def about(self) -> str:
        """What was asked, of what: tool, source and scope, and the projection's notes."""
        envelope = self.call.envelope
        asked = " ".join(f"{name} {value}" for name, value in self.arguments)
        return " ".join(
            (self.call.tool, envelope.source_type, envelope.source, envelope.scope.service or "",
             asked)
        )  # fmt: skip

    @cached_property
    def by_name(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold a name."""
        return _invert(record.names for record in self.records)

    @cached_property
    def by_stem(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold a word stem."""
        return _invert(record.stems for record in self.records)

    @cached_property
    def by_part(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold a word letter for letter, a plural s aside."""
        return _invert(
            {part[:-1] if part.endswith("s") and len(part) > 3 and part[-2] != "s" else part
             for part in parts_of(record.text)}
            for record in self.records
        )  # fmt: skip

    @cached_property
    def by_claim(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that state a word stem, and not only name a column by it."""
        return _invert(record.claimed for record in self.records)

    @cached_property
    def by_event(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that say a word stem in a value or in text."""
        return _invert(record.happened for record in self.records)

    @cached_property
    def values(self) -> frozenset[str]:
        """Every subject, and every value that is one word, lower case."""
        items = [record for record in self.records if record.place not in self.frames]
        found = {record.subject.casefold() for record in items}
        for record in items:
            found.update(
                field.text.casefold() for field in record.fields
                if field.number is None and not field.loose and " " not in field.text.strip()
            )  # fmt: skip
        return frozenset(found - {""} - self.about_names)

    @cached_property
    def frames(self) -> frozenset[int]:
        """The records that stand around the items and are none of them: what holds for all."""
        sizes = Counter(record.shape for record in self.records)
        subjects = any(record.subject for record in self.records)
        if max(sizes.values(), default=0) < 2:
            return frozenset()
        return frozenset(
            record.place for record in self.records
            if (sizes[record.shape] == 1 and record.shape.startswith(("row", "text of")))
            or (record.shape == "line" and not record.subject and record.at is None and subjects)
        )  # fmt: skip

    @cached_property
    def framed(self) -> frozenset[str]:
        """The names in those records."""
        return frozenset().union(*(self.records[place].names for place in self.frames))

    @cached_property
    def by_owner(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold something below a name: `web-6c9f` below `web`."""
        return _invert(
            {name[:end] for name in record.names for end in _joints(name)}
            for record in self.records
        )

    @cached_property
    def by_tail(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold something that ends in a name: `a.b.Pool` in `Pool`."""
        return _invert(
            {name[start + 1 :] for name in record.names for start in _joints(name)}
            for record in self.records
        )

    @cached_property
    def about_names(self) -> frozenset[str]:
        """The names in what was asked."""
        return names_in(self.about)

    @cached_property
    def about_tails(self) -> frozenset[str]:
        """What those names end in, behind a joint."""
        return frozenset(name[at + 1 :] for name in self.about_names for at in _joints(name))

    @cached_property
    def about_stems(self) -> frozenset[str]:
        """The word stems in what was asked."""
        return stems_of(self.about)

    @cached_property
    def source_stems(self) -> frozenset[str]:
        """The words of the tool's and the source's names."""
        return stems_of(f"{self.call.tool} {self.call.envelope.source}")

    @cached_property
    def edges(self) -> tuple[RecordView, ...]:
        """The records that are edges."""
        return tuple(record for record in self.records if isinstance(record.fact, Edge))


def _flat(value: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _flat(inner, name)
    elif value is not None:
        yield name, str(value)


@dataclass(frozen=True)
class Evidence:
    """Every cited call of a draft, by id."""

    calls: Mapping[str, CallView] = field(default_factory=dict)

    def of(self, ids: tuple[str, ...]) -> tuple[CallView, ...]:
        """The calls with these ids that are there, in this order."""
        return tuple(self.calls[name] for name in ids if name in self.calls)


def _invert(sets: Iterable[AbstractSet[str]]) -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for place, names in enumerate(sets):
        for name in names:
            found.setdefault(name, set()).add(place)
    return {name: frozenset(places) for name, places in found.items()}


JOINTS_MAX: Final = 24
"""A name with more joints than this is text; it names nothing below its first parts."""


def _joints(name: str) -> tuple[int, ...]:
    """Where a name could end and still name the owner of the whole."""
    ends = (place for place, sign in enumerate(name) if place > 1 and not sign.isalnum())
    return tuple(ends)[:JOINTS_MAX]


def read_evidence(calls: tuple[VerifiedCall, ...]) -> Evidence:
    """The records of verified calls. Linear in their text."""
    return Evidence({call.tool_call_id: view_call(call) for call in calls})


def view_call(call: VerifiedCall) -> CallView:
    """One call's records, facts of one item together."""
    envelope = call.envelope
    groups: list[list[int]] = []
    for place, fact in enumerate(envelope.facts):
        if groups and _joins([envelope.facts[index] for index in groups[-1]], fact):
            groups[-1].append(place)
        else:
            groups.append([place])
    groups, asides = _part_asides(groups, envelope.facts)
    groups = [
        *groups,
        *_whole_report(groups, envelope.facts),
        *_same_subjects(groups, envelope.facts, envelope.scope.service),
        *_bursts(groups, envelope.facts),
    ]
    return CallView(
        call,
        tuple(
            view_item(
                call.tool_call_id, place, tuple(group), envelope.facts, envelope.emitter,
                asides.get(getattr(envelope.facts[group[0]], "subject", None) or "", ""),
            )
            for place, group in enumerate(groups)
        ),
    )  # fmt: skip


def _part_asides(
    groups: list[list[int]], facts: tuple[Fact, ...]
) -> tuple[list[list[int]], dict[str, str]]:
    """The labels of a series stand beside each of its readings, and are no item of their own."""
    subjects = {fact.subject for fact in facts if isinstance(fact, Value)}
    kept: list[list[int]] = []
    asides: dict[str, str] = {}
    for group in groups:
        first = facts[group[0]]
        if (
            len(group) == 1 and isinstance(first, Row) and first.subject in subjects
            and first.subject not in asides and first.at is None
        ):  # fmt: skip
            asides[first.subject or ""] = _text(first, own=False)
        else:
            kept.append(group)
    return kept, asides


def _whole_report(groups: list[list[int]], facts: tuple[Fact, ...]) -> list[list[int]]:
    """Undated `key: value` lines of one subject, as one record beside the lines themselves."""
    lines = [group[0] for group in groups if isinstance(facts[group[0]], Line)]
    if len(lines) < REPORT_LINES_MIN or len(lines) != len(groups):
        return []
    texts = [facts[place] for place in lines]
    subjects = {getattr(fact, "subject", None) for fact in texts}
    pairs = sum(1 for fact in texts if isinstance(fact, Line) and KEY_VALUE.fullmatch(fact.text))
    dated = any(getattr(fact, "at", None) for fact in texts)
    if len(subjects) > 1 or dated or pairs * 2 < len(lines) or len(lines) > REPORT_LINES_MAX:
        return []
    return [lines]


def _same_subjects(
    groups: list[list[int]], facts: tuple[Fact, ...], service: str | None
) -> list[list[int]]:
    """Undated items of different shapes about one thing, as one record beside them.

    An answer's status line and its body, a thing's state and its limits: what is said of one thing
    in several places of one result. Not of the call's own subject, which everything is about.
    """
    by_subject: dict[str, list[list[int]]] = {}
    for group in groups:
        first = facts[group[0]]
        if isinstance(first, (Line, Row)) and first.subject and first.subject != service:
            by_subject.setdefault(first.subject, []).append(group)
    found: list[list[int]] = []
    for items in by_subject.values():
        rows = [_shape([facts[at] for at in item]) for item in items if isinstance(facts[item[0]], Row)]
        times = {getattr(facts[item[0]], "at", None) for item in items} - {None}
        if 2 <= len(items) <= SAME_SUBJECT_MAX and len(rows) == len(set(rows)) and len(times) < 2:
            found.append([at for item in items for at in item])
    return found


def _bursts(groups: list[list[int]], facts: tuple[Fact, ...]) -> list[list[int]]:
    """Lines that one source wrote in the same instant, as one record beside them."""
    runs: list[list[list[int]]] = []
    last: tuple[object, object] = (None, None)
    for group in groups:
        first = facts[group[0]]
        key = (getattr(first, "subject", None), getattr(first, "at", None))
        if isinstance(first, Line) and key[1] is not None and key == last:
            runs[-1].append(group)
        else:
            runs.append([group])
        last = key
    return [
        [at for group in run for at in group]
        for run in runs if 1 < len(run) <= BURST_MAX and not any(_is_request(facts[at]) for group in run for at in group)
    ]  # fmt: skip


def _is_request(fact: Fact) -> bool:
    """Whether a fact holds what a caller sent: requests of one instant have nothing in common."""
    if isinstance(fact, Line):
        return fact.emitter is Emitter.REQUEST
    return isinstance(fact, Row) and any(cell.emitter is Emitter.REQUEST for cell in fact.cells)


BURST_MAX: Final = 8
"""More lines of one instant are a dump, and belong together no more than any others."""
SAME_SUBJECT_MAX: Final = 12
"""More items about one subject are a log of it."""
REPORT_LINES_MIN: Final = 3
REPORT_LINES_MAX: Final = 400
"""A longer list of lines is a file and no report about one thing."""


def _joins(group: list[Fact], fact: Fact) -> bool:
    """Whether a line or a row is the same item as the facts before it."""
    first = group[0]
    if not isinstance(fact, (Line, Row)) or not isinstance(first, (Line, Row)):
        return False
    if fact.subject != first.subject and not _names_own_line(first, fact):
        return False
    if fact.at != first.at and first.at is not None:
        return False
    if isinstance(fact, Row):
        listed = any(cell.name == "list" for cell in fact.cells)
        return not listed and not any(isinstance(item, Row) for item in group)
    texts = [item.text for item in group if isinstance(item, Line)]
    if texts:
        return all(fact.text in text for text in texts)
    return any(
        cell.text is not None and (fact.text in cell.text or cell.text in fact.text)
        for item in group if isinstance(item, Row) for cell in item.cells
        if cell.text is not None and len(cell.text) > MESSAGE_CHARS_MIN
    )  # fmt: skip


PARTS_OF_ITEM_MAX: Final = 4
"""An item has its line, what the server said of it, and its fields; more parts are a report."""

MESSAGE_CHARS_MIN: Final = 7
"""A cell shorter than this is no message that a line would repeat."""


def _names_own_line(first: Fact, fact: Fact) -> bool:
    """Whether a row's subject stands in the line before it, which had none."""
    return (
        isinstance(first, Line) and first.subject is None and isinstance(fact, Row)
        and fact.subject is not None and fact.subject in first.text
    )  # fmt: skip


def view_item(
    call: str,
    place: int,
    group: tuple[int, ...],
    facts: tuple[Fact, ...],
    emitter: Emitter,
    aside: str = "",
) -> RecordView:
    """Some facts of one item as one record."""
    parts = [facts[index] for index in group]
    first = parts[0]
    texts = dict.fromkeys((*(_text(fact, own=False) for fact in parts), aside))
    return RecordView(
        call=call,
        place=place,
        facts=group,
        fact=first,
        subject=next((found for fact in parts if (found := _subject(fact))), ""),
        at=next((found for fact in parts if (found := _at(fact))), None),
        emitter=_emitter(parts, emitter),
        fields=_fields(parts),
        text=" \n ".join(texts),
        own=" ".join((*(_text(fact, own=True) for fact in parts), aside)),
        stated=" ; ".join(_stated(fact) for fact in parts),
        told=" ; ".join(_stated(fact, counted=False) for fact in parts),
        shape="report" if len(group) > PARTS_OF_ITEM_MAX or _is_union(parts) else _shape(parts),
    )


def _fields(parts: list[Fact]) -> tuple[Field, ...]:
    """Every named value; a line's bare numbers only where no cell beside it holds them."""
    cells = [item for fact in parts if not isinstance(fact, Line) for item in fields_of(fact)]
    known = {item.number for item in cells if item.number is not None}
    lines = [
        item for fact in parts if isinstance(fact, Line) for item in fields_of(fact)
        if not (cells and item.loose and item.number in known)
    ]  # fmt: skip
    return tuple(dict.fromkeys((*cells, *lines)))


def _emitter(parts: list[Fact], emitter: Emitter) -> Emitter:
    """Whose words the item's own part is; a request's only when it has no other."""
    own = [fact.emitter if isinstance(fact, Line) and fact.emitter else emitter for fact in parts]
    return next((item for item in own if item is not Emitter.REQUEST), Emitter.REQUEST)


def _shape(parts: list[Fact]) -> str:
    """What kind of item it is: a line, or a row of which list and with which first cell."""
    if any(isinstance(fact, Line) and isinstance(parts[0], Line) for fact in parts):
        return "line"
    first = parts[0]
    if isinstance(first, Value) and first.quantity is None:
        return f"text of {first.attribute}"
    if not isinstance(first, Row):
        return first.kind
    listed = next((cell.text or "" for cell in first.cells if cell.name == "list"), "")
    heading = first.cells[0].name if first.cells and not listed else ""
    return f"row {listed}{heading}"


def _is_union(parts: list[Fact]) -> bool:
    """Whether parts are several items: two lines of which neither repeats the other."""
    lines = [fact.text for fact in parts if isinstance(fact, Line)]
    return any(
        one not in other and other not in one
        for place, one in enumerate(lines) for other in lines[place + 1 :]
    )  # fmt: skip


def _subject(fact: Fact) -> str:
    match fact:
        case Edge():
            return f"{fact.source} {fact.target}"
        case _:
            return fact.subject or ""


def _at(fact: Fact) -> datetime | None:
    match fact:
        case Value() | Line() | Row():
            return fact.at
        case Onset():
            return fact.earliest
        case _:
            return None


def _text(fact: Fact, *, own: bool) -> str:
    match fact:
        case Value():
            shown = fact.text if fact.quantity is None else _shown(fact.quantity)
            when = format_instant(fact.at) if fact.at else ""
            return f"{fact.subject} {fact.attribute} {fact.statistic or ''} {shown} {when}"
        case Change():
            return (
                f"{fact.subject} {fact.attribute} {fact.statistic or ''} "
                f"{_shown(fact.before)} {_shown(fact.after)} {fact.direction}"
            )
        case Onset():
            return f"{fact.subject} {fact.attribute} {format_instant(fact.earliest)}"
        case Line():
            if own and fact.emitter is Emitter.REQUEST:
                return ""
            return f"{fact.level or ''} {fact.text}".strip()
        case Row():
            return " ; ".join(
                f"{_cell_name(cell)} {_cell_text(cell)}" for cell in fact.cells
                if not (own and cell.emitter is Emitter.REQUEST)
            )  # fmt: skip
        case Edge():
            return f"{fact.source} {fact.relation} {fact.target}"


def _cell_name(cell: Cell) -> str:
    """A cell's name, and the last part of a path on its own: `status.lastScheduleTime`."""
    last = cell.name.rsplit(".", 1)[-1]
    return cell.name if last == cell.name else f"{cell.name} {last}"


_DIFF_MARKS: Final = {"-": "removed", "+": "added"}
"""What a line of a diff says by its first sign (POSIX diff, unified format)."""
_NAUGHT: Final = frozenset({"", "false", "f", "no", "none", "null", "0", "n/a", "-", "<none>"})


def _stated(fact: Fact, *, counted: bool = True) -> str:
    """What a fact states: its values, and the names of values that are not false, zero or none.

    Without `counted` the names of numbers are left out: what a column counts need not have happened.
    """
    match fact:
        case Row():
            return " ; ".join(
                cell_text if not _names_too(cell, cell_text, counted=counted)
                else f"{cell.name} {cell_text}"
                for cell in fact.cells if (cell_text := _cell_text(cell))
            )  # fmt: skip
        case Line():
            marked = _DIFF_MARKS.get(fact.text[:1], "")
            if marked:
                return f"{marked} {fact.text}"
            pair = KEY_VALUE.fullmatch(fact.text)
            if pair is None:
                return fact.text
            value = pair["value"].strip()
            naught = value.casefold() in _NAUGHT
            return value if naught else f"{pair['key']} {value}"
        case Value():
            zero = fact.quantity is not None and fact.quantity.number == 0
            return fact.subject if zero else _text(fact, own=False)
        case Edge():
            return f"{fact.source} {fact.target}"
        case _:
            return _text(fact, own=False)


def _names_too(cell: Cell, text: str, *, counted: bool) -> bool:
    """Whether a cell's name is stated with its value: it is true, or counts something."""
    if "/" in cell.name:
        return False
    if cell.quantity is not None:
        return counted and cell.quantity.number != 0
    return text.casefold() in {"true", "t", "yes"}


def _cell_text(cell: Cell) -> str:
    if cell.text is not None:
        return cell.text
    return _shown(cell.quantity) if cell.quantity is not None else ""


def _shown(quantity: Quantity) -> str:
    return f"{quantity.number} {quantity.unit}".strip()
