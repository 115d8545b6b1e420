"""Live back ends over HTTP: what goes on now is asked by a run, by a turn of chat, and asked on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.affidavit.recheck import Verdict
from affidavit.server.hooks import HookPlan
from affidavit.server.permits import Role
from affidavit.settings import Settings
from tests.acceptance.test_http_chat import file_of, say, statuses
from tests.support.checking import recheck
from tests.support.service import Served, parse_events, problem, read_stream, served

pytestmark = pytest.mark.slow


def line(at: datetime, second: int) -> str:
    """One line of a log: well for some minutes, and then not."""
    failed = second > 200
    told = {
        "timestamp": at.isoformat(),
        "service_name": "checkout",
        "severity_text": "ERROR" if failed else "INFO",
        "body": "payment timeout after 5000 ms" if failed else "ok",
    }
    return json.dumps(told) + "\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Five minutes of a log, up to now; the last of them has errors."""
    began = datetime.now(UTC) - timedelta(seconds=300)
    file = tmp_path / "app.jsonl"
    lines = (line(began + timedelta(seconds=second), second) for second in range(300))
    file.write_text("".join(lines))
    return file


@pytest.fixture
def house(tmp_path: Path, logs: Path) -> Iterator[Served]:
    """A service with acme's logs, which nobody else may read."""
    table = {"logs": {"signal": "logs", "paths": (str(logs),), "tenants": ("acme",)}}
    settings = Settings(backends=Backends.model_validate({"files": table}))
    book = SqliteIncidents(tmp_path / "incidents.db")
    with served(tmp_path, plan=HookPlan(settings, {}, book), settings=settings) as own:
        yield own
    anyio.run(book.close)


def sources(answer: dict[str, Any]) -> set[str]:
    """What was read, by the coverage of an answer."""
    return {one["source"] for one in answer["coverage"]["lines"] if one["status"] == "consulted"}


@pytest.mark.spec("I1", "I4", "I6", "C11", "E9", "E12")
@pytest.mark.parametrize(
    ("asked", "further"),
    [
        ("Why is checkout failing now?", "Are you sure?"),
        ("为什么 checkout 现在一直报错？", "还有别的服务出错吗？"),
    ],
    ids=["en", "zh"],
)
def test_what_goes_on_now_is_asked_in_chat_and_asked_on(
    house: Served, logs: Path, asked: str, further: str
) -> None:
    """A turn about the live back ends is diagnosed as it streams; the next one reads what the first
    recorded, by calls of its own, though the log is gone; each has its file."""
    api = house.client(Role.OPERATOR)
    told = {"live": True, "service": "checkout", "since": "4m"}
    first = say(api, asked, **told)
    assert statuses(first) == ["ROUTING", "DIAGNOSIS_RUNNING", "SAFETY_VALIDATING"]
    seen = [event.data for event in first if event.name == "observation"]
    assert any("payment timeout" in fact for one in seen for fact in one["facts"])
    run_id = first[0].data["run_id"]
    answer = api.get(f"/api/v1/runs/{run_id}").json()
    assert sources(answer) == {"files:logs"}
    assert first[-1].data["outcome"] in {"SUCCESS", "FALLBACK"}
    logs.unlink()
    second = say(api, further, follows=run_id)
    calls = json.loads(file_of(api, second))["calls"]
    earlier = [call for call in calls if call["tool"].startswith("earlier_")]
    assert earlier
    assert all(f"of {run_id}, where" in call["result"]["notes"][0] for call in earlier)
    assert all(event.data["run_id"] != run_id for event in second)
    for events in (first, second):
        assert recheck(file_of(api, events)).verdict is Verdict.INTACT_SIGNER_UNKNOWN
    turns = api.get(f"/api/v1/chat/{second[0].data['run_id']}").json()["turns"]
    assert [(turn["message"], turn["intent"]) for turn in turns] == [
        (asked, "DIAGNOSIS"),
        (further, "DIAGNOSIS"),
    ]


@pytest.mark.spec("I4", "C11", "K1")
def test_a_run_over_the_live_back_ends_is_started_like_any_other(house: Served) -> None:
    """With a service and since when; once for one key; with a question of its own, or without."""
    api, body = house.client(Role.OPERATOR), {"live": True, "service": "checkout", "since": "4m"}
    key = {"idempotency-key": "live-once"}
    one, two = (api.post("/api/v1/runs", json=body, headers=key) for _ in range(2))
    assert (one.status_code, two.status_code) == (201, 200)
    run_id = one.json()["run_id"]
    assert two.json()["run_id"] == run_id
    events = read_stream(api, run_id)
    assert events[0].data["question"].startswith("What is wrong with checkout since ")
    assert events[-1].name == "done"
    answer = api.get(f"/api/v1/runs/{run_id}").json()
    assert sources(answer) == {"files:logs"}
    named = api.post("/api/v1/runs", json={**body, "question": "Was zum Kuckuck?"})
    assert read_stream(api, named.json()["run_id"])[0].data["question"] == "Was zum Kuckuck?"
    for wrong in ({"since": "9d"}, {"since": "1s"}, {"service": " "}, {"incident": "x"}):
        answered = api.post("/api/v1/runs", json={**body, **wrong})
        assert answered.status_code == 422, wrong
    assert len(api.get("/api/v1/runs").json()["runs"]) == 2


@pytest.mark.spec("N13")
@pytest.mark.fault("R69")
def test_another_tenant_s_back_ends_are_not_read(house: Served) -> None:
    """Neither by a run, nor in chat, nor by following a turn of theirs, nor in the health."""
    mine = house.client(Role.OPERATOR)
    theirs = house.client(Role.OPERATOR, tenant="theirs")
    told = {"live": True, "service": "checkout", "since": "4m"}
    problem(theirs.post("/api/v1/runs", json=told), 422, "NO_BACKENDS")
    answer = theirs.post("/api/v1/chat", json={"message": "Why is checkout failing?", **told})
    problem(answer, 422, "NO_BACKENDS")
    turn = parse_events(
        mine.post("/api/v1/chat", json={"message": "Why is checkout failing?", **told}).text
    )
    follows = {"message": "And now?", "follows": turn[0].data["run_id"]}
    problem(theirs.post("/api/v1/chat", json=follows), 404, "NOT_FOUND")
    ours = [end["name"] for end in mine.get("/api/v1/health").json()["back_ends"]]
    others = [end["name"] for end in theirs.get("/api/v1/health").json()["back_ends"]]
    assert "files:logs" in ours
    assert "files:logs" not in others
