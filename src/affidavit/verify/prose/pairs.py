"""Who "both", "the others" and "the rest" are: what the sentences before named, found among the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.records import CallView

PAIR: Final = 2
CLAUSES_BACK_MAX: Final = 4
"""How far back a sentence may point with "both": the last statement or two before it."""
_BOTH: Final = frozenset("both 两者 二者 两者都 二者都 两者均 二者均".split())


def speaks_of_both(token: Token) -> bool:
    """Whether a word means the two that were named."""
    return token.text.casefold() in _BOTH


def rows(call: CallView) -> frozenset[int]:
    """The records of a call that are its items: no heading, no whole."""
    every = frozenset(record.place for record in call.records if record.shape != "report")
    return every - call.frames or every


def both_places(desk: Desk, binding: Binding) -> tuple[frozenset[int], ...]:
    """Where each of the two things stands that were named last; none where there were not two."""
    if binding.call.id == TOLD or desk.told is None:
        return ()
    named: dict[str, frozenset[int]] = {}
    for token in _named(desk):
        found = desk.places(binding.call, token) & rows(binding.call)
        if not found or len(found) == len(rows(binding.call)):
            continue
        named.setdefault(token.text.casefold(), found)
        if len(named) > PAIR:
            return ()
    return tuple(named.values()) if len(named) == PAIR else ()


def _named(desk: Desk) -> Iterator[Token]:
    """The things that the last told clauses name, latest clause first, until there are two."""
    seen: set[str] = set()
    for clause in tuple(reversed(desk.told_tokens))[:CLAUSES_BACK_MAX]:
        if len(seen) >= PAIR:
            return
        for place, token in enumerate(clause):
            names = names_thing(clause, place) and (
                token.kind is Kind.NAME or len(token.stems) > 0 or token.stated is not None
            )
            if names:
                seen.add(token.text.casefold())
                yield token
