"""A run's status, spend and position are folds over its journal, and nothing else (idea 2).

`advance(view, entry)` is one match; recovery is `advance` in a loop over the lines of the store,
so that a resumed run stands exactly where the journal says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final

from affidavit.contract.agent import Ending
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.states import (
    AgentStatus,
    ChatApplicationStatus,
    DiagnosisStopReason,
    IntentType,
    RunState,
)
from affidavit.core.budget import Spend, advance_spend
from affidavit.core.chain import GENESIS


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """What a person was asked about one call, and what was decided; None while it waits."""

    action_digest: str
    shown_digest: str
    asked_us: int
    expires_us: int
    decision: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class CallView:
    """One call's life so far, as the journal tells it.

    `settled` is the kind of the line that ended it. `resolution` is what an operator recorded of
    an effect whose outcome was unknown, `late` how the call ended after nobody waited any more.
    """

    tool_call_id: str
    step: int
    tool: str = ""
    request_digest: str = ""
    effect: str = "read"
    attempts: int = 0
    started_us: int = 0
    completed_us: int | None = None
    raw_digest: str | None = None
    result_digest: str | None = None
    evidence_status: str | None = None
    truncated: bool = False
    code: str | None = None
    reused_of: str | None = None
    settled: EventType | None = None
    approval: ApprovalView | None = None
    resolution: str | None = None
    late: str | None = None

    @property
    def waits_for_approval(self) -> bool:
        """Whether a person was asked, and has not decided yet."""
        if self.settled is not None or self.approval is None:
            return False
        return self.approval.decision is None

    @property
    def is_unresolved(self) -> bool:
        """Whether nobody knows what became of its effect."""
        return self.code == OUTCOME_UNKNOWN and self.resolution is None


OUTCOME_UNKNOWN: Final = "OUTCOME_UNKNOWN"
"""The error code of an effect that was intended and of which no outcome is known (K9)."""


@dataclass(frozen=True, slots=True)
class StepView:
    """One decision of the agent: its artifact, and the ids given to the calls that it asked for."""

    step: int
    decision: str
    digest: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """Where a run stands. All durations are microseconds of working time (K3)."""

    agent: str = ""
    state: RunState = RunState.RUNNING
    last_seq: int = 0
    last_hash: str = GENESIS
    last_at_us: int = 0
    worked_us: int = 0
    epoch: int = 0
    paused: bool = False
    paused_at_us: int = 0
    cancel_requested: bool = False
    status: ChatApplicationStatus | None = None
    is_routed: bool = False
    intent: IntentType | None = None
    steps: tuple[StepView, ...] = ()
    calls: dict[str, CallView] = field(default_factory=dict)
    reserved_calls: int = 0
    spend: Spend = field(default_factory=Spend)
    over_limit: str | None = None
    stop_notice: str | None = None
    ending: Ending | None = None
    agent_status: AgentStatus | None = None
    stop_reason: DiagnosisStopReason | None = None
    draft_digest: str | None = None
    release_stopped: Ending | None = None
    release_digest: str | None = None

    @property
    def is_collected(self) -> bool:
        """Whether the agent's part is over."""
        return self.ending is not None

    def open_step(self) -> StepView | None:
        """The step whose calls are not all settled, or None."""
        if not self.steps:
            return None
        last = self.steps[-1]
        return last if any(not self.is_settled(call) for call in last.calls) else None

    def waiting(self) -> tuple[CallView, ...]:
        """The calls that wait for a person's decision, in the order asked."""
        step = self.open_step()
        calls = () if step is None else step.calls
        known = (self.calls.get(key) for key in calls)
        return tuple(call for call in known if call is not None and call.waits_for_approval)

    def unresolved(self) -> tuple[CallView, ...]:
        """The effects of which nobody knows the outcome, in order."""
        return tuple(call for call in self.calls.values() if call.is_unresolved)

    def is_settled(self, tool_call_id: str) -> bool:
        """Whether that call has its final line."""
        call = self.calls.get(tool_call_id)
        return call is not None and call.settled is not None


def fold(entries: Iterable[Entry]) -> RunView:
    """The view after these lines."""
    return reduce(advance, entries, RunView())


Changes = dict[str, Any]
"""Fields of the view, or of a call, and what they are from a line on."""


def advance(view: RunView, entry: Entry) -> RunView:
    """The view after one more line: what the line changes, in one new record."""
    return replace(
        view,
        last_seq=entry.seq,
        last_hash=entry.hash,
        last_at_us=entry.at_us,
        spend=advance_spend(view.spend, entry),
        worked_us=view.worked_us + _worked_us(view, entry),
        **_changes(view, entry),
    )


def _worked_us(view: RunView, entry: Entry) -> int:
    """Working time up to this line: not while paused, and not while nobody drove (K3, F4)."""
    idle = entry.type in (EventType.RUN_RESUMED, EventType.DRIVER_ACQUIRED)
    if view.last_seq == 0 or idle or view.paused:
        return 0
    return max(0, entry.at_us - view.last_at_us)


def _changes(view: RunView, entry: Entry) -> Changes:
    if "tool_call_id" in entry.data:
        return _called(view, entry)
    return _driven(entry) or _collected(view, entry)


