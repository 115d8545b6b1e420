"""Every state of the system, and every legal move between states, as data.

Each enum answers one question, and none answers two (spec E16). They fall into five layers:

    technical   RunState                    may this run technically still execute?
    evidence    InvocationStatus, EvidenceStatus, AnalysisKind
    collection  DiagnosisStopReason, SemanticVerdict
    release     ReleaseOutcome, FallbackType
    protocol    ChatApplicationStatus, SseOutcome, ChatFailureCode

with `IntentType` as an axis of its own. The axes are orthogonal: a run that is technically
BUDGET_EXHAUSTED may still give its user a FALLBACK; a call that found nothing (NO_EVIDENCE) is a
successful, READY call. A move that is not in a table here cannot happen (E17). The diagrams in
`docs/states.md` are drawn from these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar


class RunState(StrEnum):
    """May this run technically still execute? (E1)"""

    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMED_OUT = "TIMED_OUT"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"


class InvocationStatus(StrEnum):
    """Where is this tool call in its life? One way only. (E2)"""

    PROJECTING = "PROJECTING"
    READY = "READY"
    ERROR = "ERROR"


class EvidenceStatus(StrEnum):
    """Did the call yield citable evidence? (E3)"""

    EVIDENCE_FOUND = "EVIDENCE_FOUND"
    NO_EVIDENCE = "NO_EVIDENCE"
    ERROR = "ERROR"


class AnalysisKind(StrEnum):
    """A positive analysis, or a scoped absence? (E4)"""

    NORMAL = "NORMAL"
    NEGATIVE_OBSERVATION = "NEGATIVE_OBSERVATION"


class DiagnosisStopReason(StrEnum):
    """Why did collection stop, under control? (E5)"""

    INFORMATION_SATURATED = "INFORMATION_SATURATED"
    BUDGET_LIMIT_REACHED = "BUDGET_LIMIT_REACHED"
    PROGRESS_PROTOCOL_VIOLATED = "PROGRESS_PROTOCOL_VIOLATED"


class SemanticVerdict(StrEnum):
    """Do the facts support the conclusion? (E6)"""

    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"


class ReleaseOutcome(StrEnum):
    """What did the user get? (E7)"""

    SUCCESS = "SUCCESS"
    FALLBACK = "FALLBACK"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class FallbackType(StrEnum):
    """Why only a fallback? BUDGET_EXHAUSTED is reserved and never published (E8, E19)."""

    EVIDENCE_VALIDATION_FAILED = "EVIDENCE_VALIDATION_FAILED"
    SEMANTIC_UNSUPPORTED = "SEMANTIC_UNSUPPORTED"
    SEMANTIC_UNAVAILABLE = "SEMANTIC_UNAVAILABLE"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    INSUFFICIENT_EVIDENCE = "INSUFFICIENT_EVIDENCE"
    MISSING_REQUIRED_CONTEXT = "MISSING_REQUIRED_CONTEXT"


class ChatApplicationStatus(StrEnum):
    """How far along is this turn? Never: how it ended. (E9)"""

    ROUTING = "ROUTING"
    SYSTEM_RESPONDING = "SYSTEM_RESPONDING"
    KNOWLEDGE_SEARCHING = "KNOWLEDGE_SEARCHING"
    KNOWLEDGE_ANSWERING = "KNOWLEDGE_ANSWERING"
    DIAGNOSIS_RUNNING = "DIAGNOSIS_RUNNING"
    SAFETY_VALIDATING = "SAFETY_VALIDATING"


class SseOutcome(StrEnum):
    """What does the `done` event say? A cancelled run has none. (E10)"""

    SUCCESS = "SUCCESS"
    FALLBACK = "FALLBACK"
    FAILED = "FAILED"


class ChatFailureCode(StrEnum):
    """The coarse reason that a client is told. (E11)"""

    ROUTING_UNAVAILABLE = "ROUTING_UNAVAILABLE"
    SYSTEM_CHAT_UNAVAILABLE = "SYSTEM_CHAT_UNAVAILABLE"
    KNOWLEDGE_UNAVAILABLE = "KNOWLEDGE_UNAVAILABLE"
    DIAGNOSIS_UNAVAILABLE = "DIAGNOSIS_UNAVAILABLE"
    RUN_PERSISTENCE_FAILED = "RUN_PERSISTENCE_FAILED"
    RUN_CANCELLED = "RUN_CANCELLED"
    INTERNAL_FAILURE = "INTERNAL_FAILURE"


class IntentType(StrEnum):
    """Which branch does a request take? One per request. (E12)"""

    DIAGNOSIS = "DIAGNOSIS"
    SYSTEM_CHAT = "SYSTEM_CHAT"
    KNOWLEDGE = "KNOWLEDGE"


class FailureStage(StrEnum):
    """At which stage did it fall short? (E13)"""

    DIAGNOSIS_INPUT = "DIAGNOSIS_INPUT"
    DIAGNOSIS_COLLECTION = "DIAGNOSIS_COLLECTION"
    EVIDENCE_VALIDATION = "EVIDENCE_VALIDATION"
    SEMANTIC_VALIDATION = "SEMANTIC_VALIDATION"


class AgentStatus(StrEnum):
    """How did the agent's loop end? (E14)"""

    DONE = "DONE"
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"
    TIMEOUT = "TIMEOUT"
    LOOP_DETECTED = "LOOP_DETECTED"
    MAX_ITERATIONS = "MAX_ITERATIONS"
    NEED_APPROVAL = "NEED_APPROVAL"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"


