"""A place that is told of every sealed head, and that whoever can change the store cannot (A4).

Telling is repeated when it is not known whether it came, and a head that got lost is covered by the
next one, which names it by digest. Another package offers a further kind by an entry point
(`adapters.anchor_plugins`): a time-stamping authority (RFC 3161), for one, is told the head's
digest, and the token that it answers is kept beside it.
"""

from __future__ import annotations

from typing import Protocol

from affidavit.ports.store import SealedHead


class Anchor(Protocol):
    """Where heads are told."""

    @property
    def name(self) -> str:
        """What it is called in messages: kind and place."""
        ...

    async def tell(self, head: SealedHead, line: bytes) -> None:
        """The head is known there when this returns. `line` is what stands for it: one canonical
        line without its line break. Raises `RecordFailed` (ANCHOR_FAILED)."""
        ...
