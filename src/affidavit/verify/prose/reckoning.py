"""Numbers of a stretch that no cell holds: sums, means, shares, spans of time, steps of a series."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Final

from affidavit.verify.prose.computing import Pool, is_span, ratio_of
from affidavit.verify.prose.picking import SUMMING, Means
from affidavit.verify.prose.stretches import Agreed, Amounts
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.units import Stated, agrees, convert, unit_of
from affidavit.verify.statements.words import stems_of

_PARTING: Final = frozenset("and with against while but or 和 与 而".split())


def phrase_of(given: Amounts, place: int) -> frozenset[str]:
    """The stems of the words around a number, up to the next number, moment or joint."""
    tokens = given.stretch.tokens
    found: set[str] = set()
    for step in (-1, 1):
        at = place + step
        while 0 <= at < len(tokens):
            token = tokens[at]
            if token.kind in {Kind.MOMENT, Kind.SIGN} or given.parts[at].means is Means.NUMBER:
                break
            if token.text.casefold() in _PARTING:
                break
            found |= stems_near(token)
            at += step
    return frozenset(found)


def stems_near(token: Token) -> frozenset[str]:
    """The stems by which a word or a name may be met in a column's name."""
    if token.kind not in {Kind.WORD, Kind.NAME}:
        return frozenset()
    own = token.stems | stems_of(token.text)
    return frozenset(other for word in own for other in kin(word))


def reckoned(given: Amounts, agreed: Agreed, place: int, stated: Stated) -> Agreed | None:
    """What a number that is reckoned adds; None where it is no sum, mean, share, span or step."""
    proved = replace(agreed, numbers=(*agreed.numbers, stated), claims=True)
    if _adds_up(given, agreed, stated):
        return replace(proved, sums=True)
    if _sum(given, agreed, place, stated):
        return replace(proved, sums=len(_meant_rows(given, agreed, place)) > 1)
    if _share(given, agreed, stated):
        return proved
    columns = _span(given, agreed, stated)
    if columns:
        return replace(proved, columns=agreed.columns | columns)
    return agreed if _is_step(given, stated) else None


def _adds_up(given: Amounts, agreed: Agreed, stated: Stated) -> bool:
    """Whether the numbers that were just given come to this one, where the words say so."""
    words = {token.text.casefold() for token in given.stretch.tokens}
    numbers = (*given.stretch.said.numbers, *agreed.numbers)
    if not words & SUMMING or len(numbers) < 2:
        return False
    total = Decimal()
    for item in numbers:
        number = convert(item.number, item.unit, numbers[0].unit)
        if number is None:
            return False
        total += number
    return agrees(stated, total, numbers[0].unit)


def _meant_rows(given: Amounts, agreed: Agreed, place: int) -> frozenset[int]:
    """The rows that are summed: those that are picked, or all of which they are some."""
    before = [token.text.casefold() for token in given.stretch.tokens[max(0, place - 2) : place]]
    return given.stretch.table.everything if "of" in before and agreed.sums else agreed.rows


def _span(given: Amounts, agreed: Agreed, stated: Stated) -> frozenset[str]:
    """The two columns of a row between whose moments so much time lies, both of them named."""
    unit = unit_of(stated.unit) if stated.unit else None
    table = given.stretch.table
    if unit is None or unit.dimension != "time" or len(agreed.rows) != 1:
        return frozenset()
    line = table.lines[next(iter(agreed.rows))]
    dated = {
        cell.column: at for cell in line.cells for moment in cell.moments[:1]
        if (at := moment.instant()) is not None
    }  # fmt: skip
    named = [
        name
        for part in given.parts if part.means is Means.COLUMN
        for name in sorted(part.columns) if name in dated
    ]  # fmt: skip
    named = named or sorted(
        name for name in agreed.columns | given.stretch.said.columns if name in dated
    )
    if len(named) != 2 or named[0] == named[1]:
        return frozenset()
    seconds = Decimal(str((dated[named[0]] - dated[named[1]]).total_seconds()))
    words = {token.text.casefold() for token in given.stretch.tokens}
    if (words & _LATER and seconds < 0) or (words & _EARLIER and seconds > 0):
        return frozenset()
    return frozenset(named) if is_span(stated, abs(seconds)) else frozenset()


_LATER: Final = frozenset({"after"})
_EARLIER: Final = frozenset({"before"})


def _sum(given: Amounts, agreed: Agreed, place: int, stated: Stated) -> bool:
    """Whether a column of the picked rows comes to the number; the column is named, or counts."""
    table = given.stretch.table
    rows = _meant_rows(given, agreed, place)
    if not rows or not table.is_whole or table.series:
        return False
    near = phrase_of(given, place) | frozenset().union(
        *(stems_near(token) for token in given.stretch.tokens)
    )
    for name, words in table.words.items():
        if name != table.counting and not words & near:
            continue
        cells = [cell for row in rows for cell in table.lines[row].under(name)]
        numbers = [cell.number for cell in cells if cell.number is not None]
        if len(numbers) != len(rows) or not cells:
            continue
        if agrees(stated, sum(numbers, Decimal()), cells[0].unit):
            return True
    return False


def _share(given: Amounts, agreed: Agreed, stated: Stated) -> bool:
    """Whether a share or a multiple is that of two numbers that were just given."""
    unit = unit_of(stated.unit) if stated.unit else None
    if unit is None or unit.dimension != "ratio":
        return False
    pool = Pool((*given.stretch.said.numbers, *agreed.numbers))
    return ratio_of(stated, pool, Decimal(100) if stated.unit != "ratio" else Decimal(1))


_STEPS: Final = frozenset("period step interval resolution granularity bucket".split())


def _is_step(given: Amounts, stated: Stated) -> bool:
    """Whether a span of time is the step of a series: "in the five minutes from 18:00"."""
    unit = unit_of(stated.unit) if stated.unit else None
    if unit is None or unit.dimension != "time" or not given.stretch.table.series:
        return False
    moments = sorted({line.at for line in given.stretch.table.lines if line.at is not None})
    gaps = {later - one for one, later in zip(moments, moments[1:], strict=False)}
    return len(gaps) == 1 and agrees(stated, Decimal(str(next(iter(gaps)).total_seconds())), "s")
