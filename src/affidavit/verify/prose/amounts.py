"""The numbers and moments of a stretch of a sentence, each found in the rows that it picks."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.figures import figures_of, operator_at
from affidavit.verify.prose.lexicon import VERBS, Role
from affidavit.verify.prose.listed import LISTED_MIN, rows_at, run_of
from affidavit.verify.prose.picking import Means
from affidavit.verify.prose.quantities import RATIO_NAMES
from affidavit.verify.prose.reckoning import phrase_of, reckoned, stems_near
from affidavit.verify.prose.stretches import Agreed, Amounts, Stretch
from affidavit.verify.prose.tables import Cell
from affidavit.verify.prose.times import is_of_another
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.moments import Moment, find_moments
from affidavit.verify.statements.select import statistics_in
from affidavit.verify.statements.units import Stated, agrees, convert, named_unit, unit_of
from affidavit.verify.statements.words import parts_of, stem


def amounts_of(given: Amounts) -> Agreed | None:
    """Every moment and every number of a stretch in its rows; None where one stands in none."""
    agreed = _moments(given)
    if agreed is None:
        return None
    for place, part in enumerate(given.parts):
        if part.means is Means.NUMBER:
            found = _number(given, agreed, place)
            if found is None:
                return None
            agreed = found
    return agreed


_EDGES: Final = frozenset("from between to until till since and through 从 至 到 和 自 –".split())


def _moments(given: Amounts) -> Agreed | None:
    """The rows at the moments of a stretch: those of a series, or whose cells hold them."""
    stretch = given.stretch
    own = tuple(token for token in stretch.tokens if token.kind is Kind.MOMENT)
    agreed = Agreed(given.rows, frame=own)
    moments = own or stretch.said.frame
    if stretch.table.series:
        return _in_series(given, agreed, moments)
    together = _dated_each(given, own)
    if together:
        return replace(agreed, columns=agreed.columns | together, claims=True)
    for token in own:
        columns = _dated(given, token)
        if columns:
            agreed = replace(agreed, columns=agreed.columns | columns, claims=True)
        elif not _frames(stretch, token):
            return None
    return agreed


def _in_series(given: Amounts, agreed: Agreed, moments: tuple[Token, ...]) -> Agreed | None:
    """The readings at a moment, or from one moment to another."""
    lines = given.stretch.table.lines
    if not moments:
        return agreed
    if len(moments) == 1 and not _is_edge(given.stretch, moments[0]):
        at = moments[0].moment
        rows = frozenset(
            row for row in agreed.rows if at is not None and lines[row].record.stands_at(at)
        )
        return replace(agreed, rows=rows) if rows else None
    if len(moments) == 2:
        ends = []
        for token in moments:
            ends.append(sorted(
                found for row in agreed.rows
                if (found := lines[row].at) is not None and token.moment is not None
                and token.moment.matches(found)
            ))  # fmt: skip
        if not all(ends):
            return None
        rows = frozenset(
            row for row in agreed.rows
            if (found := lines[row].at) is not None and ends[0][0] <= found <= ends[1][-1]
        )  # fmt: skip
        return replace(agreed, rows=rows) if rows else None
    return None


def _is_edge(stretch: Stretch, token: Token) -> bool:
    """Whether a moment begins a span of no stated end, which is none of a single reading."""
    if token not in stretch.tokens:
        return False
    place = stretch.tokens.index(token)
    before = stretch.tokens[place - 1].text.casefold() if place else ""
    after = stretch.tokens[place + 1].text if place + 1 < len(stretch.tokens) else ""
    if before == "from" and _speaks_of_steps(stretch):
        return False
    return before in {"from", "since", "until", "till", "between", "从", "自"} or after in {
        "起", "之后", "以后", "以来", "之前", "以前", "前",
    }  # fmt: skip


def _speaks_of_steps(stretch: Stretch) -> bool:
    """Whether a stretch speaks of the steps of a series: "in the ten minutes from 13:00"."""
    return any(
        token.text.casefold() in _STEPS
        or (token.stated is not None and (unit := unit_of(token.stated.unit)) is not None
            and unit.dimension == "time")
        for token in stretch.tokens
    )  # fmt: skip


_STEPS: Final = frozenset("those that period periods interval intervals bucket buckets".split())


def _frames(stretch: Stretch, token: Token) -> bool:
    """Whether a moment only says when was looked, or is an end of what was asked."""
    call = stretch.table.call.call
    moment = token.moment
    if moment is None:
        return False
    if moment.matches(call.envelope.observed_at):
        return True
    place = stretch.tokens.index(token)
    before = stretch.tokens[place - 1].text.casefold() if place else ""
    if before not in _EDGES:
        return False
    window = call.envelope.scope.window
    if window and (moment.matches(window.start) or moment.matches(window.end)):
        return True
    return any(moment.is_like(asked) for asked in find_moments(stretch.table.call.about))


def _dated_each(given: Amounts, moments: tuple[Token, ...]) -> frozenset[str]:
    """The one column whose moments in the picked rows are those that are listed, one in each."""
    table = given.stretch.table
    if len(moments) < LISTED_MIN or len(moments) != len(given.rows):
        return frozenset()
    found = set()
    for name in table.words:
        left = [
            held
            for row in given.rows
            for cell in table.lines[row].under(name)
            for held in cell.moments[:1]
        ]
        for token in moments:
            assert token.moment is not None
            same = next((held for held in left if _is_moment(token.moment, held)), None)
            if same is None:
                break
            left.remove(same)
        else:
            found.add(name)
    return frozenset(found)


def _is_moment(moment: Moment, held: Moment) -> bool:
    at = held.instant()
    return moment.matches(at) if at is not None else moment.is_like(held)


def _dated(given: Amounts, token: Token) -> frozenset[str]:
    """The column under which every picked row holds a moment, named by the words before it."""
    table = given.stretch.table
    moment = token.moment
    assert moment is not None
    place = given.stretch.tokens.index(token)
    rows = rows_at(given, place)
    dated: dict[str, bool] = {}
    for row in rows:
        for cell in table.lines[row].cells:
            for held in cell.moments:
                same = _is_moment(moment, held)
                dated[cell.column] = dated.get(cell.column, True) and same
    if not dated or not any(dated.values()):
        return frozenset()
    if len(dated) == 1:
        said = frozenset[str]().union(*(item.stems for item in given.stretch.tokens[:place]))
        records = [table.lines[row].record for row in rows]
        other = any(len(item.dated) == 1 and is_of_another(said, item) for item in records)
        return frozenset() if other else frozenset(dated)
    near = phrase_of(given, place)
    scores = {name: len(near & table.words[name]) for name in dated}
    most = max(scores.values())
    meant = frozenset(name for name, score in scores.items() if score == most)
    return meant if most and len(meant) == 1 and dated[next(iter(meant))] else frozenset()


def _number(given: Amounts, agreed: Agreed, place: int) -> Agreed | None:
    figure = next(
        (
            item
            for item in figures_of(Clause(given.stretch.tokens))
            if item.place == place
        ),
        None,
    )  # fmt: skip
    if figure is None:
        return _one(given, agreed, place)
    stated = figure.stated
    sign = operator_at(given.stretch.tokens, place)
    if sign != "=":
        named = _compared(given, agreed, place, stated, sign)
        return replace(agreed, columns=agreed.columns | {named}, claims=True) if named else None
    column = _cell(given, agreed, place, stated) or _listed(given, agreed, place)
    if column in agreed.columns and len(run_of(given, place)) < LISTED_MIN:
        return None
    if column is not None:
        return replace(
            agreed, columns=agreed.columns | {column}, numbers=(*agreed.numbers, stated),
            claims=True,
        )  # fmt: skip
    counted = _count(given, agreed, place, stated)
    if counted is not None:
        return counted
    return reckoned(given, agreed, place, stated)


_HOLDS: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = MappingProxyType(
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
)


def _compared(given: Amounts, agreed: Agreed, place: int, stated: Stated, sign: str) -> str | None:
    """The column that is named, where every picked row is on the stated side of the number."""
    held = _numbers(given, rows_at(given, place) & agreed.rows)
    name = _meant(given, phrase_of(given, place), held, set(held)) if held else None
    if name is None or sign not in _HOLDS or not _is_statistic(given, place, name):
        return None
    for cell in held[name]:
        assert cell.number is not None
        wanted = stated.unit if stated.unit and unit_of(stated.unit) else cell.unit
        own = cell.unit or named_unit(parts_of(cell.column))
        number = convert(cell.number, own, wanted)
        if number is None or not _HOLDS[sign](number, stated.number):
            return None
    return name


def _listed(given: Amounts, agreed: Agreed, place: int) -> str | None:
    """The column whose values in the picked rows are the numbers that are listed: "61, 64 and 58"."""
    run = run_of(given, place)
    start, end = run[0], run[-1]
    listed = [stated for at in run if (stated := given.stretch.tokens[at].stated) is not None]
    if not LISTED_MIN <= len(listed) == len(agreed.rows) or len(given.order) == len(listed):
        return None
    held = _numbers(given, agreed.rows)
    name = _meant(given, phrase_of(given, start) | phrase_of(given, end), held, set(held))
    if name is None or len(held[name]) != len(listed) or not _is_statistic(given, place, name):
        return None
    left = list(held[name])
    for stated in listed:
        unit = stated.unit or next((item.unit for item in reversed(listed) if item.unit), "")
        found = next((cell for cell in left if _is(replace(stated, unit=unit), cell)), None)
        if found is None:
            return None
        left.remove(found)
    return name


def _one(given: Amounts, agreed: Agreed, place: int) -> Agreed | None:
    """ "one kiln", "one of the four": one row is picked; "a lag of 5 and one of 7" counts nothing."""
    behind = given.stretch.tokens[place + 1 : place + 3]
    if len(behind) > 1 and behind[0].text == "of" and given.parts[place + 2].means is Means.NUMBER:
        return agreed
    if given.stretch.table.series or given.stretch.table.counting is not None:
        return agreed
    many = len(given.stretch.table.lines) > 1
    return agreed if many and len(agreed.rows) == 1 else None


def _cell(given: Amounts, agreed: Agreed, place: int, stated: Stated) -> str | None:
    """The column that the words around a number name, where every picked row holds the number."""
    rows = rows_at(given, place) & agreed.rows
    held = _numbers(given, rows)
    holding = {
        name for name, cells in held.items()
        if len(cells) >= len(rows) and all(_is(stated, cell) for cell in cells)
    }  # fmt: skip
    if not holding:
        return None
    near = phrase_of(given, place)
    name = _meant(given, near, held, holding, with_unit=bool(stated.unit))
    return name if name is not None and _is_statistic(given, place, name) else None


def _numbers(given: Amounts, rows: frozenset[int]) -> dict[str, list[Cell]]:
    """The cells of some rows that hold numbers, by column, without those that name the rows."""
    table = given.stretch.table
    picked = frozenset().union(*(part.columns for part in given.parts if part.means is Means.ROWS))
    held: dict[str, list[Cell]] = {}
    for row in sorted(rows):
        for cell in table.lines[row].cells:
            if cell.number is not None and cell.column not in table.keys | table.ids | picked:
                held.setdefault(cell.column, []).append(cell)
    return held


def _is_statistic(given: Amounts, place: int, name: str) -> bool:
    """Whether a column is of the statistic that the words around a number name, if they name one."""
    table = given.stretch.table
    wanted = statistics_in(phrase_of(given, place) & _all_stems(given, place)) - {"#5", "#6"}
    own = statistics_in(table.words[name]) or statistics_in(table.call.about_stems)
    return not wanted or not own or bool(wanted & own) or _labelled(given, place)


def _labelled(given: Amounts, place: int) -> bool:
    """Whether a statistic's word near a number picked rows itself: it is a label of the series."""
    return any(
        part.means is Means.ROWS and statistics_in(frozenset({stem(token.text)}))
        for token, part in zip(given.stretch.tokens, given.parts, strict=True)
    )


