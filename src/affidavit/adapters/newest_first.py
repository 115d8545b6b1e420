"""Reads a long listing backwards in time, page by page, where an API can only say "before when".

Entries of one moment may stand on both sides of a page's edge. So each page ends at the oldest
moment of the page before, and what was taken already is known by its identity. A moment that fills
a page alone cannot be read whole: it is left, and that is said.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from affidavit.adapters.live_rows import Read
from affidavit.contract.errors import ToolFailed

LINES_MAX: Final = 50_000
"""Of one capture; ten pages of the largest size that such servers allow by default."""

CAPTURE_S: Final = 20.0
"""All pages together, below what a tool call has."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: when, in the API's own unit; who it is; and its row, None where it is none."""

    at: int
    key: Hashable
    row: Mapping[str, object] | None


Page: TypeAlias = Callable[[int, float], Awaitable[Sequence[Entry]]]
"""The newest entries up to and at a moment, before a time limit. Raises ToolFailed."""


async def read_backwards(name: str, last: int, page_max: int, read: Page) -> Read:
    """Rows from `last` backwards until there are no more. Raises ToolFailed where the first page
    fails; a later one that fails is said, and what came before it is kept."""
    until_s = time.monotonic() + CAPTURE_S
    rows: list[Mapping[str, object]] = []
    seen: set[Hashable] = set()
    left_out: list[str] = []
    unread = 0
    while True:
        try:
            page = await read(last, until_s)
        except ToolFailed as failed:
            if not seen:
                raise
            left_out.append(f"{name} before its last {len(seen)} lines ({failed.code})")
            break
        fresh = [entry for entry in page if entry.key not in seen]
        seen.update(entry.key for entry in fresh)
        rows += [entry.row for entry in fresh if entry.row is not None]
        unread += sum(entry.row is None for entry in fresh)
        if len(page) < page_max:
            break
        if len(seen) >= LINES_MAX:
            left_out.append(f"{name} before its last {len(seen)} lines")
            break
        oldest = min(entry.at for entry in page)
        if oldest == last:
            left_out.append(f"lines of {name} of one and the same moment")
        last = oldest - 1 if oldest == last else oldest
    if unread:
        left_out.append(f"{unread} entries of {name} that are no lines")
    return Read(rows, tuple(left_out))
