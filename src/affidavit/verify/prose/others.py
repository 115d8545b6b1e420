"""the others, the rest: the records that the clause before did not speak of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause, speaks_of_others
from affidavit.verify.prose.figures import Figure
from affidavit.verify.statements.records import RecordView


def lists_others(figure: Figure, binding: Binding, before: Binding | None) -> bool:
    """Whether the clause lists one field of all the other rows: "71 and 68 on the others"."""
    apart = spoken_of(figure.clause, binding, before)
    if not apart:
        return False
    shapes = {binding.call.records[place].shape for place in apart}
    rest = [
        record for record in binding.call.records
        if record.shape in shapes and record.place not in apart
    ]  # fmt: skip
    listed = sorted(token.stated.number for token in figure.clause.tokens if token.stated)
    names = {field.name for record in rest for field in record.fields if not field.loose}
    fitting_names = [
        name for name in names
        if sorted(_numbers(rest, name)) == listed and len(rest) == len(listed) > 1
    ]  # fmt: skip
    return len(fitting_names) == 1


def without(clause: Clause, binding: Binding, before: Binding | None) -> Binding:
    """The binding without what the clause before spoke of, where this one speaks of the others."""
    apart = spoken_of(clause, binding, before)
    if not apart:
        return binding
    return replace(
        binding,
        allowed=tuple(found - apart for found in binding.allowed),
        best=tuple(found - apart for found in binding.best),
    )


def _numbers(records: Iterable[RecordView], name: str) -> list[Decimal]:
    return [
        field.number
        for record in records
        for field in record.fields
        if field.name == name and field.number is not None and not field.loose
    ]


def spoken_of(clause: Clause, binding: Binding, before: Binding | None) -> frozenset[int]:
    """The records of the clause before, where this one speaks of "the others"."""
    if before is None or before.call.id != binding.call.id or not speaks_of_others(clause):
        return frozenset()
    return frozenset().union(*before.best)
