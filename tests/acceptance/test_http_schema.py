"""schemathesis over the whole description: no 5xx, and nothing that /openapi.json does not say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import anyio
import pytest

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.delivery_tables import WebhookTable
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.application.alerts import AlertRules
from affidavit.application.deliveries import Route
from affidavit.server.hooks import HookPlan
from affidavit.server.permits import PERMITS, Role
from affidavit.settings import Settings
from affidavit.settings.delivery import DeliveryTable
from tests.support.gates import report
from tests.support.http_stage import Reply, stage
from tests.support.service import Served, served, wait_until

pytestmark = pytest.mark.slow

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
SCHEMATHESIS: Final = Path(sys.executable).parent / "schemathesis"

EXAMPLES_MAX: Final = "12"
"""Of one operation and kind; the whole takes about a minute."""

LEFT_OUT: Final = "positive_data_acceptance"
"""What fits the schema may still name no incident, or be no answer with its tool calls."""

WAIT_S: Final = 240.0


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    """A service with everything that a route could need: incidents, a live back end, a receiver
    that refuses, a PagerDuty secret, a run, a run of an alert, and a dead letter."""
    (tmp_path / "incidents").mkdir()
    (tmp_path / "incidents" / "acme").symlink_to(EXAMPLES)
    (tmp_path / "app.jsonl").touch()
    files = {"logs": {"signal": "logs", "paths": (str(tmp_path / "app.jsonl"),)}}
    with stage(lambda _: Reply(410)) as there:
        hook = WebhookTable(type="webhook", url=there.url, secret_env=("KEY",))
        settings = Settings(
            backends=Backends.model_validate({"files": files}),
            outgoing=OutgoingTable(hosts=(f"127.0.0.1:{there.port}",)),
            alerts=AlertRules(pagerduty_secret_env=("KEY",)),
            delivery=DeliveryTable(destinations={"ops": hook}, routes=(Route(to=("ops",)),)),
        )
        book = SqliteIncidents(tmp_path / "incidents.db")
        plan, root = HookPlan(settings, {"KEY": "k"}, book), tmp_path / "incidents"
        with served(tmp_path, plan=plan, settings=settings, incidents=root) as own:
            api = own.client(Role.ADMIN)
            assert api.post("/api/v1/gate", json=report()).status_code == 200
            alert = {"labels": {"alertname": "Slow"}, "startsAt": datetime.now(UTC).isoformat()}
            assert api.post("/hooks/alertmanager", json=[alert]).json()["started"] == 1
            dead = {"state": "dead"}
            wait_until(lambda: api.get("/api/v1/deliveries", params=dead).json()["deliveries"])
            yield own
        anyio.run(book.close)


def test_nothing_contradicts_the_description(house: Served, tmp_path: Path) -> None:
    """Every operation, with data that fits and data that does not, with and without a key."""
    done = subprocess.run(
        [
            SCHEMATHESIS,
            "run",
            f"{house.url}/openapi.json",
            "--header",
            f"Authorization: Bearer {house.key(Role.ADMIN)}",
            "--max-examples",
            EXAMPLES_MAX,
            "--phases",
            "examples,coverage,fuzzing",
            "--exclude-checks",
            LEFT_OUT,
            "--exclude-path-regex",
            "/events$",
            "--generation-deterministic",
            "--request-timeout",
            "20",
            "--no-color",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "160"},
        timeout=WAIT_S,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_the_description_has_every_route_with_its_role(tmp_path: Path) -> None:
    """What is not described is for browsers, orchestrators and drills."""
    with served(tmp_path) as house:
        document = house.open(None).get("/openapi.json").json()
    described = {
        (method.upper(), path): operation["x-affidavit-role"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    hidden = {route for route in PERMITS if route not in described}
    assert {path for _, path in hidden} == {
        "/",
        "/runs/{run_id}",
        "/runs/{run_id}/report",
        "/approvals",
        "/drills",
        "/health",
        "/healthz",
        "/readyz",
        "/login",
        "/login/oidc",
        "/login/oidc/callback",
        "/logout",
        "/openapi.json",
        "/static/{path:path}",
        "/api/agent/run",
    }
    assert all(str(PERMITS[route]) == role for route, role in described.items())
    assert all("429" in o["responses"] for p in document["paths"].values() for o in p.values())
