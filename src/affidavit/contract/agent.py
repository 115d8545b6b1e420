"""What passes between the harness, an agent and the guards (C14, H1).

The harness owns the loop; an agent only decides: `decide(state) -> Act | Conclude | GiveUp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from affidavit.contract.evidence import Envelope, Scope, Window
from affidavit.contract.limits import Limits
from affidavit.contract.record import Record
from affidavit.contract.states import AgentStatus, EvidenceClass, IntentType


class AgentRequest(Record):
    """What a caller asks for. Identity and tenant come from the context, never from a model.

    `source` says where the incident's data is, so that a run can be resumed by another process.
    """

    run_id: str
    tenant: str
    question: str
    limits: Limits
    profile: str = "standard"
    intent: IntentType = IntentType.DIAGNOSIS
    window: Window | None = None
    incident: str | None = None
    source: str | None = None
    symptom_service: str | None = None
    symptom_signal: str | None = None
    requested_by: str = "local"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One registered tool, as an agent may see it. `arguments` is its JSON Schema."""

    name: str
    description: str
    source_type: str
    evidence_class: EvidenceClass
    arguments: Mapping[str, object]
    effect: Literal["read", "write"] = "read"
    polling: bool = False


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """One call that an agent asks for. It carries no identity: the framework gives that (C1)."""

    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Act:
    """Ask these tools, side by side."""

    calls: tuple[ToolCallRequest, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Conclude:
    """Here is the report: a JSON object as the author wrote it, or text that holds one."""

    draft: Mapping[str, object] | str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Nothing can be concluded, and the agent says so (D9, D11)."""

    reason: str


Decision = Act | Conclude | GiveUp


class ObservationKind(StrEnum):
    """What an agent learns about one of its calls."""

    FOUND = "FOUND"
    EMPTY = "EMPTY"
    FAILED = "FAILED"
    REFUSED = "REFUSED"


@dataclass(frozen=True, slots=True)
class Observation:
    """One call as its agent sees it: the bounded projection, or a stable code (T1).

    `tool_call_id` is None only for a call that was refused and never executed.
    """

    step: int
    tool: str
    arguments: Mapping[str, object]
    kind: ObservationKind
    tool_call_id: str | None = None
    scope: Scope | None = None
    envelope: Envelope | None = None
    result_digest: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class AgentState:
    """All that an agent may know when it decides its next step."""

    request: AgentRequest
    step: int
    tools: tuple[ToolSpec, ...]
    observations: tuple[Observation, ...] = ()
    must_conclude: bool = False
    iterations_left: int = 0
    calls_left: int = 0
    seconds_left: float = 0.0
    over_limit: str | None = None


class Investigator(Protocol):
    """An agent: ours, a model's, or somebody else's."""

    name: str

    async def decide(self, state: AgentState) -> Decision:
        """The next step. May raise ModelFailed; anything else raised ends the run as FAILED."""
        ...


class Ending(StrEnum):
    """How collecting evidence ended; together with what was found it decides the release row."""

    CONCLUDED = "CONCLUDED"
    GAVE_UP = "GAVE_UP"
    UNREADABLE = "UNREADABLE"
    PROTOCOL_VIOLATED = "PROTOCOL_VIOLATED"
    LOOP_DETECTED = "LOOP_DETECTED"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    TIMED_OUT = "TIMED_OUT"
    CANCELLED = "CANCELLED"
    INTERNAL_FAILURE = "INTERNAL_FAILURE"


class Moment(StrEnum):
    """When guards are asked (H2)."""

    BEFORE_THINKING = "BEFORE_THINKING"
    BEFORE_ACTING = "BEFORE_ACTING"


@dataclass(frozen=True, slots=True)
class GuardResult:
    """A guard's word: pass, or stop with a reason and the status in which the loop ends."""

    status: AgentStatus | None = None
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether the next step may happen."""
        return self.status is None
