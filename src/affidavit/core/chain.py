"""The journal's hash chain: every line carries the hash of the one before (A4).

A line's hash covers its run, place, time, kind, data and the hash before it. An edit, deletion,
doubling or reordering breaks the chain at the first line that it touches; a cut tail shows by the
missing last line, and across runs only against an anchor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from affidavit.contract.journal import Entry, Event
from affidavit.core.canonical import canonical_json, digest

GENESIS: Final = "0" * 64
"""What the first line's `prev` says."""


def entry_hash(entry: Entry) -> str:
    """The hash that this line must carry."""
    return digest(canonical_json(body_of(entry)))


def body_of(entry: Entry) -> dict[str, object]:
    """What a line's hash covers: everything but the hash itself."""
    return {
        "run_id": entry.run_id,
        "seq": entry.seq,
        "at_us": entry.at_us,
        "type": str(entry.type),
        "data": entry.data,
        "prev": entry.prev,
    }


def extend(
    run_id: str, seq: int, prev: str, moment: datetime, events: Sequence[Event]
) -> tuple[Entry, ...]:
    """The events as the next lines of a run's journal; `seq` is the first new line's number.

    Raises NotCanonical for data that has no canonical form. The frame around the data is written
    here as canonical JSON writes it: its keys in order, its values integers, digests and names.
    """
    entries: list[Entry] = []
    at_us = to_us(moment)
    opening = f'{{"at_us":{_written(at_us)},"data":'
    run = _written(run_id)
    for place, event in enumerate(events, start=seq):
        closing = f'"prev":"{prev}","run_id":{run},"seq":{place},"type":"{event.type}"}}'
        own = digest(f"{opening}{_written(event.data)},{closing}".encode("ascii"))
        entries.append(Entry(run_id, place, at_us, event.type, event.data, prev, own))
        prev = own
    return tuple(entries)


def _written(value: object) -> str:
    return canonical_json(value).decode("ascii")


def first_break(run_id: str, entries: Iterable[Entry]) -> int | None:
    """The number of the first line that does not belong where it stands, or None."""
    prev, seq = GENESIS, 1
    for entry in entries:
        fits = entry.run_id == run_id and entry.seq == seq and entry.prev == prev
        if not fits or entry.hash != entry_hash(entry):
            return seq
        prev, seq = entry.hash, seq + 1
    return None


def to_us(moment: datetime) -> int:
    """Microseconds since 1970 UTC, exactly."""
    delta = moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
