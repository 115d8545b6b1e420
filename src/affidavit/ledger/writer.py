"""The only writer of tool truth: each stage of a call as its events and artifacts (C1, T2).

Only `tools` may import this (import-linter holds it). Nothing here appends: what is returned goes
into one append of the run, artifacts with their event, so that neither exists without the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from affidavit.contract.evidence import Envelope, Scope
from affidavit.contract.journal import Event, EventType
from affidavit.contract.states import EvidenceClass, Provenance
from affidavit.core.canonical import canonical_json, digest
from affidavit.ledger.commitment import commit
from affidavit.ports.store import ApprovalAsk, Artifact


@dataclass(frozen=True, slots=True)
class Written:
    """One stage of a call's life, ready to be appended.

    `asked` are actions that wait for a person from now on, `answered` the calls that no longer do.
    """

    events: tuple[Event, ...]
    artifacts: tuple[Artifact, ...] = ()
    asked: tuple[ApprovalAsk, ...] = ()
    answered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallHeader:
    """What is fixed about a call before it runs; stored as the call's request artifact."""

    step: int
    tool_call_id: str
    tool: str
    arguments: Mapping[str, object]
    scope: Scope
    evidence_class: EvidenceClass
    effect: str = "read"
    provenance: Provenance = Provenance.RECORDED
    agent_path: str = ""
    idempotency_key: str | None = None


def artifact(kind: str, content: bytes) -> Artifact:
    """The bytes with their address."""
    return Artifact(digest(content), kind, content)


def header_bytes(header: CallHeader) -> bytes:
    """The canonical request artifact: arguments, scope, class, provenance; an effect's own key."""
    body: dict[str, object] = {
        "tool_call_id": header.tool_call_id,
        "tool": header.tool,
        "arguments": header.arguments,
        "scope": header.scope.model_dump(mode="json"),
        "evidence_class": str(header.evidence_class),
        "provenance": str(header.provenance),
        "agent_path": header.agent_path,
    }
    if header.idempotency_key is not None:
        body["idempotency_key"] = header.idempotency_key
    return canonical_json(body)


def ask_person(step: int, ask: ApprovalAsk, shown: bytes) -> Written:
    """A person is asked about one action; `shown` is the page that the person sees (H10)."""
    event = Event(
        EventType.APPROVAL_REQUESTED,
        {
            "step": step,
            "tool_call_id": ask.tool_call_id,
            "tool": ask.tool,
            "action_digest": ask.action_digest,
            "shown_digest": ask.shown_digest,
            "expires_us": ask.expires_us,
        },
    )
    return Written((event,), (artifact("approval", shown),), asked=(ask,))


def intend(header: CallHeader, attempt: int) -> Written:
    """The call is about to run: intent before effect (K9)."""
    request = artifact("request", header_bytes(header))
    event = Event(
        EventType.TOOL_CALL_INTENDED,
        {
            "step": header.step,
            "tool_call_id": header.tool_call_id,
            "tool": header.tool,
            "request_digest": request.digest,
            "effect": header.effect,
            "attempt": attempt,
        },
    )
    return Written((event,), (request,))


def project(tool_call_id: str, raw: bytes) -> Written:
    """The raw response is in; it is stored and never shown (T1).

    Its address is a salted commitment: whoever holds the journal cannot try out responses against
    it, and whoever is given the artifact can check the response (A5).
    """
    stored = artifact("raw", commit(raw))
    data = {"tool_call_id": tool_call_id, "raw_digest": stored.digest}
    return Written((Event(EventType.TOOL_CALL_PROJECTING, data),), (stored,))


def settle(tool_call_id: str, envelope: Envelope, content: bytes | None = None) -> Written:
    """The projection is complete: the call is READY and may be cited (E2).

    `content` is the projection's canonical bytes, where the caller has them already.
    """
    if content is None:
        content = canonical_json(envelope.model_dump(mode="json"))
    result = artifact("result", content)
    event = Event(
        EventType.TOOL_CALL_READY,
        {
            "tool_call_id": tool_call_id,
            "evidence_status": str(envelope.status),
            "result_digest": result.digest,
            "count": envelope.count,
            "total": envelope.total,
            "truncated": envelope.truncated,
        },
    )
    return Written((event,), (result,))


def fail(tool_call_id: str, error_code: str) -> Written:
    """The call failed; a stable code is all that remains of the error (T3)."""
    data = {"tool_call_id": tool_call_id, "error_code": error_code}
    return Written((Event(EventType.TOOL_CALL_ERROR, data),))


def refuse(step: int, tool_call_id: str, tool: str, code: str) -> Written:
    """The call was blocked and never executed (H2); nobody need decide about it any more."""
    data = {"step": step, "tool_call_id": tool_call_id, "tool": tool, "code": code}
    return Written((Event(EventType.TOOL_CALL_REFUSED, data),), answered=(tool_call_id,))


def late(tool_call_id: str, outcome: str) -> Event:
    """A call ended after nobody waited for it any more; it is settled, and stays as it was (K5)."""
    return Event(EventType.TOOL_CALL_LATE, {"tool_call_id": tool_call_id, "outcome": outcome})


def reuse(step: int, tool_call_id: str, of: str) -> Written:
    """An equal, earlier call answers (T8)."""
    data = {"step": step, "tool_call_id": tool_call_id, "of": of}
    return Written((Event(EventType.TOOL_CALL_REUSED, data),))
