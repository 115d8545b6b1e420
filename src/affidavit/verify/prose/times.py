"""Every moment of a clause: does a record that the clause speaks of stand at it?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from affidavit.contract.evidence import Window
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import FUNCTION
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.moments import Moment, find_moments
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.words import stem, stems_of

_BEGINNING: Final = frozenset(
    "since from began begins started starts starting onward onwards 起 自 开始 自从 以来".split()
)
_FIRST_WORDS: Final = frozenset(
    "first earliest firstly oldest 最早 首次 首个 首先 第一次 首条 第一个 第一条".split()
)
_LAST_WORDS: Final = frozenset(
    "last latest newest final 最后 最近 最新 最晚 最后一条 最后一次 最近一次 末次 上次".split()
)


def span_of(
    clause: Clause, scope: Window | None, others: tuple[datetime, ...]
) -> tuple[datetime, datetime] | None:
    """The window that a clause is about ("from 17:50 to 17:56", "from 14:01 on"), if it has one."""
    moments = clause.of(Kind.MOMENT)
    for first, second in zip(moments, moments[1:], strict=False):
        if not _is_range(clause, first, second):
            continue
        start, end = (resolve(token.moment, scope, others) for token in (first, second))
        if start is not None and end is not None:
            if end < start and any(token.text == "次日" for token in clause.tokens):
                end += timedelta(days=1)
            return start, end + timedelta(seconds=_precision(second) - 1e-6)
    if len(moments) == 1 and _is_before(clause, moments[0]):
        end = resolve(moments[0].moment, scope, others)
        if end is not None:
            return datetime.min.replace(tzinfo=UTC), end
    if len(moments) == 1 and is_onset(clause, moments[0]):
        start = resolve(moments[0].moment, scope, others)
        if start is not None:
            return start, datetime.max.replace(tzinfo=UTC)
    return None


def _is_before(clause: Clause, moment: Token) -> bool:
    """Whether a clause says that something was before this moment."""
    place = clause.tokens.index(moment)
    before = clause.tokens[place - 1].text.casefold() if place else ""
    after = clause.tokens[place + 1].text if place + 1 < len(clause.tokens) else ""
    return before in {"before", "until", "till"} or after in {"之前", "以前", "前"}


def from_last(
    clause: Clause, token: Token, scope: Window | None, others: tuple[datetime, ...]
) -> tuple[datetime, datetime] | None:
    """From the last moment before a token on: "rose to 91 at 14:01 and stayed above 90"."""
    moments = [item for item in clause.of(Kind.MOMENT) if item.start < token.start]
    if not moments:
        return span_of(clause, scope, others)
    if len(moments) > 1 and _is_range(clause, *moments[-2:]):
        return span_of(clause, scope, others)
    start = resolve(moments[-1].moment, scope, others)
    return None if start is None else (start, datetime.max.replace(tzinfo=UTC))


def is_backwards(clause: Clause, scope: Window | None) -> bool:
    """Whether a window ends before it starts, or has no length: then it is no window."""
    moments = clause.of(Kind.MOMENT)
    for first, second in zip(moments, moments[1:], strict=False):
        if not _is_range(clause, first, second):
            continue
        start, end = (resolve(token.moment, scope, ()) for token in (first, second))
        next_day = any(token.text in {"次日", "next"} for token in clause.tokens)
        if start is not None and end is not None and end <= start and not next_day:
            return True
    return False


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
        before in {"since", "after"}
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
    envelope = binding.call.call.envelope
    scope = envelope.scope.window
    if scope and bounds_window(clause, token):
        if moment.matches(scope.start) or moment.matches(scope.end):
            return True
    if bounds_window(clause, token) and any(
        moment.is_like(asked) for asked in find_moments(binding.call.about)
    ):
        return True
    if moment.matches(envelope.observed_at) and not (scope and envelope.observed_at == scope.end):
        return True
    records = _eligible(desk, clause, binding)
    if not any(_rightly(clause, token, record) for record in records):
        return False
    return _extreme_holds(clause, token, records)


def _eligible(desk: Desk, clause: Clause, binding: Binding) -> tuple[RecordView, ...]:
    """The records that hold the clause's names, and every claim that the best of them hold."""
    best = frozenset().union(*binding.best)
    tokens = [token for token in binding.held if token.kind is Kind.QUOTE or _happens(token)]
    kept = frozenset().union(*binding.allowed)
    for token in tokens:
        places = desk.places(binding.call, token)
        if places & best:
            kept = kept & places or best
    return tuple(binding.call.records[place] for place in sorted(kept))


def _happens(token: Token) -> bool:
    """Whether a word may say what happened: a claim, a verb's form, or any Chinese word."""
    if token.kind is not Kind.WORD:
        return False
    low = token.text.casefold()
    return not low.isascii() or claims(token) or low.endswith(("ed", "ing"))


_STARTING: Final = frozenset(
    stem(word) for word in "start started starts begin began begun open opened create created launch "
    "launched scheduled first since 开始 启动 开启 打开 创建".split()
)  # fmt: skip
_ENDING: Final = frozenset(
    stem(word) for word in "end ended finish finished complete completed fail failed abort aborted "
    "kill killed terminate terminated stop stopped exit exited expire expired close closed last until "
    "结束 完成 失败 终止 停止 退出 过期".split()
)  # fmt: skip
_STARTS: Final = frozenset(
    stem(word) for word in "start started begin began first created opened from".split()
)
_ENDS: Final = frozenset(
    stem(word) for word in "end ended finish finished last complete completed stop stopped after to until "
    "notafter terminated".split()
)  # fmt: skip


