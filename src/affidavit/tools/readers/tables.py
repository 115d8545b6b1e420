"""Tables in text: psql and MySQL output, markdown, CSV, tabs, and columns aligned by spaces.

Each row is a Row named by its key column; its line stays quotable beside it. A table in long form
(time, entity, metric, value) gives Values as well.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from typing import Final

from affidavit.contract.evidence import Cell, Edge, Fact, Line, Quantity, Row, Value
from affidavit.contract.states import Emitter
from affidavit.tools.readers.bounds import FACT_CHARS_MAX, worth_reading
from affidavit.tools.readers.boxes import (
    RULE,
    TALL_MAX,
    boxes_of,
    is_drawn,
    is_ruled,
    is_title,
    plain,
    unbox,
)
from affidavit.tools.readers.columns import WORD, begins_exactly, cut, fit, spans_of
from affidavit.tools.readers.fields import WORKLOAD_FIELDS, bare_name, unit_of_field
from affidavit.tools.readers.levels import find_level, level_of, weight_of
from affidavit.tools.readers.moments import read_instant
from affidavit.tools.readers.numbers import to_cell
from affidavit.tools.readers.reading import Item, Source, Weight
from affidavit.tools.readers.relations import NAME_CHARS_MAX, relations_of
from affidavit.tools.readers.series import unit_of
from affidavit.tools.readers.words import pieces

COLUMNS_MAX: Final = 100
"""Columns of one table; more is a matrix, not a listing."""

KEY_COLUMNS: Final = (
    "name pod object service host node instance deployment job release pid id rev revision "
    "blocked_pid container filesystem queue topic database user username"
).split()
"""Columns that name their row, the best first; without one, the first text names it."""

TIME_COLUMNS: Final = frozenset(
    "timestamp time ts at date datetime started_at updated created_at start xact_start "
    "first_seen startedat last_seen".split()
)
HOST_COLUMNS: Final = frozenset(
    "PID USER UID COMMAND CMD %CPU %MEM VSZ RSS TTY STAT TIME+ Filesystem Size Used Avail Use% "
    "1K-blocks Available Mounted-on total used free shared buff/cache available swpd cache us sy "
    "id wa st".split()
)
"""Headers of ps, top, df, free and vmstat, whose columns stand one space apart."""

HOST_MIN: Final = 4
"""So many of them make a header; fewer could be a sentence."""

_LABEL: Final = re.compile(r"[A-Z][A-Za-z]{1,12}:\s")
_METRIC_COLUMNS: Final = frozenset("metric metric_name name signal".split())
_TREE: Final = re.compile(r"^[\s│├└─|`+-]{1,100}(?=[A-Za-z])")
_NULLS: Final = frozenset({"", "<none>", "<unset>", "<nil>", "NULL", "null", "n/a", "-", "—"})
_REPEATED: Final = re.compile(r"\(x(\d{1,9}) over ")
_STATEMENT: Final = re.compile(
    r"\s*(?:select|insert|update|delete|with|begin|alter|create|drop|copy|vacuum)\s", re.IGNORECASE
)
_PAIR_HEADS: Final = frozenset({"Type", "Name", "Key", "Resource"})
_FOOTER: Final = re.compile(r"\((\d{1,9}) rows?\)")
_HEADER_CELL: Final = re.compile(r"[A-Z%#(][A-Z0-9 _%()/.:#+-]{0,60}")
_CSV_NAME: Final = re.compile(r"[A-Za-z_@][\w.@ -]{0,60}")


@dataclass(frozen=True, slots=True)
class Block:
    """A table found in a text: its items, and how many lines it took."""

    items: tuple[Item, ...]
    lines: int
    total: int | None = None


@dataclass(frozen=True, slots=True)
class _Columns:
    """A table's header: names, where each begins, and how a line is split into them."""

    names: tuple[str, ...]
    split: Callable[[str], list[str]]


def find_table(source: Source, lines: Sequence[str], start: int) -> Block | None:
    """The table whose header is the line at `start`, or None."""
    for reader in (_piped, _spaced, _aligned, _fixed, _separated):
        block = reader(source, lines, start)
        if block is not None:
            return block
    return None


# --- Pipes: psql, MySQL, markdown -------------------------------------------------------------


