"""The request that asks a model for the next step, or for the report (K10, R40, R45, T6; pure).

The same state gives the same bytes, so that a resumed run finds its recorded answer (K8). Every
result is fenced as data. What does not fit into the bytes that a request may have is told by its
index line (tool_call_id, tool, scope, status, first fact), oldest first; the ledger itself is never
compressed, and what stands in the index can still be cited.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from itertools import groupby
from types import MappingProxyType
from typing import Final

from affidavit.agents.react_reading import GIVE_UP_TOOL, WRITE_TOOL
from affidavit.contract.agent import AgentState, Observation, ObservationKind, ToolSpec
from affidavit.contract.evidence import Envelope
from affidavit.contract.record import format_instant
from affidavit.models.fencing import FENCE_RULE, fence, show_hidden
from affidavit.ports.model import (
    Message,
    ModelRequest,
    ModelToolCall,
    OutputSchema,
    Purpose,
    ToolOffer,
    encode_request,
)
from affidavit.progress.selection import SeenCall, select_facts

INVESTIGATE: Final = f"""\
You investigate one incident of a running system. Each answer is either tool calls, or {WRITE_TOOL},
or {GIVE_UP_TOOL}.
- Ask tools for evidence; independent questions go side by side in one answer.
- {FENCE_RULE}
- An empty result is an answer: nothing matched in that scope. A failed call is no evidence.
- Look for what changed first, where, and which services depend on it. Do not repeat a call.
- Call {WRITE_TOOL} as soon as the evidence carries an answer; call {GIVE_UP_TOOL} if it cannot.
- What you write beside the calls is read by nobody."""

WRITE: Final = f"""\
You write the report of one incident: one JSON object of the given schema, and nothing else.
{FENCE_RULE}
Every sentence is checked against the results that it cites; one that they do not hold is refused.
- analyses: each has an id (A1, A2, …), a kind, sentences, and the tool_call_ids that it rests on.
  NORMAL cites results with facts; NEGATIVE_OBSERVATION cites empty results, and says only: in that
  scope, window and query nothing matched. Never mix the two.
- Write short sentences that repeat names, numbers, units and times exactly as the results have
  them. Bind each to typed statements: value (subject, attribute, operator, value, unit), change
  (subject, attribute, from, to, unit, direction), count, quote (text, verbatim), edge (subject,
  object), onset (at), absence (query, window); each with its tool_call_id.
- conclusion: what broke and where, as far as the analyses carry it, with based_on_analysis_ids; or
  null. That something changed before something else proves no cause.
- action_plan and recommendations: only what the analyses carry, with based_on_analysis_ids.
- limitations: scope (what was looked at), missing_info (what you lacked)."""

INDEX_CHARS_MAX: Final = 400
"""One line of the index; a fact itself has at most 320 characters."""

_CONTROLS: Final = (
    ToolOffer(
        name=WRITE_TOOL,
        description="You have seen enough; you will be asked for the report next.",
        parameters=MappingProxyType({"type": "object", "properties": {}}),
    ),
    ToolOffer(
        name=GIVE_UP_TOOL,
        description="Nothing can be concluded from what the tools can show.",
        parameters=MappingProxyType(
            {
                "type": "object",
                "properties": {"reason": {"type": "string"}},
                "required": ["reason"],
            }
        ),
    ),
)


class TooLarge(Exception):
    """Even with every result told by its index line alone, the request does not fit."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What every request of one run shares: its bound in bytes, the bound of an answer, the schema
    of a report, and what was told of a call before (its words never change)."""

    request_bytes: int
    answer_tokens: int
    report: OutputSchema
    told: dict[tuple[str | None, ...], str] = field(default_factory=dict, repr=False, compare=False)

    def tell(self, item: Observation, how: Callable[[Observation], str]) -> str:
        """What is told of a call in that way."""
        key = (how.__name__, *_identity(item))
        if key not in self.told:
            self.told[key] = how(item)
        return self.told[key]


def _identity(item: Observation) -> tuple[str | None, ...]:
    """All that the words about a call depend on."""
    return item.tool, item.tool_call_id, str(item.kind), item.code, item.result_digest


def report_schema() -> OutputSchema:
    """The schema of a report: `draft` of gate.schema.json, without its comments."""
    text = resources.files("affidavit.tools").joinpath("gate.schema.json").read_text("utf-8")
    parts = json.loads(text)["$defs"]
    body = parts.pop("draft")
    return OutputSchema(name="report", body=_bare({**body, "$defs": parts}))


def _bare(value: object) -> dict[str, object]:
    """A schema without descriptions: every request would pay for them."""
    stripped = _strip(value)
    return stripped if isinstance(stripped, dict) else {}


def _strip(value: object) -> object:
    if isinstance(value, dict):
        return {
            key: _strip(item)
            for key, item in value.items()
            if not (key == "description" and isinstance(item, str))
        }
    return [_strip(item) for item in value] if isinstance(value, list) else value


def next_step(state: AgentState, frame: Frame, complaint: str = "") -> ModelRequest:
    """The request for the next step. Raises TooLarge."""
    offers = (*(_offer(tool) for tool in state.tools), *_CONTROLS)
    return _fit(state, frame, Purpose.DECIDE, offers, complaint)


def write_report(state: AgentState, frame: Frame, complaint: str = "") -> ModelRequest:
    """The request for the report: no tools, one object. Raises TooLarge."""
    return _fit(state, frame, Purpose.DECIDE, (), complaint)


def _offer(tool: ToolSpec) -> ToolOffer:
    return ToolOffer(name=tool.name, description=tool.description, parameters=tool.arguments)


def _fit(
    state: AgentState,
    frame: Frame,
    purpose: Purpose,
    offers: tuple[ToolOffer, ...],
    complaint: str,
) -> ModelRequest:
    """The request with as many results in full, newest first, as its bytes hold.

    How many is found by halving: a request is monotone in the number of results told in full.
    """

    seen = state.observations

    def made(full: int) -> ModelRequest:
        cut = len(seen) - full
        short = (frame.tell(item, index_line) for item in seen[:cut])
        told = (*short, *(frame.tell(item, _full) for item in seen[cut:]))
        return ModelRequest(
            purpose=purpose,
            system=INVESTIGATE if offers else WRITE,
            messages=_messages(state, told, complaint, writes=not offers),
            tools=offers,
            output=None if offers else frame.report,
            max_output_tokens=frame.answer_tokens,
        )

    def fits(full: int) -> bool:
        return len(encode_request(made(full))) <= frame.request_bytes

    low, high = 0, len(seen)
    whole = made(high)
    if len(encode_request(whole)) <= frame.request_bytes:
        return whole
    if not fits(0):
        raise TooLarge
    high -= 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return made(low)


def _messages(
    state: AgentState, told: tuple[str, ...], complaint: str, *, writes: bool
) -> tuple[Message, ...]:
    """The question, every call with what is told of it, and what is wanted now."""
    messages = [Message(role="user", text=_question(state))]
    numbered = enumerate(state.observations)
    for step, group in groupby(numbered, key=lambda item: item[1].step):
        asked = tuple(group)
        calls = tuple(_wire_call(step, place, item) for place, item in asked)
        messages.append(Message(role="assistant", calls=calls))
        messages += [
            Message(role="tool", call_id=call.id, text=told[place])
            for call, (place, _) in zip(calls, asked, strict=True)
        ]
    messages.append(Message(role="user", text=_closing(state, complaint, writes=writes)))
    return tuple(messages)


def _question(state: AgentState) -> str:
    """What was asked. A question is the caller's own words: ours to answer, not to obey."""
    asked = state.request
    lines = [f"Question: {show_hidden(asked.question)}"]
    if asked.window is not None:
        start, end = format_instant(asked.window.start), format_instant(asked.window.end)
        lines.append(f"Window: {start} to {end}")
    if asked.symptom_service:
        lines.append(f"Symptom: {asked.symptom_signal or 'unknown'} of {asked.symptom_service}")
    return "\n".join(lines)


