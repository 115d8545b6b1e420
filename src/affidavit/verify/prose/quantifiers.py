"""all, each, both, every, only, no, most: what is said of every record has to hold for every record.

The records that a quantifier ranges over are those that hold the words right behind it; what the
rest of the clause says has to stand in each of them. Over a result that was cut nothing can be said
of all.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Value
from affidavit.verify.prose import pairs
from affidavit.verify.prose.binding import Binding, listed_words
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import EVERY, ONLY, VAGUE, VERBS, Role
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.tallies import listed
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.words import stem

_STOPS: Final = frozenset(
    "the of is are was were be has have had with in at on for by to from that which who whose gives "
    "give and or 都 均 皆 全 也 为 是".split()
)
_BACKWARD_ZH: Final = frozenset(
    "都 均 皆 全都 一律 全部 全数 均为 都是 都在 均在 都处于 均处于 都已 均已 已全部 均已全部 全部来自 均来自 "
    "都来自 各有 各为".split()
)
"""In Chinese these stand behind what they range over."""
_EVERY_ZH: Final = _BACKWARD_ZH | frozenset(
    "所有 每 每个 每次 每条 每台 每一 各 各个 全 任何 两者 二者都 两者都 各自都".split()
)
_ONLY_ZH: Final = frozenset("只取回 只读到 只 仅 仅有 只有 仅仅 唯一 仅在 只在".split())
_RANGE_WORDS_MAX: Final = 4


def universal_of(clause: Clause) -> int | None:
    """The place of a word that speaks of all, or None. "both … and" and "at all" speak of none."""
    for place, token in enumerate(clause.tokens):
        low = token.text.casefold()
        if token.kind is Kind.WORD and (
            low in _EVERY_ZH
            or (low.isascii() and stem(low) in EVERY and low not in {"any", "whole"})
        ):
            before = clause.tokens[place - 1].text.casefold() if place else ""
            if before in {"at", "after", "not", "almost"}:
                continue
            return place
    return None


def is_quantified(clause: Clause) -> bool:
    """Whether a clause says itself how many it is about: all, most, several, 所有."""
    return any(
        token.text.casefold() in VAGUE or place == universal_of(clause)
        for place, token in enumerate(clause.tokens[:3])
    )


def only_of(clause: Clause) -> int | None:
    """The place of an "only", or None."""
    for place, token in enumerate(clause.tokens):
        low = token.text.casefold()
        if token.kind is Kind.WORD and (low in _ONLY_ZH or (low.isascii() and stem(low) in ONLY)):
            return place
    return None


def holds_for_all(
    desk: Desk, clause: Clause, binding: Binding, place: int, counted: Counted
) -> bool:
    """Whether every record that the quantifier ranges over holds what the clause says.

    "all 3" are the three that were counted just before; "both" of two names are those two; and "20,
    all of them" is what a record says that gives the number twice (20 of 20).
    """
    if binding.call.id == TOLD:
        return _told(clause, binding, place) or _twice(clause, binding)
    if clause.tokens[place].text.casefold() == "both" and 2 in listed(clause.tokens):
        return len(binding.allowed) == 2 or len(clause.names) > 1
    if clause.tokens[place].text.casefold() == "both" and len(binding.allowed) == 2:
        return len(listed_words(desk, clause)) == 2
    apart = _at_each(desk, clause, binding, place)
    if apart is not None:
        return apart
    if _twice(clause, binding) or _is_all_of(clause, binding, place):
        return True
    if counted[0] == binding.call.id and counted[1] and _is_them(clause, place, counted[1]):
        said = [desk.places(binding.call, token) for token in clause.tokens if _says(token)]
        return all(counted[1] <= found for found in said if found)
    call = binding.call
    if call.call.envelope.truncated:
        return False
    ranged, rest = _sides(clause, place)
    both = pairs.speaks_of_both(clause.tokens[place])
    if both and (found_two := pairs.both_places(desk, binding)):
        said = [desk.places(call, token) for token in rest if _says(token)]
        return bool(said) and all(places & frozenset.intersection(*said) for places in found_two)
    domain = pairs.rows(call)
    if ranged and not may_range(desk, binding, ranged):
        return False
    if any(
        _says(token) and token not in binding.held and not _is_source(desk, token) for token in rest
    ):
        return False
    for token in ranged:
        found = _owned(desk, call, token)
        if found:
            domain = domain & found or domain
        elif _says(token) and token is ranged[0] and len(_subjects(call)) < 2:
            return False
    for token in clause.tokens[:place]:
        if token.kind is Kind.NAME:
            domain = domain & _owned(desk, call, token) or domain
    said = [
        desk.places(call, token) for token in rest
        if (_says(token) or _value(clause, token)) and 0 < len(desk.places(call, token)) < len(call.records)
    ]  # fmt: skip
    if not said:
        return not both or len(domain) == pairs.PAIR
    holding = frozenset.intersection(*said) if said else domain
    shapes = {call.records[found].shape for found in holding & domain}
    if not shapes:
        shapes = {call.records[found].shape for found in domain}
    ranged_over = {found for found in domain if call.records[found].shape in shapes}
    if both and len(ranged_over) != pairs.PAIR:
        return False
    return bool(ranged_over) and all(ranged_over <= found for found in said)


def _owned(desk: Desk, call: CallView, token: Token) -> frozenset[int]:
    """Where a token stands; of a name also where what belongs to it does."""
    found = desk.places(call, token)
    if token.kind is Kind.NAME:
        found |= call.by_owner.get(token.text.casefold(), frozenset())
    return found


def _is_source(desk: Desk, token: Token) -> bool:
    """Whether a word only says who tells it: what another call was asked about, and no claim."""
    return not claims(token) and any(
        desk.is_about(call, token) or desk.places(call, token) for call in desk.wide
    )


def _is_all_of(clause: Clause, binding: Binding, place: int) -> bool:
    """ "lost all 5 packets": one record gives the 5, and 100 % of what the clause names."""
    whole = next((t.stated for t in clause.tokens[place + 1 : place + 3] if t.stated), None)
    words = frozenset(
        other for token in clause.tokens[:place] if token.kind is Kind.WORD
        for word in token.stems for other in kin(word)
    )  # fmt: skip
    return whole is not None and any(
        any(item.number == whole.number for item in record.fields)
        and any(
            item.number == HUNDRED and item.unit == "%" and (item.tight | item.names) & words
            for item in record.fields
        )
        for record in binding.records()
    )


HUNDRED: Final = 100
"""Per cent of anything are all of it."""


_EACH: Final = frozenset("each 各 各有 各自 分别 每".split())


def _at_each(desk: Desk, clause: Clause, binding: Binding, place: int) -> bool | None:
    """ "one on each of 16, 17 and 18 May": every listed moment has as many; None where none is listed."""
    moments = [token.moment for token in clause.of(Kind.MOMENT) if token.moment is not None]
    if clause.tokens[place].text.casefold() not in _EACH or len(moments) < 2:
        return None
    said = [desk.places(binding.call, token) for token in clause.tokens if _says(token)]
    held = frozenset.intersection(*said) if said else frozenset()
    counts = {
        sum(1 for at in held if binding.call.records[at].stands_at(moment)) for moment in moments
    }
    stated = [
        token.stated.number if token.stated is not None else Decimal(1)
        for token in clause.tokens[place + 1 : place + 3]
        if token.stated is not None or token.text in {"一次", "一条", "一个", "一", "one"}
    ]
    return 0 not in counts and (not stated or counts == {stated[0]})


EVENTS: Final = frozenset(
    stem(word)
    for word in "request requests call calls attempt attempts try tries error errors failure failures event events "
    "line lines entry entries message messages log logs record records sample samples reading readings "
    "trace traces alert alerts warning warnings result results row rows value values".split()
) | frozenset("请求 调用 错误 日志 事件 消息 记录 失败 告警 警告".split())
"""What a log lists one by one. Other things it only speaks of."""


def may_range(desk: Desk, binding: Binding, ranged: list[Token] | tuple[Token, ...]) -> bool:
    """Whether the records are the things that a quantity ranges over: rows of them, or events.

    Lines of a log are no list of the interfaces that they name.
    """
    records = [item for item in binding.records() if item.shape != "report"]
    told = [token for token in ranged if _says(token) or token.stems & EVENTS]
    counts_events = bool(told) and bool(told[-1].stems & EVENTS or stem(told[-1].text) in EVENTS)
    if not any(_is_event(record) for record in records):
        return not counts_events or any(token.role is Role.CONTENT for token in told)
    return not told or counts_events


def _is_event(record: RecordView) -> bool:
    """Whether a record is a line of a log or another dated item, and no row of a list."""
    if isinstance(record.fact, Value):
        return False
    return record.at is not None or all(field.loose for field in record.fields)


def _subjects(call: CallView) -> frozenset[str]:
    """The things that a call's records are about."""
    return frozenset(record.subject or str(record.place) for record in call.records)


