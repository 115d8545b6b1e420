"""Above or below, without a number: the record has to say so itself (压力为何低于下限)."""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.tokens import Kind
from affidavit.verify.statements.words import stem

_SIDES: Final = {
    Role.LESS: frozenset(
        map(stem, "below under less lower low beneath short insufficient minimum fewer".split())
    ),
    Role.MORE: frozenset(
        map(stem, "above over exceed exceeded more higher high greater larger beyond".split())
    ),
}


def unsaid(clause: Clause, bindings: list[Binding]) -> str:
    """The Chinese word of comparison that no record bears out and no number measures; or nothing."""
    for place, token in enumerate(clause.tokens):
        words = _SIDES.get(token.role)
        if words is None or token.kind is not Kind.WORD or token.text.isascii():
            continue
        behind = clause.tokens[place + 1 :]
        if any(item.kind in {Kind.NUMBER, Kind.MOMENT} for item in behind):
            continue
        records = [record for item in bindings for record in item.records()]
        if not any(words & record.stems or token.text in record.text for record in records):
            return token.text
    return ""
