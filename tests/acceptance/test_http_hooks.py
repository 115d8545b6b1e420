"""Alerts over HTTP: who may post them, what proves it, and what comes twice or too late."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import pytest

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.application.alerts import AlertRules
from affidavit.server.hooks import HookPlan
from affidavit.server.permits import Role
from affidavit.settings import Settings
from tests.support.service import Served, problem, served, wait_until
from tests.support.watched_lab import alertmanager, free_port, needs

pytestmark = pytest.mark.slow

SECRETS: Final = {"PD_OLD": "the-old-secret", "PD_NEW": "the-new-secret"}
NOTHING: Final = {"files": {"logs": {"signal": "logs", "paths": ("/nowhere/*.jsonl",)}}}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    """A service that takes alerts; its one back end has nothing to read."""
    settings = Settings(
        backends=Backends.model_validate(NOTHING),
        alerts=AlertRules(pagerduty_secret_env=tuple(SECRETS), runs_per_hour=5),
    )
    book = SqliteIncidents(tmp_path / "incidents.db")
    with served(tmp_path, plan=HookPlan(settings, SECRETS, book)) as own:
        yield own
    anyio.run(book.close)


def webhook(service: str, *alerts: dict[str, Any]) -> dict[str, Any]:
    """A webhook of version 4 of one group."""
    one = {"labels": {"alertname": "Slow", "service": service}, "startsAt": now()}
    return {"version": "4", "groupKey": service, "alerts": list(alerts) or [one]}


def now(**earlier: float) -> str:
    """The time, or one before it."""
    return (datetime.now(UTC) - timedelta(**earlier)).isoformat()


def basic(name: str, password: str) -> dict[str, str]:
    """The header of RFC 7617."""
    pair = base64.b64encode(f"{name}:{password}".encode()).decode("ascii")
    return {"authorization": f"Basic {pair}"}


def pager(event_id: str, incident: str = "PGR0VU2", **earlier: float) -> bytes:
    """A v3 webhook of PagerDuty about one incident."""
    data = {"id": incident, "title": "Slow", "service": {"summary": "checkout"}}
    event = {
        "id": event_id,
        "event_type": "incident.triggered",
        "occurred_at": now(**earlier),
        "data": data,
    }
    return json.dumps({"event": event}).encode()


def signed(content: bytes, secret: str = SECRETS["PD_NEW"]) -> dict[str, str]:
    """The header that PagerDuty sends."""
    mark = hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()
    return {"x-pagerduty-signature": f"v1={mark}"}


def runs(house: Served, tenant: str = "acme") -> list[dict[str, Any]]:
    """The runs of a tenant."""
    found: list[dict[str, Any]] = (
        house.client(Role.VIEWER, tenant=tenant).get("/api/v1/runs").json()["runs"]
    )
    return found


def post(api: httpx2.Client, content: bytes, **headers: str) -> httpx2.Response:
    """One event to PagerDuty's hook."""
    return api.post("/hooks/pagerduty", content=content, headers=headers)


@pytest.mark.spec("I5")
@pytest.mark.fault("R67")
def test_a_key_may_come_as_a_bearer_or_as_a_password_and_nothing_else_opens(house: Served) -> None:
    """Alertmanager has no signature: the key is all that proves it. Its owner's name is the user;
    a wrong name, half a header or another path is 401, as no key at all is."""
    key, open_ = house.key(Role.OPERATOR, name="alerts"), house.open(None)
    told = open_.post("/hooks/alertmanager", json=webhook("api"), headers=basic("alerts", key))
    assert (told.status_code, told.json()["started"]) == (200, 1)
    bearer = house.open(key).post("/hooks/alertmanager", json=webhook("api"))
    assert (bearer.status_code, bearer.json()["repeated"]) == (200, 1)
    wrong = [
        basic("alerts", key[:-1] + ("A" if key[-1] != "A" else "B")),
        basic("other", key),
        basic("", key),
        basic("alerts", ""),
        {"authorization": "Basic"},
        {"authorization": "Basic %%%"},
        {"authorization": "Basic " + base64.b64encode(b"\xff\xfe:x").decode()},
        {"authorization": f"Digest {key}"},
    ]
    for headers in wrong:
        answer = open_.post("/hooks/alertmanager", json=webhook("new"), headers=headers)
        problem(answer, 401, "UNAUTHORIZED")
    problem(open_.get("/api/v1/runs", headers=basic("alerts", key)), 401, "UNAUTHORIZED")
    viewer = basic("looker", house.key(Role.VIEWER, name="looker"))
    small = open_.post("/hooks/alertmanager", json=webhook("new"), headers=viewer)
    problem(small, 403, "ROLE_TOO_SMALL")
    assert len(runs(house)) == 1


