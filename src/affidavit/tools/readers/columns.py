"""Where the texts of an aligned line stand, and below which names of a header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

GAP: Final = re.compile(r"[ ]{2,}|\t")
WORD: Final = re.compile(r"\S{1,200}")
BELOW_SHARE: Final = 0.5
"""At least so many of a full row's words stand below their own names; a wide one moves the rest."""

Span = tuple[int, int]


def spans_of(line: str) -> list[tuple[int, int]]:
    """Where the texts of a line begin and end that stand two spaces or a tab apart."""
    spans: list[tuple[int, int]] = []
    start = 0
    for gap in GAP.finditer(line):
        if gap.start() > start:
            spans.append((start, gap.start()))
        start = gap.end()
    if start < len(line.rstrip()):
        spans.append((start, len(line.rstrip())))
    return spans


def cut(line: str, header: Sequence[tuple[int, int]]) -> list[str]:
    """A line's texts by column: in order where their number fits, else by where they stand."""
    spans = spans_of(line)
    if len(spans) < len(header):
        spans = list(_parted(line, spans, frozenset(begin for begin, _ in header)))
    if len(spans) == len(header):
        return [line[begin:end].strip() for begin, end in spans]
    cells = [""] * len(header)
    last = len(header) - 1
    for begin, end in spans:
        column = max(
            range(len(header)),
            key=lambda index: _overlap(begin, end, header[index][0], _next(header, index)),
        )
        if column == last:
            cells[last] = line[begin:].strip()
            break
        cells[column] = f"{cells[column]}  {line[begin:end].strip()}".strip()
    return cells


def _parted(line: str, spans: Sequence[Span], starts: frozenset[int]) -> Iterator[Span]:
    """The texts of a line, parted also where one space stands before the beginning of a column."""
    for begin, end in spans:
        inside = (start for start in sorted(starts) if begin < start < end)
        cuts = [at for at in inside if line[at - 1] == " " and line[at] != " "]
        yield from zip((begin, *cuts), (*(at - 1 for at in cuts), end), strict=True)


def _next(header: Sequence[tuple[int, int]], index: int) -> int:
    return header[index + 1][0] if index + 1 < len(header) else 1_000_000


def _overlap(begin: int, end: int, start: int, stop: int) -> int:
    return min(end, stop) - max(begin, start)


def fit(line: str, heads: Sequence[Span]) -> list[str] | None:
    """A line's words by the column that each stands in, or None where it is no row.

    As many words as names go in order, if most stand below theirs. Fewer have each to stand below
    one name alone, in order; of more, the last column takes what is left.
    """
    words = [found.span() for found in WORD.finditer(line)]
    if len(words) < 2:
        return None
    if len(words) == len(heads):
        below = sum(1 for word, head in zip(words, heads, strict=True) if _touches(word, head))
        return (
            [line[begin:end] for begin, end in words] if below >= len(heads) * BELOW_SHARE else None
        )
    cells = [""] * len(heads)
    last = -1
    for begin, end in words:
        column = _column(begin, end, heads)
        if column is None or column <= last:
            return None
        if column == len(heads) - 1:
            cells[column] = line[begin:].strip()
            return cells
        cells[column] = line[begin:end]
        last = column
    return cells if len(words) < len(heads) else None


def begins_exactly(line: str, heads: Sequence[Span]) -> bool:
    """Whether each word of a line begins where a name does."""
    starts = {begin for begin, _ in heads}
    return starts.issuperset(found.start() for found in WORD.finditer(line))


def _column(begin: int, end: int, heads: Sequence[Span]) -> int | None:
    """The one name that a word begins or ends with, or stands below; None for two, or for none."""
    for place, head in enumerate(heads):
        if begin == head[0] or end == head[1]:
            return place
    below = [place for place, head in enumerate(heads) if _touches((begin, end), head)]
    return below[0] if len(below) == 1 else None


def _touches(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
