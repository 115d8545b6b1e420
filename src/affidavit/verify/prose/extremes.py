"""the highest, the slowest, 最长: is what is said so the extreme of its kind?

The number that the clause gives has to be the largest or smallest of that field among the records of
its shape; without a number, the named record has to be it in a field that the words name. Where the
source itself says maximum or peak, its word counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Value
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import HIGHEST, LOWEST
from affidavit.verify.prose.numbering import labelled
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.select import kin, statistics_in
from affidavit.verify.statements.units import agrees
from affidavit.verify.statements.words import stem

_HIGHEST_ZH: Final = frozenset("最高 最大 最长 最多 峰值 最慢".split())
_LOWEST_ZH: Final = frozenset("最低 最小 最短 最少 谷值 最快".split())
_LOOSE: Final = frozenset(
    map(
        stem, "maximum minimum max min peak peaks peaked top least 峰值 谷值 最大 最小 最多".split()
    )
)
"""Words that may also name a limit or a statistic: these are refuted only where another is larger."""


def unproved(desk: Desk, clause: Clause, bindings: list[Binding]) -> str:
    """The word that calls something extreme and that no call bears out; or nothing."""
    for place, token in enumerate(clause.tokens):
        side = _side(clause, place, token)
        if not side:
            continue
        said = [_bears(desk, clause, place, item, side) for item in bindings]
        if True in said or (False not in said and stem(token.text) in _LOOSE):
            continue
        return token.text
    return ""


def stands_alone(clause: Clause) -> bool:
    """Whether a clause calls something extreme and names neither the thing nor its number."""
    things = [name for name in clause.names if not statistics_in(frozenset({name.text.casefold()}))]
    if things or _figure(clause, 0) is not None:
        return False
    return any(_side(clause, place, token) for place, token in enumerate(clause.tokens))


def _side(clause: Clause, place: int, token: Token) -> str:
    if token.kind is not Kind.WORD:
        return ""
    low, base = token.text.casefold(), stem(token.text)
    before = clause.tokens[place - 1].text.casefold() if place else ""
    if low == "most" and before == "the":
        return "high"
    if before == "at" or (low.isascii() and not low.endswith("est") and base not in _LOOSE):
        return ""
    if base in HIGHEST or low in _HIGHEST_ZH:
        return "high"
    return "low" if base in LOWEST or low in _LOWEST_ZH else ""


def _bears(desk: Desk, clause: Clause, place: int, binding: Binding, side: str) -> bool | None:
    """True where the call bears the extreme out, False where it holds a larger one."""
    word = clause.tokens[place]
    records = binding.records()
    loose = word.stems if stem(word.text) in _LOOSE else frozenset[str]()
    if any(
        word.text.casefold() in record.text.casefold() or loose & record.stems for record in records
    ):
        return True
    if binding.call.id == TOLD:
        return None
    wanted = {"high": "#1", "low": "#2"}[side]
    if any(
        isinstance(record.fact, Value) and wanted in statistics_in(record.stems)
        for record in records
    ):
        return True
    verdicts = [
        _is_extreme(field, record, domain, side)
        for record, field in _meant(clause, place, records)
        for domain in _domains(binding, record)
    ]
    if not verdicts:
        return None
    return True in verdicts


def _meant(
    clause: Clause, place: int, records: tuple[RecordView, ...]
) -> Iterator[tuple[RecordView, Field]]:
    """The fields that the extreme may be about: those that hold the nearest number, or are named."""
    figure = _figure(clause, place)
    words = frozenset(
        word for token in clause.tokens if token.kind is Kind.WORD for word in token.stems
    )
    for record in records:
        numeric = [field for field in record.fields if field.number is not None and not field.loose]
        for field in numeric:
            assert field.number is not None
            if figure is not None and figure.stated is not None:
                if agrees(figure.stated, field.number, field.unit):
                    yield record, field
            elif len(numeric) == 1 or any(kin(word) & field.names for word in words):
                yield record, field


def _figure(clause: Clause, place: int) -> Token | None:
    numbers = [
        (abs(at - place), token)
        for at, token in enumerate(clause.tokens)
        if token.kind is Kind.NUMBER and not token.spelled and not labelled(clause.tokens, at)
    ]
    return min(numbers, key=lambda item: item[0], default=(0, None))[1]


def _domains(binding: Binding, record: RecordView) -> Iterator[tuple[RecordView, ...]]:
    """The records of the same kind: all of the call, and those of the clause's own names."""
    yield tuple(item for item in binding.call.records if item.shape == record.shape)
    own = tuple(item for item in binding.wider() if item.shape == record.shape)
    if len(own) > 1:
        yield own


def _is_extreme(
    field: Field, record: RecordView, domain: tuple[RecordView, ...], side: str
) -> bool:
    assert field.number is not None
    others = [
        item.number
        for other in domain
        for item in other.fields
        if item.name == field.name and item.number is not None and item.unit == field.unit
    ]
    best: Decimal = max(others) if side == "high" else min(others)
    return field.number == best and len(others) > 1
