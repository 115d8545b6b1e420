"""Where alerts are posted. The key says whose they are; a label never does (docs/alerts.md)."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Request

from affidavit.adapters.live_backends import no_backends
from affidavit.application.alerts import read_alertmanager
from affidavit.application.incidents import Taken, counted, take_alerts, take_pagerduty
from affidavit.server.hooks import Hooks
from affidavit.server.house import house_of, principal_of
from affidavit.server.routes import PROBLEMS
from affidavit.server.routes.runs import stopping

_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "as the sender has it: docs/alerts.md",
        "content": {"application/json": {"schema": {}}},
    }
}

router = APIRouter(prefix="/hooks", tags=["hooks"], responses=PROBLEMS)


@router.post("/alertmanager", openapi_extra=_BODY, response_model=dict[str, Any])
async def alertmanager(request: Request) -> dict[str, Any]:
    """Take a webhook of Alertmanager (version 4), or a list of its v2 alerts."""
    hooks = _hooks_of(request)
    notification = read_alertmanager(await request.body())
    taken = await take_alerts(hooks.desk, notification, principal_of(request).tenant)
    return _told(taken)


@router.post("/pagerduty", openapi_extra=_BODY, response_model=dict[str, Any])
async def pagerduty(
    request: Request,
    x_pagerduty_signature: Annotated[
        str, Header(description="`v1=` and the HMAC-SHA256 of the body", max_length=2000)
    ] = "",
) -> dict[str, Any]:
    """Take a v3 webhook of PagerDuty: signed, not too old, each event once."""
    hooks = _hooks_of(request)
    taken = await take_pagerduty(
        hooks.desk,
        await request.body(),
        x_pagerduty_signature,
        hooks.pagerduty_secrets,
        principal_of(request).tenant,
    )
    return _told(taken)


def _hooks_of(request: Request) -> Hooks:
    house = house_of(request)
    if not house.is_ready:
        raise stopping()
    if house.hooks is None:
        raise no_backends()
    return house.hooks


def _told(taken: tuple[Taken, ...]) -> dict[str, Any]:
    """What became of each group, and its run."""
    groups = [
        {
            "key": item.key,
            "admission": str(item.admitted.admission),
            "run_id": item.admitted.run_id,
            "alerts": item.alerts,
        }
        for item in taken
    ]
    return {"groups": groups, **counted(taken)}
