"""Approvals: what waits for a person, and what a person says (H10, K9)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from affidavit.contract.record import format_instant
from affidavit.ports.store import PendingApproval, Store
from affidavit.server.house import house_of, now_us, principal_of
from affidavit.server.routes import PROBLEMS
from affidavit.tools.approval_desk import Decision, decide_approval, page_of, record_outcome

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

router = APIRouter(prefix="/api/v1", tags=["approvals"], responses=PROBLEMS)

RunId = Annotated[str, Path(description="the id of a run of this tenant", max_length=64)]
CallId = Annotated[str, Path(description="the id of one of its calls", max_length=64)]


class Waiting(BaseModel):
    """One action that waits: tool, digest, time, and the page that a person must see."""

    run_id: str
    tool_call_id: str
    tool: str
    action_digest: str
    asked_at: str
    expires_at: str
    expired: bool
    page: dict[str, Any]


class Inbox(BaseModel):
    """What waits for a person, oldest first."""

    approvals: list[Waiting]


class Verdict(BaseModel):
    """A person's word about exactly the action that was shown: its digest says which."""

    model_config = ConfigDict(extra="forbid")

    decision: Literal["approve", "reject"]
    action_digest: str = Field(pattern=r"^[0-9a-f]{64}$")


class Outcome(BaseModel):
    """What became of an effect whose outcome is unknown."""

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["done", "not-done"]


class Said(BaseModel):
    """A word that waits for the run's driver."""

    run_id: str
    tool_call_id: str
    said: str


async def waiting_of(store: Store, pending: PendingApproval) -> Waiting:
    """The action as a person is shown it."""
    content = await page_of(store, pending)
    page = {} if content is None else json.loads(content)
    ask = pending.ask
    return Waiting(
        run_id=pending.run_id,
        tool_call_id=ask.tool_call_id,
        tool=ask.tool,
        action_digest=ask.action_digest,
        asked_at=_at(ask.asked_us),
        expires_at=_at(ask.expires_us),
        expired=now_us() > ask.expires_us,
        page=page if isinstance(page, dict) else {},
    )


@router.get("/approvals")
async def list_approvals(
    request: Request, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Inbox:
    """Every action of this tenant's runs that waits for a person."""
    house, who = house_of(request), principal_of(request)
    found = await house.store.approvals(who.tenant, limit)
    return Inbox(approvals=[await waiting_of(house.store, item) for item in found])


@router.post("/approvals/{run_id}/{tool_call_id}", status_code=202)
async def decide(request: Request, run_id: RunId, tool_call_id: CallId, body: Verdict) -> Said:
    """Approve or reject exactly that action, once; not by whoever asked for the run."""
    house, who = house_of(request), principal_of(request)
    head = await house.head_for(who, run_id)
    said = Decision(
        head.run_id, tool_call_id, body.decision == "approve", who.subject, body.action_digest
    )
    await decide_approval(house.store, now_us(), said)
    house.engine.wake()
    return Said(run_id=head.run_id, tool_call_id=tool_call_id, said=body.decision)


@router.post("/runs/{run_id}/calls/{tool_call_id}/outcome", status_code=202)
async def resolve(request: Request, run_id: RunId, tool_call_id: CallId, body: Outcome) -> Said:
    """Record what became of a call whose outcome is unknown; it is never tried again."""
    house, who = house_of(request), principal_of(request)
    head = await house.head_for(who, run_id)
    await record_outcome(house.store, head.run_id, tool_call_id, body.outcome, who.subject)
    house.engine.wake()
    return Said(run_id=head.run_id, tool_call_id=tool_call_id, said=body.outcome)


def _at(moment_us: int) -> str:
    return format_instant((_EPOCH + timedelta(microseconds=moment_us)).replace(microsecond=0))
