"""A real Alertmanager as a source: what fires, what is silenced, what is read and what is not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.request import Request, urlopen

import pytest

from affidavit.adapters.alertmanager import AlertmanagerLookup
from affidavit.adapters.cluster_tables import AlertmanagerTable
from affidavit.adapters.live_backends import LiveConfig, probe_backends
from affidavit.adapters.outgoing_http import OutgoingHttp
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Row
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from tests.support.http_stage import Reply, Seen, stage
from tests.support.live_runs import ask_live, cells, live_settings, recent
from tests.support.watched_lab import alertmanager, free_port, needs

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

STATUS = b'{"versionInfo": {"version": "0.25.0"}, "cluster": {}}'
PASSWORD = "hunter2-Zq9xW7vK"


def post(url: str, content: object) -> Any:
    request = Request(url, json.dumps(content).encode(), {"content-type": "application/json"})
    with urlopen(request, timeout=10) as answer:
        return json.loads(answer.read() or b"null")


def alert(name: str, since_s: int, **labels: str) -> dict[str, object]:
    began = datetime.now(UTC) - timedelta(seconds=since_s)
    return {
        "labels": {"alertname": name, **labels},
        "annotations": {"summary": f"{name} is bad", "description": f"password={PASSWORD}"},
        "startsAt": began.isoformat(),
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Three alerts; one of them is silenced by a person, and one begins after the window."""
    needs("prometheus-alertmanager")
    folder = tmp_path_factory.mktemp("alertmanager")
    with alertmanager(folder, free_port(), "http://127.0.0.1:9/", "x") as url:
        now = datetime.now(UTC)
        silence = {
            "matchers": [{"name": "service", "value": "payment", "isRegex": False}],
            "startsAt": now.isoformat(),
            "endsAt": (now + timedelta(hours=1)).isoformat(),
            "createdBy": "alice@example.org",
            "comment": "known, being moved",
        }
        post(f"{url}/api/v2/silences", silence)
        post(
            f"{url}/api/v2/alerts",
            [
                alert("HighErrorRatio", 300, service="checkout", severity="page", team="web"),
                alert("SlowPayments", 200, service="payment", team="pay"),
                alert("DiskFull", 4 * 3600, team="web"),
            ],
        )
        yield url


def order(url: str, **more: object) -> dict[str, object]:
    return {"alertmanager": {"main": {"url": url, **more}}}


def looks(*names: str) -> tuple[ToolCallRequest, ...]:
    return tuple(ToolCallRequest("alertmanager_main", {"look": name}) for name in names)


@pytest.mark.integration("alertmanager")
@pytest.mark.spec("C13", "T7", "C11")
@pytest.mark.fault("R10", "R65", "R72")
async def test_what_fires_and_what_is_silenced_is_recorded_as_alerts_and_redacted(
    server: str,
) -> None:
    settings = live_settings((server.removeprefix("http://"),), **order(server))
    asked = await ask_live(settings, recent(), *looks("firing", "silenced", "silences"))
    firing, silenced, silences = (asked.envelope(place) for place in range(3))
    assert firing.evidence_class is EvidenceClass.ALERT
    assert firing.scope.window is not None
    told = {row["alert"]: row for row in cells(firing)}
    assert set(told) == {"HighErrorRatio", "DiskFull"}
    assert told["HighErrorRatio"]["subject"] == "checkout"
    assert told["HighErrorRatio"]["severity"] == "page"
    assert told["DiskFull"]["subject"] is None  # no label names a service, and none is guessed
    (quiet,) = cells(silenced)
    (why,) = cells(silences)
    assert (quiet["alert"], quiet["state"]) == ("SlowPayments", "suppressed")
    assert quiet["silenced by"] == why["silence"]
    assert (why["subject"], why["matchers"]) == ("payment", 'service="payment"')
    whole = json.dumps([item.model_dump(mode="json") for item in (firing, silenced, silences)])
    assert PASSWORD not in whole
    assert "alice" not in whole
    fact = firing.facts[0]
    assert isinstance(fact, Row)
    assert {c.name for c in fact.cells if c.emitter is Emitter.WORKLOAD} >= {"summary", "labels"}
    assert ("alertmanager:main", "consulted") in asked.coverage()


