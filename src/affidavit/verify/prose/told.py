"""A number of a conclusion that an analysis has told: the phrase around it, whole, in one clause.

A conclusion gathers what several records hold, so that no one record holds all of its words. What a
phrase says ("under a limit of 8Gi") may then be taken from a proved sentence, when one clause of it
holds the number in the same unit, every word of the phrase, and no other thing than those named.
"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.figures import Figure, attached_moment
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.quantities import LIMITING
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.units import agrees
from affidavit.verify.statements.words import stem

_OPENING: Final = frozenset(
    "under with at against within over above below of to by from in".split()
)
PHRASE_WORDS_MAX: Final = 5
"""A longer phrase is a clause of its own."""


def holds_phrase(desk: Desk, figure: Figure) -> bool:
    """Whether a told clause holds the number and each word of the phrase before it."""
    if desk.told is None or figure.operator != "=" or attached_moment(figure) is not None:
        return False
    words = phrase_of(figure)
    if not words:
        return False
    names = {token.text.casefold() for token in (*figure.clause.names, *figure.clause.topics)}
    for record in desk.told.records:
        others = {
            token.text.casefold()
            for token in desk.told_tokens[record.place] if token.kind is Kind.NAME
        } - names  # fmt: skip
        held = any(
            item.number is not None
            and bool(item.unit) == bool(figure.stated.unit)
            and agrees(figure.stated, item.number, item.unit)
            for item in record.fields
        )
        if held and not others and all(word.stems & record.stems for word in words):
            return True
    return False


def phrase_of(figure: Figure) -> tuple[Token, ...]:
    """The words from the preposition before a number: "under a limit of 8Gi"; a limit among them."""
    tokens, place = figure.clause.tokens, figure.place
    found: list[Token] = []
    for token in reversed(tokens[max(0, place - PHRASE_WORDS_MAX) : place]):
        if token.kind is not Kind.WORD:
            break
        if token.text.casefold() in _OPENING and found:
            limited = any(stem(item.text) in LIMITING for item in found)
            return tuple(found) if limited else ()
        if token.role is Role.CONTENT or stem(token.text) in LIMITING:
            found.append(token)
    return ()
