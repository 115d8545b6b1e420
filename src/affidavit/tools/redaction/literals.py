"""The bytes of a JSON document: which literal stands where, and some of them written anew."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Final

from affidavit.core.canonical import NotCanonical, canonical_json

_LITERAL: Final = re.compile(
    rb"\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\"|-?(?:[0-9][0-9.eE+-]*+|Infinity)|NaN", re.DOTALL
)


SKIPPED_AT_ONCE: Final = (64, 8)
"""Literals that one match passes over on the way to one that changes."""

_SKIPPED: Final = {
    size: re.compile(rb"(?:[^\"\-0-9NI]*+(?:" + _LITERAL.pattern + rb")){%d}" % size, re.DOTALL)
    for size in SKIPPED_AT_ONCE
}


class Members(tuple[tuple[str, object], ...]):
    """An object as its pairs, in order, doubled keys and all."""

    __slots__ = ()


@dataclass(slots=True)
class Edits:
    """The literals of one document by their place in its bytes, and what becomes of them."""

    place: int = 0
    changed: dict[int, str] = field(default_factory=dict)

    def take(self, old: object, new: object) -> None:
        """The next literal of the document was read."""
        if new is not old and new != old:
            self.changed[self.place] = str(new)
        self.place += 1


def rewritten(raw: bytes, edits: Edits) -> bytes:
    """The bytes of a document with some of its literals written anew."""
    if not edits.changed:
        return raw
    parts: list[bytes] = []
    done = at = place = 0
    for target in sorted(edits.changed):
        for size, skipped in _SKIPPED.items():
            while place + size <= target and (many := skipped.match(raw, at)):
                at, place = many.end(), place + size
        for found in _LITERAL.finditer(raw, at):
            at = found.end()
            if place == target:
                literal = json.dumps(edits.changed[target]).encode("ascii")
                parts += [raw[done : found.start()], literal]
                done = at
            place += 1
            if place > target:
                break
    return b"".join([*parts, raw[done:]])


def end_of_document(raw: bytes, start: int) -> int:
    """Where the document that begins at `start` ends; `start` when there is none."""
    text = raw[start:].decode("utf-8", "surrogateescape")
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return start
    return start + len(text[:end].encode("utf-8", "surrogateescape"))


def is_canonical(raw: bytes) -> bool:
    """Whether bytes are a container in canonical JSON."""
    if raw[:1] not in {b"{", b"["} or raw[-1:] not in {b"}", b"]"}:
        return False
    try:
        return canonical_json(json.loads(raw)) == raw
    except (NotCanonical, ValueError, RecursionError):
        return False
