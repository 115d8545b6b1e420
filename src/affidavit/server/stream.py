"""A run as a stream of events: a fold of its journal, and nothing else (I4; pure).

    run → (status | observation)* → [result] → done     a run with an outcome
    run → (status | observation)* → error               a run that was cancelled

An event's id is its line in the journal and its place in what that line becomes, `LINE.PLACE`, so
that any process can go on after any event, also long after the end. Nothing of a draft is read
here: a line becomes words of code, facts of READY records and, once RELEASE_DECISION stands in the
journal, the answer (L1, N2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import ValidationError

from affidavit.affidavit.narration import Narrator
from affidavit.affidavit.timeline import write_timeline
from affidavit.application.answers import release_json
from affidavit.contract.errors import InternalFault
from affidavit.contract.evidence import Envelope
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.record import format_instant
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import (
    SSE_OF,
    ChatFailureCode,
    ReleaseOutcome,
    RunState,
    SseOutcome,
)
from affidavit.progress.selection import SeenCall, select_facts

FACTS_SHOWN_MAX: Final = 3
"""Of one call, while the run works; the answer has its own bound."""

EVENT_ID: Final = re.compile(r"([1-9][0-9]{0,8})\.([0-9]{1,2})", re.ASCII)
"""What an id of ours looks like."""

TERMINAL: Final = frozenset({"done", "error"})
"""The two events after which there is none."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_CONTENT_OF: Final[Mapping[EventType, str]] = {
    EventType.TOOL_CALL_READY: "result_digest",
    EventType.RELEASE_DECISION: "release_digest",
}
"""The only artifacts that a stream reads, and the field that names them: never a draft."""

_TOLD: Final = frozenset(
    {
        EventType.STATUS_CHANGED,
        EventType.ROUTING_DECISION,
        EventType.STEP_DECIDED,
        EventType.GUARDS_CHECKED,
        EventType.RUN_PAUSED,
        EventType.RUN_RESUMED,
        EventType.CANCEL_REQUESTED,
        EventType.STOP_NOTICE_GIVEN,
        EventType.COLLECTION_ENDED,
        EventType.APPROVAL_REQUESTED,
        EventType.APPROVAL_DECIDED,
        EventType.EVIDENCE_GUARD_INITIAL,
        EventType.EVIDENCE_REPAIR_ATTEMPT,
        EventType.EVIDENCE_GUARD_RECHECK,
        EventType.SUPPORT_CHECK,
        EventType.DRAFT_WITHDRAWAL_ATTEMPT,
        EventType.SEMANTIC_GUARD_DECISION,
        EventType.RELEASE_STOPPED,
    }
)
"""Lines that become a status event where there is something to say."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event, before it is bytes."""

    id: str
    name: str
    data: Mapping[str, object]
    at_us: int

    @property
    def is_terminal(self) -> bool:
        """Whether nothing follows it."""
        return self.name in TERMINAL

    def wire(self) -> bytes:
        """The event as it goes out; JSON with ASCII keys and escapes has no line break inside."""
        return (
            f"id: {self.id}\nevent: {self.name}\ndata: {json.dumps(self.data, sort_keys=True)}\n\n"
        ).encode("ascii")


def meaning_of_line(entry: Entry) -> str:
    """The line in the words of the timeline."""
    return write_timeline((entry,))[0].says


def content_of(entry: Entry) -> str | None:
    """The address of the artifact that a stream needs for this line, if any."""
    name = _CONTENT_OF.get(entry.type)
    return None if name is None else str(entry.data[name])


def sse_outcome(outcome: ReleaseOutcome) -> SseOutcome:
    """What `done` says (E19). Raises InternalFault for CANCELLED, which no `done` says (N11)."""
    if outcome not in SSE_OF:
        raise InternalFault(f"done cannot say {outcome}")
    return SSE_OF[outcome]


