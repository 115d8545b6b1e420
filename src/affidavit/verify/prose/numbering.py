"""Numbers that name: "partition 2", "session 50377"; and those that measure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from affidavit.verify.prose.lexicon import VERBS, Role
from affidavit.verify.prose.tokens import Kind, Token, tokenize
from affidavit.verify.statements.words import stem, stems_of

IDENTITY_DIGITS_MIN: Final = 4
"""A bare whole number of so many digits may be an id; a shorter one is a quantity."""


def mark_labels(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Gives a thing's number the stems of its label, so that "partition 2" is no lag of 2."""
    return tuple(
        replace(token, stems=tokens[place - 1].stems | stems_of(tokens[place - 1].text))
        if labelled(tokens, place)
        else token
        for place, token in enumerate(tokens)
    )


def read_tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text, with the numbers that name things marked."""
    return mark_labels(tokenize(text))


def is_identity(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a bare whole number of four digits or more can only be a name.

    It stands in brackets or in a list that does ("(50912, 50915 and 50921)"), or behind a noun; never
    before one ("2117 errors") or behind a word that measures ("to 181990").
    """
    token = tokens[place]
    stated = token.stated
    if (
        token.kind is not Kind.NUMBER or stated is None or stated.unit or token.spelled
        or not token.text.isdigit() or len(token.text) < IDENTITY_DIGITS_MIN
    ):  # fmt: skip
        return False
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    if after is not None and after.kind is Kind.WORD and after.role is Role.CONTENT:
        return False
    if labelled(tokens, place):
        return True
    start = place
    while start and tokens[start - 1].text.casefold() in _JOINS:
        if tokens[start - 1].text == "(":
            return True
        start -= 1
        if start and tokens[start - 1].kind is Kind.NUMBER:
            return is_identity(tokens, start - 1)
    return False


_JOINS: Final = frozenset(", ( and or 、 和 与 及".split())
LABELS: Final = frozenset(
    "number no id code status line row column step stage part page version revision level item case "
    "attempt process session task job build partition shard port key type exit error question record "
    "entry call request message event order change group instance node".split()
)
"""Ordinary words that may stand before the number of a thing."""
_NOT_LABELS: Final = frozenset(
    "of in to from by at for with than and or about only all the a an is are was were has have had "
    "least most over under above below between saw see sees took take takes ran run runs against together 和 与 有 为 是 到 至 从 的 共 约".split()
)


_LEADING_ZH: Final = ("为", "成", "到", "至", "了", "达", "过", "于", "出", "率", "量", "数")
"""A Chinese word that ends so leads to a quantity, and names no thing."""


def labelled(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a bare number is a thing's number: "partition 2", "revision 19", "task 311"."""
    token = tokens[place]
    if token.kind is not Kind.NUMBER or token.spelled or not token.text.replace(".", "").isdigit():
        return False
    before = tokens[place - 1] if place else None
    if before is None or before.kind not in {Kind.WORD, Kind.NAME}:
        return False
    low = before.text.casefold()
    if before.end + 1 < token.start or before.text.casefold() in _NOT_LABELS:
        return False
    if before.kind is Kind.WORD and before.role is not Role.CONTENT and low not in LABELS:
        return False
    if not before.text.isascii() and (
        before.role is not Role.CONTENT or before.text.endswith(_LEADING_ZH)
    ):
        return False
    if before.kind is Kind.WORD and low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return False
    return before.kind is Kind.NAME or not (
        _is_verb(before.text) or before.text.casefold() in VERBS
    )


def _is_verb(word: str) -> bool:
    low = word.casefold()
    return low.endswith(("ed", "ing")) or stem(low) in _MEASURING


_MEASURING: Final = frozenset(
    stem(word) for word in
    "count counts list lists hold holds take took show shows reach reaches reached stand stands "
    "report reports return returns returned use uses need needs last lasts every total exit exited "
    "exactly within after another other next further".split()
)  # fmt: skip


def is_whole_at(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a number is what another is a part of: 644 in "3 of 644" or "3 of the 644"."""
    start = place - 1
    while start > 0 and tokens[start].text.casefold() in {"the", "all", "its"}:
        start -= 1
    if start < 1 or tokens[start].text.casefold() not in {"of", "/"}:
        return False
    return tokens[start - 1].kind is Kind.NUMBER


def names_thing(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a token names a thing: a name, or a number that is one."""
    return tokens[place].kind is Kind.NAME or is_identity(tokens, place) or labelled(tokens, place)
