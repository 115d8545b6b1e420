"""A model chooses the branch where rules find none: three words, strictly read, no guess (I1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from affidavit.application.chat import ChatOrder, end_unrouted, narrow
from affidavit.contract.errors import ModelFailed, PauseAsked, RecordFailed, RunStopped
from affidavit.contract.states import IntentType
from affidavit.core.budget import bound_of, room_bytes
from affidavit.core.run import Run
from affidavit.diagnose import Routing, World
from affidavit.loop import end_stopped
from affidavit.models.desk import ClosedDoor
from affidavit.models.fencing import FENCE_RULE, fence
from affidavit.ports.model import (
    Door,
    Finish,
    Message,
    ModelRequest,
    OutputSchema,
    Purpose,
    encode_request,
)
from affidavit.release.reading import read_json

ROUTE: Final = f"""\
You sort one message into a branch. You do not answer it.
{FENCE_RULE}
DIAGNOSIS: why something fails, or a look at something that fails.
KNOWLEDGE: what documents say: how something is done, what something means, who owns it.
SYSTEM_CHAT: a courtesy, or a question about this assistant itself.
UNDECIDED: anything else, two of them at once, or if you are not sure.
Answer one JSON object: {{"intent": "UNDECIDED"}}."""

UNDECIDED: Final = "UNDECIDED"

_SCHEMA: Final = OutputSchema(
    name="branch",
    body=MappingProxyType(
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["intent"],
            "properties": {"intent": {"type": "string", "enum": [*IntentType, UNDECIDED]}},
        }
    ),
)

OpenBranch = Callable[[IntentType], Awaitable[World]]
"""The world of a branch; it stays open as long as the turn's own."""


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """Routes one turn by a model, inside its run: metered, recorded, asked once (`diagnose.Turn`).

    The model's word is no more than a choice among the branches that are taken here; whatever else
    it says is no answer.
    """

    order: ChatOrder
    open_branch: OpenBranch
    door: Door = field(default_factory=ClosedDoor)
    name: str = "model"

    async def enter(self, run: Run, world: World) -> World:
        """As `diagnose.Turn` says. A decision that is on record stands."""
        if not run.view.is_routed:
            await self._route(run)
        intent = run.view.intent
        if intent is None:
            return replace(world, branch=end_unrouted)
        branch = await self.open_branch(intent)
        thinks = intent is IntentType.DIAGNOSIS and self.order.about is not None
        if world.mind is None or not thinks:
            return branch
        return world.mind.bind(run, replace(branch, mind=world.mind))

    async def _route(self, run: Run) -> None:
        try:
            chosen = await run.interruptible(lambda: self._choose(run))
        except (RecordFailed, PauseAsked):
            raise
        except RunStopped as stop:
            await run.note(Routing(None, self.name).event)
            await end_stopped(run, stop)
            return
        except ModelFailed:
            chosen = None
        found = narrow(Routing(chosen, self.name), self.order.allowed)
        await run.note(found.event)

    async def _choose(self, run: Run) -> IntentType | None:
        bound = bound_of(Purpose.ROUTE, run.request.limits)
        request = ModelRequest(
            purpose=Purpose.ROUTE,
            system=ROUTE,
            messages=(Message(role="user", text=fence(self.order.message, "message")),),
            output=_SCHEMA,
            max_output_tokens=bound.output_tokens,
        )
        if len(encode_request(request)) > room_bytes(bound.input_tokens):
            return None
        answer = await self.door.ask(request)
        is_whole = answer.finish is Finish.STOP and not answer.calls
        return read_choice(answer.text) if is_whole else None


def read_choice(text: str) -> IntentType | None:
    """The branch in an answer: exactly one object with one known word, or nothing."""
    try:
        answer = read_json(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer, dict) or set(answer) != {"intent"}:
        return None
    word = answer["intent"]
    return IntentType(word) if isinstance(word, str) and word in set(IntentType) else None