@dataclass(slots=True)
class StreamFold:
    """Turns the lines of one run into its events, in their order, each line once."""

    run_id: str
    question: str
    tenant: str
    _narrator: Narrator = field(default_factory=Narrator)
    _tools: dict[str, str] = field(default_factory=dict)
    _status: str | None = None
    _paused: bool = False
    _release: Mapping[str, object] = field(default_factory=dict)

    def tell(self, entry: Entry, contents: Mapping[str, bytes]) -> tuple[StreamEvent, ...]:
        """The events of this line. A payload that has expired is left out, and said so."""
        at = format_instant(_EPOCH + timedelta(microseconds=entry.at_us))
        return tuple(
            StreamEvent(
                f"{entry.seq}.{place}",
                name,
                {"run_id": self.run_id, "at": at, **data},
                entry.at_us,
            )
            for place, (name, data) in enumerate(self._events(entry, contents))
        )

    def _events(
        self, entry: Entry, contents: Mapping[str, bytes]
    ) -> Iterator[tuple[str, dict[str, object]]]:
        data = entry.data
        match entry.type:
            case EventType.RUN_STARTED:
                yield "run", {"question": self.question, "agent": data["agent"]}
            case EventType.TOOL_CALL_INTENDED:
                self._tools[str(data["tool_call_id"])] = str(data["tool"])
                self._narrator.tell(entry, contents)
            case EventType.TOOL_CALL_READY:
                yield "observation", self._ready(data, contents)
            case EventType.TOOL_CALL_ERROR:
                yield "observation", self._failed(data, str(data["error_code"]))
            case EventType.TOOL_CALL_REFUSED:
                self._tools[str(data["tool_call_id"])] = str(data["tool"])
                yield "observation", self._failed(data, str(data["code"]))
            case EventType.RELEASE_DECISION:
                self._release = data
                result = _result(contents.get(str(data["release_digest"])))
                if result is not None:
                    yield "result", result
            case EventType.RUN_ENDED:
                yield self._end(str(data["run_state"]))
            case _:
                yield from self._stage(entry, contents)

    def _stage(
        self, entry: Entry, contents: Mapping[str, bytes]
    ) -> Iterator[tuple[str, dict[str, object]]]:
        if entry.type not in _TOLD:
            return
        told_lines = self._narrator.tell(entry, contents)
        says = "; ".join(line.strip() for line in told_lines) or meaning_of_line(entry)
        told: dict[str, object] = {"says": says}
        match entry.type:
            case EventType.STATUS_CHANGED:
                self._status = str(entry.data["status"])
            case EventType.ROUTING_DECISION:
                told["intent"], told["by"] = entry.data["intent"], entry.data["by"]
            case EventType.RUN_PAUSED:
                self._paused, told["reason"] = True, str(entry.data["reason"])
            case EventType.RUN_RESUMED:
                self._paused = False
            case EventType.APPROVAL_REQUESTED | EventType.APPROVAL_DECIDED:
                told["tool_call_id"] = str(entry.data["tool_call_id"])
                told["decision"] = str(entry.data.get("decision", "waits"))
            case EventType.GUARDS_CHECKED | EventType.STEP_DECIDED if not told_lines:
                return
            case _:
                pass
        yield "status", {"status": self._status, "paused": self._paused, **told}

    def _failed(self, data: Mapping[str, object], code: str) -> dict[str, object]:
        call = str(data["tool_call_id"])
        return {
            "tool_call_id": call,
            "tool": self._tools.get(call, ""),
            "evidence_status": "ERROR",
            "error_code": code,
            "facts": [],
        }

    def _ready(
        self, data: Mapping[str, object], contents: Mapping[str, bytes]
    ) -> dict[str, object]:
        """Facts that code worded from a READY record; an observation is no result (L1)."""
        call = str(data["tool_call_id"])
        envelope = _envelope(contents.get(str(data["result_digest"])))
        seen = () if envelope is None else select_facts((SeenCall(call, envelope),)).facts
        return {
            "tool_call_id": call,
            "tool": self._tools.get(call, ""),
            "evidence_status": str(data["evidence_status"]),
            "count": data["count"],
            "total": data["total"],
            "truncated": data["truncated"],
            "expired": envelope is None,
            "facts": [fact.text for fact in seen[:FACTS_SHOWN_MAX]],
        }

    def _end(self, run_state: str) -> tuple[str, dict[str, object]]:
        """`error` ends a cancelled run, `done` every other (E10, N11)."""
        if run_state == RunState.CANCELLED:
            return "error", {
                "failure_code": str(ChatFailureCode.RUN_CANCELLED),
                "run_state": run_state,
            }
        return "done", {
            "outcome": str(sse_outcome(ReleaseOutcome(str(self._release["outcome"])))),
            "run_state": run_state,
            "decision": self._release["decision"],
            "failure_code": self._release["failure_code"],
            "affidavit": f"/api/v1/runs/{self.run_id}/affidavit",
        }


def unrecorded(run_id: str) -> bytes:
    """The end of a stream whose run could not be recorded (L5). It has no id: the run may go on,
    and whoever asks again is told the rest."""
    data = {"run_id": run_id, "failure_code": str(ChatFailureCode.RUN_PERSISTENCE_FAILED)}
    return f"event: error\ndata: {json.dumps(data, sort_keys=True)}\n\n".encode("ascii")


def _result(content: bytes | None) -> dict[str, object] | None:
    """What was published, or the fallback; None where the user got neither."""
    if content is None:
        return None
    release = ReleaseRecord.model_validate_json(content)
    if release.result is None and release.fallback is None and release.reply is None:
        return None
    return release_json(release, f"/api/v1/runs/{release.run_id}/affidavit")


def _envelope(content: bytes | None) -> Envelope | None:
    try:
        return None if content is None else Envelope.model_validate_json(content)
    except ValidationError:
        return None
