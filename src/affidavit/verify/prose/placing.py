"""A span from what was told before, as the moment that it leads to: "two seconds later", 21 秒后."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from affidavit.verify.prose.atoms import Kind, Token
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.statements.moments import Moment
from affidavit.verify.statements.units import convert, unit_of

_LATER: Final = frozenset("later afterwards 后 之后 以后".split())
_EARLIER: Final = frozenset("earlier before 前 之前 以前".split())
_BEFORE_THAT: Final = frozenset("before after".split())


def place(tokens: tuple[Token, ...], told: datetime) -> tuple[Token, ...] | None:
    """The tokens with the first such span as a moment after or before the told one; None without.

    It is as precise as its unit: two seconds later is that second, an hour later that minute.
    """
    for at, token in enumerate(tokens[:-1]):
        span = _seconds(token)
        low = tokens[at + 1].text.casefold()
        if span is None or low not in _LATER | _EARLIER:
            continue
        if low in _BEFORE_THAT and at + 2 < len(tokens) and tokens[at + 2].kind is not Kind.SIGN:
            continue
        when = told + timedelta(seconds=span if low in _LATER else -span)
        moment = _moment(token, tokens[at + 1].end, when, 1.0 if span < MINUTE_S else 60.0)
        placed = replace(
            token,
            kind=Kind.MOMENT,
            moment=moment,
            stated=None,
            end=tokens[at + 1].end,
            spelled=False,
        )
        joint = Token(Kind.WORD, "at", token.start, token.start, Role.FREE, frozenset({"at"}))
        return (*tokens[:at], joint, placed, *tokens[at + 2 :])
    return None


MINUTE_S: Final = 60
"""A shorter span is told to the second."""


def _seconds(token: Token) -> float | None:
    stated = token.stated
    if token.kind is not Kind.NUMBER or stated is None or not stated.unit or stated.about:
        return None
    unit = unit_of(stated.unit)
    seconds = convert(stated.number, stated.unit, "s")
    return float(seconds) if unit is not None and seconds is not None else None


def _moment(token: Token, end: int, when: datetime, precision: float) -> Moment:
    at = when.astimezone(UTC)
    clock = at.hour * 3600 + at.minute * 60 + (at.second if precision < MINUTE_S else 0)
    return Moment(
        start=token.start, end=end, text=token.text, year=at.year, month=at.month, day=at.day,
        clock_s=float(clock), precision_s=precision, offset=timedelta(),
    )  # fmt: skip
