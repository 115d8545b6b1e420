"""Is a number computed from bound ones? Shares, ratios, differences, sums, spans of time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from affidavit.verify.prose.figures import Figure
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.tokens import Kind
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.units import Stated, agrees, convert, unit_of


@dataclass(frozen=True, slots=True)
class Pool:
    """Numbers and moments that are bound already, to compute with.

    `last` are the moments of the sentence right before: "two seconds later" may start from them.
    """

    numbers: tuple[Stated, ...] = ()
    moments: tuple[datetime, ...] = ()
    last: tuple[datetime, ...] = ()


_SUMMING: Final = frozenset("total together sum altogether combined 合计 共 总共 一共 共计".split())
_DIFFERING: Final = frozenset("difference more less fewer by gap apart 差 相差 多 少".split())
POOL_MAX: Final = 60
"""Numbers to compute with; pairs of more would meet any number by chance."""
SPAN_SLACK: Final = Decimal("0.02")
"""A span is known to the second; one stated in hours may be off by its rounding, not by half of it."""


def is_difference(figure: Figure) -> bool:
    """Whether the number says by how much something moved ("by 25.3"), and is no reading."""
    tokens, place = figure.clause.tokens, figure.place
    if not place or tokens[place - 1].text.casefold() != "by":
        return False
    return any(
        token.kind is Kind.WORD
        and (token.role in {Role.UP, Role.DOWN} or token.text.casefold() in _DIFFERING - {"by"})
        for token in tokens[:place]
    )


def is_share(figure: Figure) -> bool:
    """Whether the number is a share, which may be read as it is or computed from two others."""
    unit = unit_of(figure.stated.unit) if figure.stated.unit else None
    return unit is not None and unit.dimension == "ratio"


def is_multiple(figure: Figure) -> bool:
    """Whether the number says how many times something is something else."""
    after = figure.clause.tokens[figure.place + 1 : figure.place + 3]
    words = [token.text.casefold() for token in after]
    if (
        figure.token.text.casefold() in {"twice", "thrice"}
        or _is_fold(figure.token.text)
        or figure.stated.unit in {"x", "×"}
    ):
        return True
    if words[:1] == ["倍"] or words[:1] == ["fold"]:
        return True
    return words[:1] == ["times"] and words[1:2] in (["the"], ["as"], ["that"], ["its"], ["more"])


def _is_fold(text: str) -> bool:
    """Whether a number is written as a multiple: "tenfold"."""
    return text.casefold().endswith("fold")


def by_computing(figure: Figure, pool: Pool, records: tuple[RecordView, ...]) -> bool:
    """Whether the number is a share, a ratio, a difference, a sum or a span of bound ones."""
    stated = figure.stated
    words = {token.text.casefold() for token in figure.clause.tokens}
    unit = unit_of(stated.unit) if stated.unit else None
    if unit is not None and unit.dimension == "ratio":
        return ratio_of(stated, pool, Decimal(100) if stated.unit != "ratio" else Decimal(1))
    if is_multiple(figure):
        about = stated.about or figure.token.text.casefold() == "twice"
        return ratio_of(Stated(stated.number, "", about), pool, Decimal(1))
    if unit is not None and unit.dimension == "time":
        return _span(figure, pool, records, spoken=bool(words & _SPANNING))
    if is_difference(figure):
        return _difference(stated, pool)
    if words & _SUMMING:
        return _sum(stated, pool)
    return bool(words & _DIFFERING) and _difference(stated, pool)


def ratio_of(stated: Stated, pool: Pool, scale: Decimal) -> bool:
    """Whether a number is one of the pool's over another; `scale` is 100 for per cent."""
    numbers = pool.numbers[-POOL_MAX:]
    for left in numbers:
        for right in numbers:
            base = convert(right.number, right.unit, left.unit)
            if base is None and "" in {left.unit, right.unit}:
                base = _bare(left, right)
            if left is right or base is None or base == 0:
                continue
            if agrees(Stated(stated.number, "", stated.about), left.number / base * scale, ""):
                return True
    return False


