"""Guard 40: is there anything left to think with? (H8)

The circuits themselves stand in `core.breaker`, one a dependency. This guard looks before thinking:
an agent all of whose models are down is not asked. The circuit of a tool's back end is asked at the
last moment before the call, after permission and approval (T2), because being admitted takes the
one slot of a probe; a tool whose circuit is open is refused, and the run goes on without it.
"""

from __future__ import annotations

from typing import Final

from affidavit.contract.agent import Action, AgentRequest, AgentState, GuardResult, Moment
from affidavit.contract.states import AgentStatus
from affidavit.guards.chain import CostClass

CIRCUIT_OPEN: Final = "CIRCUIT_OPEN"
"""The reason on record: every model of the agent is down."""


class CircuitGuard:
    """Stops when the circuit of every model of the agent is open."""

    name = "circuit-breaker"
    order = 40
    cost = CostClass.MEMORY
    when = Moment.BEFORE_THINKING

    def check(self, state: AgentState, request: AgentRequest, action: Action | None) -> GuardResult:
        """An agent without a model, such as the playbook, depends on none."""
        if state.models and set(state.models) <= set(state.circuits_open):
            return GuardResult(AgentStatus.FAILED, CIRCUIT_OPEN)
        return GuardResult()
