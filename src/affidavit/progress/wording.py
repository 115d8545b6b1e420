"""How a fact becomes words: one template a fact shape, from ledger values alone (C5, C9).

This is the only file that words a fact, a coverage gap or a lead. No template knows a cause, a path
or an order, so that none can be said. Times are RFC 3339 in UTC. What is too long is cut at the end
of a word, and the mark `…` says so.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final, assert_never

from affidavit.contract.evidence import (
    Cell,
    Change,
    Edge,
    Envelope,
    Fact,
    Line,
    Onset,
    Quantity,
    Row,
    Scope,
    Value,
    Window,
)
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.contract.record import format_instant
from affidavit.contract.snapshots import FACT_CHARS_MAX
from affidavit.contract.states import Emitter, EvidenceClass

QUOTE_CHARS_MAX: Final = 180
"""Of a fact's 320 characters; the rest says whose words they are, and where and when."""

NAME_CHARS_MAX: Final = 60
"""An entity, attribute or unit: longer than any real one, shorter than a sentence in disguise."""

QUERY_CHARS_MAX: Final = 60
"""A query says what was searched for; the record itself holds all of it."""

CELLS_MAX: Final = 6
"""Cells of a row that fit a line."""

DIGITS_MAX: Final = 24
"""Digits of a number that a person still reads; beyond them it is written with an exponent."""

CUT_MARK: Final = "…"


def word_fact(envelope: Envelope, fact: Fact) -> str:
    """One recorded fact as a sentence of at most 320 characters, with the scope it was read in."""
    kind = "Recorded change: " if envelope.evidence_class is EvidenceClass.CHANGE else ""
    scope = _scope(envelope.scope, _window_of(fact))
    return clip(f"{kind}{_fact(envelope, fact)}{scope}", FACT_CHARS_MAX)


def word_absence(envelope: Envelope) -> str:
    """An empty answer as what it is: nothing matched there, and nothing beyond that (G9)."""
    scope = envelope.scope
    parts = [name(f"{envelope.source_type} {envelope.source}")]
    if scope.tenant != LOCAL_TENANT:
        parts.append(f"tenant {name(scope.tenant)}")
    parts.append(f"service {name(scope.service)}" if scope.service else "any service")
    parts.append(span(scope.window) if scope.window else "no window")
    if scope.query:
        parts.append(_query(scope.query))
    return clip(
        f"Nothing matched in {', '.join(parts)}; this says nothing beyond that scope.",
        FACT_CHARS_MAX,
    )


def word_change(change: Change) -> str:
    """How much a reading moved: `up from 120 ms to 5000 ms (score 12.4)`."""
    score = "" if change.score is None else f" (score {number(change.score)})"
    if change.direction == "flat":
        return f"flat, {quantity(change.before)} before and {quantity(change.after)} now{score}"
    ends = f"from {quantity(change.before)} to {quantity(change.after)}"
    return f"{change.direction} {ends}{score}"


def word_signal(attribute: str, statistic: str | None) -> str:
    """An attribute with its statistic where it has one."""
    return name(attribute) if statistic is None else f"{name(attribute)} ({name(statistic)})"


def _fact(envelope: Envelope, fact: Fact) -> str:
    match fact:
        case Value():
            return _value(envelope, fact)
        case Change():
            return _change(fact)
        case Onset():
            return _onset(fact)
        case Line():
            return _line(envelope, fact)
        case Row():
            return _row(envelope, fact)
        case Edge():
            times = "" if fact.count is None else f" (seen {fact.count} times)"
            relation = name(fact.relation).replace("_", " ")
            return f"{name(fact.source)} {relation} {name(fact.target)}{times}."
        case _:
            assert_never(fact)


def _value(envelope: Envelope, fact: Value) -> str:
    said = (
        quantity(fact.quantity)
        if fact.quantity
        else _words(fact.text or "", fact.emitter or envelope.emitter)
    )
    when = f" at {format_instant(fact.at)}" if fact.at else ""
    within = f" over {span(fact.window)}" if fact.window else ""
    signal = word_signal(fact.attribute, fact.statistic)
    return f"{name(fact.subject)}: {signal} was {said}{when}{within}."


def _change(fact: Change) -> str:
    within = f" in {span(fact.window)}" if fact.window else ""
    baseline = f", baseline {span(fact.baseline)}" if fact.baseline else ""
    abnormal = "; abnormal by the scan's own rule" if fact.anomalous else ""
    signal = word_signal(fact.attribute, fact.statistic)
    return f"{name(fact.subject)}: {signal} {word_change(fact)}{within}{baseline}{abnormal}."


