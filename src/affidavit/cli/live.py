"""`diagnose live` and `diagnose ALERT.json`: a run over the configured back ends."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from affidavit.application.alerts import (
    LIVE,
    PAYLOAD_BYTES_MAX,
    groups_of,
    read_alertmanager,
    request_of_group,
)
from affidavit.application.since import window_since
from affidavit.cli.opening import login
from affidavit.cli.screen import tell
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.diagnose import World
from affidavit.ports.store import Store
from affidavit.settings import Settings
from affidavit.wiring import Listen, LiveOrder, live_world, new_run_id


@dataclass(frozen=True, slots=True)
class LiveQuestion:
    """What is asked of the live back ends; empty texts mean what the alert or the defaults say."""

    question: str = ""
    profile: str = "standard"
    service: str = ""
    since: str = ""


def is_live(source: str | Path) -> bool:
    """Whether a SOURCE means the back ends: the word, or an alert payload's file."""
    path = Path(source)
    return str(source) == LIVE or (path.suffix == ".json" and path.is_file())


def live_request(source: str, asked: LiveQuestion, settings: Settings) -> AgentRequest:
    """The request of `live`, or of the first incident group of an alert payload.

    Raises InputRefused for a payload that cannot be read or in which nothing fires.
    """
    now = datetime.now(UTC)
    if source == LIVE:
        return _asked(asked, settings, now)
    try:
        with Path(source).open("rb") as file:
            content = file.read(PAYLOAD_BYTES_MAX + 1)
    except OSError as error:
        raise InputRefused(f"{source} cannot be read: {error.strerror}") from None
    rules = settings.alerts
    notification = read_alertmanager(content)
    groups = groups_of(notification, rules)
    if not groups:
        raise InputRefused(
            f"nothing fires in {source}",
            code="ALERT_RESOLVED",
            hint="a resolved alert starts no run",
        )
    if len(groups) > 1:
        tell(f"{len(groups)} incident groups; this run is about the first")
    request = request_of_group(groups[0], rules, run_id=new_run_id(), tenant=LOCAL_TENANT, now=now)
    limits = settings.agent.limits.of(request.profile)
    changes: dict[str, object] = {"requested_by": login(), "limits": limits}
    if asked.question:
        changes["question"] = asked.question
    if asked.service:
        changes["symptom_service"] = asked.service
    return AgentRequest.model_validate({**dict(request), **changes})


def _asked(asked: LiveQuestion, settings: Settings, now: datetime) -> AgentRequest:
    window = window_since(asked.since, now)
    about = asked.service or "the system"
    return AgentRequest(
        run_id=new_run_id(),
        tenant=LOCAL_TENANT,
        question=asked.question or f"What is wrong with {about} since {window.start:%H:%M:%S} UTC?",
        limits=settings.agent.limits.of(asked.profile),
        profile=asked.profile,
        window=window,
        source=LIVE,
        symptom_service=asked.service or None,
        requested_by=login(),
    )


@asynccontextmanager
async def live_run(
    request: AgentRequest, store: Store, listen: Listen, settings: Settings
) -> AsyncIterator[World]:
    """The world of a live run; says which back ends do not answer."""
    order = LiveOrder(request, settings, os.environ)
    async with live_world(order, store, listen=listen) as (world, live):
        for finding in live.unavailable:
            tell(f"not available: {finding.name} ({finding.code}): {finding.message}")
        yield world
