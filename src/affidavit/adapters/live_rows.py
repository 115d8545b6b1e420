"""A feed of rows that a back end answered: written beside the other parts of its table."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from anyio import to_thread

from affidavit.adapters.live_telemetry import Caught, Feed, open_text
from affidavit.adapters.prometheus import Span
from affidavit.ports.telemetry import SignalName


@dataclass(frozen=True, slots=True)
class Read:
    """Rows by our columns (docs/incident-folder.md), `timestamp` in microseconds since the epoch;
    and what was not read, worded."""

    rows: Sequence[Mapping[str, object]]
    left_out: tuple[str, ...] = ()


TEXT_CHARS_MAX: Final = 16_000
"""Of one text on its way into a table, which cuts it further and says so: a longer line must not
cost the whole reading."""

Reading: TypeAlias = Callable[[Span], Awaitable[Read]]
"""Reads a span. Raises ToolFailed."""


def rows_feed(name: str, signal: SignalName, read: Reading) -> Feed:
    """A feed over what `read` gives."""

    async def catch(stem: Path, span: Span) -> Caught:
        found = await read(span)
        path = stem.with_suffix(".jsonl")

        def write() -> None:
            with open_text(path) as file:
                for row in found.rows:
                    short = {name: _short(value) for name, value in row.items()}
                    file.write(json.dumps(short, ensure_ascii=False) + "\n")

        await to_thread.run_sync(write)
        return Caught(path, "jsonl", len(found.rows), found.left_out)

    return Feed(name, signal, catch)


def _short(value: object) -> object:
    return value[:TEXT_CHARS_MAX] if isinstance(value, str) else value
