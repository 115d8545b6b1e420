"""Does the evidence refute what could not be bound, or does it only not bind it? (M4)

The embedded judge refuses either. A model judge may only overrule the second: what the cited
results hold, and no rule could read together. So a number, a moment or a name that stands in none
of them is a contradiction ("do not hold"); one that stands there, or can be computed from what
stands there, is left open. Deliberately generous: to be open proves nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from types import MappingProxyType
from typing import Final

from affidavit.contract.violations import SupportCode
from affidavit.verify.prose.actions import is_known, is_moment_known
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.notes import Note
from affidavit.verify.prose.numbering import read_tokens
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.records import CallView
from affidavit.verify.statements.units import ABOUT, Stated, convert, unit_of

NUMBERS_MAX: Final = 120
"""Numbers of the cited results to compute with: pairs of more would meet any number by chance."""
MOMENTS_MAX: Final = 200
"""Moments of the cited results between which a length of time is looked for."""
TALLY_MAX: Final = 20
"""A whole number up to here may have been counted, which reading alone cannot refute."""


_OPEN: Final[Mapping[SupportCode, SupportCode]] = MappingProxyType(
    {
        SupportCode.NUMBER_REFUTED: SupportCode.NUMBER_UNBOUND,
        SupportCode.NUMBER_UNKNOWN: SupportCode.NUMBER_UNBOUND,
        SupportCode.TIME_REFUTED: SupportCode.TIME_UNBOUND,
        SupportCode.TIME_UNKNOWN: SupportCode.TIME_UNBOUND,
        SupportCode.SUBJECT_REFUTED: SupportCode.SUBJECT_UNBOUND,
        SupportCode.IDENTIFIER_UNKNOWN: SupportCode.SUBJECT_UNBOUND,
        SupportCode.QUANTIFIER_REFUTED: SupportCode.QUANTIFIER_UNBOUND,
        SupportCode.NEGATION_REFUTED: SupportCode.NEGATION_UNBOUND,
        SupportCode.WINDOW_REFUTED: SupportCode.WINDOW_UNBOUND,
    }
)
_NOWHERE: Final[Mapping[SupportCode, SupportCode]] = MappingProxyType(
    {
        SupportCode.NUMBER_REFUTED: SupportCode.NUMBER_UNKNOWN,
        SupportCode.TIME_REFUTED: SupportCode.TIME_UNKNOWN,
    }
)


def decide(
    desk: Desk, notes: Sequence[Note], text: str, known: dict[tuple[str, ...], Derived]
) -> tuple[SupportCode, ...]:
    """The codes of a sentence's notes, each once: refuted, or only not bound.

    `known` keeps what was computed from the results of some calls, by their ids.
    """
    if not notes:
        return ()
    tokens = read_tokens(text)
    cited = tuple(call.id for call in desk.calls)
    if cited not in known:
        known[cited] = derive(desk)
    return tuple(dict.fromkeys(_decide(desk, note, tokens, known[cited]) for note in notes))


def _decide(desk: Desk, note: Note, tokens: tuple[Token, ...], known: Derived) -> SupportCode:
    open_code = _OPEN.get(note.code)
    if note.firm or open_code is None:
        return note.code
    about = [token for token in tokens if token.text == note.what]
    if not about:  # what a rule says of the clause as a whole
        return open_code if note.what.startswith("(") or _says_how(note) else note.code
    if all(_is_held(desk, token, known) for token in about):
        return open_code
    return _NOWHERE.get(note.code, note.code)


def _says_how(note: Note) -> bool:
    """Whether a note names a quantifier, which stands in no record."""
    return note.code is SupportCode.QUANTIFIER_REFUTED and bool(note.what)


def _is_held(desk: Desk, token: Token, known: Derived) -> bool:
    """Whether the cited results hold a token, or what it can be computed from."""
    if is_known(desk, token) or _is_written(desk, token, known):
        return True
    if token.kind is Kind.MOMENT:
        return is_moment_known(desk, token)
    if token.stated is not None:
        return _is_derived(token.stated, known)
    return token.kind is Kind.WORD


def _is_written(desk: Desk, token: Token, known: Derived) -> bool:
    """Whether the letters stand anywhere in what was read or asked; of names, in the whole run."""
    low = token.text.casefold().strip()
    if token.kind is Kind.NUMBER:
        parts = frozenset(_DIGITS.findall(low))
        return bool(parts) and parts <= known.digits
    if token.kind is Kind.NAME and _PARTICLES.fullmatch(low):
        return True
    low = low[:-1] if token.kind is Kind.NAME and low.endswith("s") and len(low) > 2 else low
    calls = (*desk.all, *desk.wide) if token.kind is Kind.NAME else desk.all
    return low in desk.asked_text or any(low in text for text in _texts(calls))


_PARTICLES: Final = re.compile(
    r"(?:non|re|un|over|under|self|half|well|long|short|read|write|start|time|timed|scale|roll|fail"
    r"|clean|set|back|hard|soft)-[a-z]{2,12}|[a-z]{2,12}-(?:out|up|off|on|in|down|by|only|wide|like"
    r"|free|side|level|based|first|last|time|end|through|over|back)"
)
"""Plain words that a hyphen joins ("timed-out", "scale-up"), and no name of a thing."""
_DIGITS: Final = re.compile(r"\d{1,20}(?:\.\d{1,12})?")


def _texts(calls: Iterable[CallView]) -> Iterator[str]:
    for call in calls:
        yield call.about.casefold()
        yield from (note.casefold() for note in call.call.envelope.notes)
        for record in call.records:
            yield record.text.casefold()


def _is_derived(stated: Stated, known: Derived) -> bool:
    """Whether a number is counted, or is one of the results' own, or computed from two of them."""
    unit = unit_of(stated.unit) if stated.unit else None
    whole = stated.number == stated.number.to_integral_value()
    if unit is None and whole and 0 < stated.number <= TALLY_MAX:
        return True
    slack = stated.step / 2
    slack = max(slack, abs(stated.number) * ABOUT) if stated.about else slack
    factor = float(unit.factor) if unit else 1.0
    values = known.values.get(unit.dimension if unit else "", ())
    low = (float(stated.number) - float(slack)) * factor
    place = bisect_left(values, low - abs(low) * _FLOAT_SLACK)
    high = (float(stated.number) + float(slack)) * factor
    return place < len(values) and values[place] <= high + abs(high) * _FLOAT_SLACK


