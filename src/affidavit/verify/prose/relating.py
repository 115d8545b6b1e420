"""Relations that typed statements license: "at most 5", "did not rise above 0.2", "more than b".

A number in a relation is a statement's where the statement has that very operator: "not above" is
at most. Two things in a relation are a comparison's, or two proved numbers that stand so. A word of
relation that nothing licenses is left to whoever refuses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from affidavit.contract.statement import ComparisonStatement
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.figures import Figure, figures_of
from affidavit.verify.prose.lexicon import EVERY, HIGHEST, LOWEST, ONLY, VAGUE, Role
from affidavit.verify.prose.proofs import Proof, Told
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.units import convert, unit_of
from affidavit.verify.statements.words import stem

_NEGATED: Final[Mapping[str, str]] = MappingProxyType({">": "<=", "<": ">=", ">=": "<", "<=": ">"})
_TURNED: Final[Mapping[str, str]] = MappingProxyType({">": "<", "<": ">", ">=": "<=", "<=": ">="})
_REACH: Final = 6
"""A negation stands within so many words before the number that it is about."""
_MORE: Final = frozenset(
    "higher larger greater more longer slower bigger above exceeds exceeded exceed outnumber "
    "outnumbers outnumbered outweigh outweighs surpass surpasses surpassed beyond over "
    "高于 大于 多于 超过 超出".split()
)
_LESS: Final = frozenset(
    "lower smaller fewer less shorter faster below under beneath 低于 小于 少于".split()
)
_JOINING: Final = frozenset("than at least most no not to up well far much slightly".split())


def relation_of(figure: Figure) -> tuple[str, frozenset[int]]:
    """How a number is compared, a negation before it counted in, and the words that say so."""
    operator = figure.operator
    if operator == "=":
        return "=", frozenset()
    tokens, place = figure.clause.tokens, figure.place
    words: set[int] = set()
    negations: list[int] = []
    for at in range(place - 1, max(-1, place - 1 - _REACH), -1):
        token = tokens[at]
        low = token.text.casefold()
        if token.kind in {Kind.NUMBER, Kind.SIGN}:
            break
        if token.kind is Kind.WORD and token.role is Role.NEGATION:
            negations.append(at)
        elif low in _MORE | _LESS | _JOINING or low in {"最多", "至少", "不足", "不超过", "不低于"}:
            words.add(at)
    counted = {tokens[at].text.casefold() for at in negations}
    inside = counted <= {"no", "not"} and any(
        tokens[at + 1].text.casefold() in {"more", "less", "fewer"} for at in negations
    )
    if len(negations) > 1:
        return "?", frozenset()
    if negations and not inside:
        operator = _NEGATED.get(operator, "?")
    moved = {
        at
        for at in range(negations[0] + 1 if negations else place, place)
        if tokens[at].role in {Role.UP, Role.DOWN}
    }
    return operator, frozenset(words | set(negations) | moved)


def licensed(clause: Clause, told: Told) -> frozenset[int]:
    """The places of the words of relation that some statement's operator or two numbers license."""
    found: set[int] = set()
    for figure in figures_of(clause):
        operator, words = relation_of(figure)
        if operator != "=" and any(_states(figure, operator, proof) for proof in told.proofs):
            found |= words
    found |= _compared(clause, told)
    return frozenset(found)


def _states(figure: Figure, operator: str, proof: Proof) -> bool:
    value = getattr(proof.statement, "value", None)
    return (
        getattr(proof.statement, "operator", "=") == operator
        and isinstance(value, Decimal)
        and not isinstance(proof.statement, ComparisonStatement)
        and value == figure.stated.number
    )


def _compared(clause: Clause, told: Told) -> frozenset[int]:
    """The one comparing word between two things of which it is true, and its "than"."""
    places = list(comparing(clause.tokens))
    if len(places) != 1:
        return frozenset()
    place, operator = places[0]
    if not _holds(clause, place, operator, told):
        return frozenset()
    than = range(place + 1, min(place + 3, len(clause.tokens)))
    return frozenset({place, *(at for at in than if clause.tokens[at].text.casefold() == "than")})


def comparing(tokens: tuple[Token, ...]) -> Iterator[tuple[int, str]]:
    """The places of the words that compare, and how; a passive ("outnumbered by") turns round."""
    for at, token in enumerate(tokens):
        low = token.text.casefold()
        if low not in _MORE | _LESS:
            continue
        more = low in _MORE
        behind = tokens[at + 1].text.casefold() if at + 1 < len(tokens) else ""
        if low.endswith("ed") and behind == "by":
            more = not more
        yield at, ">" if more else "<"


def _holds(clause: Clause, place: int, operator: str, told: Told) -> bool:
    before, behind = clause.tokens[:place], clause.tokens[place + 1 :]
    if any(token.kind is Kind.WORD and token.role is Role.NEGATION for token in before):
        return False
    numbers = [
        [token for token in side if token.kind is Kind.NUMBER and token.stated is not None]
        for side in (before, behind)
    ]
    if all(len(side) == 1 for side in numbers) and not _relates(numbers, operator):
        return False
    for proof in told.proofs:
        statement = proof.statement
        if not isinstance(statement, ComparisonStatement):
            continue
        for subject, other, way in (
            (statement.subject, statement.object, statement.operator),
            (statement.object, statement.subject, _TURNED.get(statement.operator, "")),
        ):
            if way == operator and _names(before, subject) and _names(behind, other):
                return not _names(behind, subject) and _speaks(clause, proof)
    return all(len(side) == 1 for side in numbers)


def _names(tokens: tuple[Token, ...], name: str) -> bool:
    said = " ".join(token.text for token in tokens).casefold()
    return name.casefold() in said or name.casefold().rstrip("*:/.") in said.split()


def _speaks(clause: Clause, proof: Proof) -> bool:
    """Whether the clause names what is compared."""
    return any(token.stems & proof.attribute for token in clause.tokens)


def _relates(numbers: list[list[Token]], operator: str) -> bool:
    one, two = numbers[0][0].stated, numbers[1][0].stated
    assert one is not None
    assert two is not None
    left = one.number
    if one.unit != two.unit and unit_of(one.unit) and unit_of(two.unit):
        converted = convert(one.number, one.unit, two.unit)
        if converted is None:
            return False
        left = converted
    return left > two.number if operator == ">" else left < two.number


_OPERATING: Final = frozenset(
    {
        Role.NEGATION,
        Role.NONE,
        Role.HEDGE,
        Role.UNKNOWN,
        Role.CAUSED_BY,
        Role.CAUSES,
        Role.EVERY,
        Role.ONLY,
    }
)
_LASTING: Final = frozenset(
    "before after then since still now currently always never constantly throughout repeatedly first last "
    "earliest latest again only alone until till 之前 之后 以前 以后 先 后 起 以来 仍 仍然 依然 一直 始终 目前 再次".split()
)


def operates(token: Token) -> bool:
    """Whether a word denies, quantifies, compares, orders or explains: then it needs a licence."""
    if token.kind is not Kind.WORD:
        return False
    low = token.text.casefold()
    base = stem(low)
    return (
        token.role in _OPERATING
        or low in _LASTING | VAGUE
        or base in EVERY | ONLY
        or (low.endswith("est") and base in HIGHEST | LOWEST)
        or low in {"peak", "maximum", "minimum", "most", "least", "above", "below", "over", "under",
                   "exceeds", "exceeded", "exceeding", "than", "within", "超过", "高于", "低于"}
    )  # fmt: skip