def _all_stems(given: Amounts, place: int) -> frozenset[str]:
    tokens = given.stretch.tokens
    return frozenset(
        stem(token.text) for at, token in enumerate(tokens)
        if at != place and token.kind in {Kind.WORD, Kind.NAME}
    )  # fmt: skip


def _meant(
    given: Amounts,
    near: frozenset[str],
    held: dict[str, list[Cell]],
    holding: set[str],
    *,
    with_unit: bool = False,
) -> str | None:
    """Of the columns that hold a number the one that is named best, by no other better."""
    words = given.stretch.table.words
    tokens = given.stretch.tokens
    wide = frozenset().union(*(stems_near(token) for token in tokens))
    strong = frozenset().union(
        *(stems_near(token) for token in tokens if token.role is Role.CONTENT)
    )
    if not held:
        return None
    for stems in (near, wide):
        scores = {
            name: len(stems & words[name]) + len(stems & strong & words[name]) for name in held
        }
        most = max(scores.values())
        if not most:
            continue
        best = {name for name, score in scores.items() if score == most}
        return next(iter(sorted(best & holding))) if best <= holding else None
    known = given.stretch.said.columns & holding
    if len(known) == 1:
        return next(iter(known))
    unit = {name for name in held if held[name][0].unit == held[min(holding)][0].unit}
    alone = len(unit) == 1 and bool(held[min(holding)][0].unit) and with_unit
    return min(holding) if alone or (len(held) == 1 and given.stretch.table.series) else None


