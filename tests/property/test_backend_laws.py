"""Laws of live back ends: whatever one answers becomes evidence, nothing found, or an error by
its name; never a failure of ours, and never one of the three dressed as another (T4).

Each answers over real HTTP what its own server would, and a generated fault is put into that:
another value anywhere in the document, a missing part, a cut, another status, another type.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.evidence import Window
from affidavit.contract.states import EvidenceStatus
from tests.support.cluster import broken_checkout, broken_sets, failure
from tests.support.http_stage import Reply, Seen, stage
from tests.support.live_runs import MINUTES, Asked, ask_live, live_settings
from tests.support.stores import Call, Told, elasticsearch, jaeger, loki, said, tempo

pytestmark = pytest.mark.slow

Answer = Callable[[Seen], Reply]
NOW_S: Final = int(datetime.now(UTC).timestamp())
ASKED: Final = Window(
    start=datetime.fromtimestamp(NOW_S, UTC) - timedelta(minutes=MINUTES),
    end=datetime.fromtimestamp(NOW_S, UTC),
)
"""What is asked of every back end: where the answers below lie, however late the test runs."""

ODD: Final[tuple[Any, ...]] = (
    None, True, -1, 0, 10**30, 1e308, float("nan"), float("-inf"), "", "NaN", "x" * 5000, "\ud800",
    "\x00", [], {}, [[]], {"a": {}}, "2026-13-45T99:99:99Z", "-1", "9" * 40, "\u202e<b>", 1.5,
)  # fmt: skip
"""What stands anywhere in a document that somebody else's code made."""

UNWANTED: Final = frozenset({"TOOL_FAILED", "PROJECTION_FAILED", "INTERNAL_FAILURE"})
"""Codes that say that our own reading broke."""


def prometheus(asked: Seen) -> Reply:
    """A counter, a gauge and a histogram of two services."""
    path = asked.path.partition("?")[0]
    names = ("requests_total", "temperature_celsius", "took_seconds_bucket")
    if path.endswith("/values"):
        return said({"status": "success", "data": list(names)})
    if path.endswith("/metadata"):
        return said({"status": "success", "data": {"temperature_celsius": [{"type": "gauge"}]}})
    series = [
        {
            "metric": {"__name__": name, "service": service, "instance": "a:1", "le": "1"},
            "values": [
                [NOW_S - 2400 + 15 * place, str(10 * place + (3000 * max(0, place - 140)))]
                for place in range(159)
            ],
        }
        for name in names
        for service in ("api", "db")
    ]
    return said({"status": "success", "data": {"resultType": "matrix", "result": series}})


def alertmanager(asked: Seen) -> Reply:
    """One alert that fires, one silence."""
    began = datetime.fromtimestamp(NOW_S - 300, UTC)
    told = {
        "labels": {"alertname": "Slow", "service": "checkout"},
        "annotations": {"summary": "slow"},
        "startsAt": began.isoformat(),
        "endsAt": (began + timedelta(hours=1)).isoformat(),
        "fingerprint": "ab12",
        "generatorURL": "http://x/",
        "receivers": [{"name": "web"}],
    }
    if "/status" in asked.path:
        return said({"versionInfo": {"version": "0.27.0"}, "cluster": {}})
    if "/silences" in asked.path:
        matcher = {"name": "service", "value": "db", "isRegex": False, "isEqual": True}
        more = {"id": "1", "createdBy": "ann", "comment": "moved", "updatedAt": began.isoformat()}
        return said([{**told, **more, "matchers": [matcher], "status": {"state": "active"}}])
    return said([{**told, "status": {"state": "active", "silencedBy": [], "inhibitedBy": []}}])


LINES: Final = [
    Told((NOW_S - 300 + place) * 1_000_000, "checkout", "error", f"payment failed {place}")
    for place in range(20)
]
CALLS: Final = [
    Call((NOW_S - 300 + place) * 1_000_000, "web", "orders", 5000, failed=place % 2 == 0)
    for place in range(20)
]


NOT_THERE: Final = frozenset({"SOURCE_UNAVAILABLE", "TOOL_UNKNOWN"})
"""What a call of a source says that failed its probe at the start."""


@dataclass(frozen=True)
class Kind:
    """One kind of back end: its table, what it answers when it is well, when it has nothing, and
    what is asked of it."""

    table: dict[str, object]
    full: Answer
    empty: Answer
    calls: tuple[ToolCallRequest, ...]


def looks(tool: str, *names: str) -> tuple[ToolCallRequest, ...]:
    """A question each."""
    return tuple(ToolCallRequest(tool, {"look": name}) for name in names)


def nothing_of_prometheus(asked: Seen) -> Reply:
    """No metric at all."""
    empty: object = {"resultType": "matrix", "result": []}
    if asked.path.partition("?")[0].endswith("/values"):
        empty = []
    elif asked.path.partition("?")[0].endswith("/metadata"):
        empty = {}
    return said({"status": "success", "data": empty})


def nothing_of_alertmanager(asked: Seen) -> Reply:
    """Nothing fires, nothing is silenced."""
    return alertmanager(asked) if "/status" in asked.path else said([])


def cluster_of_both() -> Answer:
    """Deployments and sets."""
    held, more = broken_checkout(), broken_sets()
    for name, items in more.objects.items():
        held.objects[name] = held.objects.get(name, []) + items
    return held.answer


def empty_cluster() -> Answer:
    """Namespaces with nothing in them."""
    held = broken_checkout()
    held.objects, held.logs = {}, {}
    return held.answer


