"""Proved statements as words can be compared with them: what each says, and the records behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from affidavit.contract.statement import ComparisonStatement, Statement
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.words import names_in, stems_of


@dataclass(frozen=True, slots=True)
class Proof:
    """One proved statement, its calls, and the records that prove it."""

    statement: Statement
    calls: tuple[CallView, ...]
    records: tuple[RecordView, ...]
    texts: tuple[str, ...] = ()
    end: str = ""

    @property
    def subject(self) -> str:
        """What the statement is about; empty where it names nothing. Of an end, that end."""
        return self.end or str(getattr(self.statement, "subject", None) or "")

    @property
    def attribute(self) -> frozenset[str]:
        """The stems of its attribute."""
        return stems_of(str(getattr(self.statement, "attribute", None) or ""))


@dataclass(frozen=True, slots=True)
class Told:
    """What a clause may rest on: proofs, and every name and stem that they hold."""

    proofs: tuple[Proof, ...]
    names: frozenset[str] = field(default=frozenset())
    stems: frozenset[str] = field(default=frozenset())
    claimed: frozenset[str] = field(default=frozenset())
    text: str = ""


def part_ends(proof: Proof) -> tuple[Proof, ...]:
    """A proof by its ends: of a comparison, each thing with the records that hold it alone."""
    statement = proof.statement
    if not isinstance(statement, ComparisonStatement):
        return (proof,)
    ends: list[Proof] = []
    for end, other in (
        (statement.subject, statement.object),
        (statement.object, statement.subject),
    ):
        own = tuple(item for item in proof.records if _holds(item, end) or not _holds(item, other))
        ends.append(replace(proof, records=own, end=end, texts=(end, statement.attribute)))
    return tuple(ends)


def _holds(record: RecordView, name: str) -> bool:
    return name.casefold() in record.names or name.casefold() == record.subject.casefold()


Facts = tuple[tuple[str, tuple[int, ...]], ...]


def gather(proofs: tuple[Proof, ...]) -> Told:
    """What some proved statements say and show."""
    texts = [text for proof in proofs for text in proof.texts]
    records = [record for proof in proofs for record in proof.records]
    joined = " ".join(texts)
    names = names_in(joined).union(*(record.names for record in records))
    stems = stems_of(joined).union(*(record.stems for record in records))
    claimed = stems_of(joined).union(*(record.claimed for record in records))
    whole = " ".join((" ".join(joined.split()), *(record.squeezed for record in records)))
    return Told(proofs, names, stems, claimed, whole.casefold())


_TEXTS: Final = (
    "subject",
    "attribute",
    "object",
    "object_attribute",
    "set",
    "text",
    "query",
    "value",
)


def prove_from(statement: Statement, calls: tuple[CallView, ...], facts: Facts) -> Proof:
    """A proved statement with the records that its facts stand in."""
    places = dict(facts)
    records = tuple(
        call.records[place]
        for call in calls
        for place in sorted(
            {at for fact in places.get(call.id, ()) for at in call.by_fact.get(fact, ())}
        )
        if call.records[place].shape != "report"
    )
    held = [str(found) for key in _TEXTS if isinstance(found := getattr(statement, key, None), str)]
    held.extend(str(found) for found in getattr(statement, "hops", ()) or ())
    where = getattr(statement, "where", None) or {}
    held.extend(str(value) for value in where.values())
    return Proof(statement, calls, records, tuple(held))


_OWN: Final = ("subject", "object", "hops", "where")


def identities(proof: Proof) -> tuple[str, ...]:
    """What a statement names as what it is about."""
    found: list[str] = []
    if proof.end:
        return (proof.end,)
    for key in _OWN:
        value = getattr(proof.statement, key, None)
        match value:
            case str():
                found.append(value)
            case tuple():
                found.extend(map(str, value))
            case Mapping():
                found.extend(map(str, value.values()))
            case _:
                pass
    return tuple(found)
