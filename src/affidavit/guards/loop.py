"""Guard 20: is the agent going round in circles? (H7)

A call's signature is what it asked and what came back: the same question with another answer is
progress, the same with the same is none (F33). Four ways of going round end the run:

    cycle      a tail of steps, of any period, said REPEATS_MAX times over
    near       the same, but for arguments that differ in a bounded way (numbers; case, spaces and
               punctuation of words), NEAR_REPEATS_MAX times over with the same answers (R28)
    invention  steps in a row in which every call names a tool that there is not (R52)
    stubborn   steps in a row whose every call is one tool failing or refused in one same way

A tool that declares itself `polling` may give the same answer `polls_max` times in a row; until
then its calls are no part of any cycle (F35). The guard holds no state and reads no model's
context: it looks at what the ledger says of the whole run, so it survives compression and resume
(R29).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Final

from affidavit.contract.agent import (
    Action,
    AgentRequest,
    AgentState,
    GuardResult,
    Moment,
    Observation,
    ObservationKind,
    ToolSpec,
)
from affidavit.contract.states import AgentStatus
from affidavit.guards.chain import CostClass

REPEATS_MAX: Final = 3
"""Twice may be a second look; three times the same with the same answers is a loop."""

NEAR_REPEATS_MAX: Final = 4
"""One more than for the very same: narrowing a threshold down takes a step or two."""

INVENTIONS_MAX: Final = 3
"""A refusal names the tools that there are; who has not read it thrice will not."""

STUBBORN_MAX: Final = 5
"""A back end may be down for a moment; asked five times in a row it says nothing new."""

WINDOW_STEPS: Final = 120
"""How far back cycles are looked for: a period of 40, twice the longest run of any profile."""

UNKNOWN: Final = "TOOL_UNKNOWN"
"""The code of a call that names a tool which is not registered."""

_WORD: Final = re.compile(r"[^\W\d_]+|\d+|_")


@dataclass(frozen=True, slots=True)
class _Call:
    """One call as the guard compares it. Every invented tool is one and the same."""

    tool: str
    exact: str
    near: str
    answer: str


Step = tuple[_Call, ...]


class LoopGuard:
    """Stops an agent that goes round in circles."""

    name = "loop"
    order = 20
    cost = CostClass.MEMORY
    when = Moment.BEFORE_THINKING

    def check(self, state: AgentState, request: AgentRequest, action: Action | None) -> GuardResult:
        """Whether the steps so far end in a circle; the reason names its kind and its length."""
        tools = {tool.name: tool for tool in state.tools}
        reason = find_loop(state.observations, tools)
        return GuardResult(AgentStatus.LOOP_DETECTED, reason) if reason else GuardResult()


def find_loop(
    observations: Sequence[Observation], tools: Mapping[str, ToolSpec] | None = None
) -> str | None:
    """What kind of circle the observations end in, or None."""
    polling = {name: tool.polls_max for name, tool in (tools or {}).items() if tool.polling}
    poll = _overdue_poll(observations, polling)
    if poll is not None:
        return f"poll of {poll}"
    steps = _steps(observations, frozenset(polling))
    if len(tuple(takewhile(_is_invented, reversed(steps)))) >= INVENTIONS_MAX:
        return "invented tools"
    for kind, repeats in (("exact", REPEATS_MAX), ("near", NEAR_REPEATS_MAX)):
        period = cycle_period([_signature(step, kind) for step in steps], repeats)
        if period is not None:
            return f"{'cycle' if kind == 'exact' else 'near cycle'} of {period}"
    return _stubborn(observations, frozenset(polling))


def cycle_period(signatures: Sequence[str], repeats: int = REPEATS_MAX) -> int | None:
    """The shortest period with which the tail repeats that often, or None."""
    for period in range(1, len(signatures) // repeats + 1):
        tail = signatures[-period * repeats :]
        if all(tail[place] == tail[place - period] for place in range(period, len(tail))):
            return period
    return None


def _steps(observations: Sequence[Observation], polling: frozenset[str]) -> list[Step]:
    """The last steps, each as its calls in an order of their own; those of polls are left out."""
    steps: list[Step] = []
    for _, items in groupby(observations, key=lambda item: item.step):
        calls = tuple(_call(item) for item in items if item.tool not in polling)
        if calls:
            steps.append(tuple(sorted(calls, key=lambda call: (call.exact, call.answer))))
    return steps[-WINDOW_STEPS:]


def _call(item: Observation) -> _Call:
    answer = item.answer_digest or item.result_digest or item.code or str(item.kind)
    if item.code == UNKNOWN:
        return _Call(UNKNOWN, UNKNOWN, UNKNOWN, answer)
    return _Call(item.tool, _text(item.arguments), _text(_blur(item.arguments)), answer)


def _signature(step: Step, kind: str) -> str:
    calls = sorted((call.tool, getattr(call, kind), call.answer) for call in step)
    return json.dumps(calls)


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _blur(value: object) -> object:
    """What is left of a value when what barely matters is taken out.

    A number stands for any number. Of a text its words and digits stay, so that `pod-1` and
    `pod-2` are two things, and `Error ` and `error` are one.
    """
    match value:
        case bool() | None:
            return value
        case int() | float():
            return "#"
        case str():
            return " ".join(_WORD.findall(value.casefold()))
        case Mapping():
            return {str(key): _blur(item) for key, item in value.items()}
        case Sequence():
            return [_blur(item) for item in value]
        case _:
            return str(value)


def _overdue_poll(observations: Sequence[Observation], polling: Mapping[str, int]) -> str | None:
    """The polling tool that gave one answer more often in a row than it declared, or None."""
    streaks: dict[str, tuple[str, int]] = {}
    for item in observations:
        if item.tool not in polling:
            continue
        call = _call(item)
        answer, streak = streaks.get(call.exact, ("", 0))
        streak = streak + 1 if call.answer == answer else 1
        streaks[call.exact] = (call.answer, streak)
        if streak > (polling[item.tool] or REPEATS_MAX):
            return item.tool
    return None


def _is_invented(step: Step) -> bool:
    return all(call.tool == UNKNOWN for call in step)


def _stubborn(observations: Sequence[Observation], polling: frozenset[str]) -> str | None:
    """The tool that was asked in vain, and nothing else, in each of the last steps, or None."""
    seen = [item for item in observations if item.tool not in polling]
    steps = [tuple(items) for _, items in groupby(seen, key=lambda item: item.step)]
    last = steps[-STUBBORN_MAX:]
    if len(last) < STUBBORN_MAX:
        return None
    failures = {(item.tool, item.code) for step in last for item in step}
    kinds = {item.kind for step in last for item in step}
    if len(failures) > 1 or not kinds <= {ObservationKind.FAILED, ObservationKind.REFUSED}:
        return None
    return "one failure again and again"
