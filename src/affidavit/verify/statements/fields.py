"""The named values of a fact: cells, readings, and the numbers that stand in running text.

`key=value` and `key: value` pairs are named by their key; a bare number by the words around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Final

from affidavit.contract.evidence import Cell, Change, Edge, Fact, Line, Onset, Quantity, Row, Value
from affidavit.contract.record import format_instant
from affidavit.verify.statements.moments import find_moments
from affidavit.verify.statements.units import named_unit, read_duration, unit_of
from affidavit.verify.statements.words import parts_of, stems_of

_PAIR: Final = re.compile(
    r"(?P<key>[A-Za-z_%][\w.\-%]{0,60}) ?[=:] ?\"?(?P<num>[+-]?\d{1,18}(?:\.\d{1,12})?)"
    r" ?(?P<unit>%|[A-Za-zµ]{1,12}(?:/s)?)?(?![\w.\-:])"
)
_BARE: Final = re.compile(
    r"(?<![\w.\-:/#])(?P<num>[+-]?\d{1,18}(?:\.\d{1,12})?)"
    r"(?: ?(?P<unit>%|[A-Za-zµ]{1,12}(?:/s)?))?(?![\w\-]|[.:]\d)"
)
_NUMBER: Final = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,3})?")
_WITH_UNIT: Final = re.compile(
    r"(?P<num>[+-]?\d{1,18}(?:\.\d{1,12})?) ?(?P<unit>%|°?[A-Za-zµ]{1,12}(?:/s)?)"
)
KEY_VALUE: Final = re.compile(
    r"\s{0,40}(?P<key>[A-Za-z_%][\w .()/%\-]{0,60}?) ?[:=] ?(?P<value>\S.{0,300})"
)
"""A whole line that names one value."""
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
    tight: frozenset[str] = frozenset()


def fields_of(fact: Fact) -> Iterator[Field]:
    """The named values of one fact."""
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
            named = KEY_VALUE.fullmatch(fact.text)
            if named and read_number(named["value"])[0] is None:
                key = named["key"]
                yield Field(key, stems_of(key), named["value"].strip())
            yield from read_fields(fact.text)
        case Row():
            unit = _measured_in(fact.cells)
            for cell in fact.cells:
                for field in _cell(cell):
                    yield _measured(field, unit)
        case Edge():
            yield Field("source", frozenset({"source"}), fact.source)
            yield Field("target", frozenset({"target"}), fact.target)
            if fact.count is not None:
                yield Field("count", frozenset({"count"}), str(fact.count), Decimal(fact.count))


_MEASURE: Final = frozenset("metric signal measure measurement indicator kpi metric_name".split())
_READING: Final = frozenset(
    "value baseline before after current previous peak last latest observed expected threshold".split()
)
"""Columns of a row that names in another cell what it measures, and in what."""


def _measured_in(cells: Sequence[Cell]) -> str:
    """The unit in the name of what a row measures: `signal: connect_time_ms.p95`; empty for none."""
    named = [cell.text for cell in cells if cell.name.casefold() in _MEASURE and cell.text]
    return _unit_in(named[0]) if len(named) == 1 else ""


def _measured(field: Field, unit: str) -> Field:
    bare = field.number is not None and not field.unit and not field.loose
    return (
        replace(field, unit=unit) if unit and bare and field.name.casefold() in _READING else field
    )


_CRON: Final = re.compile(r"\*/(\d{1,2}) \* \* \* \*")


def _cell(cell: Cell) -> Iterator[Field]:
    every = _CRON.fullmatch(cell.text or "")
    if every:
        yield Field(cell.name, stems_of(f"{cell.name} every"), every[1], Decimal(every[1]), "min")
    whole = _field(cell.name, cell.quantity, cell.text)
    yield whole
    if cell.text and (whole.number is None or not read_number(cell.text)[0]):
        yield from read_fields(cell.text, cell.name)


def _field(name: str, quantity: Quantity | None, text: str | None) -> Field:
    names = stems_of(name)
    if quantity is not None:
        unit = quantity.unit or _unit_in(name)
        shown = text or f"{quantity.number} {unit}".strip()
        return Field(name, names, shown, quantity.number, unit)
    number, unit = read_number(text or "")
    return Field(name, names, text or "", number, unit or _unit_in(name))


def _unit_in(name: str) -> str:
    return "%" if "%" in name else named_unit(parts_of(name))


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
    if united and united["unit"] in _PHYSICAL:
        return Decimal(united["num"]), ""
    seconds = read_duration(bare)
    return (seconds, "s") if seconds is not None else (None, "")


_PHYSICAL: Final = frozenset("C °C W kW V mV A mA Hz kHz MHz GHz dB dBm kPa hPa".split())
"""Units that are never converted here: the number behind one is compared as it stands."""


def read_fields(text: str, name: str = "") -> Iterator[Field]:
    """The numbers of running text: `key=value` pairs by their key, bare ones by their neighbours.

    Digits of a written moment are no numbers.
    """
    taken: set[int] = set()
    for moment in find_moments(text):
        taken.update(range(moment.start, moment.end))
    outer = stems_of(name)
    for pair in _PAIR.finditer(text):
        if pair.start("num") in taken:
            continue
        taken.add(pair.start("num"))
        unit = pair["unit"] or ""
        key = pair["key"]
        unit = unit if unit_of(unit) else _unit_in(key)
        yield Field(key, stems_of(key) | outer, pair["num"], Decimal(pair["num"]), unit)
    for bare in _BARE.finditer(text):
        if bare.start("num") not in taken:
            unit = bare["unit"] or ""
            start, end = bare.span()
            yield Field(
                name=name,
                names=outer | stems_of(_near(text, start, end)),
                text=bare["num"],
                number=Decimal(bare["num"]),
                unit=unit if unit_of(unit) else "",
                loose=True,
                tight=outer | stems_of(_tight(text, start, end)),
            )


TIGHT_WORDS: Final = 2
"""The words on either side of a number that most likely say what it measures."""


def _tight(text: str, start: int, end: int) -> str:
    near = _near(text, start, end)
    at = text.rfind(near, 0, end) if near else -1
    left = text[max(at, 0) : start].split()[-TIGHT_WORDS:]
    right = text[end : max(at, 0) + len(near)].split()[:TIGHT_WORDS]
    return " ".join((*left, *right))


_PARTING: Final = frozenset(",;|()")


def _near(text: str, start: int, end: int) -> str:
    """The words around a number, up to a comma, a bar or a bracket on either side."""
    left, right = start, end
    while left > max(0, start - NEAR_CHARS) and text[left - 1] not in _PARTING:
        left -= 1
    while right < min(len(text), end + NEAR_CHARS) and text[right] not in _PARTING:
        right += 1
    return text[left:right]
