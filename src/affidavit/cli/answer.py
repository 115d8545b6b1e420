"""A run as one JSON object, and as the card on the screen (docs/cli.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from affidavit.affidavit.card import render_card
from affidavit.cli.screen import EXIT_OF, EXIT_WAITING, one_line, say, say_json
from affidavit.contract.report import ReleaseRecord, Usage
from affidavit.contract.states import AgentStatus
from affidavit.core.fold import CallView, RunView
from affidavit.ports.store import RunHead


def release_json(release: ReleaseRecord, affidavit: Path | None) -> dict[str, object]:
    """The answer. `affidavit` is the file that was written, if any."""
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
        "limitations": plain["limitations"],
        "provenance": plain["provenance"],
        "coverage": plain["coverage"],
        "usage": usage_json(release.usage),
        "affidavit": None if affidavit is None else str(affidavit),
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
        "limitations": [],
        "provenance": None,
        "coverage": None,
        "usage": usage_json(spent),
        "affidavit": None,
        "paused": head.paused,
        "waits_for": [
            {"tool_call_id": call.tool_call_id, "tool": call.tool, "reason": reason}
            for reason, call in _waits_for(view)
        ],
        "status": None if view.status is None else str(view.status),
    }


def _waits_for(view: RunView) -> Iterator[tuple[str, CallView]]:
    """What a person has to say something about: a decision, or what became of an effect."""
    yield from (("approval", call) for call in view.waiting())
    yield from (("outcome", call) for call in view.unresolved())


_SAY: Final = {
    "approval": "{tool_call_id} ({tool}) waits for a decision: affidavit approvals list",
    "outcome": "{tool_call_id} ({tool}) may have happened: affidavit runs resolve {run_id} "
    "{tool_call_id} done|not-done --by NAME",
}


def show_release(release: ReleaseRecord, affidavit: Path | None, *, as_json: bool) -> int:
    """Print the answer; the exit code says what it is."""
    if as_json:
        say_json(release_json(release, affidavit))
    else:
        say(render_card(release))
        if affidavit is not None:
            say(f"Affidavit {affidavit} · check it: affidavit verify {affidavit}")
    return EXIT_OF[release.outcome]


def show_undecided(head: RunHead, view: RunView, *, as_json: bool) -> int:
    """Print where a run stands that has no answer yet."""
    if as_json:
        say_json(undecided_json(head, view))
    else:
        waits = "paused" if head.paused else "not finished"
        say(
            f"{head.run_id}  {head.state}, {waits}: {len(view.steps)} steps, "
            f"{view.reserved_calls} tool calls so far\n"
            f"Question  {' '.join(head.question.split())}\n"
            f"Go on with it: affidavit runs resume {head.run_id}"
        )
        for reason, call in _waits_for(view):
            say(
                one_line(
                    _SAY[reason].format(
                        run_id=head.run_id, tool_call_id=call.tool_call_id, tool=call.tool
                    )
                )
            )
    return EXIT_WAITING
