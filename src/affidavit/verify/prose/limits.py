"""at its limit, close to its limit: a state that two numbers of one record show."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.quantities import LIMITING, qualifiers_in
from affidavit.verify.prose.tokens import Kind
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.units import Stated, agrees, convert
from affidavit.verify.statements.words import stem

CLOSE_MIN: Final = Decimal("0.9")
"""Of a limit: what is as much is close to it."""
REACHED_MIN: Final = Decimal("0.99")
"""Of a limit: what is as much has reached it."""
_CLOSE: Final = frozenset("close near nearly almost approaching".split())
_REACHED: Final = frozenset("at reached reaches hit hits".split())
_BETWEEN: Final = frozenset("to its the their a of configured".split())
_USED: Final = 2
"""The kind of amount that is used, by `quantities`."""
REACH_WORDS: Final = 4


def is_reached(clause: Clause, place: int, bindings: list[Binding]) -> bool | None:
    """Whether a word names a limit that the clause's records show to be reached, or nearly.

    None where it says nothing of that, or no record holds a limit and what is used of it.
    """
    token = clause.tokens[place]
    if token.kind is not Kind.WORD or stem(token.text) not in LIMITING:
        return None
    share = _share(clause, place)
    if share is None:
        return None
    said = frozenset(
        other
        for item in clause.tokens
        if item.kind is Kind.WORD and item.role is Role.CONTENT and item is not token
        for other in item.stems | kin(stem(item.text))
    )
    stated = next(
        (item.stated for item in clause.tokens[place + 1 : place + 3] if item.stated is not None),
        None,
    )
    shown = [
        part >= share
        for item in bindings
        if item.call.id != TOLD
        for record in item.records()
        for part in _parts(record, said, stated)
    ]
    if not shown and _is_told(clause, place, bindings) is False:
        return False
    return any(shown) if shown else None


_SAID: Final = frozenset("reached reaches hit hits exceeded exceeds exceeding exceed over".split())


def _is_told(clause: Clause, place: int, bindings: list[Binding]) -> bool | None:
    """Whether a record says in words that a limit was reached; None where the clause does not."""
    words = [
        token
        for token in clause.tokens[max(0, place - REACH_WORDS) : place]
        if token.text.casefold() in _SAID
    ]
    if not words:
        return None
    return any(
        stem(token.text) in record.happened
        for token in words
        for item in bindings
        for record in item.records()
    )


def _share(clause: Clause, place: int) -> Decimal | None:
    """How much of the limit the words before it say is used; None where they say nothing of it."""
    for token in reversed(clause.tokens[max(0, place - REACH_WORDS) : place]):
        low = token.text.casefold()
        if low in _CLOSE:
            return CLOSE_MIN
        if low in _REACHED | _SAID:
            return REACHED_MIN
        if token.kind is not Kind.WORD:
            return None
    return None


def _parts(record: RecordView, said: frozenset[str], stated: Stated | None) -> Iterator[Decimal]:
    """How much of each limit is used that the words and the number may mean."""
    fields = [item for item in record.fields if item.number is not None and not item.loose]
    meant = said & frozenset().union(*(_bare(item) for item in fields), frozenset[str]())
    for limit in fields:
        if not _limits(limit) or (meant and not meant & _bare(limit)):
            continue
        if stated is not None and not agrees(stated, limit.number or Decimal(0), limit.unit):
            continue
        for used in fields:
            if used is not limit and not _limits(used) and _is_of(used, limit):
                yield _part(used, limit)


def _limits(field: Field) -> bool:
    return 0 in qualifiers_in(field.names) or any(
        word.startswith("max") and len(word) > len("max") for word in field.names
    )


def _is_of(used: Field, limit: Field) -> bool:
    """Whether two fields measure one thing: they share a word, the limit's own aside."""
    bare = _bare(limit)
    return bool(used.names & bare) or (_USED in qualifiers_in(used.names) and not bare)


def _bare(field: Field) -> frozenset[str]:
    """The words of a field's name that say what it measures."""
    return frozenset(word.removeprefix("max") for word in field.names) - LIMITING - _FORMAL


_FORMAL: Final = frozenset({"", "human", "byt", "size"})


def _part(used: Field, limit: Field) -> Decimal:
    number = convert(used.number or Decimal(0), used.unit, limit.unit)
    if number is None or not limit.number or used.unit != limit.unit:
        return Decimal(0)
    return number / limit.number
