"""Scoring the gate: real runs of labelled answers, and figures that cannot flatter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.evaluation import gate_scorer
from affidavit.evaluation.gate_cases import Form, GateCase, Label, form_of, read_cases
from affidavit.evaluation.gate_scorer import CaseScore, Finding, GateScore, Trial, score_gate
from affidavit.evaluation.gate_table import render_score, score_json
from affidavit.evaluation.proportions import Share
from tests.support.gates import ASIDE, Report, changed, report

LIE = report(conclusion={"text": "gates-1 had 90 restarts."})


def line(label: str, answer: object, **more: object) -> str:
    """One labelled answer."""
    number = more.pop("id", f"{label}-{len(json.dumps(answer))}")
    return json.dumps({"id": number, "label": label, "input": answer, **more})


def cases(tmp_path: Path, *lines: str) -> tuple[GateCase, ...]:
    """The cases of a file with these lines."""
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_cases((file,))


async def scored(tmp_path: Path, *lines: str) -> GateScore:
    """Their score."""
    return await score_gate(cases(tmp_path, *lines))


async def test_each_label_is_right_in_its_own_way(tmp_path: Path) -> None:
    """Published, held, facts shown, published without the aside."""
    score = await scored(
        tmp_path,
        line("SUPPORTED", report()),
        line("UNSUPPORTED", LIE),
        line("NO_CONCLUSION", changed(report(), conclusion=None)),
        line("WITHDRAWABLE", report(ASIDE)),
    )
    assert [item.is_right for item in score.cases] == [True] * 4
    assert score.balanced_accuracy() == 1
    assert score.false_supported() == Share(0, 1)
    assert score.recall(Label.SUPPORTED, Form.TYPED) == Share(1, 1)
    assert score.recall(Label.WITHDRAWABLE) == Share(1, 1)
    assert score.recall(Label.NO_CONCLUSION) == Share(1, 1)
    milliseconds = score.ms_per_statement()
    assert milliseconds is not None
    assert milliseconds > 0
    assert score.cases[0].plain.statements == 6 + 5


async def test_a_wrong_label_shows_wherever_it_can(tmp_path: Path) -> None:
    """The scorer can fail: each true outcome under a label that it contradicts."""
    score = await scored(
        tmp_path,
        line("UNSUPPORTED", report(), scenario="s", category="kind"),
        line("UNSUPPORTED", report(ASIDE), scenario="s"),
        line("NO_CONCLUSION", report()),
        line("WITHDRAWABLE", report()),
        line("SUPPORTED", LIE),
    )
    assert [item.is_right for item in score.cases] == [False, True, False, False, False]
    assert score.false_supported() == Share(1, 2)
    assert score.false_by_scenario() == Share(1, 1)
    assert score.false_after_withdrawal() == Share(1, 3)
    assert score.asides_published() == Share(1, 1)
    assert score.recall(Label.SUPPORTED) == Share(0, 1)
    plain = score_json(score)
    assert plain["by_category"]["kind"] == {  # type: ignore[index]  # a plain JSON object
        "cases": 1,
        "right": 0,
        "false_supported": 1,
    }
    assert json.loads(json.dumps(plain)) == plain


async def test_an_input_that_is_refused_publishes_nothing(tmp_path: Path) -> None:
    """So it is right where nothing may be published, and wrong where something must."""
    broken = {**report(), "confidence": 1}
    score = await scored(tmp_path, line("UNSUPPORTED", broken), line("SUPPORTED", broken))
    assert [item.plain.finding for item in score.cases] == [Finding.REFUSED] * 2
    assert [item.is_right for item in score.cases] == [True, False]


async def test_what_breaks_is_not_evaluated_and_never_a_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither numerator nor denominator; and the table names it."""

    async def broken(*_: object, **__: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(gate_scorer, "drive", broken)
    score = await scored(tmp_path, line("SUPPORTED", report(), id="one"))
    assert score.evaluated == ()
    assert score.recall(Label.SUPPORTED) == Share(0, 0)
    assert score.balanced_accuracy() is None
    assert score_json(score)["not_evaluated"] == [{"id": "one", "why": "OSError"}]
    assert "Not evaluated\n  one: OSError" in render_score(score)


def test_a_table_says_what_was_measured_and_of_how_many() -> None:
    """Names of a case's author stay on their line."""
    case = GateCase("a\nb", Label.UNSUPPORTED, "kind\nof", "s", Form.PROSE, None)
    trial = Trial(Finding.PUBLISHED, "D1", statements=4, elapsed_ms=8.0)
    table = render_score(GateScore((CaseScore(case, trial, trial),)))
    assert "UNSUPPORTED, published" in table
    assert "1 of 1" in table
    assert "100.0 %" in table
    assert "2.00" in table
    assert "  a b UNSUPPORTED (kind of, prose): PUBLISHED D1" in table
    assert "–" in table


FORMS: list[tuple[Report, Form]] = [
    (report(), Form.TYPED),
    ({"answer": "free"}, Form.FREE_TEXT),
    ({"draft": None}, Form.FREE_TEXT),
    ({"draft": {"analyses": [{"id": "A1", "kind": "NORMAL", "body": "x"}]}}, Form.PROSE),
    ({"draft": {"analyses": "none"}}, Form.PROSE),
    (
        {
            "draft": {
                "analyses": [
                    {"kind": "NORMAL", "body": "x", "statements": [{"value": 1}]},
                    {"kind": "NORMAL", "body": "y"},
                ]
            }
        },
        Form.PARTLY_TYPED,
    ),
    (
        {
            "draft": {
                "analyses": [
                    {"kind": "NORMAL", "body": "x", "statements": [{"value": 1}]},
                    {"kind": "NEGATIVE_OBSERVATION", "body": "y"},
                ]
            }
        },
        Form.TYPED,
    ),
]


@pytest.mark.parametrize(("answer", "form"), FORMS)
def test_how_an_answer_says_what_it_says(answer: Any, form: Form) -> None:
    assert form_of(answer) is form


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "line 1 is no JSON object"),
        ("[]", "line 1 is no JSON object"),
        ('\n{"id": "a", "label": "TRUE", "input": {}}', "line 2 has no label"),
        ('{"label": "SUPPORTED", "input": {}}', "lacks an id"),
        ('{"id": "a", "label": "SUPPORTED"}', "lacks an id or an input"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_line(
    tmp_path: Path, content: str, says: str
) -> None:
    with pytest.raises(InputRefused, match=says):
        cases(tmp_path, content)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="cannot be read"):
        read_cases((tmp_path / "none",))


def test_cases_of_one_incident_are_one_scenario(tmp_path: Path) -> None:
    """By the first name that there is, and by themselves where there is none."""
    found = cases(
        tmp_path,
        line("SUPPORTED", {}, id="a", incident="i1"),
        line("SUPPORTED", {}, id="b", scenario="s1", incident="i1"),
        line("SUPPORTED", {}, id="c"),
    )
    assert [case.scenario for case in found] == ["i1", "s1", "c"]
