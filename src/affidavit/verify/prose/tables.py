"""The results of a call as tables: rows of named cells, so that a sentence can be read off them.

Rows of one shape make a table: the rows of a query, the items of a list, the readings of a series
with their labels. What stands in running text is no cell. Nothing is inferred here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Final

from affidavit.contract.evidence import Row as RowFact
from affidavit.contract.evidence import Value
from affidavit.contract.states import EvidenceClass, EvidenceStatus
from affidavit.verify.statements.denial import is_false
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.moments import Moment, find_moments
from affidavit.verify.statements.records import CallView, RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.words import stems_of

CELLS_MAX: Final = 80
"""A record with more named values than this is a document, and no row."""
TEXT_WORDS_MAX: Final = 8
"""A cell of more words is a text of its own, in which word order says who did what."""
NAME_WORDS_MAX: Final = 2
"""What more words stand before a colon is the text of a message, and no column's name."""
_INDEX: Final = re.compile(r"\[\d{1,6}\]")
_SHARE: Final = re.compile(r"(\d{1,6})/(\d{1,6})")
_TRUE: Final = frozenset("true yes y t on".split())
_FALSE: Final = frozenset("false no n f off".split())
_KEYS: Final = frozenset("id name key uid pid".split())
GROUP_COUNTS: Final = frozenset("n count cnt num qty hits requests".split())
"""What a column is called that counts what stands behind each row."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One named value of a row; `words` are the stems that may name its column."""

    column: str
    words: frozenset[str]
    text: str
    number: Decimal | None
    unit: str
    empty: bool

    @property
    def low(self) -> str:
        """Its text to compare with."""
        return self.text.strip().casefold()

    @property
    def flag(self) -> bool | None:
        """What a yes or a no says, or that so many of so many are; None for anything else."""
        part = _SHARE.fullmatch(self.low)
        if part:
            return part[1] == part[2]
        return True if self.low in _TRUE else False if self.low in _FALSE else None

    @property
    def moments(self) -> tuple[Moment, ...]:
        """The moments that it holds; a length of time (`00:06:41`) is none."""
        if self.number is not None:
            return ()
        return find_moments(self.text)


@dataclass(frozen=True)
class Line:
    """One row: its cells, and the record that they are of."""

    record: RecordView
    cells: tuple[Cell, ...]

    @property
    def at(self) -> datetime | None:
        """When the row was."""
        return self.record.at

    @cached_property
    def tells(self) -> bool:
        """Whether a cell of the row is a text of its own: who did what in it is told by its order."""
        return any(len(cell.text.split()) > TEXT_WORDS_MAX for cell in self.cells)

    def under(self, column: str) -> tuple[Cell, ...]:
        """The cells of a column; a list has several."""
        return tuple(cell for cell in self.cells if cell.column == column)


