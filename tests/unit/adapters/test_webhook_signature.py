"""The signature of an outgoing webhook."""

from __future__ import annotations

import pytest

from affidavit.adapters.webhook_signature import TOLERANCE_S, is_signed, sign

BODY = b'{"a": 1}'


def test_what_was_signed_is_accepted_by_any_secret_in_rotation() -> None:
    header = sign(BODY, ("old", "new"), 1000)
    assert is_signed(BODY, header, ("new",), 1000)
    assert is_signed(BODY, header, ("other", "old"), 1000 + TOLERANCE_S)


@pytest.mark.spec("I5")
def test_a_message_cannot_be_sent_again_later_or_under_another_time() -> None:
    header = sign(BODY, ("key",), 1000)
    assert not is_signed(BODY, header, ("key",), 1001 + TOLERANCE_S)
    later = header.replace("t=1000", "t=5000")
    assert not is_signed(BODY, later, ("key",), 5000)
    assert not is_signed(BODY, f"t=5000,{header}", ("key",), 5000)


@pytest.mark.parametrize("header", ["", "t=1000", "v1=00", "t=x,v1=00", "t=1000,v1=ü", "t=²,v1=0"])
def test_anything_else_is_not(header: str) -> None:
    assert not is_signed(BODY, header, ("key",), 1000)


def test_other_bytes_are_not_signed() -> None:
    assert not is_signed(BODY + b" ", sign(BODY, ("key",), 1000), ("key",), 1000)


def test_the_form_is_the_documented_one() -> None:
    """A receiver elsewhere computes the same: HMAC-SHA256 over time, full stop and body:
    printf '1.{}' | openssl dgst -sha256 -hmac secret"""
    expected = "1122767b193110cfec322b6f199b599edbf608ed087f2d27afb0b97d99523908"
    assert sign(b"{}", ("secret",), 1) == f"t=1,v1={expected}"
