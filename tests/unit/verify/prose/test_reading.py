"""Shapes of honest sentences that have to pass, and beside each the lies that must not."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support
from tests.support.runs import RUN_ID, TENANT

PRESSURE: dict[str, Any] = {
    "metric": "line_pressure",
    "unit": "kPa",
    "service": "press-4",
    "points": [
        {"t": f"2026-06-02T06:{minute:02d}:00Z", "v": value}
        for minute, value in ((10, 512), (15, 498), (20, 507), (25, 521), (30, 503), (35, 640))
    ],
}
PICKS = (
    " pick_date  |  picks   \n------------+---------\n 2026-05-30 | 410220 \n"
    " 2026-05-31 | 402118 \n 2026-06-01 | 391004 \n 2026-06-02 | 887410 \n(4 rows)\n"
)
CONVEYOR = (
    "2026-06-02T06:31:07Z ERROR motor stalled with fault 71\n"
    "2026-06-02T06:31:12Z WARN  relay opened\n"
    "2026-06-02T06:40:00Z INFO  loader read 'picks_2026-06-01_03.csv'\n"
    "2026-06-02T06:33:40Z INFO  motor running at 1450 rpm\n"
)
LANES = (
    "LANE  DEPTH  READER\n"
    "lane-1  12     reader-a-77c1\n"
    "lane-2  90412  reader-b-51d0\n"
    "lane-3  31     reader-c-90fa\n"
)
SHIFT: dict[str, Any] = {"rows": [{"route": "/labels", "before": 0.8, "after": 61.5},
                                  {"route": "/picks", "before": 14.9, "after": 15.3},
                                  {"route": "/scans", "before": 5.0, "after": 50.2}]}  # fmt: skip


STORE: dict[str, Any] = {"store": "bin-store", "used_slots": 4982, "max_slots": 5000,
                         "open_handles": 12, "max_handles": 400,
                         "lease_not_after": "2026-08-01T00:00:00Z"}  # fmt: skip
DISK = (
    "Filesystem  Size  Used  Avail  Use%  Mounted\n"
    "/dev/sdb1   200G  188G  12G    94%   /scans\n"
    "/dev/sdc1   100G  41G   59G    41%   /labels\n"
)
LIMITS: dict[str, Any] = {"memory_limit": "8Gi", "swap_limit": "2Gi"}


def refusals(text: str, part: str = "analysis") -> list[str]:
    """The codes against a draft whose sentence, action or scope this is; it cites all calls."""
    plain = "Lane lane-2 has a depth of 90412."
    read = read_gate_input(
        {
            "question": "What is wrong in the warehouse?",
            "window": {"start": "2026-06-02T06:00:00Z", "end": "2026-06-02T07:00:00Z"},
            "tool_calls": [
                {"id": "m", "tool": "query_metrics", "status": "success", "result": PRESSURE},
                {"id": "d", "tool": "sql", "status": "success", "result": PICKS},
                {"id": "l", "tool": "kubectl_logs", "status": "success", "result": CONVEYOR,
                 "arguments": {"pod": "hall-conveyor-1"}, "emitter": "workload"},
                {"id": "q", "tool": "list_lanes", "status": "success", "result": LANES},
                {"id": "s", "tool": "store_stats", "status": "success", "result": STORE},
                {"id": "f", "tool": "df", "status": "success", "result": DISK},
                {"id": "c", "tool": "read_limits", "status": "success", "result": LIMITS},
                {"id": "r", "tool": "compare_rates", "status": "success", "result": SHIFT},
            ],
            "draft": {
                "analyses": [
                    {"id": "A1", "kind": "NORMAL", "tool_call_ids": list("mdlqrcsf"),
                     "body": text if part == "analysis" else f"{plain} The memory limit is 8Gi."}
                ],
                "conclusion": {
                    "text": text if part == "conclusion" else plain,
                    "based_on_analysis_ids": ["A1"],
                },
                "action_plan": [{"text": text, "based_on_analysis_ids": ["A1"]}]
                if part == "action" else [],
                "limitations": {"scope": text if part == "scope" else "lanes of the warehouse"},
            },
        }
    )  # fmt: skip
    ledger = supplied_ledger(read, RUN_ID, TENANT)
    draft = check_evidence(read_candidate(read.draft), ledger)
    assert isinstance(draft, VerifiedDraft)
    return [refusal.code.value for refusal in check_support(draft, ledger, read.question).refusals]


HONEST = [
    # What a series kept between, over the window that the sentence names.
    "From 06:10 to 06:30 the line_pressure of press-4 stayed between 498 and 521 kPa.",
    # A row whose only moment is its day stands on that day.
    "From 2026-05-30 to 2026-06-01 each day stayed below 411000 picks.",
    # A multiple is computed from numbers that stand behind it.
    "There were 887410 picks on 2026-06-02, about 2.3 times the 391004 of 2026-06-01.",
    # A thing's number beside a number that is measured.
    "Lane lane-2 has a depth of 90412 and is read by reader-b-51d0.",
    # From a before to an after, told by the names of two fields.
    "The rate of /labels went up from 0.8 to 61.5.",
    "The rate of /labels jumped from 0.8 to 61.5.",
    # The lines of a log are of the thing whose log was read.
    "conveyor-1 logged at 06:31:12 that the relay opened.",
    # The step of a series, and how many readings it has.
    "In the five minutes from 06:25 the line_pressure of press-4 was 521 kPa.",
    "In the six samples the line_pressure of press-4 was at most 640 kPa.",
    # A multiple in one word.
    "The rate of /scans went up about tenfold, from 5.0 to 50.2.",
    # A limit that two numbers of a record show to be reached, or nearly.
    "bin-store is close to its limit of 5000 slots.",
    # A share of a whole that stands behind it.
    "bin-store has 4982 used slots, about 99.6% of the maximum of 5000.",
    # A state in two words, a share in two, a moment in two.
    "/scans is 94% full.",
    "The lease of bin-store is valid until 2026-08-01.",
    # The other rows of a list.
    "lane-2 has a depth of 90412, and the others have 12 and 31.",
    # A file's name that holds a date, and a quotation in single marks.
    "At 06:40:00 the loader read 'picks_2026-06-01_03.csv'.",
    # How long before or after what was told.
    "The motor stalled at 06:31:07. Five seconds later the relay opened.",
    "The relay opened at 06:31:12. Five seconds earlier the motor stalled.",
]
LIES = [
    "From 06:10 to 06:30 the line_pressure of press-4 stayed between 498 and 507 kPa.",
    "From 06:10 to 06:35 the line_pressure of press-4 stayed between 498 and 521 kPa.",
    "From 06:10 to 06:30 the line_pressure of press-4 stayed between 430 and 640 kPa.",
    "From 2026-05-30 to 2026-06-02 each day stayed below 411000 picks.",
    "From 2026-05-30 to 2026-06-01 each day stayed below 400000 picks.",
    "There were 887410 picks on 2026-06-02, about 3.3 times the 391004 of 2026-06-01.",
    "There were 887410 picks on 2026-06-02, about 2.3 times the 391004 of 2026-05-30.",
    "Lane lane-2 has a depth of 12 and is read by reader-b-51d0.",
    "Lane lane-2 has a depth of 90412 and is read by reader-a-77c1.",
    "The rate of /labels went down from 61.5 to 0.8.",
    "The rate of /labels went up from 0.8 to 15.3.",
    "The rate of /picks jumped from 0.8 to 61.5.",
    "In the ten minutes from 06:25 the line_pressure of press-4 was 521 kPa.",
    "In the nine samples the line_pressure of press-4 was at most 640 kPa.",
    "In the six samples the line_pressure of press-4 was at most 521 kPa.",
    "The rate of /scans went up about twentyfold, from 5.0 to 50.2.",
    "The rate of /scans went up about tenfold, from 14.9 to 15.3.",
    "bin-store is close to its limit of 400 handles.",
    "bin-store has 4982 used slots, about 79.6% of the maximum of 5000.",
    "/labels is 94% full.",
    "/scans is 94% free.",
    "The lease of bin-store is valid until 2026-09-01.",
    "The lease of bin-store is valid.",
    "lane-2 has a depth of 90412, and the others have 12 and 33.",
    "lane-1 has a depth of 12, and the others have 12 and 31.",
    "At 06:40:00 the loader read 'picks_2026-06-02_03.csv'.",
    "conveyor-1 logged at 06:31:07 that the relay opened.",
    "conveyor-2 logged at 06:31:12 that the relay opened.",
    "The motor stalled at 06:31:07. Nine seconds later the relay opened.",
    "The motor stalled at 06:31:07. Five seconds earlier the relay opened.",
    "The relay opened at 06:31:12. Five seconds later the motor stalled.",
]


@pytest.mark.spec("M4")
@pytest.mark.parametrize("text", HONEST)
def test_an_honest_sentence_passes(text: str) -> None:
    assert refusals(text) == []


@pytest.mark.spec("M4")
@pytest.mark.parametrize("text", LIES)
def test_its_lying_neighbour_is_refused(text: str) -> None:
    assert refusals(text) != []


@pytest.mark.spec("M4")
def test_a_conclusion_takes_a_whole_phrase_from_what_was_told() -> None:
    assert (
        refusals("Lane lane-2 has a depth of 90412 under a memory limit of 8Gi.", "conclusion")
        == []
    )


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    "text",
    [
        "Lane lane-2 has a depth of 90412 under a memory limit of 4Gi.",
        "Lane lane-2 has a depth of 90412 under a swap limit of 8Gi.",
        "Lane lane-2 has a depth of 90412 under a memory limit of 8Mi.",
        "Lane lane-2 has a depth of 90412 above a lane limit of 8.",
    ],
)
def test_no_phrase_that_says_otherwise(text: str) -> None:
    assert refusals(text, "conclusion") != []


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    "text",
    [
        "Warn 30 minutes before a lane is full.",
        "Raise the limit of lane-2 to 200000.",
        "See why lane-2 has a depth of 90412.",
    ],
)
def test_an_action_may_say_how_much_it_wants(text: str) -> None:
    assert refusals(text, "action") == []


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    "text",
    [
        "Raise the 45 s timeout of lane-2.",
        "See why lane-2 has a depth of 73311.",
        "Restart lane-9.",
    ],
)
def test_what_an_action_takes_for_granted_is_a_fact(text: str) -> None:
    assert refusals(text, "action") != []


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    "text",
    [
        "error logs of hall-conveyor-1, 5xx rate and backlog of lane-2, 06:00 to 07:00",
        "picks from 30 May to 2 June, lanes and rates",
    ],
)
def test_a_scope_names_what_was_looked_at(text: str) -> None:
    assert refusals(text, "scope") == []


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    "text",
    [
        "lanes of the warehouse, where lane-3 is unavailable",
        "hall-conveyor-1 because it failed",
        "lanes from 01:00 to 02:00",
        "lane-9 and its readers",
    ],
)
def test_a_scope_tells_no_state_and_no_cause(text: str) -> None:
    assert refusals(text, "scope") != []
