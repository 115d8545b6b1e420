"""A sentence as clauses: what is said together has to hold together.

A clause ends at a semicolon, at a comma before a new subject or a joining word, and at words such
as "but" and "while". A fragment without a verb belongs to its neighbour. A clause that starts with
a pronoun, or names nothing, goes on speaking about the names of the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.verify.prose.chinese import CJK
from affidavit.verify.prose.lexicon import VERBS, Role
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.tokens import Kind, Token

_SHARE: Final = re.compile(r"\d{1,6}/\d{1,6}")
_BREAKING: Final = frozenset(
    "but while whereas although though 但 但是 而 而且 并 并且 不过 然而 同时".split()
)
_STARTERS: Final = frozenset(
    "it its they their them this these those that which whose who he she 它 它们 该 此 这 其 其中 这些 那些".split()
)
_RELATIVE: Final = frozenset("which that who whose".split())
_ZH_VERBS: Final = frozenset(
    "是 有 在 为 处于 位于 显示 表明 记录 记录了 写明 报告 返回 给出 出现 发生 开始 结束 完成 达到 达 "
    "包含 属于 保持 持续 变为 转为 停在 卡在 没有 未 不 无 占 用时 耗时 存在 运行 启动 失败".split()
)


@dataclass(frozen=True, slots=True)
class Clause:
    """Tokens that are said together; `topics` are the names that the clause goes on about.

    `bound` says that the clause points back by a pronoun, so that it can only be about them.
    """

    tokens: tuple[Token, ...]
    topics: tuple[Token, ...] = ()
    bound: bool = False

    @property
    def names(self) -> tuple[Token, ...]:
        """The names in the clause itself."""
        return tuple(token for token in self.tokens if token.kind is Kind.NAME)

    @property
    def subjects(self) -> tuple[Token, ...]:
        """The names in the clause, and the numbers that name."""
        return tuple(
            token
            for place, token in enumerate(self.tokens)
            if names_thing(self.tokens, place)
            and not _SHARE.fullmatch(token.text)
            and not _measures(self.tokens, place)
        )

    @property
    def measures(self) -> bool:
        """Whether the clause gives a number or a moment, so that a field's name is its subject."""
        return any(token.kind in {Kind.NUMBER, Kind.MOMENT} for token in self.tokens)

    def of(self, kind: Kind) -> tuple[Token, ...]:
        """The clause's tokens of one kind."""
        return tuple(token for token in self.tokens if token.kind is kind)

    def has(self, *roles: Role) -> bool:
        """Whether a word of one of these roles stands in the clause."""
        return any(token.role in roles and token.kind is Kind.WORD for token in self.tokens)


UNIT_CHARS_MAX: Final = 4
"""A longer word behind a number is no unit that only is not known here (kPa, dBm, rpm)."""


