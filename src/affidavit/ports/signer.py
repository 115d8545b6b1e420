"""Who signs: a key that says "recorded here" and nothing else (A4).

A key has one purpose, and signs what belongs to it alone: whoever gets one key cannot speak for
another. A key's id is the SHA-256 of its public bytes, so an id that a person pins needs no
directory to be looked up in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

PUBLIC_KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
"""Of Ed25519 (RFC 8032)."""


class Purpose(StrEnum):
    """What a key may sign; no two purposes share a key."""

    RUN_HEADS = "run-heads"
    RETRACTIONS = "retractions"
    WEBHOOKS = "webhooks"


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature and the public key that it was made with, both raw bytes (RFC 8032)."""

    public_key: bytes
    value: bytes

    @property
    def key_id(self) -> str:
        """The id of the key."""
        return key_id(self.public_key)


class Signer(Protocol):
    """A private key behind a wall: its bytes never leave."""

    @property
    def purpose(self) -> Purpose:
        """What this key may sign."""
        ...

    def ready(self) -> None:
        """Once this returned, there is a key that may be used: it is made now if there is none.

        Raises `RecordFailed` as `sign` does.
        """
        ...

    def sign(self, message: bytes) -> Signature:
        """The signature over exactly these bytes, made now, with the key in force now.

        Raises `RecordFailed` (KEY_REFUSED, KEY_UNREADABLE) when there is no key that may be used:
        then what should have been signed must not be published (L5).
        """
        ...


CheckSignature: TypeAlias = Callable[[bytes, bytes, bytes], bool]
"""Whether a signature holds: public key, message, signature. False for anything malformed, and for
a key under which a signature would hold for messages that nobody signed."""


def key_id(public_key: bytes) -> str:
    """The id of a public key: the lower-case SHA-256 hex of its 32 bytes."""
    return hashlib.sha256(public_key).hexdigest()
