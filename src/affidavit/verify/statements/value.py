"""value: subject's attribute stands in this relation to a value.

Proves that a field of the subject's own records, named as the attribute, holds the value in its
unit, at the stated moment or over the stated window. With `=` one reading is enough where no moment
is stated; with an inequality every reading has to hold. Proves nothing about other moments, other
windows, or why.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Window
from affidavit.contract.statement import Operator, ValueStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.denial import denies
from affidavit.verify.statements.fields import Field, read_number
from affidavit.verify.statements.moments import find_moments
from affidavit.verify.statements.outcome import FACTS_SHOWN_MAX, Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import (
    Candidate,
    candidates,
    narrow,
    select,
    statistic_clash,
)
from affidavit.verify.statements.units import Stated, agrees, convert, unit_of
from affidavit.verify.statements.words import names_in, stems_of

SAMPLE_SLACK_S: Final = 1
"""A sample is at a stated moment when it is within the same second."""


def prove_value(statement: ValueStatement, call: CallView) -> Outcome:
    """Whether the call shows the value."""
    records = select(call, statement.subject)
    if isinstance(records, SupportCode):
        return _elsewhere(statement, call, records)
    timed = in_time(records, statement.at, statement.window)
    if isinstance(timed, SupportCode):
        return Unproved(timed)
    found = narrow(candidates(call, timed, statement.attribute), statement.subject)
    fitting = tuple(item for item in found if not statistic_clash(call, item, statement.attribute))
    if found and not fitting:
        return Unproved(SupportCode.STATISTIC_REFUTED)
    holding = tuple(item for item in fitting if holds(statement, item.field))
    universal = statement.operator not in {"="} or statement.window is not None
    if holding and (not universal or len(holding) == len(_comparable(statement, fitting))):
        return shown(call, holding)
    if not fitting:
        told = _counted(statement, call, timed) or _happened(statement, call, timed)
        return told or Unproved(_missing(statement, call))
    return _happened(statement, call, timed) or Unproved(_refutation(statement, fitting))


def _elsewhere(statement: ValueStatement, call: CallView, code: SupportCode) -> Outcome:
    """A subject that no single record holds: nothing is proved, whatever the value."""
    return Unproved(code)


def in_time(
    records: tuple[RecordView, ...], at: datetime | None, window: Window | None
) -> tuple[RecordView, ...] | SupportCode:
    """The records of a moment or a window; records without any time have no say about time."""
    if at is None and window is None:
        return records
    timed = tuple(record for record in records if record.moments)
    if not timed:
        return SupportCode.TIME_UNKNOWN if at is not None else SupportCode.STATEMENT_UNPROVED
    slack = timedelta(seconds=SAMPLE_SLACK_S)
    if at is not None:
        kept = tuple(
            record for record in timed
            if any(abs(moment - at) < slack for moment in record.moments)
        )  # fmt: skip
        return kept or SupportCode.TIME_REFUTED
    assert window is not None
    kept = tuple(
        record for record in timed if record.at and window.start <= record.at <= window.end
    )
    return kept or SupportCode.WINDOW_REFUTED


def _comparable(statement: ValueStatement, found: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    if isinstance(statement.value, Decimal):
        return tuple(item for item in found if item.field.number is not None)
    return found


def holds(statement: ValueStatement, field: Field) -> bool:
    """Whether a field stands in the stated relation to the stated value."""
    value = statement.value
    if isinstance(value, bool):
        same = field.text.casefold() == str(value).casefold()
        return same if statement.operator == "=" else statement.operator == "!=" and not same
    if isinstance(value, str):
        return _text_holds(value, statement.operator, field)
    return number_holds(Stated(value, statement.unit or ""), statement.operator, field)


def _text_holds(value: str, operator: Operator, field: Field) -> bool:
    number, unit = read_number(value)
    if number is not None and field.number is not None:
        return number_holds(Stated(number, unit), operator, field)
    same = _is_text(value, field) or _is_moment(value, field)
    return same if operator == "=" else operator == "!=" and not same


def instant_of(text: str) -> datetime | None:
    """The instant that a whole text is, in whatever notation: `Wed, 08 Apr 2026 08:44:18 +0000`."""
    found = tuple(find_moments(text[:MOMENT_CHARS_MAX]))
    if len(found) != 1 or len(text) > MOMENT_CHARS_MAX:
        return None
    rest = text[: found[0].start] + text[found[0].end :]
    return found[0].instant() if _DAY_NAME.fullmatch(rest.strip()) else None


MOMENT_CHARS_MAX: Final = 48
"""The longest notation with the name of a day, a fraction and a zone has fewer."""
_DAY_NAME: Final = re.compile(r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?)?")


def _is_moment(value: str, field: Field) -> bool:
    """Whether a field is the stated instant, each in its own notation, to the coarser fraction."""
    wanted = instant_of(value)
    held = instant_of(field.text) if wanted is not None and not field.loose else None
    if wanted is None or held is None:
        return False
    return wanted == held or (
        0 in {wanted.microsecond, held.microsecond}
        and wanted.replace(microsecond=0) == held.replace(microsecond=0)
    )


def _happened(
    statement: ValueStatement, call: CallView, records: tuple[RecordView, ...]
) -> Proved | None:
    """An attribute that names no field but what happened to the subject: the value says when."""
    value = statement.value
    at = instant_of(value) if isinstance(value, str) and statement.operator == "=" else None
    if at is None:
        return None
    what, words = statement.attribute.casefold(), stems_of(statement.attribute)
    found = tuple(
        record.facts[0]
        for record in records
        if record.at is not None
        and record.at.replace(microsecond=at.microsecond) == at
        and (what in record.names or (words and words <= record.happened))
        and not denies(record, words)
    )
    return Proved(((call.id, found[:FACTS_SHOWN_MAX]),)) if found else None


def _is_text(value: str, field: Field) -> bool:
    wanted, held = " ".join(value.casefold().split()), " ".join(field.text.casefold().split())
    if wanted == held:
        return True
    if field.loose or field.number is not None:
        return False
    return wanted in names_in(field.text) or (len(wanted) > 3 and f" {wanted} " in f" {held} ")


def number_holds(stated: Stated, operator: Operator, field: Field) -> bool:
    """Whether a field's number stands in the relation to a stated number, units converted."""
    if field.number is None:
        return False
    same = agrees(stated, field.number, field.unit)
    if operator == "=":
        return same
    have = field.number
    if stated.unit and unit_of(stated.unit):
        converted = convert(field.number, field.unit, stated.unit)
        if converted is None:
            return False
        have = converted
    match operator:
        case "!=":
            return not same
        case "<":
            return have < stated.number
        case "<=":
            return have <= stated.number or same
        case ">":
            return have > stated.number
        case ">=":
            return have >= stated.number or same


