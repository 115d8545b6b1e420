"""The gate for anybody's agent: an answer with its tool calls goes in, a release comes out."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Final

import anyio
from fastapi import APIRouter, Header, Query, Request
from starlette.responses import JSONResponse, Response

from affidavit.application.gate import read_order, refuse_supplied
from affidavit.server.feeds import until_ended
from affidavit.server.house import house_of, principal_of
from affidavit.server.intake import Asked, take_order
from affidavit.server.routes import PROBLEMS
from affidavit.server.routes.runs import run_answer, stopping

WAIT_S: Final = 60.0
"""A gate run collects nothing and is over in a second or two; what takes longer is followed."""

_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "one answer with its tool calls: docs/gate.md, gate.schema.json",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}

router = APIRouter(prefix="/api/v1", tags=["gate"], responses=PROBLEMS)


@router.post(
    "/gate",
    openapi_extra=_BODY,
    response_model=dict[str, Any],
    responses={202: {"description": "not decided yet; follow the run"}},
)
async def gate(
    request: Request,
    withdraw: Annotated[
        bool, Query(description="take back single sentences that nothing proves")
    ] = False,
    require_recorded: Annotated[
        bool, Query(description="refuse calls that came with the answer")
    ] = False,
    idempotency_key: Annotated[
        str | None,
        Header(description="the same key never starts a second run", min_length=1, max_length=200),
    ] = None,
) -> Response:
    """Let an answer through, or hold it; what is published says *supplied* (C12)."""
    house, who = house_of(request), principal_of(request)
    if not house.is_ready:
        raise stopping()
    content = await request.body()
    read = partial(read_order, content, withdraw=withdraw)
    order = await anyio.to_thread.run_sync(read)
    if require_recorded:
        refuse_supplied(order)
    asked = Asked(who, idempotency_key, order.content)
    taken = await take_order(house, asked, order)
    ended = await until_ended(house.store, house.feeds, taken.head, WAIT_S)
    head = await house.head_for(who, taken.head.run_id)
    answer = await run_answer(house, head)
    where = {"location": f"/api/v1/runs/{head.run_id}"}
    return JSONResponse(answer, status_code=200 if ended else 202, headers=where)
