"""How a table is drawn in text: its rules, its frame, and cells that hold several columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from affidavit.tools.readers.columns import Span, cut, spans_of

RULE: Final = re.compile(r"[-+=|: ─┼│]{3,}")
"""A line that only separates: of psql, MySQL, markdown and drawn boxes."""


def is_ruled(lines: Sequence[str], index: int) -> bool:
    """Whether a rule of dashes stands under a line."""
    rule = plain(lines[index + 1]).strip() if index + 1 < len(lines) else ""
    return len(rule) > 2 and ("-" in rule or "|=" in rule) and RULE.fullmatch(rule) is not None


TALL_MAX: Final = 3
"""Lines of one row in a box; more is a text in a frame."""
_FRAME: Final = str.maketrans(
    {"│": "|", "┃": "|", "║": "|", "─": "-", "━": "-", "═": "-"}
    | dict.fromkeys("┌┬┐├┼┤└┴┘╭╮╰╯╞╪╡┏┳┓┡╇┩┗┻┛╔╦╗╠╬╣╚╩╝", "+")
)


def plain(line: str) -> str:
    """A line with its drawn frame in plain characters."""
    return line.translate(_FRAME)


def is_drawn(lines: Sequence[str], index: int) -> bool:
    """Whether a line is the edge of a box."""
    text = plain(lines[index]).strip()
    return text.startswith(("+-", "+=", "|-", "|=")) and RULE.fullmatch(text) is not None


def is_title(lines: Sequence[str], under: int) -> bool:
    """Whether what stands above a rule only names the box: the header has its own rule, of `=`."""
    if "=" in plain(lines[under]):
        return False
    below = under + 1
    while below < len(lines) and "|" in plain(lines[below]) and not is_drawn(lines, below):
        below += 1
    return under + 1 < below < len(lines) and plain(lines[below]).strip().startswith(("|=", "+="))


def boxes_of(header: str) -> tuple[tuple[tuple[str, Span], ...], ...]:
    """The names in each cell of a header: one, or several two spaces apart, and their places."""
    found: list[tuple[tuple[str, Span], ...]] = []
    for cell in _pipe_cells(header):
        spans = spans_of(cell)
        named = tuple((cell[begin:end].strip(), (begin, end)) for begin, end in spans)
        found.append(named if len(named) > 1 else ((cell.strip(), (0, len(cell))),))
    return tuple(found)


def unbox(line: str, boxes: Sequence[Sequence[tuple[str, Span]]]) -> list[str]:
    """The cells of a row under such a header."""
    cells: list[str] = []
    for cell, box in zip(_pipe_cells(plain(line)), boxes, strict=False):
        spans = [span for _, span in box]
        cells.extend([cell.strip()] if len(box) == 1 else cut(cell, spans))
    return cells


def _pipe_cells(line: str) -> list[str]:
    return line.strip().removeprefix("|").removesuffix("|").split("|")
