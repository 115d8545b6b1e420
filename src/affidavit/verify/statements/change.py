"""change and trend: a reading went from one value to another, or in one direction.

change proves two readings of one subject and attribute in the stated order of time, or a change as
a tool recorded it, in numbers or in words. trend proves that the last reading of the window lies beyond the first in the
stated direction, and that its later half does too; it proves no onset and no anomaly. Neither
proves why.
"""

from __future__ import annotations

from decimal import Decimal

from affidavit.contract.evidence import Change, Quantity
from affidavit.contract.statement import ChangeStatement, Direction, Scalar, TrendStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.outcome import Outcome, Proved, Unproved
from affidavit.verify.statements.recorded import prove_recorded
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.replacing import is_replaced
from affidavit.verify.statements.select import candidates, select, statistic_clash
from affidavit.verify.statements.units import Stated, agrees
from affidavit.verify.statements.value import in_time, number_holds

FLAT_SHARE = Decimal("0.1")
"""A series is flat when its ends differ by no more than a tenth of its size."""


def prove_change(statement: ChangeStatement, call: CallView) -> Outcome:
    """Whether the call shows the change."""
    named = prove_recorded(statement, call)
    if named is not None:
        return named
    records = select(call, statement.subject)
    if isinstance(records, SupportCode):
        return Unproved(records)
    recorded = _recorded(statement, call, records)
    if isinstance(recorded, Proved):
        return recorded
    if _backwards(statement):
        return Unproved(SupportCode.DIRECTION_REFUTED)
    replaced = _replaced(statement, call, records)
    if replaced is not None:
        return replaced
    readings = series(call, records, statement.attribute)
    if isinstance(readings, SupportCode):
        return recorded or Unproved(readings)
    if statement.from_ is None and statement.to is None:
        return recorded or _moved(call, readings, statement.direction)
    pair = _pair(statement, readings)
    if pair is not None:
        return Proved(((call.id, tuple(record.facts[0] for record, _ in pair)),))
    return recorded or Unproved(SupportCode.NUMBER_REFUTED)


def _replaced(
    statement: ChangeStatement, call: CallView, records: tuple[RecordView, ...]
) -> Outcome | None:
    """A change that one record states with both its ends; of texts, that and nothing else."""
    timed = in_time(records, statement.at, statement.window)
    if isinstance(timed, SupportCode):
        timed = ()
    holding = next((item for item in timed if is_replaced(statement, item)), None)
    if holding is not None:
        return Proved(((call.id, holding.facts),))
    worded = any(isinstance(end, str | bool) for end in (statement.from_, statement.to))
    return Unproved(SupportCode.STATEMENT_UNPROVED) if worded else None


def _backwards(statement: ChangeStatement) -> bool:
    if statement.direction is None:
        return False
    if isinstance(statement.from_, str | bool) or isinstance(statement.to, str | bool):
        return True
    if statement.from_ is None or statement.to is None:
        return False
    went = _sign(statement.to - statement.from_)
    return {"up": 1, "down": -1, "flat": 0}[statement.direction] != went


def _sign(number: Decimal) -> int:
    return (number > 0) - (number < 0)


def _recorded(
    statement: ChangeStatement, call: CallView, records: tuple[RecordView, ...]
) -> Outcome | None:
    """A change that the tool itself computed: its two readings, units and direction."""
    found = candidates(call, records, statement.attribute)
    changes = {item.record.facts[0]: item for item in found if isinstance(item.record.fact, Change)}
    for place, item in changes.items():
        fact = item.record.fact
        assert isinstance(fact, Change)
        if statistic_clash(call, item, statement.attribute):
            return Unproved(SupportCode.STATISTIC_REFUTED)
        if statement.direction is not None and statement.direction != fact.direction:
            return Unproved(SupportCode.DIRECTION_REFUTED)
        unit = statement.unit or ""
        if _is(statement.from_, unit, fact.before) and _is(statement.to, unit, fact.after):
            return Proved(((call.id, (place,)),))
    return Unproved(SupportCode.NUMBER_REFUTED) if changes else None