@pytest.mark.integration("alertmanager")
@pytest.mark.fault("R16")
async def test_matchers_narrow_and_an_alert_after_the_window_is_not_in_it(server: str) -> None:
    settings = live_settings(
        (server.removeprefix("http://"),), **order(server, matchers=('team="web"',))
    )
    asked = await ask_live(settings, recent(), *looks("firing"))
    assert {row["alert"] for row in cells(asked.envelope(0))} == {"HighErrorRatio", "DiskFull"}
    before = recent()
    hour = timedelta(hours=1)
    before = type(before)(start=before.start - hour, end=before.end - hour)
    asked = await ask_live(settings, before, *looks("firing", "silenced"))
    assert {row["alert"] for row in cells(asked.envelope(0))} == {"DiskFull"}
    assert asked.envelope(1).status is EvidenceStatus.NO_EVIDENCE


@pytest.mark.integration("alertmanager")
async def test_the_probe_is_one_get_and_says_that_there_are_no_roles(server: str) -> None:
    settings = live_settings((server.removeprefix("http://"),), **order(server))
    config = LiveConfig(settings.backends, settings.outgoing, {})
    (finding,) = await probe_backends(config)
    assert finding.ok
    assert "three paths" in finding.message
    assert "no roles" in finding.message


def alerts_like(alerts: Sequence[object], seen: list[Seen]) -> Any:
    def answer(asked: Seen) -> Reply:
        seen.append(asked)
        body = STATUS if "status" in asked.path else json.dumps(alerts).encode()
        return Reply(body=body)

    return answer


@pytest.mark.fault("R44")
async def test_a_storm_is_cut_and_said_and_only_three_paths_are_read() -> None:
    seen: list[Seen] = []
    storm = [
        {**alert("Storm", place, instance=str(place)), "status": {"state": "active"}}
        for place in range(150)
    ]
    with stage(alerts_like(storm, seen)) as there:
        settings = live_settings((there.url.removeprefix("http://"),), **order(there.url))
        asked = await ask_live(settings, recent(), *looks("firing", "silences"))
    envelope = asked.envelope(0)
    assert (envelope.total, envelope.truncated) == (150, True)
    assert 50 < envelope.count <= 100
    assert asked.observations[1].code == "SOURCE_FAILED"  # alerts are no silences
    assert {one.method for one in seen} == {"GET"}
    assert {one.path.partition("?")[0] for one in seen} == {
        "/api/v2/status",
        "/api/v2/alerts",
        "/api/v2/silences",
    }


@pytest.mark.fault("R15", "R75")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(401), "HTTP_401"),
        (Reply(body=b"<html>"), "SOURCE_FAILED"),
        (Reply(body=b"[]"), "SOURCE_FAILED"),
        (Reply(302, headers={"location": "/login"}), "REDIRECT_REFUSED"),
    ],
)
async def test_one_that_does_not_answer_is_named_in_coverage(reply: Reply, code: str) -> None:
    with stage(lambda _: reply) as there:
        settings = live_settings((there.url.removeprefix("http://"),), **order(there.url))
        asked = await ask_live(settings, recent(), *looks("firing"))
    (line,) = [line for line in asked.release.coverage.lines if line.source == "alertmanager:main"]
    assert (line.status, line.codes) == ("unavailable", (code,))


async def test_an_answer_without_end_is_left_at_the_bound() -> None:
    def flood() -> Iterator[bytes]:
        for _ in range(200):
            yield b"[" * 65_536

    with stage(lambda _: Reply(pieces=flood)) as there:
        http = OutgoingHttp(OutgoingTable(hosts=(there.url.removeprefix("http://"),)))
        lookup = AlertmanagerLookup("main", AlertmanagerTable(url=there.url), http, {})
        with pytest.raises(ToolFailed) as failed:
            await lookup.look("firing")
        await http.close()
    assert failed.value.code == "RESULT_TOO_LARGE"