SEARCH: Final = ToolCallRequest("log_search", {"text": "failed"})

KINDS: Final[dict[str, Kind]] = {
    "prometheus": Kind(
        {}, prometheus, nothing_of_prometheus, (ToolCallRequest("metric_scan", {}),)
    ),
    "alertmanager": Kind(
        {}, alertmanager, nothing_of_alertmanager, looks("alertmanager_main", "firing", "silences")
    ),
    "kubernetes": Kind(
        {"namespaces": ("shop",)},
        cluster_of_both(),
        empty_cluster(),
        (
            *looks("kubernetes_main", "pods", "events", "deployments", "statefulsets", "nodes"),
            ToolCallRequest("change_events", {}),
            SEARCH,
        ),
    ),
    "loki": Kind({"query": '{a="b"}'}, loki(LINES), loki([]), (SEARCH,)),
    "elasticsearch": Kind({"index": "logs-*"}, elasticsearch(LINES), elasticsearch([]), (SEARCH,)),
    "jaeger": Kind({}, jaeger(CALLS), jaeger([]), (ToolCallRequest("topology", {}),)),
    "tempo": Kind({}, tempo(CALLS), tempo([]), (ToolCallRequest("topology", {}),)),
}


def ask(kind: str, answer: Answer) -> Asked:
    """A run that asks this back end, which answers so."""
    own = KINDS[kind]
    with stage(answer) as there:
        table = {"url": there.url, "timeout-s": 2, **own.table}
        told = live_settings((f"127.0.0.1:{there.port}",), **{kind: {"main": table}})
        return anyio.run(ask_live, told, ASKED, *own.calls)


def garbled(document: Any, chance: random.Random) -> Any:
    """The document with something else at one place, or without it."""
    places = list(_places(document))
    if not places:
        return chance.choice(ODD)
    *way, last = chance.choice(places)
    inner = document
    for step in way:
        inner = inner[step]
    if chance.random() < 0.25:
        del inner[last]
    else:
        inner[last] = chance.choice(ODD)
    return document


def _places(document: Any, way: tuple[Any, ...] = ()) -> Any:
    keys = document if isinstance(document, dict) else range(len(document))
    for key in list(keys)[:12]:
        yield (*way, key)
        if isinstance(document[key], dict | list):
            yield from _places(document[key], (*way, key))


def spoiled(answer: Answer, seed: int, share: float) -> Answer:
    """The same server with a fault in some of its answers."""
    chance = random.Random(seed)

    def answer_badly(asked: Seen) -> Reply:
        reply = answer(asked)
        if "selfsubject" in asked.path or chance.random() > share:
            return reply
        fault = chance.randrange(10)
        if fault == 0:
            return Reply(reply.status, reply.body[: chance.randrange(len(reply.body) + 1)])
        if fault == 1:
            return Reply(chance.choice((204, 301, 400, 401, 403, 404, 410, 422, 429, 500, 503)))
        if fault == 2:
            return Reply(200, chance.choice((b"", b"null", b"[]", b"<html>", b"\xff\xfe", b"1")))
        try:
            document = json.loads(reply.body)
        except ValueError:  # the lines of a log
            return Reply(200, reply.body.replace(b" ", b"\n\x00\xff", chance.randrange(4)))
        for _ in range(chance.randrange(1, 4)):
            document = garbled(document, chance) if isinstance(document, dict | list) else document
        return Reply(reply.status, json.dumps(document).encode())

    return answer_badly


@pytest.mark.spec("T3", "T4", "C11")
@pytest.mark.fault("R10", "R15", "R16", "R18", "R33", "R75")
@pytest.mark.parametrize("kind", KINDS)
@example(seed=104547, share=0.2)  # half of a surrogate pair in a log line
@given(seed=st.integers(0, 2**32), share=st.sampled_from((0.2, 0.6, 1.0)))
@settings(max_examples=40, deadline=None)
def test_whatever_a_back_end_answers_is_read_or_is_its_error(
    kind: str, seed: int, share: float
) -> None:
    asked = ask(kind, spoiled(KINDS[kind].full, seed, share))
    codes = {one.code for one in asked.observations if one.envelope is None}
    assert not codes & UNWANTED
    assert None not in codes
    statuses = {status for source, status in asked.coverage() if source.startswith(kind)}
    assert statuses, "the back end is named in the coverage"
    if codes:
        assert asked.release.result is None


@pytest.mark.spec("T4", "G9")
@pytest.mark.fault("R4", "R16", "R18", "R6")
@pytest.mark.parametrize("kind", KINDS)
def test_found_empty_and_failed_are_three_answers(kind: str) -> None:
    """What is well is found; what has nothing is NO_EVIDENCE; what refuses is an error."""
    own = KINDS[kind]
    found = ask(kind, own.full)
    assert EvidenceStatus.EVIDENCE_FOUND in {
        one.envelope.status for one in found.observations if one.envelope
    }
    empty = ask(kind, own.empty)
    assert {one.envelope.status if one.envelope else one.code for one in empty.observations} == {
        EvidenceStatus.NO_EVIDENCE
    }

    def refuse(asked: Seen) -> Reply:
        return own.full(asked) if "selfsubject" in asked.path else failure(403, "Forbidden")

    refused = ask(kind, refuse)
    assert not any(one.envelope for one in refused.observations)
    assert {one.code for one in refused.observations} <= {"HTTP_403", *NOT_THERE}
    assert {status for source, status in refused.coverage() if source.startswith(kind)} <= {
        "unavailable", "failed",
    }  # fmt: skip