def _bare(left: Stated, right: Stated) -> Decimal | None:
    """A number without a unit beside one of bytes counts bytes, as a limit of so many does."""
    unit = unit_of(left.unit or right.unit)
    is_base = unit is not None and unit.dimension == "bytes" and unit.factor == 1
    return right.number if is_base else None


def _difference(stated: Stated, pool: Pool) -> bool:
    numbers = pool.numbers[-POOL_MAX:]
    return any(
        left is not right
        and (other := convert(right.number, right.unit, left.unit)) is not None
        and agrees(stated, left.number - other, left.unit)
        for left in numbers
        for right in numbers
    )


def _sum(stated: Stated, pool: Pool) -> bool:
    numbers = pool.numbers[-POOL_MAX:]
    for start, first in enumerate(numbers):
        total = first.number
        for item in numbers[start + 1 :]:
            other = convert(item.number, item.unit, first.unit)
            if other is None:
                break
            total += other
            if agrees(stated, total, first.unit):
                return True
    return False


def _span(figure: Figure, pool: Pool, records: tuple[RecordView, ...], *, spoken: bool) -> bool:
    """A time between two moments: of one record, or one that was told and one of the records.

    Where a record gives lengths of time itself, they are what counts, unless the clause says that
    it looks from one moment to another ("later", 相隔).
    """
    stated = figure.stated
    given = any(
        field.number is not None and not field.loose and field.unit and _is_time(field.unit)
        for record in records
        for field in record.fields
    )
    if given and not spoken:
        return False
    side = _side_of(figure)
    for record in records:
        if _apart(stated, record.moments, record.moments):
            return True
    if side:
        here = tuple(moment for record in records for moment in record.moments)
        told = (*pool.last, *pool.moments)
        left, right = (told, here) if side == "later" else (here, told)
        return _apart(stated, left, (*right, *told))
    near = tuple(moment for record in records for moment in record.moments)
    return _apart(stated, pool.moments, (*pool.moments, *near))


def _side_of(figure: Figure) -> str:
    """Whether a span says on which side of what was told before the clause's own record stands.

    "seven seconds earlier it had aborted", 3 秒后: the word right behind the span says it.
    """
    behind = [token.text.casefold() for token in figure.clause.tokens[figure.place + 1 :][:2]]
    if not behind or (behind[0] not in _EARLIER and behind[0] not in _LATER):
        return ""
    if behind[0] in {"before", "after"} and behind[1:] not in (
        [],
        [","],
        ["that"],
        ["this"],
        ["it"],
    ):
        return ""
    return "earlier" if behind[0] in _EARLIER else "later"


_EARLIER: Final = frozenset("earlier before previously 前 之前 以前".split())
_LATER: Final = frozenset("later after afterwards 后 之后 以后 随后".split())


def _is_time(unit: str) -> bool:
    known = unit_of(unit)
    return known is not None and known.dimension == "time"


_SPANNING: Final = frozenset(
    "later after before earlier between until till then within apart since ago 后 前 之后 之前 以后 以前 随后 相隔 "
    "间隔 早 晚".split()
)
"""Words that look from one moment to another."""


def _apart(stated: Stated, left: Iterable[datetime], right: Iterable[datetime]) -> bool:
    others = tuple(right)[: POOL_MAX * 4]
    for one in tuple(left)[:POOL_MAX]:
        for other in others:
            seconds = Decimal(str((other - one).total_seconds()))
            if seconds > 0 and is_span(stated, seconds):
                return True
    return False


def is_span(stated: Stated, seconds: Decimal) -> bool:
    """Whether a stated length of time is so many seconds, at the digits it was stated with."""
    if not agrees(stated, seconds, "s"):
        return False
    wanted = convert(stated.number, stated.unit, "s")
    return wanted is not None and abs(wanted - seconds) <= max(Decimal(1), wanted * SPAN_SLACK)