_FLOAT_SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Derived:
    """What some results hold: their digits as written, and by dimension ("" for none) every number
    of theirs and what two of them come to, in base units, sorted."""

    digits: frozenset[str]
    values: Mapping[str, Sequence[float]]


def derive(desk: Desk) -> Derived:
    """The numbers that the cited results hold, and those computed from two of them."""
    numbers = tuple(islice(_numbers(desk), NUMBERS_MAX))
    found: dict[str, set[float]] = {"": set(), "time": set(_spans(desk))}
    for item in numbers:
        _put(found, item, float(item.number))
    for left in numbers:
        for right in numbers:
            other = None if left is right else convert(right.number, right.unit, left.unit)
            if other is not None:
                _compute(found, left, float(left.number), float(other))
    digits = frozenset(run for text in _texts(desk.calls) for run in _DIGITS.findall(text))
    return Derived(digits, {dimension: sorted(values) for dimension, values in found.items()})


def _put(found: dict[str, set[float]], like: Stated, value: float) -> None:
    unit = unit_of(like.unit) if like.unit else None
    found[""].add(value)
    if unit is not None:
        found.setdefault(unit.dimension, set()).add(value * float(unit.factor))


def _compute(found: dict[str, set[float]], like: Stated, left: float, right: float) -> None:
    """The sum, the difference, the mean, the ratio and the share of two numbers that compare."""
    for value in (left - right, left + right, (left + right) / 2):
        _put(found, like, value)
    ratios = found.setdefault("ratio", set())
    if right:
        found[""].add(left / right)
        ratios.update((left / right, 1 - left / right))
    if left + right:
        ratios.add(left / (left + right))


def _numbers(desk: Desk) -> Iterator[Stated]:
    """How many there are, what each column sums up to, and every number, each once."""
    seen: set[tuple[Decimal, str]] = set()
    for number, unit in (item for call in desk.calls for item in (*_sizes(call), *_read(call))):
        if (number, unit) not in seen:
            seen.add((number, unit))
            yield Stated(number, unit)


def _sizes(call: CallView) -> Iterator[tuple[Decimal, str]]:
    envelope = call.call.envelope
    yield Decimal(len(call.records)), ""
    yield from ((Decimal(size), "") for size in (envelope.count, envelope.total) if size)
    sums: dict[tuple[str, str, str, str], Decimal] = {}
    for record in call.records:
        labels = [item.text for item in record.fields if item.number is None][:LABELS_MAX]
        for field in record.fields:
            if field.number is None or field.loose:
                continue
            for label in ("", *labels):
                key = (record.shape, field.name, label, field.unit)
                sums[key] = sums.get(key, Decimal(0)) + field.number
    yield from ((number, unit) for (*_, unit), number in sums.items())


LABELS_MAX: Final = 3
"""Texts of a row by which its numbers are summed: all of one platform, of one country."""


def _read(call: CallView) -> Iterator[tuple[Decimal, str]]:
    for record in call.records:
        for field in record.fields:
            if field.number is not None:
                yield field.number, field.unit


def _spans(desk: Desk) -> Iterator[float]:
    """The seconds between any two moments of the cited results."""
    moments = tuple(islice(dict.fromkeys(_moments(desk)), MOMENTS_MAX))
    for place, left in enumerate(moments):
        for right in moments[:place]:
            yield abs((left - right).total_seconds())


def _moments(desk: Desk) -> Iterator[datetime]:
    for call in desk.calls:
        scope = call.call.envelope.scope.window
        yield call.call.envelope.observed_at
        if scope is not None:
            yield from (scope.start, scope.end)
        for record in call.records:
            yield from record.moments
