"""The request that asks a model for the next step, or for the report (K10, R40, R45, T6; pure).

The same state gives the same bytes, so that a resumed run finds its recorded answer (K8). Every
result is fenced as data. What does not fit into the bytes that a request may have is told shorter,
oldest first (`react_telling`): by its index line, and where even those find no room, by a line in
one index of the first steps. The ledger itself is never compressed, and what stands in the index
can still be cited. It is looked at anew for every request; no model is asked to summarise, so that
nothing that a model made up can stand where a result stood.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import groupby
from types import MappingProxyType
from typing import Final

from affidavit.agents.react_reading import GIVE_UP_TOOL, WRITE_TOOL
from affidavit.agents.react_telling import in_full, index_line, index_of
from affidavit.contract.agent import AgentState, Observation, ToolSpec
from affidavit.contract.record import format_instant
from affidavit.models.fencing import FENCE_RULE, show_hidden
from affidavit.ports.model import (
    Message,
    ModelRequest,
    ModelToolCall,
    OutputSchema,
    Purpose,
    ToolOffer,
    encode_request,
)

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
    """The request with as much told of its results, newest first, as its bytes hold.

    How many are told in full is found by halving: a request is monotone in their number. Where not
    even index lines fit, so are the first steps that one index tells of.
    """
    plain = _Plan(state, frame, offers, complaint)
    seen = len(state.observations)
    whole = plain.request(seen, purpose)
    if len(encode_request(whole)) <= frame.request_bytes:
        return whole
    if plain.fits(0, purpose):
        return plain.request(_most(seen - 1, lambda full: plain.fits(full, purpose)), purpose)
    return _indexed(plain, purpose)


FACT_CHARS: Final = (160, 60, 0)
"""How much of each first fact the index tells, where the next more does not fit."""


def _indexed(plain: _Plan, purpose: Purpose) -> ModelRequest:
    """The request whose first steps stand in one index, and as many of the last ones in full as
    find room beside it. Raises TooLarge."""
    steps = len(plain.groups)
    for chars in FACT_CHARS:
        bare = replace(plain, indexed=steps, fact_chars=chars)
        if bare.fits(0, purpose):
            break
    else:
        raise TooLarge

    def beside(last: int) -> tuple[_Plan, int]:
        told = sum(len(group) for group in plain.groups[steps - last :])
        return replace(bare, indexed=steps - last), told

    def fits(last: int) -> bool:
        plan, told = beside(last)
        return plan.fits(told, purpose)

    plan, told = beside(_most(steps, fits))
    if told == 0 and replace(plan, indexed=steps - 1).fits(0, purpose):
        plan = replace(plan, indexed=steps - 1)
    return plan.request(told, purpose)


def _most(high: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `high` that fits; none fits worse than zero."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


@dataclass(frozen=True, slots=True)
class _Plan:
    """One way to tell what was seen: the first `indexed` steps in one index, the rest call by
    call."""

    state: AgentState
    frame: Frame
    offers: tuple[ToolOffer, ...]
    complaint: str
    indexed: int = 0
    fact_chars: int = 0
    groups: tuple[tuple[Observation, ...], ...] = field(init=False)

    def __post_init__(self) -> None:
        """The observations, step by step."""
        steps = groupby(self.state.observations, key=lambda item: item.step)
        object.__setattr__(self, "groups", tuple(tuple(items) for _, items in steps))

    def fits(self, full: int, purpose: Purpose) -> bool:
        """Whether the request with so many results in full keeps to its bytes."""
        return len(encode_request(self.request(full, purpose))) <= self.frame.request_bytes

    def request(self, full: int, purpose: Purpose) -> ModelRequest:
        """The request in which the newest `full` results stand whole."""
        closing = _closing(self.state, self.complaint, writes=not self.offers)
        return ModelRequest(
            purpose=purpose,
            system=INVESTIGATE if self.offers else WRITE,
            messages=(
                Message(role="user", text=self._opening()),
                *self._told(len(self.state.observations) - full),
                Message(role="user", text=closing),
            ),
            tools=self.offers,
            output=None if self.offers else self.frame.report,
            max_output_tokens=self.frame.answer_tokens,
        )

    def _opening(self) -> str:
        """The question, and the index of what is told nowhere else."""
        question = _question(self.state)
        if not self.indexed:
            return question
        first = tuple(item for group in self.groups[: self.indexed] for item in group)
        return f"{question}\n{index_of(first, self.fact_chars)}"

    def _told(self, shortened: int) -> Iterator[Message]:
        """Every call after those of the index, and what is told of it; the first ones by their
        index lines."""
        place = sum(len(group) for group in self.groups[: self.indexed])
        for items in self.groups[self.indexed :]:
            asked = self.frame.ask(place, items)
            yield asked
            for item, call in zip(items, asked.calls, strict=True):
                yield self.frame.tell(item, call.id, index_line if place < shortened else in_full)
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
