"""A line of the journal as a row of plain values, and back.

The data is kept as canonical JSON text (sorted keys, ASCII, no spaces), so that what is read back
can be held against itself: text that is not exactly what this module writes was written by
somebody else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, TypeAlias

from affidavit.contract.errors import RecordFailed
from affidavit.contract.journal import Entry, EventType

Row: TypeAlias = tuple[str, int, int, str, str, str, str]
"""run_id, seq, at_us, type, data, prev, hash."""


def write_line(entry: Entry) -> Row:
    """The line as a row.

    Raises `RecordFailed` (LINE_UNWRITABLE) for data that JSON cannot hold. Floats never get here:
    the chain hashed this data, and it refuses them.
    """
    try:
        text = _to_text(entry.data)
    except (TypeError, ValueError) as error:
        raise RecordFailed(
            f"line {entry.seq} of run {entry.run_id} cannot be written: {error}",
            code="LINE_UNWRITABLE",
        ) from error
    return (entry.run_id, entry.seq, entry.at_us, str(entry.type), text, entry.prev, entry.hash)


def read_line(row: Row) -> Entry:
    """The line that the row holds, with every list in its data a tuple.

    Raises `RecordFailed` (STORE_DAMAGED) for a row that `write_line` cannot have made.
    """
    run_id, seq, at_us, type_, text, prev, hash_ = row
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or _to_text(data) != text:
            raise ValueError("data in a form that is not ours")
        frozen = {key: _freeze(value) for key, value in data.items()}
        return Entry(run_id, seq, at_us, EventType(type_), frozen, prev, hash_)
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordFailed(
            f"line {seq} of run {run_id} is not what was written: the store was altered or is "
            "damaged",
            code="STORE_DAMAGED",
            hint="restore the store from a copy; the affidavits that were handed out still verify",
        ) from error


def _to_text(data: Mapping[str, object]) -> str:
    return _ENCODER.encode(data)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain
)
"""Made once: `json.dumps` with options makes one for every line."""


def _freeze(value: object) -> object:
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    return value
