"""A run as spans for OpenTelemetry: one more fold of its journal, once it has ended.

    invoke_agent NAME             the whole run
      execute_tool TOOL           each call, from its intent to its end
      chat MODEL                  each attempt at a model

Names follow OpenTelemetry's conventions for generative AI (semantic-conventions 1.37, development
status; all names are in this file). No span holds a question, an argument, a result or a word of a
report: ids, codes, counts and times. Without an SDK in the process nothing is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from affidavit import __version__
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.states import RunState
from affidavit.models.attempts import ANSWERED

NANO_PER_MICRO: Final = 1_000

_ENDS: Final = frozenset({EventType.TOOL_CALL_READY, EventType.TOOL_CALL_ERROR})


@dataclass(frozen=True, slots=True)
class SpanLine:
    """One span below the run's own: times in microseconds since 1970 UTC."""

    name: str
    kind: SpanKind
    start_us: int
    end_us: int
    attributes: dict[str, AttributeValue]
    error: str | None = None


def spans_of(journal: Sequence[Entry]) -> Iterator[SpanLine]:
    """The calls and model attempts of a run, each with its own times."""
    begun: dict[str, Entry] = {}
    asked: dict[tuple[object, object], Entry] = {}
    for entry in journal:
        data = entry.data
        match entry.type:
            case EventType.TOOL_CALL_INTENDED:
                begun.setdefault(str(data["tool_call_id"]), entry)
            case kind if kind in _ENDS and str(data["tool_call_id"]) in begun:
                yield _tool(begun.pop(str(data["tool_call_id"])), entry)
            case EventType.MODEL_CALL_INTENDED:
                asked[data["call"], data["attempt"]] = entry
            case EventType.MODEL_ATTEMPT:
                yield _model(asked.get((data["call"], data["attempt"]), entry), entry)
            case _:
                pass


def _tool(begun: Entry, ended: Entry) -> SpanLine:
    tool, error = str(begun.data["tool"]), ended.data.get("error_code")
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": str(begun.data["tool_call_id"]),
        "affidavit.evidence_status": str(ended.data.get("evidence_status", "ERROR")),
    }
    code = None if error is None else str(error)
    name, kind = f"execute_tool {tool}", SpanKind.INTERNAL
    return SpanLine(name, kind, begun.at_us, ended.at_us, attributes, code)


def _model(begun: Entry, ended: Entry) -> SpanLine:
    model, result = str(ended.data["model"]), str(ended.data["result"])
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.usage.input_tokens": _count(ended.data["tokens_in"]),
        "gen_ai.usage.output_tokens": _count(ended.data["tokens_out"]),
        "affidavit.purpose": str(ended.data["purpose"]),
        "affidavit.attempt": _count(ended.data["attempt"]),
    }
    code = None if result == ANSWERED else result
    return SpanLine(f"chat {model}", SpanKind.CLIENT, begun.at_us, ended.at_us, attributes, code)


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def trace_run(journal: Sequence[Entry]) -> None:
    """Hand a run that has ended to whatever SDK is in this process."""
    if not journal or journal[-1].type is not EventType.RUN_ENDED:
        return
    tracer = trace.get_tracer("affidavit", __version__)
    first, last = journal[0], journal[-1]
    agent, state = str(first.data["agent"]), str(last.data["run_state"])
    root = tracer.start_span(
        f"invoke_agent {agent}",
        kind=SpanKind.INTERNAL,
        start_time=first.at_us * NANO_PER_MICRO,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": agent,
            "gen_ai.conversation.id": first.run_id,
            "affidavit.run_state": state,
            "affidavit.outcome": _outcome(journal),
        },
    )
    below = trace.set_span_in_context(root)
    for line in spans_of(journal):
        span = tracer.start_span(
            line.name,
            context=below,
            kind=line.kind,
            start_time=line.start_us * NANO_PER_MICRO,
            attributes=line.attributes,
        )
        if line.error is not None:
            span.set_attribute("error.type", line.error)
            span.set_status(Status(StatusCode.ERROR))
        span.end(line.end_us * NANO_PER_MICRO)
    if state == RunState.FAILED:
        root.set_status(Status(StatusCode.ERROR))
    root.end(last.at_us * NANO_PER_MICRO)


def _outcome(journal: Sequence[Entry]) -> str:
    for entry in reversed(journal):
        if entry.type is EventType.RELEASE_DECISION:
            return str(entry.data["outcome"])
    return ""
