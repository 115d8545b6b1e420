"""A run as one JSON object: the same shape on every face, command line, service and webhook."""

from __future__ import annotations

from collections.abc import Iterator

from affidavit.contract.report import ReleaseRecord, Usage
from affidavit.contract.states import AgentStatus
from affidavit.core.fold import CallView, RunView
from affidavit.ports.store import RunHead


def release_json(release: ReleaseRecord, affidavit: str | None) -> dict[str, object]:
    """The answer. `affidavit` says where its file is, if anywhere."""
    plain = release.model_dump(mode="json")
    return {
        "run_id": release.run_id,
        "run_state": plain["run_state"],
        "outcome": plain["outcome"],
        "decision": plain["decision"],
        "agent_status": plain["agent_status"],
        "stop_reason": plain["stop_reason"],
        "failure_code": plain["failure_code"],
        "question": release.question,
        "result": plain["result"],
        "fallback": plain["fallback"],
        "reply": plain.get("reply"),
        "limitations": plain["limitations"],
        "provenance": plain["provenance"],
        "coverage": plain["coverage"],
        "usage": usage_json(release.usage),
        "affidavit": affidavit,
    }


def usage_json(usage: Usage) -> dict[str, object]:
    """What was spent. `money` is micro-units of the currency, null where no price is known."""
    return {
        "tokens": usage.tokens,
        "money": usage.money_micro,
        "calls": usage.tool_calls,
        "attempts": usage.attempts,
        "iterations": usage.iterations,
        "seconds": usage.duration_ms / 1000,
    }


def undecided_json(head: RunHead, view: RunView) -> dict[str, object]:
    """A run without an answer: paused, driven by somebody, or waiting for a driver."""
    spent = Usage(
        iterations=len(view.steps),
        tool_calls=view.reserved_calls,
        attempts=sum(call.attempts for call in view.calls.values()),
        duration_ms=view.worked_us // 1000,
    )
    return {
        "run_id": head.run_id,
        "run_state": str(head.state),
        "outcome": None,
        "decision": None,
        "agent_status": str(AgentStatus.NEED_APPROVAL) if view.waiting() else None,
        "stop_reason": None,
        "failure_code": None,
        "question": head.question,
        "result": None,
        "fallback": None,
        "reply": None,
        "limitations": [],
        "provenance": None,
        "coverage": None,
        "usage": usage_json(spent),
        "affidavit": None,
        "paused": head.paused,
        "waits_for": [
            {"tool_call_id": call.tool_call_id, "tool": call.tool, "reason": reason}
            for reason, call in waits_for(view)
        ],
        "status": None if view.status is None else str(view.status),
    }


def waits_for(view: RunView) -> Iterator[tuple[str, CallView]]:
    """What a person has to say something about: a decision, or what became of an effect."""
    yield from (("approval", call) for call in view.waiting())
    yield from (("outcome", call) for call in view.unresolved())