def _piped(source: Source, lines: Sequence[str], start: int) -> Block | None:
    """`a | b` over a rule: psql, MySQL, markdown, and boxes whose rows may take several lines."""
    head = start + 1 if is_drawn(lines, start) else start
    under = head
    while under < len(lines) and "|" in plain(lines[under]) and not is_drawn(lines, under):
        under += 1
    tall = under - head
    if not 0 < tall <= TALL_MAX or not is_ruled(lines, under - 1) or is_title(lines, under):
        return None
    boxes = boxes_of(" ".join(map(plain, lines[head:under])))
    names = tuple(name for box in boxes for name, _ in box)
    if not 1 < len(names) <= COLUMNS_MAX or not names[0]:
        return None
    end, rows, held = under + 1, list[str](), list[str]()
    while end < len(lines) and "|" in plain(lines[end]):
        if RULE.fullmatch(plain(lines[end]).strip()):
            held = []
        elif tall == 1:
            rows.append(lines[end])
        else:
            held.append(lines[end])
            rows.extend([" ".join(held)] if len(held) == tall else ())
        end += 1
    if end < len(lines) and is_drawn(lines, end):
        end += 1
    total = None
    footer: tuple[str, ...] = ()
    if end < len(lines) and (found := _FOOTER.match(lines[end].strip())):
        total, footer, end = int(found[1]), (lines[end],), end + 1
    columns = _Columns(names, lambda line: unbox(line, boxes))
    extra = (*lines[start : under + 1], *footer)
    return Block(_items(source, columns, rows, extra), end - start, total)


# --- Columns aligned by spaces, or by tabs ----------------------------------------------------


def _aligned(source: Source, lines: Sequence[str], start: int) -> Block | None:
    header = lines[start]
    spans = spans_of(header)
    names = tuple(header[begin:end].strip() for begin, end in spans)
    if not 1 < len(names) <= COLUMNS_MAX or len(set(names)) < len(names):
        return None
    ruled = start + 1 < len(lines) and _is_rule(lines[start + 1], len(names))
    if not ruled and not all(_HEADER_CELL.fullmatch(name) for name in names):
        following = spans_of(lines[start + 1]) if start + 1 < len(lines) else []
        plain = all(re.fullmatch(r"[A-Z][A-Za-z%() /:._-]{0,40}", name) for name in names)
        enough = len(names) > 2 or names[0] in _PAIR_HEADS
        if not (plain and enough and len(following) >= len(names) - 1) and not _is_named(
            names, spans, lines[start + 1 : start + 1 + ALIGNED_LINES]
        ):
            return None
        if any(name.endswith(":") for name in names):
            return None
    indent = len(header) - len(header.lstrip())
    columns = _Columns(names, lambda line: cut(line, spans))
    end = start + (2 if ruled else 1)
    rows: list[str] = []
    while end < len(lines) and lines[end].strip():
        line = lines[end]
        outdented = len(line) - len(line.lstrip()) < indent
        if outdented or len(spans_of(line)) < 2:
            break
        rows.append(line)
        end += 1
    if not rows:
        return None
    return Block(
        _items(source, columns, rows, lines[start : start + (2 if ruled else 1)]), end - start
    )


def _is_named(names: Sequence[str], spans: Sequence[tuple[int, int]], below: Sequence[str]) -> bool:
    """Whether plain names stand over columns: each text below begins or ends where a name does.

    Two names over one line could be two words; they need a second line that says the same.
    """
    rows = [line for line in below if line.strip()]
    if not all(_PLAIN_NAME.fullmatch(name) for name in names) or not rows:
        return False
    if len(names) < 3 and len(rows) < 2:
        return False
    starts, ends = {begin for begin, _ in spans}, {end for _, end in spans}
    for line in rows:
        found = spans_of(line)
        fitting = sum(1 for begin, end in found if begin in starts or end in ends)
        if len(found) < 2 or fitting < len(found):
            return False
    return True


