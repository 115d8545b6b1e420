"""The numbers and the moments of a clause: each bound by a statement, a field, a count or a sum."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from affidavit.contract.violations import SupportCode
from affidavit.verify.prose import (
    computing,
    figures,
    fitting,
    nouns,
    others,
    series,
    tallies,
    times,
    told,
)
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.numbering import is_identity, labelled
from affidavit.verify.prose.quantities import is_other_statistic
from affidavit.verify.prose.sheet import GrantedNumber, Sheet
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.sentences import Part
from affidavit.verify.statements.units import unit_of

CALLS_COUNTED_MAX: Final = 2
"""Counting in more calls than the two that hold most of a clause meets small numbers by chance."""
_AGAIN: Final = frozenset("again 再次 又 再度".split())
RECORDS_MAX: Final = 40
"""Records between whose moments a span is looked for."""


def check_numbers(sheet: Sheet, clause: Clause, chosen: list[Binding]) -> None:
    """Refuse every number that nothing binds."""
    found = tuple(figures.figures_of(clause))
    for figure in sorted(found, key=_is_computed):
        if _is_bound(sheet, figure, clause, chosen):
            sheet.findings.numbers.append(figure.stated)
            continue
        known = any(
            field.number == figure.stated.number
            for call in sheet.desk.all
            for record in call.records
            for field in record.fields
        )
        code = SupportCode.NUMBER_REFUTED if known else SupportCode.NUMBER_UNKNOWN
        sheet.refuse(code, figure.token.text)


def _is_computed(figure: figures.Figure) -> bool:
    """Whether the number is computed from others of the clause, which are to be bound first."""
    return (
        computing.is_multiple(figure)
        or computing.is_difference(figure)
        or computing.is_share(figure)
    )


def _is_bound(sheet: Sheet, figure: figures.Figure, clause: Clause, chosen: list[Binding]) -> bool:
    """Whether a statement, a field, a count or a computation binds the number."""
    if any(_grants(item, figure, chosen) for item in sheet.context.granted.numbers):
        return True
    pool = computing.Pool(
        (*sheet.context.pool.numbers, *sheet.findings.numbers),
        (*sheet.context.pool.moments, *sheet.findings.moments),
        sheet.context.pool.last,
    )
    top = speaking(chosen)
    records = tuple(record for item in top for record in item.records())[:RECORDS_MAX]
    if computing.is_difference(figure) or computing.is_multiple(figure):
        return computing.by_computing(figure, pool, records)
    if is_identity(clause.tokens, figure.place) or labelled(clause.tokens, figure.place):
        return any(
            fitting.by_label(figure, item, sheet.desk.places(item.call, figure.token))
            for item in top
        )
    if tallies.by_listing(figure):
        return True
    top = fitting.knowing(figure, top)
    said = [_by_field(sheet, figure, clause, binding) for binding in top]
    if True in said or False in said:
        return True in said or computing.by_computing(figure, pool, records)
    return (
        _by_count(sheet, figure, top)
        or computing.by_computing(figure, pool, records)
        or (sheet.context.part is Part.CONCLUSION and told.holds_phrase(sheet.desk, figure))
    )


def speaking(chosen: list[Binding]) -> list[Binding]:
    """The calls that hold as much as the best of them: every word, or every claim and name."""
    if not chosen:
        return []
    most = len(chosen[0].held)
    named = bool(chosen[0].named)
    claimed = {token for token in chosen[0].held if nouns.claims(token)}
    return [
        item
        for item in chosen
        if len(item.held) == most or (named and item.named and claimed <= set(item.held))
    ]


def _by_count(sheet: Sheet, figure: figures.Figure, top: list[Binding]) -> bool:
    if any(tallies.by_question(sheet.desk, figure, item) for item in top):
        return True
    if figure.operator == "=" and any(
        tallies.by_step(figure, item)
        or tallies.by_readings(figure, item)
        or tallies.by_distinct(figure, item)
        for item in top
    ):
        return True
    for item in top[:CALLS_COUNTED_MAX]:
        if frozenset().union(*item.allowed) <= item.call.frames:
            continue
        places = tallies.by_count(sheet.desk, figure, item, sheet.before)
        if places is not None:
            sheet.counted = item.call.id, places
            return True
    return False


def _grants(item: GrantedNumber, figure: figures.Figure, chosen: list[Binding]) -> bool:
    """Whether a statement proved the number, about records that the clause speaks of."""
    stated = figure.stated
    if item.stated.number != stated.number:
        return False
    if item.stated.unit != stated.unit and (item.stated.unit or unit_of(stated.unit)):
        return False
    if figure.operator not in {"=", item.operator} or is_other_statistic(figure, item.names):
        return False
    moment = figures.attached_moment(figure)
    near = figures.near_words(figure)
    for binding in chosen:
        spoken = {place for record in binding.wider() for place in record.facts}
        at = [
            record
            for record in binding.wider()
            if set(record.facts) & set(item.facts)
            and times.is_timed(record, moment, None)
            and (record.is_dated or times.is_snapshot_of(binding.call, moment, None))
            and (item.counts or fitting.is_meant_best(item.names, record, near, stated))
        ]
        if (
            binding.call.id != item.call
            or not at
            or not _is_within(clause_span(figure, binding), item)
        ):
            continue
        if item.counts:
            if set(item.facts) <= spoken:
                return True
        elif fitting.is_singled(figure, binding, tuple(at)):
            return True
    return False


def clause_span(figure: figures.Figure, binding: Binding) -> tuple[datetime, datetime] | None:
    """The window that the figure's clause is about."""
    return window_of(figure.clause, binding, figure)


