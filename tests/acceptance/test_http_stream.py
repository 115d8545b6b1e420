"""The stream of a run on a real server: cut anywhere, joined late, resumed, forged, cancelled."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from affidavit.contract.agent import Conclude, GiveUp
from affidavit.contract.errors import InternalFault, RecordFailed
from affidavit.contract.journal import EventType
from affidavit.contract.states import ReleaseOutcome, SseOutcome
from affidavit.server.permits import Role
from affidavit.server.stream import sse_outcome
from tests.support.gates import report
from tests.support.runs import request
from tests.support.service import (
    Door,
    Event,
    Served,
    parse_events,
    problem,
    read_stream,
    served,
    told,
    wait_until,
)
from tests.support.worlds import Script, ScriptedJudge, act, conclude, world

pytestmark = pytest.mark.slow

CANARY = "XCANARYX"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service whose runs are scripted."""
    with served(tmp_path_factory.mktemp("house")) as own:
        yield own


@pytest.fixture(scope="module")
def ended(house: Served) -> str:
    """A run that has ended before anybody looked."""
    answer = house.client(Role.OPERATOR).post("/api/v1/gate", json=report())
    return str(answer.json()["run_id"])


def shape(events: list[Event]) -> list[str]:
    """The names in order."""
    return [event.name for event in events]


def is_well_formed(events: list[Event]) -> bool:
    """One `run` first, one terminal event last, and none in between."""
    names = shape(events)
    terminal = [name for name in names if name in {"done", "error"}]
    return names[0] == "run" and names.count("run") == 1 and terminal == names[-1:]


@pytest.mark.spec("I4", "A2", "E9", "E10", "E19")
@pytest.mark.fault("R35")
def test_a_late_subscriber_is_told_everything(house: Served, ended: str) -> None:
    """The whole run, in its order, with one end; twice the same."""
    api = house.client(Role.VIEWER)
    events = read_stream(api, ended)
    assert is_well_formed(events)
    assert shape(events)[-2:] == ["result", "done"]
    assert events[-1].data["outcome"] == "SUCCESS"
    statuses = [e.data["status"] for e in events if e.name == "status"]
    assert list(dict.fromkeys(statuses)) == ["ROUTING", "DIAGNOSIS_RUNNING", "SAFETY_VALIDATING"]
    assert len({event.id for event in events}) == len(events)
    assert read_stream(api, ended) == events


@pytest.mark.spec("I4")
@pytest.mark.fault("R35", "F38")
def test_cut_at_every_event_and_resumed_nothing_is_lost_or_doubled(
    house: Served, ended: str
) -> None:
    """After each event, by its id, the rest comes; after the last one, 204: nothing follows."""
    api = house.client(Role.VIEWER)
    events = read_stream(api, ended)
    for place, event in enumerate(events[:-1]):
        assert read_stream(api, ended, event.id) == events[place + 1 :]
    last = {"last-event-id": events[-1].id}
    assert api.get(f"/api/v1/runs/{ended}/events", headers=last).status_code == 204


@pytest.mark.spec("I4", "L1", "N2")
@pytest.mark.fault("R35", "F38", "F40", "F29")
def test_a_live_run_cut_after_each_event_is_told_whole(house: Served) -> None:
    """While the run works its reader is cut off after every single event and comes back for the
    next: what it was told is what a late reader is told, each event once, one end. The draft's
    words come with the line of the decision and not before."""
    door, run_id = Door(), "run_00000000000000a8"
    script: Script = [act("probe", service="checkout"), act("slow"), conclude()]
    house.begin(world(script, backends={"slow": door.fetch}), request(run_id))
    api = house.client(Role.VIEWER)
    told_: list[Event] = []
    while not told_ or told_[-1].name not in {"done", "error"}:
        headers = {"last-event-id": told_[-1].id} if told_ else {}
        seen = ""
        with api.stream("GET", f"/api/v1/runs/{run_id}/events", headers=headers) as stream:
            for chunk in stream.iter_text():
                seen += chunk
                if parse_events(seen):
                    break
        told_.append(parse_events(seen)[0])
        if "observation" in shape(told_):
            door.opened.set()
    assert is_well_formed(told_)
    assert read_stream(api, run_id) == told_
    last = {"last-event-id": told_[-1].id}
    assert api.get(f"/api/v1/runs/{run_id}/events", headers=last).status_code == 204

    async def decided() -> int:
        lines = await house.house.store.read(run_id)
        return next(line.seq for line in lines if line.type is EventType.RELEASE_DECISION)

    line = house.call(decided)
    words = "The errors of checkout were 5."
    speaking = [event for event in told_ if words in json.dumps(event.data)]
    assert [event.name for event in speaking] == ["result"]
    assert int(speaking[0].id.partition(".")[0]) == line


