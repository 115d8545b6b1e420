"""What is signed is what others call a DSSE envelope, and one purpose never signs for another."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope
from securesystemslib.signer._key import SSlibKey

from affidavit.adapters.ed25519_signer import MemorySigner, check_ed25519
from affidavit.affidavit.dsse import (
    PURPOSE_OF,
    RETRACTION,
    RUN_HEAD_RECORDED,
    Signed,
    encode_pae,
    holds,
    read_plain,
    sign_payload,
    to_plain,
)
from affidavit.contract.errors import InternalFault
from affidavit.ports.signer import Purpose, Signature

pytestmark = pytest.mark.spec("A4")


@given(kind=st.text(max_size=40), payload=st.binary(max_size=200))
def test_the_signed_bytes_are_those_of_another_implementation(kind: str, payload: bytes) -> None:
    try:
        expected = Envelope(payload, kind, {}).pae()
    except UnicodeEncodeError:
        return
    assert encode_pae(kind, payload) == expected


def test_another_implementation_accepts_our_envelope() -> None:
    signer = MemorySigner()
    plain: Any = to_plain(sign_payload(signer, RUN_HEAD_RECORDED, b'{"a":1}'))
    envelope = Envelope.from_dict(json.loads(json.dumps(plain["envelope"])))
    public = base64.b64decode(plain["public_key"]).hex()
    keyid = plain["envelope"]["signatures"][0]["keyid"]
    key = SSlibKey(keyid, "ed25519", "ed25519", {"public": public})
    assert set(envelope.verify([key], 1)) == {keyid}


@given(kinds=st.tuples(st.text(max_size=9), st.text(max_size=9)), payload=st.binary(max_size=20))
def test_type_and_payload_cannot_run_into_each_other(
    kinds: tuple[str, str], payload: bytes
) -> None:
    first, second = (kind.encode("utf-8", "replace").decode() for kind in kinds)
    moved = second.encode() + payload
    assert (encode_pae(first, moved) == encode_pae(first + second, payload)) == (second == "")


def test_a_key_signs_for_its_own_purpose_alone() -> None:
    for kind, purpose in PURPOSE_OF.items():
        for other in Purpose:
            signer = MemorySigner(other)
            if other is purpose:
                assert holds(sign_payload(signer, kind, b"x"), check_ed25519)
            else:
                with pytest.raises(InternalFault, match="does not sign"):
                    sign_payload(signer, kind, b"x")
    with pytest.raises(InternalFault, match="does not sign"):
        sign_payload(MemorySigner(), "text/plain", b"x")


def test_a_signature_of_one_type_is_none_of_another() -> None:
    signed = sign_payload(MemorySigner(), RUN_HEAD_RECORDED, b"x")
    assert not holds(Signed(RETRACTION, b"x", signed.signature), check_ed25519)
    assert not holds(Signed(RUN_HEAD_RECORDED, b"y", signed.signature), check_ed25519)


def test_an_envelope_reads_back_and_nothing_else_does() -> None:
    signed = sign_payload(MemorySigner(), RUN_HEAD_RECORDED, b"x")
    plain: Any = to_plain(signed)
    assert read_plain(json.loads(json.dumps(plain))) == signed
    entry = plain["envelope"]["signatures"][0]
    other = Signature(MemorySigner().sign(b"").public_key, signed.signature.value)
    wrong: list[object] = [
        None,
        [],
        {},
        {**plain, "more": 1},
        {"envelope": plain["envelope"]},
        {**plain, "public_key": plain["public_key"] + "="},
        {**plain, "public_key": to_plain(Signed(signed.payload_type, b"x", other))["public_key"]},
    ]
    changes: tuple[dict[str, object], ...] = (
        {"payload": "x"},
        {"payload": "eA"},
        {"payload": "eB=="},
        {"payload": "é"},
        {"payload": 1},
        {"payloadType": None},
        {"signatures": []},
        {"signatures": [entry, entry]},
        {"signatures": [{**entry, "keyid": "0" * 64}]},
        {"signatures": [{"sig": entry["sig"]}]},
        {"extra": 1},
    )
    wrong += [{**plain, "envelope": {**plain["envelope"], **change}} for change in changes]
    for raw in wrong:
        with pytest.raises(ValueError, match=r"signature|base64|key id|envelope"):
            read_plain(raw)
