"""Refused drafts, for whoever has the role: sealed, recorded, never a result (L1)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request

from affidavit.application.refused_drafts import RefusedDraft, open_refused_draft
from affidavit.server.house import house_of, principal_of
from affidavit.server.logbook import LOGGER
from affidavit.server.routes import PROBLEMS

router = APIRouter(prefix="/api/v1", tags=["drafts"], responses=PROBLEMS)


@router.get("/runs/{run_id}/draft")
async def refused_draft(
    request: Request,
    run_id: Annotated[str, Path(description="the id of a run of this tenant", max_length=64)],
) -> RefusedDraft:
    """The draft that the release refused, marked sentence by sentence. Who read it is recorded."""
    house, who = house_of(request), principal_of(request)
    head = await house.head_for(who, run_id)
    shown = await open_refused_draft(house.store, head, who.subject, datetime.now(UTC))
    told = {"run_id": head.run_id, "tenant": head.tenant}
    LOGGER.info("a refused draft was read by %s", who.subject, extra=told)
    return shown
