"""rose, fell, stayed: does the reading move as the clause says?"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Change
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.bounding import is_bounded
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD
from affidavit.verify.prose.lexicon import DOWN, UP, Role
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.change import direction_of
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.units import Stated, agrees, convert
from affidavit.verify.statements.words import stem, stems_of


def direction_in(clause: Clause) -> str | None:
    """up or down, where a word of the clause says so; the first one counts."""
    word = direction_word(clause)
    return None if word is None else "up" if word.role is Role.UP else "down"


def direction_word(clause: Clause) -> Token | None:
    """The word that says up or down; behind a "not" that bounds ("did not rise above") it says neither."""
    return next(
        (
            token
            for place, token in enumerate(clause.tokens)
            if token.kind is Kind.WORD
            and token.role in {Role.UP, Role.DOWN}
            and not is_bounded(clause.tokens, place)
        ),
        None,
    )


def ends_of(clause: Clause) -> tuple[Decimal, Decimal] | None:
    """The two numbers that a clause moves between, in the order written, in one unit."""
    texts = [token.text.casefold() for token in clause.tokens]
    numbers = _movers(clause)
    if len(numbers) < 2 or not (
        {"from", "从", "由"} & set(texts) or {"to", "到", "至"} & set(texts)
    ):
        return None
    first = numbers[0]
    for other in numbers[1:]:
        second = (
            convert(other.number, other.unit, first.unit)
            if other.unit and first.unit
            else other.number
        )
        if second is not None:
            return first.number, second
    return None


def _movers(clause: Clause) -> list[Stated]:
    """The numbers that a clause moves between: those behind "from" and "to", else all in order."""
    tokens = clause.tokens
    marked = [
        token.stated
        for place, token in enumerate(tokens)
        if token.stated is not None
        and place
        and tokens[place - 1].text.casefold() in {"from", "to", "从", "由", "到", "至"}
    ]
    if len(marked) > 1:
        return marked
    return [token.stated for token in tokens if token.stated is not None]


def moves_so(
    clause: Clause, binding: Binding, direction: str, window: tuple[datetime, datetime] | None
) -> bool | None:
    """Whether the records move in that direction; None where they do not say."""
    ends = ends_of(clause)
    records = binding.wider()
    if ends is not None and ends[0] != ends[1]:
        if (ends[1] > ends[0]) != (direction == "up"):
            return False
        told = [_before_and_after(clause, record) for record in records]
        if True in told or False in told:
            return True in told
        return True if _moves(clause, records, binding) else None
    word = direction_word(clause)
    if word is not None and any(word.stems & record.stems for record in records):
        return True
    same, other = (UP, DOWN) if direction == "up" else (DOWN, UP)
    if binding.call.id == TOLD:
        stems = frozenset().union(*(record.stems for record in records))
        return True if stems & same else (False if stems & other else None)
    changes = [record.fact for record in records if isinstance(record.fact, Change)]
    if changes:
        return all(fact.direction == direction for fact in changes)
    series = _series(records, window)
    if len(series) < 2:
        return None
    if {token.text.casefold() for token in clause.tokens} & _STEADILY:
        steps = zip(series, series[1:], strict=False)
        return all((later >= one) if direction == "up" else (later <= one) for one, later in steps)
    return direction_of(series) == direction or _steps_to(clause, series, direction)


def _steps_to(clause: Clause, series: list[Decimal], direction: str) -> bool:
    """ "rose to 41.0": the reading that is reached lies that way from the one before it."""
    numbers = [token.stated for token in clause.tokens if token.stated is not None]
    if len(numbers) != 1 or len(clause.of(Kind.MOMENT)) > 1:
        return False
    return any(
        number == numbers[0].number
        and ((number > before) if direction == "up" else (number < before))
        for before, number in zip(series, series[1:], strict=False)
    )


_STEADILY: Final = frozenset(
    "always constantly continuously steadily throughout 一直 始终 持续 不断".split()
)


def _moves(clause: Clause, records: tuple[RecordView, ...], binding: Binding) -> bool:
    """Whether records tell a movement at all: readings over time, a change, or words of one."""
    if len(_series(records, None)) > 1:
        return True
    if binding.call.id == TOLD:
        return any(record.stems & (UP | DOWN) for record in records)
    stated = [token.stated for token in clause.tokens if token.stated is not None]
    fields = [field for record in records for field in record.fields if field.number is not None]
    held = all(
        any(field.number is not None and agrees(item, field.number, field.unit) for field in fields)
        for item in stated
    )
    return held and any(
        isinstance(record.fact, Change) or record.at is not None or record.stems & (UP | DOWN | _TO)
        for record in records
    )


def _before_and_after(clause: Clause, record: RecordView) -> bool | None:
    """Whether a record tells the clause's two numbers as before and after; None where it tells
    neither, False where it tells them the other way round."""
    numbers = _movers(clause)[:2]
    first, last = (
        [item for item in record.fields if item.number is not None and stems_of(item.name) & named]
        for named in (_BEFORE, _AFTER)
    )
    if len(numbers) < 2 or not first or not last:
        return None
    if _hold(first, numbers[0]) and _hold(last, numbers[1]):
        return True
    return False if _hold(last, numbers[0]) and _hold(first, numbers[1]) else None


def _hold(fields: list[Field], stated: Stated) -> bool:
    return any(
        item.number is not None
        and (agrees(stated, item.number, item.unit) or item.number == stated.number)
        for item in fields
    )


_BEFORE: Final = frozenset(
    map(stem, "before from old previous prior baseline was start earlier".split())
)
_AFTER: Final = frozenset(map(stem, "after to new now current observed peak during later".split()))
_TO: Final = frozenset(stem(word) for word in "from changed scaled resized".split())


def _series(
    records: tuple[RecordView, ...], window: tuple[datetime, datetime] | None
) -> list[Decimal]:
    """The numbers of timed readings in order, where there is one reading a record."""
    timed = sorted(
        (record.at, record.place, record.fields[0].number)
        for record in records
        if record.at is not None and len(record.fields) == 1 and record.fields[0].number is not None
        and (window is None or window[0] <= record.at <= window[1])
    )  # fmt: skip
    return [number for _, _, number in timed]
