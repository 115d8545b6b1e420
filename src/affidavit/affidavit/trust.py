"""Whose signature counts: pinned keys, trusted keys, revoked keys (A4; pure)

A file says which key signed it; that it is one of ours, only its reader can say. A pin is strict:
another signer is a failed check. A trust file is a list: a signer that is not on it is unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, ValidationError

from affidavit.contract.errors import InputRefused
from affidavit.contract.record import Record
from affidavit.ports.signer import CheckSignature, Purpose

KEY_ID: Final = re.compile(r"^[0-9a-f]{64}$")
"""What an id looks like: whole, since a short one can be had by trying out keys."""

TRUSTED_MAX: Final = 1000
"""Signers of a large organisation; a longer list is no list that a person looked at."""

NAME_CHARS_MAX: Final = 100
"""What a reader calls a key; it stands in one line with the verdict."""

KeyId = Annotated[str, StringConstraints(pattern=KEY_ID.pattern)]


class TrustedKey(Record):
    """One key of which its reader says: what it signs was recorded by `name`."""

    key_id: KeyId
    name: str = Field(default="", max_length=NAME_CHARS_MAX)
    purpose: Purpose = Purpose.RUN_HEADS


class TrustList(Record):
    """A trust file."""

    format: Literal["affidavit-trust/1"] = "affidavit-trust/1"
    trusted: tuple[TrustedKey, ...] = Field(default=(), max_length=TRUSTED_MAX)
    revoked: tuple[KeyId, ...] = Field(default=(), max_length=TRUSTED_MAX)

    def with_key(self, key: TrustedKey) -> TrustList:
        """The list with that key on it, in place of an older entry of the same id.

        Raises `InputRefused` (TRUST_REFUSED) where it is full.
        """
        others = tuple(item for item in self.trusted if item.key_id != key.key_id)
        _refuse_full(len(others) + 1, "trusted")
        return TrustList(trusted=(*others, key), revoked=self.revoked)

    def without(self, identity: str) -> TrustList:
        """The list with that key revoked, for good. Raises as `with_key`."""
        others = tuple(item for item in self.revoked if item != identity)
        kept = tuple(item for item in self.trusted if item.key_id != identity)
        _refuse_full(len(others) + 1, "revoked")
        return TrustList(trusted=kept, revoked=(*others, identity))


def _refuse_full(count: int, which: str) -> None:
    if count > TRUSTED_MAX:
        raise InputRefused(
            f"the trust file holds {TRUSTED_MAX} {which} keys already",
            code="TRUST_REFUSED",
            hint="take out of the file what nobody uses any more",
        )


def read_trust(content: bytes) -> TrustList:
    """The list in these bytes. Raises `InputRefused` (TRUST_REFUSED)."""
    try:
        return TrustList.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputRefused(
            f"the trust file cannot be read: {where}: {first['msg']}",
            code="TRUST_REFUSED",
            hint="add a key with `affidavit keys trust`, or mend the file",
        ) from None


def write_trust(trust: TrustList) -> bytes:
    """The list as a file that a person can read."""
    return (trust.model_dump_json(indent=2) + "\n").encode("utf-8")


_NONE: Final = TrustList()


@dataclass(frozen=True, slots=True)
class Trust:
    """What a reader knows of signers, and how a signature is checked.

    With `pinned` keys nothing but they count; `revoked` ones never do.
    """

    check: CheckSignature
    pinned: frozenset[str] = frozenset()
    known: TrustList = _NONE

    def name_of(self, identity: str, purpose: Purpose) -> str | None:
        """What its reader calls the key; None for a key that is not trusted for that purpose."""
        if identity in self.known.revoked:
            return None
        named = (
            item.name or "a trusted key"
            for item in self.known.trusted
            if item.key_id == identity and item.purpose is purpose
        )
        if self.pinned:
            return next(named, "the pinned key") if identity in self.pinned else None
        return next(named, None)
