"""From facts to a draft whose sentences carry their proof in typed form (C4).

Every sentence says what one recorded fact says and names that fact's call: the words come from a
template, the numbers from the fact. Numbers are rounded to three significant digits, which is what
a person reads and what the check allows for. Nothing here claims a cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Context, Decimal
from typing import Final

from affidavit.contract.evidence import Change, Edge, Line, Onset, Quantity, Row, Scope
from affidavit.contract.record import format_instant

_DIGITS: Final = Context(prec=3)

_WHOLE_FROM: Final = 100
"""From here on three digits are no decimals."""

QUOTE_CHARS_MAX: Final = 160
"""As much of a log line as a reader needs to recognise it."""

_MARKS: Final = re.compile(r'["“”«»「」『』]')

UNTOLD_STATISTICS: Final = frozenset({"gauge", "value"})
"""How a metric is sampled, which is no statistic of it."""

_MOVES: Final[Mapping[str, str]] = {"up": "rose", "down": "fell", "flat": "stayed"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, the call that proves it and its typed statements."""

    text: str
    tool_call_id: str
    statements: tuple[Mapping[str, object], ...]

    def as_json(self) -> dict[str, object]:
        """The sentence in the wire form of a draft."""
        return {
            "text": self.text,
            "tool_call_ids": [self.tool_call_id],
            "statements": list(self.statements),
        }


def rounded(quantity: Quantity) -> Decimal:
    """The number to three significant digits, but never coarser than one; without exponent."""
    coarse = abs(quantity.number) >= _WHOLE_FROM
    number = quantity.number.to_integral_value() if coarse else _DIGITS.plus(quantity.number)
    return Decimal(format(number.normalize(), "f"))


def _json(number: Decimal) -> int | float:
    """The number as JSON writes it; three digits survive a float unchanged."""
    return int(number) if number == number.to_integral_value() else float(number)


_BYTES: Final = (("GB", Decimal(10) ** 9), ("MB", Decimal(10) ** 6), ("kB", Decimal(10) ** 3))


def readable(before: Quantity, after: Quantity) -> tuple[Quantity, Quantity]:
    """Both numbers in one unit that a person reads: bytes scaled, UCUM annotations dropped."""
    unit = before.unit
    if unit != after.unit:
        return before, after
    if unit == "By":
        size = max(abs(before.number), abs(after.number))
        name, step = next((item for item in _BYTES if size >= item[1]), ("B", Decimal(1)))
        return _divided(before, step, name), _divided(after, step, name)
    shown = re.sub(r"\{[^}]*\}", "", unit)
    shown = "" if shown in ("", "1") else shown.removeprefix("1")
    return _divided(before, Decimal(1), shown), _divided(after, Decimal(1), shown)


def _divided(quantity: Quantity, step: Decimal, unit: str) -> Quantity:
    return Quantity(number=rounded(Quantity(number=quantity.number / step)), unit=unit)


def _with_unit(quantity: Quantity) -> str:
    gap = "" if quantity.unit[:1] in ("", "%", "/") else " "
    return f"{rounded(quantity)}{gap}{quantity.unit}"


def signal_name(change: Change) -> str:
    """The attribute with its statistic, as a statement names it: `p95 latency`."""
    if change.statistic is None or change.statistic in UNTOLD_STATISTICS:
        return change.attribute
    return f"{change.statistic} {change.attribute}"


def say_move(change: Change) -> str:
    """The signal and its move, without the place."""
    before, after = readable(change.before, change.after)
    return (
        f"{signal_name(change)} {_MOVES[change.direction]} from"
        f" {_with_unit(before)} to {_with_unit(after)}"
    )


def say_change(change: Change, tool_call_id: str) -> Sentence:
    """What a scan found: a signal against its own baseline."""
    before, after = readable(change.before, change.after)
    text = f"At {change.subject}, {say_move(change)}."
    statement = {
        "kind": "change",
        "tool_call_id": tool_call_id,
        "subject": change.subject,
        "attribute": signal_name(change),
        "from": _json(before.number),
        "to": _json(after.number),
        "unit": after.unit,
        "direction": change.direction,
    }
    return Sentence(text, tool_call_id, (statement,))


