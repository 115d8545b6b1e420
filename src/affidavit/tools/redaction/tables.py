"""Columns of a table in text whose heading names a secret: CSV, `|`, tabs (T7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from affidavit.tools.redaction.hints import Strength, is_secret
from affidavit.tools.redaction.marks import Span
from affidavit.tools.redaction.shapes import Text

HEADING_BYTES_MAX: Final = 1_024
"""Of a table's first line; a longer line is no heading."""

_HEADING: Final = re.compile(
    rb"[ \t|]*[\"']?[A-Za-z][\w .-]{0,63}[\"']?[ \t]*(?:[,;|\t][ \t]*[\"']?\w[\w .-]{0,63}"
    rb"[\"']?[ \t]*){1,64}\|?[ \t]*\r?"
)
_RULE: Final = re.compile(rb"[ \t|:+=-]+\r?")
_DELIMITERS: Final = (b"|", b"\t", b";", b",")


def cells_below(text: Text, start: int, stop: int, kind: str) -> Iterator[Span]:
    """The cells of the column that the name between these places is the heading of."""
    raw = text.raw
    if raw[stop : stop + 1].isalnum() or b"\n" not in raw[stop : stop + HEADING_BYTES_MAX]:
        return
    first = raw.rfind(b"\n", max(0, start - HEADING_BYTES_MAX), start) + 1
    end = raw.find(b"\n", stop)
    heading = raw[first:end]
    delimiter = next((mark for mark in _DELIMITERS if mark in heading), None)
    if delimiter is None or not _HEADING.fullmatch(heading):
        return
    column = heading.count(delimiter, 0, start - first)
    before = raw[raw.rfind(b"\n", max(0, first - HEADING_BYTES_MAX), max(0, first - 1)) + 1 : first]
    if before.count(delimiter) == heading.count(delimiter) and not _RULE.fullmatch(before.rstrip()):
        return  # a row among others
    name = heading.split(delimiter)[column].strip(b" \t\"'\r")
    if name != raw[start:stop]:
        return
    at, width = end + 1, heading.count(delimiter)
    while at < len(raw):
        newline = raw.find(b"\n", at)
        line = raw[at : newline if newline >= 0 else len(raw)]
        if not _RULE.fullmatch(line):
            cells = line.split(delimiter)
            if len(cells) != width + 1:
                return
            yield from _cell(cells, column, at, len(delimiter), kind)
        at += len(line) + 1


def _cell(cells: list[bytes], column: int, at: int, gap: int, kind: str) -> Iterator[Span]:
    cell = cells[column]
    value = cell.strip(b" \t\"'\r")
    if is_secret(Strength.STRONG, value) and len(value) >= SECRET_BYTES_MIN:
        begin = at + sum(len(one) + gap for one in cells[:column]) + cell.index(value)
        yield Span(begin, begin + len(value), kind)


SECRET_BYTES_MIN: Final = 4
"""A shorter cell is a number, a state, or nothing."""
