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
from collections.abc import Iterator, Mapping, Sequence
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


Step = tuple[Observation, ...]


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
    # What came back is compared first: it is at hand, and seldom the same.
    answers = [_answers(step) for step in steps]
    for kind, repeats in (("cycle", REPEATS_MAX), ("near cycle", NEAR_REPEATS_MAX)):
        for period in _periods(answers, repeats):
            tail = [_questions(step, kind) for step in steps[-period * repeats :]]
            if period in _periods(tail, repeats):
                return f"{kind} of {period}"
    return _stubborn(observations, frozenset(polling))


def cycle_period(signatures: Sequence[object], repeats: int = REPEATS_MAX) -> int | None:
    """The shortest period with which the tail repeats that often, or None."""
    return next(_periods(signatures, repeats), None)


def _periods(signatures: Sequence[object], repeats: int) -> Iterator[int]:
    """Every period with which the tail repeats that often, the shortest first."""
    for period in range(1, len(signatures) // repeats + 1):
        tail = signatures[-period * repeats :]
        if all(tail[place] == tail[place - period] for place in range(period, len(tail))):
            yield period


def _steps(observations: Sequence[Observation], polling: frozenset[str]) -> list[Step]:
    """The last steps, each as its calls; those of polls are left out."""
    steps = [
        calls
        for _, items in groupby(observations, key=lambda item: item.step)
        if (calls := tuple(item for item in items if item.tool not in polling))
    ]
    return steps[-WINDOW_STEPS:]


def _answer(item: Observation) -> str:
    return item.answer_digest or item.result_digest or item.code or str(item.kind)


def _tool(item: Observation) -> str:
    """The tool that was asked; an invented one is one and the same, whatever its name."""
    return UNKNOWN if item.code == UNKNOWN else item.tool


def _answers(step: Step) -> tuple[tuple[str, str], ...]:
    """What a step asked for and got, in an order of its own."""
    return tuple(sorted((_tool(item), _answer(item)) for item in step))


def _questions(step: Step, kind: str) -> tuple[tuple[str, str, str], ...]:
    """The same with the arguments, as they are or with what barely matters taken out."""
    return tuple(sorted((_tool(item), _question(item, kind), _answer(item)) for item in step))


def _question(item: Observation, kind: str) -> str:
    if item.code == UNKNOWN:
        return UNKNOWN
    return _text(item.arguments if kind == "cycle" else _blur(item.arguments))


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
        question = item.tool + _text(item.arguments)
        answer, streak = streaks.get(question, ("", 0))
        streak = streak + 1 if _answer(item) == answer else 1
        streaks[question] = (_answer(item), streak)
        if streak > (polling[item.tool] or REPEATS_MAX):
            return item.tool
    return None


def _is_invented(step: Step) -> bool:
    return all(item.code == UNKNOWN for item in step)


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