def shown(call: CallView, found: tuple[Candidate, ...]) -> Proved:
    """The facts that the candidates stand in."""
    places = tuple(dict.fromkeys(item.record.facts[0] for item in found))
    return Proved(((call.id, places[:FACTS_SHOWN_MAX]),))


def _counted(
    statement: ValueStatement, call: CallView, records: tuple[RecordView, ...]
) -> Proved | None:
    """An attribute that names no field but what each listed record is: the value counts them."""
    value = statement.value
    if not isinstance(value, Decimal) or statement.unit or statement.operator != "=":
        return None
    if call.call.envelope.truncated:
        return None
    attributed = select(call, statement.attribute)
    if isinstance(attributed, SupportCode):
        return None
    both = {record.place for record in attributed} & {record.place for record in records}
    if both and value == len(both):
        shown_facts = tuple(call.records[place].facts[0] for place in sorted(both))
        return Proved(((call.id, shown_facts[:FACTS_SHOWN_MAX]),))
    return None


def _missing(statement: ValueStatement, call: CallView) -> SupportCode:
    """No field of that name: is the value at least somewhere in the call?"""
    if any(holds(statement, field) for record in call.records for field in record.fields):
        return SupportCode.STATEMENT_UNPROVED
    if isinstance(statement.value, Decimal):
        return SupportCode.NUMBER_UNKNOWN
    return SupportCode.STATEMENT_UNPROVED


def _refutation(statement: ValueStatement, found: tuple[Candidate, ...]) -> SupportCode:
    value = statement.value
    if not isinstance(value, Decimal):
        return SupportCode.SUBJECT_REFUTED
    bare = Stated(value)
    if statement.unit and any(
        item.field.number is not None and agrees(bare, item.field.number, "") for item in found
    ):
        return SupportCode.UNIT_REFUTED
    return SupportCode.NUMBER_REFUTED
