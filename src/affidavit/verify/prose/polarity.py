"""Does the clause say yes where the record says no, or no where it says yes?

A record denies a word when every place that holds it stands close behind a "not", is a field that
is false or zero, or is a part of a name such as OutOfSync. A denied word needs a denying clause; a
denying clause needs a record that denies, or fails.
"""

from __future__ import annotations

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause, is_negative
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.lexicon import Role
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
            for place in desk.places(binding.call, token) & frozenset().union(*binding.best)
        ]
        if records and all(denies(record, token.stems) for record in records):
            return True
    return False


def denial_shown(binding: Binding) -> bool:
    """Whether a record that the clause speaks of denies or fails."""
    return any(fails(record) for record in binding.records())