class RetryFailure(StrEnum):
    """Why did the attempts end? (E15)"""

    CANCELLED = "CANCELLED"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    EXHAUSTED = "EXHAUSTED"
    NON_RETRYABLE = "NON_RETRYABLE"
    TIMED_OUT = "TIMED_OUT"


class EvidenceClass(StrEnum):
    """What kind of thing did a tool read? A diagnosis rests on OBSERVATION alone. (C13)"""

    OBSERVATION = "OBSERVATION"
    CHANGE = "CHANGE"
    ALERT = "ALERT"
    GUIDANCE = "GUIDANCE"


class Emitter(StrEnum):
    """Whose words are these? (C13)

    platform: a kernel, scheduler, database server or metric store about itself; workload: an
    application's own words; request: anything that a caller could have written.
    """

    PLATFORM = "platform"
    WORKLOAD = "workload"
    REQUEST = "request"


class Provenance(StrEnum):
    """Did we execute the calls, or did they come with somebody's answer? (C12)"""

    RECORDED = "recorded"
    SUPPLIED = "supplied"


S = TypeVar("S", bound=StrEnum)


def _moves(table: dict[S, set[S]]) -> Mapping[S, frozenset[S]]:
    return MappingProxyType({state: frozenset(targets) for state, targets in table.items()})


# --- Legal moves -----------------------------------------------------------------------------

RUN_MOVES: Final = _moves(
    {
        RunState.RUNNING: {
            RunState.SUCCESS,
            RunState.FAILED,
            RunState.CANCELLED,
            RunState.TIMED_OUT,
            RunState.BUDGET_EXHAUSTED,
        },
        RunState.SUCCESS: set(),
        RunState.FAILED: set(),
        RunState.CANCELLED: set(),
        RunState.TIMED_OUT: set(),
        RunState.BUDGET_EXHAUSTED: set(),
    }
)
"""A run leaves RUNNING once; the first terminal move wins (K1)."""

INVOCATION_MOVES: Final = _moves(
    {
        InvocationStatus.PROJECTING: {InvocationStatus.READY, InvocationStatus.ERROR},
        InvocationStatus.READY: set(),
        InvocationStatus.ERROR: set(),
    }
)
"""A call is settled once (E2)."""

CHAT_MOVES: Final = _moves(
    {
        ChatApplicationStatus.ROUTING: {
            ChatApplicationStatus.SYSTEM_RESPONDING,
            ChatApplicationStatus.KNOWLEDGE_SEARCHING,
            ChatApplicationStatus.DIAGNOSIS_RUNNING,
        },
        ChatApplicationStatus.KNOWLEDGE_SEARCHING: {ChatApplicationStatus.KNOWLEDGE_ANSWERING},
        ChatApplicationStatus.KNOWLEDGE_ANSWERING: {ChatApplicationStatus.SAFETY_VALIDATING},
        ChatApplicationStatus.SYSTEM_RESPONDING: {ChatApplicationStatus.SAFETY_VALIDATING},
        ChatApplicationStatus.DIAGNOSIS_RUNNING: {ChatApplicationStatus.SAFETY_VALIDATING},
        ChatApplicationStatus.SAFETY_VALIDATING: set(),
    }
)
"""Progress of one turn; every branch ends at the release (L1)."""

BRANCH_STATUSES: Final[Mapping[IntentType, tuple[ChatApplicationStatus, ...]]] = MappingProxyType(
    {
        IntentType.DIAGNOSIS: (ChatApplicationStatus.DIAGNOSIS_RUNNING,),
        IntentType.SYSTEM_CHAT: (ChatApplicationStatus.SYSTEM_RESPONDING,),
        IntentType.KNOWLEDGE: (
            ChatApplicationStatus.KNOWLEDGE_SEARCHING,
            ChatApplicationStatus.KNOWLEDGE_ANSWERING,
        ),
    }
)
"""What each branch does between routing and release, in this order (E9, E12)."""


# --- Legal pairs and mappings between the layers ----------------------------------------------