Counted = tuple[str, frozenset[int]]


def _is_them(clause: Clause, place: int, counted: frozenset[int]) -> bool:
    """Whether "all 3" says how many were counted; in Chinese 都 says it of what was just counted."""
    if _ranges_back(clause.tokens, place) and not any(map(_says, clause.tokens[:place])):
        return True
    behind = clause.tokens[place + 1 : place + 3]
    return any(token.stated is not None and token.stated.number == len(counted) for token in behind)


def _twice(clause: Clause, binding: Binding) -> bool:
    """Whether a record gives one of the clause's numbers for the part and for the whole."""
    numbers = {token.stated.number for token in clause.tokens if token.stated is not None}
    for record in binding.records():
        held = [field.number for field in record.fields if field.number in numbers]
        names = {field.name for field in record.fields if field.number in numbers}
        if len(held) > 1 and (len(names) > 1 or binding.call.id == TOLD) and len(set(held)) == 1:
            return True
    return False


def holds_for_none(clause: Clause, binding: Binding, desk: Desk, counted: Counted) -> bool:
    """ "no request to a or b was": none of those that were just counted holds one of the names."""
    if counted[0] != binding.call.id or not counted[1] or not clause.subjects:
        return False
    return not any(desk.places(binding.call, token) & counted[1] for token in clause.subjects)


