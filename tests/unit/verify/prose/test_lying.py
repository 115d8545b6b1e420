"""Plain lies about plain results: each false sentence is refused alone, its true neighbours pass.

A draft of many sentences is refused by any of them; here each lie stands alone in its part of the
report, so that nothing else hides that it passes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support
from tests.support.runs import RUN_ID, TENANT

FOLDER: Final = Path(__file__).parents[3] / "data" / "sentences"
SCENES: Final[dict[str, dict[str, Any]]] = {
    name: json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("kilns", "ferry", "vaults")
}
"""Results of tools of one incident, true and false sentences with the part that they stand in:
an A(nalysis), N(egative observation), C(onclusion), P(lan) or S(cope)."""


def codes(scene: dict[str, Any], part: str, text: str) -> list[str]:
    """Why a report is refused that says this one thing beside a true one."""
    said, plain = {"text": text}, {"text": scene["plain"]}
    negative = scene["negative"]
    calls = [call["id"] for call in scene["calls"] if call["id"] != negative]
    analyses = [
        {"id": "A1", "kind": "NORMAL", "sentences": [said if part == "A" else plain],
         "tool_call_ids": calls}
    ]  # fmt: skip
    if part == "N":
        analyses.append(
            {"id": "N1", "kind": "NEGATIVE_OBSERVATION", "sentences": [said],
             "tool_call_ids": [negative]}
        )  # fmt: skip
    concluded = said if part == "C" else plain
    raw = {
        "question": scene["question"],
        "window": scene["window"],
        "tool_calls": scene["calls"],
        "draft": {
            "analyses": analyses,
            "conclusion": {**concluded, "sentences": [concluded], "based_on_analysis_ids": ["A1"]},
            "action_plan": [{**said, "based_on_analysis_ids": ["A1"]}] if part == "P" else [],
            "limitations": {"scope": text if part == "S" else scene["scope"]},
        },
    }
    read = read_gate_input(raw)
    ledger = supplied_ledger(read, RUN_ID, TENANT)
    draft = check_evidence(read_candidate(read.draft), ledger)
    assert isinstance(draft, VerifiedDraft)
    return [str(item.code) for item in check_support(draft, ledger, read.question).refusals]


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(name, part, text, id=f"{name}: {text}")
        for name, scene in SCENES.items()
        for part, text in scene[kind]
    ]


@pytest.mark.spec("M4", "M5", "C4")
@pytest.mark.parametrize(("scene", "part", "text"), cases("false"))
def test_a_plain_lie_is_refused_alone(scene: str, part: str, text: str) -> None:
    assert codes(SCENES[scene], part, text)


@pytest.mark.spec("M4", "M5")
@pytest.mark.parametrize(("scene", "part", "text"), cases("true"))
def test_the_truth_beside_it_passes(scene: str, part: str, text: str) -> None:
    assert codes(SCENES[scene], part, text) == []
