"""The founding course's curl loop, as it is printed there, against the service (S4 section 6)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Final

import pytest

from affidavit.drills.faults import FAULTS
from tests.support.service import Served, problem, served

pytestmark = pytest.mark.slow

LOOP: Final = r"""
for fault in budget-exceed loop timeout circuit-break unknown-tool \
             need-approval sensitive-args; do
  echo "=== $fault ==="
  curl -s -X POST http://localhost:8080/api/agent/run \
    -d "{\"goal\":\"测试\",\"fault\":\"$fault\"}" | jq .status
done
"""

PRINTED: Final = """\
=== budget-exceed ===
"BUDGET_EXCEEDED"
=== loop ===
"LOOP_DETECTED"
=== timeout ===
"TIMEOUT"
=== circuit-break ===
"DONE"
=== unknown-tool ===
"DONE"
=== need-approval ===
"NEED_APPROVAL"
=== sensitive-args ===
"DONE"
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with drills."""
    with served(tmp_path_factory.mktemp("drills"), drills=True) as own:
        yield own


@pytest.mark.integration("jq")
@pytest.mark.spec("H11", "V1", "E14")
def test_the_course_s_own_loop_prints_its_seven_statuses(house: Served) -> None:
    here = LOOP.replace("http://localhost:8080", house.url)
    done = subprocess.run(
        ["bash", "-c", here], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == PRINTED


@pytest.mark.spec("H11", "H2")
def test_a_drill_says_whether_it_was_caught_and_in_which_order_its_guards_were_asked(
    house: Served,
) -> None:
    answer = house.open(None).post("/api/agent/run", json={"goal": "x", "fault": "sensitive-args"})
    told = answer.json()
    assert (answer.status_code, told["caught"], told["missed"]) == (200, True, [])
    assert any("permission" in line for line in told["timeline"])


@pytest.mark.spec("H11")
def test_what_is_no_drill_is_named(house: Served) -> None:
    api = house.open(None)
    unknown = api.post("/api/agent/run", json={"goal": "x", "fault": "flood"})
    assert "flood" in problem(unknown, 422, "FAULT_UNKNOWN")["detail"]
    missing = api.post("/api/agent/run", json={"goal": "x"})
    assert all(fault in problem(missing, 422, "FAULT_MISSING")["hint"] for fault in FAULTS)
    problem(api.post("/api/agent/run", content=b"{"), 422, "REQUEST_INVALID")


@pytest.mark.spec("H11")
@pytest.mark.fault("R67")
def test_without_drills_the_route_is_not_there(tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(tmp_path_factory.mktemp("plain")) as plain:
        answer = plain.open(None).post("/api/agent/run", json={"goal": "x", "fault": "loop"})
        assert answer.status_code in {401, 404}


@pytest.mark.spec("H11")
def test_a_page_of_another_origin_starts_no_drill(house: Served) -> None:
    """A browser sends a form's text to this machine's own ports for whoever asks it to."""
    answer = house.open(None).post(
        "/api/agent/run",
        json={"goal": "x", "fault": "loop"},
        headers={"origin": "https://elsewhere.example"},
    )
    assert answer.status_code in {401, 403}
