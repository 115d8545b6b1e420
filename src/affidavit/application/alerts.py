"""Alerts in: what a notification says, its incident group, and what is asked about it (pure, I5).

A notification is outside input. Its labels are read for words about the symptom and for the group,
and for nothing else: tenant and back ends come from the key that it was posted with and from the
configuration. Missing labels are fine (R72). A resolved alert starts nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)

from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.evidence import Window
from affidavit.contract.limits import PROFILES
from affidavit.contract.record import Record

PAYLOAD_BYTES_MAX: Final = 1024 * 1024
"""Alertmanager sends some hundred alerts at once; a thousand fit."""

ALERTS_MAX: Final = 1000
LABELS_MAX: Final = 64
LABEL_CHARS_MAX: Final = 1000
"""Of a name, and of a value; longer ones are cut for us, whatever the sender keeps."""

LIVE: Final = "live"
"""The source of a run over the configured back ends (`AgentRequest.source`)."""

SERVICE_LABELS: Final = ("service", "service_name", "app", "deployment", "container", "job")
NAME_CHARS_MAX: Final = 200

LATENCY_WORDS: Final = ("latency", "slow", "duration", "response time", "timeout")
ERROR_WORDS: Final = ("error", "5xx", "fail", "exception")
DOWN_WORDS: Final = ("down", "unavailable", "absent", "unreachable", "crash", "not ready")


def _hyphened(name: str) -> str:
    return name.replace("_", "-")


class AlertRules(Record):
    """`[alerts]`: how notifications become runs."""

    model_config = ConfigDict(alias_generator=_hyphened, validate_by_name=True)

    group_by: tuple[str, ...] = Field(
        default=(), description="labels that make an incident group; empty: the sender's own group"
    )
    cooldown_s: int = Field(
        default=1800, ge=0, le=86_400, description="a group starts no second run so soon"
    )
    runs_per_hour: int = Field(default=60, ge=1, description="storm limit of a tenant")
    runs_per_day: int = Field(default=300, ge=1, description="spend ceiling of a tenant, in runs")
    tokens_per_day: int = Field(
        default=5_000_000, ge=1, description="spend ceiling of a tenant's alert runs, in tokens"
    )
    limits: Literal["simple", "standard", "research"] = Field(
        default="standard", description="the profile of limits of such a run"
    )
    lead_s: int = Field(
        default=300, ge=0, le=3600, description="the window begins so long before the alert"
    )
    window_max_s: int = Field(
        default=3600, ge=300, le=21_600, description="no window is longer; its end counts"
    )
    pagerduty_secret_env: tuple[str, ...] = Field(
        default=(), description="variables with the signing secrets of PagerDuty's webhooks"
    )
    pagerduty_age_s: int = Field(default=300, ge=30, description="older events are refused")


@dataclass(frozen=True, slots=True)
class AlertNotice:
    """One alert of a notification."""

    name: str
    firing: bool
    fingerprint: str
    labels: Mapping[str, str]
    text: str
    starts_at: datetime


@dataclass(frozen=True, slots=True)
class Notification:
    """What was posted: its alerts, the sender's own group, and how many alerts it left out."""

    sender: Literal["alertmanager", "pagerduty"]
    group: str
    alerts: tuple[AlertNotice, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class IncidentGroup:
    """Alerts that are one incident. `key` is the same for the same group, for ever."""

    key: str
    alerts: tuple[AlertNotice, ...]

    @property
    def first(self) -> AlertNotice:
        """The alert that began first."""
        return min(self.alerts, key=lambda alert: (alert.starts_at, alert.fingerprint))

    @property
    def service(self) -> str | None:
        """The service that the first alert with such a label names."""
        for alert in sorted(self.alerts, key=lambda one: one.starts_at):
            for label in SERVICE_LABELS:
                if alert.labels.get(label):
                    return alert.labels[label][:NAME_CHARS_MAX]
        return None

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels that all of its alerts share: what routing looks at."""
        shared = dict(self.alerts[0].labels)
        for alert in self.alerts[1:]:
            shared = {k: v for k, v in shared.items() if alert.labels.get(k) == v}
        return shared


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("no moment that UTC has") from None


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]
"""A moment with its zone, in UTC; at either end of the calendar not every zone's has one."""


class _State(BaseModel):
    model_config = ConfigDict(extra="ignore")

    state: str = "active"


class _Alert(BaseModel):
    """An alert of the webhook (status is a word) or of the v2 API (status is an object)."""

    model_config = ConfigDict(extra="ignore")

    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    starts_at: Moment = Field(alias="startsAt")
    fingerprint: str = Field(default="", max_length=LABEL_CHARS_MAX)
    status: Literal["firing", "resolved"] | _State = "firing"


class _Webhook(BaseModel):
    model_config = ConfigDict(extra="ignore")

    version: Literal["4"]
    group_key: str = Field(alias="groupKey", max_length=10_000)
    alerts: list[_Alert] = Field(max_length=ALERTS_MAX)
    truncated: int = Field(default=0, alias="truncatedAlerts", ge=0)


class _List(BaseModel):
    alerts: list[_Alert] = Field(max_length=ALERTS_MAX)


def read_alertmanager(content: bytes) -> Notification:
    """A webhook of version 4, or the list of the v2 API. Raises InputRefused (ALERT_REFUSED)."""
    document = read_json(content)
    try:
        if isinstance(document, list):
            found = _List.model_validate({"alerts": document})
            return Notification("alertmanager", "", tuple(map(_notice, found.alerts)))
        hook = _Webhook.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        raise refused(f"/{place}: {first['msg']}") from None
    alerts = tuple(map(_notice, hook.alerts))
    return Notification("alertmanager", hook.group_key, alerts, hook.truncated)


def read_json(content: bytes) -> object:
    """The document of a payload. Raises InputRefused (ALERT_REFUSED)."""
    if len(content) > PAYLOAD_BYTES_MAX:
        raise refused(f"larger than {PAYLOAD_BYTES_MAX} bytes")
    try:
        document: object = json.loads(content)
    except (ValueError, RecursionError):
        raise refused("no JSON") from None
    return document


def refused(what: str) -> InputRefused:
    """A payload that cannot be read."""
    return InputRefused(
        f"the alert payload cannot be read: {what}",
        code="ALERT_REFUSED",
        hint="docs/alerts.md shows the forms: Alertmanager's webhook 4 or v2 alerts, PagerDuty v3",
    )


def _notice(alert: _Alert) -> AlertNotice:
    labels = {
        name[:LABEL_CHARS_MAX]: value[:LABEL_CHARS_MAX]
        for name, value in sorted(alert.labels.items())[:LABELS_MAX]
    }
    text = next(
        (alert.annotations[name] for name in ("summary", "description", "message")
         if alert.annotations.get(name)),
        "",
    )  # fmt: skip
    state = alert.status if isinstance(alert.status, str) else alert.status.state
    return AlertNotice(
        name=labels.get("alertname", "")[:NAME_CHARS_MAX] or "alert",
        firing=state in {"firing", "active", "unprocessed"},
        fingerprint=alert.fingerprint or _digest(labels),
        labels=labels,
        text=text[:4000],
        starts_at=alert.starts_at,
    )


def _digest(value: object) -> str:
    content = json.dumps(value, sort_keys=True, ensure_ascii=True).encode("ascii")
    return hashlib.sha256(content).hexdigest()[:32]


def groups_of(notification: Notification, rules: AlertRules) -> tuple[IncidentGroup, ...]:
    """The incident groups of what fires; a notification that only resolves has none.

    A group is made of the labels of `group_by`, else of the sender's group, else of the alert's
    name and service.
    """
    grouped: dict[str, dict[str, AlertNotice]] = {}
    for alert in notification.alerts:
        if not alert.firing:
            continue
        if rules.group_by:
            parts: object = [[name, alert.labels.get(name, "")] for name in rules.group_by]
        elif notification.group:
            parts = [notification.sender, notification.group]
        else:
            service = next((alert.labels[n] for n in SERVICE_LABELS if alert.labels.get(n)), "")
            parts = [alert.name, service] if alert.labels else [alert.fingerprint]
        grouped.setdefault(_digest(parts), {})[alert.fingerprint] = alert
    return tuple(IncidentGroup(key, tuple(found.values())) for key, found in grouped.items())


def request_of_group(
    group: IncidentGroup, rules: AlertRules, *, run_id: str, tenant: str, now: datetime
) -> AgentRequest:
    """What is asked about a group: why, since when, around the alert's beginning.

    A beginning in the future, or older than the longest window, is moved into it.
    """
    first = group.first
    began = min(first.starts_at, now)
    oldest = now - timedelta(seconds=rules.window_max_s)
    start = max(began, oldest) - timedelta(seconds=rules.lead_s)
    end = max(now, start + timedelta(seconds=60))
    start = max(start, end - timedelta(seconds=rules.window_max_s))
    about = group.service or "the system"
    return AgentRequest(
        run_id=run_id,
        tenant=tenant,
        question=f"Why does {_plain(first.name)} fire for {_plain(about)} since "
        f"{began:%H:%M:%S} UTC?",
        limits=PROFILES[rules.limits],
        profile=rules.limits,
        window=Window(start=start, end=end, zone="UTC"),
        incident=f"alert-{group.key}",
        source=LIVE,
        symptom_service=group.service,
        symptom_signal=symptom_of(first),
        requested_by="alert",
    )


def symptom_of(alert: AlertNotice) -> str:
    """What kind of symptom the alert's name and text speak of."""
    told = f"{alert.name} {alert.text}".lower()
    for signal, words in (
        ("availability", DOWN_WORDS),
        ("errors", ERROR_WORDS),
        ("latency", LATENCY_WORDS),
    ):
        if any(word in told for word in words):
            return signal
    return "unknown"


def _plain(text: str) -> str:
    """A label's value as a word of a question: nothing that could be more than a word."""
    kept = "".join(sign for sign in text if sign.isalnum() or sign in " ._-/")
    return kept[:NAME_CHARS_MAX].strip() or "an alert"
