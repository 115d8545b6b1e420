"""What a sentence says is not known: what it takes for granted, and what the evidence answers.

"Why X failed is not known" says that X failed. "Whether X failed is not known" says that nothing
tells. So the first is checked as a fact, and the second must not be one; and nothing may be named
or told in passing that no result and no question holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.lexicon import Role
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
    """What is not known, what the clause says beside it as a fact, and whether nobody looked."""

    ask: Ask
    said: tuple[Token, ...]
    beside: tuple[Token, ...] = ()
    unread: bool = False


_WHY: Final = frozenset("why how 为何 为什么 为啥 如何 怎么 怎样".split())
_CAUSE_NOUNS: Final = frozenset(
    "reason reasons cause causes causation causality origin trigger 原因 起因 根因".split()
)
_ASKING: Final = frozenset("whether why what who how which when where that".split())


def opens(tokens: tuple[Token, ...], text: str) -> bool:
    """Whether a statement asks from its first word on, and says at its end that this is not known."""
    first = next((token.text.casefold() for token in tokens if token.kind is not Kind.SIGN), "")
    return first in _ASKING and _span(tokens, text) is not None


_WHETHER: Final = frozenset("whether if 是否 能否 有没有 是不是".split())
_WHO: Final = frozenset(
    "who whoever whom whose which what where when 谁 哪 哪个 哪些 哪里 什么 何人 何时 何处 多少".split()
)
_THAT: Final = frozenset("that of for 表明 说明 显示 证明".split())
_TRIMMED: Final = frozenset(
    "it is are was were be been there remains remain and but also still yet however 但 而 并 且 也 仍 还 , ， 、 : ：".split()
)
_FACTLESS: Final = frozenset("the a an of for in by 的".split())


_SEEN: Final = (
    r"(?:known|clear|certain|sure|settled|decided|determined|established|proved|proven|shown|seen|"
    r"visible|evident|apparent|confirmed|verified|tested|demonstrated|documented|identified|explained|"
    r"supported|answered|stated|said|told|given|recorded|listed|covered|checked|examined|read|"
    r"investigated|inspected|queried|searched|looked (?:at|up|into)|part of|available here|clarified)"
)
_OPEN: Final = re.compile(
    r"(?<![\w-])(?:"
    rf"(?:\w+ but )?(?:is|are|was|were|be|been|has|have|had|remains?|stays?)"
    rf"(?: still| so far| yet| here| thereby)? (?:not|never)(?: been| yet| be| thereby| here| so far)* {_SEEN}"
    r"|(?:but|and|or|though) not (?:known|proved|proven|shown|established|confirmed)"
    r"|not (?:known|clear|proved|proven|established|shown|confirmed|explained|verified|in evidence)"
    r"|(?:is|are|remains?|stays?)(?: still)? (?:un(?:known|clear|proven|proved|explained|confirmed|"
    r"decided|determined|identified|verified|tested)|open|to be (?:seen|shown|checked|confirmed|proved))"
    r"|unknown|unclear|undetermined|unexplained|unconfirmed|left open"
    r"|(?:is|are|remains?)(?: still| only| just| merely)? an? (?:mere )?(?:guess|conjecture|assumption|"
    r"hypothesis|inference|suspicion|open question|possibility)"
    r"|(?:cannot|can not|could not|couldn't|can't) be (?:told|said|seen|known|decided|determined|"
    r"confirmed|established|proved|shown|derived|read|settled|answered)"
    r"|(?:does|do|did) not (?:show|say|tell|prove|establish|explain|reveal|settle)(?! an?\b)"
    r"|(?:nothing|no (?:result|call|record|evidence|line|log|trace|metric|tool)s?)"
    r"(?: (?:here|read|cited|seen|listed|that was read|in (?:these|the) (?:results|data|calls|logs)))*"
    r" (?:shows?|says?|tells?|proves?|explains?|links?|ties?|establish(?:es)?|confirms?|states?)"
    r"|no evidence|there is no proof"
    r")(?![\w-])"
)
"""What says that something is not known; it claims no fact but the question."""
_PROCESS: Final = re.compile(
    r"(?:checked|examined|read|investigated|inspected|queried|searched|looked (?:at|up|into)|tested|"
    r"covered)$"
)
"""That nobody looked is no word about what is known."""
_BEING: Final = frozenset("is are was were remains remain be been still".split())


def read_unknown(clause: Clause, text: str) -> Unknown | None:
    """What a clause says is not known; None where it says no such thing. `text` is its sentence's."""
    span = _span(clause.tokens, text)
    if span is None:
        return None
    found = _asked_in(clause.tokens, span)
    unread = _PROCESS.search(text[span[0] : span[1]].casefold()) is not None
    return None if found is None else replace(found, unread=unread)


def _asked_in(tokens: tuple[Token, ...], span: tuple[int, int, bool]) -> Unknown | None:
    before = _trim(tuple(token for token in tokens if token.end <= span[0]))
    after = _trim(tuple(token for token in tokens if token.start >= span[1]))
    after = _without_source(after)
    if any(token.text.casefold() in _THAT for token in after[:1]):
        return Unknown(Ask.THAT, (*(t for t in before if t.kind is Kind.NAME), *after[1:]))
    if any(token.text.casefold() == "that" for token in before[:1]):
        return Unknown(Ask.THAT, before[1:])
    said = before if _has_content(before) and not _is_source(before) else after
    return _read(said, soft=span[2])


def _is_source(tokens: tuple[Token, ...]) -> bool:
    """Whether some tokens only name where one looked: "these results", "the trace"."""
    return all(
        token.text.casefold() in _RESULTS or token.role is Role.FREE or token.kind is Kind.SIGN
        for token in tokens
    ) and not any(
        token.text.casefold() in _WHY | _WHETHER | _WHO | _CAUSE_NOUNS for token in tokens
    )


def _without_source(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """What stands behind "by these results", "from the trace", "here"."""
    place = 0
    while place < len(tokens) and (
        tokens[place].text.casefold()
        in _RESULTS - {"that"} | {"by", "from", "in", "with", "of", "the"}
    ):
        place += 1
    return tokens[place:] if place < len(tokens) else ()


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
    for found in _OPEN.finditer(low, tokens[0].start, tokens[-1].end):
        if _is_agent(low, found.end()) or not _is_said(tokens, found, text):
            continue
        if found[0].endswith("open") and not _is_question(tokens):
            continue
        soft = _SOFT.search(found[0]) is not None
        return found.start(), found.end(), soft
    return None


_QUESTIONS: Final = frozenset("question questions issue point matter it this that".split())


def _is_question(tokens: tuple[Token, ...]) -> bool:
    """Whether it is a question that is open, and not a gate: one is asked or named."""
    words = {token.text.casefold() for token in tokens}
    return bool(words & (_WHY | _WHETHER | _WHO | _CAUSE_NOUNS | _QUESTIONS))


_SOFT: Final = re.compile(
    r"not .{0,20}(?:seen|visible|shown|recorded|listed|given|evident|apparent|read|covered|checked|"
    r"examined|part of|available here|inspected|queried|searched|tested|looked)"
)
"""The same, of a question alone ("what held the lock is not visible"); else these deny."""


def _is_agent(low: str, end: int) -> bool:
    """Whether someone is named behind a "by": "not known by the server" denies; "by these results" asks."""
    behind = low[end : end + 40].split()
    if behind[:1] != ["by"]:
        return False
    return not set(behind[1:4]) & _RESULTS


_RESULTS: Final = frozenset(
    "these this those that results result data trace traces log logs evidence calls output table here "
    "lines query queries cited".split()
)


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
