"""Guard 30: is there time left? (H2: time belongs to this guard alone)"""

from __future__ import annotations

from affidavit.contract.agent import Action, AgentRequest, AgentState, GuardResult, Moment
from affidavit.contract.states import AgentStatus
from affidavit.guards.chain import CostClass


class TimeoutGuard:
    """Stops when the run's working time is over."""

    name = "timeout"
    order = 30
    cost = CostClass.MEMORY
    when = Moment.BEFORE_THINKING

    def check(self, state: AgentState, request: AgentRequest, action: Action | None) -> GuardResult:
        """Whether the next step may begin."""
        if state.seconds_left <= 0:
            return GuardResult(AgentStatus.TIMEOUT, "timeout")
        return GuardResult()
