"""Statements over results of many shapes: the true one is proved, its false twins are not."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.contract.violations import SupportCode
from tests.unit.verify.statements.checking import check, evidence_of

NEIGHBOURS = """\
Mesh router identifier 10.9.0.1, local group 77
Peer           Ver  Grp    Heard    Sent   Up/Down    State/Routes
10.9.0.2       2    77     90211    90187  12w4d      118
10.9.0.3       2    81     18812    18800  00:11:12   Idle
10.9.0.4       2    81     18119    18100  3w1d       42
"""
CRATES = """\
crate      slot  kind  state     weight  shelf   hold.reason
north-wing 1     p     STORED    41.5kg  sh-2
north-wing 2     p     WAITING                   NO_SHELF
north-wing 3     p     STORED    39.0kg  sh-7
north-wing 4     p     WAITING                   NO_SHELF
"""
OVENS = """\
name    dough.percent dough.max ram.percent cpu oven.role
oven-a             71       4kg          98  22 dr
oven-b             96       4kg          99  81 dr
oven-c              3       1kg          64   3 m
"""
SCAN = {
    "findings": [
        {"entity": "lift-3", "signal": "door_time_ms.p95", "direction": "up", "baseline": 84,
         "value": 1487, "onset": {"earliest": "2031-05-04T01:08:00Z",
                                  "latest": "2031-05-04T01:09:00Z"}},
        {"entity": "lobby", "signal": "waiting_ratio", "direction": "up", "baseline": 0.01,
         "value": 0.41, "onset": {"earliest": "2031-05-04T01:11:00Z",
                                  "latest": "2031-05-04T01:12:00Z"}},
    ]
}  # fmt: skip
HISTORY = {
    "versions": [
        {"version": 12, "activated_at": "2031-05-04T01:07:30Z",
         "diff": [{"path": "tide.gate", "old": "closed", "new": "open"}]},
        {"version": 11, "activated_at": "2031-05-01T10:14:00Z",
         "diff": [{"path": "tide.limit", "old": "1.1", "new": "1.2"}]},
    ]
}  # fmt: skip
GROUPED = {
    "metric": "berth_moves_total", "statistic": "rate", "unit": "moves/s",
    "series": [{"route": "/dock/a", "before": 21.5, "after": 22.3},
               {"route": "/dock/b", "before": 0.6, "after": 94.0}],
}  # fmt: skip
NESTED = {
    "run": 14, "pieces": 200,
    "slowest_piece": {"piece": 137, "arm": "arm-6", "paint_ml": 48120}, "median_paint_ml": 31,
    "errors": {"east": 5, "west": 7},
}  # fmt: skip
SIZES = "1.2G\t/srv/film\n3.9G\t/srv/sound\n61G\t/srv/scans\n"
ZONE = """\
;; ->>HEADER<<- opcode: QUERY, status: SERVFAIL, id: 40112
; EDE: 7 (Signature Expired): (signature expired for reef.example. DNSKEY)
;; QUESTION SECTION:
;tide.reef.example.  IN A
tide.reef.example. 300 IN A 198.51.100.20
reef.example. 3600 IN RRSIG DNSKEY 13 2 3600 20311021000000 20311007000000 31589 reef.example. x
;; SERVER: 10.8.0.53#53(res-a)
;; WHEN: Sun May 4 01:42:10 UTC 2031
"""
SYSLOG = (
    "May  4 01:16:41 UTC pier-1 %RADIO-3-ABORT: Handshake aborted, peer 10.9.0.3 was silent\n"
    "May  4 01:16:48 UTC pier-1 %MESH-5-LINKCHANGE: neighbor 10.9.0.3 Down\n"
)
FLAGS = [
    {"flag": "slow-doors", "at": "2031-05-04T01:05:12Z", "from": "off", "to": "on", "by": "kim"}
]
ROLLOUT = "2031-05-04T01:03:00Z INFO kiln controller changed mode from bake to cool\n"
SPANS = """\
trace 9e1f  3 spans
span=1 parent=- service=kiosk      op="POST /rent"  start=2031-05-04T01:24:07.100Z dur=15042ms
span=2 parent=1 service=locker-api op="reserve"     start=2031-05-04T01:24:07.104Z dur=15031ms
span=3 parent=2 service=door-bus   op="OPEN 7"      start=2031-05-04T01:24:07.112Z dur=14990ms
"""
MANIFEST = """\
kind: Rig
metadata:
  name: rig-4
