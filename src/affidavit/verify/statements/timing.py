"""onset and order: when something began, and what began first (M5).

Onsets are intervals, as the tool recorded them: not before, not after. onset proves that the stated
moment lies within one, and that one lies within the stated window. order proves that two intervals are disjoint and in the stated order; where
no onset was recorded, a single dated record of either is its own interval, widened by how far the
source's clock may be off. Neither is ever recomputed from a series, and neither proves a cause.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from affidavit.contract.evidence import Change, Onset
from affidavit.contract.statement import OnsetStatement, OrderStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.outcome import Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import kin, select
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
    if statement.direction is not None and _is_opposed(statement, records):
        return Unproved(SupportCode.DIRECTION_REFUTED)
    holding = tuple(record for record in onsets if _is_placed(statement, record))
    if not holding:
        placed = SupportCode.TIME_REFUTED if statement.at else SupportCode.WINDOW_REFUTED
        return Unproved(placed)
    return Proved(((call.id, tuple(record.facts[0] for record in holding)),))


def _named(record: RecordView, attribute: str | None) -> bool:
    """Whether a record holds every word of an attribute, or one that technical names use for it."""
    return all(kin(word) & record.stems for word in stems_of(attribute or ""))


def _is_opposed(statement: OnsetStatement, records: tuple[RecordView, ...]) -> bool:
    """Whether the tool recorded that the signal went, and only went, another way."""
    ways = {
        record.fact.direction
        for record in records
        if isinstance(record.fact, Change) and _named(record, statement.attribute)
    }
    return bool(ways) and statement.direction not in ways


def _is_placed(statement: OnsetStatement, record: RecordView) -> bool:
    """Whether the recorded interval holds the stated moment, and lies in the stated window."""
    fact = record.fact
    assert isinstance(fact, Onset)
    at, window = statement.at, statement.window
    if at is not None and not fact.earliest <= at <= fact.latest:
        return False
    return window is None or window.start <= fact.earliest <= fact.latest <= window.end


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
