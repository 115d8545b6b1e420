"""Ed25519 (RFC 8032) through `cryptography`, and what that library lets through and we do not.

OpenSSL accepts a public key of small order, under which one signature holds for every message, and
a key that is written in two ways. Both are refused before anything is checked with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from affidavit.contract.errors import RecordFailed
from affidavit.ports.signer import PUBLIC_KEY_BYTES, SIGNATURE_BYTES, Purpose, Signature

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_P: Final = 2**255 - 19
"""The field's prime; a coordinate is canonical below it."""

_ORDER_8_Y: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
"""The y of a point of order eight; its negative is the other one."""

SMALL_ORDER_Y: Final = frozenset({0, 1, _P - 1, _ORDER_8_Y, _P - _ORDER_8_Y})
"""Every y of the eight points whose order divides eight, of either sign."""


def is_sound_key(public_key: bytes) -> bool:
    """Whether these bytes are a public key that may be believed: 32 bytes, canonical, of large
    order (RFC 8032 section 5.1.3; architecture.md, engineering facts)."""
    if len(public_key) != PUBLIC_KEY_BYTES:
        return False
    y = int.from_bytes(public_key, "little") & ((1 << 255) - 1)
    return y < _P and y not in SMALL_ORDER_Y


def check_ed25519(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature holds (`ports.signer.CheckSignature`)."""
    if not is_sound_key(public_key) or len(signature) != SIGNATURE_BYTES:
        return False
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def sign_with(key: Ed25519PrivateKey, message: bytes) -> Signature:
    """The signature of this key over these bytes."""
    return Signature(key.public_key().public_bytes_raw(), key.sign(message))


class MemorySigner:
    """A key that lives in this process alone: for tests and for trials that nobody will pin.

    Raises `RecordFailed` (SIGNING_MISSING) without the `cryptography` package.
    """

    def __init__(self, purpose: Purpose = Purpose.RUN_HEADS) -> None:
        self._purpose = purpose
        self._key = new_key()

    @property
    def purpose(self) -> Purpose:
        """See `Signer.purpose`."""
        return self._purpose

    def ready(self) -> None:
        """It was made with this object."""

    def sign(self, message: bytes) -> Signature:
        """See `Signer.sign`."""
        return sign_with(self._key, message)


def new_key() -> Ed25519PrivateKey:
    """A fresh private key. Raises `RecordFailed` (SIGNING_MISSING)."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise signing_missing() from None
    return Ed25519PrivateKey.generate()


def signing_missing() -> RecordFailed:
    """What is said where nothing can be signed."""
    return RecordFailed(
        "an answer cannot be signed: the package cryptography is not installed",
        code="SIGNING_MISSING",
        hint="pip install 'affidavit[sign]'",
    )