@pytest.mark.fault("F38")
def test_cut_at_every_byte_a_client_sees_that_it_was_cut(house: Served, ended: str) -> None:
    """No prefix of the stream looks complete: only the whole one has the terminal event."""
    text = house.client(Role.VIEWER).get(f"/api/v1/runs/{ended}/events").text
    whole = parse_events(text)
    for end in range(len(text)):
        cut = parse_events(text[:end])
        assert cut == whole[: len(cut)]
        assert len(cut) < len(whole)


@pytest.mark.spec("I4")
@pytest.mark.parametrize("id_", ["0", "x", "1", "1.9", "999.0", "01.0", "-1.0", "١.٠"])
def test_a_forged_id_is_refused(house: Served, ended: str, id_: str) -> None:
    """Whoever made an id up is told so, and is not sent a part as if it were the rest."""
    headers = [(b"last-event-id", id_.encode())]
    answer = house.client(Role.VIEWER).get(f"/api/v1/runs/{ended}/events", headers=headers)
    problem(answer, 400, "LAST_EVENT_ID_UNKNOWN")


@pytest.mark.spec("I4", "L1")
def test_observations_come_while_the_run_works(house: Served) -> None:
    """What one call found is sent before the next call has answered; then the connection is cut
    and resumed, while the run goes on."""
    door, run_id = Door(), "run_00000000000000a1"
    script: Script = [act("probe", service="checkout"), act("slow"), conclude()]
    house.begin(world(script, backends={"slow": door.fetch}), request(run_id))
    api, seen = house.client(Role.VIEWER), ""
    with api.stream("GET", f"/api/v1/runs/{run_id}/events") as stream:
        for chunk in stream.iter_text():
            seen += chunk
            if any(event.name == "observation" for event in parse_events(seen)):
                break
    first = parse_events(seen)
    assert not door.opened.is_set()
    observed = next(event for event in first if event.name == "observation").data
    assert (observed["tool"], observed["evidence_status"]) == ("probe", "EVIDENCE_FOUND")
    assert any("checkout" in fact for fact in observed["facts"])
    door.opened.set()
    rest = read_stream(api, run_id, first[-1].id)
    assert is_well_formed([*first, *rest])
    assert read_stream(api, run_id) == [*first, *rest]


@pytest.mark.spec("N2", "L1", "D4", "I4")
@pytest.mark.fault("F40")
def test_no_byte_of_a_refused_draft_is_ever_sent(house: Served) -> None:
    """A draft that says something unproved is held: its words are in no event, nor in the answer,
    the timeline or the list; and the words of a back end that broke are nowhere either."""
    run_id = "run_00000000000000a2"
    sentence = {"text": f"{CANARY} is the root cause of it all.", "tool_call_ids": ["call_0001"]}
    draft = conclude(
        conclusion={"text": sentence["text"], "based_on_analysis_ids": ["A1"]},
        recommendations=[{"text": f"Restart {CANARY}.", "based_on_analysis_ids": ["A1"]}],
    )
    script: Script = [act("probe", service="checkout"), act("down"), draft]
    house.begin(world(script), request(run_id))
    api = house.client(Role.ADMIN)
    events = read_stream(api, run_id)
    assert events[-1].data["outcome"] == "FALLBACK"
    said = json.dumps([event.data for event in events])
    for path in ("", "/timeline"):
        said += api.get(f"/api/v1/runs/{run_id}{path}").text
    assert CANARY not in said
    assert "canary" not in said


