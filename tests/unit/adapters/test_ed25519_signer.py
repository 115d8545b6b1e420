"""Ed25519 as we take it: no key under which a signature holds for what nobody signed (A4)."""

from __future__ import annotations

from typing import Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from affidavit.adapters.ed25519_signer import (
    SMALL_ORDER_Y,
    MemorySigner,
    check_ed25519,
    is_sound_key,
)

pytestmark = pytest.mark.spec("A4")

P: Final = 2**255 - 19
L: Final = 2**252 + 27742317777372353535851937790883648493
D: Final = -121665 * pow(121666, P - 2, P) % P


def x_of(y: int) -> int | None:
    """An x of the point with that y, or None where the curve has none (RFC 8032 5.1.3)."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return None if (x * x - square) % P else x


def double(point: tuple[int, int]) -> tuple[int, int]:
    x, y = point
    product = D * x * x * y * y
    return (
        2 * x * y * pow(1 + product, P - 2, P) % P,
        (y * y + x * x) * pow(1 - product, P - 2, P) % P,
    )


def test_the_refused_points_are_those_of_small_order() -> None:
    """Eight times each of them is the neutral point, and there are no others."""
    count = 0
    for y in SMALL_ORDER_Y:
        x = x_of(y)
        assert x is not None
        assert double(double(double((x, y)))) == (0, 1)
        count += 1 if x == 0 else 2
    assert count == 8


@pytest.mark.parametrize("y", sorted(SMALL_ORDER_Y))
@pytest.mark.parametrize("sign", [0, 1])
def test_a_key_of_small_order_is_refused(y: int, sign: int) -> None:
    assert not is_sound_key((y | sign << 255).to_bytes(32, "little"))


def test_the_library_alone_would_take_one_signature_for_every_message() -> None:
    """Why we look at the key first: this is what OpenSSL lets through."""
    neutral = (1).to_bytes(32, "little")
    forged = neutral + bytes(32)
    for message in (b"one", b"another"):
        Ed25519PublicKey.from_public_bytes(neutral).verify(forged, message)
        assert not check_ed25519(neutral, message, forged)


@pytest.mark.parametrize("y", [P, P + 1, 2**255 - 1])
def test_a_key_that_is_written_in_two_ways_is_refused(y: int) -> None:
    assert not is_sound_key(y.to_bytes(32, "little"))


def test_a_signature_has_one_form_only() -> None:
    """S and S + L would both satisfy the equation; RFC 8032 takes the smaller one alone."""
    signature = MemorySigner().sign(b"message")
    public, value = signature.public_key, signature.value
    assert check_ed25519(public, b"message", value)
    s = int.from_bytes(value[32:], "little") + L
    assert not check_ed25519(public, b"message", value[:32] + s.to_bytes(32, "little"))
    assert not check_ed25519(public, b"another", value)
    for wrong in (b"", value[:-1], value + b"\0"):
        assert not check_ed25519(public, b"message", wrong)
    for wrong in (b"", public[:-1], public + b"\0"):
        assert not check_ed25519(wrong, b"message", value)


def test_every_bit_of_key_and_signature_counts() -> None:
    signature = MemorySigner().sign(b"message")
    both = signature.public_key + signature.value
    for place in range(len(both) * 8):
        changed = bytearray(both)
        changed[place // 8] ^= 1 << place % 8
        assert not check_ed25519(bytes(changed[:32]), b"message", bytes(changed[32:]))
