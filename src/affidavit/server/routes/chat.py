"""Chat: one turn in, its run's events out; and the turns of a conversation."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from affidavit.contract.errors import AffidavitError
from affidavit.server.chatting import Say, conversation_of, take_turn
from affidavit.server.event_stream import EVENT_STREAM, EventStream
from affidavit.server.house import house_of, principal_of
from affidavit.server.intake import Asked
from affidavit.server.routes import PROBLEMS
from affidavit.server.routes.runs import RunId, run_answer, stopping

router = APIRouter(prefix="/api/v1", tags=["chat"], responses=PROBLEMS)

_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "Server-Sent Events", "content": {EVENT_STREAM: {}}}
}


class TurnLine(BaseModel):
    """One turn: what was said, which branch it took, and the answer, or where it stands."""

    run_id: str
    message: str
    intent: str | None
    answer: dict[str, Any]


class Conversation(BaseModel):
    """The turns up to one of them, oldest first."""

    turns: list[TurnLine]


@router.post("/chat", response_class=Response, responses=_STREAM)
async def say(
    request: Request,
    body: Say,
    idempotency_key: Annotated[
        str | None,
        Header(description="the same key never starts a second run", min_length=1, max_length=200),
    ] = None,
    cancel_on_disconnect: Annotated[
        bool, Query(description="cancel the run when this stream is closed before its end")
    ] = False,
) -> Response:
    """Say something; the answer comes as the events of its run (docs/chat.md)."""
    house, who = house_of(request), principal_of(request)
    if not house.is_ready:
        raise stopping()
    taken = await take_turn(house, Asked(who, idempotency_key, await request.body()), body)
    run_id = taken.head.run_id
    reader = await house.feeds.enter(run_id, who.tenant, None)

    async def left(is_complete: bool) -> None:
        house.feeds.leave(reader)
        if cancel_on_disconnect and not (is_complete or reader.feed.is_over):
            with suppress(AffidavitError):  # it has just ended, or cannot be told
                await house.store.post(run_id, "cancel", who.subject)
            house.engine.wake()

    stream = EventStream(house.feeds.follow(reader), left)
    stream.headers["location"] = f"/api/v1/runs/{run_id}"
    return stream


@router.get("/chat/{run_id}")
async def conversation(request: Request, run_id: RunId) -> Conversation:
    """The conversation that leads to a turn, as far back as it is kept."""
    house, who = house_of(request), principal_of(request)
    turns = []
    for said in await conversation_of(house, who, run_id):
        answer = await run_answer(house, await house.head_for(who, said.run_id))
        turns.append(
            TurnLine(run_id=said.run_id, message=said.message, intent=said.intent, answer=answer)
        )
    return Conversation(turns=turns)
