"""What a fact says, as words: its subject, its moment, its text as a reader would see it."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from affidavit.contract.evidence import Cell, Change, Edge, Fact, Line, Onset, Quantity, Row, Value
from affidavit.contract.record import format_instant
from affidavit.contract.states import Emitter
from affidavit.verify.statements.fields import KEY_VALUE


def subject_of(fact: Fact) -> str:
    """Who or what a fact is about; empty where it does not say."""
    match fact:
        case Edge():
            return f"{fact.source} {fact.target}"
        case _:
            return fact.subject or ""


def at_of(fact: Fact) -> datetime | None:
    """The moment of a fact, or None."""
    match fact:
        case Value() | Line() | Row():
            return fact.at
        case Onset():
            return fact.earliest
        case _:
            return None


def text_of(fact: Fact, *, own: bool) -> str:
    """A fact as a reader would see it; with `own`, without what a caller wrote."""
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


def stated_of(fact: Fact, *, counted: bool = True) -> str:
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
            return fact.subject if zero else text_of(fact, own=False)
        case Edge():
            return f"{fact.source} {fact.target}"
        case _:
            return text_of(fact, own=False)


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
