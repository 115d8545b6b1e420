"""Actions, recommendations and scope: what they take for granted has to be in evidence.

To propose something claims nothing: verbs, plans and new settings are free. But the things that it
is to be done to (names with digits or paths, ids, addresses), the numbers it starts from, and what
it says of them in passing ("revision 18, which runs 4.8.0") are facts like any other.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import Final

from affidavit.contract.violations import SupportCode
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.markers import causal_in, is_open
from affidavit.verify.prose.numbering import is_identity
from affidavit.verify.prose.polarity import SUCCEEDING
from affidavit.verify.prose.times import resolve
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.denial import FAILING
from affidavit.verify.statements.moments import find_moments
from affidavit.verify.statements.units import unit_of
from affidavit.verify.statements.words import names_in, stem

_SETTING: Final = re.compile(
    r"[A-Za-z][A-Za-z_\-]*(?:\([^()]{0,80}\))?|[a-z]+(?:[A-Z][a-z]+)+|[A-Z]{2,}"
)
_AIM: Final = frozenset("to for every within 为 到 至 每".split())
_REVERT: Final = re.compile(
    r"\b(revert(s|ed|ing)?|reversal|undo(es|ing)?|back(s|ed|ing)? out"
    r"|roll(s|ed|ing)?[ -]?back|roll \S+( \S+)? back|rollback|take (it )?back)\b"
    r"|撤销|撤回|还原|回滚|回退",
    re.IGNORECASE,
)
_BACK_TO: Final = frozenset("to onto 到 至".split())
"""Before the commit that is gone back to: it is none of those that are undone."""
_COMMIT: Final = re.compile(r"[0-9a-f]{7,40}")
_DIFF: Final = re.compile(r"^[+-]{1,3}[^+\-\s]|\bdiff\b|\bpatch\b|@@", re.MULTILINE)


def check_action(desk: Desk, clauses: tuple[Clause, ...], text: str) -> tuple[SupportCode, ...]:
    """The codes against an action; none when its premises are known."""
    codes: list[SupportCode] = []
    for clause in clauses:
        for place, token in enumerate(clause.tokens):
            code = _premise(desk, clause, place, token)
            if code is not None:
                codes.append(code)
    for step in _steps(tuple(token for clause in clauses for token in clause.tokens)):
        if not _together(desk, Clause(step)):
            codes.append(SupportCode.SUBJECT_REFUTED)
    if _reverts_unread(desk, clauses, text):
        codes.append(SupportCode.STATEMENT_UNPROVED)
    return tuple(dict.fromkeys(codes))


_RELATIVE: Final = frozenset("which that whose where it its 它 其".split())
_STEPS: Final = frozenset("and or then , ; ， ； 、 并 并且 然后 或 或者 再".split())


def _steps(tokens: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """The single steps of an action; what is said of a thing in passing stays with it."""
    steps: list[list[Token]] = [[]]
    for place, token in enumerate(tokens):
        after = tokens[place + 1].text.casefold() if place + 1 < len(tokens) else ""
        if token.text.casefold() in _STEPS and after not in _RELATIVE:
            steps.append([])
        else:
            steps[-1].append(token)
    return [tuple(step) for step in steps if step]


def _is_state(token: Token) -> bool:
    """Whether a word says how well or ill a thing is."""
    return bool(token.stems & (FAILING | SUCCEEDING)) or token.text in _STATES_ZH


_STATES_ZH: Final = frozenset("正常 恢复 健康 故障 失败 中断 丢失 崩溃".split())


def check_scope(desk: Desk, tokens: tuple[Token, ...], text: str) -> tuple[SupportCode, ...]:
    """The codes against the declared scope: a cause, or a thing that nothing holds.

    The scope says what was looked at; it may name calls, sources and how much of them was read.
    """
    codes: list[SupportCode] = []
    if causal_in(text, tokens) and not is_open(text, tokens):
        codes.append(SupportCode.CAUSE_UNPROVED)
    if any(
        token.kind is Kind.WORD and token.role is Role.CONTENT and _is_state(token)
        and not _is_sort(tokens, place)
        and not is_known(desk, replace(token, stems=frozenset({stem(token.text)})))
        and not _is_in_source(desk, token)
        for place, token in enumerate(tokens)
    ):  # fmt: skip
        codes.append(SupportCode.WORDS_UNBOUND)
    for place, token in enumerate(tokens):
        match token.kind:
            case Kind.NAME if any(sign.isdigit() for sign in token.text):
                if _STATUS_CLASS.fullmatch(token.text):
                    continue
                if not is_known(desk, token) and not _in_parts(desk, token):
                    codes.append(SupportCode.IDENTIFIER_UNKNOWN)
            case Kind.MOMENT if not (is_moment_known(desk, token) or _looked_at(desk, token)):
                codes.append(SupportCode.TIME_UNKNOWN)
            case Kind.NUMBER if not (
                token.spelled or _amount_known(desk, token) or _opens_days(tokens, place)
            ):
                codes.append(SupportCode.NUMBER_UNKNOWN)
            case _:
                pass
    return tuple(dict.fromkeys(codes))


def _is_in_source(desk: Desk, token: Token) -> bool:
    """Whether a word is a part of what a tool is called: the queue of `squeue`."""
    low = token.text.casefold()
    return len(low) > SOURCE_CHARS_MIN and any(
        low in name for call in (*desk.calls, *desk.wide) for name in names_in(call.call.tool)
    )


SOURCE_CHARS_MIN: Final = 3
"""Shorter words stand in too many names."""
_STATUS_CLASS: Final = re.compile(r"[1-5]xx", re.IGNORECASE)
_SORTED: Final = frozenset(
    "log logs line lines rate rates count counts event events entry entries message messages metric "
    "metrics monitor monitors panel series ratio number numbers trace traces span spans history 日志 率 "
    "数 数量 记录 事件 指标 曲线 次数".split()
)


def _is_sort(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a word of state only says what was looked at: "error logs", 错误日志, "and backlog"."""
    if tokens[place].text.casefold() in _LOOKED:
        return True
    behind = tokens[place + 1 : place + 3]
    return any(
        token.text.casefold() in _SORTED for token in behind if token.kind is Kind.WORD
    ) or tokens[place].text.endswith(tuple(word for word in _SORTED if not word.isascii()))


