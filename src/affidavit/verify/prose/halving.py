"""Halves in numbers: "six and a half minutes", "half a minute", "the half hour"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Final

from affidavit.verify.prose.atoms import Kind, Token
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.statements.units import Stated, unit_of

_HALF: Final = Decimal("0.5")
_UNITS: Final = frozenset("second seconds minute minutes hour hours day days week weeks".split())


def halve(tokens: Iterable[Token]) -> tuple[Token, ...]:
    """The tokens with each half joined to its number or its unit; half of a thing stays a word."""
    held = tuple(tokens)
    found: list[Token] = []
    place = 0
    while place < len(held):
        taken, token = _joined(held, place)
        found.append(token)
        place += taken
    return tuple(found)


def _joined(tokens: tuple[Token, ...], place: int) -> tuple[int, Token]:
    """How many tokens make a number with a half from a place on, and that number."""
    token = tokens[place]
    words = [item.text.casefold() for item in tokens[place : place + 4]]
    if token.kind is Kind.NUMBER and words[1:] == ["and", "a", "half"] and token.stated is not None:
        return 4, _number(tokens, place, 4, token.stated.number + _HALF, token.stated.unit)
    if words[0] == "half":
        articled = words[1:2] in (["a"], ["an"])
        size = 3 if articled else 2
        unit = words[size - 1] if len(words) >= size else ""
        if unit in _UNITS and unit_of(unit) is not None:
            return size, _number(tokens, place, size, _HALF, unit)
    return 1, token


def _number(tokens: tuple[Token, ...], place: int, size: int, number: Decimal, unit: str) -> Token:
    last = tokens[place + size - 1]
    text = " ".join(item.text for item in tokens[place : place + size])
    stated = Stated(number, unit, about=bool(unit))
    return replace(
        tokens[place], kind=Kind.NUMBER, text=text, end=last.end, stated=stated, spelled=True, role=Role.CONTENT,
        stems=frozenset(),
    )  # fmt: skip
