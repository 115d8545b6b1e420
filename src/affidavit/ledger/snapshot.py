"""One run's ledger, frozen, and the one reader that progress and EvidenceGuard share (P1, G7, G11).

Reading back is the triple check: the record exists under this run's key with that identity; it is
READY and this run's own; its stored projection parses strictly and agrees with the record. What
fails is a code, never half a fact. Pure: no clock, no I/O.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from affidavit.contract.evidence import Envelope
from affidavit.contract.ids import is_call_id
from affidavit.contract.invocation import CanonicalToolInvocation
from affidavit.contract.states import EVIDENCE_OF, InvocationStatus
from affidavit.contract.violations import EvidenceCode


@dataclass(frozen=True, slots=True)
class StoredCall:
    """What the store holds for one key: the record, and the projection's bytes if they live."""

    record: CanonicalToolInvocation
    result: bytes | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """A call that was read back: its record and its projection agree."""

    record: CanonicalToolInvocation
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Unverified:
    """A call that cannot be cited, and the stable reason."""

    code: EvidenceCode


@dataclass(frozen=True, slots=True)
class LedgerSnapshot:
    """Every record of one run at one moment, by the call id under which it is stored.

    `tools` are the names that the catalogue knows; a record of another tool is never evidence.
    `parsed` are projections by the digests of the very bytes that they were strictly parsed from.
    """

    run_id: str
    tenant: str
    calls: Mapping[str, StoredCall]
    tools: frozenset[str]
    _read: dict[str, Verified | Unverified] = field(default_factory=dict, compare=False, repr=False)
    parsed: Mapping[str, Envelope] = field(default_factory=dict, compare=False, repr=False)

    def read_back(self, tool_call_id: str) -> Verified | Unverified:
        """The triple check, once a call id and snapshot (G11)."""
        known = self._read.get(tool_call_id)
        if known is None:
            known = self._read[tool_call_id] = self._check(tool_call_id)
        return known

    def _check(self, tool_call_id: str) -> Verified | Unverified:
        if not is_call_id(tool_call_id):
            return Unverified(EvidenceCode.TOOL_CALL_ID_MALFORMED)
        stored = self.calls.get(tool_call_id)
        if stored is None:
            return Unverified(EvidenceCode.INVOCATION_NOT_FOUND)
        record = stored.record
        if record.tool_call_id != tool_call_id:
            return Unverified(EvidenceCode.INVOCATION_ID_MISMATCH)
        if record.run_id != self.run_id or record.tenant != self.tenant:
            return Unverified(EvidenceCode.INVOCATION_RUN_MISMATCH)
        if record.status is not InvocationStatus.READY:
            return Unverified(EvidenceCode.INVOCATION_NOT_READY)
        if record.tool not in self.tools:
            return Unverified(EvidenceCode.TOOL_UNSUPPORTED)
        return _agree(record, stored.result, self.parsed)


def _agree(
    record: CanonicalToolInvocation, result: bytes | None, parsed: Mapping[str, Envelope]
) -> Verified | Unverified:
    """Whether the stored projection parses strictly and says what the record says."""
    if result is None:
        return Unverified(EvidenceCode.AGENT_RESULT_UNPARSABLE)
    address = hashlib.sha256(result).hexdigest()
    try:
        envelope = parsed.get(address) or Envelope.model_validate_json(result)
    except ValidationError:
        return Unverified(EvidenceCode.AGENT_RESULT_UNPARSABLE)
    agrees = (
        address == record.result_digest
        and envelope.status is record.evidence_status
        and record.evidence_status in EVIDENCE_OF[record.status]
        and envelope.scope == record.scope
        and envelope.scope.tenant == record.tenant
        and envelope.evidence_class is record.evidence_class
        and envelope.truncated == record.truncated
        and record.error_code is None
        and envelope.contradiction() is None
    )
    if not agrees:
        return Unverified(EvidenceCode.AGENT_RESULT_INCONSISTENT)
    return Verified(record, envelope)