_LOOKED: Final = frozenset(
    "backlog backlogs restarts errors failures timeouts rejections drops retries alerts alarms "
    "exceptions evictions crashes".split()
)
"""Plurals that name a series of readings: a scope lists what was looked at, and tells no state."""


def _opens_days(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a number is the first of two days: "from 18 to 21 October"."""
    behind = tokens[place + 1 : place + 3]
    return (
        len(behind) == 2
        and behind[0].text.casefold() in {"to", "and", "until", "-", "–", "至", "到"}
        and behind[1].kind is Kind.MOMENT
    )


def _looked_at(desk: Desk, token: Token) -> bool:
    """Whether a moment lies in what some call looked at."""
    for call in desk.calls:
        scope = call.call.envelope.scope.window
        at = resolve(token.moment, scope, ())
        if scope and at and scope.start <= at <= max(scope.end, call.call.envelope.observed_at):
            return True
    return False


def _in_parts(desk: Desk, token: Token) -> bool:
    """`host:443` is known where the host and the port are."""
    parts = [part for part in re.split(r"[:/]", token.text.casefold()) if part]
    known = frozenset().union(*(call.about_names | frozenset(call.by_name) for call in desk.calls))
    return len(parts) > 1 and all(part in known for part in parts)


def _amount_known(desk: Desk, token: Token) -> bool:
    if is_known(desk, token) or _read(desk, token):
        return True
    amounts = {Decimal(len(desk.calls)), Decimal(len(desk.wide))}
    for call in desk.calls:
        envelope = call.call.envelope
        amounts |= {Decimal(size) for size in (envelope.count, envelope.total) if size is not None}
    return token.stated is not None and token.stated.number in amounts


def is_known(desk: Desk, token: Token) -> bool:
    """Whether any call, the report's proved sentences or the question hold the token."""
    return any(desk.places(call, token) or desk.is_about(call, token) for call in desk.all) or (
        desk.is_asked(token)
    )


def _premise(desk: Desk, clause: Clause, place: int, token: Token) -> SupportCode | None:
    match token.kind:
        case Kind.NAME:
            if is_known(desk, token) or (
                _SETTING.fullmatch(token.text) and not _has_sibling(desk, token)
            ):
                return None
            return SupportCode.IDENTIFIER_UNKNOWN
        case Kind.MOMENT:
            return None if is_moment_known(desk, token) else SupportCode.TIME_UNKNOWN
        case Kind.NUMBER:
            if (
                _is_aim(clause, place)
                or is_known(desk, token)
                or token.spelled
                or _read(desk, token)
                or any(desk.places(call, token) for call in desk.wide)
            ):
                return None
            return SupportCode.NUMBER_UNKNOWN
        case _:
            return None


def _has_sibling(desk: Desk, token: Token) -> bool:
    """Whether the evidence knows another thing of that series: `BBU-B` where `BBU-A` is named."""
    owner, joint, _ = token.text.casefold().rpartition("-")
    return bool(joint) and any(owner in call.by_owner for call in desk.all)


def _is_aim(clause: Clause, place: int) -> bool:
    """A number behind "to" is what the action wants, not what it found; so is a measure of its own:
    "warn 60 days before", and not "the 30 s timeout"."""
    before = clause.tokens[place - 1].text.casefold() if place else ""
    stated = clause.tokens[place].stated
    measures = stated is not None and bool(stated.unit and unit_of(stated.unit))
    return before in _AIM or (measures and before not in _GIVEN)


_GIVEN: Final = frozenset(
    "the this that its their his her current present existing old of from than with at about 该 其 当前 现有 的 从 由".split()
)
"""Before a number with a unit these say that it is so already; without them it is what is advised."""


def _read(desk: Desk, token: Token) -> bool:
    assert token.stated is not None
    return any(
        field.number == token.stated.number
        for call in desk.all for record in call.records for field in record.fields
    )  # fmt: skip


def is_moment_known(desk: Desk, token: Token) -> bool:
    """Whether a result, what was asked of one, or the report's proved sentences hold the moment."""
    moment = token.moment
    assert moment is not None
    for call in desk.all:
        scope = call.call.envelope.scope.window
        if scope and (moment.matches(scope.start) or moment.matches(scope.end)):
            return True
        if any(record.stands_at(moment) for record in call.records):
            return True
        if moment.matches(call.call.envelope.observed_at):
            return True
        if any(moment.is_like(asked) for asked in find_moments(call.about)):
            return True
    return any(
        moment.clock_s == told.moment.clock_s
        for tokens in desk.told_tokens for told in tokens if told.moment is not None
    )  # fmt: skip


def _together(desk: Desk, clause: Clause) -> bool:
    """Whether the names and ids of a clause that are known stand together somewhere."""
    strong = [
        token for token in clause.tokens
        if (token.kind is Kind.NAME and any(sign.isdigit() for sign in token.text))
        or is_identity(clause.tokens, clause.tokens.index(token))
        or (token.kind is Kind.NUMBER and token.stated is not None and not token.spelled
            and not token.stated.unit and token.text.isdigit())
    ]  # fmt: skip
    strong = [token for token in strong if any(desk.places(call, token) for call in desk.all)]
    if len(strong) < 2:
        return True
    for call in desk.all:
        found = [desk.places(call, token) for token in strong]
        if all(found) and frozenset.intersection(*found):
            return True
    return _listed(clause, strong)


def _listed(clause: Clause, strong: list[Token]) -> bool:
    """Names that are only listed ("restart a-1 and b-2") need not stand together."""
    places = [clause.tokens.index(token) for token in strong]
    between = clause.tokens[places[0] + 1 : places[-1]]
    return all(
        token in strong
        or token.text.casefold() in {",", "and", "or", "、", "和", "与", "及", "以及"}
        for token in between
    )


def _reverts_unread(desk: Desk, clauses: tuple[Clause, ...], text: str) -> bool:
    """Whether the action reverts a commit whose diff nobody read (R7)."""
    if not _REVERT.search(text):
        return False
    commits = [
        token
        for clause in clauses
        for place, token in enumerate(clause.tokens)
        if _COMMIT.fullmatch(token.text) and not _is_gone_back_to(clause.tokens, place)
    ]
    return any(not _diff_read(desk, token) for token in commits)


def _is_gone_back_to(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a commit is where a reversal leads: "back to abc1234", "to commit abc1234"."""
    before = [token.text.casefold() for token in tokens[max(0, place - 2) : place]]
    return bool(before) and (
        before[-1] in _BACK_TO or (before[0] in _BACK_TO and before[-1] in _COMMIT_WORDS)
    )


_COMMIT_WORDS: Final = frozenset("commit revision sha version build 提交 版本".split())


def _diff_read(desk: Desk, token: Token) -> bool:
    return any(
        (desk.places(call, token) or desk.is_about(call, token))
        and any(_DIFF.search(record.text) for record in call.records)
        for call in desk.calls
    )
