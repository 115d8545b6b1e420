"""Numbers in the middle of a sentence, named by the words that stand with them.

`payment timeout after 5000ms` gives a cell `payment timeout after` of 5000 ms, `3 retries` a cell
`retries` of 3. The words are the text's own; nothing is looked up, and what they mean is for the
judge to weigh.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from affidavit.contract.evidence import Cell, Quantity
from affidavit.tools.readers.numbers import to_decimal

MEASURES_MAX: Final = 16
"""Numbers of one line; more is a table that nobody could read as a sentence."""

WORDS_MAX: Final = 5
"""Words before a number that name it: a noun phrase with its verb."""

_NUMBER: Final = re.compile(
    r"(?<![\w.:/%$#@=+-])(?P<number>\d{1,18}(?:\.\d{1,12})?)"
    r"(?: ?(?P<unit>%|ns|us|µs|μs|ms|secs?|seconds?|minutes?|mins?|hours?|days?|[kKMGT]i?B|bytes"
    r"|[MGK]i)(?![\w/-])|(?P<short>[smhdB])(?![\w/-]))?(?![\w/:@-]|\.\d)"
)
_WORD: Final = re.compile(r"[A-Za-z_][\w'-]{0,60}")
_STOP: Final = re.compile(r"[,;:()\[\]{}|\"]|\. |->|=>|\d")
_UNITS: Final = {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "min", "mins": "min",
    "minute": "min", "minutes": "min", "hour": "h", "hours": "h", "day": "d", "days": "d",
    "bytes": "By",
}  # fmt: skip
_LINKS: Final = frozenset("is was are were be of at to a an the by for with".split())


def measures_of(text: str) -> Iterator[Cell]:
    """The numbers of a sentence as cells, in order; none for identifiers, times and addresses."""
    last = 0
    for count, found in enumerate(_NUMBER.finditer(text)):
        if count >= MEASURES_MAX:
            return
        number = to_decimal(found["number"])
        unit = found["unit"] or found["short"] or ""
        name = _words_before(text[last : found.start()])
        following = _word_after(text[found.end() : found.end() + 80])
        if not unit and following and (not name or name.lower() in _LINKS):
            name = following
        elif not unit and following:
            name = f"{name} {following}"
        last = found.end()
        if number is not None and name:
            quantity = Quantity(number=number, unit=_UNITS.get(unit, unit))
            yield Cell(name=name, quantity=quantity)


def _words_before(text: str) -> str:
    """The last words of the clause that leads up to a number, without a closing `is` or `of`."""
    clause = _STOP.split(text[-200:])[-1]
    words = _WORD.findall(clause)[-WORDS_MAX:]
    while words and words[-1].lower() in _LINKS:
        words.pop()
    while words and words[0].lower() in _LINKS:
        words.pop(0)
    return " ".join(words)


def _word_after(text: str) -> str:
    found = re.match(r" ([A-Za-z][A-Za-z_-]{2,40})\b", text)
    return found[1] if found and found[1].lower() not in _LINKS else ""