def _onset(fact: Onset) -> str:
    earliest, latest = format_instant(fact.earliest), format_instant(fact.latest)
    when = f"at {earliest}" if earliest == latest else f"between {earliest} and {latest}"
    return f"{name(fact.subject)}: the deviation of {name(fact.attribute)} began {when}."


_VERBS: Final[Mapping[Emitter, str]] = MappingProxyType(
    {
        Emitter.PLATFORM: "reported",
        Emitter.WORKLOAD: "logged",
        Emitter.REQUEST: "recorded text that a caller could have written",
    }
)


def _line(envelope: Envelope, fact: Line) -> str:
    who = name(fact.subject or envelope.scope.service or envelope.source)
    level = "" if fact.level is None else f" at level {name(fact.level)}"
    times = "" if fact.count is None else f" {fact.count} times"
    when = f" at {format_instant(fact.at)}" if fact.at else ""
    if when and times:
        when = f", one of them{when}"
    verb = _VERBS[fact.emitter or envelope.emitter]
    return f"{who} {verb}{level}{times}{when}: {quote(fact.text)}."


def _row(envelope: Envelope, fact: Row) -> str:
    cells = ", ".join(_cell(envelope, cell) for cell in fact.cells[:CELLS_MAX])
    more = f", {CUT_MARK}" if len(fact.cells) > CELLS_MAX else ""
    when = f" at {format_instant(fact.at)}" if fact.at else ""
    who = f"{name(fact.subject)}: " if fact.subject else ""
    return f"{who}{name(envelope.source)} holds a row{when} with {cells or 'no cells'}{more}."


def _cell(envelope: Envelope, cell: Cell) -> str:
    """A cell as it was written, where its text says more than the number read out of it."""
    if cell.text is not None:
        return f"{name(cell.name)} = {_words(cell.text, cell.emitter or envelope.emitter)}"
    return f"{name(cell.name)} = {'null' if cell.quantity is None else quantity(cell.quantity)}"


def _words(text: str, emitter: Emitter) -> str:
    """Quoted words, and a warning where a caller could have chosen them (C13)."""
    return f"{quote(text)} (a caller's words)" if emitter is Emitter.REQUEST else quote(text)


def _window_of(fact: Fact) -> Window | None:
    return fact.window if isinstance(fact, Value | Change) else None


def _scope(scope: Scope, said: Window | None) -> str:
    """The scope's service, window and query, without a window that the fact itself names."""
    parts = [
        f"service {name(scope.service)}" if scope.service else "",
        span(scope.window) if scope.window and scope.window != said else "",
        _query(scope.query) if scope.query else "",
    ]
    known = ", ".join(part for part in parts if part)
    return f" [{known}]" if known else ""


def _query(query: str) -> str:
    inner = plain(query).replace('"', "'")
    return f'query "{clip(inner, QUERY_CHARS_MAX)}"'


def span(window: Window) -> str:
    """A window in words."""
    return f"{format_instant(window.start)} to {format_instant(window.end)}"


def quantity(said: Quantity) -> str:
    """A number with its unit, as the ledger holds it."""
    unit = name(said.unit)
    if not unit:
        return number(said.number)
    return f"{number(said.number)}%" if unit == "%" else f"{number(said.number)} {unit}"


def number(said: Decimal) -> str:
    """A decimal exactly as recorded, without an exponent where it stays readable."""
    if said.is_zero():
        return "0"
    readable = -DIGITS_MAX < said.adjusted() < DIGITS_MAX and len(said.as_tuple().digits) <= (
        DIGITS_MAX
    )
    return f"{said:f}" if readable else f"{said:.6e}"


def quote(text: str) -> str:
    """Recorded words in quotation marks, on one line, cut where they are long."""
    inner = plain(text).replace('"', "'")  # so that what is quoted cannot end its own quotation
    return f'"{clip(inner, QUOTE_CHARS_MAX)}"'


def name(text: str) -> str:
    """A recorded name on one line, cut where it is no name any more."""
    return clip(plain(text), NAME_CHARS_MAX)


def plain(text: str) -> str:
    """A text on one line without control, direction or invisible characters."""
    kept = (
        " " if unicodedata.category(char) in {"Cc", "Zl", "Zp", "Zs"} else char
        for char in text
        if unicodedata.category(char) not in {"Cf", "Cs", "Co"}
    )
    return " ".join("".join(kept).split())


def clip(text: str, chars_max: int) -> str:
    """The text, or as many whole words of it as fit with the mark that something was cut."""
    if len(text) <= chars_max:
        return text
    head = text[: chars_max - len(CUT_MARK)]
    words = head.rsplit(" ", 1)
    whole = words[0] if len(words) == 2 and len(words[0]) >= chars_max // 2 else head
    return whole + CUT_MARK
