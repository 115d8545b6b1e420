"""The author's model, asked by the release: ids and numbers, and nothing else is believed."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.contract.errors import ModelFailed
from affidavit.contract.limits import PROFILES, Limits
from affidavit.contract.violations import EvidenceCode, SupportCode, Violation
from affidavit.core.budget import bound_of
from affidavit.ports.model import Finish, ModelAnswer, ModelRequest, Purpose
from affidavit.release.asking import ModelAuthor
from affidavit.release.repair import read_patch
from affidavit.release.withdrawal import WithdrawalQuestion
from affidavit.testing.scripted_model import ScriptedModel, call_tools, say
from affidavit.verify.sentences import number_sentences
from tests.support.worlds import true_draft

pytestmark = pytest.mark.anyio

DRAFT = read_candidate(true_draft())
VIOLATIONS = (
    Violation(code=EvidenceCode.INVOCATION_NOT_FOUND, pointer="/analyses/0/tool_call_ids/0"),
)
QUESTION = WithdrawalQuestion(number_sentences(DRAFT), {1: (next(iter(SupportCode)),)})


class Straight:
    """A door without a run."""

    def __init__(self, *answers: ModelAnswer) -> None:
        self.model = ScriptedModel(answers)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        return await self.model.complete(request)


def author(
    answer: str | Mapping[str, object], limits: Limits = PROFILES["standard"]
) -> tuple[ModelAuthor, Straight]:
    door = Straight(say(answer))
    return ModelAuthor(door, limits), door


@pytest.mark.spec("Q1", "Q2", "K4")
async def test_a_repair_sees_question_draft_and_violations_and_answers_a_patch() -> None:
    patch = [{"pointer": "/analyses/0/tool_call_ids", "ids": ["call_0001"]}]
    told, door = author({"patch": patch})
    text = await told.propose("why?", DRAFT, VIOLATIONS)
    assert read_patch(text)[0].ids == ("call_0001",)
    (asked,) = door.model.asked
    assert (asked.purpose, asked.tools) == (Purpose.REPAIR, ())
    assert asked.max_output_tokens == bound_of(Purpose.REPAIR, PROFILES["standard"]).output_tokens
    for word in ("why?", "INVOCATION_NOT_FOUND", "The errors of checkout were 5."):
        assert word in asked.messages[0].text


@pytest.mark.spec("M6")
async def test_a_withdrawal_sees_the_draft_numbers_and_codes_and_answers_numbers() -> None:
    told, door = author({"withdrawn": [1]})
    assert await told.withdraw(QUESTION) == [1]
    (asked,) = door.model.asked
    assert (asked.purpose, asked.tools) == (Purpose.WITHDRAW, ())
    assert f"1: {next(iter(SupportCode))}" in asked.messages[0].text


@pytest.mark.spec("Q1", "M6", "M3")
@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no json",
        "[1]",
        '{"withdrawn": [1], "patch": []}',
        '{"text": "better words"}',
        "```json\n{}\n```",
    ],
)
async def test_an_answer_of_another_form_is_no_answer(answer: str) -> None:
    told, _ = author(answer)
    with pytest.raises(ModelFailed):
        await told.propose("why?", DRAFT, VIOLATIONS)
    with pytest.raises(ModelFailed):
        await told.withdraw(QUESTION)


@pytest.mark.spec("Q4")
async def test_a_cut_answer_or_a_tool_call_is_no_answer() -> None:
    patch = json.dumps({"patch": []})
    for answer in (say(patch, finish=Finish.LENGTH), call_tools(("probe", {}), text=patch)):
        with pytest.raises(ModelFailed):
            await ModelAuthor(Straight(answer), PROFILES["simple"]).propose("?", DRAFT, VIOLATIONS)


@pytest.mark.spec("Q4", "K4")
async def test_a_draft_that_does_not_fit_is_not_sent() -> None:
    long = true_draft()
    long["recommendations"] = [
        {"text": "x" * 7_000, "based_on_analysis_ids": ["A1"]} for _ in range(5)
    ]
    told, door = author({"patch": []})
    with pytest.raises(ModelFailed) as failed:
        await told.propose("why?", read_candidate(long), VIOLATIONS)
    assert failed.value.code == "REQUEST_TOO_LARGE"
    assert door.model.asked == []
