"""What an action or the scope tells in passing: the pieces of it that are facts and no proposal.

"Raise the limit of X, which was OOMKilled", "Check why X failed", "The disk is full." To propose
claims nothing; what is told of a thing beside that is checked as any other sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from affidavit.verify.prose.clauses import Clause, has_verb
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.tokens import Kind, Token

_FINITE: Final = frozenset(
    "is are was were has had have did does isn't aren't wasn't weren't hasn't 是 被 处于 已 已经 均 都".split()
)
_RELATIVE: Final = frozenset("which who whose where".split())
_SUBJECTS: Final = frozenset("it he she they 它 它们 他".split())
_PRONOUNS: Final = frozenset("its their 其".split())
_WHY: Final = frozenset("why how because since 为何 为什么 因为 由于 因".split())
_FREE_LINKS: Final = frozenset(
    "whether if when while until unless once before after should can could so that 是否 若 如果 当 直到 以便 后 再".split()
)
_PROPOSED: Final = frozenset(
    "alternative option choice way step fallback possible enough next recommended".split()
)
_STARTING: Final = frozenset("the a an all both this these no 该 此 所有 全部".split())
_ENDS: Final = frozenset(". ; : 。 ； ： ! ？ ？ ( )".split())
_LOOKED: Final = frozenset(
    "read looked queried covered examined collected searched included available checked seen fetched "
    "asked inspected".split()
)


def told_in(tokens: tuple[Token, ...]) -> Iterator[Clause]:
    """The pieces of an action that tell something, each with the names that it is told of."""
    names: tuple[Token, ...] = ()
    for piece in _pieces(tokens):
        yield from _of_piece(piece, names)
        names = _names(piece) or names


def told_in_scope(tokens: tuple[Token, ...]) -> Iterator[Clause]:
    """The pieces of a scope that tell something. That a thing was read, or not, tells nothing."""
    names: tuple[Token, ...] = ()
    for piece in _pieces(tokens):
        words = {token.text.casefold() for token in piece}
        if not words & _LOOKED and (words & _FINITE or words & (_RELATIVE | _SUBJECTS)):
            yield from _of_piece(piece, names)
        names = _names(piece) or names


def _pieces(tokens: tuple[Token, ...]) -> Iterator[tuple[Token, ...]]:
    """What stops and brackets part, and commas before a pronoun."""
    piece: list[Token] = []
    for place, token in enumerate(tokens):
        after = tokens[place + 1].text.casefold() if place + 1 < len(tokens) else ""
        comma = token.text in {",", "，"} and (
            after in _RELATIVE | _SUBJECTS | _PRONOUNS | _STARTING
        )
        if (token.kind is Kind.SIGN and token.text in _ENDS) or comma:
            if piece:
                yield tuple(piece)
            piece = []
            continue
        piece.append(token)
    if piece:
        yield tuple(piece)


def _of_piece(piece: tuple[Token, ...], names: tuple[Token, ...]) -> Iterator[Clause]:
    words = [token.text.casefold() for token in piece]
    if set(words) & _PROPOSED:
        return
    for place, word in enumerate(words):
        if place + 1 < len(piece) and (
            word in _RELATIVE
            or (word == "that" and has_verb_form(piece[place + 1 : place + 2]))
            or (not place and word in _PRONOUNS and has_verb_form(piece[1:]))
            or (not place and word in _SUBJECTS)
        ):
            about = _names(piece[:place]) or names
            head = () if about else _head(piece[:place])
            yield Clause((*head, *piece[place + 1 :]), about, bound=bool(about))
            return
        if place and word.endswith("ed") and words[place + 1 : place + 2] == ["by"]:
            yield Clause((*_head(piece[:place]), *piece[place:]))
            return
        if word in _WHY:
            yield Clause(piece[place + 1 :])
            return
        if word in {"已", "已经"} and "的" in words[place:]:
            yield Clause(piece[place + 1 : place + words[place:].index("的")])
            return
        if word == "from" and place + 1 < len(piece) and piece[place + 1].kind is Kind.NUMBER:
            yield Clause(piece[1 : place + 2])
            return
        if word in _FREE_LINKS:
            return
    starts = words[0] in _STARTING and has_verb_form(piece)
    if piece[0].kind is Kind.NAME or starts or set(words) & _FINITE:
        yield Clause(piece)


def _head(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """The noun that a relative clause tells something of: "the valve that failed"."""
    return tuple(token for token in tokens[-1:] if token.role is Role.CONTENT)


def has_verb_form(tokens: tuple[Token, ...]) -> bool:
    """Whether a verb stands in some tokens, as far as its form tells."""
    return has_verb(tokens) or any(
        token.kind is Kind.WORD
        and (token.text.casefold() in _FINITE or token.role in {Role.UP, Role.DOWN})
        for token in tokens
    )


def _names(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    return tuple(token for place, token in enumerate(tokens) if names_thing(tokens, place))
