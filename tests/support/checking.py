"""Re-checks and signatures of tests: a key that lives as long as they do."""

from __future__ import annotations

from typing import Final

from affidavit.adapters.ed25519_signer import MemorySigner, check_ed25519
from affidavit.affidavit import recheck as room
from affidavit.affidavit.seal import Sealer
from affidavit.affidavit.trust import Trust

SIGNER: Final = MemorySigner()
"""Whoever seals the runs of tests."""

KEY_ID: Final = SIGNER.sign(b"").key_id

SEALER: Final = Sealer(SIGNER)

NOBODY: Final = Trust(check_ed25519)
"""A reader who trusts no key."""

PINNED: Final = Trust(check_ed25519, frozenset({KEY_ID}))
"""A reader who pins the tests' own key."""


def recheck(content: bytes, trust: Trust = NOBODY) -> room.Recheck:
    """Every check, for a reader who trusts nobody if none is named."""
    return room.recheck(content, trust)
