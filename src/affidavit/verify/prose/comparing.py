"""Numbers in a relation: "below 5", "above its limit of 5"."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from affidavit.verify.prose.figures import Figure
from affidavit.verify.statements.words import stem


def compares(left: Decimal, operator: str, right: Decimal) -> bool:
    """Whether two numbers stand in a relation other than equality."""
    match operator:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


def names_limit(figure: Figure) -> bool:
    """Whether the number is that of a limit that the clause names: "exceeds its deadline of 2.5 s"."""
    tokens, place = figure.clause.tokens, figure.place
    near = (*tokens[max(0, place - 4) : place], *tokens[place + 1 : place + 3])
    return any(token.stems & LIMITS or token.text in _LIMITS_ZH for token in near)


LIMITS: Final = frozenset(
    stem(word)
    for word in "limit threshold maximum minimum max min deadline timeout quota capacity budget cap "
    "ceiling target bound".split()
)
_LIMITS_ZH: Final = frozenset("上限 下限 阈值 配额 容量 限制 超时 截止".split())
