"""HolmesGPT's answer with its tool calls, as the gate's input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from affidavit.contract.errors import InputRefused
from affidavit.importers.holmes_answer import gate_input_of_holmes
from affidavit.tools.supplied import read_gate_input
from tests.support.gates import gated

SAID = "The pod quay-1 is in CrashLoopBackOff."


def called(**changes: Any) -> dict[str, Any]:
    """One tool call as HolmesGPT returns it."""
    return {
        "tool_call_id": "call_1",
        "tool_name": "kubectl_get_by_kind_in_namespace",
        "description": "kubectl get pods -n harbour",
        "result": {
            "schema_version": "robusta:v1.0.0",
            "status": "success",
            "error": None,
            "return_code": 0,
            "data": "NAME     READY   STATUS             RESTARTS\n"
            "quay-1   0/1     CrashLoopBackOff   7",
            "url": None,
            "invocation": "kubectl get pods -n harbour",
            "params": {"kind": "pods", "namespace": "harbour"},
        },
        "size": 71,
        **changes,
    }


def result(**changes: Any) -> dict[str, Any]:
    """A call whose result differs."""
    return called(result={**called()["result"], **changes})


def answer(*calls: object, **changes: Any) -> bytes:
    """An answer with these calls."""
    return json.dumps(
        {
            "analysis": SAID,
            "tool_calls": list(calls) or [called()],
            "conversation_history": [
                {"role": "system", "content": "You are …"},
                {"role": "user", "content": "What is wrong in the harbour?"},
                {"role": "assistant", "content": SAID},
            ],
            **changes,
        }
    ).encode()


@pytest.mark.spec("C12")
def test_an_answer_becomes_the_gate_s_input() -> None:
    """Question, text, and each call with what was asked and what came back."""
    made = gate_input_of_holmes(answer())
    read = read_gate_input(made)
    assert read.question == "What is wrong in the harbour?"
    assert read.answer == SAID
    (call,) = read.tool_calls
    assert (call.id, call.tool) == ("call_1", "kubectl_get_by_kind_in_namespace")
    assert call.status == "success"
    assert call.arguments == {
        "kind": "pods",
        "namespace": "harbour",
        "command": "kubectl get pods -n harbour",
    }
    assert "CrashLoopBackOff" in str(call.result)
    assert read.window is None


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (result(status="no_data", data=None), "no_data"),
        (result(status="error", error="Forbidden", data=None), "error"),
        (result(status="approval_required", data="rm -rf"), "error"),
        (result(status=None), "error"),
        (called(result="plain text"), "success"),
        (called(result=""), "no_data"),
        (called(result=None), "no_data"),
        (called(name="x", tool_name=None, result="y"), None),
    ],
)
@pytest.mark.spec("T4", "C12")
def test_a_status_is_kept_and_what_was_not_executed_is_an_error(
    call: dict[str, Any], status: str | None
) -> None:
    """Nothing that was held for approval counts as seen."""
    if status is None:
        with pytest.raises(InputRefused, match="tool_calls/0/tool_name"):
            gate_input_of_holmes(answer(call))
        return
    (found,) = read_gate_input(gate_input_of_holmes(answer(call))).tool_calls
    assert found.status == status
    if call.get("result") and "rm -rf" in json.dumps(call["result"]):
        assert found.result is None


def test_the_stream_s_name_for_a_tool_is_read_too() -> None:
    call = called()
    call["name"] = call.pop("tool_name")
    made = read_gate_input(gate_input_of_holmes(answer(call)))
    assert made.tool_calls[0].tool == "kubectl_get_by_kind_in_namespace"


def test_the_command_line_s_result_is_an_answer_too() -> None:
    content = json.dumps({"result": SAID, "tool_calls": [called()]}).encode()
    assert gate_input_of_holmes(content, "Why?")["question"] == "Why?"
    with pytest.raises(InputRefused, match="names no question"):
        gate_input_of_holmes(content)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "/: is no JSON"),
        (b"\xff", "/: is no JSON"),
        (b"[]", "/: must be an object"),
        (answer(analysis=None), "/analysis"),
        (answer(tool_calls="none"), "/tool_calls"),
        (answer("none"), "/tool_calls/0"),
        (answer(called(tool_call_id=7)), "/tool_calls/0/tool_call_id"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_place(content: bytes, says: str) -> None:
    with pytest.raises(InputRefused, match=says):
        gate_input_of_holmes(content)


@pytest.mark.spec("C12", "N18")
async def test_a_true_answer_goes_through_the_gate_and_a_false_one_does_not() -> None:
    """From their JSON to our release, whole."""
    true = await gated(gate_input_of_holmes(answer()))
    assert str(true.release.provenance) == "supplied"
    false = await gated(
        gate_input_of_holmes(answer(analysis="The pod quay-1 is healthy because of the tide."))
    )
    assert str(false.release.outcome) != "SUCCESS"
