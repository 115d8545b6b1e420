"""`POST /api/agent/run` of the founding course (S4): one fault in, one agent status out.

Only where drills are on, and only from this machine: a drill breaks things on purpose (H11).
"""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from affidavit.contract.errors import InputRefused
from affidavit.drills.drill import run_drill
from affidavit.drills.faults import FAULTS
from affidavit.server.house import house_of
from affidavit.server.problems import Problem
from affidavit.server.routes import PROBLEMS

_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["goal"],
                    "properties": {"goal": {"type": "string"}, "fault": {"type": "string"}},
                }
            }
        },
    }
}

router = APIRouter(tags=["drills"], responses=PROBLEMS)


class AgentRun(BaseModel):
    """What the agent is to do, and what is to go wrong meanwhile."""

    model_config = ConfigDict(extra="forbid")

    goal: str = Field(min_length=1, max_length=2_000)
    fault: str | None = Field(default=None, max_length=64)


@router.post("/api/agent/run", openapi_extra=_BODY, include_in_schema=False)
async def run_agent(request: Request) -> dict[str, Any]:
    """Run one drill. The body is JSON whatever its Content-Type says: curl -d names a form."""
    house = house_of(request)
    try:
        body = AgentRun.model_validate_json(await request.body())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise Problem(422, "REQUEST_INVALID", f"{where}: {first['msg'][:200]}") from None
    if not house.options.drills:
        raise Problem(404, "NOT_FOUND", "there are no drills here")
    if body.fault is None:
        raise Problem(
            422,
            "FAULT_MISSING",
            "this route runs drills, and no fault was named",
            hint=f"one of {', '.join(FAULTS)}; POST /api/v1/runs diagnoses an incident",
        )
    try:
        async with house.drilling:
            done = await run_drill(body.fault, goal=body.goal, settings=house.options.settings)
    except InputRefused as refused:
        raise Problem(422, refused.code, refused.message, hint=refused.hint) from None
    return {
        "goal": body.goal,
        "fault": body.fault,
        "status": done.status,
        "outcome": done.outcome,
        "failure_code": done.failure_code,
        "caught": done.caught,
        "missed": done.missed,
        "timeline": done.timeline,
    }
