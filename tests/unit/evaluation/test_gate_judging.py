"""A model's verdicts beside the checker's: three figures of the same answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from affidavit.adapters.transcript_model import RecordingModel, ReplayModel
from affidavit.contract.errors import ModelFailed
from affidavit.evaluation.gate_cases import GateCase, Label, read_cases
from affidavit.evaluation.gate_judging import JudgedScore, score_judged
from affidavit.evaluation.gate_scorer import Finding
from affidavit.evaluation.gate_table import judged_json, render_judged
from affidavit.evaluation.proportions import Share
from affidavit.ports.model import model_failure
from affidavit.testing.scripted_model import Line, ScriptedModel, say
from tests.support.gates import ASIDE, Report, changed, report
from tests.support.judges import judging

pytestmark = pytest.mark.anyio

LIE = report(conclusion={"text": "gates-1 had 90 restarts."})
NO_ASIDE = {"relieved": "NOT_IN_EVIDENCE"}

ANSWERS: tuple[tuple[str, Report], ...] = (
    ("SUPPORTED", report()),
    ("SUPPORTED", report(ASIDE)),
    ("UNSUPPORTED", LIE),
    ("UNSUPPORTED", {**report(), "confidence": 1}),
    ("NO_CONCLUSION", changed(report(), conclusion=None)),
    ("WITHDRAWABLE", report(ASIDE)),
)


@pytest.fixture
def cases(tmp_path: Path) -> tuple[GateCase, ...]:
    lines = [
        json.dumps({"id": f"n{place}", "label": label, "input": answer})
        for place, (label, answer) in enumerate(ANSWERS)
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return read_cases((file,))


def found(score: JudgedScore) -> dict[str, list[Finding]]:
    return {name: [item.plain.finding for item in of.cases] for name, of in score.named()}


P, H, R, F = Finding.PUBLISHED, Finding.HELD, Finding.REFUSED, Finding.FACTS_ONLY


@pytest.mark.spec("M4", "M8")
async def test_three_ways_of_deciding_stand_side_by_side(cases: tuple[GateCase, ...]) -> None:
    """A judge that says yes to everything: alone it publishes the lie, beside the checker not."""
    model = ScriptedModel([judging()])
    score = await score_judged(cases, (model,))
    assert found(score) == {
        "checker alone": [P, H, H, R, F, H],
        "judge alone": [P, P, P, R, F, P],
        "both together": [P, P, H, R, F, P],
    }
    assert score.judge.false_supported() == Share(1, 2)
    assert score.both.false_supported() == score.checker.false_supported() == Share(0, 2)
    assert score.both.recall(Label.SUPPORTED) == Share(2, 2)
    assert score.checker.recall(Label.SUPPORTED) == Share(1, 2)
    assert score.both.asides_published() == Share(1, 1)
    plain = judged_json(score)
    assert set(plain) == {"checker", "judge", "both"}
    assert json.loads(json.dumps(plain)) == plain
    table = render_judged(score)
    assert "checker alone" in table
    assert "1/2 50.0 %" in table


@pytest.mark.spec("M3")
async def test_each_question_is_asked_once(cases: tuple[GateCase, ...]) -> None:
    """Whole reports, and what is left of one; equal ones are one question."""
    model = ScriptedModel([judging(NO_ASIDE)])
    score = await score_judged(cases, (model,))
    asked = [item.model_dump_json() for item in model.asked]
    assert len(asked) == len(set(asked)) == 3
    assert score.both.recall(Label.WITHDRAWABLE) == Share(1, 1)
    assert score.judge.recall(Label.WITHDRAWABLE) == Share(0, 1)


@pytest.mark.spec("M3")
async def test_a_judge_that_answers_nonsense_has_failed_and_that_counts(
    cases: tuple[GateCase, ...],
) -> None:
    score = await score_judged(cases, (ScriptedModel([say("SUPPORTED")]),))
    assert len(score.both.evaluated) == len(score.judge.evaluated) == len(cases)
    assert score.both.recall(Label.SUPPORTED) == Share(0, 2)
    assert score.both.cases[0].plain.decision == "D5"


@pytest.mark.parametrize(
    "silent", [model_failure("MODEL_UNREACHABLE"), ModelFailed("gone", code="REPLAY_DRIFT")]
)
async def test_a_judge_that_cannot_be_reached_is_no_score(
    cases: tuple[GateCase, ...], silent: Line
) -> None:
    """Where it is not asked (a refuted, refused or unconcluded report) the case still counts."""
    score = await score_judged(cases, (ScriptedModel([silent]),))
    assert [item.evaluated for item in score.both.cases] == [False, False, True, True, True, False]
    assert [item.evaluated for item in score.judge.cases] == [
        *(False, False, False, True, True, False)
    ]
    assert "no answer of the judge" in score.both.cases[0].plain.why


@pytest.mark.spec("A3")
async def test_a_record_of_a_judge_gives_the_same_figures_again(
    cases: tuple[GateCase, ...], tmp_path: Path
) -> None:
    file = tmp_path / "judge.jsonl"
    live = await score_judged(cases, (RecordingModel(ScriptedModel([judging(NO_ASIDE)]), file),))
    replay = ReplayModel.read(file, strict=True)
    again = await score_judged(cases, (replay,))
    assert found(live) == found(again)
    assert replay.drifts == 0
    assert all(line.used for line in replay.lines)
