"""Supported reports, changed so that their own evidence refutes them (G10, M4).

The oracle is the table from which the evidence, the report and the change are all made: it knows
what is true without asking any checker. A change that the table refutes must be refused; a change
that leaves the truth as it is must leave the verdict as it is.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from affidavit.affidavit.exact import write_exact
from affidavit.contract.decisions import DecisionId
from affidavit.contract.states import ReleaseOutcome
from affidavit.release.reading import read_draft
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support
from tests.support.gates import Gated, Report, gated

EXAMPLES = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Each example checks several reports of six sentences."""

SERVICES = ("ferry", "dock", "crane", "pilot", "berth")
MINUTES = ("10:05", "10:10", "10:15")
ASIDE = "The harbour master had seen worse."


@dataclass(frozen=True)
class Truth:
    """What is true: the p95 latency of each service in ms, at three minutes, all different."""

    rows: dict[str, tuple[int, int, int]]

    def call(self) -> Report:
        lines = ["timestamp,service,metric,value"]
        lines += [
            f"2031-05-04T{minute}:00Z,{name},latency_p95_ms,{value}"
            for name, values in self.rows.items()
            for minute, value in zip(MINUTES, values, strict=True)
        ]
        return {
            "id": "lat",
            "tool": "query_metrics",
            "arguments": {"metric": "latency_p95_ms"},
            "status": "success",
            "result": "\n".join(lines),
        }

    def holds(self, name: str, minute: str, value: int) -> bool:
        """The oracle of a reading."""
        return self.rows[name][MINUTES.index(minute)] == value

    def rises(self, name: str) -> bool:
        """The oracle of a direction, from the first minute to the last."""
        return self.rows[name][2] > self.rows[name][0]


@dataclass(frozen=True)
class Said:
    """One sentence about one reading."""

    name: str
    minute: str
    value: int
    unit: str = "ms"
    statistic: str = "p95"

    def sentence(self) -> Report:
        statement = {
            "kind": "value",
            "tool_call_id": "lat",
            "subject": self.name,
            "attribute": f"latency_{self.statistic}_ms",
            "value": self.value,
            "unit": self.unit,
            "at": f"2031-05-04T{self.minute}:00Z",
        }
        text = (
            f"latency_{self.statistic}_ms of {self.name} was {self.value} {self.unit} "
            f"at {self.minute}."
        )
        return {"text": text, "tool_call_ids": ["lat"], "statements": [statement]}


def changes(truth: Truth, name: str, *, rises: bool) -> Report:
    """One sentence about a direction."""
    first, _, last = truth.rows[name]
    statement = {
        "kind": "change",
        "tool_call_id": "lat",
        "subject": name,
        "attribute": "latency_p95_ms",
        "from": first,
        "to": last,
        "direction": "up" if rises else "down",
    }
    verb = "rose" if rises else "fell"
    text = f"latency_p95_ms of {name} {verb} from {first} at 10:05 to {last} at 10:15."
    return {"text": text, "tool_call_ids": ["lat"], "statements": [statement]}


def reported(truth: Truth, sentences: list[Report], concluded: Report | None = None) -> Report:
    """A report of these sentences; it concludes with the first of them unless told."""
    end = concluded or sentences[0]
    return {
        "question": "Which services of the harbour are slow?",
        "window": {"start": "2031-05-04T10:00:00Z", "end": "2031-05-04T10:20:00Z"},
        "tool_calls": [truth.call()],
        "draft": {
            "analyses": [
                {"id": "A1", "kind": "NORMAL", "sentences": sentences, "tool_call_ids": ["lat"]}
            ],
            "conclusion": {
                "text": end["text"],
                "sentences": [end],
                "based_on_analysis_ids": ["A1"],
            },
            "limitations": {"scope": "harbour", "missing_info": []},
        },
    }


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    numbers = st.integers(min_value=11, max_value=9_999)
    count = 3 * len(SERVICES)
    values = draw(st.lists(numbers, min_size=count, max_size=count, unique=True))
    rows = {
        name: (values[3 * place], values[3 * place + 1], values[3 * place + 2])
        for place, name in enumerate(SERVICES)
    }
    return Truth(rows)


def readings(truth: Truth) -> list[Said]:
    """Five true readings, one a service."""
    return [Said(name, MINUTES[1], truth.rows[name][1]) for name in SERVICES]


def run(raw: Report, *, withdraw: bool = False) -> Gated:
    return asyncio.run(gated(raw, withdraw=withdraw))


def is_published(raw: Report) -> bool:
    """Whether the release would publish it as it stands: guard and support check, without a
    store (the embedded judge says what the support check says; two tests below run it whole)."""
    given_ = read_gate_input(raw)
    ledger = supplied_ledger(given_, "run_1", "acme")
    verified = check_evidence(read_draft(write_exact(raw["draft"]).encode()), ledger)
    assert isinstance(verified, VerifiedDraft), verified
    return not check_support(verified, ledger, given_.question).refusals


def honest(truth: Truth) -> list[Report]:
    return [item.sentence() for item in readings(truth)]


def other_number(truth: Truth, said: Said) -> Said:
    return Said(said.name, said.minute, said.value + 7)


def other_subject(truth: Truth, said: Said) -> Said:
    return Said(SERVICES[(SERVICES.index(said.name) + 1) % len(SERVICES)], said.minute, said.value)


def other_minute(truth: Truth, said: Said) -> Said:
    return Said(said.name, MINUTES[2], said.value)


