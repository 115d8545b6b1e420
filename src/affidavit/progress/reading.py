"""Reading a tracked call back: the record under that id, with that identity, or a code (P1)."""

from __future__ import annotations

import re
from typing import Final

from affidavit.ledger.snapshot import LedgerSnapshot, Unverified, Verified
from affidavit.progress.tracker import TrackedCall

UNFINISHED: Final = "UNFINISHED"
"""The code of a call that was still under way when the run ended."""

IDENTITY_MISMATCH: Final = "IDENTITY_MISMATCH"
"""The code of a record whose tool or scope is not that of the call that was tracked."""

_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{1,63}", re.ASCII)


def read_tracked(call: TrackedCall, ledger: LedgerSnapshot) -> Verified | str:
    """The call as the ledger holds it, or the stable code that says why it is no fact."""
    read = ledger.read_back(call.tool_call_id)
    if isinstance(read, Verified):
        same = read.record.tool == call.tool and call.scope in (None, read.record.scope)
        return read if same else IDENTITY_MISMATCH
    return _reason(call, read, ledger)


def _reason(call: TrackedCall, read: Unverified, ledger: LedgerSnapshot) -> str:
    """What the record itself says about its failure; else the code of the read-back."""
    stored = ledger.calls.get(call.tool_call_id)
    record = stored.record if stored else None
    if record is not None and record.error_code is not None:
        return stable_code(record.error_code) or "TOOL_FAILED"
    if record is not None and record.evidence_status is None:
        return UNFINISHED
    return str(read.code)


def stable_code(text: str) -> str | None:
    """The text if it is a stable code, else None: no other text of an error is ever shown (N2)."""
    return text if _CODE.fullmatch(text) else None
