"""One line of a run's journal, and every kind of line there is (A1).

The journal holds ids, codes, verdicts, counts and digests: no payload and no float, so that sorted
JSON with ASCII keys is canonical JSON. A kind that is not listed here, or one that lacks a field
of its row, cannot be appended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class EventType(StrEnum):
    """Everything that a journal can say."""

    RUN_STARTED = "RUN_STARTED"
    ROUTING_DECISION = "ROUTING_DECISION"
    STATUS_CHANGED = "STATUS_CHANGED"
    DRIVER_ACQUIRED = "DRIVER_ACQUIRED"
    CANCEL_REQUESTED = "CANCEL_REQUESTED"
    RUN_PAUSED = "RUN_PAUSED"
    RUN_RESUMED = "RUN_RESUMED"
    COMMAND_REFUSED = "COMMAND_REFUSED"
    GUARDS_CHECKED = "GUARDS_CHECKED"
    CALLS_CHECKED = "CALLS_CHECKED"
    STEP_DECIDED = "STEP_DECIDED"
    APPROVAL_REQUESTED = "APPROVAL_REQUESTED"
    APPROVAL_DECIDED = "APPROVAL_DECIDED"
    TOOL_CALL_INTENDED = "TOOL_CALL_INTENDED"
    TOOL_CALL_PROJECTING = "TOOL_CALL_PROJECTING"
    TOOL_CALL_READY = "TOOL_CALL_READY"
    TOOL_CALL_ERROR = "TOOL_CALL_ERROR"
    TOOL_CALL_REFUSED = "TOOL_CALL_REFUSED"
    TOOL_CALL_REUSED = "TOOL_CALL_REUSED"
    TOOL_CALL_LATE = "TOOL_CALL_LATE"
    OUTCOME_RESOLVED = "OUTCOME_RESOLVED"
    STOP_NOTICE_GIVEN = "STOP_NOTICE_GIVEN"
    COLLECTION_ENDED = "COLLECTION_ENDED"
    MODEL_CALL_INTENDED = "MODEL_CALL_INTENDED"
    MODEL_CALL_REFUSED = "MODEL_CALL_REFUSED"
    MODEL_ATTEMPT = "MODEL_ATTEMPT"
    EVIDENCE_GUARD_INITIAL = "EVIDENCE_GUARD_INITIAL"
    EVIDENCE_REPAIR_ATTEMPT = "EVIDENCE_REPAIR_ATTEMPT"
    EVIDENCE_GUARD_RECHECK = "EVIDENCE_GUARD_RECHECK"
    SUPPORT_CHECK = "SUPPORT_CHECK"
    DRAFT_WITHDRAWAL_ATTEMPT = "DRAFT_WITHDRAWAL_ATTEMPT"
    SEMANTIC_GUARD_ATTEMPT = "SEMANTIC_GUARD_ATTEMPT"
    SEMANTIC_GUARD_DECISION = "SEMANTIC_GUARD_DECISION"
    RELEASE_STOPPED = "RELEASE_STOPPED"
    RELEASE_DECISION = "RELEASE_DECISION"
    RUN_ENDED = "RUN_ENDED"


EVENT_FIELDS: Final[Mapping[EventType, frozenset[str]]] = MappingProxyType(
    {
        EventType.RUN_STARTED: frozenset(
            {"tenant", "request_digest", "limits", "agent", "judge", "version"}
            | {"catalogue_digest", "policy_digest"}
        ),
        EventType.ROUTING_DECISION: frozenset({"intent", "by"}),
        EventType.STATUS_CHANGED: frozenset({"status"}),
        EventType.DRIVER_ACQUIRED: frozenset({"holder", "epoch"}),
        EventType.CANCEL_REQUESTED: frozenset({"by"}),
        EventType.RUN_PAUSED: frozenset({"reason"}),
        EventType.RUN_RESUMED: frozenset({"slept_ms"}),
        EventType.COMMAND_REFUSED: frozenset({"kind", "by", "code"}),
        EventType.GUARDS_CHECKED: frozenset({"step", "moment", "verdicts"}),
        EventType.CALLS_CHECKED: frozenset({"step", "calls"}),
        EventType.STEP_DECIDED: frozenset({"step", "decision", "digest", "calls"}),
        EventType.APPROVAL_REQUESTED: frozenset(
            {"step", "tool_call_id", "tool", "action_digest", "shown_digest", "expires_us"}
        ),
        EventType.APPROVAL_DECIDED: frozenset({"tool_call_id", "decision", "action_digest", "by"}),
        EventType.TOOL_CALL_INTENDED: frozenset(
            {"step", "tool_call_id", "tool", "request_digest", "effect", "attempt"}
        ),
        EventType.TOOL_CALL_PROJECTING: frozenset({"tool_call_id", "raw_digest"}),
        EventType.TOOL_CALL_READY: frozenset(
            {"tool_call_id", "evidence_status", "result_digest", "count", "total", "truncated"}
        ),
        EventType.TOOL_CALL_ERROR: frozenset({"tool_call_id", "error_code"}),
        EventType.TOOL_CALL_REFUSED: frozenset({"step", "tool_call_id", "tool", "code"}),
        EventType.TOOL_CALL_REUSED: frozenset({"step", "tool_call_id", "of"}),
        EventType.TOOL_CALL_LATE: frozenset({"tool_call_id", "outcome"}),
        EventType.OUTCOME_RESOLVED: frozenset({"tool_call_id", "outcome", "by"}),
        EventType.STOP_NOTICE_GIVEN: frozenset({"step", "reason"}),
        EventType.COLLECTION_ENDED: frozenset(
            {"ending", "agent_status", "stop_reason", "draft_digest"}
        ),
        EventType.MODEL_CALL_INTENDED: frozenset(
            {"call", "purpose", "model", "attempt", "input_digest", "input_bytes"}
            | {"reserved_tokens", "reserved_micros"}
        ),
        EventType.MODEL_CALL_REFUSED: frozenset({"purpose", "model", "code", "needed_tokens"}),
        EventType.MODEL_ATTEMPT: frozenset(
            {"call", "purpose", "model", "attempt", "result", "input_digest", "output_digest"}
            | {"tokens_in", "tokens_out", "micros", "counted"}
        ),
        EventType.EVIDENCE_GUARD_INITIAL: frozenset({"result", "violations", "codes"}),
        EventType.EVIDENCE_REPAIR_ATTEMPT: frozenset({"result", "patch_digest"}),
        EventType.EVIDENCE_GUARD_RECHECK: frozenset({"result", "violations", "codes"}),
        EventType.SUPPORT_CHECK: frozenset({"result", "refusals", "codes"}),
        EventType.DRAFT_WITHDRAWAL_ATTEMPT: frozenset({"result", "withdrawn", "sentences"}),
        EventType.SEMANTIC_GUARD_ATTEMPT: frozenset({"judge", "attempt", "result"}),
        EventType.SEMANTIC_GUARD_DECISION: frozenset({"verdict", "reason_digest"}),
        EventType.RELEASE_STOPPED: frozenset({"ending"}),
        EventType.RELEASE_DECISION: frozenset(
            {"decision", "outcome", "fallback_type", "failure_code", "release_digest"}
        ),
        EventType.RUN_ENDED: frozenset({"run_state", "agent_status", "stop_reason"}),
    }
)
"""The fields that each kind of line has, all of them and no others."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, before it has a place in a journal.

    Raises ValueError when the fields are not exactly those of the kind.
    """

    type: EventType
    data: Mapping[str, object]

    def __post_init__(self) -> None:
        """Refuse an event that its row of `EVENT_FIELDS` does not describe."""
        if self.data.keys() != EVENT_FIELDS[self.type]:
            wrong = sorted(self.data.keys() ^ EVENT_FIELDS[self.type])
            raise ValueError(f"{self.type}: missing or unknown fields {wrong}")


@dataclass(frozen=True, slots=True)
class Entry:
    """An event at its place: the n-th line of one run, chained to the line before (A4).

    `at_us` is microseconds since 1970 UTC; `prev` and `hash` are lower-case SHA-256 hex, `prev`
    of the first line is 64 zeros.
    """

    run_id: str
    seq: int
    at_us: int
    type: EventType
    data: Mapping[str, object]
    prev: str
    hash: str
