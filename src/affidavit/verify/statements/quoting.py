"""quote and membership: what stands in the result, and which state or list a subject is in.

quote proves that the words stand in the result, letter for letter (spaces aside), and where a
subject is named that it stands in its records. It does not prove that the words are true: whose
words they are is the record's emitter. membership proves that a record of the subject holds the
state or list as one of its values.
"""

from __future__ import annotations

from affidavit.contract.evidence import Line
from affidavit.contract.statement import MembershipStatement, QuoteStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.counting import matches
from affidavit.verify.statements.outcome import FACTS_SHOWN_MAX, Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import candidates, select
from affidavit.verify.statements.words import names_in


def prove_quote(statement: QuoteStatement, call: CallView) -> Outcome:
    """Whether the call's result holds the words."""
    wanted = squeeze(statement.text)
    holding = tuple(record for record in call.records if wanted in squeeze(verbatim(record)))
    if not holding:
        return _across_lines(wanted, call)
    if statement.subject:
        about = select(call, statement.subject)
        if isinstance(about, SupportCode):
            return Unproved(about)
        places = {record.place for record in about}
        kept = tuple(record for record in holding if record.place in places)
        if not kept:
            return Unproved(SupportCode.SUBJECT_REFUTED)
        holding = kept
    places_shown = tuple(record.facts[0] for record in holding)
    return Proved(((call.id, places_shown[:FACTS_SHOWN_MAX]),))


def _across_lines(wanted: str, call: CallView) -> Outcome:
    """A quotation may run over the end of a line."""
    lines = [record for record in call.records if record.shape == "line"]
    whole = squeeze(" ".join(_line(record) for record in lines))
    if wanted and wanted in whole:
        return Proved(((call.id, tuple(record.facts[0] for record in lines)[:FACTS_SHOWN_MAX]),))
    return Unproved(SupportCode.QUOTE_NOT_FOUND)


def _line(record: RecordView) -> str:
    """A line as it stood in the text, without the key that it stands below."""
    return record.fact.text if isinstance(record.fact, Line) else verbatim(record)


def squeeze(text: str) -> str:
    """A text with its runs of space made one."""
    return " ".join(text.split())


def verbatim(record: RecordView) -> str:
    """The record's own words."""
    return record.text


def prove_membership(statement: MembershipStatement, call: CallView) -> Outcome:
    """Whether a record of the subject holds the state."""
    records = select(call, statement.subject)
    if isinstance(records, SupportCode):
        return Unproved(records)
    records = tuple(item for item in records if matches(item, dict(statement.where or {})))
    wanted = squeeze(statement.set).casefold()
    if statement.attribute:
        found = candidates(call, records, statement.attribute)
        held = tuple(item.record for item in found if _is(wanted, item.field.text))
    else:
        held = tuple(
            record for record in records
            if any(_is(wanted, field.text) for field in record.fields)
            or wanted in record.names
        )  # fmt: skip
    if held:
        return Proved(((call.id, tuple(item.facts[0] for item in held)[:FACTS_SHOWN_MAX]),))
    if any(wanted in record.names for record in call.records):
        return Unproved(SupportCode.SUBJECT_REFUTED)
    return Unproved(SupportCode.STATEMENT_UNPROVED)


def _is(wanted: str, text: str) -> bool:
    held = squeeze(text).casefold()
    return held == wanted or wanted in names_in(text)
