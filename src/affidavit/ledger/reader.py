"""From a run's journal and artifacts to its ledger snapshot (C1, C2).

A canonical record is what the journal says about a call, plus its request artifact. A record whose
request artifact is gone or altered is left out: it cannot be cited, and EvidenceGuard will say so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from affidavit.contract.evidence import Envelope, Scope
from affidavit.contract.invocation import CanonicalToolInvocation
from affidavit.contract.journal import EventType
from affidavit.contract.states import (
    EvidenceClass,
    EvidenceStatus,
    InvocationStatus,
    Provenance,
)
from affidavit.core.canonical import digest
from affidavit.core.fold import CallView, RunView
from affidavit.ledger.snapshot import LedgerSnapshot, StoredCall, Unverified, Verified


@dataclass(frozen=True, slots=True)
class Earlier:
    """What was read of the same run before: its last snapshot, and projections by the digests of
    the bytes that they were parsed from."""

    ledger: LedgerSnapshot | None = None
    projections: Mapping[str, Envelope] = field(default_factory=dict)


def take_snapshot(
    run_id: str,
    tenant: str,
    view: RunView,
    contents: Mapping[str, bytes],
    tools: frozenset[str],
    earlier: Earlier = Earlier(),
) -> LedgerSnapshot:
    """The run's ledger, frozen. `contents` are the run's artifacts by digest.

    With an earlier snapshot of the same run, what was settled by then is taken over from it as it
    was read; a settled call never changes.
    """
    before = earlier.ledger
    calls: dict[str, StoredCall] = {}
    read: dict[str, Verified | Unverified] = {}
    for key, call in view.calls.items():
        known = None if before is None else before.calls.get(key)
        if before is not None and known is not None and known.record.completed_at is not None:
            calls[key] = known
            read[key] = before.read_back(key)
            continue
        record = _record(run_id, tenant, call, contents.get(call.request_digest))
        if record is not None:
            calls[key] = StoredCall(record, contents.get(call.result_digest or ""))
    return LedgerSnapshot(run_id, tenant, calls, tools, read, earlier.projections)


def _record(
    run_id: str, tenant: str, call: CallView, request: bytes | None
) -> CanonicalToolInvocation | None:
    if not call.attempts or request is None or digest(request) != call.request_digest:
        return None
    header = json.loads(request)
    return CanonicalToolInvocation(
        run_id=run_id,
        tenant=tenant,
        tool_call_id=str(header["tool_call_id"]),
        tool=call.tool,
        scope=Scope.model_validate_json(json.dumps(header["scope"])),
        status=_status(call),
        evidence_status=_evidence_status(call),
        evidence_class=EvidenceClass(header["evidence_class"]),
        provenance=Provenance(header["provenance"]),
        error_code=call.code,
        request_digest=call.request_digest,
        raw_digest=call.raw_digest,
        result_digest=call.result_digest,
        started_at=_moment(call.started_us),
        completed_at=None if call.completed_us is None else _moment(call.completed_us),
        attempts=call.attempts,
        truncated=call.truncated,
        agent_path=str(header["agent_path"]),
    )


def _status(call: CallView) -> InvocationStatus:
    match call.settled:
        case EventType.TOOL_CALL_READY:
            return InvocationStatus.READY
        case None:
            return InvocationStatus.PROJECTING
        case _:
            return InvocationStatus.ERROR


def _evidence_status(call: CallView) -> EvidenceStatus | None:
    if call.settled is None:
        return None
    if call.settled is EventType.TOOL_CALL_READY:
        return EvidenceStatus(str(call.evidence_status))
    return EvidenceStatus.ERROR


def _moment(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
