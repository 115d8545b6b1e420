"""The one public decision: a pure, total function of the situation (L8, section 10)."""

from __future__ import annotations

from typing import assert_never

from affidavit.contract.decisions import DECISIONS, DecisionId
from affidavit.contract.states import RunState
from affidavit.release.situation import (
    Cancelled,
    Cited,
    Faulted,
    Illegal,
    Opinion,
    Replied,
    Situation,
    Spent,
    Stopped,
    Uncited,
    Unconcluded,
    Unrouted,
    Unthinking,
)


def decide(situation: Situation) -> DecisionId:
    """The row of the release table that applies."""
    match situation:
        case Cancelled():
            return DecisionId.D14
        case Faulted():
            return DecisionId.D15
        case Unthinking() | Unrouted():
            return DecisionId.D11
        case Spent(facts=facts):
            return DecisionId.D12 if facts else DecisionId.D13
        case Stopped(facts=facts):
            return DecisionId.D9 if facts else DecisionId.D11
        case Illegal(facts=facts):
            return DecisionId.D10 if facts else DecisionId.D11
        case Unconcluded():
            return _without_conclusion(situation)
        case Uncited():
            return DecisionId.D3
        case Replied():
            return DecisionId.S1
        case Cited():
            return _with_conclusion(situation)
        case _:
            assert_never(situation)


def run_state_of(situation: Situation) -> RunState:
    """The state in which the run ends: the row's own, or of its two the one that names the stop."""
    if isinstance(situation, Spent):
        return RunState.TIMED_OUT if situation.timed_out else RunState.BUDGET_EXHAUSTED
    (state,) = DECISIONS[decide(situation)].run_states
    return state


def _without_conclusion(situation: Unconcluded) -> DecisionId:
    if situation.facts:
        return DecisionId.D6
    if situation.asks and situation.references_hold:
        return DecisionId.D7
    return DecisionId.D8


def _with_conclusion(situation: Cited) -> DecisionId:
    match situation.opinion:
        case Opinion.UNSUPPORTED | Opinion.REFUTED:
            return DecisionId.D4
        case Opinion.UNAVAILABLE:
            return DecisionId.D5
        case Opinion.SUPPORTED if situation.withdrawn:
            return DecisionId.D2B
        case Opinion.SUPPORTED:
            return DecisionId.D2 if situation.repaired else DecisionId.D1
        case _:
            assert_never(situation.opinion)
