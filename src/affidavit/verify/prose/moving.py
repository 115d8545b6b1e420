"""Which way typed statements say that things went: changes, trends, and readings one after another."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations
from typing import Final

from affidavit.contract.statement import ChangeStatement, TrendStatement, ValueStatement
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.figures import Figure
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.proofs import Proof, Told
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.words import stem

_EARLIER: Final = frozenset(
    stem(word)
    for word in "ago previous previously prev prior before earlier old last yesterday".split()
)
"""What the name of a reading holds that is older than the other of its kind."""
_SPANS: Final = frozenset(stem(word) for word in "h d m min hour day minute week w".split())
_ADVERBS: Final = {"up": Role.UP, "down": Role.DOWN}


_STAYING: Final = frozenset("stay stays stayed remain remains remained 保持 维持".split())

Holding = tuple[Proof, int]
"""A proof that holds a number, and how: 2 as its value, 1 in a record of its own."""


def moves(clause: Clause, told: Told, apart: frozenset[int] = frozenset()) -> bool:
    """Whether "rose", "fell", "down from" go the way of what was proved; `apart` are words that
    belong to a relation."""
    said = {way for at, token in enumerate(clause.tokens) if at not in apart
            and (way := way_of(clause.tokens, at))}  # fmt: skip
    if Role.FLAT in said:
        if not any(_is_lasting(proof) for proof in told.proofs):
            return False
        said -= {Role.FLAT}
    if not said:
        return True
    if len(said) > 1:
        return False
    wanted = "up" if Role.UP in said else "down"
    return set(ways_of(told)) == {wanted}


def way_of(tokens: tuple[Token, ...], at: int) -> Role | None:
    """The direction that a word says: "rose", or "down" before "from" or "to"."""
    token = tokens[at]
    if token.kind is not Kind.WORD:
        return None
    if token.role in {Role.UP, Role.DOWN, Role.FLAT}:
        return token.role
    if token.text.casefold() in _STAYING:
        return Role.FLAT
    behind = tokens[at + 1].text.casefold() if at + 1 < len(tokens) else ""
    return _ADVERBS.get(token.text.casefold()) if behind in {"from", "to"} else None


def _is_lasting(proof: Proof) -> bool:
    """Whether a statement says that a reading stayed: over a window, or as a flat trend."""
    statement = proof.statement
    if isinstance(statement, TrendStatement):
        return statement.direction == "flat"
    return isinstance(statement, ValueStatement) and statement.window is not None


def ways_of(told: Told) -> Iterator[str]:
    """Every way that a change, a trend or two readings of one thing went."""
    for proof in told.proofs:
        statement = proof.statement
        if isinstance(statement, TrendStatement):
            yield statement.direction
        elif isinstance(statement, ChangeStatement):
            ends = statement.from_, statement.to
            if isinstance(ends[0], Decimal) and isinstance(ends[1], Decimal):
                yield "up" if ends[1] > ends[0] else "down"
            elif statement.direction:
                yield statement.direction
    for one, two in combinations(told.proofs, 2):
        yield from _between(one, two)


def _between(one: Proof, two: Proof) -> Iterator[str]:
    """The way from the earlier to the later of two readings of one thing."""
    first, second = one.statement, two.statement
    if not isinstance(first, ValueStatement) or not isinstance(second, ValueStatement):
        return
    if first.subject != second.subject or {first.operator, second.operator} != {"="}:
        return
    if not isinstance(first.value, Decimal) or not isinstance(second.value, Decimal):
        return
    if (first.unit or "") != (second.unit or "") or first.value == second.value:
        return
    later = second.value - first.value
    if one.attribute == two.attribute and first.at and second.at and first.at != second.at:
        later = later if first.at < second.at else -later
    elif _is_earlier(one, two):
        pass
    elif _is_earlier(two, one):
        later = -later
    else:
        return
    yield "up" if later > 0 else "down"


def _is_earlier(one: Proof, two: Proof) -> bool:
    """Whether a reading is named as the other's, of an earlier time: `sessions_1h_ago`."""
    more = one.attribute - two.attribute
    times = {word for word in more if word.isdigit() or word in _EARLIER | _SPANS}
    return two.attribute < one.attribute and more == times and bool(more & _EARLIER)


def ends_fit(matched: list[tuple[Figure, tuple[Holding, ...]]]) -> bool:
    """Whether the ends of a change stand as it went: from the one, to the other."""
    for figure, found in matched:
        for proof, how in found:
            statement = proof.statement
            if how != 2 or not isinstance(statement, ChangeStatement):
                continue
            ends = [
                number
                for number in (statement.from_, statement.to)
                if isinstance(number, Decimal) and number == figure.stated.number
            ]
            if len(ends) == 1 and not _stands_as(figure, statement, matched, proof):
                return False
    return True


_TO: Final = frozenset("to at now after reaching reached 到 至 升至 降至 升到 降到 达到".split())


def _stands_as(
    figure: Figure,
    statement: ChangeStatement,
    matched: list[tuple[Figure, tuple[Holding, ...]]],
    proof: Proof,
) -> bool:
    """Whether a number is marked as the end that it is, or else stands in the change's order."""
    is_first = statement.from_ == figure.stated.number
    tokens, place = figure.clause.tokens, figure.place
    start = max((at for at in range(place) if tokens[at].kind is Kind.NUMBER), default=-1)
    marks = [token.text.casefold() for token in tokens[start + 1 : place]]
    said = {"from" for word in marks if word in {"from", "从", "由"}}
    said |= {"to" for word in marks if word in _TO - {"at", "now", "after"}}
    if len(said) == 1:
        return said == ({"from"} if is_first else {"to"})
    others = [
        other
        for other, found in matched
        if other.place != place and any(item is proof and how == 2 for item, how in found)
    ]
    return all((other.place > place) == is_first for other in others)
