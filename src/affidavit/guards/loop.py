"""Guard 20: is the agent going round in circles? (H7)

A step's signature is what it asked and what came back: the same question with another answer is
progress, the same with the same is none (F33). A tail of steps that is one cycle, of any period up
to a third of the steps, said three times over, ends the run.

Deliberately absent for now: near-duplicates and declared polling with a cap.
"""

from __future__ import annotations

import hashlib
import json
from itertools import groupby
from typing import Final

from affidavit.contract.agent import Act, AgentRequest, AgentState, GuardResult, Moment, Observation
from affidavit.contract.states import AgentStatus
from affidavit.guards.chain import CostClass

REPEATS_MAX: Final = 3
"""Twice may be a second look; three times the same with the same answers is a loop."""


class LoopGuard:
    """Stops on a cycle of steps; holds no state, so it survives compression and resume."""

    name = "loop"
    order = 20
    cost = CostClass.MEMORY
    when = Moment.BEFORE_THINKING

    def check(self, state: AgentState, request: AgentRequest, action: Act | None) -> GuardResult:
        """Whether the steps so far end in a cycle."""
        period = cycle_period(step_signatures(state.observations))
        if period is None:
            return GuardResult()
        return GuardResult(AgentStatus.LOOP_DETECTED, f"cycle of {period}")


def step_signatures(observations: tuple[Observation, ...]) -> tuple[str, ...]:
    """One signature a step, in order; the order of calls within a step does not matter."""
    return tuple(
        hashlib.sha256("\n".join(sorted(_signature(item) for item in items)).encode()).hexdigest()
        for _, items in groupby(observations, key=lambda item: item.step)
    )


def _signature(item: Observation) -> str:
    answer = item.result_digest or item.code or str(item.kind)
    return json.dumps([item.tool, item.arguments, answer], sort_keys=True, default=str)


def cycle_period(signatures: tuple[str, ...]) -> int | None:
    """The shortest period with which the tail repeats `REPEATS_MAX` times, or None."""
    for period in range(1, len(signatures) // REPEATS_MAX + 1):
        tail = signatures[-period * REPEATS_MAX :]
        if all(tail[place] == tail[place - period] for place in range(period, len(tail))):
            return period
    return None
