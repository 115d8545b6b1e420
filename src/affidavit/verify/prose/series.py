"""A number out of a series of readings: which of them may stand for it when no moment is given?

Of several readings only the first, the last, the highest and the lowest speak for the series. What
moved "from" a number started there, or was lowest (highest) before; what moved "to" one ended there.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from affidavit.contract.evidence import Value
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.desk import TOLD
from affidavit.verify.prose.figures import Figure, attached_moment
from affidavit.verify.prose.lexicon import Role
from affidavit.verify.prose.tokens import Kind
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.units import Stated, agrees

READINGS_MIN: Final = 3
"""Two readings are two ends."""
_SOME: Final = frozenset(
    "once one sample samples sampled reading readings among such g example least between 其中 一次 例如 曾".split()
)
"""Words that say that one of several readings is meant."""


def may_be_said(figure: Figure, binding: Binding, window: tuple[datetime, datetime] | None) -> bool:
    """Whether a number may stand for a series that the clause speaks of; True where there is none."""
    if binding.call.id == TOLD or attached_moment(figure) is not None or figure.operator != "=":
        return True
    if _SOME & {token.text.casefold() for token in figure.clause.tokens}:
        return True
    if any(token.kind is Kind.MOMENT for token in figure.clause.tokens) and window is None:
        return True
    held = [readings for readings in _series(binding, window) if _holds(figure, readings)]
    if window is not None and window[1].year == datetime.max.year and _goes_on(figure):
        return not held or all(_agrees(figure, field) for one in held for _, field in one)
    return not held or any(_speaks(figure, readings) for readings in held)


def bounds(
    figure: Figure, binding: Binding, window: tuple[datetime, datetime] | None
) -> bool | None:
    """Whether the number is an end of a range that a series of the window keeps and reaches.

    "stayed between 398 and 421": the lowest reading is the one end, and the highest the other.
    None where the clause tells no range, or no series that holds an end of it.
    """
    ends = _range_of(figure)
    if ends is None or binding.call.id == TOLD:
        return None
    low, high = ends
    said: bool | None = None
    for readings in _series(binding, window):
        fields = sorted((field for _, field in readings), key=lambda field: field.number or 0)
        if _is(low, fields[0]) and _is(high, fields[-1]):
            return True
        if any(_is(low, field) or _is(high, field) for field in fields):
            said = False
    return said


_RANGING: Final = frozenset(
    "stay stayed stays staying remain remained remains lie lies lay vary varied varies range ranged "
    "ranges ranging oscillate oscillated oscillates fluctuate fluctuated fluctuates keep kept hover "
    "hovered hovers move moved was were is 保持 维持 介于 处于 波动 稳定".split()
)


def _range_of(figure: Figure) -> tuple[Stated, Stated] | None:
    """The two ends of the range that a number bounds; none where something moves between them."""
    tokens, place = figure.clause.tokens, figure.place
    if figure.clause.has(Role.UP, Role.DOWN) or not any(
        token.text.casefold() in _RANGING for token in tokens[:place]
    ):
        return None
    first = (
        place if place + 2 < len(tokens) and tokens[place + 2].kind is Kind.NUMBER else place - 2
    )
    if first < 1:
        return None
    joint, before = tokens[first + 1].text.casefold(), tokens[first - 1].text.casefold()
    if (before, joint) not in _RANGE_WORDS:
        return None
    low, high = tokens[first].stated, tokens[first + 2].stated
    if low is None or high is None:
        return None
    unit = low.unit or high.unit
    return Stated(low.number, low.unit or unit, low.about), Stated(high.number, unit, high.about)


_RANGE_WORDS: Final = frozenset(
    {("between", "and"), ("from", "to"), ("在", "到"), ("在", "至"), ("在", "和"), ("在", "与"),
     ("介于", "和"), ("介于", "与"), ("于", "到"), ("于", "至")}
)  # fmt: skip


def _is(stated: Stated, field: Field) -> bool:
    """Whether a reading is the stated number; a rate is not told from a count by its name here."""
    unit = stated.unit if field.unit else ""
    return field.number is not None and agrees(
        Stated(stated.number, unit, stated.about), field.number, field.unit
    )


def _goes_on(figure: Figure) -> bool:
    """Whether a clause gives one number for all the time since a moment."""
    numbers = [token for token in figure.clause.tokens if token.kind is Kind.NUMBER]
    moves = figure.clause.has(Role.UP, Role.DOWN)
    return len(numbers) == 1 and not moves


def _series(
    binding: Binding, window: tuple[datetime, datetime] | None
) -> list[list[tuple[datetime, Field]]]:
    """The readings of each signal in order; signals of fewer than three readings are none."""
    found: dict[tuple[str, str], list[tuple[datetime, Field]]] = {}
    for record in binding.wider():
        field = _reading(record)
        if field is None or record.at is None:
            continue
        if window is None or window[0] <= record.at <= window[1]:
            found.setdefault((record.subject, field.name), []).append((record.at, field))
    return [
        sorted(readings, key=lambda item: item[0])
        for readings in found.values()
        if len(readings) >= READINGS_MIN
    ]


def _reading(record: RecordView) -> Field | None:
    if not isinstance(record.fact, Value) or not record.fields:
        return None
    field = record.fields[0]
    return field if field.number is not None else None


def _agrees(figure: Figure, field: Field) -> bool:
    return field.number is not None and agrees(figure.stated, field.number, field.unit)


def _holds(figure: Figure, readings: list[tuple[datetime, Field]]) -> bool:
    return any(_agrees(figure, field) for _, field in readings)


def _speaks(figure: Figure, readings: list[tuple[datetime, Field]]) -> bool:
    fields = [field for _, field in readings]
    ordered = sorted(fields, key=lambda field: field.number or 0)
    before = figure.clause.tokens[figure.place - 1].text.casefold() if figure.place else ""
    ends = [ordered[0], ordered[-1]]
    if before not in {"to", "到", "至"}:
        ends.append(fields[0])
    if before not in {"from", "从"}:
        ends.append(fields[-1])
    return any(_agrees(figure, field) for field in ends)
