"""How collecting evidence ended, as the release is told (E18, P4; pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from affidavit.contract.agent import Ending
from affidavit.contract.errors import BudgetSpent, DeadlineReached, RunCancelled, RunStopped
from affidavit.contract.states import AgentStatus, DiagnosisStopReason


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
        Ending.INTERNAL_FAILURE: frozenset({(AgentStatus.FAILED, None)}),
    }
)
"""The statuses and stop reasons that each ending admits: E18 by ending, and P4's whitelist."""


def findings_after(stop: RunStopped, question: str) -> Findings:
    """The findings of a run that was stopped, during collection or during release (L4, N5).

    A pause is no end, and must not come here: what no row names is an internal failure.
    """
    match stop:
        case RunCancelled():
            return Findings(question, Ending.CANCELLED, AgentStatus.CANCELLED)
        case DeadlineReached():
            return Findings(question, Ending.TIMED_OUT, AgentStatus.TIMEOUT, _SPENT)
        case BudgetSpent(limit="iterations"):
            return Findings(question, Ending.BUDGET_EXHAUSTED, AgentStatus.MAX_ITERATIONS, _SPENT)
        case BudgetSpent():
            return Findings(question, Ending.BUDGET_EXHAUSTED, AgentStatus.BUDGET_EXCEEDED, _SPENT)
        case _:
            return Findings(question, Ending.INTERNAL_FAILURE, AgentStatus.FAILED)
