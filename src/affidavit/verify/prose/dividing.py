"""A clause that says several things, divided: each part has to be proved by itself.

"partition 2 has a lag of 7 and partition 5 one of 9" are two facts in two records. A part keeps the
names of the one before it where it has none of its own. Lists of names are never divided: what is
said of them is said of each. Equal lists of names and values are read in pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from affidavit.verify.prose.chinese import CJK
from affidavit.verify.prose.clauses import Clause, has_verb
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.tokens import Kind, Token

_SIGNS: Final = frozenset({",", ";", "(", ")", ":", "，", "；", "（", "）", "：", "—", "–", "、"})
_AND: Final = frozenset("and or , 和 与 及 、 以及".split())
_STRONG: Final = frozenset(
    "and while whereas with against but which whose compared versus vs , ; ( : ， ； （ ： 并 且 而 但 其中 其 有".split()
)
PARTS_MAX: Final = 8
"""A clause of more parts is a list, and no sentence."""


def divide(clause: Clause) -> tuple[Clause, ...]:
    """The parts of a clause in order, or none where it does not divide."""
    pieces: list[list[Token]] = [[]]
    for place, token in enumerate(clause.tokens):
        if place and _parts(clause.tokens, place):
            pieces.append([])
        pieces[-1].append(token)
    merged = _merged(pieces)
    if not 1 < len(merged) <= PARTS_MAX:
        return ()
    return tuple(_with_names(merged, clause.topics))


def _parts(tokens: tuple[Token, ...], place: int) -> bool:
    token, before = tokens[place], tokens[place - 1]
    low = token.text.casefold()
    if low not in _STRONG and before.text not in _SIGNS:
        return False
    return not (low in _AND | {","} and _joins_names(tokens, place)) and not (
        before.text in _AND and _joins_names(tokens, place - 1)
    )


def _joins_names(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether this "and" or comma stands in a list of names, moments or numbers."""
    left = _strong(reversed(tokens[max(0, place - 3) : place]))
    right = _strong(iter(tokens[place + 1 : place + 4]))
    if left is None or right is None or left.kind is not right.kind:
        return False
    return left.kind is not Kind.NUMBER or tokens[place - 1].kind is Kind.NUMBER


def _strong(tokens: Iterator[Token]) -> Token | None:
    for token in tokens:
        if token.kind in {Kind.NAME, Kind.NUMBER, Kind.MOMENT, Kind.QUOTE}:
            return token
        if token.kind is not Kind.SIGN and token.text.casefold() not in _AND | {"the", "a", "at"}:
            return None
    return None


def _says(tokens: list[Token]) -> bool:
    """Whether a part says anything that can be looked up. A moment alone says nothing; nor, in
    Chinese, does a place or a thing of which nothing is told (west 区)."""
    said = [token for token in tokens if token.kind is not Kind.SIGN]
    if all(token.kind is Kind.MOMENT or token.role is Role.FREE for token in said):
        return any(token.kind in {Kind.NUMBER, Kind.QUOTE, Kind.NAME} for token in said)
    if _is_bare(said):
        return False
    return any(
        token.kind in {Kind.NUMBER, Kind.MOMENT, Kind.QUOTE}
        or (token.kind is Kind.WORD and token.role in {Role.CONTENT, Role.UP, Role.DOWN})
        for token in tokens
    )


def _is_bare(said: list[Token]) -> bool:
    """Whether Chinese words only name something: no name, no number, nothing that happens."""
    strong = {Kind.NAME, Kind.NUMBER, Kind.QUOTE, Kind.MOMENT}
    return (
        any(CJK.match(token.text) for token in said)
        and not has_verb(said)
        and not any(token.kind in strong for token in said)
        and (len(said) < 3 or said[-1].role is Role.FREE)
    )


def _merged(pieces: list[list[Token]]) -> list[list[Token]]:
    merged: list[list[Token]] = []
    for piece in pieces:
        alone = not merged or (
            _says(piece) and _says(merged[-1]) and not _denies_over(merged[-1], piece)
        )
        if not alone:
            merged[-1].extend(piece)
        else:
            merged.append(list(piece))
    return merged


def _denies_over(before: list[Token], piece: list[Token]) -> bool:
    """Whether a "no" or an "all" of one part reaches into the next: "neither a nor b"."""
    return any(token.text.casefold() in {"neither", "nor", "either"} for token in (*before, *piece))


def _with_names(pieces: list[list[Token]], topics: tuple[Token, ...]) -> Iterator[Clause]:
    named = topics
    for piece in pieces:
        own = tuple(token for place, token in enumerate(piece) if names_thing(tuple(piece), place))
        starts = has_verb(piece[:2]) and not (set(own) & set(piece[:2]))
        inherits = starts or not own
        yield Clause(tuple(piece), named if inherits else (), bound=bool(named) and starts)
        named = named if inherits and named else own


def pair(clause: Clause) -> Iterator[Clause]:
    """ "a and b have 3 and 0 messages": a has 3 messages, b has 0."""
    tokens = clause.tokens
    names, values = _run(tokens, Kind.NAME), _run(tokens, Kind.NUMBER)
    if len(names) < 2 or len(names) != len(values):
        return
    inside = tokens[names[-1] + 1 : values[0]] if names[0] < values[0] else ()
    if any(token.kind in {Kind.NAME, Kind.NUMBER} for token in inside):
        return
    lists = set(range(names[0], names[-1] + 1)) | set(range(values[0], values[-1] + 1))
    for name, value in zip(names, values, strict=True):
        kept = tuple(
            token
            for place, token in enumerate(tokens)
            if place not in lists or place in {name, value}
        )
        yield Clause(kept, clause.topics)


def _run(tokens: tuple[Token, ...], kind: Kind) -> tuple[int, ...]:
    """The places of the one list of tokens of a kind; none where there are several."""
    runs: list[list[int]] = []
    for place, token in enumerate(tokens):
        if token.kind is not kind or (kind is Kind.NUMBER and names_thing(tokens, place)):
            continue
        joined = runs and all(
            item.text.casefold() in _AND for item in tokens[runs[-1][-1] + 1 : place]
        )
        if joined:
            runs[-1].append(place)
        else:
            runs.append([place])
    long = [run for run in runs if len(run) > 1]
    return tuple(long[0]) if len(long) == 1 else ()