def _measures(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a name stands right behind a number as its unit: 14 kPa."""
    token, before = tokens[place], tokens[place - 1] if place else None
    return (
        before is not None
        and before.kind is Kind.NUMBER
        and before.stated is not None
        and not before.stated.unit
        and token.text.isalpha()
        and len(token.text) <= UNIT_CHARS_MAX
        and token.start - before.end <= 1
    )


def split_clauses(tokens: tuple[Token, ...]) -> tuple[Clause, ...]:
    """The clauses of a sentence's tokens, in order."""
    pieces: list[list[Token]] = [[]]
    for place, token in enumerate(tokens):
        if _breaks(tokens, place):
            pieces.append([])
        pieces[-1].append(token)
    merged = _merge([piece for piece in pieces if any(t.kind is not Kind.SIGN for t in piece)])
    return _with_topics(merged)


def _breaks(tokens: tuple[Token, ...], place: int) -> bool:
    token = tokens[place]
    if place == 0:
        return False
    before = tokens[place - 1]
    low = token.text.casefold()
    if before.text in {";", "；", "。", "—", "–"}:
        return True
    if before.text == "，":
        return True
    if before.text == ",":
        return not _lists(tokens, place) and not _compares(tokens, place)
    if token.kind is Kind.WORD and low in _BREAKING and before.kind is not Kind.SIGN:
        return True
    return low == "and" and _new_subject(tokens, place)


def _compares(tokens: tuple[Token, ...], place: int) -> bool:
    """ "140 shards, more than b with 112": what is compared belongs to what it is compared with."""
    behind = [token.text.casefold() for token in tokens[place : place + 2]]
    return behind[1:] == ["than"] and behind[0].endswith(("er", "more", "less"))


def _measured(tokens: tuple[Token, ...]) -> bool:
    return any(token.kind is Kind.MOMENT for token in tokens)


def _lists(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether the comma before this place parts two things of one kind: "a-1, b-2 and c-3"."""
    earlier = tokens[place - 2] if place > 1 else None
    later = tokens[place]
    if later.text.casefold() in {"and", "or"} and place + 1 < len(tokens):
        later = tokens[place + 1]
    return (
        earlier is not None and earlier.kind is later.kind
        and earlier.kind in {Kind.NAME, Kind.NUMBER, Kind.MOMENT, Kind.QUOTE}
    )  # fmt: skip


def _new_subject(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether an "and" joins two statements: a name and a verb behind it, a verb before it."""
    behind = tokens[place + 1 : place + 5]
    if behind and behind[0].text.casefold() in VERBS and _measured(tokens[:place]):
        return _measured(tokens[place + 1 :])
    named = [at for at, token in enumerate(behind[:3]) if token.kind is Kind.NAME]
    if (
        named
        and behind[named[0] + 1 : named[0] + 2]
        and (behind[named[0] + 1].text.casefold() in {"from", "to"})
    ):
        return True
    if not named or not has_verb(behind[named[0] + 1 :]):
        return False
    start = max((at for at in range(place) if tokens[at].text in {",", ";", "，"}), default=0)
    return has_verb(tokens[start:place])


def stands_alone(tokens: list[Token]) -> bool:
    """Whether a fragment says something by itself: it has a verb, or a name and a number."""
    if has_verb(tokens):
        return True
    if any(CJK.match(token.text) for token in tokens):
        return any(
            token.kind in {Kind.NAME, Kind.NUMBER, Kind.QUOTE}
            or (token.kind is Kind.WORD and token.role is Role.CONTENT)
            for token in tokens
        )  # fmt: skip
    named = any(token.kind is Kind.NAME for token in tokens)
    said = any(token.kind in {Kind.NUMBER, Kind.QUOTE} and not token.spelled for token in tokens)
    return named and said


def has_verb(tokens: list[Token] | tuple[Token, ...]) -> bool:
    """Whether a verb-like word stands in the tokens; a heuristic that may only join more."""
    for token in tokens:
        if token.kind is not Kind.WORD:
            continue
        low = token.text.casefold()
        if low in _ZH_VERBS or low in VERBS or token.role in {Role.UP, Role.DOWN}:
            return True
        if low.isascii() and (low.endswith("ed") or low.endswith("n't")):
            return True
    return False


def _merge(pieces: list[list[Token]]) -> list[list[Token]]:
    merged: list[list[Token]] = []
    waiting: list[Token] = []
    for piece in pieces:
        if not stands_alone(piece):
            if merged and not waiting:
                merged[-1].extend(piece)
            else:
                waiting.extend(piece)
            continue
        merged.append([*waiting, *piece])
        waiting = []
    if waiting:
        if merged:
            merged[-1].extend(waiting)
        else:
            merged.append(waiting)
    return merged


def _with_topics(pieces: list[list[Token]]) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    topics: tuple[Token, ...] = ()
    for piece in pieces:
        words = [token for token in piece if token.kind is not Kind.SIGN]
        first = words[0].text.casefold() if words else ""
        second = words[1].text.casefold() if len(words) > 1 else ""
        starts = first in _STARTERS or first in VERBS
        starts = starts or (
            first in {"and", "or", "but"} and (second in _STARTERS or second in VERBS)
        )
        own = Clause(tuple(piece)).subjects
        inherits = starts or not own
        if first in _RELATIVE and topics:
            clauses.append(Clause(tuple(piece), topics[-1:], bound=True))
            continue
        bound = starts or (inherits and bool(topics) and _is_chinese(words) and not _counts(words))
        clauses.append(Clause(tuple(piece), topics if inherits else (), bound=bound))
        topics = own if own and not starts else (topics or own)
    return tuple(clauses)


def _is_chinese(words: list[Token]) -> bool:
    """Whether a clause is Chinese: behind a comma it goes on about the same thing."""
    return any(CJK.match(token.text) for token in words)


def _counts(words: list[Token]) -> bool:
    """Whether a clause begins with who else it is about: 其余两台, 另一台."""
    return any(token.text in OTHERS or token.text in {"另", "另一"} for token in words[:2])


def speaks_of_others(clause: Clause) -> bool:
    """Whether a clause is about the rest: what the clause before did not speak of."""
    return any(token.text.casefold() in OTHERS for token in clause.tokens)


OTHERS: Final = frozenset("other others rest remaining remainder 其他 其余 另外 其它".split())


def is_negative(clause: Clause) -> bool:
    """Whether a clause denies."""
    return any(
        token.kind is Kind.WORD and token.role in {Role.NEGATION, Role.NONE}
        for token in clause.tokens
    )


def split_statements(tokens: tuple[Token, ...]) -> Iterator[tuple[Token, ...]]:
    """The independent statements of a sentence: what semicolons and full stops part."""
    piece: list[Token] = []
    for token in tokens:
        if token.kind is Kind.SIGN and token.text in {";", "；", ".", "。", "!", "?", "！", "？"}:
            if piece:
                yield tuple(piece)
            piece = []
        else:
            piece.append(token)
    if piece:
        yield tuple(piece)
