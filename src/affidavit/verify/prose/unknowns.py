"""What a sentence says is not known: what it takes for granted, and what the evidence answers.

"Why X failed is not known" says that X failed. "Whether X failed is not known" says that nothing
tells. So the first is checked as a fact, and the second must not be one; and nothing may be named
or told in passing that no result and no question holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.lexicon import UNKNOWN, UNKNOWN_SOFT, Role
from affidavit.verify.prose.tokens import Kind, Token


class Ask(StrEnum):
    """What is asked: a reason, a yes or no, a who or what, that something is so, or a thing."""

    WHY = "WHY"
    WHETHER = "WHETHER"
    WHO = "WHO"
    THAT = "THAT"
    NOUN = "NOUN"


@dataclass(frozen=True, slots=True)
class Unknown:
    """What is not known, and what the clause says beside it as a fact."""

    ask: Ask
    said: tuple[Token, ...]
    beside: tuple[Token, ...] = ()


_WHY: Final = frozenset("why how 为何 为什么 为啥 如何 怎么 怎样".split())
_CAUSE_NOUNS: Final = frozenset("reason reasons cause causes origin 原因 起因 根因".split())
_WHETHER: Final = frozenset("whether if 是否 能否 有没有 是不是".split())
_WHO: Final = frozenset(
    "who whoever whom whose which what where when 谁 哪 哪个 哪些 哪里 什么 何人 何时 何处 多少".split()
)
_THAT: Final = frozenset("that of for 表明 说明 显示 证明".split())
_TRIMMED: Final = frozenset(
    "it is are was were be been there remains remain and but also still yet however 但 而 并 且 也 仍 还 , ， 、 : ：".split()
)
_FACTLESS: Final = frozenset("the a an of for in by 的".split())


def _pattern(markers: tuple[str, ...]) -> re.Pattern[str]:
    ordered = sorted(markers, key=len, reverse=True)
    return re.compile(
        r"(?<![\w-])(?:" + "|".join(re.escape(item) for item in ordered) + r")(?![\w-])"
    )


_OPEN: Final = _pattern(UNKNOWN)
_SOFT: Final = _pattern(UNKNOWN_SOFT)
_BEING: Final = frozenset("is are was were remains remain be been still".split())


def read_unknown(clause: Clause, text: str) -> Unknown | None:
    """What a clause says is not known; None where it says no such thing. `text` is its sentence's."""
    tokens = clause.tokens
    span = _span(tokens, text)
    if span is None:
        return None
    before = _trim(tuple(token for token in tokens if token.end <= span[0]))
    after = _trim(tuple(token for token in tokens if token.start >= span[1]))
    if any(token.text.casefold() in _THAT for token in after[:1]):
        return Unknown(Ask.THAT, (*(t for t in before if t.kind is Kind.NAME), *after[1:]))
    said = before if _has_content(before) else after
    return _read(said, soft=span[2])


def is_only_unknown(clause: Clause, text: str) -> bool:
    """Whether a clause says no more than that something is not known: "，尚不清楚"."""
    found = read_unknown(clause, text)
    return found is not None and not found.said and not found.beside


def asks(tokens: tuple[Token, ...]) -> Unknown | None:
    """What a clause without such a phrase asks, for one that stands beside a phrase alone."""
    found = _read(_trim(tokens), soft=False)
    return found if found is not None and found.ask is not Ask.NOUN else None


def _span(tokens: tuple[Token, ...], text: str) -> tuple[int, int, bool] | None:
    for token in tokens:
        if token.kind is Kind.WORD and token.role is Role.UNKNOWN:
            return token.start, token.end, False
    if not tokens:
        return None
    low = _unquoted(tokens, text)
    for pattern, soft in ((_OPEN, False), (_SOFT, True)):
        for found in pattern.finditer(low, tokens[0].start, tokens[-1].end):
            if low.startswith(" by ", found.end()) or not _is_said(tokens, found, text):
                continue
            return found.start(), found.end(), soft
    return None


def _is_said(tokens: tuple[Token, ...], found: re.Match[str], text: str) -> bool:
    """ "unknown" behind a form of "to be" says so; before a noun it only qualifies it."""
    if found[0] not in {"unknown", "unclear"}:
        return True
    before = [token.text.casefold() for token in tokens if token.end <= found.start()]
    return not before or before[-1] in _BEING


def _unquoted(tokens: tuple[Token, ...], text: str) -> str:
    signs = list(text.casefold())
    if len(signs) != len(text):
        signs = list(text)
    for token in tokens:
        if token.kind in {Kind.QUOTE, Kind.NAME}:
            signs[token.start : token.end] = " " * (token.end - token.start)
    return "".join(signs)


def _trim(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    start, end = 0, len(tokens)
    while start < end and tokens[start].text.casefold() in _TRIMMED:
        start += 1
    while end > start and (
        tokens[end - 1].text.casefold() in _TRIMMED or tokens[end - 1].kind is Kind.SIGN
    ):
        end -= 1
    return tokens[start:end]


def _has_content(tokens: tuple[Token, ...]) -> bool:
    return any(
        token.kind in {Kind.NAME, Kind.NUMBER, Kind.QUOTE}
        or token.role is Role.CONTENT
        or token.text.casefold() in _WHY | _WHETHER | _WHO | _CAUSE_NOUNS
        for token in tokens
        if token.kind is not Kind.SIGN
    )


def _read(said: tuple[Token, ...], *, soft: bool) -> Unknown | None:
    """What is asked, by the first word that asks; what stands before it is told as a fact."""
    for place, token in enumerate(said):
        low = token.text.casefold()
        for words, ask in ((_WHETHER, Ask.WHETHER), (_WHY, Ask.WHY), (_WHO, Ask.WHO)):
            if low in words and not (low == "when" and place):
                return _asked(said, place, ask)
        if low in _CAUSE_NOUNS:
            return _asked(said, place, Ask.WHY)
    return None if soft else Unknown(Ask.NOUN, said)


def _asked(said: tuple[Token, ...], place: int, ask: Ask) -> Unknown:
    """In English what stands before the asking word is told beside it; in Chinese it is its subject."""
    before, after = said[:place], said[place + 1 :]
    if said[place].text.isascii():
        beside = before if _has_content(before) else ()
        return Unknown(ask, _without(after), _trim(beside))
    return Unknown(ask, _without((*before, *after)))


def _without(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    start = 0
    while start < len(tokens) and tokens[start].text.casefold() in _FACTLESS | _TRIMMED | _WHY:
        start += 1
    return tokens[start:]
