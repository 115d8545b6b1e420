"""Of what is something said in a stretch that picks rows: of the row itself, or of what is beside it?

What a row tells it tells of the thing that it is about. A name in another of its columns, the host
of a task, is only where it is, and stands behind a preposition; as the subject of a state it would
be given what is not its own.
"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.lexicon import VERBS
from affidavit.verify.prose.nouns import KINDS
from affidavit.verify.prose.picking import Meaning, Means
from affidavit.verify.prose.tables import Table
from affidavit.verify.prose.tokens import Kind, Token

_PREPOSITIONS: Final = frozenset(
    "of on in at for from with by under below to against via per behind inside within as "
    "在 于 由 对 从 按 以 为 是 到 向 属于 来自".split()
)
_BEHIND: Final = frozenset("上 的 中 里 内 上的 下".split())
_SKIPPED: Final = frozenset("the a an its their this that these those and or , 、 和 与".split())


def is_of_rows(
    table: Table, tokens: tuple[Token, ...], parts: tuple[Meaning, ...], *, goes_on: bool
) -> bool:
    """Whether every name of a stretch stands where it may: as the row's own, or where it is.

    `goes_on` says that the stretch before named the rows.
    """
    if not table.keys:
        return True
    named = False
    for place, part in enumerate(parts):
        named = named or (goes_on and tokens[place].text.casefold() in VERBS)
        if part.means is not Means.ROWS or not _is_name(tokens[place]):
            continue
        if part.columns & table.keys:
            if _is_agent(tokens, place):
                return False
            named = True
        elif not named and not _is_placed(tokens, parts, place):
            return False
    return True


def _is_agent(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a name is who did it: "blocked by session 4417"."""
    before = [token.text.casefold() for token in tokens[max(0, place - 2) : place]]
    return before[-1:] == ["by"] or (before[:1] == ["by"] and before[1] in KINDS)


def _is_name(token: Token) -> bool:
    return token.kind in {Kind.NAME, Kind.NUMBER} or token.proper


def _is_placed(tokens: tuple[Token, ...], parts: tuple[Meaning, ...], place: int) -> bool:
    """Whether a name stands behind a preposition, its kind and the names listed with it aside."""
    behind = tokens[place + 1] if place + 1 < len(tokens) else None
    if behind is not None and behind.text in _BEHIND:
        return behind.text != "的" or parts[place - 1].means is Means.COLUMN
    at = place - 1
    while at >= 0:
        low = tokens[at].text.casefold()
        if low in _PREPOSITIONS:
            return low not in {"of", "的"} or at < place - 1
        if not (
            low in _SKIPPED or low in KINDS or parts[at].means is Means.COLUMN
            or parts[at].columns == parts[place].columns
        ):  # fmt: skip
            return False
        at -= 1
    return False
