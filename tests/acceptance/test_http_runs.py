"""Runs over HTTP: start, list, look, take the file, cancel; recorded incidents and the gate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from affidavit.affidavit.recheck import Verdict
from affidavit.server.intake import UNFINISHED_MAX
from affidavit.server.permits import Role
from tests.support.checking import recheck
from tests.support.gates import call, report
from tests.support.runs import request
from tests.support.service import Served, problem, read_stream, served, wait_until
from tests.support.worlds import act, world

pytestmark = pytest.mark.slow

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
INCIDENT: Final = {"incident": "shop-01"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service over the examples: acme's too, in a folder of its name."""
    root = tmp_path_factory.mktemp("incidents")
    (root / "acme").symlink_to(EXAMPLES)
    with served(tmp_path_factory.mktemp("house"), incidents=root) as own:
        yield own


@pytest.mark.spec("K8", "A2", "A5", "C12")
def test_a_run_goes_from_its_start_to_its_file(house: Served) -> None:
    """Start, follow, look, timeline, file: each says the same of one run."""
    api = house.client(Role.OPERATOR)
    assert "shop-01" in api.get("/api/v1/incidents").json()["incidents"]
    begun = api.post("/api/v1/runs", json=INCIDENT)
    assert begun.status_code == 201, begun.text
    run_id, where = begun.json()["run_id"], begun.headers["location"]
    assert begun.json()["run_state"] == "RUNNING"
    events = read_stream(api, run_id)
    assert events[0].name == "run"
    assert events[-1].name == "done"
    answer = api.get(where).json()
    assert answer["outcome"] == events[-1].data["outcome"]
    assert answer["provenance"] == "recorded"
    assert answer["affidavit"] == f"{where}/affidavit"
    told = {k: v for k, v in events[-2].data.items() if k != "at"}
    assert told == {k: v for k, v in answer.items() if k not in {"created_at", "standing"}}
    assert answer["standing"]["word"] == ""
    lines = api.get(f"{where}/timeline").json()["lines"]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[-1]["mark"].startswith("RUN_ENDED=")
    file = api.get(f"{where}/affidavit")
    assert file.headers["content-disposition"] == f'attachment; filename="{run_id}.affidavit"'
    assert recheck(file.content).verdict is Verdict.INTACT_SIGNER_UNKNOWN
    listed = api.get("/api/v1/runs").json()["runs"]
    assert run_id in [line["run_id"] for line in listed]


@pytest.mark.spec("K1", "L6")
@pytest.mark.fault("R39")
def test_the_same_idempotency_key_starts_one_run(house: Served) -> None:
    """Eight at once, and once more: one run; other words are refused; keys are a tenant's own."""
    api, key = house.client(Role.OPERATOR), {"idempotency-key": "incident-4711"}

    def post(_: int) -> tuple[int, str]:
        answer = api.post("/api/v1/runs", json=INCIDENT, headers=key)
        return answer.status_code, answer.json()["run_id"]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(post, range(8)))
    assert {run_id for _, run_id in answers} == {answers[0][1]}
    assert sorted(status for status, _ in answers) == [200] * 7 + [201]
    other = api.post("/api/v1/runs", json={**INCIDENT, "question": "Why?"}, headers=key)
    problem(other, 422, "IDEMPOTENCY_KEY_REUSED")
    theirs = house.client(Role.OPERATOR, tenant="theirs")
    foreign = theirs.post("/api/v1/gate", json=report(), headers=key)
    assert foreign.status_code == 200
    assert foreign.json()["run_id"] != answers[0][1]
    read_stream(api, answers[0][1])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "REQUEST_INVALID"),
        ({"incident": "shop-01", "live": True}, 422, "REQUEST_INVALID"),
        ({"incident": "shop-01", "since": "5m"}, 422, "REQUEST_INVALID"),
        ({"service": "checkout"}, 422, "REQUEST_INVALID"),
        ({"incident": "no-such"}, 422, "SOURCE_UNKNOWN"),
        ({"incident": "../examples"}, 422, "REQUEST_INVALID"),
        ({"incident": ".."}, 422, "REQUEST_INVALID"),
        ({"incident": "shop-01/../shop-02"}, 422, "REQUEST_INVALID"),
        ({"live": True, "question": "Why?"}, 422, "NO_BACKENDS"),
        ({"source": "live", "question": "Why?"}, 422, "REQUEST_INVALID"),
        ({"incident": "shop-01", "question": " "}, 422, "QUESTION_REFUSED"),
        ({"incident": "shop-01", "question": "x" * 2001}, 422, "REQUEST_INVALID"),
        ({"incident": "shop-01", "limits": "endless"}, 422, "REQUEST_INVALID"),
        ({"incident": "shop-01", "tenant": "theirs"}, 422, "REQUEST_INVALID"),
    ],
)
def test_what_cannot_be_run_is_refused_and_starts_nothing(
    house: Served, body: dict[str, Any], status: int, code: str
) -> None:
    api = house.client(Role.OPERATOR)
    before = api.get("/api/v1/runs").json()
    problem(api.post("/api/v1/runs", json=body), status, code)
    half = api.post(
        "/api/v1/runs",
        content=json.dumps({"incident": "shop-01", "question": "\ud800"}),
        headers={"content-type": "application/json"},
    )
    assert half.status_code == 422
    assert api.get("/api/v1/runs").json() == before


