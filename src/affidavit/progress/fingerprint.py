"""What makes two facts the same news? (P2)

A fingerprint keeps what a fact says and drops where it was asked: the scope, the moment of a
reading, the numbers inside a log line. A reading that moves in its third digit, or one more line of
a known template, is no news.
"""

from __future__ import annotations

import re
from decimal import Context
from typing import Final, assert_never

from affidavit.contract.evidence import (
    Cell,
    Change,
    Edge,
    Fact,
    Line,
    Onset,
    Quantity,
    Row,
    Value,
)

Fingerprint = tuple[str | None, ...]

GAIN_DIGITS: Final = 2
"""Significant digits that count as news: sampling noise lives in the third."""

ONSET_MINUTE: Final = "%Y-%m-%dT%H:%M"
"""An onset is news by the minute: the common sampling step of metrics."""

_VARYING: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # a UUID
    r"|\b(?=[0-9a-f]*[0-9])[0-9a-f]{8,}\b"  # a trace id, hash or address
    r"|[0-9]+(?:[.,:][0-9]+)*",  # a number, time or dotted address
    re.IGNORECASE,
)


def fingerprint(fact: Fact) -> Fingerprint:
    """The canonical, scope-free identity of what a fact says."""
    match fact:
        case Value():
            said = _round(fact.quantity) if fact.quantity else text_template(fact.text or "")
            return ("value", *_about(fact.subject, fact.attribute, fact.statistic), said)
        case Change():
            about = _about(fact.subject, fact.attribute, fact.statistic)
            abnormal = "anomalous" if fact.anomalous else "normal"
            return ("change", *about, fact.direction, abnormal, _round(fact.after))
        case Onset():
            minute = fact.latest.strftime(ONSET_MINUTE)
            return ("onset", *_about(fact.subject, fact.attribute, None), minute)
        case Line():
            return ("line", _name(fact.subject), _name(fact.level), text_template(fact.text))
        case Row():
            return ("row", _name(fact.subject), *(_cell(cell) for cell in fact.cells))
        case Edge():
            return ("edge", _name(fact.source), _name(fact.relation), _name(fact.target))
        case _:
            assert_never(fact)


def text_template(text: str) -> str:
    """A text without what varies from one occurrence to the next: ids, numbers, times, case."""
    return " ".join(_VARYING.sub("#", text).casefold().split())


def _about(subject: str, attribute: str, statistic: str | None) -> Fingerprint:
    return (_name(subject), _name(attribute), _name(statistic))


def _name(name: str | None) -> str | None:
    return None if name is None else " ".join(name.casefold().split())


def _round(quantity: Quantity) -> str:
    rounding = Context(prec=GAIN_DIGITS, traps=[])  # a number beyond its range is infinite
    return f"{rounding.plus(quantity.number).normalize(rounding):e} {quantity.unit}"


def _cell(cell: Cell) -> str:
    said = text_template(cell.text) if cell.text is not None else ""
    if cell.quantity is not None:
        said = _round(cell.quantity)
    return f"{_name(cell.name)}={said}"
