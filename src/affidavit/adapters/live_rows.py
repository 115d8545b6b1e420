"""A feed of rows that a back end answered: written beside the other parts of its table."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from anyio import to_thread

from affidavit.adapters.live_telemetry import Caught, Feed
from affidavit.adapters.prometheus import Span
from affidavit.ports.telemetry import SignalName


@dataclass(frozen=True, slots=True)
class Read:
    """Rows by our columns (docs/incident-folder.md), `timestamp` in microseconds since the epoch;
    and what was not read, worded."""

    rows: Sequence[Mapping[str, object]]
    left_out: tuple[str, ...] = ()


Reading: TypeAlias = Callable[[Span], Awaitable[Read]]
"""Reads a span. Raises ToolFailed."""


def rows_feed(name: str, signal: SignalName, read: Reading) -> Feed:
    """A feed over what `read` gives."""

    async def catch(stem: Path, span: Span) -> Caught:
        found = await read(span)
        path = stem.with_suffix(".jsonl")

        def write() -> None:
            with path.open("w", encoding="utf-8") as file:
                for row in found.rows:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")

        await to_thread.run_sync(write)
        return Caught(path, "jsonl", len(found.rows), found.left_out)

    return Feed(name, signal, catch)
