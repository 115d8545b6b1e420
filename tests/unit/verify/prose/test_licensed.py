"""Words that proved statements license beside their values, and the false ones next to them.

One draft of one sentence each, over results of a harbour, a bakery and a library.
"""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support
from tests.support.runs import RUN_ID, TENANT

BERTHS = (
    "berth     ships  tugs  draught_m  waiting_1h_ago  waiting\n"
    "north-1   31     4     9.1        10288           5120\n"
    "south-2   7      2     6.4        12              12\n"
)
OVEN = {
    "metric": "oven_temperature", "unit": "celsius", "service": "oven-3",
    "points": [{"t": "2031-05-04T01:00:00Z", "v": 180}, {"t": "2031-05-04T01:10:00Z", "v": 182},
               {"t": "2031-05-04T01:20:00Z", "v": 240}, {"t": "2031-05-04T01:30:00Z", "v": 240}],
}  # fmt: skip
SCAN = {
    "findings": [
        {"entity": "lift-3", "signal": "door_time_ms.p95", "direction": "up", "baseline": 84,
         "value": 1487},
        {"entity": "lobby", "signal": "door_time_ms.p95", "direction": "up", "baseline": 90,
         "value": 95},
    ]
}  # fmt: skip
GRAPH = {"edges": [{"from": "kiosk", "to": "locker-api"}, {"from": "locker-api", "to": "door-bus"}]}
LOG = (
    "2031-05-04T01:24:03Z WARN crane-7 hoist latency increased from an average of 812 microseconds "
    "to 19331 microseconds\n"
    "2031-05-04T01:25:09Z WARN crane-7 load cell did not answer within 20 seconds\n"
)
READERS = {"name": "desk-4", "loans": 2210876, "returns": 881223, "desk_nodes": 4, "nodes": 5}
SWITCH = [{"flag": "night-mode", "at": "2031-05-04T01:05:12Z", "from": "off", "to": "on"}]
PARTS = (
    "PARTITION  LAG     OWNER\n"
    "2          218353  picker-1\n"
    "5          211387  picker-1\n"
    "7          12      picker-2\n"
)
EVENTS = (
    "LAST SEEN             TYPE      REASON    OBJECT        MESSAGE\n"
    "2031-05-04T01:40:00Z  Warning   Evicted   pod/mixer-1   The node was low on resource: flour\n"
    "2031-05-04T01:41:00Z  Normal    Pulled    pod/mixer-2   Image already present\n"
)
GATEWAY = {"name": "gate-2", "refused": 338, "refusal_reason": "bad_badge", "open_reason": "drill"}
CALLS = (
    ("events", "kubectl_get_events", EVENTS), ("gate", "get_gate", GATEWAY),
    ("berths", "list_berths", BERTHS), ("oven", "query_metrics", OVEN), ("scan", "scan", SCAN),
    ("graph", "graph", GRAPH), ("log", "fetch_logs", LOG), ("desk", "get_desk", READERS),
    ("flag", "flag_history", SWITCH), ("parts", "list_partitions", PARTS),
)  # fmt: skip


def say(call: str, subject: str, attribute: str, value: object, **more: object) -> dict[str, Any]:
    """A value statement."""
    return {
        "tool_call_id": call,
        "subject": subject,
        "attribute": attribute,
        "value": value,
        **more,
    }


def is_refused(text: str, statements: tuple[dict[str, Any], ...], call: str) -> bool:
    """Whether a draft of this one sentence is refused."""
    sentence = {"text": text, "statements": list(statements)}
    read = read_gate_input(
        {
            "question": "What happened?",
            "window": {"start": "2031-05-04T01:00:00Z", "end": "2031-05-04T02:00:00Z"},
            "tool_calls": [
                {"id": name, "tool": tool, "status": "success", "result": result}
                for name, tool, result in CALLS
            ],
            "draft": {
                "analyses": [{"id": "A", "kind": "NORMAL", "sentences": [sentence],
                              "tool_call_ids": [call]}],
                "conclusion": {"text": text, "sentences": [sentence],
                               "based_on_analysis_ids": ["A"]},
                "limitations": {"scope": "berths, ovens, lifts and desks"},
            },
        }
    )  # fmt: skip
    ledger = supplied_ledger(read, RUN_ID, TENANT)
    draft = check_evidence(read_candidate(read.draft), ledger)
    assert isinstance(draft, VerifiedDraft)
    return bool(check_support(draft, ledger, read.question).refusals)


