"""The request that asks a model for the next step, or for the report (K10, R40, R45, T6; pure).

The same state gives the same bytes, so that a resumed run finds its recorded answer (K8). Every
result is fenced as data. What does not fit into the bytes that a request may have is told by its
index line (tool_call_id, tool, scope, status, first fact), oldest first; the ledger itself is never
compressed, and what stands in the index can still be cited.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    of a report, what is offered, and what was told of a call before (its words never change).

    `told` has at most two entries an observation of the run, in full and by its index line; each
    holds its observation, so that no other can ever stand at the same address.
    """

    request_bytes: int
    answer_tokens: int
    report: OutputSchema
    told: dict[tuple[int, str, str], tuple[Observation, Message]] = field(
        default_factory=dict, repr=False, compare=False
    )
    asked: dict[tuple[int, ...], tuple[tuple[Observation, ...], Message]] = field(
        default_factory=dict, repr=False, compare=False
    )
    offers: dict[str, tuple[ToolSpec, ToolOffer]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def tell(self, item: Observation, wire_id: str, how: Callable[[Observation], str]) -> Message:
        """What is told of a call in that way."""
        key = (id(item), wire_id, how.__name__)
        known = self.told.get(key)
        if known is None:
            message = Message(role="tool", call_id=wire_id, text=how(item))
            known = self.told[key] = (item, message)
        return known[1]

    def ask(self, first: int, items: tuple[Observation, ...]) -> Message:
        """The calls of a step, as the model asked for them; `first` is the first one's place."""
        key = (first, *map(id, items))
        known = self.asked.get(key)
        if known is None:
            calls = tuple(_wire_call(place, item) for place, item in enumerate(items, first))
            known = self.asked[key] = (items, Message(role="assistant", calls=calls))
        return known[1]

    def offer(self, tool: ToolSpec) -> ToolOffer:
        """A tool as the model is offered it."""
        known = self.offers.get(tool.name)
        if known is None or known[0] is not tool:
            offer = ToolOffer(
                name=tool.name, description=tool.description, parameters=tool.arguments
            )
            known = self.offers[tool.name] = (tool, offer)
        return known[1]


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
    offers = (*(frame.offer(tool) for tool in state.tools), *_CONTROLS)
    return _fit(state, frame, Purpose.DECIDE, offers, complaint)


def write_report(state: AgentState, frame: Frame, complaint: str = "") -> ModelRequest:
    """The request for the report: no tools, one object. Raises TooLarge."""
    return _fit(state, frame, Purpose.DECIDE, (), complaint)


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
    question = Message(role="user", text=_question(state))
    closing = Message(role="user", text=_closing(state, complaint, writes=not offers))

    def made(full: int) -> ModelRequest:
        return ModelRequest(
            purpose=purpose,
            system=INVESTIGATE if offers else WRITE,
            messages=(question, *_told(frame, seen, len(seen) - full), closing),
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


def _told(frame: Frame, seen: Sequence[Observation], shortened: int) -> Iterator[Message]:
    """Every call with what is told of it; the first ones by their index lines."""
    place = 0
    for _, group in groupby(seen, key=lambda item: item.step):
        items = tuple(group)
        asked = frame.ask(place, items)
        yield asked
        for item, call in zip(items, asked.calls, strict=True):
            yield frame.tell(item, call.id, index_line if place < shortened else _full)
            place += 1


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


def _wire_call(place: int, item: Observation) -> ModelToolCall:
    arguments = json.dumps(dict(item.arguments), sort_keys=True)
    return ModelToolCall(id=f"s{item.step}c{place + 1}", name=item.tool, arguments=arguments)


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
    shown = envelope.model_dump(mode="json", exclude_none=True, exclude=_LEFT_OUT)
    for name in [name for name in _OPTIONAL if not shown.get(name)]:
        shown.pop(name, None)
    shown["scope"] = _scope(envelope)
    return json.dumps(shown, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


_LEFT_OUT: Final = {"observed_at", "uncertainty_s", "source", "scope"}
"""Left out of the projection as it is told; the scope is written anew."""

_OPTIONAL: Final = ("truncated", "notes")
"""Said only where there is something to say."""


def _scope(envelope: Envelope) -> Mapping[str, object]:
    """The scope, without the tenant: it is nobody's business but the framework's."""
    scope = envelope.scope.model_dump(mode="json", exclude_none=True)
    return {key: value for key, value in scope.items() if key != "tenant"}