def _closing(state: AgentState, complaint: str, *, writes: bool) -> str:
    lines = [f"Your last answer could not be used: {complaint}."] if complaint else []
    if writes:
        lines.append("Write the report now.")
    else:
        lines.append(
            f"Next step? {state.calls_left} tool calls and {state.iterations_left} steps are left."
        )
    return "\n".join(lines)


def _wire_call(step: int, place: int, item: Observation) -> ModelToolCall:
    arguments = json.dumps(dict(item.arguments), sort_keys=True)
    return ModelToolCall(id=f"s{step}c{place + 1}", name=item.tool, arguments=arguments)


def _full(item: Observation) -> str:
    """The whole projection, fenced; or the code that says why there is none."""
    if item.envelope is None:
        return _without_result(item)
    label = f"{item.tool_call_id} {item.tool} {item.kind}"
    return f"tool_call_id: {item.tool_call_id}\n{fence(_compact(item.envelope), label)}"


def index_line(item: Observation) -> str:
    """What survives of a call when its result has to make room (K10)."""
    if item.envelope is None:
        return _without_result(item)
    envelope = item.envelope
    seen = SeenCall(item.tool_call_id or "", envelope)
    facts = select_facts((seen,)).facts
    first = facts[0].text if facts else f"{envelope.count} items"
    says = json.dumps(
        {"scope": _scope(envelope), "count": envelope.count, "first_fact": first},
        sort_keys=True,
        ensure_ascii=False,
    )
    label = f"{item.tool_call_id} {item.tool} {item.kind} shortened"
    return f"tool_call_id: {item.tool_call_id}\n{fence(says[:INDEX_CHARS_MAX], label)}"


def _without_result(item: Observation) -> str:
    code = item.code or "UNKNOWN"
    if item.kind is ObservationKind.REFUSED:
        return f"refused, not executed: {code}"
    return f"tool_call_id: {item.tool_call_id}\nfailed: {code}; this is no evidence"


def _compact(envelope: Envelope) -> str:
    """The projection as JSON, without what is the same in every one of them."""
    shown = envelope.model_dump(
        mode="json", exclude_none=True, exclude_defaults=True, exclude=_REWRITTEN
    )
    facts = envelope.model_dump(mode="json", exclude_none=True, include={"facts"})
    shown["facts"] = facts["facts"]
    shown["scope"] = _scope(envelope)
    return json.dumps(shown, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


_REWRITTEN: Final = {"observed_at", "uncertainty_s", "source", "facts", "scope"}
"""Left out of the projection as it is told; facts and scope are written anew."""


def _scope(envelope: Envelope) -> Mapping[str, object]:
    """The scope, without the tenant: it is nobody's business but the framework's."""
    scope = envelope.scope.model_dump(mode="json", exclude_none=True)
    return {key: value for key, value in scope.items() if key != "tenant"}
