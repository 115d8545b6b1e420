"""most, several, half: how many without a number, counted all the same.

What the words behind the quantity name is counted, and of that what the rest of the clause says. A
vague number that cannot be counted ("thousands of errors", 数百万) is one that nothing holds.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.desk import TOLD, Desk
from affidavit.verify.prose.lexicon import SCALES, VAGUE, Role
from affidavit.verify.prose.quantifiers import EVENTS, may_range
from affidavit.verify.prose.tokens import Kind, Token

_MOST: Final = frozenset("most majority 大多数 多数 大部分 绝大多数 绝大部分".split())
_SOME: Final = frozenset("several multiple many various numerous 多个 多条 若干 许多".split())
_SHARES: Final = {
    "half": Decimal("0.5"), "一半": Decimal("0.5"), "半数": Decimal("0.5"), "third": Decimal(1) / 3,
    "三分之一": Decimal(1) / 3, "thirds": Decimal(2) / 3, "三分之二": Decimal(2) / 3,
    "quarter": Decimal("0.25"), "四分之一": Decimal("0.25"), "quarters": Decimal("0.75"),
}  # fmt: skip
_STOPS: Final = frozenset(
    "of the is are was were be have has had in on at by to from 的 了 为 是 都 被 个 条".split()
)
RANGED_MAX: Final = 3
"""Words behind a quantity that say of what."""


def unproved(desk: Desk, clause: Clause, bindings: list[Binding]) -> str:
    """The vague quantity that no call bears out; or nothing."""
    for place, token in enumerate(clause.tokens):
        if not _is_vague(clause, place):
            continue
        if any(desk.places(item.call, token) for item in bindings if item.call.id != TOLD):
            continue
        if not any(_holds(desk, clause, place, item) for item in bindings):
            return token.text
    return ""


def _is_vague(clause: Clause, place: int) -> bool:
    token = clause.tokens[place]
    low = token.text.casefold()
    if token.kind is not Kind.WORD:
        return False
    before = clause.tokens[place - 1].text.casefold() if place else ""
    if low == "most":
        behind = clause.tokens[place + 1].text.casefold() if place + 1 < len(clause.tokens) else ""
        return before not in {"at", "the"} and not behind.endswith("ly") and behind != "recent"
    if low in SCALES and low.isascii():
        return True
    return (low in VAGUE and token.role is not Role.ORDINAL) or (low == "third" and before == "a")


def _holds(desk: Desk, clause: Clause, place: int, binding: Binding) -> bool:
    """Whether the records that the quantity ranges over hold the rest in that measure."""
    word = clause.tokens[place].text.casefold()
    if binding.call.id == TOLD or not (word in _MOST or word in _SOME or word in _SHARES):
        return False
    ranged = _ranged(clause, place)
    if word not in _SOME and not any(
        token.role is Role.CONTENT or token.stems & EVENTS for token in ranged
    ):
        return False
    if not may_range(desk, binding, ranged) or any(
        token.role is Role.CONTENT and token not in binding.held for token in ranged
    ):
        return False
    domain, holding = _counted(desk, clause, place, binding)
    if word in _SOME:
        return len(holding) > 1
    if len(domain) < 2 or binding.call.call.envelope.truncated:
        return False
    share = Decimal(len(holding)) / len(domain)
    return share > Decimal("0.5") if word in _MOST else abs(share - _SHARES[word]) < Decimal("0.02")


def _counted(
    desk: Desk, clause: Clause, place: int, binding: Binding
) -> tuple[frozenset[int], frozenset[int]]:
    """The records of the kind that is counted, and those of them that the clause speaks of."""
    call = binding.call
    ranged = _ranged(clause, place)
    single = frozenset(
        record.place for record in call.records
        if record.shape != "report" and record.place not in call.frames
    )  # fmt: skip
    best = frozenset().union(*binding.best) & single
    shapes = {call.records[at].shape for at in best}
    domain = frozenset(at for at in single if call.records[at].shape in shapes)
    for token in ranged:
        domain = domain & desk.places(call, token) or domain
    said = [
        desk.places(call, token) for token in binding.held
        if token not in ranged and token is not clause.tokens[place]
    ]  # fmt: skip
    if not said:
        return domain, frozenset()
    holding = frozenset.intersection(*said) & domain
    for token in clause.of(Kind.NUMBER):
        if token.stated is not None and not token.spelled:
            holding = frozenset(
                at for at in holding
                if any(item.number == token.stated.number for item in call.records[at].fields)
            )  # fmt: skip
    return domain, holding


def _ranged(clause: Clause, place: int) -> tuple[Token, ...]:
    found: list[Token] = []
    for token in clause.tokens[place + 1 :]:
        if token.text.casefold() in _STOPS and not found:
            continue
        if (
            len(found) >= RANGED_MAX
            or token.text.casefold() in _STOPS
            or token.kind is not Kind.WORD
            or token.role is Role.NEGATION
        ):
            break
        found.append(token)
    return tuple(found)
