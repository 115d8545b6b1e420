"""A negative observation: does the sentence stay within what was asked? (G9)

It may only say that nothing matched, in the words of the query, over the window of the query. A
word that the query does not hold widens it; a filter that the sentence leaves out widens it too.
"""

from __future__ import annotations

from typing import Final

from affidavit.contract.states import EvidenceStatus
from affidavit.contract.violations import SupportCode
from affidavit.verify.prose.clauses import Clause, is_negative
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.times import is_backwards, resolve
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.absence import SPLIT, asked, phrases
from affidavit.verify.statements.moments import find_moments
from affidavit.verify.statements.records import CallView
from affidavit.verify.statements.words import names_in, stem, stems_of

_SOURCES: Final = frozenset(
    stems_of("log logs line lines event events row rows record records result results trace traces "
             "match matches hit hits entry entries data series sample samples alert alerts message messages")
)  # fmt: skip


def check_absence(desk: Desk, clauses: tuple[Clause, ...]) -> tuple[SupportCode, ...]:
    """The codes against a sentence of a negative observation; none when it stays in scope."""
    if not any(is_negative(clause) or _counts_zero(clause) for clause in clauses):
        return (SupportCode.NEGATION_REFUTED,)
    tokens = tuple(token for clause in clauses for token in clause.tokens)
    if _generalises(tokens):
        return (SupportCode.ABSENCE_TOO_WIDE,)
    calls = tuple(
        call
        for call in desk.calls
        if call.call.envelope.status is EvidenceStatus.NO_EVIDENCE
        and (_is_of_a_search(tokens) or _names_source(tokens, call))
    )
    best: tuple[SupportCode, ...] | None = None
    for call in calls:
        codes = tuple(dict.fromkeys(_against(desk, clauses, call)))
        if not codes:
            return ()
        best = codes if best is None or len(codes) < len(best) else best
    return best or (SupportCode.ABSENCE_TOO_WIDE,)


_FINDING: Final = frozenset(
    "hit hits show shows lists list return returns contains contain gives gave registered registers found find logged log logs matched match matches recorded record records seen returned returns "
    "reported observed listed shown printed present result results line lines event events entry entries "
    "row rows sample samples series trace traces message messages data alert alerts "
    "查到 未查到 没有查到 没查到 找到 未找到 没有找到 发现 未发现 没有发现 未见 匹配 记录 返回 日志 事件 内容 结果 数据 告警 "
    "消息 命中 样本 查询 检索 搜索".split()
)
"""What a search finds, or that it finds: an absence is one of records, and never of what happens."""
_GENERAL: Final = frozenset(
    "never nobody nothing anyone anything everywhere always all every each any entire whole 从未 从来 所有 全部 任何 都 "
    "一切 每个 没有人 无人".split()
)
_SPANS: Final = frozenset(
    "hour hours day days week weeks month months year years decade 周 月 年 天".split()
)
_AGO: Final = frozenset("last past previous recent 去年 昨天 上周 上月 今年 近期 历来 一向".split())


def _is_of_a_search(tokens: tuple[Token, ...]) -> bool:
    return any(token.kind is Kind.QUOTE or token.text.casefold() in _FINDING for token in tokens)


_KEPT_IN: Final = {
    stem(word): frozenset(map(stem, kept.split()))
    for word, kept in (
        ("audit", "change edit modification entry action"), ("history", "change edit revision"),
        ("page", "incident notice"), ("journal", "entry"), ("list", "item"), ("catalogue", "item"),
        ("table", "row"), ("index", "document"), ("queue", "message"), ("calendar", "entry"),
        ("inventory", "item"), ("git", "commit merge"), ("log", "line entry"), ("schedule", "run"), ("register", "entry"), ("registry", "entry"),
    )
}  # fmt: skip
"""Where things are written down, and what such a place holds one by one."""


def _names_source(tokens: tuple[Token, ...], call: CallView) -> bool:
    """Whether the sentence says where was looked ("the audit of x"), and the call is called so."""
    return any(
        word in _KEPT_IN and word in call.about_stems
        for token in tokens if token.kind is Kind.WORD
        for word in (token.stems | {stem(token.text)})
    )  # fmt: skip


def _is_kept(token: Token, call: CallView) -> bool:
    """Whether a word is what the source of the call keeps: changes of an audit."""
    kept = frozenset().union(
        *(words for place, words in _KEPT_IN.items() if place in call.about_stems),
        frozenset[str](),
    )
    return bool(token.stems & kept)