EVIDENCE_OF: Final[Mapping[InvocationStatus, frozenset[EvidenceStatus]]] = MappingProxyType(
    {
        InvocationStatus.PROJECTING: frozenset(),
        InvocationStatus.READY: frozenset(
            {EvidenceStatus.EVIDENCE_FOUND, EvidenceStatus.NO_EVIDENCE}
        ),
        InvocationStatus.ERROR: frozenset({EvidenceStatus.ERROR}),
    }
)
"""Which evidence status may stand beside which life status (E16, T4)."""

ACCEPTED_EVIDENCE: Final[Mapping[AnalysisKind, EvidenceStatus]] = MappingProxyType(
    {
        AnalysisKind.NORMAL: EvidenceStatus.EVIDENCE_FOUND,
        AnalysisKind.NEGATIVE_OBSERVATION: EvidenceStatus.NO_EVIDENCE,
    }
)
"""The one evidence status that each kind of analysis may cite (G8)."""

SSE_OF: Final[Mapping[ReleaseOutcome, SseOutcome]] = MappingProxyType(
    {
        ReleaseOutcome.SUCCESS: SseOutcome.SUCCESS,
        ReleaseOutcome.FALLBACK: SseOutcome.FALLBACK,
        ReleaseOutcome.FAILED: SseOutcome.FAILED,
    }
)
"""What `done` says for an outcome; CANCELLED is a missing key (E19, N11)."""

UNAVAILABLE_OF: Final[Mapping[IntentType | None, ChatFailureCode]] = MappingProxyType(
    {
        None: ChatFailureCode.ROUTING_UNAVAILABLE,
        IntentType.DIAGNOSIS: ChatFailureCode.DIAGNOSIS_UNAVAILABLE,
        IntentType.SYSTEM_CHAT: ChatFailureCode.SYSTEM_CHAT_UNAVAILABLE,
        IntentType.KNOWLEDGE: ChatFailureCode.KNOWLEDGE_UNAVAILABLE,
    }
)
"""What a client is told of a branch that could give nothing; None: no branch was found (E20)."""

AGENT_RUN_STATES: Final[Mapping[AgentStatus, frozenset[RunState]]] = MappingProxyType(
    {
        AgentStatus.DONE: frozenset({RunState.SUCCESS, RunState.FAILED}),
        AgentStatus.BUDGET_EXCEEDED: frozenset({RunState.BUDGET_EXHAUSTED}),
        AgentStatus.MAX_ITERATIONS: frozenset({RunState.BUDGET_EXHAUSTED}),
        AgentStatus.TIMEOUT: frozenset({RunState.TIMED_OUT}),
        AgentStatus.LOOP_DETECTED: frozenset({RunState.SUCCESS, RunState.FAILED}),
        AgentStatus.NEED_APPROVAL: frozenset({RunState.RUNNING}),
        AgentStatus.CANCELLED: frozenset({RunState.CANCELLED}),
        AgentStatus.FAILED: frozenset({RunState.FAILED}),
    }
)
"""The run states in which a loop that ended so may stand (E18)."""

AGENT_STOP_REASONS: Final[Mapping[AgentStatus, frozenset[DiagnosisStopReason | None]]] = (
    MappingProxyType(
        {
            AgentStatus.DONE: frozenset({None, DiagnosisStopReason.INFORMATION_SATURATED}),
            AgentStatus.BUDGET_EXCEEDED: frozenset({DiagnosisStopReason.BUDGET_LIMIT_REACHED}),
            AgentStatus.MAX_ITERATIONS: frozenset({DiagnosisStopReason.BUDGET_LIMIT_REACHED}),
            AgentStatus.TIMEOUT: frozenset({DiagnosisStopReason.BUDGET_LIMIT_REACHED}),
            AgentStatus.LOOP_DETECTED: frozenset(
                {
                    DiagnosisStopReason.INFORMATION_SATURATED,
                    DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED,
                }
            ),
            AgentStatus.NEED_APPROVAL: frozenset({None}),
            AgentStatus.CANCELLED: frozenset({None}),
            AgentStatus.FAILED: frozenset({None}),
        }
    )
)
"""The stop reasons that may stand beside each end of the loop (E18, P4)."""


def steps_to_validation(
    status: ChatApplicationStatus | None,
) -> tuple[ChatApplicationStatus, ...]:
    """The moves that lead from here to SAFETY_VALIDATING; none where none do, or it is reached.

    A turn that found no branch has nothing to validate.
    """
    if status is None or status is ChatApplicationStatus.ROUTING:
        return ()
    steps: list[ChatApplicationStatus] = []
    while CHAT_MOVES[status]:
        (status,) = CHAT_MOVES[status]
        steps.append(status)
    return tuple(steps)


def is_terminal(state: RunState) -> bool:
    """Whether a run in this state can no longer execute (E1)."""
    return not RUN_MOVES[state]