ALIGNED_LINES: Final = 3
"""Lines below a header of plain names that have to stand in its columns."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z%][\w.%()/:-]{0,40}(?: [A-Za-z][\w.%()/:-]{0,40}){0,2}")


def _is_rule(line: str, columns: int) -> bool:
    return line.count("-") >= columns and bool(re.fullmatch(r"[-= \t]{3,4000}", line.strip()))


def _fixed(source: Source, lines: Sequence[str], start: int) -> Block | None:
    """Columns of one-word names, some one space apart, over words that stand below them."""
    heads = [found.span() for found in WORD.finditer(lines[start])]
    names = tuple(lines[start][begin:end] for begin, end in heads)
    if not FIXED_MIN <= len(names) <= COLUMNS_MAX or len(set(names)) < len(names):
        return None
    if not all(_PLAIN_NAME.fullmatch(name) for name in names) or "  " not in lines[start].strip():
        return None
    end = start + 1
    while end < len(lines) and fit(lines[end], heads) is not None:
        end += 1
    rows = lines[start + 1 : end]
    if not rows or (len(rows) < 2 and not begins_exactly(rows[0], heads)):
        return None
    columns = _Columns(names, lambda line: fit(line, heads) or [])
    return Block(_items(source, columns, rows, lines[start : start + 1]), end - start)


FIXED_MIN: Final = 4
"""Fewer words in a row over words in a row may be two sentences."""


# --- Columns with one space between them: ps, df, top, free, vmstat ----------------------------


def _spaced(source: Source, lines: Sequence[str], start: int) -> Block | None:
    """What a host's programs print: a known header, and as many words in each line."""
    header = lines[start].replace("Mounted on", "Mounted-on").split()
    if not 3 < len(header) <= COLUMNS_MAX or len(HOST_COLUMNS.intersection(header)) < HOST_MIN:
        return None
    labelled = start + 1 < len(lines) and bool(_LABEL.match(lines[start + 1]))
    names = ("name", *header) if labelled else tuple(header)
    end = start + 1
    rows: list[str] = []
    while end < len(lines) and lines[end].strip():
        cells = lines[end].split(None, len(names) - 1)
        if len(cells) < (2 if labelled else len(names) - 1):
            break
        rows.append(lines[end])
        end += 1
    if not rows:
        return None
    columns = _Columns(names, lambda line: line.split(None, len(names) - 1))
    return Block(_items(source, columns, rows, lines[start : start + 1]), end - start)


# --- Commas ------------------------------------------------------------------------------------


def _separated(source: Source, lines: Sequence[str], start: int) -> Block | None:
    """CSV (RFC 4180 without line breaks in cells) whose header is plain names."""
    header = lines[start]
    if header.count(",") < 1 or start + 1 >= len(lines):
        return None
    names = _comma_cells(header)
    if not 1 < len(names) <= COLUMNS_MAX or not all(_CSV_NAME.fullmatch(name) for name in names):
        return None
    end = start + 1
    rows: list[str] = []
    while end < len(lines) and len(_comma_cells(lines[end])) == len(names):
        rows.append(lines[end])
        end += 1
    prose = any(" " in name for name in names)
    if len(rows) < (2 if prose else 1):
        return None
    columns = _Columns(tuple(name.strip() for name in names), _comma_cells)
    return Block(_items(source, columns, rows, (header,)), end - start)


def _comma_cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


# --- Rows ---------------------------------------------------------------------------------------


def _items(
    source: Source, columns: _Columns, rows: Sequence[str], extra: Sequence[str]
) -> tuple[Item, ...]:
    """One item a row; the header and rules go with the first."""
    extras = tuple(
        Line(text=piece) for line in extra if line.strip() for piece in pieces(line.rstrip())
    )
    keyed = _is_keyed(columns, rows)
    numbered = keyed and _is_numbered(columns, rows)
    drawn = any(_TREE.match(line) for line in rows)
    owned = _owned(rows) if drawn else repeat(None)
    weights = [weight_of(find_level(line)) for line in rows]
    worth = worth_reading(weights)
    items: list[Item] = [] if rows or not extras else [Item(extras)]
    for index, (line, edge, weight) in enumerate(zip(rows, owned, weights, strict=False)):
        if index not in worth:
            items.append(Item((Line(text=line[:FACT_CHARS_MAX]),), weight))
            continue
        row = _row(source, columns, line, keyed=keyed, numbered=numbered)
        facts = (*row, *(() if edge is None else (edge,)))
        items.append(Item(facts if index else (*extras, *facts), _weight(facts)))
    return tuple(items)


def _repeated(found: re.Match[str] | None) -> Iterator[Cell]:
    """How often an event was seen, where its age says so: `21s (x26 over 6m35s)`."""
    if found:
        yield to_cell("count", found[1])


def _owned(rows: Sequence[str]) -> Iterator[Edge | None]:
    """Which row each row hangs on, where the names are drawn as a tree; None for a root."""
    stack: list[tuple[int, str]] = []
    for line in rows:
        start = re.search(r"[A-Za-z0-9]", line)
        depth = start.start() if start else 0
        while stack and stack[-1][0] >= depth:
            stack.pop()
        name = bare_name(line[depth:].split("  ", 1)[0].strip())[:NAME_CHARS_MAX]
        owner = stack[-1][1] if stack else None
        yield Edge(source=owner, target=name, relation="owns") if owner and name else None
        stack.append((depth, name))


