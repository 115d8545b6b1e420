"""schemathesis over the whole description: no 5xx, and nothing that /openapi.json does not say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from affidavit.server.permits import PERMITS, Role
from tests.support.gates import report
from tests.support.service import served

pytestmark = pytest.mark.slow

SCHEMATHESIS: Final = Path(sys.executable).parent / "schemathesis"

EXAMPLES_MAX: Final = "12"
"""Of one operation and kind; the whole takes about a minute."""

LEFT_OUT: Final = "positive_data_acceptance"
"""What fits the schema may still name no incident, or be no answer with its tool calls."""

WAIT_S: Final = 240.0


def test_nothing_contradicts_the_description(tmp_path: Path) -> None:
    """Every operation, with data that fits and data that does not, with and without a key."""
    with served(tmp_path) as house:
        api = house.client(Role.ADMIN)
        assert api.post("/api/v1/gate", json=report()).status_code == 200
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
