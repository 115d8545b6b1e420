"""count: so many records of the result match.

Proves how many listed records hold the subject and the filter, over a result that was not cut (of a
cut one, only that there are at least so many). A total that the source itself printed counts for
the whole scope, without a filter. Proves nothing about what the result does not list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Edge, Line
from affidavit.contract.statement import CountStatement
from affidavit.contract.violations import SupportCode
from affidavit.verify.statements.fields import read_number
from affidavit.verify.statements.outcome import FACTS_SHOWN_MAX, Outcome, Proved, Unproved
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import select
from affidavit.verify.statements.value import in_time
from affidavit.verify.statements.words import names_in, stem, stems_of


def prove_count(statement: CountStatement, call: CallView) -> Outcome:
    """Whether the call lists so many."""
    records = select(call, statement.subject)
    if isinstance(records, SupportCode) and _is_kind(statement.subject or "", call):
        records = call.records
    if isinstance(records, SupportCode):
        records = () if records is SupportCode.SUBJECT_REFUTED else records
    if isinstance(records, SupportCode):
        return Unproved(SupportCode.STATEMENT_UNPROVED)
    timed = in_time(records, None, statement.window) if records else records
    if isinstance(timed, SupportCode):
        return Unproved(timed)
    return _counts(statement, call, timed)


def _is_kind(subject: str, call: CallView) -> bool:
    """Whether a subject is the kind of thing that the call lists: jobs below JOBID, or of `ci_jobs`."""
    if not subject.isalpha() or not subject.islower():
        return False
    kind = stem(subject)
    if len(kind) < KIND_CHARS_MIN:
        return False
    columns = (field.name.casefold() for record in call.records for field in record.fields)
    return kind in call.source_stems or any(
        name.startswith(kind) and name[len(kind) :].strip("_- ") in {"", "id", "name", "ids", "s"}
        for name in columns
    )


KIND_CHARS_MIN: Final = 3
"""A shorter word is no name of a kind."""


def _counts(statement: CountStatement, call: CallView, records: tuple[RecordView, ...]) -> Outcome:
    envelope = call.call.envelope
    where = dict(statement.where or {})
    if where and not all(_knows(call.records, key) for key in where):
        return Unproved(SupportCode.STATEMENT_UNPROVED)
    matching = tuple(record for record in records if matches(record, where))
    items = tuple(record for record in matching if record.place not in call.frames)
    sizes = [*group_sizes(items or matching), *([0] if not matching else [])]
    whole = not where and not statement.window and _is_whole(statement.subject, call, records)
    if whole:
        sizes.append(envelope.count)
        if envelope.total is not None:
            sizes.append(envelope.total)
    if envelope.truncated and not (whole and envelope.total is not None):
        if statement.operator in {">", ">="}:
            sizes = [max(sizes)]
        elif statement.operator != "=" or statement.value not in sizes:
            return Unproved(SupportCode.STATEMENT_UNPROVED)
    if any(_stands(Decimal(size), statement) for size in sizes):
        places = tuple(record.facts[0] for record in matching)
        return Proved(((call.id, places[:FACTS_SHOWN_MAX]),))
    return Unproved(SupportCode.COUNT_REFUTED)


def _is_whole(subject: str | None, call: CallView, records: tuple[RecordView, ...]) -> bool:
    """Whether a count is about all of the call: of nothing named, or of what the call was about."""
    if not subject:
        return True
    service = call.call.envelope.scope.service or ""
    return subject.casefold() == service.casefold() and len(records) == len(call.records)


def group_sizes(records: tuple[RecordView, ...]) -> tuple[int, ...]:
    """How many records there are of each shape; rows, lines and readings are not added up.

    A line or an edge that stands for several counts as often as it was seen, or once.
    """
    sizes: Counter[str] = Counter()
    for record in records:
        fact = record.fact
        weight = fact.count if isinstance(fact, (Line, Edge)) and fact.count else 1
        sizes[record.shape] += weight
        if weight > 1:
            sizes[f"{record.shape} once"] += 1
    return tuple(sizes.values())


def _knows(records: tuple[RecordView, ...], key: str) -> bool:
    return any(_named(record, key) for record in records)


def _named(record: RecordView, key: str) -> tuple[str, ...]:
    """The texts of the fields that a filter's key names; `subject` is the record's own."""
    if key.casefold() == "subject":
        return (record.subject,)
    low, words = key.casefold(), frozenset(stem(part) for part in stems_of(key))
    named = [field for field in record.fields if _last(field.name) in {low, _last(key)}]
    if not named:
        named = [field for field in record.fields if words and words <= field.names]
    texts = tuple(field.text for field in named)
    if not texts and low in {"level", "severity"} and isinstance(record.fact, Line):
        return (record.fact.level or "",)
    if not texts and low in {"text", "message", "line"} and isinstance(record.fact, Line):
        return (record.fact.text,)
    return texts


def _last(name: str) -> str:
    return name.casefold().rsplit(".", 1)[-1]


def matches(record: RecordView, where: Mapping[str, object]) -> bool:
    """Whether a record holds every field of a filter with its value."""
    return all(
        any(_same(text, value) for text in _named(record, key)) for key, value in where.items()
    )


def _same(text: str, value: object) -> bool:
    if isinstance(value, bool):
        return text.casefold() == str(value).casefold()
    wanted = str(value).casefold()
    if text.casefold() == wanted:
        return True
    have, _ = read_number(text)
    want, _ = read_number(wanted)
    if have is not None and want is not None:
        return have == want
    return wanted in names_in(text)


def _stands(size: Decimal, statement: CountStatement) -> bool:
    match statement.operator:
        case "=":
            return size == statement.value
        case "!=":
            return size != statement.value
        case "<":
            return size < statement.value
        case "<=":
            return size <= statement.value
        case ">":
            return size > statement.value
        case ">=":
            return size >= statement.value
