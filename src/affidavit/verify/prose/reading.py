"""Does a stretch of a sentence say what stands in a table, and nothing else?

Every word of it has to be accounted for: it picks rows, names a column of which something is given,
or ties others together. What is left is compared cell by cell: each number has to be the number of
the column that it is named by, in every row that is picked; or how many those rows are; or what
they come to. A stretch that is read whole is proved; anything else is for the other rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from affidavit.verify.prose.amounts import amounts_of
from affidavit.verify.prose.owning import is_of_rows
from affidavit.verify.prose.picking import TIES, Meaning, Means, meanings
from affidavit.verify.prose.stretches import Amounts, Said, Stretch
from affidavit.verify.prose.tables import Table
from affidavit.verify.prose.tokens import Kind

READINGS_MAX: Final = 48
"""Ways to read one stretch; a longer one is left to the other rules."""


Parts = tuple[Meaning, ...]
Picked = dict[frozenset[str], list[tuple[int, frozenset[int]]]]


def read(stretch: Stretch) -> Said | None:
    """What a stretch says that its table holds; None where some of it stands nowhere."""
    options = [
        meanings(stretch.desk, stretch.table, stretch.tokens, place)
        for place in range(len(stretch.tokens))
    ]
    if not all(options):
        return None
    for tried, parts in enumerate(product(*options)):
        if tried >= READINGS_MAX:
            return None
        found = _hold(stretch, parts)
        if found is not None:
            return found
    return None


def _hold(stretch: Stretch, parts: Parts) -> Said | None:
    if any(part.means is Means.DENIES for part in parts):
        turned = _turned(stretch, parts)
        return None if turned is None else _hold(stretch, turned)
    goes_on = bool(stretch.said.picked)
    if not is_of_rows(stretch.table, stretch.tokens, parts, goes_on=goes_on):
        return None
    for picked in _ways(stretch, parts):
        rows = _joint(stretch, parts, picked)
        if not rows:
            continue
        found = _agree(stretch, parts, picked, rows)
        if found is not None and _is_only(stretch, parts, picked, rows):
            return found
    return None


def _is_only(stretch: Stretch, parts: Parts, picked: Picked, rows: frozenset[int]) -> bool:
    """Whether, where the words say "only", no other row could stand for the named ones."""
    if not any(part.means is Means.ONLY for part in parts):
        return True
    named = next((columns for columns in picked if columns & stretch.table.keys), None)
    tells = any(
        part.means is Means.NUMBER or (part.means is Means.ROWS and part.columns != named)
        for part in parts
    )
    if named is None or not tells or not stretch.table.is_whole or len(stretch.table.lines) < 2:
        return False
    for row in stretch.table.everything - rows:
        other = {**picked, named: [(place, frozenset({row})) for place, _ in picked[named][:1]]}
        held = _joint(stretch, parts, other)
        if held and _agree(stretch, parts, other, held) is not None:
            return False
    return True


def _ways(stretch: Stretch, parts: Parts) -> Iterator[Picked]:
    """What picks the rows: the stretch's own words with those before, or its own alone."""
    own: Picked = {}
    for place, part in enumerate(parts):
        if part.means is Means.ROWS:
            own.setdefault(part.columns, []).append((place, part.rows))
    own = _merged(own)
    before = {
        columns: [(-1, rows)]
        for columns, rows in stretch.said.picked.items()
        if not any(columns & mine for mine in own)
    }
    if before:
        yield {**before, **own}
    if not before or any(columns & stretch.table.keys for columns in own):
        yield own


def _merged(own: Picked) -> Picked:
    """Words of one column together, where some of them might also be another's."""
    merged: Picked = {}
    for columns, found in own.items():
        same = next((other for other in merged if other & columns), None)
        if same is None:
            merged[columns] = list(found)
        else:
            merged[same & columns] = [*merged.pop(same), *found]
    return merged


