"""Approvals over HTTP: what waits is shown whole; only another person decides, once, about exactly
the action that was shown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import AgentRequest, GiveUp
from affidavit.server.permits import Role
from tests.support.acting import Theatre
from tests.support.runs import request
from tests.support.service import Served, problem, read_stream, served, wait_until
from tests.support.worlds import Script, act

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service whose runs are scripted."""
    with served(tmp_path_factory.mktemp("house")) as own:
        yield own


def asked_by(house: Served, run_id: str, name: str) -> AgentRequest:
    """A request that somebody with that name made."""
    told = request(run_id).model_dump(mode="json")
    house.key(Role.ADMIN, name=name)
    return AgentRequest.model_validate_json(json.dumps({**told, "requested_by": name}))


def stage(house: Served, run_id: str) -> tuple[Theatre, dict[str, Any]]:
    """A run of Ann's that wants to restart a service, and what a person is shown of it."""
    script: Script = [
        act("look", service="checkout"),
        act("restart", service="checkout"),
        GiveUp(""),
    ]
    theatre = Theatre(script, real_time=SystemClock(), asked=asked_by(house, run_id, "Ann"))
    house.begin(theatre.world(), theatre.asked)
    api = house.client(Role.VIEWER)
    found: list[dict[str, Any]] = []

    def waits() -> bool:
        inbox = api.get("/api/v1/approvals").json()["approvals"]
        found[:] = [item for item in inbox if item["run_id"] == run_id]
        return bool(found)

    wait_until(waits)
    return theatre, found[0]


@pytest.mark.spec("H10", "E14", "I4")
@pytest.mark.fault("F23", "F22")
def test_an_approval_is_shown_decided_and_acted_on_once(house: Served) -> None:
    """The page has tool, arguments and records; the stream says that it waits; then it happens."""
    run_id = "run_0000000000000d01"
    theatre, shown = stage(house, run_id)
    assert shown["tool"] == "restart"
    assert shown["page"]["arguments"]["service"] == "checkout"
    assert not shown["expired"]
    assert theatre.outside.done == Counter()
    answer = house.client(Role.VIEWER).get(f"/api/v1/runs/{run_id}").json()
    assert answer["agent_status"] == "NEED_APPROVAL"
    assert [item["reason"] for item in answer["waits_for"]] == ["approval"]
    where = f"/api/v1/approvals/{run_id}/{shown['tool_call_id']}"
    said = {"decision": "approve", "action_digest": shown["action_digest"]}
    mo = house.open(house.key(Role.APPROVER, name="Mo"))
    assert mo.post(where, json=said).status_code == 202
    events = read_stream(mo, run_id)
    assert events[-1].name == "done"
    waited = [e.data for e in events if e.name == "status" and e.data.get("decision")]
    assert [item["decision"] for item in waited] == ["waits", "approved"]
    assert sum(theatre.outside.done.values()) == 1
    problem(mo.post(where, json=said), 409, "RUN_ENDED")
    assert all(item["run_id"] != run_id for item in mo.get("/api/v1/approvals").json()["approvals"])


@pytest.mark.spec("H10")
@pytest.mark.fault("R58", "R9", "F19")
def test_only_another_person_decides_and_only_about_what_was_shown(house: Served) -> None:
    """The requester may not, a viewer may not, another action's digest is none, and a call that
    nobody asked about cannot be approved; nothing of it happens."""
    run_id = "run_0000000000000d02"
    theatre, shown = stage(house, run_id)
    where = f"/api/v1/approvals/{run_id}/{shown['tool_call_id']}"
    said = {"decision": "approve", "action_digest": shown["action_digest"]}
    ann, mo = (house.open(house.key(Role.ADMIN, name=name)) for name in ("Ann", "Mo2"))
    problem(ann.post(where, json=said), 403, "APPROVER_IS_REQUESTER")
    operator = house.client(Role.OPERATOR)
    problem(operator.post(where, json=said), 403, "ROLE_TOO_SMALL")
    theirs = house.client(Role.APPROVER, tenant="theirs")
    problem(theirs.post(where, json=said), 404, "NOT_FOUND")
    other = {**said, "action_digest": "0" * 64}
    problem(mo.post(where, json=other), 409, "APPROVAL_MISMATCH")
    forged = f"/api/v1/approvals/{run_id}/call_0099"
    problem(mo.post(forged, json=said), 404, "APPROVAL_UNKNOWN")
    problem(mo.post(where, json={"decision": "approve"}), 422, "REQUEST_INVALID")
    problem(mo.post(where, json={**said, "by": "Zoe"}), 422, "REQUEST_INVALID")
    assert theatre.outside.done == Counter()
    assert mo.post(where, json={**said, "decision": "reject"}).status_code == 202
    assert read_stream(mo, run_id)[-1].name == "done"
    assert theatre.outside.done == Counter()