HALF = {"start": "2031-05-04T01:20:00Z", "end": "2031-05-04T01:30:00Z"}
WAITING = (
    say("berths", "north-1", "waiting", 5120),
    say("berths", "north-1", "waiting_1h_ago", 10288),
)
HOT = (say("oven", "oven-3", "oven_temperature", 240, operator="<=", window=HALF),)
STEPS = (
    say("oven", "oven-3", "oven_temperature", 180, at="2031-05-04T01:00:00Z"),
    say("oven", "oven-3", "oven_temperature", 240, at="2031-05-04T01:20:00Z"),
)
LIFT = (
    {"kind": "change", "tool_call_id": "scan", "subject": "lift-3",
     "attribute": "door_time_ms.p95", "from": 84, "to": 1487, "unit": "ms"},
)  # fmt: skip
PATH = ({"kind": "path", "tool_call_id": "graph", "hops": ["kiosk", "locker-api", "door-bus"]},)
RISE = "crane-7 logged that hoist latency increased from an average of 812 to 19331 microseconds."
HOIST = ({"kind": "quote", "tool_call_id": "log", "text": "latency increased from an average"},)
CELL = ({"kind": "quote", "tool_call_id": "log", "text": "load cell did not answer"},)
LOANS = (say("desk", "desk-4", "loans", 2210876), say("desk", "desk-4", "returns", 881223))
NODES = (say("desk", "desk-4", "desk_nodes", 4), say("desk", "desk-4", "nodes", 5))
MODE = (
    {"kind": "change", "tool_call_id": "flag", "subject": "night-mode", "attribute": "state",
     "from": "off", "to": "on"},
)  # fmt: skip
LAG = (say("parts", "2", "LAG", 218353),)
EVICTED = (
    {"kind": "cause", "tool_call_id": "events", "subject": "node was low on resource: flour",
     "object": "mixer-1 Evicted"},
)  # fmt: skip
REASON = (say("gate", "gate-2", "refusal_reason", "bad_badge"),)
STAYED = (
    {"kind": "change", "tool_call_id": "oven", "subject": "oven-3",
     "attribute": "oven_temperature", "from": 182, "to": 240},
    say("oven", "oven-3", "oven_temperature", 240, window=HALF),
)  # fmt: skip
SHIPS = (
    {"kind": "comparison", "tool_call_id": "berths", "subject": "north-1", "attribute": "ships",
     "operator": ">", "object": "south-2"},
)  # fmt: skip


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("call", "statements", "true", "lies"),
    [
        ("berths", WAITING, "north-1 has 5120 waiting, down from 10288 an hour earlier.",
         ("north-1 has 5120 waiting, up from 10288 an hour earlier.",
          "south-2 has 5120 waiting, down from 10288 an hour earlier.")),
        ("berths", SHIPS, "north-1 has more ships than south-2.",
         ("south-2 has more ships than north-1.", "north-1 has fewer ships than south-2.",
          "north-1 has more tugs than south-2.", "north-1 does not have more ships than south-2.")),
        ("oven", HOT, "From 01:20 to 01:30 the oven_temperature of oven-3 did not rise above 240.",
         ("From 01:20 to 01:30 the oven_temperature of oven-3 did rise above 240.",
          "From 01:20 to 01:30 the oven_temperature of oven-3 did not fall below 240.2.",
          "From 01:00 to 01:30 the oven_temperature of oven-9 did not rise above 240.")),
        ("oven", STEPS, "The oven_temperature of oven-3 jumped between 01:00 and 01:20.",
         ("The oven_temperature of oven-3 dropped between 01:00 and 01:20.",
          "The humidity of oven-3 jumped between 01:00 and 01:20.")),
        ("scan", LIFT, "The door_time_ms.p95 of lift-3 rose from a baseline of 84 ms to 1487 ms.",
         ("The door_time_ms.p95 of lift-3 rose from a baseline of 1487 ms to 84 ms.",
          "The door_time_ms.p95 of lobby rose from a baseline of 84 ms to 1487 ms.",
          "The door_time_ms.p95 of lift-3 fell from a baseline of 84 ms to 1487 ms.")),
        ("events", EVICTED, "mixer-1 was evicted because the node was low on resource flour.",
         ("The node was low on resource flour because mixer-1 was evicted.",
          "mixer-2 was evicted because the node was low on resource flour.",
          "mixer-1 was evicted because the node was low on resource sugar.",
          "mixer-1 was evicted because the node was not low on resource flour.")),
        ("gate", REASON, "The refusal reason of gate-2 is bad_badge.",
         ("The open reason of gate-2 is bad_badge.", "The refusal reason of gate-2 is drill.",
          "gate-2 is closed because of bad_badge.")),
        ("oven", STAYED,
         "The oven_temperature of oven-3 grew from 182 at 01:10 to 240 at 01:20 and stayed there.",
         ("The oven_temperature of oven-3 grew from 182 at 01:10 to 240 at 01:20 and fell again.",
          "The oven_temperature of oven-3 grew from 240 at 01:10 to 182 at 01:20 and stayed there.",
          "The oven_temperature of oven-3 grew from 182 at 01:20 to 240 at 01:10 and kept so.")),
        ("graph", PATH, "kiosk calls locker-api, which calls door-bus.",
         ("door-bus calls locker-api, which calls kiosk.", "kiosk calls door-bus.",
          "kiosk is called by locker-api, which calls door-bus.")),
        ("log", HOIST, RISE, (RISE.replace("812 to 19331", "19331 to 812"),
                              RISE.replace("increased", "decreased"),
                              RISE.replace("crane-7", "crane-9"))),
        ("log", CELL, "The load cell of crane-7 did not answer within 20 seconds.",
         ("The load cell of crane-7 answered within 20 seconds.",)),
        ("desk", LOANS, "At desk-4, loans (2210876) outnumber returns (881223).",
         ("At desk-4, returns (2210876) outnumber loans (881223).",
          "At desk-4, loans (2210876) are outnumbered by returns (881223).",
          "At desk-4, returns (881223) outnumber loans (2210876).")),
        ("desk", NODES, "At desk-4, 4 of its 5 nodes are desk nodes.",
         ("At desk-4, 5 of its 4 nodes are desk nodes.",)),
        ("flag", MODE, "The flag night-mode was switched from off to on at 01:05:12.",
         ("The flag night-mode was switched from on to off at 01:05:12.",)),
        ("parts", LAG, "Partition 2 has a lag of 218353.",
         ("Partition 5 has a lag of 218353.", "Partition 2 has no lag of 218353.",
          "Partition 2 has a lag of 211387.")),
    ],
)  # fmt: skip
def test_a_sentence_says_what_its_statements_prove_and_nothing_else(
    call: str, statements: tuple[dict[str, Any], ...], true: str, lies: tuple[str, ...]
) -> None:
    """Relations, directions, paths and repeated lines pass; each turned round is refused."""
    assert not is_refused(true, statements, call)
    for lie in lies:
        assert is_refused(lie, statements, call), lie
