"""What went out, what waits, what is dead; and sending it again (I5)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel

from affidavit.contract.record import format_instant
from affidavit.ports.incidents import Delivery, DeliveryKind, DeliveryState
from affidavit.server.house import house_of, now_us, principal_of
from affidavit.server.problems import not_found
from affidavit.server.routes import PROBLEMS

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

LISTED_MAX: Final = 200

router = APIRouter(prefix="/api/v1", tags=["deliveries"], responses=PROBLEMS)


class DeliveryLine(BaseModel):
    """One message for one destination; `code` says why its last attempt failed."""

    id: str
    state: DeliveryState
    kind: DeliveryKind
    destination: str
    run_id: str
    attempts: int
    code: str | None
    created_at: str
    next_at: str | None


class DeliveryList(BaseModel):
    """The newest deliveries of this tenant, and how many there are in each state."""

    deliveries: list[DeliveryLine]
    counts: dict[DeliveryState, int]


class Resent(BaseModel):
    """A delivery that waits again."""

    id: str
    state: DeliveryState


def line_of(item: Delivery) -> DeliveryLine:
    """The delivery as the list has it: never its body."""
    return DeliveryLine(
        id=item.id,
        state=item.state,
        kind=item.kind,
        destination=item.destination,
        run_id=item.run_id,
        attempts=item.attempts,
        code=item.code or None,
        created_at=_at(item.created_us),
        next_at=_at(item.next_us) if item.state == "pending" else None,
    )


@router.get("/deliveries")
async def list_deliveries(
    request: Request,
    state: Annotated[DeliveryState | None, Query(description="only those")] = None,
    limit: Annotated[int, Query(ge=1, le=LISTED_MAX)] = 50,
) -> DeliveryList:
    """What is told to others about this tenant's runs: sent, waiting, or dead."""
    hooks, who = house_of(request).hooks, principal_of(request)
    if hooks is None:
        return DeliveryList(deliveries=[], counts={"pending": 0, "delivered": 0, "dead": 0})
    found = await hooks.plan.book.deliveries(who.tenant, state, limit)
    counts = await hooks.plan.book.counts(who.tenant)
    return DeliveryList(deliveries=[line_of(item) for item in found], counts=dict(counts))


@router.post("/deliveries/{delivery_id}/resend", status_code=202)
async def resend(
    request: Request,
    delivery_id: Annotated[
        str, Path(description="the id of a delivery of this tenant", max_length=64)
    ],
) -> Resent:
    """Let it go out again, from its first attempt."""
    hooks, who = house_of(request).hooks, principal_of(request)
    if hooks is None or not await hooks.plan.book.resend(who.tenant, delivery_id, now_us()):
        raise not_found()
    return Resent(id=delivery_id, state="pending")


def _at(moment_us: int) -> str:
    return format_instant((_EPOCH + timedelta(microseconds=moment_us)).replace(microsecond=0))
