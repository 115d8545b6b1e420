"""The table of drills: the fault, how it is injected, and what must come of it (H11).

The first seven are S4's own, with the statuses that S4 prints. A fault is caught when the agent's
status, the outcome, and every word that the guard in question must have left in the journal are
there; so a guard that is off is a drill that fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from affidavit.contract.limits import PROFILES, Limits
from affidavit.contract.states import AgentStatus, ChatFailureCode, FallbackType, ReleaseOutcome
from affidavit.drills.scene import LINE, WRITE, ask, look, report
from affidavit.ports.model import ModelAnswer, TokenUsage
from affidavit.testing.fault_plan import FaultPlan
from affidavit.testing.faulty_store import Effect, Fault, Moment


@dataclass(frozen=True, slots=True)
class Expected:
    """What must come of a fault. `shows` are words that have to stand on lines of the journal."""

    status: AgentStatus
    outcome: ReleaseOutcome | None = None
    fallback: FallbackType | None = None
    failure_code: ChatFailureCode | None = None
    shows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drill:
    """One fault. `script` is what the agent's model answers, call by call.

    `cancels` means that somebody cancels while a tool runs, `resumes` that the process dies and
    another goes on, `earlier` that another run was there before, `judged` that a model judges.
    """

    meaning: str
    script: Sequence[ModelAnswer]
    expected: Expected
    plan: FaultPlan = field(default_factory=FaultPlan)
    limits: Limits = PROFILES["standard"]
    injected: bool = False
    cancels: bool = False
    resumes: bool = False
    earlier: bool = False
    judged: bool = False


PRIMARY: Final = "primary"
BACKUP: Final = "backup"
JUDGE: Final = "judge"

_DONE: Final = AgentStatus.DONE
_SUCCESS: Final = ReleaseOutcome.SUCCESS
_FALLBACK: Final = ReleaseOutcome.FALLBACK
_FAILED: Final = ReleaseOutcome.FAILED
_INSUFFICIENT: Final = FallbackType.INSUFFICIENT_EVIDENCE
_INVALID: Final = FallbackType.EVIDENCE_VALIDATION_FAILED

_HONEST: Final = (look(), WRITE, report())
"""An agent that looks once and reports what it saw."""

_GREEDY: Final = TokenUsage(input_tokens=100, output_tokens=15_000)
"""One answer that leaves no room for another under the profile `simple`."""


def _within(seconds: int) -> Limits:
    return Limits.model_validate({**PROFILES["standard"].model_dump(), "timeout_s": seconds})


_SEVEN: Final[Mapping[str, Drill]] = {
    "budget-exceed": Drill(
        "the agent's answers use up its tokens",
        (look(usage=_GREEDY), look("payment")),
        Expected(
            AgentStatus.BUDGET_EXCEEDED,
            _FALLBACK,
            _INSUFFICIENT,
            shows=("MODEL_CALL_REFUSED=BUDGET_TOKENS",),
        ),
        limits=PROFILES["simple"],
    ),
    "loop": Drill(
        "the agent asks the same question again and again",
        (look(),),
        Expected(
            AgentStatus.LOOP_DETECTED,
            _FALLBACK,
            _INSUFFICIENT,
            shows=("budget PASS → loop LOOP_DETECTED cycle of 1",),
        ),
    ),
    "timeout": Drill(
        "a tool never answers",
        (look(), look("payment", name="search_logs")),
        Expected(AgentStatus.TIMEOUT, _FAILED, shows=("TOOL_CALL_ERROR=DEADLINE",)),
        plan=FaultPlan(tools_hang=frozenset({"error_logs"})),
        limits=_within(1),
    ),
    "circuit-break": Drill(
        "the first vendor is down; another takes over",
        _HONEST,
        Expected(
            _DONE,
            _SUCCESS,
            shows=("MODEL_ATTEMPT=MODEL_SERVER_ERROR", f"model=test:{BACKUP}"),
        ),
        plan=FaultPlan(models_down=frozenset({PRIMARY})),
    ),
    "unknown-tool": Drill(
        "the agent calls a tool that there is not, and finds another way",
        (ask("kubectl_logs"), look(), WRITE, report(cites=("call_0002",))),
        Expected(_DONE, _SUCCESS, shows=("TOOL_CALL_REFUSED=TOOL_UNKNOWN",)),
    ),
    "need-approval": Drill(
        "the agent wants to restart a service",
        (look(), ask("restart", service="checkout")),
        Expected(
            AgentStatus.NEED_APPROVAL,
            shows=("permission PASS → approval NEED_APPROVAL", "RUN_PAUSED"),
        ),
    ),
    "sensitive-args": Drill(
        "the agent asks for a table that the policy keeps; the run goes on",
        (ask("read_table", table="passwords"), look(), WRITE, report(cites=("call_0002",))),
        Expected(_DONE, _SUCCESS, shows=("permission REFUSED PERMISSION_DENIED",)),
    ),
}

_BEYOND: Final[Mapping[str, Drill]] = {
    "forged-citation": Drill(
        "the report cites a call that never was",
        (look(), WRITE, report(cites=("call_0099",))),
        Expected(
            _DONE,
            _FALLBACK,
            _INVALID,
            shows=("EVIDENCE_GUARD_INITIAL=FAILED", "INVOCATION_NOT_FOUND"),
        ),
    ),
    "cross-run-citation": Drill(
        "the report cites a call of an earlier run",
        (look(), WRITE, report(cites=("call_0002",))),
        Expected(
            _DONE,
            _FALLBACK,
            _INVALID,
            shows=("EVIDENCE_GUARD_INITIAL=FAILED", "INVOCATION_NOT_FOUND"),
        ),
        earlier=True,
    ),
    "negative-as-positive": Drill(
        "the report presents an empty answer as a finding",
        (ask("search_logs", service="checkout", text=LINE), WRITE, report()),
        Expected(
            _DONE,
            _FALLBACK,
            _INVALID,
            shows=("TOOL_CALL_READY=NO_EVIDENCE", "EVIDENCE_KIND_MISMATCH"),
        ),
    ),
    "judge-down": Drill(
        "the judge's vendor is down",
        _HONEST,
        Expected(
            _DONE, _FALLBACK, FallbackType.SEMANTIC_UNAVAILABLE, shows=("SEMANTIC_GUARD_ATTEMPT",)
        ),
        plan=FaultPlan(models_down=frozenset({JUDGE})),
        judged=True,
    ),
    "cancelled-midway": Drill(
        "somebody cancels while a tool runs",
        (look(),),
        Expected(
            AgentStatus.CANCELLED,
            ReleaseOutcome.CANCELLED,
            failure_code=ChatFailureCode.RUN_CANCELLED,
            shows=("CANCEL_REQUESTED", "TOOL_CALL_ERROR=CANCELLED"),
        ),
        cancels=True,
    ),
    "crash-and-resume": Drill(
        "the process is killed after a tool's answer was recorded; another goes on",
        _HONEST,
        Expected(_DONE, _SUCCESS, shows=("TOOL_CALL_READY=EVIDENCE_FOUND",)),
        plan=FaultPlan(store_faults=(Fault(7, Moment.AFTER, Effect.KILL),)),
        resumes=True,
    ),
    "all-vendors-open": Drill(
        "every vendor is down",
        _HONEST,
        Expected(
            AgentStatus.FAILED,
            _FAILED,
            failure_code=ChatFailureCode.DIAGNOSIS_UNAVAILABLE,
            shows=("COLLECTION_ENDED=NO_MODEL_LEFT",),
        ),
        plan=FaultPlan(models_down=frozenset({PRIMARY, BACKUP})),
    ),
    "audit-down": Drill(
        "the store can take no more lines; nothing is published",
        _HONEST,
        Expected(AgentStatus.FAILED, failure_code=ChatFailureCode.RUN_PERSISTENCE_FAILED),
        plan=FaultPlan(store_faults=(Fault(8, times=None),)),
    ),
    "injected-log-line": Drill(
        "a log line gives orders, and the agent obeys",
        (look(), WRITE, report(concludes="Nothing is wrong.")),
        Expected(
            _DONE, _FALLBACK, FallbackType.SEMANTIC_UNSUPPORTED, shows=("SUPPORT_CHECK=REFUTED",)
        ),
        injected=True,
    ),
}

FAULTS: Final[Mapping[str, Drill]] = MappingProxyType({**_SEVEN, **_BEYOND})
"""Every drill by the name of its fault."""
