"""What an approval is bound to, what a person is shown, and where an approval stands (H10).

Bound to one action: the digest covers tool definition, canonical arguments, tenant, run and call,
so that neither another call nor the same call of another tool or with other arguments is what was
approved. Used once: a call is intended once (K9). Expiring: also an approval that was given must
be used in its time, for the world that its approver saw goes on.

The person sees tool, full arguments and the records of the run; never what the agent says about
it: no note, no draft, no degree of certainty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from affidavit.contract.agent import ApprovalStatus, ToolSpec
from affidavit.contract.evidence import Scope
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.chain import to_us
from affidavit.core.fold import CallView
from affidavit.core.run import Run
from affidavit.ledger.snapshot import LedgerSnapshot, Verified
from affidavit.ledger.writer import Written, ask_person
from affidavit.ports.store import ApprovalAsk
from affidavit.progress.wording import word_absence, word_fact

APPROVAL_WAIT_S: Final = 72 * 3600
"""Over a weekend; after that nobody remembers what it was about."""

DESTRUCTIVE_WAIT_S: Final = 15 * 60
"""What cannot be taken back is approved for the state of now, and not for that of tomorrow."""

RECORDS_SHOWN_MAX: Final = 20
"""The newest records of the run; a person who wants more opens the run."""

FACTS_SHOWN_MAX: Final = 3
"""Of each record."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One action that a person is asked about."""

    tool_call_id: str
    tool: ToolSpec
    arguments: Mapping[str, object]
    scope: Scope
    action_digest: str


def action_digest(
    run: Run, tool_call_id: str, definition: str, arguments: Mapping[str, object]
) -> str:
    """What an approval of this call is bound to; `definition` is the digest of its tool's."""
    bound = [run.id, run.request.tenant, tool_call_id, definition, arguments]
    return digest(canonical_json(bound))


def approval_status(call: CallView | None, bound_to: str, now_us: int) -> ApprovalStatus | None:
    """Where the approval of a call stands, for exactly that action; None while nobody was asked."""
    if call is None or call.approval is None:
        return None
    if call.approval.action_digest != bound_to:
        return ApprovalStatus.STALE
    if call.approval.decision == "rejected":
        return ApprovalStatus.REJECTED
    if now_us > call.approval.expires_us:
        return ApprovalStatus.EXPIRED
    approved = call.approval.decision == "approved"
    return ApprovalStatus.APPROVED if approved else ApprovalStatus.PENDING


def request_approval(run: Run, ledger: LedgerSnapshot, step: int, asked: Asked) -> Written:
    """The lines and the page with which a person is asked."""
    now_us = to_us(run.clock.now())
    wait_s = DESTRUCTIVE_WAIT_S if asked.tool.destructive else APPROVAL_WAIT_S
    expires_us = now_us + wait_s * 1_000_000
    shown = canonical_json(
        {
            "run_id": run.id,
            "tool_call_id": asked.tool_call_id,
            "question": run.request.question,
            "requested_by": run.request.requested_by,
            "tool": {
                "name": asked.tool.name,
                "description": asked.tool.description,
                "source_type": asked.tool.source_type,
                "effect": asked.tool.effect,
                "destructive": asked.tool.destructive,
            },
            "arguments": asked.arguments,
            "scope": asked.scope.model_dump(mode="json"),
            "action_digest": asked.action_digest,
            "expires_us": expires_us,
            "records": list(_records(ledger)),
        }
    )
    ask = ApprovalAsk(
        tool_call_id=asked.tool_call_id,
        tool=asked.tool.name,
        action_digest=asked.action_digest,
        shown_digest=digest(shown),
        asked_us=now_us,
        expires_us=expires_us,
    )
    return ask_person(step, ask, shown)


def _records(ledger: LedgerSnapshot) -> Iterator[Mapping[str, object]]:
    """What the run has verifiably seen, the newest first, worded by code from ledger values."""
    newest = list(ledger.calls)[::-1][:RECORDS_SHOWN_MAX]
    for key in newest:
        read = ledger.read_back(key)
        record = ledger.calls[key].record
        facts: list[str] = []
        if isinstance(read, Verified):
            facts = [word_fact(read.envelope, fact) for fact in read.envelope.facts]
            facts = facts[:FACTS_SHOWN_MAX] or [word_absence(read.envelope)]
        yield {
            "tool_call_id": key,
            "tool": record.tool,
            "status": str(record.status),
            "evidence_status": record.evidence_status and str(record.evidence_status),
            "error_code": record.error_code,
            "facts": facts,
        }
