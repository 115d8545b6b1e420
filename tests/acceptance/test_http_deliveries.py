"""What could not be delivered: seen over HTTP, counted, and sent again by whoever may."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import pytest

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.delivery_tables import WebhookTable
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.application.deliveries import Route
from affidavit.server.hooks import HookPlan
from affidavit.server.permits import Role
from affidavit.settings import Settings
from affidavit.settings.delivery import DeliveryTable
from tests.support.http_stage import Reply, Seen, Stage, stage
from tests.support.service import Served, problem, served, wait_until

pytestmark = pytest.mark.slow

NOTHING: Final = {
    "files": {"logs": {"signal": "logs", "paths": ("/nowhere/*.jsonl",)}},
    "prometheus": {"gone": {"url": "http://127.0.0.1:9"}},
}


@contextmanager
def house_over(there: Stage, folder: Path) -> Iterator[Served]:
    """A service that tells that receiver of what has the severity `page`, and records the rest."""
    settings = Settings(
        backends=Backends.model_validate(NOTHING),
        outgoing=OutgoingTable(hosts=(f"127.0.0.1:{there.port}", "127.0.0.1:9")),
        delivery=DeliveryTable(
            destinations={
                "ops": WebhookTable(type="webhook", url=f"{there.url}/hook", secret_env=("KEY",))
            },
            routes=(
                Route(match={"severity": "page"}, to=("ops",)),
                Route(match={"severity": "ticket"}, to=("ops",), record_only=True),
            ),
        ),
    )
    book = SqliteIncidents(folder / "incidents.db")
    with served(folder, plan=HookPlan(settings, {"KEY": "k"}, book)) as own:
        yield own
    anyio.run(book.close)


def alert(api: httpx2.Client, name: str, severity: str = "page") -> str:
    """An alert comes in; its run."""
    labels = {"alertname": name, "service": name, "severity": severity}
    one = {"labels": labels, "startsAt": datetime.now(UTC).isoformat()}
    told = api.post("/hooks/alertmanager", json={"version": "4", "groupKey": name, "alerts": [one]})
    assert told.status_code == 200, told.text
    return str(told.json()["groups"][0]["run_id"])


def listed(api: httpx2.Client, **asked: str) -> list[dict[str, Any]]:
    """The deliveries of a tenant."""
    answer = api.get("/api/v1/deliveries", params=asked)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["deliveries"]
    return found


def has_ended(api: httpx2.Client, run_id: str) -> bool:
    """Whether that run has its outcome."""
    return api.get(f"/api/v1/runs/{run_id}").json()["outcome"] is not None


def attempts(api: httpx2.Client, state: str) -> float:
    """How many attempts ended so, as the metrics have it."""
    name = f'affidavit_delivery_attempts_total{{state="{state}"}} '
    lines = api.get("/metrics").text.splitlines()
    return next(float(line.removeprefix(name)) for line in lines if line.startswith(name))


@pytest.mark.spec("I5", "N13")
@pytest.mark.fault("R69", "R70", "R71")
def test_a_dead_letter_is_seen_counted_and_sent_again_by_its_own_tenant(tmp_path: Path) -> None:
    """The receiver refuses; the message is dead, with its code, in the list, in the health and in
    the metrics. No other tenant sees it or sends it; a viewer sees it and may not send it."""
    answers = [404]

    def answer(_: Seen) -> Reply:
        return Reply(answers[0])

    with stage(answer) as there, house_over(there, tmp_path) as house:
        ours, viewer = house.client(Role.OPERATOR), house.client(Role.VIEWER)
        theirs = house.client(Role.ADMIN, tenant="theirs")
        run_id = alert(ours, "Slow")
        wait_until(lambda: bool(listed(ours, state="dead")))
        (dead,) = listed(viewer, state="dead")
        assert (dead["run_id"], dead["code"], dead["attempts"]) == (run_id, "HTTP_404", 1)
        assert "body" not in dead
        assert ours.get("/api/v1/health").json()["dead_letters"] == 1
        assert attempts(ours, "dead") == 1
        assert listed(theirs) == []
        assert theirs.get("/api/v1/health").json()["dead_letters"] == 0
        again = f"/api/v1/deliveries/{dead['id']}/resend"
        problem(theirs.post(again), 404, "NOT_FOUND")
        problem(viewer.post(again), 403, "ROLE_TOO_SMALL")
        problem(ours.post("/api/v1/deliveries/dlv_none/resend"), 404, "NOT_FOUND")
        assert len(there.seen) == 1
        answers[0] = 200
        assert ours.post(again).json() == {"id": dead["id"], "state": "pending"}
        wait_until(lambda: bool(listed(ours, state="delivered")))
        assert ours.get("/api/v1/health").json()["dead_letters"] == 0
        assert attempts(ours, "delivered") == 1
    ids = {seen.headers["affidavit-delivery"] for seen in there.seen}
    assert (len(there.seen), ids) == (2, {dead["id"]})


@pytest.mark.spec("I5")
def test_in_shadow_mode_the_run_is_on_record_and_nobody_is_told(tmp_path: Path) -> None:
    """`record-only`, and no route at all: the run ends, its answer can be read, nothing goes out
    and nothing waits to."""
    with stage(lambda _: Reply()) as there, house_over(there, tmp_path) as house:
        api = house.client(Role.OPERATOR)
        made = [alert(api, "Quiet", "ticket"), alert(api, "Odd", "none"), alert(api, "Loud")]
        wait_until(lambda: bool(listed(api, state="delivered")))
        wait_until(lambda: all(has_ended(api, run_id) for run_id in made))
        assert {item["run_id"] for item in listed(api)} == {made[2]}
        assert api.get("/api/v1/deliveries").json()["counts"]["pending"] == 0
    assert len(there.seen) == 1


def test_health_says_which_back_end_is_down_and_asks_it_once(tmp_path: Path) -> None:
    """The configured back ends are there with what their probe said: a code, and no address."""
    with stage(lambda _: Reply()) as there, house_over(there, tmp_path) as house:
        api = house.client(Role.VIEWER)
        for _ in range(3):
            ends = {end["name"]: end for end in api.get("/api/v1/health").json()["back_ends"]}
            assert ends["prometheus:gone"]["status"] == "down"
            assert ends["prometheus:gone"]["says"] == "SOURCE_UNAVAILABLE"
            assert ends["store"]["status"] == "ok"
        assert "127.0.0.1:9" not in api.get("/api/v1/health").text
