"""How much of one result is kept. What is cut is cut the same way each time, and declared (C15)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from affidavit.contract.evidence import Fact
from affidavit.tools.readers.reading import Reading, Weight

RESULT_CHARS_MAX: Final = 4_000_000
"""A result's text beyond this is not read: the largest real recordings here have 0.8 million
characters, and 3.4 million (R41) must end as a bounded projection, not as a failure."""

FACTS_MAX: Final = 2_000
"""Facts of one result: a page of two hundred pods with twenty cells each fits, and one stored
projection stays below about a megabyte."""

FACT_CHARS_MAX: Final = 2_000
"""Characters of one text: a long log line or a statement of SQL; longer lines become several."""

CELLS_MAX: Final = 200
"""Cells of one row; a larger document becomes several rows of one subject."""

TEXT_LINES_MIN: Final = 3
"""A field with at least this many lines is a text of its own (a log, a diff, a listing)."""

LEAVES_MAX: Final = 60_000
"""Leaves of one document that are read, a leaf inside nested records once for each of them: about a
second of work; ten times what two thousand facts of a listing hold."""

DEPTH_MAX: Final = 24
"""Levels of a nested document; Kubernetes needs a dozen."""

NOTES_MAX: Final = 8
"""Remarks on one reading."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a reading, and whether anything was left out."""

    facts: tuple[Fact, ...]
    read: int
    cut: bool


def keep(reading: Reading, facts_max: int = FACTS_MAX) -> Kept:
    """The reading's facts within the bound, in their order.

    Items are kept whole but for the last that fits, alarming ones first, and among equals from
    both ends inwards, so that the beginning and the end of a log survive. What belongs to no item
    comes after the items.
    """
    read = sum(len(item.facts) for item in reading.items) + len(reading.context)
    if read <= facts_max:
        facts = [fact for item in reading.items for fact in item.facts]
        return Kept((*facts, *reading.context), read, cut=False)
    chosen: list[int] = []
    room = facts_max
    for index in order_of_keeping([item.weight for item in reading.items]):
        if not room:
            break
        chosen.append(index)
        room -= min(room, len(reading.items[index].facts))
    last = chosen[-1] if chosen else 0
    fits = facts_max - sum(len(reading.items[index].facts) for index in chosen[:-1])
    kept = [
        fact
        for index in sorted(chosen)
        for fact in reading.items[index].facts[: fits if index == last else None]
    ]
    return Kept((*kept, *reading.context[:room]), read, cut=True)


def worth_reading(weights: Sequence[Weight], facts_max: int = FACTS_MAX) -> frozenset[int]:
    """Which items can be kept at all, where each gives at least one fact: the rest need no care."""
    return frozenset(order_of_keeping(weights)[:facts_max])


def order_of_keeping(weights: Sequence[Weight]) -> list[int]:
    """Indices in the order of keeping: by weight, then first, last, second, last but one, …"""
    order: list[int] = []
    for weight in Weight:
        alike = [index for index, one in enumerate(weights) if one is weight]
        half = (len(alike) + 1) // 2
        ends = zip_longest(alike[:half], reversed(alike[half:]))
        order.extend(index for pair in ends for index in pair if index is not None)
    return order