def _is_keyed(columns: _Columns, rows: Sequence[str]) -> bool:
    """Whether the first column tells the rows apart, so that it may name them."""
    first = [texts[0] for line in rows if (texts := columns.split(line))]
    return len(set(first)) == len(first)


def _is_numbered(columns: _Columns, rows: Sequence[str]) -> bool:
    """Whether rows of one name are told apart by their number in the first column."""
    table = [columns.split(line) for line in rows]
    named = [_subject(dict(zip(map(str.lower, columns.names), texts, strict=False)), keyed=False)
             for texts in table]  # fmt: skip
    return len(set(named)) < len(named) and all(texts and texts[0].isdigit() for texts in table)


def _row(
    source: Source, columns: _Columns, line: str, *, keyed: bool, numbered: bool
) -> tuple[Fact, ...]:
    texts = columns.split(line)
    named = dict(zip((name.lower() for name in columns.names), texts, strict=False))
    first = texts[0] if numbered and texts else ""
    subject = first or _subject(named, keyed=keyed) or source.subject or _subject(named, keyed=True)
    at = _time(source, named)
    cells = tuple(
        Cell(name=name)
        if text in _NULLS
        else to_cell(name, text, _cell_emitter(source, name, text))
        for name, text in zip(columns.names, texts, strict=False)
    )
    level = level_of(named.get("type", named.get("level", named.get("severity", ""))))
    repeated = _REPEATED.search(named.get("age", "") or named.get("last seen", ""))
    lines = tuple(
        Line(
            text=piece,
            subject=subject,
            level=level,
            at=at,
            count=int(repeated[1]) if repeated else None,
        )
        for piece in pieces(line.rstrip())
    )
    relations = relations_of({k: v for k, v in named.items() if v not in _NULLS}, subject)
    row = Row(subject=subject, cells=(*cells, *_repeated(repeated)), at=at)
    return (*lines, row, *_long_form(named, at), *relations)


def _cell_emitter(source: Source, name: str, text: str) -> Emitter | None:
    """A platform's table repeats what applications wrote: their statements, their notes."""
    theirs = name.lower() in WORKLOAD_FIELDS or _STATEMENT.match(text)
    return Emitter.WORKLOAD if theirs and source.emitter is Emitter.PLATFORM else None


def _subject(named: dict[str, str], *, keyed: bool) -> str | None:
    for key in KEY_COLUMNS:
        text = named.get(key)
        if text and text not in _NULLS:
            return bare_name(_TREE.sub("", text).rstrip(":"))
    first = next((text for text in named.values() if text and text not in _NULLS), None)
    return first if keyed else None


def _time(source: Source, named: dict[str, str]) -> datetime | None:
    for name, text in named.items():
        if name.replace(" ", "_") in TIME_COLUMNS or _is_bucket(name):
            moment = read_instant(text, source.window)
            if moment is not None:
                return moment
    return None


_BUCKETED: Final = re.compile(r"(?:^|_)(?:time|ts|bucket|minute|interval|window|period)(?:_|$)")


def _is_bucket(name: str) -> bool:
    """Whether a column says when its row begins: `bucket_start_utc`; no time that lasts."""
    return bool(_BUCKETED.search(name)) and not unit_of_field(name) and "end" not in name


def _long_form(named: dict[str, str], at: datetime | None) -> tuple[Value, ...]:
    """The reading of a row (time, entity, metric, value)."""
    value = to_cell("value", named["value"]).quantity if "value" in named else None
    metric = next((named[name] for name in _METRIC_COLUMNS if named.get(name)), None)
    entity = next((named[key] for key in KEY_COLUMNS if key != "name" and named.get(key)), None)
    if value is None or metric is None or entity is None or at is None:
        return ()
    unit = value.unit or unit_of(metric)
    quantity = Quantity(number=value.number, unit=unit)
    return (Value(subject=entity, attribute=metric, quantity=quantity, at=at),)


def _weight(facts: Sequence[Fact]) -> Weight:
    levels = {fact.level for fact in facts if isinstance(fact, Line)}
    alarming = any(weight_of(level) is Weight.ALARMING for level in levels)
    return Weight.ALARMING if alarming else Weight.ORDINARY
