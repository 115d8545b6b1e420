"""A "not" that bounds: "did not rise above 40", "no queue is below 3", 没有超过 5.

Such a "not" denies no fact of its own: it turns the comparison that follows it, and every reading
that the clause speaks of has to stand within the bound.
"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.tokens import Kind, Token

_BOUNDS: Final = frozenset(
    "above over exceed exceeds exceeded exceeding beyond below under 超过 高于 大于 低于 小于 多于 少于 超出".split()
)
BOUND_TOKENS: Final = 6
"""How far behind its "not" a bound may stand, and its number behind it."""
TURNED: Final = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}


def bound_of(tokens: tuple[Token, ...], place: int) -> int | None:
    """The place of the word of comparison that a negator at this place turns; None for none."""
    if tokens[place].kind is not Kind.WORD or tokens[place].role not in _DENYING:
        return None
    for at in range(place + 1, min(len(tokens), place + 1 + BOUND_TOKENS)):
        token = tokens[at]
        if token.kind in {Kind.SIGN, Kind.NUMBER, Kind.MOMENT} or token.role in _DENYING:
            return None
        if token.text.casefold() in _BOUNDS:
            return at if _measures(tokens[at + 1 : at + 1 + BOUND_TOKENS]) else None
    return None


_DENYING: Final = frozenset({Role.NEGATION, Role.NONE})


def _measures(behind: tuple[Token, ...]) -> bool:
    """Whether a number follows before anything else is said, and does not count how often."""
    for at, token in enumerate(behind):
        if token.kind is Kind.NUMBER:
            after = [item.text.casefold() for item in behind[at + 1 : at + 3]]
            return after[:1] not in (["time"], ["times"]) or after[1:] in _MULTIPLIED
        if token.kind is Kind.SIGN:
            return False
    return False


_MULTIPLIED: Final = (["the"], ["as"], ["that"], ["its"])
"""Behind "times" these name what is multiplied: "did not exceed 3 times the limit"."""


def is_bounded(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a token stands between a "not" and the bound that it turns, or is that bound."""
    for at in range(max(0, place - BOUND_TOKENS), place):
        end = bound_of(tokens, at)
        if end is not None and place <= end:
            return True
    return False
