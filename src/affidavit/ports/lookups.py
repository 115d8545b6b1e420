"""A fixed set of questions to a live back end about how it is now, each by its name.

For what is no series, line or span: sessions, locks, settings. An agent chooses a question by name
and cannot write one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from affidavit.ports.telemetry import Plain


@dataclass(frozen=True, slots=True)
class Looked:
    """Rows of plain cells, and how many there were before any bound."""

    rows: Sequence[Mapping[str, Plain]]
    total: int


class Lookup(Protocol):
    """One back end's questions. `spoken` are columns in a workload's own words."""

    name: str
    source: str
    source_type: str
    service: str
    description: str
    looks: tuple[str, ...]
    spoken: frozenset[str]

    async def probe(self) -> str:
        """How it was proved that it is only read. Raises ToolFailed."""
        ...

    async def look(self, what: str) -> Looked:
        """The answer to that question now. Raises ToolFailed."""
        ...
