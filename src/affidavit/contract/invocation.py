"""`CanonicalToolInvocation`: the only truth about a tool call (C1, C3)."""

from __future__ import annotations

from affidavit.contract.evidence import Scope
from affidavit.contract.record import Instant, Record
from affidavit.contract.states import (
    EvidenceClass,
    EvidenceStatus,
    InvocationStatus,
    Provenance,
)


class CanonicalToolInvocation(Record):
    """One call, as the harness recorded it. Its key is (run_id, tool_call_id).

    `request_digest`, `raw_digest` and `result_digest` address artifacts: the request and the raw
    response never leave the store; the result is the canonical JSON of an `Envelope`. Digests are
    lower-case SHA-256 hex.
    """

    run_id: str
    tenant: str
    tool_call_id: str
    tool: str
    scope: Scope
    status: InvocationStatus
    evidence_status: EvidenceStatus | None = None
    evidence_class: EvidenceClass = EvidenceClass.OBSERVATION
    provenance: Provenance = Provenance.RECORDED
    error_code: str | None = None
    request_digest: str
    raw_digest: str | None = None
    result_digest: str | None = None
    started_at: Instant
    completed_at: Instant | None = None
    attempts: int = 1
    truncated: bool = False
    agent_path: str = ""

    def is_referencable_by(self, run_id: str, tenant: str) -> bool:
        """Whether that run may cite this call: READY and its own (C3)."""
        return (
            self.status is InvocationStatus.READY
            and self.run_id == run_id
            and self.tenant == tenant
        )
