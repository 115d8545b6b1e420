"""Signed payloads: a DSSE envelope, whose signature covers type and payload alike (A4; pure)

    PAE = "DSSEv1" SP LEN(type) SP type SP LEN(payload) SP payload

(github.com/secure-systems-lab/dsse, protocol 1.0). Each type of payload belongs to one purpose, and
each purpose has a key of its own: what is signed as one thing is never read as another.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from affidavit.contract.errors import InternalFault
from affidavit.contract.states import Provenance
from affidavit.ports.signer import CheckSignature, Purpose, Signature, Signer, key_id

RUN_HEAD_RECORDED: Final = "application/vnd.affidavit.run-head.recorded+json"
RUN_HEAD_SUPPLIED: Final = "application/vnd.affidavit.run-head.supplied+json"
RETRACTION: Final = "application/vnd.affidavit.retraction+json"
WEBHOOK: Final = "application/vnd.affidavit.webhook+json"

PURPOSE_OF: Final[Mapping[str, Purpose]] = MappingProxyType(
    {
        RUN_HEAD_RECORDED: Purpose.RUN_HEADS,
        RUN_HEAD_SUPPLIED: Purpose.RUN_HEADS,
        RETRACTION: Purpose.RETRACTIONS,
        WEBHOOK: Purpose.WEBHOOKS,
    }
)
"""Which key signs which payload."""

RUN_HEAD_OF: Final[Mapping[Provenance, str]] = MappingProxyType(
    {Provenance.RECORDED: RUN_HEAD_RECORDED, Provenance.SUPPLIED: RUN_HEAD_SUPPLIED}
)
"""What we executed ourselves, and what came with somebody's answer, are two things (C12)."""


@dataclass(frozen=True, slots=True)
class Signed:
    """A payload of one type, and a signature over both."""

    payload_type: str
    payload: bytes
    signature: Signature

    @property
    def key_id(self) -> str:
        """The id of the key that signed."""
        return self.signature.key_id


def encode_pae(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed (DSSE's pre-authentication encoding)."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign_payload(signer: Signer, payload_type: str, payload: bytes) -> Signed:
    """The payload, signed. Raises `RecordFailed` where the signer cannot, and `InternalFault` for
    a payload that this signer's purpose does not cover."""
    if PURPOSE_OF.get(payload_type) is not signer.purpose:
        raise InternalFault(f"a key for {signer.purpose} does not sign {payload_type}")
    return Signed(payload_type, payload, signer.sign(encode_pae(payload_type, payload)))


def holds(signed: Signed, check: CheckSignature) -> bool:
    """Whether the signature is that of its key over type and payload."""
    message = encode_pae(signed.payload_type, signed.payload)
    return check(signed.signature.public_key, message, signed.signature.value)


def to_plain(signed: Signed) -> dict[str, object]:
    """The envelope as JSON, the public key beside it."""
    return {
        "envelope": {
            "payload": _to_text(signed.payload),
            "payloadType": signed.payload_type,
            "signatures": [{"keyid": signed.key_id, "sig": _to_text(signed.signature.value)}],
        },
        "public_key": _to_text(signed.signature.public_key),
    }


def read_plain(raw: object) -> Signed:
    """The signed payload in such JSON. Raises ValueError for any other shape, for base64 that is
    not written as we write it, and for a key id that is not the key's."""
    outer = _fields(raw, {"envelope", "public_key"})
    envelope = _fields(outer["envelope"], {"payload", "payloadType", "signatures"})
    signatures, kind = envelope["signatures"], envelope["payloadType"]
    if not isinstance(signatures, list) or len(signatures) != 1 or not isinstance(kind, str):
        raise ValueError("an envelope holds one signature over a payload of a type")
    entry = _fields(signatures[0], {"keyid", "sig"})
    public = _from_text(outer["public_key"])
    if entry["keyid"] != key_id(public):
        raise ValueError("the key id is not that of the public key")
    return Signed(
        kind, _from_text(envelope["payload"]), Signature(public, _from_text(entry["sig"]))
    )


def _fields(raw: object, names: set[str]) -> Mapping[str, object]:
    if not isinstance(raw, dict) or raw.keys() != names:
        raise ValueError("the signature is misshapen")
    return raw


def _to_text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _from_text(raw: object) -> bytes:
    """Bytes of base64, which has more than one way to write them; only one is taken."""
    if not isinstance(raw, str):
        raise ValueError("base64 was expected")
    try:
        content = base64.b64decode(raw.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError("base64 was expected") from None
    if _to_text(content) != raw:
        raise ValueError("base64 with stray bits")
    return content
