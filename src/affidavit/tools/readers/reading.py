"""What a reader is given and what it gives back.

A reader is a function `(Source, …) -> Reading | None`; None means "not my shape". It groups facts
by item (a row, a log entry, a sample, a span), because counting is about items and a statement is
about facts; `context` holds what belongs to no item (headings, separators, a document's frame).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from affidavit.contract.evidence import Fact, Line, Window
from affidavit.contract.states import Emitter


class Weight(IntEnum):
    """What is kept first where not everything can be: lower is kept before higher."""

    ALARMING = 0
    ORDINARY = 1
    ROUTINE = 2


@dataclass(frozen=True, slots=True)
class Source:
    """One call as its reader sees it: what was asked, about whom, over which window."""

    tool: str
    arguments: Mapping[str, object]
    emitter: Emitter
    subject: str | None
    window: Window | None
    observed_at: datetime

    def argument(self, *names: str) -> str | None:
        """The first of these arguments that is a non-empty text, or None."""
        for name in names:
            value = self.arguments.get(name)
            if isinstance(value, str) and value.strip():
                return value.strip()
        return None


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a result with every fact that was read out of it."""

    facts: tuple[Fact, ...]
    weight: Weight = Weight.ORDINARY


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that a reader found in one result, before any bound.

    `total` is how many items the result itself says there are; `cut` whether it says that it was
    cut at its source.
    """

    shape: str
    items: tuple[Item, ...]
    context: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    total: int | None = None
    cut: bool = False


def typed(reading: Reading) -> int:
    """How many facts of a reading are more than plain text."""
    facts = (*(fact for item in reading.items for fact in item.facts), *reading.context)
    return sum(1 for fact in facts if not isinstance(fact, Line))
