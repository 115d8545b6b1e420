"""Judges that lie, waver, or say nothing: none of their answers is a verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.contract.states import SemanticVerdict
from affidavit.verify.judges.worksheet import WorksheetRefused, read_verdict, worksheet_schema
from affidavit.verify.sentences import number_sentences
from tests.support.worlds import true_draft

DRAFT = read_candidate(
    {
        **true_draft(),
        "recommendations": [{"text": "Look at checkout.", "based_on_analysis_ids": ["A1"]}],
    }
)
SENTENCES = number_sentences(DRAFT)


def row(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "evidence_ids": ["call_0001"],
        "unsupported_parts": [],
        "issue": "NONE",
        "verdict": "SUPPORTED",
    } | changes


def sheet(*rows: dict[str, Any], verdict: str = "SUPPORTED", **more: Any) -> str:
    whole = rows or tuple(row(item.number) for item in SENTENCES)
    return json.dumps({"sentences": list(whole), "verdict": verdict, "reason": "seen"} | more)


def first(**changes: Any) -> str:
    rest = [row(item.number) for item in SENTENCES[1:]]
    return sheet(row(1, **changes), *rest)


def refused(**changes: Any) -> str:
    """A sheet whose first row is unsupported, and says so over all: one flaw is left to make."""
    rest = [row(item.number) for item in SENTENCES[1:]]
    return sheet(row(1, **UNSUPPORTED | changes), *rest, verdict="UNSUPPORTED")


UNSUPPORTED = {"verdict": "UNSUPPORTED", "issue": "OVERSTATED", "unsupported_parts": ["were 5"]}


@pytest.mark.spec("M2")
def test_the_verdict_is_computed_from_the_rows() -> None:
    assert read_verdict(sheet(), DRAFT).verdict is SemanticVerdict.SUPPORTED
    assert read_verdict(refused(), DRAFT).verdict is SemanticVerdict.UNSUPPORTED
    advice = [row(item.number) for item in SENTENCES[:-2]]
    advice += [row(item.number, evidence_ids=[]) for item in SENTENCES[-2:]]
    assert read_verdict(sheet(*advice), DRAFT).verdict is SemanticVerdict.SUPPORTED


LIES = {
    "supported with unsupported parts": first(unsupported_parts=["were 5"]),
    "supported with an issue": first(issue="CONTRADICTED"),
    "supported by nothing": first(evidence_ids=[]),
    "supported by an unknown call": first(evidence_ids=["call_0099"]),
    "supported over all against a row": first(**UNSUPPORTED),
    "unsupported over all against the rows": sheet(verdict="UNSUPPORTED"),
    "unsupported without words": refused(unsupported_parts=[]),
    "unsupported without an issue": refused(issue="NONE"),
    "unsupported words that nobody wrote": refused(unsupported_parts=["DNS"]),
    "unsupported words that are nothing": refused(unsupported_parts=[""]),
    "a sentence missing": sheet(*[row(item.number) for item in SENTENCES[1:]]),
    "a sentence twice": sheet(row(1), *[row(item.number) for item in SENTENCES]),
    "a sentence that is not there": sheet(row(99), *[row(item.number) for item in SENTENCES]),
    "no rows at all": json.dumps({"sentences": [], "verdict": "SUPPORTED", "reason": "trust me"}),
    "prose around": f"Sure! {sheet()}",
    "a fence around": f"```json\n{sheet()}\n```",
    "an array around": f"[{sheet()}]",
    "a field more": sheet(confidence="1.0"),
    "a verdict of its own": sheet(verdict="MOSTLY_SUPPORTED"),
    "a number as text": first(id="1"),
    "no reason": sheet(reason=""),
    "a reason without end": sheet(reason="x" * 3_000),
    "a doubled key": sheet()[:-1] + ', "verdict": "SUPPORTED"}',
    "silence": "",
    "null": "null",
    "cut": sheet()[:-20],
    "another object": '{"verdict": "SUPPORTED", "reason": "fine"}',
}


@pytest.mark.spec("M2", "M3")
@pytest.mark.parametrize("lie", LIES)
def test_an_answer_that_contradicts_itself_or_the_draft_is_no_answer(lie: str) -> None:
    with pytest.raises(WorksheetRefused):
        read_verdict(LIES[lie], DRAFT)


@pytest.mark.spec("M2")
def test_the_schema_is_strict_at_every_level() -> None:
    def strict(node: Any) -> None:
        if isinstance(node, dict) and node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert set(node["required"]) == set(node["properties"])
        for child in node.values() if isinstance(node, dict) else ():
            if isinstance(child, dict):
                strict(child)

    strict(dict(worksheet_schema().body))
