"""What one record says of a thing before and after: `old: a, new: b`, "changed from a to b", `a -> b`.

The two ends have to stand in one record as a pair: in fields that are named alike but for before
and after, or in words around "from … to …" or an arrow. What was changed has to be named by the
record: where the pair stands beside a field that names it (`path`, `field`, `key`), by that field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from affidavit.contract.statement import ChangeStatement, Scalar
from affidavit.verify.statements.fields import Field, read_number
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.units import Stated, agrees
from affidavit.verify.statements.words import names_in, parts_of, stem, stems_of

_BEFORE: Final = frozenset("from old before previous prev prior was".split())
_AFTER: Final = frozenset("to new after current now".split())
_NAMING: Final = frozenset(
    "path field key setting attribute parameter property option column name".split()
)
_ANY: Final = frozenset(map(stem, "state value status setting".split()))
"""What a change may be called that names nothing but itself."""
_SAID: Final = re.compile(
    r"\bfrom\s+[\"'`]?(?P<one>[^\s\"'`,;]{1,120})[\"'`]?\s+to\s+[\"'`]?(?P<two>[^\s\"'`,;]{1,120})"
    r"|(?P<left>[^\s\"'`,;()\[\]]{1,120})\s*(?:->|→|=>)\s*(?P<right>[^\s\"'`,;()\[\]]{1,120})"
)
_EDGE: Final = ".:!?)"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two ends of a change as a record holds them, and what the record calls it."""

    before: str
    after: str
    names: frozenset[str]
    exact: bool = False


def is_replaced(statement: ChangeStatement, record: RecordView) -> bool:
    """Whether a record holds both ends of the change as a pair of its own."""
    if statement.from_ is None or statement.to is None:
        return False
    unit = statement.unit or ""
    return any(
        _is(statement.from_, unit, pair.before)
        and _is(statement.to, unit, pair.after)
        and _is_named(statement.attribute, pair)
        for pair in (*_pairs(record), *_said(record))
    )


def _is_named(attribute: str, pair: _Pair) -> bool:
    wanted = stems_of(attribute)
    if pair.exact:
        return wanted == pair.names or attribute.casefold() in pair.names
    return wanted <= pair.names | _ANY


def _pairs(record: RecordView) -> Iterator[_Pair]:
    befores: dict[tuple[str, tuple[str, ...]], Field] = {}
    afters: dict[tuple[str, tuple[str, ...]], Field] = {}
    for item in record.fields:
        if item.loose or not item.name:
            continue
        path, _, last = item.name.rpartition(".")
        parts = parts_of(last)
        rest = tuple(part for part in parts if part not in _BEFORE | _AFTER | {"value"})
        if _BEFORE.intersection(parts):
            befores.setdefault((path, rest), item)
        elif _AFTER.intersection(parts):
            afters.setdefault((path, rest), item)
    for key in befores.keys() & afters.keys():
        path, rest = key
        naming = _naming(record, path)
        if naming and not rest:
            yield _Pair(befores[key].text, afters[key].text, naming, exact=True)
        else:
            known = frozenset(map(stem, rest)) if rest else record.stems
            yield _Pair(befores[key].text, afters[key].text, known)


def _naming(record: RecordView, path: str) -> frozenset[str]:
    """What the fields beside a pair say that was changed."""
    held = [
        item.text for item in record.fields
        if not item.loose and item.name.rpartition(".")[0] == path
        and _NAMING.intersection(parts_of(item.name.rpartition(".")[2]))
        and item.text.casefold() != record.subject.casefold()
    ]  # fmt: skip
    return frozenset().union(*(stems_of(text) | names_in(text) for text in held[:1]))


def _said(record: RecordView) -> Iterator[_Pair]:
    for found in _SAID.finditer(record.text):
        one, two = found["one"] or found["left"], found["two"] or found["right"]
        yield _Pair(one.strip(_EDGE), two.strip(_EDGE), record.stems)


def _is(stated: Scalar, unit: str, held: str) -> bool:
    if isinstance(stated, bool):
        return held.casefold() == str(stated).casefold()
    number, own = read_number(held)
    if isinstance(stated, Decimal):
        return number is not None and agrees(Stated(stated, unit), number, own)
    wanted, own_unit = read_number(stated)
    if wanted is not None and number is not None:
        return agrees(Stated(wanted, own_unit), number, own)
    return " ".join(stated.casefold().split()) == " ".join(held.casefold().split())
