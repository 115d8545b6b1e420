"""before, after, then, 先…后: is what is said to come first the earlier one?

Each side is found in the evidence as a clause of its own; its time is the moment that it names, or
that of the records that hold it. An order whose sides have no time is one that nothing shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from affidavit.contract.violations import SupportCode
from affidavit.verify.prose.binding import Binding, bind
from affidavit.verify.prose.blaming import blames
from affidavit.verify.prose.clauses import Clause, has_verb
from affidavit.verify.prose.desk import TOLD
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.sheet import Sheet
from affidavit.verify.prose.times import resolve
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.prose.wording import choose
from affidavit.verify.statements.cause import explanation, part_reason
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.words import names_in, stem, stems_of

Tokens = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """Two sides of which the first is said to come before the second; `word` says so."""

    first: Tokens
    second: Tokens
    word: str


_FREE_BEHIND: Final = frozenset(
    "the a an its their this that all at most least about only just 约 大约".split()
)
_THEN: Final = frozenset("then 随后 然后 接着 再 之后 后".split())
_AGES: Final = frozenset(stem(word) for word in "age uptime".split())
_SECONDS: Final[Mapping[str, float]] = MappingProxyType(
    {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
)


def unproved(sheet: Sheet, tokens: Tokens) -> SupportCode | None:
    """The code against an order that a statement tells; None where it holds or tells none."""
    for order in _orders(tokens):
        if _is_told(sheet, tokens, order):
            continue
        if blames(sheet.context.granted.told, order.second, order.first):
            continue  # a proved cause comes before what it caused
        first, second = _times(sheet, order.first), _times(sheet, order.second)
        if not first or not second:
            return SupportCode.STATEMENT_UNPROVED
        if not min(first) < min(second):
            return SupportCode.DIRECTION_REFUTED
    return None


def _orders(tokens: Tokens) -> Iterator[Order]:
    for place, token in enumerate(tokens):
        if token.kind is not Kind.WORD:
            continue
        low, before, behind = token.text.casefold(), tokens[:place], tokens[place + 1 :]
        if low in {"before", "after"}:
            yield from _english(before, behind, low)
        elif low == "then" and has_verb(before) and _tells(before) and _tells(behind):
            yield Order(before, behind, low)
        elif low in {"之前", "以前", "之后", "以后"}:
            yield from _chinese(tokens, place, later=low in {"之后", "以后"})
        elif low in {"早于", "先于", "晚于"} and _tells(before) and _tells(behind):
            sides = (behind, before) if low == "晚于" else (before, behind)
            yield Order(*sides, low)
        elif low == "先":
            yield from _first_then(before, behind)


def _english(before: Tokens, behind: Tokens, word: str) -> Iterator[Order]:
    if not _tells(behind) or _measures(behind):
        return
    before, behind = _near_sides(before, behind)
    if not _tells(before):
        comma = next((at for at, item in enumerate(behind) if item.text == ","), len(behind))
        before, behind = behind[comma + 1 :], behind[:comma]
    sides = (before, behind) if word == "before" else (behind, before)
    yield Order(*sides, word)


_CUTS: Final = frozenset("because since so therefore that and but while whereas , ; :".split())


def _near_sides(before: Tokens, behind: Tokens) -> tuple[Tokens, Tokens]:
    """The statement that an "after" stands in, and the one behind it: "X, because A broke after B"."""
    cuts = [at for at, token in enumerate(before) if token.text.casefold() in _CUTS]
    start = next((at + 1 for at in reversed(cuts) if _is_whole(before[at + 1 :])), 0)
    end = next(
        (
            at for at, token in enumerate(behind)
            if token.text.casefold() in _CUTS and _is_whole(behind[:at])
            and has_verb(behind[at + 1 :])
        ),
        len(behind),
    )  # fmt: skip
    if not _is_whole(before[start:]):
        return before, behind
    return before[start:], behind[:end]


def _is_whole(tokens: Tokens) -> bool:
    """Whether some tokens are a statement: something is told of something."""
    words = [token for token in tokens if token.kind is Kind.WORD]
    ends = len(tokens) > 1 and bool(words) and words[-1] is tokens[-1]
    return _tells(tokens) and (has_verb(tokens) or (ends and words[-1].role is Role.CONTENT))


def _chinese(tokens: Tokens, place: int, *, later: bool) -> Iterator[Order]:
    """「在 B 之前 A」: B stands before the word, from its 在 on, and A around it."""
    start = next(
        (at for at in range(place - 1, -1, -1) if tokens[at].text in {"在", "于", "，", "自"}), -1
    )
    told, rest = tokens[start + 1 : place], (*tokens[: max(start, 0)], *tokens[place + 1 :])
    if not _tells(told) or not _tells(rest) or _measures(told):
        return
    yield Order(told, rest, "之后") if later else Order(rest, told, "之前")


def _first_then(before: Tokens, behind: Tokens) -> Iterator[Order]:
    """「X 先 A，后 B」: both are of X."""
    later = next((at for at, item in enumerate(behind) if item.text in _THEN), len(behind))
    if _tells(behind[:later]) and _tells(behind[later + 1 :]):
        named = tuple(item for item in before if item.kind is Kind.NAME)
        yield Order((*named, *behind[:later]), (*named, *behind[later + 1 :]), "先")


def _tells(tokens: Tokens) -> bool:
    return any(
        token.kind in {Kind.NAME, Kind.QUOTE, Kind.MOMENT}
        or (token.kind is Kind.WORD and token.role in {Role.CONTENT, Role.UP, Role.DOWN})
        for token in tokens
    )


def _measures(behind: Tokens) -> bool:
    """ "after 30 s", "before 14:00", "after try 3": what is measured is for others."""
    for place, token in enumerate(behind):
        if token.kind in {Kind.NUMBER, Kind.MOMENT, Kind.QUOTE}:
            return True
        labels = token.kind is Kind.WORD and any(
            item.kind is Kind.NUMBER for item in behind[place + 1 : place + 2]
        )
        if token.text.casefold() not in _FREE_BEHIND and not labels:
            return False
    return False


def _is_told(sheet: Sheet, tokens: Tokens, order: Order) -> bool:
    """Whether one record says the order itself: in that word, or by explaining one by the other."""
    for item in (*_bound(sheet, tokens), *_bound(sheet, (*order.first, *order.second))):
        for record in item.records():
            if item.call.id == TOLD:
                continue
            if order.word in {"before", "after"} and order.word in record.stems:
                return True
            earlier, later = _forms(order.first), _forms(order.second)
            both = earlier & record.stems and later & record.stems
            if both and _is_explained(
                explanation(record) or record.text, later - earlier, earlier - later
            ):
                return True
    return False


def _is_explained(text: str, later: frozenset[str], earlier: frozenset[str]) -> bool:
    """Whether a record explains the later by the earlier: each stands mostly on its own side."""
    parts = part_reason(text)
    if parts is None:
        return False
    before, behind = (stems_of(part) | names_in(part) for part in parts)
    return len(earlier & behind) > len(later & behind) and len(later & before) > len(
        earlier & before
    )


def _forms(tokens: Tokens) -> frozenset[str]:
    return frozenset(word for token in tokens for word in token.stems | names_in(token.text))


def _bound(sheet: Sheet, tokens: Tokens) -> list[Binding]:
    clause = Clause(tokens)
    found = [item for call in sheet.desk.calls for item in bind(sheet.desk, clause, call)]
    chosen = choose(sheet, clause, found)
    most = max((len(item.held) for item in chosen), default=0)
    return [item for item in chosen if item.held and len(item.held) == most]


def _times(sheet: Sheet, tokens: Tokens) -> list[datetime]:
    """When a side was: at its own moments, or at those of the records that hold it."""
    moments = [token.moment for token in tokens if token.kind is Kind.MOMENT]
    chosen = _bound(sheet, tokens)
    if moments:
        scope = chosen[0].call.call.envelope.scope.window if chosen else None
        others = tuple(
            record.at for call in sheet.desk.calls for record in call.records if record.at
        )
        found = (resolve(moment, scope, others) for moment in moments)
        return [at for at in found if at is not None]
    return [
        at
        for item in chosen
        for record in item.records()
        if (at := _when(item, record)) is not None
    ]


def _when(item: Binding, record: RecordView) -> datetime | None:
    """When a record was; one that gives an age was that long before it was looked at."""
    if record.when is not None or record.moments:
        return record.when or min(record.moments)
    for field in record.fields:
        seconds = _SECONDS.get(field.unit)
        if field.number is not None and field.names & _AGES and seconds is not None:
            past = timedelta(seconds=seconds * float(field.number))
            return item.call.call.envelope.observed_at - past
    return None
