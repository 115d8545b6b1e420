"""PagerDuty's webhooks: whose they are, how old, and what they say."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta

import pytest

from affidavit.application.alerts import AlertRules, groups_of
from affidavit.application.pagerduty import check_age, check_signature, read_pagerduty
from affidavit.contract.errors import InputRefused

NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)


def event(kind: str = "incident.triggered", **data: object) -> bytes:
    incident = {
        "id": "PGR0VU2",
        "type": "incident",
        "title": "HighLatency on checkout",
        "urgency": "high",
        "service": {"id": "PF9KMXH", "type": "service_reference", "summary": "checkout"},
        "priority": {"summary": "P1"},
        **data,
    }
    document = {
        "event": {
            "id": "01BZ",
            "event_type": kind,
            "resource_type": "incident",
            "occurred_at": "2026-03-02T10:00:00.000Z",
            "data": incident,
        }
    }
    return json.dumps(document).encode()


def signed(content: bytes, *secrets: str) -> str:
    return ",".join(
        "v1=" + hmac.new(s.encode(), content, hashlib.sha256).hexdigest() for s in secrets
    )


def test_any_of_several_secrets_will_do() -> None:
    content = event()
    check_signature(content, signed(content, "old", "new"), ("new",))
    check_signature(content, signed(content, "new"), ("old", "new"))


@pytest.mark.parametrize(
    "header", ["", "v1=", "v1=zz", "v2=" + "0" * 64, "v1=" + "0" * 64, "v1=ü", signed(b"x", "key")]
)
def test_anything_else_is_refused(header: str) -> None:
    with pytest.raises(InputRefused) as refused:
        check_signature(event(), header, ("key",))
    assert refused.value.code == "SIGNATURE_REFUSED"


def test_without_a_secret_nothing_is_accepted() -> None:
    content = event()
    with pytest.raises(InputRefused):
        check_signature(content, signed(content, ""), ())


def test_a_triggered_incident_is_a_group_of_its_own() -> None:
    found = read_pagerduty(event())
    (group,) = groups_of(found.notification, AlertRules())
    assert (found.id, group.service) == ("01BZ", "checkout")
    assert group.labels["severity"] == "P1"


@pytest.mark.parametrize("kind", ["incident.resolved", "incident.acknowledged", "service.updated"])
def test_every_other_event_starts_nothing(kind: str) -> None:
    assert groups_of(read_pagerduty(event(kind)).notification, AlertRules()) == ()


def test_age_is_bounded_on_both_sides() -> None:
    found = read_pagerduty(event())
    check_age(found, NOW + timedelta(seconds=299), 300)
    for moment in (NOW + timedelta(seconds=301), NOW - timedelta(seconds=61)):
        with pytest.raises(InputRefused) as refused:
            check_age(found, moment, 300)
        assert refused.value.code == "EVENT_TOO_OLD"


@pytest.mark.parametrize("content", [b"{}", b"[]", event(id=""), b'{"event": {"id": "x"}}'])
def test_what_cannot_be_read_is_refused(content: bytes) -> None:
    with pytest.raises(InputRefused) as refused:
        read_pagerduty(content)
    assert refused.value.code == "ALERT_REFUSED"