def other_unit(truth: Truth, said: Said) -> Said:
    return Said(said.name, said.minute, said.value, unit="s")


def other_statistic(truth: Truth, said: Said) -> Said:
    return Said(said.name, said.minute, said.value, statistic="avg")


READING_CHANGES: dict[str, Callable[[Truth, Said], Said]] = {
    "number": other_number,
    "subject": other_subject,
    "window": other_minute,
    "unit": other_unit,
    "statistic": other_statistic,
}


@pytest.mark.spec("M4", "G10")
@EXAMPLES
@given(truth=truths())
def test_what_the_table_says_is_published(truth: Truth) -> None:
    assert is_published(reported(truth, honest(truth)))


SAID_BEFORE = Truth(
    rows={
        "ferry": (21, 31, 22), "dock": (23, 24, 11), "crane": (12, 13, 14),
        "pilot": (15, 16, 17), "berth": (18, 19, 20),
    }
)  # fmt: skip
"""The number that a lie about the dock gives was told of the ferry one sentence before."""


@pytest.mark.spec("M4")
@pytest.mark.parametrize("kind", sorted(READING_CHANGES))
@EXAMPLES
@example(truth=SAID_BEFORE, place=1)
@given(truth=truths(), place=st.integers(min_value=0, max_value=len(SERVICES) - 1))
def test_a_changed_reading_is_refused(kind: str, truth: Truth, place: int) -> None:
    """Also where the typed statement is left true and only the words are changed, and where the
    lie has no statement at all."""
    said = readings(truth)[place]
    lie = READING_CHANGES[kind](truth, said)
    changed_reading = (lie.unit, lie.statistic) != (said.unit, said.statistic)
    assert changed_reading or not truth.holds(lie.name, lie.minute, lie.value)
    words = {**said.sentence(), "text": lie.sentence()["text"]}
    for wrong in (lie.sentence(), words, {**lie.sentence(), "statements": []}):
        sentences = honest(truth)
        sentences[place] = wrong
        assert not is_published(reported(truth, sentences))


@pytest.mark.spec("M4")
@EXAMPLES
@given(truth=truths(), name=st.sampled_from(SERVICES))
def test_a_reversed_direction_is_refused(truth: Truth, name: str) -> None:
    rises = truth.rises(name)
    assert is_published(reported(truth, [*honest(truth), changes(truth, name, rises=rises)]))
    assert not is_published(
        reported(truth, [*honest(truth), changes(truth, name, rises=not rises)])
    )


@pytest.mark.spec("M4")
@EXAMPLES
@given(truth=truths())
def test_a_changed_quantifier_is_refused(truth: Truth) -> None:
    """That all are above a bound that the table puts in the middle."""
    middle = sorted(values[1] for values in truth.rows.values())[2]
    text = f"latency_p95_ms of all five services was above {middle} ms at 10:10."
    lie = {"text": text, "tool_call_ids": ["lat"], "statements": []}
    assert not is_published(reported(truth, [*honest(truth), lie]))


@pytest.mark.spec("M4", "G11")
@EXAMPLES
@given(truth=truths(), data=st.data())
def test_what_changes_nothing_that_is_true_changes_no_verdict(
    truth: Truth, data: st.DataObject
) -> None:
    """Another true record, another order of sentences and calls, and a second look."""
    raw = reported(truth, honest(truth))
    further: Report = {
        "id": "tides",
        "tool": "get_tides",
        "status": "success",
        "result": {"station": "north", "height_cm": 212},
    }
    more = copy.deepcopy(raw)
    more["tool_calls"].insert(data.draw(st.integers(0, 1)), further)
    mixed = copy.deepcopy(raw)
    mixed["draft"]["analyses"][0]["sentences"] = data.draw(st.permutations(honest(truth)))
    lie = other_number(truth, readings(truth)[0]).sentence()
    false = reported(truth, [*honest(truth)[1:], lie])
    false_more: dict[str, Any] = copy.deepcopy(false)
    false_more["tool_calls"].append(further)
    assert [is_published(item) for item in (raw, raw, more, mixed)] == [True] * 4
    assert [is_published(item) for item in (false, false, false_more)] == [False] * 3


@pytest.mark.spec("M6", "D2b")
@EXAMPLES
@given(truth=truths())
def test_one_aside_is_withdrawn_and_the_rest_is_published(truth: Truth) -> None:
    aside = {"text": ASIDE, "tool_call_ids": ["lat"], "statements": []}
    raw = reported(truth, [*honest(truth), aside])
    assert run(raw).release.outcome is not ReleaseOutcome.SUCCESS
    done = run(raw, withdraw=True).release
    assert done.decision is DecisionId.D2B
    assert done.result is not None
    left = [item.text for item in done.result.analyses[0].sentences]
    assert left == [item["text"] for item in honest(truth)]


@pytest.mark.spec("M6")
@pytest.mark.parametrize("kind", sorted(READING_CHANGES))
@EXAMPLES
@given(truth=truths())
def test_a_lie_in_the_conclusion_is_never_published(kind: str, truth: Truth) -> None:
    lie = READING_CHANGES[kind](truth, readings(truth)[0]).sentence()
    for wrong in (lie, {**lie, "statements": []}):
        raw = reported(truth, honest(truth), wrong)
        assert not is_published(raw)
        assert run(raw, withdraw=True).release.outcome is not ReleaseOutcome.SUCCESS
