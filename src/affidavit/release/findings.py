"""How collecting evidence ended, as the release is told (E18, P4; pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from affidavit.contract.agent import Ending
from affidavit.contract.errors import (
    AffidavitError,
    BudgetSpent,
    DeadlineReached,
    RunCancelled,
)
from affidavit.contract.states import AgentStatus, DiagnosisStopReason, RetryFailure


@dataclass(frozen=True, slots=True)
class Findings:
    """The end of collection. `draft` is what the author wrote, as bytes; None where nothing is."""

    question: str
    ending: Ending
    agent_status: AgentStatus
    stop_reason: DiagnosisStopReason | None = None
    draft: bytes | None = None

    @property
    def is_lawful(self) -> bool:
        """Whether status and stop reason may stand beside this ending; else it fails closed."""
        return (self.agent_status, self.stop_reason) in ENDINGS[self.ending]


_Pairs = frozenset[tuple[AgentStatus, DiagnosisStopReason | None]]

_SATURATED: Final = DiagnosisStopReason.INFORMATION_SATURATED
_SPENT: Final = DiagnosisStopReason.BUDGET_LIMIT_REACHED
_VIOLATED: Final = DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED
_OWN_END: Final[_Pairs] = frozenset({(AgentStatus.DONE, None), (AgentStatus.DONE, _SATURATED)})

ENDINGS: Final[Mapping[Ending, _Pairs]] = MappingProxyType(
    {
        Ending.CONCLUDED: _OWN_END,
        Ending.GAVE_UP: _OWN_END,
        Ending.UNREADABLE: _OWN_END,
        Ending.PROTOCOL_VIOLATED: frozenset({(AgentStatus.LOOP_DETECTED, _VIOLATED)}),
        Ending.LOOP_DETECTED: frozenset({(AgentStatus.LOOP_DETECTED, _SATURATED)}),
        Ending.BUDGET_EXHAUSTED: frozenset(
            {(AgentStatus.BUDGET_EXCEEDED, _SPENT), (AgentStatus.MAX_ITERATIONS, _SPENT)}
        ),
        Ending.TIMED_OUT: frozenset({(AgentStatus.TIMEOUT, _SPENT)}),
        Ending.CANCELLED: frozenset({(AgentStatus.CANCELLED, None)}),
        Ending.NO_MODEL_LEFT: frozenset({(AgentStatus.FAILED, None)}),
        Ending.INTERNAL_FAILURE: frozenset({(AgentStatus.FAILED, None)}),
        Ending.REPLIED: frozenset({(AgentStatus.DONE, None)}),
        Ending.UNROUTED: frozenset({(AgentStatus.FAILED, None)}),
    }
)
"""The statuses and stop reasons that each ending admits: E18 by ending, and P4's whitelist."""


def findings_after(stop: BaseException, question: str) -> Findings:
    """The findings of a run that was stopped, during collection or during release (L4, N5).

    Attempts that the run itself ended (`RetryFailure`) come as an error with that code and mean the
    same as the stop. A pause is no end and must not come here; what no line names is an internal
    failure.
    """
    code = stop.code if isinstance(stop, AffidavitError) else None
    match stop:
        case RunCancelled():
            ending, status = Ending.CANCELLED, AgentStatus.CANCELLED
        case DeadlineReached():
            ending, status = Ending.TIMED_OUT, AgentStatus.TIMEOUT
        case BudgetSpent(limit="iterations"):
            ending, status = Ending.BUDGET_EXHAUSTED, AgentStatus.MAX_ITERATIONS
        case BudgetSpent():
            ending, status = Ending.BUDGET_EXHAUSTED, AgentStatus.BUDGET_EXCEEDED
        case _:
            ending, status = _ATTEMPTS.get(code or "", _FAILED)
    spent = ending in {Ending.BUDGET_EXHAUSTED, Ending.TIMED_OUT}
    return Findings(question, ending, status, _SPENT if spent else None)


_FAILED: Final = (Ending.INTERNAL_FAILURE, AgentStatus.FAILED)

_ATTEMPTS: Final[Mapping[str, tuple[Ending, AgentStatus]]] = MappingProxyType(
    {
        RetryFailure.CANCELLED: (Ending.CANCELLED, AgentStatus.CANCELLED),
        RetryFailure.BUDGET_EXHAUSTED: (Ending.BUDGET_EXHAUSTED, AgentStatus.BUDGET_EXCEEDED),
        RetryFailure.TIMED_OUT: (Ending.TIMED_OUT, AgentStatus.TIMEOUT),
    }
)
"""Attempts that ended because the run may not go on; the others are failures of the attempt."""

STOP_CODES: Final = frozenset(_ATTEMPTS)
"""The codes of an error that is a stop of the run in disguise (L4)."""