def _finds_nothing(words: list[str], place: int) -> bool:
    """ "logged nothing that matches x", "nothing was found": nothing of what was searched for."""
    before = words[max(0, place - 2) : place]
    behind = words[place + 1 : place + 4]
    return words[place] == "nothing" and bool({*before, *behind} & _FINDING)


def _generalises(tokens: tuple[Token, ...]) -> bool:
    """Whether an absence is said of everybody, of ever, or of a past that no window bounds."""
    words = [token.text.casefold() for token in tokens if token.kind is not Kind.QUOTE]
    if any(
        word in _GENERAL and not _finds_nothing(words, place) for place, word in enumerate(words)
    ):
        return True
    return any(
        word in _AGO and (not word.isascii() or set(words[place + 1 : place + 3]) & _SPANS)
        for place, word in enumerate(words)
    )


def _counts_zero(clause: Clause) -> bool:
    return any(token.stated is not None and token.stated.number == 0 for token in clause.tokens)


def _against(desk: Desk, clauses: tuple[Clause, ...], call: CallView) -> list[SupportCode]:
    codes: list[SupportCode] = []
    if any(is_backwards(clause, call.call.envelope.scope.window) for clause in clauses):
        codes.append(SupportCode.WINDOW_REFUTED)
    tokens = [token for clause in clauses for token in clause.tokens]
    for token in tokens:
        code = _token(desk, token, call)
        if code is not None:
            codes.append(code)
    if not _names_filter(tokens, call):
        codes.append(SupportCode.ABSENCE_TOO_WIDE)
    return codes


def _token(desk: Desk, token: Token, call: CallView) -> SupportCode | None:
    match token.kind:
        case Kind.QUOTE:
            if asked(call, token.text) or " ".join(token.text.casefold().split()) in _low(call):
                return None
            return SupportCode.ABSENCE_TOO_WIDE
        case Kind.NAME:
            known = desk.is_about(call, token) or token.text.casefold() in _low(call)
            return None if known else SupportCode.IDENTIFIER_UNKNOWN
        case Kind.MOMENT:
            return None if _in_window(token, call) else SupportCode.WINDOW_REFUTED
        case Kind.NUMBER:
            return _number(token, call)
        case Kind.WORD if token.role in {Role.CONTENT, Role.HEDGE, Role.UP, Role.DOWN}:
            known = (
                desk.is_about(call, token) or bool(token.stems & _SOURCES) or _is_kept(token, call)
                or token.text.casefold() in _low(call)
            )  # fmt: skip
            return None if known else SupportCode.ABSENCE_TOO_WIDE
        case _:
            return None


def _low(call: CallView) -> str:
    return " ".join(call.about.casefold().split())


def _number(token: Token, call: CallView) -> SupportCode | None:
    if token.stated is not None and token.stated.number == 0:
        return None
    held = token.text.casefold() in call.about_names or token.text in {"one", "一"}
    return None if held else SupportCode.NUMBER_UNKNOWN


def _in_window(token: Token, call: CallView) -> bool:
    moment = token.moment
    assert moment is not None
    scope = call.call.envelope.scope.window
    if moment.matches(call.call.envelope.observed_at):
        return True
    if scope is None:
        asked = find_moments(call.about)
        return any(moment.is_like(other) for other in asked) or moment.text.casefold() in _low(call)
    at = resolve(moment, scope, ())
    inside = at is not None and scope.start <= at <= scope.end
    return inside or moment.matches(scope.start) or moment.matches(scope.end)


def _names_filter(tokens: list[Token], call: CallView) -> bool:
    """Whether the sentence names what was searched for: one alternative of each phrase, whole."""
    said = " ".join(token.text for token in tokens).casefold()
    stems = frozenset(word for token in tokens for word in token.stems | stems_of(token.text))
    names = frozenset(name for token in tokens for name in names_in(token.text))
    return all(_mentions(phrase, said, stems, names) for phrase in phrases(call))


def _mentions(phrase: str, said: str, stems: frozenset[str], names: frozenset[str]) -> bool:
    for alternative in SPLIT.split(phrase):
        wanted = stems_of(alternative)
        if alternative.casefold() in said or (wanted and wanted <= stems):
            return True
        if names_in(alternative) and names_in(alternative) <= names:
            return True
    return False