def _says(token: Token) -> bool:
    return token.kind in {Kind.NAME, Kind.QUOTE} or (
        token.kind is Kind.WORD and token.role is Role.CONTENT
    )


def _value(clause: Clause, token: Token) -> bool:
    """Whether a number is what is said of each: "code 404", and not "14 and 13 times"."""
    place = clause.tokens.index(token)
    return names_thing(clause.tokens, place) and token.kind is Kind.NUMBER


def _ranges_back(tokens: tuple[Token, ...], place: int) -> bool:
    """Whether a Chinese "all" ranges over what stands before it; 全部 may also stand before."""
    low = tokens[place].text
    if low not in _BACKWARD_ZH:
        return False
    return low[0] in "都均皆各" or any(_says(token) for token in tokens[:place])


def _sides(clause: Clause, place: int) -> tuple[list[Token], list[Token]]:
    """The words that say over what ("each unhealthy target"), and the rest of the clause.

    In Chinese 都 and 均 stand behind what they range over.
    """
    tokens = clause.tokens
    if _ranges_back(tokens, place):
        return list(tokens[:place]), list(tokens[place + 1 :])
    ranged: list[Token] = []
    end = place + 1
    for token in tokens[place + 1 :]:
        if token.kind in {Kind.SIGN, Kind.MOMENT} or token.text.casefold() in _STOPS - {
            "the",
            "of",
        }:
            break
        if len(ranged) >= _RANGE_WORDS_MAX or (ranged and _is_predicate(token)):
            break
        if ranged and token.text.casefold() == "the" and ranged[-1].text.casefold() != "of":
            break
        if token.kind is not Kind.NUMBER:
            ranged.append(token)
        end += 1
    return ranged, [*tokens[:place], *tokens[end:]]


def _is_predicate(token: Token) -> bool:
    """Whether a word begins what is said of the things, and no longer says which."""
    low = token.text.casefold()
    return token.kind is Kind.WORD and (low.endswith("ed") or low in VERBS or claims(token))


def _told(clause: Clause, binding: Binding, place: int) -> bool:
    """A told sentence speaks of all only where it says so itself, or gives the same count."""
    tokens = clause.tokens
    numbers = {token.stated.number for token in tokens[place : place + 3] if token.stated}
    for record in binding.records():
        stems = record.stems
        if stems & EVERY or any(word in record.text for word in _EVERY_ZH):
            return True
        if numbers and numbers & {field.number for field in record.fields}:
            return True
    return False


def holds_for_only(desk: Desk, clause: Clause, binding: Binding) -> bool:
    """Whether no other record of the same shape holds what is said only of the clause's names."""
    if binding.call.id == TOLD:
        return not _is_one(clause) and any(
            "only" in record.stems or "仅" in record.text or "只" in record.text
            for record in binding.records()
        )
    if _is_amount(clause) and not _is_one(clause):
        return True
    call = binding.call
    if call.call.envelope.truncated:
        return False
    spoken = (*clause.subjects, *listed_words(desk, clause))
    names = [desk.places(call, token) for token in spoken if desk.places(call, token)]
    if any(len(found) == len(call.records) for found in names):
        return False
    if _is_one(clause):
        return _counts_one(desk, clause, binding)
    said = [
        desk.places(call, token) for token in clause.tokens
        if token.kind is Kind.WORD and token.role is Role.CONTENT and token not in spoken
        and 0 < len(desk.places(call, token)) < len(call.records)
    ]  # fmt: skip
    if not names or not said:
        return any(token.stated is not None for token in clause.tokens)
    return frozenset.intersection(*said) <= frozenset().union(*names)


_ONES: Final = frozenset("one single 一 1 一个 一条 一次 一台".split())


def _is_one(clause: Clause) -> bool:
    """Whether "only" is said of how many: only one, 只有一个."""
    place = only_of(clause)
    behind = clause.tokens[place + 1 : place + 2] if place is not None else ()
    return any(token.text.casefold() in _ONES for token in behind)


def _is_amount(clause: Clause) -> bool:
    """Whether "only" weighs the number behind it ("only 3.9G"), which is checked by itself."""
    place = only_of(clause)
    behind = clause.tokens[place + 1 : place + 2] if place is not None else ()
    return any(token.kind is Kind.NUMBER for token in behind)


def _counts_one(desk: Desk, clause: Clause, binding: Binding) -> bool:
    """Whether one item alone holds what the clause says."""
    call = binding.call
    said = [
        desk.places(call, token) for token in binding.held
        if 0 < len(desk.places(call, token)) <= len(call.records)
    ]  # fmt: skip
    if not said:
        return False
    holding = frozenset.intersection(*said) - call.frames
    return len({place for place in holding if call.records[place].shape != "report"}) == 1