@pytest.mark.spec("N2", "L1")
@pytest.mark.fault("F40")
def test_a_draft_is_silent_until_the_release_has_decided(house: Served) -> None:
    """While a judge thinks about it, nothing of the draft is on the wire; afterwards it is."""
    run_id, thinking, decided = "run_00000000000000a3", threading.Event(), threading.Event()

    class SlowJudge(ScriptedJudge):
        async def review(self, query: Any, draft: Any, snapshot: Any) -> Any:
            thinking.set()
            await told(decided)
            return await super().review(query, draft, snapshot)

    script: Script = [act("probe", service="checkout"), conclude()]
    house.begin(world(script, judge=SlowJudge()), request(run_id))
    seen = ""
    with house.client(Role.VIEWER).stream("GET", f"/api/v1/runs/{run_id}/events") as stream:
        for chunk in stream.iter_text():
            seen += chunk
            if "SAFETY_VALIDATING" in seen and thinking.wait(5) and not decided.is_set():
                assert "The errors of checkout were 5." not in seen
                decided.set()
    events = parse_events(seen)
    assert shape(events)[-2:] == ["result", "done"]
    assert "The errors of checkout were 5." in json.dumps(events[-2].data)


@pytest.mark.spec("N11", "N5", "D14", "E10", "I4")
def test_a_cancelled_run_ends_in_error_and_no_done_says_cancelled(house: Served) -> None:
    """`error` with RUN_CANCELLED; no result before it."""
    door, run_id = Door(), "run_00000000000000a4"
    house.begin(world([act("slow")], backends={"slow": door.fetch}), request(run_id))
    api = house.client(Role.OPERATOR)
    assert door.reached.wait(30)
    assert api.post(f"/api/v1/runs/{run_id}/cancel").status_code == 202
    events = read_stream(api, run_id)
    assert is_well_formed(events)
    assert (events[-1].name, events[-1].data["failure_code"]) == ("error", "RUN_CANCELLED")
    assert "result" not in shape(events)
    with pytest.raises(InternalFault):
        sse_outcome(ReleaseOutcome.CANCELLED)
    others = [outcome for outcome in ReleaseOutcome if outcome is not ReleaseOutcome.CANCELLED]
    assert [sse_outcome(outcome) for outcome in others] == list(SseOutcome)


@pytest.mark.spec("I4", "D8", "D11", "D15", "E20")
@pytest.mark.fault("R23", "F5")
@pytest.mark.parametrize(
    ("number", "step", "code"),
    [
        (1, GiveUp("nothing"), "DIAGNOSIS_UNAVAILABLE"),
        (2, Conclude("no report at all"), "DIAGNOSIS_UNAVAILABLE"),
        (3, RuntimeError("canary"), "INTERNAL_FAILURE"),
    ],
)
def test_a_failed_run_ends_in_done_with_its_code(
    house: Served, number: int, step: Any, code: str
) -> None:
    """FAILED is an outcome, and no `error`: the run was recorded."""

    def raising(_: object) -> Any:
        raise step

    run_id = f"run_00000000000000f{number}"
    script: Script = [raising if isinstance(step, Exception) else step]
    house.begin(world(script), request(run_id))
    events = read_stream(house.client(Role.VIEWER), run_id)
    assert is_well_formed(events)
    assert (events[-1].name, events[-1].data["outcome"]) == ("done", "FAILED")
    assert events[-1].data["failure_code"] == code
    assert "result" not in shape(events)


@pytest.mark.spec("L5", "N15", "I4")
def test_an_unrecorded_run_ends_its_stream_in_error_and_can_be_asked_again(house: Served) -> None:
    """Nothing was decided: `error`, without an id; the run goes on later, and so does a stream."""
    door, run_id = Door(), "run_00000000000000a5"
    scripted = world([act("slow"), GiveUp("")], backends={"slow": door.fetch})
    house.begin(scripted, request(run_id))
    assert door.reached.wait(30)
    inner = house.house.store.append

    async def refuse(*_: object) -> None:
        raise RecordFailed("the disk is full", code="STORE_FULL")

    api, seen = house.client(Role.VIEWER), ""
    with api.stream("GET", f"/api/v1/runs/{run_id}/events") as stream:
        for chunk in stream.iter_text():
            seen += chunk
            if not door.opened.is_set():
                house.house.store.append = refuse  # type: ignore[assignment, method-assign]
                door.opened.set()
    events = parse_events(seen)
    assert (events[-1].name, events[-1].id) == ("error", "")
    assert events[-1].data["failure_code"] == "RUN_PERSISTENCE_FAILED"
    assert "disk" not in seen
    house.house.store.append = inner  # type: ignore[method-assign]
    ids = [event.id for event in events[:-1]]
    rest = read_stream(api, run_id, ids[-1])
    assert (rest[-1].name, rest[-1].data["outcome"]) == ("done", "FALLBACK")