def _is(number: Scalar | None, unit: str, quantity: Quantity) -> bool:
    if isinstance(number, str | bool):
        return False
    return number is None or agrees(Stated(number, unit), quantity.number, quantity.unit)


Reading = tuple[RecordView, Field]


def series(
    call: CallView, records: tuple[RecordView, ...], attribute: str
) -> tuple[Reading, ...] | SupportCode:
    """The timed readings of one attribute in order, or why there are none."""
    found = candidates(call, records, attribute)
    fitting = [item for item in found if not statistic_clash(call, item, attribute)]
    if found and not fitting:
        return SupportCode.STATISTIC_REFUTED
    timed = [
        (item.record.at, item.record, item.field)
        for item in fitting
        if item.record.at is not None and item.field.number is not None
    ]
    if not timed:
        return SupportCode.STATEMENT_UNPROVED
    timed.sort(key=lambda reading: (reading[0], reading[1].place))
    return tuple((record, field) for _, record, field in timed)


def _pair(statement: ChangeStatement, readings: tuple[Reading, ...]) -> tuple[Reading, ...] | None:
    """The earliest reading that is `from`, and a later one that is `to` (at `at`, where stated)."""
    unit = statement.unit or ""
    first: Reading | None = None
    for record, field in readings:
        if first is None and (statement.from_ is None or _holds(statement.from_, unit, field)):
            first = (record, field)
            if statement.to is None:
                return (first,)
            if statement.from_ is not None:
                continue
        arrived = (
            first is not None
            and statement.to is not None
            and _holds(statement.to, unit, field)
            and (statement.at is None or record.at == statement.at)
        )
        if first is not None and arrived:
            return (first, (record, field))
    return None


def _holds(number: Scalar, unit: str, field: Field) -> bool:
    return isinstance(number, Decimal) and number_holds(Stated(number, unit), "=", field)


def prove_trend(statement: TrendStatement, call: CallView) -> Outcome:
    """Whether the readings of the window move in the stated direction."""
    records = select(call, statement.subject)
    if isinstance(records, SupportCode):
        return Unproved(records)
    timed = in_time(records, None, statement.window)
    if isinstance(timed, SupportCode):
        return Unproved(timed)
    readings = series(call, timed, statement.attribute)
    if not isinstance(readings, SupportCode):
        return _moved(call, readings, statement.direction)
    for record in timed:
        if isinstance(record.fact, Change) and candidates(call, (record,), statement.attribute):
            if record.fact.direction == statement.direction:
                return Proved(((call.id, record.facts),))
            return Unproved(SupportCode.DIRECTION_REFUTED)
    return Unproved(readings)


def _moved(call: CallView, readings: tuple[Reading, ...], direction: Direction | None) -> Outcome:
    numbers = [field.number for _, field in readings if field.number is not None]
    if direction is None or len(numbers) < 2:
        return Unproved(SupportCode.STATEMENT_UNPROVED)
    if direction_of(numbers) != direction:
        return Unproved(SupportCode.DIRECTION_REFUTED)
    return Proved(((call.id, (readings[0][0].facts[0], readings[-1][0].facts[0])),))


def direction_of(numbers: list[Decimal]) -> Direction | None:
    """Where a series went: its ends and its halves have to agree, else None."""
    size = max(abs(number) for number in numbers)
    ends = numbers[-1] - numbers[0]
    if size == 0 or all(abs(number - numbers[0]) <= size * FLAT_SHARE for number in numbers):
        return "flat"
    half = len(numbers) // 2
    early, late = numbers[:half], numbers[-half:]
    middle = sum(late, Decimal()) / len(late) - sum(early, Decimal()) / len(early)
    if ends > 0 and middle > 0:
        return "up"
    return "down" if ends < 0 and middle < 0 else None
