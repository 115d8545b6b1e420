"""A clause that tells a recorded edge or path: its names in the order of the hops, and no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from affidavit.contract.evidence import Edge
from affidavit.contract.statement import EdgeStatement, PathStatement
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.proofs import Told
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.words import stem, stems_of

_TYING: Final = frozenset(
    stem(word) for word in "which that it and then path chain hop hops in turn , finally".split()
)
_CALLING: Final = frozenset(
    stem(word)
    for word in "call calls reach reaches request requests talks talk to goes go leads lead depends "
    "depend on service services".split()
)
"""What says of callers what they do. A passive ("is called by") leads the other way."""


def leads(clause: Clause, told: Told) -> bool:
    """Whether the clause's names are the hops of a proved path, in order and one after the other."""
    ways = tuple(_ways(told))
    hops = frozenset(hop for way, _ in ways for hop in way)
    names = [
        token.text.casefold()
        for token in clause.tokens
        if token.kind is Kind.NAME or token.text.casefold() in hops
    ]
    if len(names) < 2 or any(
        token.kind in {Kind.NUMBER, Kind.MOMENT, Kind.QUOTE} for token in clause.tokens
    ):
        return False
    return any(
        _follows(names, way)
        and all(token.text.casefold() in way or _ties(token, verbs) for token in clause.tokens)
        for way, verbs in ways
    )


def _ties(token: Token, verbs: frozenset[str]) -> bool:
    if token.kind in {Kind.NAME, Kind.SIGN}:
        return True
    low = token.text.casefold()
    return stem(low) in _TYING | verbs and token.role in _PLAIN and not low.endswith("ed")


_PLAIN: Final = frozenset({Role.FREE, Role.CONTENT, Role.FIRST, Role.LAST})


def _follows(names: list[str], way: list[str]) -> bool:
    starts = range(len(way) - len(names) + 1)
    return any(names == way[start : start + len(names)] for start in starts)


def _ways(told: Told) -> Iterator[tuple[list[str], frozenset[str]]]:
    """Each proved path with the words that say how its ends are related."""
    for proof in told.proofs:
        statement = proof.statement
        relations = {
            record.fact.relation if isinstance(record.fact, Edge) else "calls"
            for record in proof.records
        }
        verbs = _CALLING if relations == {"calls"} else stems_of(" ".join(relations))
        if isinstance(statement, PathStatement):
            yield [hop.casefold() for hop in statement.hops], verbs
        elif isinstance(statement, EdgeStatement):
            yield [statement.subject.casefold(), statement.object.casefold()], verbs
