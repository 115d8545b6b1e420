"""Numbers and moments that are listed: which of them is of which of the listed things?"""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.stretches import Amounts
from affidavit.verify.prose.tokens import Token

LISTED_MIN: Final = 2
"""One number is no list."""


def rows_at(given: Amounts, place: int) -> frozenset[int]:
    """The rows that a number or moment is of; of as many as things are listed, each one's."""
    run = run_of(given, place)
    if len(given.order) > 1 and len(run) == len(given.order):
        return given.order[run.index(place)][1] & given.rows or given.rows
    return given.rows


def run_of(given: Amounts, place: int) -> tuple[int, ...]:
    """The places of the numbers, or of the moments, that one is listed with: "61, 64 and 58"."""
    means = given.parts[place].means
    run = [place]
    for step in (-1, 1):
        at = place
        while True:
            ahead = at + step
            while 0 <= ahead < len(given.parts) and _joins(given.stretch.tokens[ahead]):
                ahead += step
            if ahead == at + step or not 0 <= ahead < len(given.parts):
                break
            if given.parts[ahead].means is not means:
                break
            run.append(ahead)
            at = ahead
    return tuple(sorted(run))


def _joins(token: Token) -> bool:
    return token.text.casefold() in {",", "and", "、", "和", "与", "及"}
