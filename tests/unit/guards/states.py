"""States and observations for tests of guards."""

from __future__ import annotations

from typing import Any

from affidavit.contract.agent import (
    Action,
    AgentRequest,
    AgentState,
    ApprovalStatus,
    Observation,
    ObservationKind,
    ToolSpec,
)
from affidavit.contract.limits import PROFILES
from affidavit.contract.states import EvidenceClass

REQUEST = AgentRequest(
    run_id="run_0123456789abcdef", tenant="t", question="?", limits=PROFILES["simple"]
)


def state(**changes: Any) -> AgentState:
    """A state in which every guard passes, but for the changes."""
    values: dict[str, Any] = {
        "request": REQUEST,
        "step": 1,
        "tools": (),
        "iterations_left": 3,
        "calls_left": 3,
        "seconds_left": 10.0,
    }
    return AgentState(**{**values, **changes})


def spec(name: str = "probe", **changes: Any) -> ToolSpec:
    """A registered tool that reads."""
    return ToolSpec(name, "", name, EvidenceClass.OBSERVATION, {}, **changes)


def action(
    tool: ToolSpec | None = None, approval: ApprovalStatus | None = None, **arguments: object
) -> Action:
    """One call of it."""
    return Action("call_0001", tool or spec(), arguments, "a" * 64, approval)


def looked(step: int, tool: str, answer: str | None = "same", **changes: Any) -> Observation:
    """One call of a step, and what came back: found, or with a `code` failed or refused."""
    values: dict[str, Any] = {
        "step": step,
        "tool": tool,
        "arguments": {"a": 1},
        "kind": ObservationKind.FOUND if answer else ObservationKind.FAILED,
        "answer_digest": answer,
    }
    return Observation(**{**values, **changes})
