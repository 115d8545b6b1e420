"""Which proofs hold a number: as their value, or in a record of their own that the words name."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from affidavit.contract.statement import ChangeStatement, CountStatement, ValueStatement
from affidavit.verify.prose.figures import Figure, near_words
from affidavit.verify.prose.moving import Holding
from affidavit.verify.prose.proofs import Proof, Told
from affidavit.verify.prose.relating import relation_of
from affidavit.verify.statements.fields import read_number
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.units import Stated, agrees, unit_of


def hold(figure: Figure, told: Told) -> tuple[Holding, ...]:
    """The proofs that hold a number; those that have it as their value, where there are any."""
    stated = figure.stated
    operator, _ = relation_of(figure)
    found: list[Holding] = []
    for proof in told.proofs:
        alike = getattr(proof.statement, "operator", "=") == operator
        if alike and any(is_same(stated, number, unit) for number, unit in numbers_of(proof)):
            found.append((proof, 2))
        elif _in_records(figure, proof):
            found.append((proof, 1))
    exact = tuple(item for item in found if item[1] == 2)
    return exact or tuple(found)


def is_same(stated: Stated, number: Decimal, unit: str) -> bool:
    """Whether a number is the stated one; a unit that only one of them has may be left out."""
    if stated.unit and unit:
        return agrees(stated, number, unit)
    if stated.unit and unit_of(stated.unit):
        return False
    return agrees(Stated(stated.number, "", stated.about), number, "")


def numbers_of(proof: Proof) -> Iterator[tuple[Decimal, str]]:
    """The numbers that a statement gives as its own, each with its unit, or its records' unit."""
    statement = proof.statement
    unit = str(getattr(statement, "unit", None) or "") or _unit_held(proof)
    if isinstance(statement, ValueStatement | CountStatement):
        value = statement.value
        if isinstance(value, Decimal):
            yield value, unit
        elif isinstance(value, str):
            number, own = read_number(value)
            if number is not None:
                yield number, own or unit
    if isinstance(statement, ChangeStatement):
        for end in (statement.from_, statement.to):
            if isinstance(end, Decimal):
                yield end, unit


def _unit_held(proof: Proof) -> str:
    """The one unit of the attribute's fields in the records that prove it."""
    units = {
        item.unit
        for record in proof.records
        for item in record.fields
        if item.number is not None and not item.loose and item.names & proof.attribute
    }
    return next(iter(units)) if len(units) == 1 else ""


def _in_records(figure: Figure, proof: Proof) -> bool:
    """Whether a record of the proof holds the number in a field that the words beside it name."""
    near = near_words(figure)
    words = frozenset(other for word in near.all for other in kin(word))
    for record in proof.records:
        for item in record.fields:
            if item.number is None or not is_same(figure.stated, item.number, item.unit):
                continue
            if item.names & words or item.tight & words:
                return True
    return False
