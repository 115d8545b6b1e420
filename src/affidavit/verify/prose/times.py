"""Every moment of a clause: does a record that the clause speaks of stand at it?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from affidavit.contract.evidence import Window
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import FIRST, LAST
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.moments import Moment
from affidavit.verify.statements.words import stem

_BEGINNING: Final = frozenset(
    "since from began begins started starts starting onward onwards 起 自 开始 自从 以来".split()
)
_FIRST_ZH: Final = frozenset("最早 首次 首个 首先 第一次".split())
_LAST_ZH: Final = frozenset("最后 最近 最新 最后一条 最后一次 最近一次".split())


def span_of(
    clause: Clause, scope: Window | None, others: tuple[datetime, ...]
) -> tuple[datetime, datetime] | None:
    """The window that a clause is about ("from 17:50 to 17:56", "from 14:01 on"), if it has one."""
    moments = clause.of(Kind.MOMENT)
    if len(moments) == 2 and _is_range(clause, moments[0], moments[1]):
        start, end = (resolve(token.moment, scope, others) for token in moments)
        if start is not None and end is not None:
            if end < start:
                end += timedelta(days=1)
            return start, end + timedelta(seconds=_precision(moments[1]) - 1e-6)
    if len(moments) == 1 and is_onset(clause, moments[0]):
        start = resolve(moments[0].moment, scope, others)
        if start is not None:
            return start, datetime.max.replace(tzinfo=UTC)
    return None


def _precision(token: Token) -> float:
    assert token.moment is not None
    return min(1.0, token.moment.precision_s) if token.moment.precision_s < 86_400 else 86_400.0


def _is_range(clause: Clause, first: Token, second: Token) -> bool:
    tokens = clause.tokens
    one, two = tokens.index(first), tokens.index(second)
    between = [token for token in tokens[one + 1 : two] if token.kind is not Kind.SIGN]
    if any(token.kind is Kind.NUMBER for token in between):
        return False
    joined = {token.text.casefold() for token in between}
    before = tokens[one - 1].text.casefold() if one else ""
    if joined & {"to", "until", "till", "至", "到", "through", "次日", "-", "–"}:
        return True
    if any(token.text in {"–", "-", "—"} for token in tokens[one + 1 : two]):
        return True
    after = {token.text for token in tokens[two + 1 : two + 2]}
    return (
        bool(joined & {"and", "和", "与"})
        and (before in {"between", "在"} or bool(after & {"之间", "期间"}))
        and len(between) <= 2
    )


def is_onset(clause: Clause, moment: Token) -> bool:
    """Whether a clause says that something holds from this moment on."""
    tokens = clause.tokens
    place = tokens.index(moment)
    before = tokens[place - 1].text.casefold() if place else ""
    after = tokens[place + 1].text.casefold() if place + 1 < len(tokens) else ""
    return (
        before == "since"
        or (before == "from" and after in {"on", "onward", "onwards", ""})
        or after in {"起", "以来", "onwards", "onward", "开始", "之后", "以后"}
    )


def resolve(
    moment: Moment | None, scope: Window | None, others: tuple[datetime, ...]
) -> datetime | None:
    """A full moment: its missing day is the scope's or, without one, that of the first record."""
    if moment is None:
        return None
    whole = moment.instant()
    if whole is not None:
        return whole
    day = scope.start if scope else min(others, default=None)
    if day is None:
        return None
    midnight = day.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if moment.month is not None and moment.day is not None:
        try:
            midnight = midnight.replace(
                year=moment.year or day.year, month=moment.month, day=moment.day
            )
        except ValueError:
            return None
    found = midnight + timedelta(seconds=moment.clock_s or 0.0) - (moment.offset or timedelta())
    if (
        scope
        and found < scope.start
        and found + timedelta(days=1) <= scope.end
        and not moment.month
    ):
        found += timedelta(days=1)
    return found


def bound_moment(desk: Desk, clause: Clause, token: Token, binding: Binding) -> bool:
    """Whether the clause's records, the call's window or a told sentence stand at the moment."""
    moment = token.moment
    if moment is None:
        return False
    if binding.call.id == TOLD:
        return _told(desk, binding, moment)
    scope = binding.call.call.envelope.scope.window
    if scope and _bounds_window(clause, token):
        if moment.matches(scope.start) or moment.matches(scope.end):
            return True
    if moment.matches(binding.call.call.envelope.observed_at):
        return True
    records = binding.records()
    if not any(record.stands_at(moment) for record in records):
        records = binding.wider()
    if not any(record.stands_at(moment) for record in records):
        return False
    return _extreme_holds(clause, token, records)


def _bounds_window(clause: Clause, token: Token) -> bool:
    """Whether a moment is written as an end of a window: "from 12:10", "and 12:20", 至 12:20."""
    place = clause.tokens.index(token)
    before = clause.tokens[place - 1].text.casefold() if place else ""
    after = clause.tokens[place + 1].text.casefold() if place + 1 < len(clause.tokens) else ""
    return before in _EDGES or after in {"至", "到", "to", "–", "-", "之间", "期间", "until"}


_EDGES: Final = frozenset("from between and to until till since through 从 至 到 和 在 次日 自 –".split())


def _told(desk: Desk, binding: Binding, moment: Moment) -> bool:
    return any(
        moment.is_like(token.moment)
        for record in binding.records()
        for token in desk.told_tokens[record.place]
        if token.moment is not None
    )


def _extreme_holds(clause: Clause, token: Token, records: tuple[object, ...]) -> bool:
    """ "first at", "last at", "since": the moment has to be the earliest or the latest of them."""
    moment = token.moment
    assert moment is not None
    dated = sorted(at for record in records if (at := getattr(record, "at", None)) is not None)
    if len(dated) < 2:
        return True
    place = clause.tokens.index(token)
    near = {
        item.text.casefold()
        for item in clause.tokens[max(0, place - 4) : place + 2]
        if item.kind is Kind.WORD
    }
    stems = {stem(word) for word in near}
    if stems & FIRST - LAST or near & _FIRST_ZH or (near & _BEGINNING and is_onset(clause, token)):
        return moment.matches(dated[0])
    if stems & LAST - FIRST or near & _LAST_ZH:
        return moment.matches(dated[-1])
    return True
