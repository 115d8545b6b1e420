"""What a run came to, in one typed record (C14)."""

from __future__ import annotations

from dataclasses import dataclass, field

from affidavit.contract.report import (
    Coverage,
    FallbackRecord,
    PublishedReport,
    ReleaseRecord,
    Usage,
)
from affidavit.contract.states import (
    AgentStatus,
    ChatFailureCode,
    DiagnosisStopReason,
    Provenance,
    ReleaseOutcome,
    RunState,
)
from affidavit.core.fold import RunView
from affidavit.diagnose import Paused


@dataclass(frozen=True, slots=True)
class AgentResult:
    """How the agent ended (`agent_status`), what became of the run (`run_state`), and what its
    user got (`outcome`): three questions, three answers (E16).

    SUCCESS carries `result`, FALLBACK carries `fallback`, FAILED and CANCELLED a `failure_code`. A
    run that waits for a person has no outcome yet: NEED_APPROVAL, RUNNING, and `waits_for` names
    the calls. `affidavit` is the sealed file, which anybody can check with `affidavit verify`.
    """

    run_id: str
    run_state: RunState
    agent_status: AgentStatus | None
    outcome: ReleaseOutcome | None
    usage: Usage
    coverage: Coverage = field(default_factory=Coverage)
    stop_reason: DiagnosisStopReason | None = None
    failure_code: ChatFailureCode | None = None
    result: PublishedReport | None = None
    fallback: FallbackRecord | None = None
    provenance: Provenance = Provenance.RECORDED
    limitations: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    affidavit: bytes | None = field(default=None, repr=False)


def result_of(release: ReleaseRecord, affidavit: bytes | None) -> AgentResult:
    """The result of a run that has its one public answer."""
    return AgentResult(
        run_id=release.run_id,
        run_state=release.run_state,
        agent_status=release.agent_status,
        outcome=release.outcome,
        usage=release.usage,
        coverage=release.coverage,
        stop_reason=release.stop_reason,
        failure_code=release.failure_code,
        result=release.result,
        fallback=release.fallback,
        provenance=release.provenance,
        limitations=release.limitations,
        affidavit=affidavit,
    )


def result_of_pause(paused: Paused, view: RunView) -> AgentResult:
    """The result of a run that waits; nothing is decided yet."""
    calls = view.calls.values()
    return AgentResult(
        run_id=paused.run_id,
        run_state=view.state,
        agent_status=paused.agent_status,
        outcome=None,
        usage=Usage(
            iterations=len(view.steps),
            tool_calls=view.reserved_calls,
            attempts=sum(call.attempts for call in calls) + view.spend.calls,
            tokens=view.spend.committed.tokens,
            money_micro=view.spend.committed.micros if view.spend.calls else None,
            duration_ms=view.worked_us // 1000,
        ),
        waits_for=tuple(call.tool_call_id for call in (*view.waiting(), *view.unresolved())),
    )
