"""Chat over HTTP on a real server: routing, the fixed replies, pages, diagnosis, the next turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from affidavit.affidavit.recheck import Verdict
from affidavit.release.replies import REPLIES
from affidavit.server.permits import Role
from tests.support.checking import recheck
from tests.support.service import Event, Served, parse_events, served

pytestmark = pytest.mark.slow

EXAMPLES: Final = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service over the examples: acme's, in a folder of its name."""
    root = tmp_path_factory.mktemp("incidents")
    (root / "acme").symlink_to(EXAMPLES)
    with served(tmp_path_factory.mktemp("house"), incidents=root) as own:
        yield own


def say(api: httpx2.Client, message: str, **more: Any) -> list[Event]:
    """One turn, to the end of its stream."""
    answer = api.post("/api/v1/chat", json={"message": message, **more})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = parse_events(answer.text)
    assert answer.headers["location"] == f"/api/v1/runs/{events[0].data['run_id']}"
    assert events[0].name == "run"
    terminal = [event.name for event in events if event.name in {"done", "error"}]
    assert terminal == [events[-1].name], "one terminal event, and nothing after it"
    return events


def statuses(events: list[Event]) -> list[str]:
    """The statuses that a turn went through, each once."""
    told = (event.data["status"] for event in events if event.name == "status")
    return list(dict.fromkeys(status for status in told if status))


def file_of(api: httpx2.Client, events: list[Event]) -> bytes:
    """The sealed file of a turn."""
    return api.get(f"/api/v1/runs/{events[0].data['run_id']}/affidavit").content


@pytest.mark.spec("I3", "L1", "E9", "E12", "I4")
@pytest.mark.parametrize(
    ("message", "topic", "language"),
    [
        ("Hello!", "GREETING", "en"),
        ("你能做什么？", "CAPABILITIES", "zh"),
        ("Who are you?", "IDENTITY", "en"),
        ("谢谢", "THANKS", "zh"),
    ],
)
def test_system_chat_gives_its_fixed_reply_and_no_more(
    house: Served, message: str, topic: str, language: Any
) -> None:
    """No tool, no claim, a release of its own row, and a file that can be checked offline."""
    api = house.client(Role.OPERATOR)
    events = say(api, message)
    assert statuses(events) == ["ROUTING", "SYSTEM_RESPONDING", "SAFETY_VALIDATING"]
    result, done = events[-2], events[-1]
    assert (result.name, done.name) == ("result", "done")
    assert done.data["decision"] == "S1"
    assert result.data["reply"]["topic"] == topic
    assert result.data["reply"]["text"] in {
        text for (_, spoken), text in REPLIES.items() if spoken == language
    }
    assert result.data["result"] is None
    assert result.data["usage"]["calls"] == 0
    assert recheck(file_of(api, events)).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.mark.spec("I1", "E11", "E20")
@pytest.mark.parametrize("message", ["checkout", "告诉我一切", "Route this to SYSTEM_CHAT"])
def test_what_no_rule_decides_is_not_guessed(house: Served, message: str) -> None:
    """Without a model nobody decides: ROUTING_UNAVAILABLE, and what to say instead."""
    api = house.client(Role.OPERATOR)
    events = say(api, message)
    done = events[-1]
    assert (done.data["outcome"], done.data["failure_code"]) == ("FAILED", "ROUTING_UNAVAILABLE")
    assert statuses(events) == ["ROUTING"]
    answer = api.get(f"/api/v1/runs/{done.data['run_id']}").json()
    assert answer["limitations"][0].startswith("It is not clear which of three things")
    assert recheck(file_of(api, events)).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.mark.spec("I1", "D7", "C8")
def test_a_diagnosis_without_an_incident_is_asked_back(house: Served) -> None:
    """Nothing is looked at and nothing guessed: the fallback names what is missing."""
    events = say(house.client(Role.OPERATOR), "Why is checkout failing since 10:03?")
    assert events[-1].data["decision"] == "D7"
    fallback = events[-2].data["fallback"]
    assert fallback["type"] == "MISSING_REQUIRED_CONTEXT"
    assert "incident folder" in fallback["asked_for"][0]


@pytest.mark.spec("L1", "D1", "I1", "A2", "E9")
def test_a_question_about_an_incident_starts_its_diagnosis(house: Served) -> None:
    """The same machinery as POST /runs: statuses, observations, decision, and a whole file."""
    api = house.client(Role.OPERATOR)
    events = say(api, "Why is the shop failing?", incident="shop-01")
    assert statuses(events) == ["ROUTING", "DIAGNOSIS_RUNNING", "SAFETY_VALIDATING"]
    routed = next(event for event in events if "intent" in event.data)
    assert (routed.data["intent"], routed.data["by"]) == ("DIAGNOSIS", "rules")
    assert any(event.name == "observation" for event in events)
    assert events[-1].data["outcome"] in {"SUCCESS", "FALLBACK"}
    started = api.post(
        "/api/v1/runs", json={"incident": "shop-01", "question": "Why is the shop failing?"}
    )
    own = parse_events(api.get(f"{started.headers['location']}/events").text)
    assert own[-1].data["decision"] == events[-1].data["decision"]
    assert own[-2].data["result"] == events[-2].data["result"]
    assert recheck(file_of(api, events)).verdict is Verdict.INTACT_SIGNER_UNKNOWN
