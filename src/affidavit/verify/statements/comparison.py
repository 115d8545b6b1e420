"""comparison: one entity's attribute stands in this relation to another's.

Proves that the readings of the two, in one unit and one statistic, stand so for every pair that the
calls list; with one reading each that is one pair. Proves nothing about moments that were not read.
"""

from __future__ import annotations

from affidavit.contract.statement import ComparisonStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.outcome import FACTS_SHOWN_MAX, Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView
from affidavit.verify.statements.select import Candidate, candidates, select, statistic_clash
from affidavit.verify.statements.units import Stated
from affidavit.verify.statements.value import in_time, number_holds


def prove_comparison(statement: ComparisonStatement, calls: tuple[CallView, ...]) -> Outcome:
    """Whether the two entities' readings stand in the stated relation."""
    attribute = statement.attribute
    ours = _readings(statement.subject, attribute, statement, calls)
    if isinstance(ours, SupportCode):
        return Unproved(ours)
    theirs = _readings(statement.object, statement.object_attribute or attribute, statement, calls)
    if isinstance(theirs, SupportCode):
        return Unproved(theirs)
    for _, left in ours:
        for _, right in theirs:
            if right.field.number is None:
                return Unproved(SupportCode.STATEMENT_UNPROVED)
            stated = Stated(right.field.number, right.field.unit)
            if not number_holds(stated, statement.operator, left.field):
                return Unproved(SupportCode.DIRECTION_REFUTED)
    return Proved(_shown((*ours, *theirs)))


Reading = tuple[CallView, Candidate]
PAIRS_MAX = 10_000
"""More pairs than this are a table, not a comparison of two entities."""


def _readings(
    subject: str, attribute: str, statement: ComparisonStatement, calls: tuple[CallView, ...]
) -> tuple[Reading, ...] | SupportCode:
    code = SupportCode.STATEMENT_UNPROVED
    for call in calls:
        records = select(call, subject)
        if isinstance(records, SupportCode):
            code = records
            continue
        timed = in_time(records, None, statement.window)
        if isinstance(timed, SupportCode):
            code = timed
            continue
        found = tuple(
            (call, item) for item in candidates(call, timed, attribute)
            if item.field.number is not None and not statistic_clash(call, item, attribute)
        )  # fmt: skip
        if found and len(found) ** 2 <= PAIRS_MAX:
            return found
    return code


def _shown(readings: tuple[Reading, ...]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    by_call: dict[str, list[int]] = {}
    for call, item in readings:
        by_call.setdefault(call.id, []).append(item.record.facts[0])
    return tuple((name, tuple(places[:FACTS_SHOWN_MAX])) for name, places in by_call.items())