@pytest.mark.spec("K5", "I4")
@pytest.mark.fault("R32", "R29", "F27")
@pytest.mark.parametrize("asks", [True, False])
def test_a_disconnect_cancels_only_where_that_was_asked(house: Served, asks: bool) -> None:
    """A reader that leaves ends nothing; one that asked for it ends the run within seconds."""
    door, run_id = Door(), f"run_00000000000000b{int(asks)}"
    house.begin(world([act("slow"), GiveUp("")], backends={"slow": door.fetch}), request(run_id))
    assert door.reached.wait(30)
    api = house.open(house.key(Role.OPERATOR))
    params = {"cancel_on_disconnect": asks}
    with api.stream("GET", f"/api/v1/runs/{run_id}/events", params=params) as stream:
        next(iter(stream.iter_bytes()))
    api.close()
    if asks:
        assert door.cancelled.wait(10)
    wait_until(lambda: house.house.feeds.streams == 0)
    door.opened.set()
    events = read_stream(house.client(Role.VIEWER), run_id)
    assert events[-1].name == ("error" if asks else "done")
    viewer = house.client(Role.VIEWER).get(f"/api/v1/runs/{run_id}/events", params=params)
    assert viewer.status_code == (403 if asks else 200)


@pytest.mark.spec("I4")
def test_streams_have_a_bound_and_give_their_place_back(
    house: Served, ended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """429 beyond it, per tenant; an ended stream, a refused one and a cut one hold no place."""
    api = house.client(Role.VIEWER)
    monkeypatch.setattr("affidavit.server.feeds.STREAMS_OF_TENANT_MAX", 1)
    for _ in range(3):
        read_stream(api, ended)
        problem(
            api.get(f"/api/v1/runs/{ended}/events", headers={"last-event-id": "9999.0"}),
            400,
            "LAST_EVENT_ID_UNKNOWN",
        )
        missing = api.get("/api/v1/runs/run_0000000000000000/events")
        problem(missing, 404, "NOT_FOUND")
    door, run_id = Door(), "run_00000000000000a6"
    house.begin(world([act("slow"), GiveUp("")], backends={"slow": door.fetch}), request(run_id))
    with api.stream("GET", f"/api/v1/runs/{run_id}/events") as stream:
        parts = stream.iter_bytes()  # dropped, it would close the stream
        next(parts)
        problem(api.get(f"/api/v1/runs/{ended}/events"), 429, "STREAMS_TOO_MANY")
    door.opened.set()
    wait_until(lambda: house.house.feeds.streams == 0)
    assert is_well_formed(read_stream(api, run_id))


@pytest.mark.spec("I4")
def test_a_silent_stream_is_kept_open(house: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment now and then; clients do not see it."""
    monkeypatch.setattr("affidavit.server.feeds.HEARTBEAT_S", 0.05)
    door, run_id = Door(), "run_00000000000000a7"
    house.begin(world([act("slow"), GiveUp("")], backends={"slow": door.fetch}), request(run_id))
    seen = ""
    with house.client(Role.VIEWER).stream("GET", f"/api/v1/runs/{run_id}/events") as stream:
        for chunk in stream.iter_text():
            seen += chunk
            if seen.count(": still here") > 2:
                door.opened.set()
    assert is_well_formed(parse_events(seen))


def test_a_client_library_sees_nothing_else(house: Served, ended: str) -> None:
    """The wire is plain: three fields an event, ASCII, no retry, no cookie."""
    answer = house.client(Role.VIEWER).get(f"/api/v1/runs/{ended}/events")
    assert isinstance(answer, httpx2.Response)
    assert answer.text.isascii()
    for line in answer.text.splitlines():
        assert line.partition(": ")[0] in {"id", "event", "data", ""}
    assert "set-cookie" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"
