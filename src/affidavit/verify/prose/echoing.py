"""A clause that repeats a quoted line: its words, names and numbers, in the line's own order.

A quotation proves what stands in its line. A clause says no more where each of its words and
numbers stands in that line, one after the other as there, and the line denies nothing on the way.
Names may also stand elsewhere in the record (whose log it is).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from affidavit.contract.evidence import Line
from affidavit.contract.statement import QuoteStatement
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.lexicon import SAYING, Role
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.proofs import Proof, Told
from affidavit.verify.prose.relating import operates
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.fields import read_number
from affidavit.verify.statements.moments import find_moments
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.units import agrees, unit_of
from affidavit.verify.statements.words import stem

_WORD: Final = re.compile(r"[A-Za-zµ]{1,60}|%|\d{1,18}(?:\.\d{1,9})?")
_DENYING: Final = re.compile(
    r"\b(?:not|no|never|none|nothing|without|unable|cannot|can't|won't|would|could|should|may|might|"
    r"if|unless|almost|nearly|expected|failed to|refused to|instead|before|after|until|un\w{4,})\b",
    re.IGNORECASE,
)
"""Words that turn what stands around them; a clause that goes past one says something else."""
_MOVING: Final = frozenset({Role.UP, Role.DOWN})


def echoes(clause: Clause, told: Told) -> bool:
    """Whether the clause repeats a line that one of its statements quotes."""
    if any(_turns(token) for token in clause.tokens):
        return False
    return any(
        _repeats(clause, record)
        for proof in told.proofs
        if isinstance(proof.statement, QuoteStatement)
        for record in _lines(proof)
    )


def _turns(token: Token) -> bool:
    if token.kind is not Kind.WORD:
        return False
    low = token.text.casefold()
    return (
        token.role not in {Role.FREE, Role.CONTENT, *_MOVING}
        or operates(token)
        or bool(_DENYING.fullmatch(low))
    )


def _lines(proof: Proof) -> Iterator[RecordView]:
    """The records that hold the quotation whole in a line of their own."""
    assert isinstance(proof.statement, QuoteStatement)
    wanted = " ".join(proof.statement.text.split()).casefold()
    for record in proof.records:
        if isinstance(record.fact, Line) and wanted in " ".join(record.text.split()).casefold():
            yield record


def _repeats(clause: Clause, record: RecordView) -> bool:
    assert isinstance(record.fact, Line)
    text = record.fact.text
    atoms = _atoms(text)
    place, first, said = 0, -1, 0
    for at, token in enumerate(clause.tokens):
        if _is_tie(clause, at):
            continue
        if token.kind is Kind.MOMENT:
            assert token.moment is not None
            if not record.stands_at(token.moment):
                return False
            continue
        if token.kind is Kind.NAME or names_thing(clause.tokens, at):
            if token.text.casefold() not in record.names:
                return False
            continue
        if token.kind is Kind.QUOTE:
            if " ".join(token.text.casefold().split()) not in " ".join(text.casefold().split()):
                return False
            continue
        found = next((n for n in range(place, len(atoms)) if _is(token, atoms[n][2])), None)
        if found is None:
            return False
        first = found if first < 0 else first
        place, said = found + 1, said + 1
    if said < SAID_MIN:
        return False
    between = text[atoms[first][0] : atoms[place - 1][1]]
    return not _DENYING.search(_undated(between))


def _atoms(text: str) -> list[tuple[int, int, str]]:
    """The words and numbers of a line with their places; a number with the unit behind it."""
    found = [(item.start(), item.end(), item[0]) for item in _WORD.finditer(text)]
    atoms: list[tuple[int, int, str]] = []
    for (start, end, atom), behind in zip_longest(found, found[1:]):
        united = (
            atom[0].isdigit() and behind and behind[0] <= end + 1 and unit_of(behind[2]) is not None
        )
        atoms.append((start, end, f"{atom} {behind[2]}" if united and behind else atom))
    return atoms


SAID_MIN: Final = 3
"""Fewer words and numbers of a line repeat nothing in particular."""


def _undated(text: str) -> str:
    for moment in find_moments(text):
        text = text.replace(moment.text, " ")
    return text


def _is_tie(clause: Clause, at: int) -> bool:
    """Whether a token only ties others, or says that something was logged."""
    token = clause.tokens[at]
    if token.kind is Kind.SIGN:
        return True
    if token.kind is not Kind.WORD or token.role in _MOVING:
        return False
    return token.role is Role.FREE and bool(
        stem(token.text) in SAYING or len(token.text) <= TIE_CHARS or token.text.casefold() in _TIES
    )


TIE_CHARS: Final = 4
"""A free word this short is an article, a preposition or a form of "be" or "have"."""
_TIES: Final = frozenset("from with into their there these those which".split())


def _is(token: Token, atom: str) -> bool:
    if token.kind is Kind.NUMBER:
        number, unit = read_number(atom)
        if number is None:
            digits = re.match(r"[\d.]+", atom)
            number = read_number(digits[0])[0] if digits else None
        stated = token.stated
        return (
            number is not None
            and stated is not None
            and (agrees(stated, number, unit) or (not stated.unit and stated.number == number))
        )
    base = stem(atom)
    return any(base in kin(word) for word in (*token.stems, stem(token.text)))
