"""A fixed set of questions to a live back end about how it is now, each by its name.

For what is no series, line or span: sessions, locks, settings, pods, alerts. An agent chooses a
question by name and cannot write one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from affidavit.contract.evidence import Window
from affidavit.contract.states import EvidenceClass
from affidavit.ports.telemetry import Plain

AT: Final = "at_us"
"""A column of this name is when its row was so, in microseconds since the epoch; no cell."""

WHOSE: Final = "service"
"""A column of this name is whose row it is, where that is not the back end itself; no cell."""


@dataclass(frozen=True, slots=True)
class Looked:
    """Rows of plain cells, how many there were before any bound, and what was not read, worded."""

    rows: Sequence[Mapping[str, Plain]]
    total: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """What a probe found out: how it is known that the back end is only read.

    `warning` is a right that is there and is not needed.
    """

    said: str
    warning: str = ""


class Lookup(Protocol):
    """One back end's questions.

    `spoken` are columns in a workload's own words; `windowed` are the questions about the run's
    window, all others are about now.
    """

    name: str
    source: str
    source_type: str
    service: str
    description: str
    evidence_class: EvidenceClass
    looks: tuple[str, ...]
    windowed: frozenset[str]
    spoken: frozenset[str]

    async def probe(self) -> Proof:
        """How it was proved that it is only read. Raises ToolFailed."""
        ...

    async def look(self, what: str, window: Window | None = None) -> Looked:
        """The answer to that question; `window` is there for the windowed ones. Raises
        ToolFailed."""
        ...
