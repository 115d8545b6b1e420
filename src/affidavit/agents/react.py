"""The model-driven agent: a model decides the next step, the harness does everything else.

    seen enough, or out of steps? → the report, by its schema, without tools
    else                          → tool calls, or the model's word that it will write or gives up
    an answer that cannot be read → asked once more, with the reason; then: to the report, and from
                                    there to an illegal draft (D10, D11), never to a published text

It knows no secret of the harness: what it is given is `AgentState`, what it returns is a decision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from affidavit.agents.react_prompt import Frame, TooLarge, next_step, report_schema, write_report
from affidavit.agents.react_reading import (
    Calls,
    GivesUp,
    Reading,
    Report,
    Unreadable,
    Writes,
    read_answer,
)
from affidavit.contract.agent import Act, AgentState, Conclude, Decision, GiveUp
from affidavit.contract.errors import ModelFailed
from affidavit.contract.limits import Limits
from affidavit.core.budget import bound_of, room_bytes
from affidavit.ports.model import Door, ModelRequest, Purpose

ILLEGAL: Final = ""
"""What stands in place of a report that could not be read: no object, so an illegal draft."""


def frame_of(limits: Limits, window_tokens: int) -> Frame:
    """The bounds of a run's requests: its limits', or the model's window where that is smaller."""
    bound = bound_of(Purpose.DECIDE, limits)
    answer_tokens = min(bound.output_tokens, window_tokens // 2)
    input_tokens = min(bound.input_tokens, window_tokens - answer_tokens)
    return Frame(room_bytes(input_tokens), answer_tokens, report_schema())


@dataclass(slots=True)
class ReactInvestigator:
    """A model as investigator (`contract.agent.Investigator`), for one driven run."""

    door: Door
    frame: Frame
    name: str = "react"

    async def decide(self, state: AgentState) -> Decision:
        """The next step. Raises ModelFailed where no model answers."""
        try:
            return await self._decide(state)
        except TooLarge:
            return GiveUp("what was found does not fit into the model's window")
        except ModelFailed as failed:
            if failed.code == "REQUEST_TOO_LARGE":
                return GiveUp("what was found does not fit into the model's window")
            raise

    async def _decide(self, state: AgentState) -> Decision:
        if state.must_conclude or state.calls_left <= 0 or state.iterations_left <= 1:
            return await self._write(state)
        reading = await self._ask(state, next_step, lambda found: found)
        match reading:
            case Calls(calls=calls):
                return Act(calls[: state.calls_left])
            case Report(text=text):
                return Conclude(text)
            case GivesUp(reason=reason):
                return GiveUp(reason)
            case Writes() | Unreadable():
                return await self._write(state)

    async def _write(self, state: AgentState) -> Decision:
        """The report. A tool call is no report; the model was offered none."""
        reading = await self._ask(state, write_report, _only_report)
        match reading:
            case Report(text=text):
                return Conclude(text)
            case GivesUp(reason=reason):
                return GiveUp(reason)
            case _:
                return Conclude(ILLEGAL)

    async def _ask(
        self,
        state: AgentState,
        make: Callable[[AgentState, Frame, str], ModelRequest],
        admit: Callable[[Reading], Reading],
    ) -> Reading:
        """What the model wants; asked once more where that cannot be used (R50)."""
        offered = frozenset(tool.name for tool in state.tools)
        answer = await self.door.ask(make(state, self.frame, ""))
        reading = admit(read_answer(answer, offered))
        if not isinstance(reading, Unreadable):
            return reading
        again = await self.door.ask(make(state, self.frame, reading.says))
        return admit(read_answer(again, offered))


def _only_report(reading: Reading) -> Reading:
    return NO_REPORT if isinstance(reading, Calls | Writes) else reading


NO_REPORT: Final = Unreadable("NO_REPORT", "it is no report; send the report as one JSON object")
