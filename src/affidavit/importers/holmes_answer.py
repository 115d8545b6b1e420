"""HolmesGPT's answer with its tool calls, as the gate's input.

Three shapes of one thing are read: the result of an investigation (`analysis`, `tool_calls`), of a
chat (the same, with `conversation_history`) and of the command line (`result`, `tool_calls`,
`messages`). A tool call has `tool_call_id`, `tool_name` (or `name`) and `result`: a structured
result (`status`, `data`, `error`, `params`, `invocation`), or in older versions a plain text.

Nothing is added and nothing is decided: a status that is no answer (approval required, a pause)
becomes an error, because nothing was executed. There is no window in such an answer, and none is
invented.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn, TypeGuard

from affidavit.contract.errors import InputRefused
from affidavit.release.reading import read_json

STATUSES: Final = frozenset({"success", "no_data", "error"})
"""What a tool of theirs answers; other words say why it did not."""


def gate_input_of_holmes(content: bytes, question: str = "") -> dict[str, object]:
    """The gate's input (`docs/gate.schema.json`) that an answer amounts to.

    `question` wins over the one that the conversation names. Raises InputRefused
    (HOLMES_ANSWER_REFUSED) with the place of what cannot be read.
    """
    try:
        answer = read_json(content.decode("utf-8-sig"))
    except ValueError:
        _refuse("/", "is no JSON that can be relied on")
    if not isinstance(answer, Mapping):
        _refuse("/", "must be an object")
    text = answer.get("analysis", answer.get("result"))
    if not isinstance(text, str):
        _refuse("/analysis", "must be the text of the answer")
    calls = answer.get("tool_calls") or []
    if not _is_list(calls):
        _refuse("/tool_calls", "must be an array")
    asked = question or _question(answer)
    if not asked:
        _refuse("/", "names no question; give one with --question")
    return {
        "question": asked,
        "agent": "holmesgpt",
        "tool_calls": [_call(call, f"/tool_calls/{place}") for place, call in enumerate(calls)],
        "answer": text,
    }


def _question(answer: Mapping[str, object]) -> str:
    """The last thing that a user said in the conversation, if it is plain text."""
    for name in ("conversation_history", "messages"):
        messages = answer.get(name)
        for message in reversed(messages) if _is_list(messages) else ():
            known = message if isinstance(message, Mapping) else {}
            said = known.get("content")
            if isinstance(said, str) and said.strip() and known.get("role") == "user":
                return said
    return ""


def _call(call: object, at: str) -> dict[str, object]:
    if not isinstance(call, Mapping):
        _refuse(at, "must be an object")
    result = call.get("result")
    made: dict[str, object] = {
        "id": call.get("tool_call_id"),
        "tool": call.get("tool_name", call.get("name")),
    }
    for field, where in (("id", "tool_call_id"), ("tool", "tool_name")):
        if not isinstance(made[field], str):
            _refuse(f"{at}/{where}", "must be a text")
    if not isinstance(result, Mapping) or "status" not in result:
        return made | _unstructured(call, result)
    status = result["status"]
    error = result.get("error")
    made["arguments"] = _arguments(result)
    if status not in STATUSES:
        return made | {"status": "error", "error": f"not executed: {json.dumps(status)[:80]}"}
    made |= {"status": status, "result": _data(result.get("data"))}
    return made | ({"error": error} if isinstance(error, str) else {})


def _unstructured(call: Mapping[str, object], result: object) -> dict[str, object]:
    """A call of an older version: its description is the command, its result a text."""
    described = call.get("description")
    arguments = {"command": described} if isinstance(described, str) and described else {}
    empty = result is None or result in ("", [], {})
    return {
        "arguments": arguments,
        "status": "no_data" if empty else "success",
        "result": "" if result is None else result,
    }


def _arguments(result: Mapping[str, object]) -> dict[str, object]:
    """The parameters; and the command that was run, where a tool ran one."""
    params = result.get("params")
    known = params if isinstance(params, Mapping) else {}
    arguments = {str(key): value for key, value in known.items()}
    command = result.get("invocation")
    if isinstance(command, str) and command and "command" not in arguments:
        arguments["command"] = command
    return arguments


def _data(data: object) -> object:
    return "" if data is None else data


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _refuse(at: str, what: str) -> NoReturn:
    raise InputRefused(
        f"HolmesGPT answer, {at}: {what}",
        code="HOLMES_ANSWER_REFUSED",
        hint="hand in the JSON that HolmesGPT returned, with its tool calls and their results",
    )
