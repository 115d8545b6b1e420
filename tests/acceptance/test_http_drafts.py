"""A refused draft: opened for one role alone, marked, never without a record of who read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.agent import Conclude
from affidavit.contract.errors import RecordFailed
from affidavit.ports.store import PAYLOADS_LIVE_US, Artifact
from affidavit.server.house import now_us
from affidavit.server.permits import HOLDS, Role
from tests.support.gates import ASIDE, report, said
from tests.support.runs import request
from tests.support.service import Door, Served, problem, read_stream, served
from tests.support.worlds import Script, act, world

pytestmark = [pytest.mark.slow, pytest.mark.spec("L1")]

LIE: Final = said("gates-1", 8)
"""The list says nine."""

NO_REPORT: Final = "I think that <b>it</b> was the clock."

READERS: Final = sorted(role for role in Role if Role.DRAFT_READER in HOLDS[role])


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service."""
    with served(tmp_path_factory.mktemp("house")) as own:
        yield own


def gate(house: Served, answer: Any, **params: bool) -> dict[str, Any]:
    """What the gate says to an answer."""
    told = house.client(Role.OPERATOR).post("/api/v1/gate", json=answer, params=params)
    assert told.status_code == 200, told.text
    found: dict[str, Any] = told.json()
    return found


def read(house: Served, run_id: str, role: Role = Role.DRAFT_READER) -> dict[str, Any]:
    """The draft as that role is shown it."""
    answer = house.client(role).get(f"/api/v1/runs/{run_id}/draft")
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    found: dict[str, Any] = answer.json()
    return found


def test_only_the_role_for_it_reads_and_each_reading_is_on_record(house: Served) -> None:
    """Every other role is 403, another tenant 404, nobody 401; none of those leaves a record."""
    run_id = gate(house, report(conclusion=LIE))["run_id"]
    path = f"/api/v1/runs/{run_id}/draft"
    for role in set(Role) - set(READERS):
        problem(house.client(role).get(path), 403, "ROLE_TOO_SMALL")
    for role in READERS:
        theirs = house.client(role, tenant="theirs").get(path)
        problem(theirs, 404, "NOT_FOUND")
    problem(house.open(None).get(path), 401, "UNAUTHORIZED")
    first = read(house, run_id)
    assert first["accesses"] == []
    assert first["access"]["by"] == "acme-draft-reader"
    second = read(house, run_id, Role.ADMIN)
    assert second["accesses"] == [first["access"]]
    assert second["access"]["by"] == "acme-admin"
    assert second["access"]["previous"] is not None
    assert read(house, run_id)["accesses"] == [first["access"], second["access"]]

    async def kept() -> list[str]:
        return [item.kind for item in await house.house.store.artifacts(run_id)]

    assert house.call(kept).count("draft_access") == 3


def test_each_sentence_carries_its_mark_and_why(house: Served) -> None:
    """Refuted, unproved and carried stand beside each other, with what would prove the rest."""
    told = gate(house, report(ASIDE, conclusion=LIE))
    assert (told["outcome"], told["result"]) == ("FALLBACK", None)
    shown = read(house, told["run_id"])
    assert (shown["published"], shown["outcome"], shown["decision"]) == (False, "FALLBACK", "D4")
    marks = {item["text"]: item["mark"] for item in shown["sentences"]}
    assert marks[LIE["text"]] == "refuted"
    assert marks[ASIDE] == "unproved"
    assert marks["boarding-1 had 7 restarts."] == "carried"
    for item in shown["sentences"]:
        assert bool(item["findings"]) == (item["mark"] != "carried")
        assert all(found["code"] and found["means"] for found in item["findings"])
        assert all(found["would_prove"] for found in item["findings"])
    assert [item["number"] for item in shown["sentences"]] == list(
        range(1, len(shown["sentences"]) + 1)
    )


