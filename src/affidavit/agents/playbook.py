"""The playbook: a deterministic agent that needs no model and no key.

Step 1 asks for topology, metrics, traces, logs and changes side by side. The readings are fused and
what a callee explains is taken from its callers (`signals`). Step 2 looks closely at the first
suspects. Then it writes an ordinary draft with typed sentences: *where* it broke and what was seen
there, what was looked at as well, and which changes came before. It concludes only when the first
suspect stands clearly before the second, and says so when it cannot tell.

`decide_step` is a pure function of the observations so far. Deliberately absent: any claim of a
cause, and any conviction of a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from affidavit.agents.reading import read_material
from affidavit.agents.report import Case, write_report
from affidavit.agents.signals import Ranking, Weights, rank
from affidavit.agents.weighing import shipped_weights
from affidavit.contract.agent import (
    Act,
    AgentState,
    Conclude,
    Decision,
    ToolCallRequest,
)

SUSPECTS_MAX: Final = 2
"""Looked at closely: the first, and the one that could be it instead."""

FIRST: Final = (
    "topology",
    "resource_shifts",
    "level_shifts",
    "metric_scan",
    "trace_edges",
    "self_time",
    "error_spans",
    "interruptions",
    "error_rise",
    "change_events",
)
"""Each signal is strong on its own kind of fault and blind elsewhere: all of them are asked."""

CLOSE: Final = ("error_logs",)
"""What words a suspect has for it."""


class PlaybookInvestigator:
    """The embedded agent; with weights of its own for whoever fits new ones."""

    name = "playbook"

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights = weights or shipped_weights()

    async def decide(self, state: AgentState) -> Decision:
        """The next step; see `decide_step`."""
        return decide_step(state, self.weights)


def decide_step(state: AgentState, weights: Weights) -> Decision:
    """The next step, as a pure function of what was observed."""
    offered = {tool.name for tool in state.tools}
    if not state.observations and not state.must_conclude:
        calls = tuple(ToolCallRequest(name, {}) for name in FIRST if name in offered)
        return Act(calls[: state.calls_left] if state.calls_left else calls)
    material = read_material(state)
    ranking = rank(material.seen, weights)
    if not state.must_conclude:
        close = tuple(look_closely(state, ranking, offered))[: state.calls_left]
        if close:
            return Act(close, note="a close look at the first suspects")
    return Conclude(write_report(Case(state, material, ranking)))


def look_closely(
    state: AgentState, ranking: Ranking, offered: set[str]
) -> Iterator[ToolCallRequest]:
    """What was not asked yet about the first suspects."""
    asked = {(item.tool, item.arguments.get("service")) for item in state.observations}
    for tool in CLOSE:
        for suspect in ranking.suspects[:SUSPECTS_MAX]:
            if tool in offered and (tool, suspect.service) not in asked:
                yield ToolCallRequest(tool, {"service": suspect.service})