def _is(stated: Stated, cell: Cell) -> bool:
    assert cell.number is not None
    wanted = unit_of(stated.unit) if stated.unit else None
    if stated.number == 0 and cell.number != 0:
        return False
    if wanted is not None and not cell.unit:
        if wanted.dimension == "ratio" and cell.words & RATIO_NAMES:
            return agrees(stated, cell.number, "ratio")
        named = named_unit(parts_of(cell.column))
        return bool(named) and agrees(stated, cell.number, named)
    return agrees(stated, cell.number, cell.unit)


def _whole(stated: Stated) -> bool:
    return not (stated.unit and unit_of(stated.unit)) and (
        stated.number == stated.number.to_integral_value() and not stated.about
    )


def _count(given: Amounts, agreed: Agreed, place: int, stated: Stated) -> Agreed | None:
    """Whether so many rows are picked, or so many are there of which some are."""
    stretch = given.stretch
    table = stretch.table
    if not _whole(stated) or table.series or not table.is_whole:
        return None
    after = stretch.tokens[place + 1] if place + 1 < len(stretch.tokens) else None
    if after is not None and after.kind is Kind.SIGN:
        after = None
    if table.counting is not None or not _is_kind_of_rows(given, place):
        return None
    from_rows = dict(_sizes(given, agreed, place))
    size = from_rows.get("whole") if _is_whole_of(stretch, place) else from_rows.get("picked")
    if size is None or Decimal(len(size)) != stated.number:
        return None
    if _is_whole_of(stretch, place):
        return replace(
            agreed, domain=size, numbers=(*agreed.numbers, stated), claims=True, counted=True
        )
    return replace(agreed, numbers=(*agreed.numbers, stated), claims=True, counted=True)


