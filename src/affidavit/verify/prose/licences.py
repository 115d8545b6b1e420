"""Words that deny, quantify, compare, order or move: each needs a statement that says so."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from affidavit.contract.statement import CountStatement, TrendStatement
from affidavit.verify.prose.blaming import SUCCEEDING
from affidavit.verify.prose.lexicon import EVERY, HIGHEST, LOWEST, ONLY, Role
from affidavit.verify.prose.moving import moves
from affidavit.verify.prose.pairing import said_of
from affidavit.verify.prose.parts import Reading
from affidavit.verify.prose.proofs import Proof
from affidavit.verify.prose.relating import licensed, operates
from affidavit.verify.prose.tokens import Kind
from affidavit.verify.statements.denial import FAILING, denies
from affidavit.verify.statements.units import Stated, unit_of
from affidavit.verify.statements.words import stem


def unlicensed(reading: Reading, known: frozenset[str] = frozenset()) -> str:
    """A word that no statement licenses, nor an earlier sentence of these words; else empty."""
    related = licensed(reading.clause, reading.whole)
    for place, token in enumerate(reading.tokens):
        if place in related or place in reading.names or place in reading.attributes:
            continue
        if place in reading.values and token.kind is not Kind.WORD:
            continue
        needs = operates(token) or token.text.casefold() in EXTREME
        if token.text.casefold() in known - _COMPARING:
            continue
        if needs and not _is_licensed(reading, place, related):
            return f"operates {token.text}"
    return "" if moves(reading.clause, reading.whole, related) else "moves"


_COMPARING: Final = frozenset(
    "than more less fewer above below over under exceeds exceeded exceeding 高于 低于 超过".split()
)
"""What compares has to be stated, however often it was said."""


def _is_licensed(reading: Reading, place: int, related: frozenset[int]) -> bool:
    token = reading.tokens[place]
    low, behind = token.text.casefold(), place + 1
    if token.role in {Role.NEGATION, Role.NONE}:
        return _is_denied(reading, place)
    if token.role is Role.HEDGE:
        return low in {"could", "would"} and _is_not(reading, behind)
    if low in {"than", "more"}:
        return _is_compared(reading, place, related)
    if low in EXTREME and _is_extreme(reading, place, earliest=low in _EARLIEST):
        return True
    if stem(low) in HIGHEST | LOWEST and low.endswith("est"):
        return _is_topmost(reading, place, high=stem(low) in HIGHEST)
    if low in {"under", "over", "within"}:
        return behind in reading.names
    if stem(low) in ONLY:
        return behind in reading.values and reading.tokens[behind].kind is Kind.NUMBER
    if low in {"since", "after", "until"}:
        return _leads_to_value(reading, place)
    if low == "each":
        return True
    if stem(low) in EVERY:
        return _is_steady(reading, behind)
    return low in _NAMING and any(stem(low) in proof.attribute for proof in reading.told.proofs)


_TOPMOST_REACH: Final = 8
ROWS_MIN: Final = 2
"""Of a single row nothing is the highest."""


def _is_topmost(reading: Reading, place: int, *, high: bool) -> bool:
    """Whether a stated number beside "the highest lag" is that of its column in a whole result."""
    for at in range(place - _TOPMOST_REACH, place + _TOPMOST_REACH + 1):
        token = reading.tokens[at] if 0 <= at < len(reading.tokens) else None
        if token is None or token.stated is None:
            continue
        for of in reading.values.get(at, frozenset()):
            proof = reading.told.proofs[of]
            if _tops(proof, token.stated.number, high=high) and _names_column(
                reading, place, proof
            ):
                return True
    return False


def _names_column(reading: Reading, place: int, proof: Proof) -> bool:
    behind = reading.tokens[place + 1 : place + 4]
    return any(token.stems & proof.attribute for token in behind)


def _tops(proof: Proof, number: Decimal, *, high: bool) -> bool:
    call, places = proof.calls[0], {record.place for record in proof.records}
    if call.call.envelope.truncated or not proof.records:
        return False
    shape = proof.records[0].shape
    column = [
        (field.number, record.place in places)
        for record in call.records
        if record.shape == shape and record.subject
        for field in record.fields
        if field.number is not None and not field.loose and field.names == proof.attribute
    ]
    numbers = [item for item, _ in column]
    if len(numbers) < ROWS_MIN or number != (max(numbers) if high else min(numbers)):
        return False
    return all(own for item, own in column if item == number)


_NAMING: Final = frozenset("maximum minimum peak max min first last latest total most".split())
_EARLIEST: Final = frozenset("oldest earliest first".split())
EXTREME: Final = _EARLIEST | frozenset("newest latest last".split())
"""Words that say that a moment is the first or the last of several."""
_THAN_REACH: Final = 6


def _is_compared(reading: Reading, place: int, related: frozenset[int]) -> bool:
    """Whether "more than" belongs to a number that follows from others, or to a comparison."""
    if any(at in reading.derived for at in range(place, place + 3)):
        return True
    than = reading.tokens[place].text.casefold() == "than"
    return than and any(at in related for at in range(max(0, place - _THAN_REACH), place))


def _is_extreme(reading: Reading, place: int, *, earliest: bool) -> bool:
    """Whether the moment behind "the oldest" is the first of its field among the rows stated."""
    behind = next(
        (at for at in range(place + 1, min(place + _THAN_REACH, len(reading.tokens)))
         if reading.tokens[at].kind is Kind.MOMENT and at in reading.values), None,
    )  # fmt: skip
    moment = reading.tokens[behind].moment if behind is not None else None
    if behind is None or moment is None:
        return False
    counted = tuple(
        record
        for proof in reading.told.proofs
        if isinstance(proof.statement, CountStatement)
        for record in proof.records
    )
    for at in reading.values[behind]:
        proof = reading.told.proofs[at]
        held = [
            instant
            for record in (*proof.records, *counted)
            for item, written in record.dated
            if item.names & proof.attribute and (instant := written.instant()) is not None
        ]
        if len(held) > 1 and moment.matches(min(held) if earliest else max(held)):
            return True
    return False


_SAMPLES: Final = frozenset(map(stem, "datapoint point sample step reading interval".split()))


def _is_steady(reading: Reading, place: int) -> bool:
    """Whether "at every sample" is what a trend over its window says."""
    return (
        place < len(reading.tokens)
        and bool(reading.tokens[place].stems & _SAMPLES)
        and any(isinstance(proof.statement, TrendStatement) for proof in reading.told.proofs)
    )


def _is_not(reading: Reading, place: int) -> bool:
    tokens = reading.tokens[place : place + 1]
    return any(token.text.casefold() == "not" for token in tokens)


def _leads_to_value(reading: Reading, place: int) -> bool:
    """ "since 08:58:31" of a statement whose own value is that moment, "after 03:17:52" of a time."""
    behind = place + 1
    if behind not in reading.values:
        return False
    token = reading.tokens[behind]
    text = token.text.casefold()
    if token.stated is not None and _lasts(token.stated):
        return reading.tokens[place].text.casefold() == "after"
    return any(
        text in str(getattr(reading.told.proofs[at].statement, "value", "")).casefold()
        for at in reading.values[behind]
    )


def _lasts(stated: Stated) -> bool:
    unit = unit_of(stated.unit) if stated.unit else None
    return unit is not None and unit.dimension == "time"


_AUXILIARY: Final = frozenset(
    "be been being have has had do does did able to longer yet even ever not".split()
)
_FALSE: Final = frozenset("false no 0 none never".split())


def _is_denied(reading: Reading, place: int) -> bool:
    """Whether what a "not" denies is denied by a statement of what it is said of, or its records."""
    word = next(
        (
            token
            for token in reading.tokens[place + 1 : place + 6]
            if token.kind is Kind.WORD and token.text.casefold() not in _AUXILIARY
        ),
        None,
    )
    if word is None:
        return False
    of = said_of(reading, place)
    for at, proof in enumerate(reading.told.proofs):
        value = str(getattr(proof.statement, "value", "")).casefold()
        if at not in of:
            continue
        if value in _FALSE and word.stems & proof.attribute:
            return True
        if any(denies(record, word.stems & record.stems) for record in proof.records):
            return True
        if word.stems & SUCCEEDING and any(record.happened & FAILING for record in proof.records):
            return True
    return False
