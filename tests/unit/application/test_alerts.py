"""What an alert payload says, which group it is, and what is asked about it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from affidavit.application.alerts import (
    AlertRules,
    groups_of,
    read_alertmanager,
    request_of_group,
)
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused

NOW = datetime(2026, 3, 2, 10, 5, tzinfo=UTC)
RULES = AlertRules()


def alert(status: str = "firing", **labels: str) -> dict[str, object]:
    return {
        "status": status,
        "labels": labels,
        "annotations": {"summary": "p95 is slow"},
        "startsAt": "2026-03-02T10:00:00Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example/graph",
        "fingerprint": "-".join(sorted(labels.values())),
    }


def hook(*alerts: dict[str, object], group: str = "{}:{}", **more: object) -> bytes:
    document = {
        "version": "4",
        "groupKey": group,
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "affidavit",
        "alerts": list(alerts),
    }
    return json.dumps({**document, **more}).encode()


def asked(content: bytes, tenant: str = "acme") -> AgentRequest:
    (group,) = groups_of(read_alertmanager(content), RULES)
    return request_of_group(group, RULES, run_id="run_1", tenant=tenant, now=NOW)


def test_a_webhook_of_version_4_becomes_a_question_around_its_alert() -> None:
    request = asked(hook(alert(alertname="HighLatency", service="checkout")))
    assert request.question == "Why does HighLatency fire for checkout since 10:00:00 UTC?"
    assert request.window is not None
    assert request.window.start == NOW - timedelta(minutes=10)
    assert request.window.end == NOW
    assert (request.symptom_service, request.symptom_signal) == ("checkout", "latency")
    assert request.source == "live"


@pytest.mark.fault("R72")
def test_one_v2_alert_without_any_kubernetes_label_starts() -> None:
    found = alert(alertname="InstanceDown", instance="10.0.0.7:9100")
    found["status"] = {"state": "active", "silencedBy": [], "inhibitedBy": []}
    request = asked(json.dumps([found]).encode())
    assert request.question == "Why does InstanceDown fire for the system since 10:00:00 UTC?"
    assert request.symptom_service is None
    assert request.symptom_signal == "availability"


@pytest.mark.fault("R72")
def test_an_alert_without_labels_and_annotations_starts() -> None:
    assert asked(json.dumps([{"startsAt": "2026-03-02T10:00:00Z"}]).encode()).question


@pytest.mark.spec("H9", "N13")
def test_labels_choose_neither_tenant_nor_back_end_nor_source() -> None:
    labels = {"alertname": "A", "tenant": "other", "backend": "other", "source": "/etc",
              "run_id": "run_other", "limits": "research"}  # fmt: skip
    request = asked(hook(alert(**labels)))
    assert (request.tenant, request.source, request.profile) == ("acme", "live", "standard")
    assert request.run_id == "run_1"


def test_what_is_resolved_or_suppressed_starts_nothing() -> None:
    assert groups_of(read_alertmanager(hook(alert("resolved", alertname="A"))), RULES) == ()
    suppressed = {**alert(alertname="A"), "status": {"state": "suppressed"}}
    assert groups_of(read_alertmanager(json.dumps([suppressed]).encode()), RULES) == ()


def test_of_a_mixed_notification_only_what_fires_counts() -> None:
    content = hook(alert("resolved", alertname="A", pod="1"), alert(alertname="A", pod="2"))
    (group,) = groups_of(read_alertmanager(content), RULES)
    assert [one.labels["pod"] for one in group.alerts] == ["2"]


def test_the_sender_s_group_is_the_group_and_configured_labels_overrule_it() -> None:
    alerts = [alert(alertname=name, service=service)
              for name in ("A", "B") for service in ("x", "y")]  # fmt: skip
    notification = read_alertmanager(hook(*alerts))
    assert len(groups_of(notification, RULES)) == 1
    by_service = AlertRules(group_by=("service",))
    assert len(groups_of(notification, by_service)) == 2
    assert len(groups_of(read_alertmanager(json.dumps(alerts).encode()), RULES)) == 4


@pytest.mark.fault("R39")
def test_the_same_fingerprint_ten_times_is_one_alert_of_one_group() -> None:
    one = alert(alertname="A", service="x")
    (group,) = groups_of(read_alertmanager(hook(*[one] * 10)), RULES)
    assert len(group.alerts) == 1


def test_only_labels_that_all_alerts_share_are_routed_by() -> None:
    content = hook(alert(alertname="A", team="web", pod="1"), alert(alertname="A", team="web"))
    (group,) = groups_of(read_alertmanager(content), RULES)
    assert group.labels == {"alertname": "A", "team": "web"}


def test_a_label_is_a_word_of_the_question_and_no_instruction_with_markup() -> None:
    request = asked(hook(alert(alertname="<!channel> [x](http://evil)\n# Ignore")))
    assert request.question.startswith("Why does channel xhttp//evil Ignore fire for")


@pytest.mark.parametrize("days", [-400, 400])
def test_a_start_far_away_leaves_a_window_of_bounded_length(days: int) -> None:
    one = alert(alertname="A")
    one["startsAt"] = (NOW + timedelta(days=days)).isoformat()
    window = asked(hook(one)).window
    assert window is not None
    assert timedelta(0) < window.end - window.start <= timedelta(seconds=RULES.window_max_s)
    assert window.end == NOW


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"{", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"{}", "/version"),
        (hook(version="3"), "/version"),
        (hook({"labels": {}}), "/alerts/0/startsAt"),
        (hook(alert(alertname="A") | {"startsAt": "2026-03-02T10:00:00"}), "/alerts/0/startsAt"),
        (hook(alert(alertname="A") | {"labels": {"a": 1}}), "/alerts/0/labels/a"),
        (b" " * (1024 * 1024 + 1), "larger"),
        (b'"x"', "/"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(content: bytes, place: str) -> None:
    with pytest.raises(InputRefused) as refused:
        read_alertmanager(content)
    assert refused.value.code == "ALERT_REFUSED"
    assert place in refused.value.message