def test_a_citation_that_is_not_real_is_marked_where_it_stands(house: Served) -> None:
    """The sentences of its part are miscited; nobody looked at the words of the others."""
    answer = report()
    answer["draft"]["analyses"].append(
        {"id": "A2", "kind": "NORMAL", "body": "The sky fell.", "tool_call_ids": ["no-such-call"]}
    )
    shown = read(house, gate(house, answer)["run_id"])
    assert shown["decision"] == "D3"
    marks = {item["text"]: item["mark"] for item in shown["sentences"]}
    assert marks["The sky fell."] == "miscited"
    assert set(marks.values()) == {"miscited", "unweighed"}
    (sky,) = [item for item in shown["sentences"] if item["text"] == "The sky fell."]
    assert sky["findings"][0]["pointer"].startswith("/analyses/1")


def test_what_was_withdrawn_can_be_read_and_what_was_published_is_no_refused_draft(
    house: Served,
) -> None:
    """After a withdrawal the whole draft is shown; an answer that passed whole has none."""
    whole = gate(house, report())
    assert whole["outcome"] == "SUCCESS"
    reader = house.client(Role.DRAFT_READER)
    answer = reader.get(f"/api/v1/runs/{whole['run_id']}/draft")
    problem(answer, 404, "DRAFT_NOT_THERE")
    taken = gate(house, report(ASIDE), withdraw=True)
    assert (taken["outcome"], taken["result"]["withdrawn"]) == ("SUCCESS", 1)
    marks = {item["text"]: item["mark"] for item in read(house, taken["run_id"])["sentences"]}
    assert marks[ASIDE] == "unproved"


def test_a_draft_that_is_no_report_is_shown_as_text(house: Served) -> None:
    """As it was written, and bounded."""
    run_id = "run_00000000000000d1"
    script: Script = [act("probe", service="checkout"), Conclude(NO_REPORT)]
    house.begin(world(script), request(run_id))
    read_stream(house.client(Role.VIEWER), run_id)
    shown = read(house, run_id)
    assert shown["sentences"] == []
    assert shown["text"] == NO_REPORT
    assert not shown["text_cut"]


@pytest.mark.spec("L5", "N15")
def test_what_cannot_be_recorded_is_not_shown(
    house: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store refuses the record of the access: nothing of the draft is sent."""
    run_id = gate(house, report(conclusion=LIE))["run_id"]

    async def refuse(*_: object) -> None:
        raise RecordFailed("the disk is full", code="STORE_FULL")

    monkeypatch.setattr(house.house.store, "attach", refuse)
    answer = house.client(Role.DRAFT_READER).get(f"/api/v1/runs/{run_id}/draft")
    problem(answer, 503, "RUN_PERSISTENCE_FAILED")
    assert LIE["text"] not in answer.text


@pytest.mark.spec("N2")
def test_reading_publishes_nothing(house: Served) -> None:
    """Answer, stream, timeline, list and file are what they were, and say nothing of the draft."""
    run_id = gate(house, report(ASIDE, conclusion=LIE))["run_id"]
    api = house.client(Role.VIEWER)
    paths = [f"/api/v1/runs/{run_id}{end}" for end in ("", "/timeline", "/affidavit", "/events")]
    before = [api.get(path).content for path in paths]
    read(house, run_id)
    assert [api.get(path).content for path in paths] == before
    said_ = b"".join(before).decode()
    assert ASIDE not in said_
    assert json.dumps(LIE["text"])[1:-1] not in said_


@pytest.mark.spec("C2")
def test_a_draft_that_is_not_decided_or_has_expired_is_not_opened(house: Served) -> None:
    """409 while the run goes on, 410 when its payloads are gone; the accesses stay."""
    run_id = gate(house, report(conclusion=LIE))["run_id"]
    read(house, run_id)
    reader, store = house.client(Role.DRAFT_READER), house.house.store
    assert isinstance(store, MemoryStore)

    async def expire() -> list[Artifact]:
        await store.expire_artifacts(now_us() + 2 * PAYLOADS_LIVE_US)
        return list(await store.artifacts(run_id))

    kinds = {item.kind for item in house.call(expire)}
    assert "draft_access" in kinds
    problem(reader.get(f"/api/v1/runs/{run_id}/draft"), 410, "DRAFT_EXPIRED")
    door, waiting = Door(), "run_00000000000000d2"
    house.begin(world([act("slow")], backends={"slow": door.fetch}), request(waiting))
    assert door.reached.wait(30)
    problem(reader.get(f"/api/v1/runs/{waiting}/draft"), 409, "RUN_UNDECIDED")
    door.opened.set()