_ROW_WORDS: Final = frozenset(
    "row rows entry entries result results record records item items line lines times".split()
)


def _is_kind_of_rows(given: Amounts, place: int) -> bool:
    """Whether the noun that is counted is what the table lists: no spans among alerts."""
    behind = given.stretch.tokens[place + 1 : place + 2]
    if not behind or behind[0].kind is not Kind.WORD or not behind[0].text.isascii():
        return True
    noun = behind[0]
    if not noun.text.casefold().endswith("s") or noun.text.casefold() in _ROW_WORDS | VERBS:
        return True
    if given.parts[place + 1].means is not Means.TIES:
        return True
    table = given.stretch.table
    known = table.call.about_stems | frozenset().union(*table.words.values())
    listed = (line.record.stems for line in table.lines)
    return bool(noun.stems & known) or any(noun.stems & stems for stems in listed)


def _is_whole_of(stretch: Stretch, place: int) -> bool:
    """Whether a number says how many there are, of which some are spoken of: "of the four"."""
    before = [token.text.casefold() for token in stretch.tokens[max(0, place - 2) : place]]
    behind = [token.text for token in stretch.tokens[place + 1 : place + 4]]
    return "of" in before or "all" in before or bool({"中", "之中", "里"} & set(behind))


def _sizes(given: Amounts, agreed: Agreed, place: int) -> Iterator[tuple[str, frozenset[int]]]:
    """The rows that are picked, without what only lists them; and those that are ranged over."""
    stretch, table = given.stretch, given.stretch.table
    yield "picked", agreed.rows
    groups: dict[frozenset[str], frozenset[int]] = {}
    for at in range(place + 1, len(stretch.tokens)):
        low = stretch.tokens[at].text.casefold()
        if low in {"is", "are", "was", "were", "have", "has", "had", ","} or (
            given.parts[at].means is Means.NUMBER
        ):
            break
        part = given.parts[at]
        if part.means is Means.ROWS:
            groups[part.columns] = groups.get(part.columns, frozenset()) | part.rows
    domain = table.everything
    for rows in groups.values():
        domain &= rows
    yield "whole", domain
