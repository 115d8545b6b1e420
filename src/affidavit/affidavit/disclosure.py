"""Showing one raw response against a file that holds only its commitment (A5, C2; pure)

The journal names each response by SHA-256 over 32 random bytes and the response after them
(`ledger.commitment`). Whoever is given both can check that this was the response, and nobody else
can guess it. A file of version 0 has no salt: there the response alone is what was named.
"""

from __future__ import annotations

from collections.abc import Iterable

from affidavit.affidavit.journal_checks import Broken, line_at
from affidavit.contract.journal import Entry, EventType
from affidavit.core.canonical import digest


def commitment_of(journal: Iterable[Entry], tool_call_id: str) -> tuple[int, str] | None:
    """The place of the line that names the response of a call, and the digest there; None where
    that call has no response."""
    for place, entry in enumerate(journal):
        is_response = entry.type is EventType.TOOL_CALL_PROJECTING
        if is_response and entry.data["tool_call_id"] == tool_call_id:
            return place, str(entry.data["raw_digest"])
    return None


def check_response(journal: Iterable[Entry], tool_call_id: str, content: bytes) -> None:
    """These bytes, salt and response, are what the call answered. Raises `Broken`."""
    named = commitment_of(journal, tool_call_id)
    if named is None:
        raise Broken("/journal", f"no call {tool_call_id} of this run has a response")
    place, commitment = named
    if digest(content) != commitment:
        raise Broken(f"{line_at(place)}/data/raw_digest", f"{tool_call_id} answered otherwise")
