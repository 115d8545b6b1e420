"""One thing held against another: "a has 140 shards, more than b with 112", a 的比例（0.94）高于 b（0.00）.

Each side has to be proved by itself, and the numbers have to stand so to each other. Only where each
side names its thing and gives its number; else nothing is divided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.units import convert

_MORE: Final = frozenset(
    "more higher greater larger longer bigger 高于 大于 多于 超过 长于".split()
)
_LESS: Final = frozenset("less fewer lower smaller shorter 低于 小于 少于 短于".split())


@dataclass(frozen=True, slots=True)
class Contrast:
    """The two or more sides of a comparison as clauses, and whether their numbers bear it out."""

    sides: tuple[Clause, ...]
    holds: bool


def read_contrast(clause: Clause) -> Contrast | None:
    """The comparison of a clause, where each side has a name and a number; else None."""
    tokens = clause.tokens
    for place, token in enumerate(tokens):
        low = token.text.casefold()
        if token.kind is not Kind.WORD or low not in _MORE | _LESS:
            continue
        start = place + 1
        if low.isascii():
            if start >= len(tokens) or tokens[start].text.casefold() != "than":
                continue
            start += 1
        found = _read(clause, tokens[:place], tokens[start:], more=low in _MORE)
        if found is not None:
            return found
    return None


def _read(
    clause: Clause, left: tuple[Token, ...], right: tuple[Token, ...], *, more: bool
) -> Contrast | None:
    first = next((token for token in right if token.kind is not Kind.SIGN), None)
    chinese = any(not token.text.isascii() for token in (*left, *right))
    if first is None or not _names(first, chinese=chinese):
        return None
    numbers = _numbers(right)
    if not _numbers(left) and len(numbers) == 2:
        left, right = (*left, numbers[0]), tuple(item for item in right if item is not numbers[0])
    others = _parts(right)
    own = _numbers(left)
    named = any(_names(token, chinese=chinese) for token in (*left, *clause.topics))
    if len(own) != 1 or not others or not named:
        return None
    if any(len(_numbers(part)) != 1 for part in others):
        return None
    measure = tuple(
        token for token in left
        if token.kind is Kind.WORD and token.role is Role.CONTENT
        and not _names(token, chinese=chinese)
    )  # fmt: skip
    sides = tuple(Clause((*measure, *part)) for part in others)
    holds = all(_stands(own[0], _numbers(part)[0], more=more) for part in others)
    return Contrast((Clause(left, clause.topics, clause.bound), *sides), holds)


def _names(token: Token, *, chinese: bool) -> bool:
    """Whether a token names a thing; in Chinese an English word does."""
    word = token.kind is Kind.WORD and token.role is Role.CONTENT and token.text.isascii()
    return token.kind is Kind.NAME or (chinese and word)


def _numbers(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    return tuple(token for token in tokens if token.kind is Kind.NUMBER)


def _parts(right: tuple[Token, ...]) -> tuple[tuple[Token, ...], ...]:
    """The other side, a part for each name that has a number of its own."""
    parts: list[list[Token]] = []
    for token in right:
        if token.kind is Kind.NAME and (not parts or _numbers(tuple(parts[-1]))):
            parts.append([])
        if not parts:
            parts.append([])
        parts[-1].append(token)
    return tuple(tuple(part) for part in parts)


def _stands(one: Token, other: Token, *, more: bool) -> bool:
    assert one.stated is not None
    assert other.stated is not None
    number = other.stated.number
    if other.stated.unit and one.stated.unit:
        converted = convert(number, other.stated.unit, one.stated.unit)
        if converted is None:
            return False
        number = converted
    return one.stated.number > number if more else one.stated.number < number
