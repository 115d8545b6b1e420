"""Guard 10: is there anything left to spend? (K3, S4 section 5.2)"""

from __future__ import annotations

from affidavit.contract.agent import Action, AgentRequest, AgentState, GuardResult, Moment
from affidavit.contract.states import AgentStatus
from affidavit.guards.chain import CostClass


class BudgetGuard:
    """Stops when an iteration more is not allowed, or a call was refused for want of budget."""

    name = "budget"
    order = 10
    cost = CostClass.MEMORY
    when = Moment.BEFORE_THINKING

    def check(self, state: AgentState, request: AgentRequest, action: Action | None) -> GuardResult:
        """Time is not looked at here: it belongs to the timeout guard alone (H2)."""
        if state.over_limit is not None:
            return GuardResult(AgentStatus.BUDGET_EXCEEDED, state.over_limit)
        if state.iterations_left <= 0:
            return GuardResult(AgentStatus.MAX_ITERATIONS, "iterations")
        return GuardResult()