def _joint(stretch: Stretch, parts: Parts, picked: Picked) -> frozenset[int]:
    """The rows that every column's words pick; each of several words has to have some of them."""
    base = stretch.table.everything
    if any(part.means is Means.OTHERS for part in parts):
        if not stretch.said.rows:
            return frozenset()
        base = (stretch.said.domain or base) - stretch.said.rows
        picked = {columns: found for columns, found in picked.items() if found[0][0] >= 0}
    for found in picked.values():
        base &= frozenset().union(*(rows for _, rows in found))
    for found in picked.values():
        words: dict[int, frozenset[int]] = dict(found)
        apart = [rows & base for rows in words.values()]
        if not all(apart):
            return frozenset()
        if len(apart) > 1 and not _is_list(stretch, tuple(words)):
            joined = frozenset.intersection(*apart)
            if not joined:
                return frozenset()
            base &= joined
    return base


_JOINS: Final = frozenset("and or , 、 和 与 及 以及 /".split())


def _is_list(stretch: Stretch, places: tuple[int, ...]) -> bool:
    """Whether some words are listed: nothing but joints and numbers of theirs between them."""
    for one, two in zip(places, places[1:], strict=False):
        between = stretch.tokens[one + 1 : two]
        if not any(token.text.casefold() in _JOINS for token in between):
            return False
    return True


def _agree(stretch: Stretch, parts: Parts, picked: Picked, rows: frozenset[int]) -> Said | None:
    """What is said where every moment, number, quantity word and column name holds of the rows."""
    order = tuple(
        (place, found) for items in picked.values() if len(items) > 1
        and _is_list(stretch, tuple(place for place, _ in items))
        for place, found in items
    )  # fmt: skip
    order = order or tuple((-1, found) for found in stretch.said.order)
    amounts = amounts_of(Amounts(stretch, parts, rows, order))
    if amounts is None:
        return None
    rows = amounts.rows
    if not _holds_of_all(stretch, parts, picked, rows):
        return None
    if any(part.means is Means.SUMS for part in parts) and not amounts.sums:
        return None
    columns = amounts.columns | frozenset().union(*picked)
    for part in parts:
        if part.means is Means.COLUMN and part.must and not part.columns & columns:
            return None
    if any(part.means is Means.ALL for part in parts) and not _is_all(stretch, parts, rows):
        return None
    own = [columns for columns, found in picked.items() if found[0][0] >= 0]
    claims = amounts.claims or len(own) > 1 or (bool(own) and len(picked) > len(own))
    return Said(
        picked={
            columns: frozenset().union(*(found for _, found in items))
            for columns, items in picked.items()
        },
        rows=rows,
        domain=amounts.domain or _domain(stretch, parts) or rows,
        columns=amounts.columns or stretch.said.columns,
        numbers=(*stretch.said.numbers, *amounts.numbers),
        frame=amounts.frame or stretch.said.frame,
        claims=claims,
        order=tuple(found for _, found in order),
        counted=amounts.counted,
    )


def _holds_of_all(stretch: Stretch, parts: Parts, picked: Picked, rows: frozenset[int]) -> bool:
    """Whether what is said of a name holds for every row that it names, unless some are counted."""
    goes_on = stretch.tokens[0].text.casefold() in _VERBS
    if goes_on and stretch.said.counted and not stretch.said.rows <= rows:
        return False
    if any(part.means is Means.NUMBER for part in parts) or stretch.table.series:
        return True
    for columns, found in picked.items():
        if columns & stretch.table.keys:
            return frozenset().union(*(named for _, named in found)) <= rows
    return True


def _is_all(stretch: Stretch, parts: Parts, rows: frozenset[int]) -> bool:
    """Whether what is said holds for every row that a word such as "both" ranges over."""
    if _is_full(stretch, parts, rows):
        return True
    domain = _domain(stretch, parts)
    words = {token.text.casefold() for token in stretch.tokens}
    if words & {"both", "两者"} and len(domain) != 2:
        return False
    return len(domain) > 1 and domain <= rows and stretch.table.is_whole


