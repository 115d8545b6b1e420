"""Guard 60: has a person approved exactly this action? (H10)

Every tool with an effect needs an approval, and any other that is named. Where the approval stands
was found out before (`tools.approval`): bound to a digest of tool and arguments, single-use,
expiring. This guard only says what follows: go on, refuse, or let the run wait. How sure an agent
is of itself plays no part (R9).
"""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.contract.agent import (
    Action,
    AgentRequest,
    AgentState,
    ApprovalStatus,
    GuardResult,
    Moment,
)
from affidavit.contract.states import AgentStatus
from affidavit.guards.chain import CostClass


@dataclass(frozen=True, slots=True)
class ApprovalGuard:
    """Lets an approved action pass, and the run wait for a person's decision about another."""

    also: frozenset[str] = frozenset()
    name: str = "approval"
    order: int = 60
    cost: CostClass = CostClass.PAUSE
    when: Moment = Moment.BEFORE_ACTING

    def check(self, state: AgentState, request: AgentRequest, action: Action | None) -> GuardResult:
        """Whether the action may happen now."""
        if action is None:
            return GuardResult(AgentStatus.FAILED, "NO_ACTION")
        if action.tool.effect == "read" and action.tool.name not in self.also:
            return GuardResult()
        match action.approval:
            case ApprovalStatus.APPROVED:
                return GuardResult()
            case None | ApprovalStatus.PENDING:
                return GuardResult(AgentStatus.NEED_APPROVAL, "NEED_APPROVAL")
            case ApprovalStatus.REJECTED | ApprovalStatus.EXPIRED | ApprovalStatus.STALE:
                return GuardResult(refusal=f"APPROVAL_{action.approval}")