spec:
  arms:
  - name: left
    tool: paint:7.2.0
    limits: {torque: 256}
"""


def case(result: object, true: dict[str, Any], *lies: dict[str, Any], tool: str = "look") -> Any:
    """One result, a statement that it proves, and changes to it that it does not."""
    return pytest.param({"tool": tool, "result": result}, true, lies)


@pytest.mark.spec("C4", "M4")
@pytest.mark.parametrize(
    ("call", "true", "lies"),
    [
        case(NEIGHBOURS, {"subject": "10.9.0.3", "attribute": "State/Routes", "value": "Idle"},
             {"subject": "10.9.0.2"}, {"value": "Active"}, {"value": 42}),
        case(NEIGHBOURS, {"subject": "10.9.0.4", "attribute": "Up/Down", "value": "3w1d"},
             {"subject": "10.9.0.2"}, {"value": "3w2d"}),
        case(NEIGHBOURS, {"kind": "count", "subject": "peers", "value": 3}, {"value": 4},
             {"value": 2}),
        case(CRATES, {"kind": "count", "where": {"state": "WAITING"}, "value": 2},
             {"value": 3}, {"where": {"state": "STORED"}, "value": 3}),
        case(CRATES, {"kind": "count", "where": {"hold.reason": "NO_SHELF"}, "value": 2},
             {"value": 1}),
        case(OVENS, {"subject": "oven-b", "attribute": "dough.percent", "value": 96},
             {"subject": "oven-a"}, {"attribute": "ram.percent"}, {"value": 69}),
        case(SCAN, {"kind": "change", "subject": "lift-3", "attribute": "door_time_ms.p95",
                    "from": 84, "to": 1487, "unit": "ms"},
             {"from": 1487, "to": 84}, {"subject": "lobby"}, {"unit": "s"}, {"direction": "down"}),
        case(SCAN, {"kind": "onset", "subject": "lift-3", "attribute": "door_time_ms.p95",
                    "direction": "up",
                    "window": {"start": "2031-05-04T01:08:00Z", "end": "2031-05-04T01:09:00Z"}},
             {"window": {"start": "2031-05-04T01:11:00Z", "end": "2031-05-04T01:12:00Z"}},
             {"direction": "down"}, {"attribute": "door_time_ms.p50"}, {"subject": "lobby"},
             {"at": "2031-05-04T01:30:00Z", "window": None}),
        case(SCAN, {"kind": "order", "subject": "lift-3", "object": "lobby"},
             {"subject": "lobby", "object": "lift-3"}),
        case(HISTORY, {"kind": "change", "subject": "12", "attribute": "tide.gate",
                       "from": "closed", "to": "open"},
             {"from": "open", "to": "closed"}, {"attribute": "tide.limit"}, {"subject": "11"},
             {"direction": "up"}),
        case(GROUPED, {"kind": "change", "subject": "/dock/b", "attribute": "rate", "from": 0.6,
                       "to": 94.0},
             {"subject": "/dock/a"}, {"to": 22.3}, {"attribute": "average"}),
        case(NESTED, {"subject": "piece 137", "attribute": "paint_ml", "value": 48120},
             {"value": 31}),
        case(NESTED, {"subject": "east", "attribute": "errors", "value": 5},
             {"value": 7}, {"subject": "west"}),
        case(SIZES, {"subject": "/srv/scans", "attribute": "size", "value": "61G"},
             {"subject": "/srv/sound"}, {"value": "61M"}, {"value": 3.9, "unit": "G"}),
        case(ZONE, {"subject": "tide.reef.example", "attribute": "status", "value": "SERVFAIL"},
             {"value": "NOERROR"}),
        case(ZONE, {"subject": "tide.reef.example", "attribute": "A", "value": "198.51.100.20"},
             {"value": "198.51.100.21"}, {"attribute": "AAAA"}),
        case(ZONE, {"subject": "reef.example", "attribute": "RRSIG expiration",
                    "value": "2031-10-21T00:00:00Z"},
             {"value": "2031-10-07T00:00:00Z"}, {"attribute": "RRSIG inception"}),
        case(SYSLOG, {"subject": "10.9.0.3", "attribute": "LINKCHANGE", "value": "Down",
                      "at": "2031-05-04T01:16:48Z"},
             {"at": "2031-05-04T01:16:41Z"}, {"value": "Up"}, tool="syslog_search"),
        case(FLAGS, {"kind": "change", "subject": "slow-doors", "attribute": "state",
                     "from": "off", "to": "on"},
             {"from": "on", "to": "off"}, {"attribute": "colour"}, {"subject": "kim-doors"},
             {"to": "kim"}),
        case(ROLLOUT, {"kind": "change", "subject": "kiln", "attribute": "mode", "from": "bake",
                       "to": "cool"},
             {"from": "cool", "to": "bake"}, {"attribute": "heat"}, tool="fetch_logs"),
        case(SPANS, {"kind": "path", "hops": ["kiosk", "locker-api", "door-bus"]},
             {"hops": ["door-bus", "locker-api"]}, {"hops": ["kiosk", "door-bus"]},
             tool="get_trace"),
        case(MANIFEST, {"kind": "quote",
                        "text": "- name: left\n    tool: paint:7.2.0\n    limits: {torque: 256}"},
             {"text": "- name: left\n    tool: paint:7.3.0"}, {"text": "- name: left limits"}),
    ],
)  # fmt: skip
def test_a_statement_is_proved_and_its_false_twins_are_not(
    call: dict[str, Any], true: dict[str, Any], lies: tuple[dict[str, Any], ...]
) -> None:
    """Each shape gives its things their own fields: another thing, field or value is refused."""
    evidence = evidence_of(call)
    assert check(evidence, **true) is None
    for lie in lies:
        changed = {key: value for key, value in {**true, **lie}.items() if value is not None}
        assert check(evidence, **changed) is not None, lie


@pytest.mark.spec("C4")
def test_a_total_of_the_source_counts_for_what_the_call_was_about() -> None:
    """Three lines of 211 were read; the call was about one service, and says how many exist."""
    lines = "\n".join(f"2031-05-04T01:14:2{n}Z WARN ferry gate stuck" for n in range(3))
    call = {"tool": "fetch_logs", "arguments": {"service": "ferry"}, "result": lines, "total": 211}
    evidence = evidence_of(call)
    assert check(evidence, kind="count", subject="ferry", value=211) is None
    assert check(evidence, kind="count", subject="ferry", value=212) is not None
    assert check(evidence, kind="count", subject="gate", value=211) is not None


@pytest.mark.spec("G9")
def test_an_empty_list_of_a_tool_says_that_there_is_none_of_what_it_lists() -> None:
    """`list_moorings` came back empty; about anything else it was not asked."""
    call = {"tool": "list_moorings", "arguments": {"harbour": "east"}, "result": {"moorings": []},
            "status": "no_data"}  # fmt: skip
    evidence = evidence_of({**call, "result": ""})
    assert check(evidence, kind="absence", query="moorings", subject="east") is None
    refused = check(evidence, kind="absence", query="collisions", subject="east")
    assert refused is SupportCode.ABSENCE_TOO_WIDE


@pytest.mark.spec("C4")
def test_an_onset_without_any_moment_is_no_statement() -> None:
    """What began some time says nothing that could be checked."""
    evidence = evidence_of({"tool": "scan", "result": SCAN})
    assert check(evidence, kind="onset", subject="lift-3") is SupportCode.STATEMENT_MALFORMED
