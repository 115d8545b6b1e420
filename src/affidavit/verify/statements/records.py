"""The facts of verified calls as records that words can be compared with.

One record is one fact of one envelope: its subject, its named fields with their numbers and units,
when it was, whose words it is, and every name and word that stands in it. Text lines give their
`key=value` pairs and their bare numbers as fields too. Nothing is inferred here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Final

from affidavit.contract.evidence import Cell, Change, Edge, Fact, Line, Onset, Quantity, Row, Value
from affidavit.contract.record import format_instant
from affidavit.contract.snapshots import VerifiedCall
from affidavit.contract.states import Emitter
from affidavit.verify.statements.moments import read_moments
from affidavit.verify.statements.units import named_unit, read_duration, unit_of
from affidavit.verify.statements.words import names_in, parts_of, stems_of

_PAIR: Final = re.compile(
    r"(?P<key>[A-Za-z_][\w.\-]{0,60}) ?[=:] ?\"?(?P<num>[+-]?\d{1,18}(?:\.\d{1,12})?)"
    r" ?(?P<unit>%|[A-Za-zµ]{1,12}(?:/s)?)?(?![\w.\-:])"
)
_BARE: Final = re.compile(
    r"(?<![\w.\-:/#])(?P<num>[+-]?\d{1,18}(?:\.\d{1,12})?)"
    r"(?: ?(?P<unit>%|[A-Za-zµ]{1,12}(?:/s)?))?(?![\w\-]|[.:]\d)"
)
_NUMBER: Final = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,3})?")
_WITH_UNIT: Final = re.compile(
    r"(?P<num>[+-]?\d{1,18}(?:\.\d{1,12})?) ?(?P<unit>%|[A-Za-zµ]{1,12}(?:/s)?)"
)
NEAR_CHARS: Final = 48
"""How far around a bare number its words may stand: about six words on either side."""


@dataclass(frozen=True, slots=True)
class Field:
    """One named value of a record; `loose` marks a number that stands in running text."""

    name: str
    names: frozenset[str]
    text: str
    number: Decimal | None = None
    unit: str = ""
    loose: bool = False


@dataclass(frozen=True)
class RecordView:
    """One fact of a call, ready to be compared with."""

    call: str
    place: int
    fact: Fact
    subject: str
    at: datetime | None
    emitter: Emitter
    fields: tuple[Field, ...]
    text: str

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name in the record, lower case."""
        return names_in(self.text) | names_in(self.subject)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Every word stem in the record, names cut into parts."""
        return stems_of(self.text) | stems_of(self.subject)

    @cached_property
    def squeezed(self) -> str:
        """The record's text with its runs of space made one."""
        return " ".join(self.text.split())

    @cached_property
    def moments(self) -> tuple[datetime, ...]:
        """Every moment that the record holds, its own first."""
        own = (self.at,) if self.at else ()
        return tuple(dict.fromkeys((*own, *read_moments(self.text))))


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
    def about(self) -> str:
        """What was asked, of what: tool, source and scope, and the projection's notes."""
        envelope = self.call.envelope
        return " ".join(
            (
                self.call.tool, envelope.source_type, envelope.source,
                envelope.scope.service or "", envelope.scope.query, *envelope.notes,
            )
        )  # fmt: skip

    @cached_property
    def by_name(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold a name."""
        return _invert((record.names for record in self.records))

    @cached_property
    def by_stem(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold a word stem."""
        return _invert((record.stems for record in self.records))

    @cached_property
    def by_owner(self) -> Mapping[str, frozenset[int]]:
        """The places of the records that hold something below a name: `web-6c9f` below `web`."""
        return _invert(
            (
                {name[:end] for name in record.names for end in _joints(name)}
                for record in self.records
            )
        )

    @cached_property
    def about_names(self) -> frozenset[str]:
        """The names in what was asked."""
        return names_in(self.about)

    @cached_property
    def about_stems(self) -> frozenset[str]:
        """The word stems in what was asked."""
        return stems_of(self.about)


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
    """One call's records."""
    envelope = call.envelope
    return CallView(
        call,
        tuple(
            _view(call.tool_call_id, place, fact, envelope.emitter)
            for place, fact in enumerate(envelope.facts)
        ),
    )


def _view(call: str, place: int, fact: Fact, emitter: Emitter) -> RecordView:
    own = fact.emitter if isinstance(fact, Line) and fact.emitter else emitter
    fields = tuple(_fields(fact))
    return RecordView(
        call=call,
        place=place,
        fact=fact,
        subject=_subject(fact),
        at=_at(fact),
        emitter=own,
        fields=fields,
        text=_text(fact),
    )


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


def _fields(fact: Fact) -> Iterator[Field]:
    match fact:
        case Value():
            name = f"{fact.attribute} {fact.statistic or ''}".strip()
            yield _field(name, fact.quantity, fact.text)
        case Change():
            name = f"{fact.attribute} {fact.statistic or ''}".strip()
            yield _field(f"{name} before", fact.before, None)
            yield _field(f"{name} after", fact.after, None)
        case Onset():
            yield Field(fact.attribute, stems_of(fact.attribute), format_instant(fact.earliest))
        case Line():
            if fact.count is not None:
                yield Field("count", frozenset({"count"}), str(fact.count), Decimal(fact.count))
            yield from read_fields(fact.text)
        case Row():
            for cell in fact.cells:
                yield from _cell(cell)
        case Edge():
            yield Field("source", frozenset({"source"}), fact.source)
            yield Field("target", frozenset({"target"}), fact.target)
            if fact.count is not None:
                yield Field("count", frozenset({"count"}), str(fact.count), Decimal(fact.count))


def _cell(cell: Cell) -> Iterator[Field]:
    whole = _field(cell.name, cell.quantity, cell.text)
    yield whole
    if whole.number is None and cell.text:
        yield from read_fields(cell.text, cell.name)


def _field(name: str, quantity: Quantity | None, text: str | None) -> Field:
    names = stems_of(name)
    if quantity is not None:
        unit = quantity.unit or named_unit(parts_of(name))
        shown = text or f"{quantity.number} {unit}".strip()
        return Field(name, names, shown, quantity.number, unit)
    number, unit = read_number(text or "")
    return Field(name, names, text or "", number, unit or named_unit(parts_of(name)))


def read_number(text: str) -> tuple[Decimal | None, str]:
    """The number and unit that a whole text is, or None: `17`, `7.9GiB`, `00:06:41`, `2m48s`."""
    bare = text.strip()
    if _NUMBER.fullmatch(bare):
        try:
            return Decimal(bare), ""
        except InvalidOperation:
            return None, ""
    united = _WITH_UNIT.fullmatch(bare)
    if united and unit_of(united["unit"]):
        return Decimal(united["num"]), united["unit"]
    seconds = read_duration(bare)
    return (seconds, "s") if seconds is not None else (None, "")


def read_fields(text: str, name: str = "") -> Iterator[Field]:
    """The numbers of running text: `key=value` pairs by their key, bare ones by the whole text."""
    taken: set[int] = set()
    outer = stems_of(name)
    for pair in _PAIR.finditer(text):
        taken.add(pair.start("num"))
        unit = pair["unit"] or ""
        key = pair["key"]
        unit = unit if unit_of(unit) else named_unit(parts_of(key))
        yield Field(key, stems_of(key) | outer, pair["num"], Decimal(pair["num"]), unit)
    for bare in _BARE.finditer(text):
        if bare.start("num") not in taken:
            unit = bare["unit"] or ""
            near = text[max(0, bare.start() - NEAR_CHARS) : bare.end() + NEAR_CHARS]
            yield Field(
                name, outer | stems_of(near), bare["num"], Decimal(bare["num"]),
                unit if unit_of(unit) else "", loose=True,
            )  # fmt: skip


def _text(fact: Fact) -> str:
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
            return f"{fact.subject or ''} {fact.level or ''} {fact.text}"
        case Row():
            return " ".join(
                (fact.subject or "", *(f"{c.name} {_cell_text(c)}" for c in fact.cells))
            )
        case Edge():
            return f"{fact.source} {fact.relation} {fact.target}"


def _cell_text(cell: Cell) -> str:
    if cell.text is not None:
        return cell.text
    return _shown(cell.quantity) if cell.quantity is not None else ""


def _shown(quantity: Quantity) -> str:
    return f"{quantity.number} {quantity.unit}".strip()