def say_abnormal(change: Change, tool_call_id: str) -> Sentence:
    """A place that a scan calls abnormal by its own rule, and how far the signal moved."""
    said = say_change(change, tool_call_id)
    abnormal = {
        "kind": "membership",
        "tool_call_id": tool_call_id,
        "subject": change.subject,
        "attribute": signal_name(change),
        "set": "abnormal",
    }
    text = f"{change.subject} is abnormal: {say_move(change)}."
    return Sentence(text, tool_call_id, (abnormal, *said.statements))


def quotable(text: str) -> str:
    """The longest stretch without a quotation mark, of the words up to a bound, in whole words: a
    quotation within a quotation has no end that a reader could see."""
    words = " ".join(text.split())
    cut = words[:QUOTE_CHARS_MAX]
    if len(words) > QUOTE_CHARS_MAX and " " in cut:
        cut = cut.rsplit(" ", 1)[0]
    return max((piece.strip() for piece in _MARKS.split(cut)), key=len)


def say_line(line: Line, tool_call_id: str) -> Sentence:
    """Words that a service logged, quoted."""
    quoted = quotable(line.text)
    text = f'{line.subject} logged "{quoted}".'
    statement = {
        "kind": "quote",
        "tool_call_id": tool_call_id,
        "subject": line.subject,
        "text": quoted,
    }
    return Sentence(text, tool_call_id, (statement,))


def say_edge(edge: Edge, tool_call_id: str) -> Sentence:
    """A recorded relation."""
    verb = {"runs_on": "runs on", "reads": "reads"}.get(edge.relation, "calls")
    statement = {
        "kind": "edge",
        "tool_call_id": tool_call_id,
        "subject": edge.source,
        "object": edge.target,
    }
    return Sentence(f"{edge.source} {verb} {edge.target}.", tool_call_id, (statement,))


def say_onset(onset: Onset, direction: str, tool_call_id: str) -> Sentence:
    """When a signal began to move: not before the last moment at which it was as usual."""
    whole = format_instant(onset.earliest.replace(microsecond=0))
    statement = {
        "kind": "onset",
        "tool_call_id": tool_call_id,
        "subject": onset.subject,
        "attribute": onset.attribute,
        "at": format_instant(onset.earliest),
    }
    text = f"At {onset.subject}, {onset.attribute} {_MOVES[direction]} after {whole}."
    return Sentence(text, tool_call_id, (statement,))


def say_event(row: Row, tool_call_id: str) -> Sentence | None:
    """A change event as it was recorded, quoted; None where it has no words."""
    texts = {cell.name: cell.text for cell in row.cells}
    quoted = quotable(texts.get("body") or "")
    if not quoted or not texts.get("event"):
        return None
    place = f" of {row.subject}" if row.subject else ""
    statement = {"kind": "quote", "tool_call_id": tool_call_id, "text": quoted}
    text = f'The {texts["event"]}{place} reads "{quoted}".'
    return Sentence(text, tool_call_id, (statement,))


def say_absence(service: str, scope: Scope, what: str, tool_call_id: str) -> Sentence | None:
    """A scoped absence: this query, this service, this window, and nothing beyond (G9).

    Whole seconds inside the window that was looked at; None where there is no such window.
    """
    if scope.window is None:
        return None
    start = (scope.window.start + ALMOST_A_SECOND).replace(microsecond=0)
    end = scope.window.end.replace(microsecond=0)
    if end <= start:
        return None
    text = (
        f"No {what} of {service} was found from {format_instant(start)} to {format_instant(end)}."
    )
    statement = {
        "kind": "absence",
        "tool_call_id": tool_call_id,
        "subject": service,
        "query": scope.query,
        "window": {"start": format_instant(start), "end": format_instant(end)},
    }
    return Sentence(text, tool_call_id, (statement,))


ALMOST_A_SECOND: Final = timedelta(microseconds=999_999)


def analysis(id_: str, kind: str, sentences: Iterable[Sentence]) -> dict[str, object]:
    """One analysis in the wire form."""
    kept = tuple(sentences)
    return {
        "id": id_,
        "kind": kind,
        "sentences": [sentence.as_json() for sentence in kept],
        "tool_call_ids": list(dict.fromkeys(sentence.tool_call_id for sentence in kept)),
    }
