"""A commitment to a raw response: it can be checked later, and not guessed now (A5).

    artifact   salt (32 random bytes) + the response
    address    SHA-256 of the artifact: what the journal holds

A response may be as short as `[]`; without a salt its digest would say what it was. The salt lives
and expires with the response, and never stands in journal or file.
"""

from __future__ import annotations

import secrets
from typing import Final

SALT_BYTES: Final = 32
"""As long as the digest, so that neither is the weaker one."""


def commit(raw: bytes) -> bytes:
    """The response with a fresh salt before it."""
    return secrets.token_bytes(SALT_BYTES) + raw