def _is_full(stretch: Stretch, parts: Parts, rows: frozenset[int]) -> bool:
    """ "all 13 threads active": the one row gives the number for the whole and for the part."""
    at = next(place for place, part in enumerate(parts) if part.means is Means.ALL)
    stated = stretch.tokens[at + 1].stated if at + 1 < len(stretch.tokens) else None
    if stated is None or len(rows) != 1 or len([p for p in parts if p.means is Means.ALL]) > 1:
        return False
    named = frozenset().union(*(part.columns for part in parts if part.means is Means.COLUMN))
    cells = stretch.table.lines[next(iter(rows))].cells
    held = {cell.column for cell in cells if cell.number == stated.number} & named
    least = {
        part.columns & held
        for part in parts
        if part.means is Means.COLUMN and len(part.columns) < 2
    }
    return len(held) > 1 and any(least)


def _domain(stretch: Stretch, parts: Parts) -> frozenset[int]:
    """The rows that a quantity ranges over: those of the words up to the verb, or before 都."""
    start, end = _noun(stretch, parts)
    found = stretch.table.everything
    before = stretch.said.picked
    groups: dict[frozenset[str], frozenset[int]] = {}
    for part in parts[start:end]:
        if part.means is Means.ROWS:
            groups[part.columns] = groups.get(part.columns, frozenset()) | part.rows
    for rows in groups.values():
        found &= rows
    for columns, rows in before.items():
        if columns & stretch.table.keys and not groups:
            found &= rows
    return found


_VERBS: Final = frozenset("is are was were be been have has had do does did".split())


def _noun(stretch: Stretch, parts: Parts) -> tuple[int, int]:
    """From where to where the words say over what a quantity ranges."""
    every = next((at for at, part in enumerate(parts) if part.means is Means.ALL), None)
    if every is not None and not stretch.tokens[every].text.isascii():
        return 0, every
    start = 0 if every is None else every
    verb = next(
        (
            at
            for at in range(start, len(parts))
            if stretch.tokens[at].text.casefold() in _VERBS
            or (stretch.tokens[at].kind is Kind.WORD and stretch.tokens[at].text.endswith("ed"))
            or stretch.tokens[at].text.casefold() in _CARRYING
        ),
        len(parts),
    )
    return start, verb


_CARRYING: Final = frozenset(
    "carry carries show shows report reports list lists give gives hold holds use uses".split()
)


def _turned(stretch: Stretch, parts: Parts) -> Parts | None:
    """The parts with what is denied turned round: "not ready" picks the rows that are not.

    A "no" before a column picks the rows in which it holds nothing. None where it denies anything
    else.
    """
    turned = list(parts)
    for at, part in enumerate(parts):
        if part.means is not Means.DENIES:
            continue
        behind = next(
            (place for place in range(at + 1, len(parts)) if parts[place].means is not Means.TIES),
            None,
        )
        if behind is None or stretch.tokens[at].text.casefold() not in _NO:
            return None
        rows = _without(stretch.table, parts[behind], stretch.tokens[at].text.casefold())
        if not rows:
            return None
        turned[at] = TIES
        turned[behind] = Meaning(Means.ROWS, parts[behind].columns, rows)
    return tuple(turned)


def _without(table: Table, denied: Meaning, word: str) -> frozenset[int]:
    """The rows that hold a column, and not what is denied of it."""
    if len(denied.columns) != 1:
        return frozenset()
    column = next(iter(denied.columns))
    held = {place: line.under(column) for place, line in enumerate(table.lines)}
    known = frozenset(place for place, cells in held.items() if cells)
    if denied.means is Means.COLUMN:
        return frozenset(row for row in known if all(cell.empty for cell in held[row]))
    single = all(len(cells) < 2 for cells in held.values())
    if denied.means is Means.ROWS and word in _NOT and single and table.keys:
        filled = frozenset(row for row in known if held[row][0].low not in {"", "-"})
        return filled - denied.rows
    return frozenset()


_NOT: Final = frozenset({"not", "不", "未"})
_NO: Final = frozenset("no not without none 没有 无 未 不".split())