@pytest.mark.spec("I5", "N13")
@pytest.mark.fault("R69", "R72")
def test_labels_choose_neither_tenant_nor_run(house: Served) -> None:
    """The key says whose the run is; an alert may lack every label, or claim whatever it likes."""
    claims = {"tenant": "theirs", "run_id": "run_0000000000000001", "source": "gate"}
    sly = {"labels": claims, "startsAt": now()}
    bare = {"startsAt": now()}
    for alert in (sly, bare):
        body = webhook(str(len(alert)), alert)
        answer = house.client(Role.OPERATOR).post("/hooks/alertmanager", json=body)
        assert answer.json()["started"] == 1
    assert len(runs(house)) == 2
    assert runs(house, "theirs") == []
    assert "run_0000000000000001" not in [run["run_id"] for run in runs(house)]


@pytest.mark.spec("I5")
@pytest.mark.fault("R39")
def test_a_storm_is_answered_and_bounded(house: Served) -> None:
    """Six groups where five an hour may start; a body that is no payload starts nothing."""
    api = house.client(Role.OPERATOR)
    told = [api.post("/hooks/alertmanager", json=webhook(f"s{n}")).json() for n in range(6)]
    assert [answer["started"] for answer in told] == [1, 1, 1, 1, 1, 0]
    assert told[5]["storm_limited"] == 1
    other = house.client(Role.OPERATOR, tenant="theirs")
    assert other.post("/hooks/alertmanager", json=webhook("s1")).json()["started"] == 1
    large = b" " * (1024 * 1024 + 1)
    problem(api.post("/hooks/alertmanager", content=large), 413, "BODY_TOO_LARGE")
    for broken in (b"", b"{", b"[" * 100_000, b"{}", b'{"version": "3"}', b"[1]", b"null"):
        answer = api.post("/hooks/alertmanager", content=broken)
        problem(answer, 422, "ALERT_REFUSED")
    assert len(runs(house)) == 5


@pytest.mark.spec("I5")
@pytest.mark.fault("R39", "R70")
def test_an_event_of_pagerduty_is_signed_fresh_and_taken_once(house: Served) -> None:
    """Either secret in rotation will do. What is unsigned, altered, old or from the future starts
    nothing; the same event again starts nothing; another tenant's same event is its own."""
    api, content = house.client(Role.OPERATOR), pager("01BZ")
    assert post(api, content, **signed(content)).json()["started"] == 1
    again = post(api, content, **signed(content, SECRETS["PD_OLD"]))
    assert (again.status_code, again.json()["groups"]) == (200, [])
    fresh = pager("02BZ", "OTHER")
    for headers in (
        {},
        signed(fresh, "a-guess"),
        signed(content),
        {"x-pagerduty-signature": "v1="},
    ):
        problem(post(api, fresh, **headers), 403, "SIGNATURE_REFUSED")
    problem(post(api, fresh[:-1] + b" }", **signed(fresh)), 403, "SIGNATURE_REFUSED")
    for stale in (pager("03BZ", "OTHER", seconds=400), pager("04BZ", "OTHER", seconds=-90)):
        problem(post(api, stale, **signed(stale)), 422, "EVENT_TOO_OLD")
    problem(post(house.open(None), fresh, **signed(fresh)), 401, "UNAUTHORIZED")
    twice = [(b"x-pagerduty-signature", value.encode()) for value in signed(fresh).values()] * 2
    refused = api.post("/hooks/pagerduty", content=fresh, headers=twice)
    problem(refused, 400, "HEADER_REPEATED")
    assert len(runs(house)) == 1
    theirs = house.client(Role.OPERATOR, tenant="theirs")
    assert post(theirs, content, **signed(content)).json()["started"] == 1


@pytest.mark.integration("prometheus")
@pytest.mark.spec("I5")
@pytest.mark.fault("R72")
def test_a_real_alertmanager_shows_its_key_as_a_password(house: Served, tmp_path: Path) -> None:
    """One alert in, one run out."""
    needs("prometheus-alertmanager")
    key, port = house.key(Role.OPERATOR, name="alerts"), free_port()
    hook = f"{house.url}/hooks/alertmanager"
    with alertmanager(tmp_path / "am", port, hook, key, "alerts") as theirs:
        alert = {"labels": {"alertname": "Slow", "service": "api"}, "startsAt": now()}
        assert httpx2.post(f"{theirs}/api/v2/alerts", json=[alert]).status_code == 200
        wait_until(lambda: len(runs(house)) == 1)
    assert "Slow" in runs(house)[0]["question"]
