"""Re-checking what closes a file: its signature, its head, and whose key it is (A4; pure)

Each function raises `Broken` at the first thing that does not hold, and says nothing otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from affidavit.affidavit.document import UNSIGNED, Document, digest_of
from affidavit.affidavit.dsse import PURPOSE_OF, RUN_HEAD_OF, holds
from affidavit.affidavit.head import Head, read_head
from affidavit.affidavit.journal_checks import Broken
from affidavit.affidavit.seal import head_of
from affidavit.affidavit.trust import Trust
from affidavit.ports.signer import Purpose

ENVELOPE: Final = "/signature/envelope"
PAYLOAD: Final = f"{ENVELOPE}/payload"


@dataclass(frozen=True, slots=True)
class SignedBy:
    """Whose signature a file carries; `name` is None where its reader does not know the key."""

    key_id: str
    name: str | None


def check_signature(document: Document, trust: Trust) -> None:
    """The signature is that of the key in the file, over a head of a run; in version 0, the plain
    digest is that of everything else."""
    if document.format == UNSIGNED:
        if document.digest != digest_of(document):
            raise Broken("/digest", "something in the file is not what it was when it was sealed")
        return
    signed = document.signed
    if signed is None:
        raise Broken("/signature", "the file is not signed")
    if PURPOSE_OF.get(signed.payload_type) is not Purpose.RUN_HEADS:
        raise Broken(f"{ENVELOPE}/payloadType", "this is no head of a run")
    if not holds(signed, trust.check):
        raise Broken(f"{ENVELOPE}/signatures/0/sig", "this key did not sign this head")


def check_head(document: Document) -> None:
    """The signed head is that of this very file, field by field."""
    if document.signed is None:
        return
    head = signed_head(document)
    expected = head_of(document, head.number, head.previous)
    for field in Head.model_fields:
        if getattr(head, field) != getattr(expected, field):
            raise Broken(PAYLOAD, f"the file is not what was signed: its {field} is another")
    if document.signed.payload_type != RUN_HEAD_OF[head.provenance]:
        raise Broken(f"{ENVELOPE}/payloadType", "recorded and supplied are signed as two things")


def signed_head(document: Document) -> Head:
    """The head in a signed file. Raises `Broken` when it is none."""
    if document.signed is None:
        raise Broken("/signature", "the file is not signed")
    try:
        return read_head(document.signed.payload)
    except ValueError as error:
        raise Broken(PAYLOAD, str(error)) from None


def check_signer(document: Document, trust: Trust) -> None:
    """The key is not revoked, and it is a pinned one where keys are pinned."""
    signed = document.signed
    if signed is None:
        if trust.pinned:
            raise Broken("/format", "the file is not signed, and a key is pinned")
        return
    if signed.key_id in trust.known.revoked:
        raise Broken("/signature/public_key", f"the key {signed.key_id} was revoked")
    if trust.pinned and signed.key_id not in trust.pinned:
        raise Broken("/signature/public_key", f"another key signed: {signed.key_id}")


def signer_of(document: Document, trust: Trust) -> SignedBy | None:
    """Whose signature it is; None for a file that is not signed."""
    signed = document.signed
    if signed is None:
        return None
    return SignedBy(signed.key_id, trust.name_of(signed.key_id, Purpose.RUN_HEADS))