def _is_within(span: tuple[datetime, datetime] | None, item: GrantedNumber) -> bool:
    """Whether the clause's window is no wider than the one that the statement proved."""
    if span is None or item.window is None:
        return True
    start, end = item.window
    return start <= span[0] and (span[1].year == datetime.max.year or span[1] <= end + _SECOND)


_SECOND: Final = timedelta(seconds=1)


def _by_field(
    sheet: Sheet, figure: figures.Figure, clause: Clause, binding: Binding
) -> bool | None:
    window = window_of(clause, binding, figure)
    if figure.operator != "=":
        said = fitting.by_comparison(figure, binding, window, sheet.before)
        if said is not None:
            return said
        if not fitting.stands_beside(figure):
            return False
    if others.lists_others(figure, binding, sheet.before):
        return True
    binding = others.without(clause, binding, sheet.before)
    bounded = series.bounds(figure, binding, window)
    if bounded is not None:
        return bounded
    if not series.may_be_said(figure, binding, window):
        return False
    return fitting.by_field(figure, binding, window)


def window_of(
    clause: Clause, binding: Binding, figure: figures.Figure | None = None
) -> tuple[datetime, datetime] | None:
    """The window that a clause speaks about in a call, or None."""
    scope = binding.call.call.envelope.scope.window
    others = tuple(record.at for record in binding.wider() if record.at)
    if figure is not None and figures.stays(figure):
        return times.from_last(clause, figure.token, scope, others)
    return times.span_of(clause, scope, others)


def check_moments(sheet: Sheet, clause: Clause, chosen: list[Binding]) -> None:
    """Refuse every moment at which nothing that the clause speaks of stands."""
    for token in clause.of(Kind.MOMENT):
        moment = token.moment
        assert moment is not None
        granted = times.bounds_window(clause, token) and any(
            moment.matches(at) for at in sheet.context.granted.moments
        )
        scope = chosen[0].call.call.envelope.scope.window if chosen else None
        if times.is_backwards(clause, scope):
            sheet.refuse(SupportCode.WINDOW_REFUTED, token.text)
            continue
        if _AGAIN & {item.text.casefold() for item in clause.tokens} and any(
            moment.matches(at) for at in sheet.findings.moments
        ):
            sheet.refuse(SupportCode.TIME_REFUTED, token.text)
            continue
        if granted or any(
            times.bound_moment(sheet.desk, clause, token, binding) for binding in speaking(chosen)
        ):
            _keep_moment(sheet, token, chosen)
            continue
        known = any(
            record.stands_at(moment) for call in sheet.desk.calls for record in call.records
        )
        sheet.refuse(SupportCode.TIME_REFUTED if known else SupportCode.TIME_UNKNOWN, token.text)


def _keep_moment(sheet: Sheet, token: Token, chosen: list[Binding]) -> None:
    moment = token.moment
    assert moment is not None
    for binding in chosen:
        scope = binding.call.call.envelope.scope.window
        others = tuple(record.at for record in binding.wider() if record.at)
        held = (at for record in binding.records() for at in record.moments if moment.matches(at))
        at = next(held, None) or times.resolve(moment, scope, others)
        if at is not None:
            sheet.findings.moments.append(at)
            return
