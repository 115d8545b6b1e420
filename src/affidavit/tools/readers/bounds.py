"""How much of one result is kept. What is cut is cut the same way each time, and declared (C15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from affidavit.contract.evidence import Fact
from affidavit.tools.readers.reading import Item, Reading, Weight

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

    Items are kept whole, alarming ones first, and among equals from both ends inwards, so that the
    beginning and the end of a log survive. What belongs to no item comes after the items.
    """
    read = sum(len(item.facts) for item in reading.items) + len(reading.context)
    if read <= facts_max:
        facts = [fact for item in reading.items for fact in item.facts]
        return Kept((*facts, *reading.context), read, cut=False)
    chosen: list[int] = []
    room = facts_max
    for index in _by_weight(reading.items):
        size = len(reading.items[index].facts)
        if size <= room:
            chosen.append(index)
            room -= size
    kept = [fact for index in sorted(chosen) for fact in reading.items[index].facts]
    if not kept and reading.items:
        kept = list(reading.items[0].facts[:facts_max])
        room = facts_max - len(kept)
    return Kept((*kept, *reading.context[:room]), read, cut=True)


def _by_weight(items: tuple[Item, ...]) -> list[int]:
    """Indices in the order of keeping: by weight, then first, last, second, last but one, …"""
    order: list[int] = []
    for weight in Weight:
        of_weight = [index for index, item in enumerate(items) if item.weight is weight]
        half = (len(of_weight) + 1) // 2
        front, back = of_weight[:half], of_weight[half:][::-1]
        for position, index in enumerate(front):
            order.append(index)
            if position < len(back):
                order.append(back[position])
    return order