def _driven(entry: Entry) -> Changes:
    """Who drives, whether somebody asked to stop, and how far along the turn is."""
    data = entry.data
    match entry.type:
        case EventType.RUN_STARTED:
            return {"agent": str(data["agent"])}
        case EventType.DRIVER_ACQUIRED:
            return {"epoch": _int(data["epoch"])}
        case EventType.CANCEL_REQUESTED:
            return {"cancel_requested": True}
        case EventType.RUN_PAUSED:
            return {"paused": True, "paused_at_us": entry.at_us}
        case EventType.RUN_RESUMED:
            return {"paused": False}
        case EventType.ROUTING_DECISION:
            found = data["intent"]
            return {"is_routed": True, "intent": None if found is None else IntentType(str(found))}
        case EventType.STATUS_CHANGED:
            return {"status": ChatApplicationStatus(str(data["status"]))}
        case _:
            return {}


def _collected(view: RunView, entry: Entry) -> Changes:
    """What the agent decided, and how its part and the run ended."""
    data = entry.data
    match entry.type:
        case EventType.STEP_DECIDED:
            return {"steps": (*view.steps, _step(entry))}
        case EventType.STOP_NOTICE_GIVEN:
            return {"stop_notice": str(data["reason"])}
        case EventType.COLLECTION_ENDED:
            return _ended(entry)
        case EventType.RELEASE_STOPPED:
            return {"release_stopped": Ending(str(data["ending"]))}
        case EventType.RELEASE_DECISION:
            return {"release_digest": str(data["release_digest"])}
        case EventType.RUN_ENDED:
            return {"state": RunState(str(data["run_state"]))}
        case _:
            return {}


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError("a journal field that should be an integer is none")
    return value


def _step(entry: Entry) -> StepView:
    calls = entry.data["calls"]
    if not isinstance(calls, (list, tuple)):
        raise TypeError("a step's calls are a list of ids")
    return StepView(
        step=_int(entry.data["step"]),
        decision=str(entry.data["decision"]),
        digest=str(entry.data["digest"]),
        calls=tuple(str(call) for call in calls),
    )


def _ended(entry: Entry) -> Changes:
    data = entry.data
    reason, draft = data["stop_reason"], data["draft_digest"]
    return {
        "ending": Ending(str(data["ending"])),
        "agent_status": AgentStatus(str(data["agent_status"])),
        "stop_reason": None if reason is None else DiagnosisStopReason(str(reason)),
        "draft_digest": None if draft is None else str(draft),
    }


def _called(view: RunView, entry: Entry) -> Changes:
    data, key = entry.data, str(entry.data["tool_call_id"])
    known = view.calls.get(key) or CallView(key, _int(data["step"]) if "step" in data else 0)
    changes = _begun(known, entry) or _settled(entry) or _answered(known, entry)
    call = replace(known, **changes)
    reserved, over = view.reserved_calls, view.over_limit
    if entry.type is EventType.TOOL_CALL_INTENDED and not known.attempts:
        reserved += 1
    if entry.type is EventType.TOOL_CALL_REFUSED:
        over = over or _limit_of(call.code)
    return {"calls": {**view.calls, key: call}, "reserved_calls": reserved, "over_limit": over}


def _begun(call: CallView, entry: Entry) -> Changes:
    """A call that is asked about, intended, or answered and not yet projected."""
    data = entry.data
    match entry.type:
        case EventType.APPROVAL_REQUESTED:
            asked = ApprovalView(
                action_digest=str(data["action_digest"]),
                shown_digest=str(data["shown_digest"]),
                asked_us=entry.at_us,
                expires_us=_int(data["expires_us"]),
            )
            return {"tool": str(data["tool"]), "approval": asked}
        case EventType.TOOL_CALL_INTENDED:
            return {
                "tool": str(data["tool"]),
                "request_digest": str(data["request_digest"]),
                "effect": str(data["effect"]),
                "attempts": _int(data["attempt"]),
                "started_us": call.started_us or entry.at_us,
            }
        case EventType.TOOL_CALL_PROJECTING:
            return {"raw_digest": str(data["raw_digest"])}
        case _:
            return {}


def _settled(entry: Entry) -> Changes:
    """A call that ended: with a result, an error, a refusal, or an earlier call's answer."""
    data, settled = entry.data, {"settled": entry.type}
    match entry.type:
        case EventType.TOOL_CALL_READY:
            return {
                **settled,
                "completed_us": entry.at_us,
                "result_digest": str(data["result_digest"]),
                "evidence_status": str(data["evidence_status"]),
                "truncated": bool(data["truncated"]),
            }
        case EventType.TOOL_CALL_ERROR:
            return {**settled, "completed_us": entry.at_us, "code": str(data["error_code"])}
        case EventType.TOOL_CALL_REFUSED:
            return {**settled, "tool": str(data["tool"]), "code": str(data["code"])}
        case EventType.TOOL_CALL_REUSED:
            return {**settled, "reused_of": str(data["of"])}
        case _:
            return {}


def _answered(call: CallView, entry: Entry) -> Changes:
    """What people say about a call, and what a call says that nobody waits for any more."""
    data = entry.data
    match entry.type:
        case EventType.APPROVAL_DECIDED if call.approval is not None:
            decided = replace(call.approval, decision=str(data["decision"]), by=str(data["by"]))
            return {"approval": decided}
        case EventType.OUTCOME_RESOLVED:
            return {"resolution": str(data["outcome"])}
        case EventType.TOOL_CALL_LATE:
            return {"late": str(data["outcome"])}
        case _:
            return {}


BUDGET_CODE_PREFIX = "BUDGET_"
"""A refusal with this prefix names the limit that had no room left, for example
`BUDGET_TOOL_CALLS`."""


def _limit_of(code: str | None) -> str | None:
    if code is None or not code.startswith(BUDGET_CODE_PREFIX):
        return None
    return code.removeprefix(BUDGET_CODE_PREFIX).lower()
