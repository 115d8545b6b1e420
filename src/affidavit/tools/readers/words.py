"""Text as it is shown: without escape sequences, control or bidirectional characters.

Terminal escapes and marks that turn text around can make a line read differently from what it
says; they are taken out before anything else looks, so that what is quoted is what is seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from affidavit.contract.evidence import Line
from affidavit.tools.readers.bounds import FACT_CHARS_MAX

OVERLAP_CHARS: Final = 200
"""Two pieces of one long line share this much, so that a quote of a sentence or two is whole in
one of them."""

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]{0,16}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,256}\x07?|.)")
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff]"
)
_BREAK: Final = re.compile(r"\r\n|\r|\n|\x85|\u2028|\u2029")


def clean(text: str) -> str:
    """The text without escapes and invisible characters, with `\\n` as its only line break."""
    return _INVISIBLE.sub("", _ESCAPES.sub("", _BREAK.sub("\n", text)))


def pieces(line: str) -> Iterator[str]:
    """A line whole where it fits one fact, else in overlapping pieces, none of it lost."""
    if len(line) <= FACT_CHARS_MAX:
        yield line
        return
    step = FACT_CHARS_MAX - OVERLAP_CHARS
    for start in range(0, len(line) - OVERLAP_CHARS, step):
        yield line[start : start + FACT_CHARS_MAX]


def quotable(text: str, subject: str | None = None) -> tuple[Line, ...]:
    """Every line of a text that holds something, word for word."""
    return tuple(
        Line(text=piece, subject=subject)
        for line in text.split("\n")
        if line.strip()
        for piece in pieces(line.rstrip())
    )
