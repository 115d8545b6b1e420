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

    `roles` are those of whoever asks, as the service knows them; a permission may want one.
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
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One registered tool, as an agent may see it. `arguments` is its JSON Schema.

    `polls_max` is how often a polling tool may give the same answer in a row; `destructive` marks
    an effect that cannot be taken back.
    """

    name: str
    description: str
    source_type: str
    evidence_class: EvidenceClass
    arguments: Mapping[str, object]
    effect: Literal["read", "write"] = "read"
    polling: bool = False
    polls_max: int = 0
    destructive: bool = False


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

    `tool_call_id` is None only for a call that was refused and never executed. `answer_digest` is
    over what came back alone, so that the same answer to another question can be seen as such.
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
    answer_digest: str | None = None


@dataclass(frozen=True, slots=True)
class AgentState:
    """All that an agent may know when it decides its next step, and all that a guard may.

    `models` are the dependencies that the agent thinks with, first choice first; `circuits_open`
    those dependencies of any kind that are not asked now (`model:…`, `tool:…`).
    """

    request: AgentRequest
    step: int
    tools: tuple[ToolSpec, ...]
    observations: tuple[Observation, ...] = ()
    must_conclude: bool = False
    iterations_left: int = 0
    calls_left: int = 0
    seconds_left: float = 0.0
    over_limit: str | None = None
    models: tuple[str, ...] = ()
    circuits_open: tuple[str, ...] = ()


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
    NO_MODEL_LEFT = "NO_MODEL_LEFT"
    REPLIED = "REPLIED"
    UNROUTED = "UNROUTED"
    INTERNAL_FAILURE = "INTERNAL_FAILURE"


class Moment(StrEnum):
    """When guards are asked (H2)."""

    BEFORE_THINKING = "BEFORE_THINKING"
    BEFORE_ACTING = "BEFORE_ACTING"
    AROUND = "AROUND"


class ApprovalStatus(StrEnum):
    """Where the approval of one action stands (H10)."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    EXPIRED = "EXPIRED"
    STALE = "STALE"
    """It was asked for another action: the tool or the arguments are not those any more."""


@dataclass(frozen=True, slots=True)
class Action:
    """One call as it would be executed: arguments read, identity filled in from the context.

    `digest` is over the tool's definition and the canonical arguments: what an approval is bound
    to. `approval` is None while nobody was asked.
    """

    tool_call_id: str
    tool: ToolSpec
    arguments: Mapping[str, object]
    digest: str
    approval: ApprovalStatus | None = None


@dataclass(frozen=True, slots=True)
class GuardResult:
    """A guard's word: pass; stop the run in a status; or, before acting, refuse the one action.

    NEED_APPROVAL is the one status that pauses the run instead of ending it. `reason` and
    `refusal` are stable words, never content: both are journalled, and `refusal` is all that the
    agent learns.
    """

    status: AgentStatus | None = None
    reason: str = ""
    refusal: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the next step may happen."""
        return self.status is None and self.refusal is None
