"""What a model's answer says, read by rule and never completed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.agents.react_reading import (
    AMBIGUOUS,
    ARGUMENTS,
    CALLS_MAX,
    CUT,
    PLAN,
    Calls,
    GivesUp,
    Report,
    Unreadable,
    Writes,
    read_answer,
)
from affidavit.contract.agent import ToolCallRequest
from affidavit.ports.model import Finish, ModelAnswer, ModelToolCall
from affidavit.testing.scripted_model import call_tools, say

OFFERED = frozenset({"get_logs", "get_metrics"})
DRAFT: dict[str, object] = {"analyses": [], "conclusion": None, "limitations": {"scope": "x"}}
TEXT = json.dumps(DRAFT)
CALL = Calls((ToolCallRequest("get_logs", {"service": "a"}),))


def native(name: str, arguments: str) -> ModelAnswer:
    call = ModelToolCall(id="1", name=name, arguments=arguments)
    return ModelAnswer(calls=(call,), finish=Finish.TOOL_CALLS, model="m")


@pytest.mark.spec("H1")
def test_native_calls_are_calls_and_bounded() -> None:
    assert read_answer(call_tools(("get_logs", {"service": "a"})), OFFERED) == CALL
    many = call_tools(*[("get_logs", {"service": str(place)}) for place in range(50)])
    found = read_answer(many, OFFERED)
    assert isinstance(found, Calls)
    assert len(found.calls) == CALLS_MAX
    assert read_answer(native("get_logs", ""), OFFERED) == Calls((ToolCallRequest("get_logs", {}),))


@pytest.mark.spec("H1")
def test_evidence_comes_before_the_model_s_word_that_it_is_done() -> None:
    both = call_tools(("write_report", {}), ("get_logs", {"service": "a"}))
    assert read_answer(both, OFFERED) == CALL
    assert read_answer(call_tools(("write_report", {})), OFFERED) == Writes()
    assert read_answer(call_tools(("give_up", {"reason": "no data"})), OFFERED) == GivesUp(
        "no data"
    )
    assert read_answer(call_tools(("give_up", {})), OFFERED) == GivesUp("no reason given")


@pytest.mark.fault("R48")
@pytest.mark.spec("Q4")
@pytest.mark.parametrize(
    "arguments",
    [
        *("{", '{"a": 1', "[1]", '"x"', "1", '{"a": NaN}', '{"a": 1e999}', '{"a": 1, "a": 2}'),
        *("null", '{"a": "\\ud800"}', '{"a": ' * 60 + "1" + "}" * 60),
    ],
)
def test_arguments_that_are_no_object_are_not_mended(arguments: str) -> None:
    assert read_answer(native("get_logs", arguments), OFFERED) is ARGUMENTS


@pytest.mark.fault("R53", "R49")
@pytest.mark.spec("Q4")
@pytest.mark.parametrize(
    "text",
    [
        '{"name": "get_logs", "arguments": {"service": "a"}}',
        '{"tool": "get_logs", "parameters": {"service": "a"}}',
        '{"function": {"name": "get_logs", "arguments": "{\\"service\\": \\"a\\"}"}}',
        '[{"name": "get_logs", "args": {"service": "a"}}]',
        '{"tool_calls": [{"function": {"name": "get_logs", "arguments": {"service": "a"}}}]}',
        'I look.\n```json\n{"name": "get_logs", "input": {"service": "a"}}\n```\n',
        '<tool_call>{"name": "get_logs", "arguments": {"service": "a"}}</tool_call>',
    ],
)
def test_a_call_written_as_text_is_a_call(text: str) -> None:
    assert read_answer(say(text), OFFERED) == CALL


@pytest.mark.fault("R52")
@pytest.mark.spec("Q4")
def test_a_text_that_names_no_offered_tool_is_no_call() -> None:
    assert read_answer(say('{"name": "rm", "arguments": {}}'), OFFERED) is PLAN
    assert read_answer(say('{"tool_calls": [{"name": "rm"}]}'), OFFERED) is PLAN


@pytest.mark.fault("R48", "R49")
@pytest.mark.spec("Q4")
@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"  {TEXT}\n",
        f"[{TEXT}]",
        f"```json\n{TEXT}\n```",
        f"Now I have all of it.\n\n```\n{TEXT}\n```\nThat is it.",
        f"See [1] and [the log]: {TEXT}",
    ],
)
def test_one_report_in_any_wrapping_is_that_report(text: str) -> None:
    found = read_answer(say(text), OFFERED)
    assert isinstance(found, Report)
    assert json.loads(found.text) == DRAFT


@pytest.mark.fault("R48", "R50", "R24")
@pytest.mark.spec("Q4")
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (say(TEXT, finish=Finish.LENGTH), CUT),
        (say(TEXT[:-1]), PLAN),
        (say(TEXT[: len(TEXT) // 2]), PLAN),
        (say('{"draft": ' + TEXT), PLAN),
        (say(f"{TEXT} {TEXT}"), AMBIGUOUS),
        (say(f"[{TEXT}, {TEXT}]"), AMBIGUOUS),
        (say("Now investigating the checkout logs."), PLAN),
        (say(""), PLAN),
        (say("[]"), PLAN),
        (say("42"), PLAN),
        (say('{"analyses": [], "analyses": []}'), PLAN),
        (say("[" * 100_000), PLAN),
        (say('{"a":' * 50_000), PLAN),
    ],
)
def test_what_is_cut_doubled_or_no_answer_is_unreadable(
    answer: ModelAnswer, why: Unreadable
) -> None:
    assert read_answer(answer, OFFERED) is why


@pytest.mark.spec("Q4")
@pytest.mark.fault("R48")
@given(st.integers(1, len(TEXT) - 1))
def test_no_beginning_of_a_report_is_ever_a_report(length: int) -> None:
    for wrapped in (TEXT[:length], f"Here: {TEXT[:length]}", f"```json\n{TEXT[:length]}\n```"):
        assert isinstance(read_answer(say(wrapped), OFFERED), Unreadable)


@given(st.text())
def test_any_text_at_all_is_read_without_a_fault(text: str) -> None:
    read_answer(say(text), OFFERED)
