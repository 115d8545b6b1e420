"""Pages of guidance that were indexed for a tenant: what the outside must provide (I2, C13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

PASSAGE_CHARS_MAX: Final = 600
"""A paragraph, and the longest quotation that is read as one (`verify.prose`); a longer one is cut
in pieces, so that an answer can quote the piece that counts."""

PAGE_NAME_CHARS_MAX: Final = 200
"""A path inside a folder; it is shown beside each quotation."""

FOUND_MAX: Final = 20
"""Passages of one search: more guidance than this is a reading list, and no answer."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of one page: `place` counts from 0, `heading` is that above it, or ""."""

    page: str
    place: int
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class PassagesFound:
    """The passages that match best, best first; `total` is how many match, `indexed` how many
    there are."""

    passages: tuple[Passage, ...]
    total: int
    indexed: int


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One page of the index: its name, the digest of its file, how many passages it has, when it
    was added (microseconds since 1970 UTC)."""

    name: str
    digest: str
    passages: int
    added_us: int


class KnowledgeIndex(Protocol):
    """The indexed pages of one tenant. No other tenant's pages, counts or statistics are in it."""

    async def search(self, query: str, most: int) -> PassagesFound:
        """The passages that match. Raises ToolFailed: SOURCE_UNAVAILABLE where nothing was ever
        indexed, KNOWLEDGE_UNREADABLE where the index cannot be read."""
        ...


class Embedder(Protocol):
    """A plug-in that turns texts into vectors, so that passages are found by meaning, too.

    `name` is kept with the vectors: those of another embedder are never compared.
    """

    @property
    def name(self) -> str:
        """Which one, and which version of it."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector a text, all of one length; may take its time. Raises whatever it raises."""
        ...
