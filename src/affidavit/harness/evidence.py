"""What a tool written as a function may return: typed evidence, turned into facts by code (T5).

Series   numbers over time of one metric
Rows     records of a table
Lines    words: log lines, messages
facts    any of `affidavit.contract.evidence`, alone or in a sequence, where those do not fit
None     nothing matched; so does anything of the above that is empty (T4)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias

from affidavit.contract.evidence import (
    Cell,
    Change,
    Edge,
    Fact,
    Line,
    Onset,
    Quantity,
    Row,
    Value,
)

Figure: TypeAlias = int | float | Decimal


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers over time: one metric of one subject, each with its moment (with a zone).

    `unit` is UCUM-like (`ms`, `%`, `By`, `1/s`), `statistic` how a point was computed (`p99`).
    `total` is how many there were where that is more than `points` holds.
    """

    subject: str
    metric: str
    points: Sequence[tuple[datetime, Figure]]
    unit: str = ""
    statistic: str | None = None
    total: int | None = None

    def facts(self) -> Iterator[Fact]:
        """One value a point."""
        for moment, figure in self.points:
            yield Value(
                subject=self.subject,
                attribute=self.metric,
                statistic=self.statistic,
                quantity=Quantity(number=_number(figure), unit=self.unit),
                at=moment,
            )


@dataclass(frozen=True, slots=True)
class Rows:
    """Records of a table: names to numbers, texts, booleans or None.

    `subject` names the column that says what a row is about. `total` as in Series.
    """

    rows: Sequence[Mapping[str, Figure | str | bool | None]]
    subject: str | None = None
    total: int | None = None

    def facts(self) -> Iterator[Fact]:
        """One row a record."""
        for row in self.rows:
            about = None if self.subject is None else row.get(self.subject)
            yield Row(
                subject=None if about is None else str(about),
                cells=tuple(_cell(name, value) for name, value in row.items()),
            )


@dataclass(frozen=True, slots=True)
class Lines:
    """Words as they were found: each a text, or its moment and the text. `total` as in Series."""

    lines: Sequence[str | tuple[datetime, str]]
    subject: str | None = None
    total: int | None = None

    def facts(self) -> Iterator[Fact]:
        """One line a text."""
        for line in self.lines:
            moment, text = (None, line) if isinstance(line, str) else line
            yield Line(text=text, subject=self.subject, at=moment)


Evidence: TypeAlias = Series | Rows | Lines | Fact | Sequence[Fact] | None
"""What a tool's function returns."""


class NotEvidence(TypeError):
    """A function returned what is no evidence: the call failed, and nothing is shown (T3)."""


def facts_of(evidence: object) -> tuple[tuple[Fact, ...], int]:
    """The facts, and how many there were in all. Raises NotEvidence, or ValueError."""
    match evidence:
        case None:
            return (), 0
        case Series() | Rows() | Lines():
            facts = tuple(evidence.facts())
            return facts, max(len(facts), evidence.total or 0)
        case Value() | Change() | Onset() | Line() | Row() | Edge():
            return (evidence,), 1
        case str() | bytes() | Mapping():
            raise NotEvidence(f"a tool returns typed evidence, not {type(evidence).__name__}")
        case Sequence():
            facts = tuple(fact for item in evidence for fact in facts_of(item)[0])
            return facts, sum(facts_of(item)[1] for item in evidence)
        case _:
            raise NotEvidence(f"a tool returns typed evidence, not {type(evidence).__name__}")


def _cell(name: str, value: Figure | str | bool | None) -> Cell:
    if value is None:
        return Cell(name=name)
    if isinstance(value, (str, bool)):
        return Cell(name=name, text=value if isinstance(value, str) else str(value).lower())
    return Cell(name=name, quantity=Quantity(number=_number(value)))


def _number(figure: Figure) -> Decimal:
    """Exactly the number that was written: a float as its shortest text."""
    return figure if isinstance(figure, Decimal) else Decimal(str(figure))