@dataclass(frozen=True)
class Table:
    """Rows of one shape; `series` says that they are readings over time."""

    call: CallView
    lines: tuple[Line, ...]
    series: bool
    _picked: dict[object, dict[str, frozenset[int]]] = field(default_factory=dict, compare=False)

    @cached_property
    def words(self) -> dict[str, frozenset[str]]:
        """The stems that name each column."""
        found: dict[str, frozenset[str]] = {}
        for line in self.lines:
            for cell in line.cells:
                found.setdefault(cell.column, cell.words)
        return found

    @cached_property
    def flags(self) -> dict[str, frozenset[int]]:
        """The columns of which every cell is a yes or a no, each with the rows of a yes."""
        found: dict[str, dict[int, bool | None]] = {}
        for place, line in enumerate(self.lines):
            for cell in line.cells:
                found.setdefault(cell.column, {})[place] = cell.flag
        return {
            name: frozenset(place for place, flag in flags.items() if flag)
            for name, flags in found.items() if None not in flags.values()
        }  # fmt: skip

    @cached_property
    def texts(self) -> tuple[tuple[Cell, bool, frozenset[int]], ...]:
        """Each different cell with its rows, and whether those hold a text of their own."""
        found: dict[tuple[str, str, bool], tuple[Cell, set[int]]] = {}
        for place, line in enumerate(self.lines):
            for cell in line.cells:
                key = (cell.column, cell.low, line.tells)
                found.setdefault(key, (cell, set()))[1].add(place)
        return tuple(
            (cell, tells, frozenset(rows)) for (_, _, tells), (cell, rows) in found.items()
        )

    def picked(self, key: object, holds: Callable[[Cell, bool], bool]) -> dict[str, frozenset[int]]:
        """The rows of which a cell holds something, by column; looked for once for each key."""
        known = self._picked.get(key)
        if known is None:
            found: dict[str, frozenset[int]] = {}
            for cell, tells, rows in self.texts:
                if holds(cell, tells):
                    found[cell.column] = found.get(cell.column, frozenset()) | rows
            known = self._picked[key] = found
        return known

    @cached_property
    def everything(self) -> frozenset[int]:
        """The places of all its rows."""
        return frozenset(range(len(self.lines)))

    @cached_property
    def keys(self) -> frozenset[str]:
        """The columns that name the rows: another value in each, and no number that measures.

        None where no column does, as where rows are groups of several columns' values.
        """
        if self.series:
            return frozenset()
        found = [name for name in self.words if self._tells_apart(name)]
        named = [name for name in found if self.words[name] & _KEYS]
        return frozenset(named or found[:1])

    @cached_property
    def ids(self) -> frozenset[str]:
        """The columns of numbers that only name something."""
        return frozenset(name for name in self.words if stems_of(name) & _KEYS)

    @cached_property
    def same(self) -> frozenset[str]:
        """The columns that hold the same in every row."""
        return frozenset(
            name
            for name in self.words
            if len(self.lines) > 1
            and len({cell.low for line in self.lines for cell in line.under(name)}) == 1
        )

    def _tells_apart(self, column: str) -> bool:
        held = [line.under(column) for line in self.lines]
        if not all(len(cells) == 1 for cells in held):
            return False
        cells = [found[0] for found in held]
        if any(cell.unit or cell.moments for cell in cells):
            return False
        whole = all(cell.number is None or self.words[column] & _KEYS for cell in cells)
        return whole and len({cell.low for cell in cells}) == len(cells)

    @cached_property
    def counting(self) -> str | None:
        """The column that counts what stands behind each row, where there is one."""
        for name in self.words:
            if name.casefold() in GROUP_COUNTS and any(
                cell.number is not None for line in self.lines for cell in line.under(name)
            ):
                return name
        return None

    @property
    def is_whole(self) -> bool:
        """Whether the call returned all that there is."""
        envelope = self.call.call.envelope
        return not envelope.truncated and (envelope.total or 0) <= max(
            envelope.count, len(self.lines)
        )


def tables_of(call: CallView) -> tuple[Table, ...]:
    """The tables of a call, in its order; none of guidance or of what found nothing."""
    envelope = call.call.envelope
    if (
        envelope.status is not EvidenceStatus.EVIDENCE_FOUND
        or envelope.evidence_class is EvidenceClass.GUIDANCE
    ):
        return ()
    groups: dict[tuple[str, ...], list[Line]] = {}
    for record in call.records:
        if record.shape == "report" or len(record.fields) > CELLS_MAX:
            continue
        cells = tuple(_cells(record))
        if cells and _is_row(call, record):
            groups.setdefault(_shape(record, cells), []).append(Line(record, cells))
    return tuple(
        Table(call, tuple(lines), isinstance(lines[0].record.fact, Value))
        for lines in groups.values()
    )


def _is_row(call: CallView, record: RecordView) -> bool:
    """Whether a record is a row or a reading, and no line of a log with some names in it."""
    return any(isinstance(call.call.envelope.facts[at], RowFact | Value) for at in record.facts)


def _shape(record: RecordView, cells: tuple[Cell, ...]) -> tuple[str, ...]:
    if isinstance(record.fact, RowFact):
        return (record.shape,)
    return (record.shape, *dict.fromkeys(cell.column for cell in cells))


def _cells(record: RecordView) -> Iterator[Cell]:
    seen: set[tuple[str, str]] = set()
    for field in record.fields:
        told = len(field.name.split()) > NAME_WORDS_MAX
        if field.loose or told or not field.name or (field.name, field.text) in seen:
            continue
        seen.add((field.name, field.text))
        yield _cell(field)
    if isinstance(record.fact, Value):
        yield from _labels(record)


def _cell(field: Field) -> Cell:
    name = _INDEX.sub("", field.name)
    words = frozenset(other for word in field.names | stems_of(name) for other in kin(word))
    return Cell(name, words, field.text, field.number, field.unit, is_false(field))


def _labels(record: RecordView) -> Iterator[Cell]:
    """The labels of a reading, and what it is a reading of."""
    if record.subject:
        yield Cell("subject", frozenset(), record.subject, None, "", empty=False)
    for piece in record.text.split("\n")[1:]:
        for pair in piece.split(" ; "):
            name, _, value = pair.strip().partition(" ")
            if value and not name.startswith("__"):
                yield Cell(name, stems_of(name), value.strip(), None, "", empty=False)
