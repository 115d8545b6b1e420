"""onset and order: when something began, and what began first (M5).

Onsets are intervals, as the tool recorded them: not before, not after. onset proves that the stated
moment lies within one. order proves that two intervals are disjoint and in the stated order; where
no onset was recorded, a single dated record of either is its own interval, widened by how far the
source's clock may be off. Neither is ever recomputed from a series, and neither proves a cause.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from affidavit.contract.evidence import Onset
from affidavit.contract.statement import OnsetStatement, OrderStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.outcome import Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import select
from affidavit.verify.statements.words import stems_of

Interval = tuple[datetime, datetime]


def prove_onset(statement: OnsetStatement, call: CallView) -> Outcome:
    """Whether a recorded onset of the subject holds the stated moment."""
    records = select(call, statement.subject)
    if isinstance(records, SupportCode):
        return Unproved(records)
    onsets = tuple(
        record for record in records
        if isinstance(record.fact, Onset) and _named(record, statement.attribute)
    )  # fmt: skip
    if not onsets:
        return Unproved(SupportCode.STATEMENT_UNPROVED)
    holding = tuple(record for record in onsets if _within(statement.at, record))
    if not holding:
        return Unproved(SupportCode.TIME_REFUTED)
    return Proved(((call.id, tuple(record.facts[0] for record in holding)),))


def _named(record: RecordView, attribute: str | None) -> bool:
    return not attribute or bool(stems_of(attribute) & record.stems)


def _within(at: datetime, record: RecordView) -> bool:
    fact = record.fact
    assert isinstance(fact, Onset)
    return fact.earliest <= at <= fact.latest or fact.latest == at


def prove_order(statement: OrderStatement, calls: tuple[CallView, ...]) -> Outcome:
    """Whether the subject's beginning lies wholly before the object's."""
    first = begin(statement.subject, statement.attribute, calls)
    second = begin(statement.object, statement.object_attribute, calls)
    if first is None or second is None:
        return Unproved(SupportCode.STATEMENT_UNPROVED)
    (_, first_end), first_call, first_place = first
    (second_start, _), second_call, second_place = second
    if first_end < second_start:
        return Proved(((first_call, (first_place,)), (second_call, (second_place,))))
    return Unproved(SupportCode.ORDER_REFUTED)


def begin(
    subject: str, attribute: str | None, calls: tuple[CallView, ...]
) -> tuple[Interval, str, int] | None:
    """When a subject's trouble began: its recorded onset, else its earliest dated record."""
    dated: list[tuple[Interval, str, int]] = []
    for call in calls:
        records = select(call, subject)
        if isinstance(records, SupportCode):
            continue
        named = tuple(record for record in records if _named(record, attribute))
        for record in named:
            if isinstance(record.fact, Onset):
                return (record.fact.earliest, record.fact.latest), call.id, record.facts[0]
        slack = timedelta(seconds=float(call.call.envelope.uncertainty_s or 0))
        dated.extend(
            ((record.at - slack, record.at + slack), call.id, record.facts[0])
            for record in named
            if record.at is not None and record.fact.kind in {"line", "row"}
        )
    return min(dated, default=None)