def test_the_list_has_pages(house: Served) -> None:
    """Newest first; each page goes on after the last; every run is on one page."""
    api = house.client(Role.OPERATOR, tenant="pages")
    made = [api.post("/api/v1/gate", json=report()).json()["run_id"] for _ in range(5)]
    seen: list[str] = []
    before: str | None = None
    for _ in range(3):
        params = {"limit": "2", **({"before": before} if before else {})}
        page = api.get("/api/v1/runs", params=params).json()
        seen += [run["run_id"] for run in page["runs"]]
        before = page["next_before"]
    assert before is None
    assert seen == made[::-1]
    problem(api.get("/api/v1/runs", params={"limit": 0}), 422, "REQUEST_INVALID")
    problem(api.get("/api/v1/runs", params={"limit": 201}), 422, "REQUEST_INVALID")


@pytest.mark.spec("C12", "N18", "D1", "D4")
def test_the_gate_answers_as_the_command_does(house: Served) -> None:
    """A true answer is published as supplied; a false one is held; neither is a tool call."""
    api = house.client(Role.OPERATOR)
    good = api.post("/api/v1/gate", json=report())
    assert (good.status_code, good.json()["outcome"]) == (200, "SUCCESS")
    assert good.json()["provenance"] == "supplied"
    lie = report()
    lie["tool_calls"] = [call(result={"pods": [{"name": "boarding-1", "restarts": 1}]}, total=1)]
    held = api.post("/api/v1/gate", json=lie)
    assert (held.status_code, held.json()["outcome"]) == (200, "FALLBACK")
    recorded = api.post("/api/v1/gate", json=report(), params={"require_recorded": True})
    problem(recorded, 422, "RECORDED_REQUIRED")
    problem(api.post("/api/v1/gate", content=b"[" * 100_000), 422, "GATE_INPUT_REFUSED")
    problem(api.post("/api/v1/gate", json={"draft": {}}), 422, "GATE_INPUT_REFUSED")


@pytest.mark.spec("D14", "K5", "N5")
@pytest.mark.fault("F27")
def test_a_cancel_ends_the_run(house: Served) -> None:
    """The call under way is told, and the run says CANCELLED; a second cancel is too late."""
    begun = []

    async def slow(_: object) -> tuple[()]:
        from anyio import sleep

        begun.append(1)
        await sleep(600)
        return ()

    run_id = "run_00000000000000c1"
    scripted = world([act("slow")], backends={"slow": slow})
    house.begin(scripted, request(run_id))
    api = house.client(Role.OPERATOR)
    wait_until(lambda: bool(begun))
    problem(api.get(f"/api/v1/runs/{run_id}/affidavit"), 409, "RUN_UNDECIDED")
    assert api.post(f"/api/v1/runs/{run_id}/cancel").status_code == 202
    events = read_stream(api, run_id)
    assert (events[-1].name, events[-1].data["failure_code"]) == ("error", "RUN_CANCELLED")
    assert api.get(f"/api/v1/runs/{run_id}").json()["run_state"] == "CANCELLED"
    problem(api.post(f"/api/v1/runs/{run_id}/cancel"), 409, "RUN_ENDED")


def test_a_tenant_s_unfinished_runs_have_a_bound(
    house: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """429, with the time to come again; another tenant is not held up."""
    assert UNFINISHED_MAX >= 100
    monkeypatch.setattr("affidavit.server.intake.UNFINISHED_MAX", 0)
    answer = house.client(Role.OPERATOR).post("/api/v1/runs", json=INCIDENT)
    problem(answer, 429, "RUNS_TOO_MANY")
    assert int(answer.headers["retry-after"]) > 0


def test_metrics_and_health_speak_of_the_service_alone(house: Served) -> None:
    """Counters without a tenant, a run, or a word that somebody made up."""
    api = house.client(Role.VIEWER)
    api.get("/api/v1/runs/run_0000000000000000")
    api.get("/api/v1/nothing-of-ours")
    text = api.get("/metrics").text
    assert 'affidavit_http_requests_total{method="GET",route="/api/v1/runs/{run_id}"' in text
    for word in ("acme", "run_0000000000000000", "nothing-of-ours"):
        assert word not in text
    health = api.get("/api/v1/health").json()
    assert {item["name"]: item["status"] for item in health["back_ends"]}["store"] == "ok"
    assert house.open(None).get("/readyz").json() == {"status": "ready"}
