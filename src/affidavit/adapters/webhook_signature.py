"""The signature of an outgoing webhook, made and checked (pure).

    Affidavit-Signature: t=1764550800,v1=<hex>[,v1=<hex>]

`v1` is HMAC-SHA256 over `t`, a full stop and the body's bytes. The time is part of what is signed,
so a captured message cannot be sent again later; one `v1` a secret, so that a secret can be changed
without a gap. A receiver in any language needs `t`, its secret, and a comparison in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

SIGNATURE_HEADER: Final = "Affidavit-Signature"

TOLERANCE_S: Final = 300
"""How far a receiver's clock may be off, and how old a message may be."""


def sign(body: bytes, secrets: Sequence[str], at_s: int) -> str:
    """The header's value."""
    signed = ",".join(f"v1={_digest(secret, body, at_s)}" for secret in secrets)
    return f"t={at_s},{signed}"


def is_signed(
    body: bytes, header: str, secrets: Sequence[str], now_s: float, tolerance_s: int = TOLERANCE_S
) -> bool:
    """Whether one of the secrets signed these bytes, not too long ago."""
    parts = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    if len(times) != 1 or not times[0].isascii() or not times[0].isdigit():
        return False
    at_s = int(times[0])
    offered = [value.encode("utf-8", "replace") for name, _, value in parts if name == "v1"]
    matched = False
    for secret in secrets:
        expected = _digest(secret, body, at_s).encode()
        for signature in offered:
            matched |= hmac.compare_digest(expected, signature)
    return matched and abs(now_s - at_s) <= tolerance_s


def _digest(secret: str, body: bytes, at_s: int) -> str:
    return hmac.new(secret.encode(), b"%d." % at_s + body, hashlib.sha256).hexdigest()
