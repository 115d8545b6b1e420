"""Does the clause say yes where the record says no, or no where it says yes?

A record denies a word when every place that holds it stands close behind a "not", is a field that
is false or zero, or is a part of a name such as OutOfSync. A denied word needs a denying clause; a
denying clause needs a record that denies, or fails.
"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause, is_negative
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.lexicon import FUNCTION, Role
from affidavit.verify.prose.tokens import Kind
from affidavit.verify.statements.denial import FAILING, FAILING_ZH, denies, fails
from affidavit.verify.statements.words import parts_of, stem


def sounds_bad(clause: Clause) -> bool:
    """Whether a clause denies or speaks of a failure, so that a denied word may stand in it."""
    return is_negative(clause) or any(
        token.kind in {Kind.WORD, Kind.NAME, Kind.QUOTE}
        and (
            bool(token.stems & FAILING)
            or any(stem(part) in FAILING for part in parts_of(token.text))
            or any(sign in token.text for sign in FAILING_ZH)
        )
        or (token.stated is not None and token.stated.number == 0)
        for token in clause.tokens
    )


def denied_words(desk: Desk, clause: Clause, bindings: list[Binding]) -> bool:
    """Whether the clause affirms a word that every record it speaks of denies."""
    if sounds_bad(clause):
        return False
    for token in clause.tokens:
        if token.kind is not Kind.WORD or token.role is not Role.CONTENT:
            continue
        records = [
            binding.call.records[place]
            for binding in bindings
            for place in desk.places(binding.call, token) & frozenset().union(*binding.allowed)
        ]
        if records and all(denies(record, token.stems) for record in records):
            return True
    return False


def denial_shown(clause: Clause, binding: Binding) -> bool:
    """Whether a record that the clause speaks of denies what the clause denies, or fails at it.

    A word behind the "not" that the record denies settles it, and so does one that it affirms; where
    the record does not hold the word at all, a failure in it is denial enough.
    """
    words = _denied_by(clause)
    records = binding.records()
    held = [record for record in records if words & record.stems]
    for record in held:
        if fails(record) or any(denies(record, frozenset({word})) for word in words & record.stems):
            return True
    if held:
        return False
    return any(fails(record) for record in records)


def _denied_by(clause: Clause) -> frozenset[str]:
    """The stems of the words that stand close behind the clause's negator."""
    found: set[str] = set()
    reach = 0
    for token in clause.tokens:
        if token.kind is Kind.WORD and token.role in {Role.NEGATION, Role.NONE}:
            reach = REACH
        elif reach and token.kind is Kind.WORD:
            base = frozenset({stem(token.text)}) if token.text.isascii() else token.stems
            found |= base - FUNCTION
            reach -= 1
    return frozenset(found)


REACH: Final = 3
"""How far a "not" reaches over the words behind it."""
