"""PagerDuty's webhooks (v3): signed, each event once, none too old (pure).

https://developer.pagerduty.com/docs/webhooks-overview: the header holds one `v1=` HMAC-SHA256 of
the body for each secret that is in rotation. The signature covers no time, so an event's age is
that of `occurred_at`, and its id is remembered longer than it may be old.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from affidavit.application.alerts import (
    NAME_CHARS_MAX,
    AlertNotice,
    Moment,
    Notification,
    read_json,
    refused,
)
from affidavit.contract.errors import InputRefused

SIGNATURES_MAX: Final = 10
"""Of one header: secrets in rotation are two."""

STARTING: Final = frozenset({"incident.triggered", "incident.reopened"})
"""Events that begin an incident; every other one only speaks about it."""

CLOCKS_APART: Final = timedelta(seconds=60)
"""How far in the future an event may lie."""


@dataclass(frozen=True, slots=True)
class PagerEvent:
    """One event: its id, and what it says; `notification` has no alert where it starts nothing."""

    id: str
    occurred_at: datetime
    notification: Notification


class _Summary(BaseModel):
    model_config = ConfigDict(extra="ignore")

    summary: str = Field(default="", max_length=1000)


class _Incident(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1, max_length=200)
    title: str = Field(default="", max_length=4000)
    urgency: str = Field(default="", max_length=100)
    service: _Summary | None = None
    priority: _Summary | None = None
    created_at: Moment | None = None


class _Event(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(min_length=1, max_length=200)
    event_type: str = Field(max_length=200)
    occurred_at: Moment
    data: dict[str, object] = Field(default_factory=dict)


class _Webhook(BaseModel):
    model_config = ConfigDict(extra="ignore")

    event: _Event


def check_signature(content: bytes, header: str, secrets: Sequence[str]) -> None:
    """Raises InputRefused (SIGNATURE_REFUSED) unless one of the secrets signed the bytes.

    Every secret is compared with every signature, whatever matched before: the time tells nothing.
    """
    offered = [part.strip() for part in header.split(",")][:SIGNATURES_MAX]
    signed = [part.removeprefix("v1=") for part in offered if part.startswith("v1=")]
    matched = False
    for secret in secrets:
        expected = hmac.new(secret.encode(), content, hashlib.sha256).hexdigest().encode()
        for signature in signed:
            matched |= hmac.compare_digest(expected, signature.encode("utf-8", "replace"))
    if not matched or not secrets:
        raise InputRefused(
            "the signature of the webhook does not fit any secret",
            code="SIGNATURE_REFUSED",
            hint="set [alerts] pagerduty-secret-env to the variable with the webhook's secret",
        )


def read_pagerduty(content: bytes) -> PagerEvent:
    """An event of the v3 webhooks. Raises InputRefused (ALERT_REFUSED)."""
    try:
        event = _Webhook.model_validate(read_json(content)).event
        starts = event.event_type in STARTING
        incident = _Incident.model_validate(event.data) if starts else None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        raise refused(f"/{place}: {first['msg']}") from None
    alerts = () if incident is None else (_notice(incident, event.occurred_at),)
    group = "" if incident is None else incident.id
    return PagerEvent(event.id, event.occurred_at, Notification("pagerduty", group, alerts))


def check_age(event: PagerEvent, now: datetime, age_s: int) -> None:
    """Raises InputRefused (EVENT_TOO_OLD) for an event that is too old, or lies in the future."""
    if not now - timedelta(seconds=age_s) <= event.occurred_at <= now + CLOCKS_APART:
        raise InputRefused(
            "the event is too old, or from the future",
            code="EVENT_TOO_OLD",
            hint="check this machine's clock; [alerts] pagerduty-age-s is the longest age",
        )


def _notice(incident: _Incident, at: datetime) -> AlertNotice:
    labels = {"alertname": incident.title[:NAME_CHARS_MAX] or "incident"}
    if incident.service is not None and incident.service.summary:
        labels["service"] = incident.service.summary[:NAME_CHARS_MAX]
    if incident.urgency:
        labels["urgency"] = incident.urgency
    if incident.priority is not None and incident.priority.summary:
        labels["severity"] = incident.priority.summary[:NAME_CHARS_MAX]
    return AlertNotice(
        name=labels["alertname"],
        firing=True,
        fingerprint=incident.id,
        labels=labels,
        text=incident.title,
        starts_at=incident.created_at or at,
    )