def _rightly(clause: Clause, token: Token, record: RecordView) -> bool:
    """Whether a record stands at the moment by the field, or in the words, that the clause means."""
    moment = token.moment
    assert moment is not None
    if not record.stands_at(moment):
        return False
    near = _words_near(clause, token)
    dated = record.dated
    if len(dated) > 1:
        scores = {place: len(_kin(near) & item.names) for place, (item, _) in enumerate(dated)}
        most = max(scores.values())
        meant = [dated[place] for place, score in scores.items() if score == most]
        if most > 0:
            return any(_same(moment, other) for _, other in meant)
        kind = _kind(near)
        named = [
            (item, other) for item, other in dated if _kind_of(item.names) in {kind, ""} or not kind
        ]
        return any(_same(moment, other) for _, other in named)
    if len(dated) == 1 and is_of_another(near, record):
        return False
    if record.at is not None and len(record.written) > 1:
        return moment.matches(record.at) or _in_words(near, token, record)
    return True


def is_of_another(near: frozenset[str], record: RecordView) -> bool:
    """Whether a state of one field is said to be since the only moment of a row, which is another
    field's: "sealed at 13:40", where 13:40 is of `last_scrub`."""
    dated = record.dated[0][0]
    if dated.names & _PLAIN_TIMES or _kin(near) & dated.names:
        return False
    states = frozenset[str]().union(
        *(
            stems_of(item.text)
            for item in record.fields
            if item is not dated and item.number is None and not item.loose and item.text.isalpha()
        )
    )
    return bool(near & states)


_PLAIN_TIMES: Final = frozenset(
    stem(word) for word in "at time timestamp ts date datetime updated changed modified transition since "
    "observed event created occurred reported state status start started begin began opened end ended "
    "finish finished complete completed stop stopped terminated seen contact heartbeat".split()
)  # fmt: skip
"""Names of fields whose moment may be that of the row's state."""


def _same(moment: Moment, other: Moment) -> bool:
    at = other.instant()
    return moment.matches(at) if at is not None else moment.is_like(other)


def _kin(stems: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(kin(word) for word in stems), frozenset[str]())


def _kind(near: frozenset[str]) -> str:
    starts, ends = bool(near & _STARTING), bool(near & _ENDING)
    return "start" if starts and not ends else "end" if ends and not starts else ""


def _kind_of(names: frozenset[str]) -> str:
    return "start" if names & _STARTS else "end" if names & _ENDS else ""


NEAR_TOKENS: Final = 6
"""How many tokens before a moment say what happened at it; in Chinese the two behind it do too."""


def _words_near(clause: Clause, token: Token) -> frozenset[str]:
    place = clause.tokens.index(token)
    near: set[str] = set()
    for item in reversed(clause.tokens[max(0, place - NEAR_TOKENS) : place]):
        if item.kind is Kind.MOMENT or item.text in {";", "；", "，"}:
            break
        if item.kind is Kind.WORD:
            near |= item.stems | stems_of(item.text) | {item.text}
    for item in clause.tokens[place + 1 : place + 3]:
        if item.kind is not Kind.WORD or item.text.isascii():
            break
        near |= item.stems | {item.text}
    return frozenset(near) - FUNCTION


def _in_words(near: frozenset[str], token: Token, record: RecordView) -> bool:
    """Whether the record's own words before the moment are those of the clause."""
    assert token.moment is not None
    for other in record.written:
        if _same(token.moment, other):
            before = " ".join(record.text[: other.start].split()[-4:])
            if stems_of(before) & near:
                return True
    return False


def bounds_window(clause: Clause, token: Token) -> bool:
    """Whether a moment is written as an end of a window: "from 12:10", "and 12:20", 至 12:20."""
    place = clause.tokens.index(token)
    before = clause.tokens[place - 1].text.casefold() if place else ""
    after = clause.tokens[place + 1].text.casefold() if place + 1 < len(clause.tokens) else ""
    return before in _EDGES or after in {"至", "到", "to", "–", "-", "之间", "期间", "until"}


_EDGES: Final = frozenset(
    "from between and to until till since through 从 至 到 和 在 次日 自 –".split()
)


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
    near = _fragment(clause, token)
    if near & _FIRST_WORDS or (near & _BEGINNING and is_onset(clause, token)):
        return moment.matches(dated[0])
    return moment.matches(dated[-1]) if near & _LAST_WORDS else True


def _fragment(clause: Clause, token: Token) -> frozenset[str]:
    """The words before a moment, back to the moment or the Chinese comma before it."""
    place = clause.tokens.index(token)
    found: set[str] = set()
    for item in reversed(clause.tokens[:place]):
        if item.kind is Kind.MOMENT or item.text in {"；", ";", "，"}:
            break
        if item.kind is Kind.WORD:
            found.add(item.text.casefold())
    return frozenset(found | {item.text for item in clause.tokens[place + 1 : place + 2]})


def is_timed(
    record: RecordView, moment: Token | None, window: tuple[datetime, datetime] | None
) -> bool:
    """Whether a record stands at a moment, or within a window; one without any time always does."""
    if moment is not None and moment.moment is not None and record.is_dated:
        return record.stands_at(moment.moment)
    if window is not None and record.when is not None:
        return window[0] <= record.when <= window[1]
    return True


def is_snapshot_of(
    call: CallView, moment: Token | None, window: tuple[datetime, datetime] | None
) -> bool:
    """Whether a result without any time may speak of a moment or a window: that of its own call."""
    envelope = call.call.envelope
    scope = envelope.scope.window
    if moment is not None and moment.moment is not None:
        ends = (scope.start, scope.end) if scope else ()
        return any(moment.moment.matches(at) for at in (envelope.observed_at, *ends))
    if window is None:
        return True
    return scope is not None and window[0] <= scope.start and scope.end <= window[1]
