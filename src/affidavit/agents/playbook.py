"""The playbook: a deterministic agent that needs no model and no key.

Step 1 asks for the topology, a scan of all metrics and all error lines, side by side. Step 2 looks
closely at the first suspects and at what they call. Then it writes an ordinary draft with typed
sentences: *where* it broke and what was seen there. It concludes only when the first suspect
stands clearly before the second, and says so when it cannot tell.

`decide` is a pure function of the observations so far. Deliberately absent: any claim of a cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from affidavit.agents.drafting import (
    Sentence,
    analysis,
    say_abnormal,
    say_absence,
    say_change,
    say_edge,
    say_line,
    signal_name,
)
from affidavit.agents.suspects import (
    Suspect,
    rank_suspects,
    weigh_change,
)
from affidavit.contract.agent import (
    Act,
    AgentState,
    Conclude,
    Decision,
    Observation,
    ObservationKind,
    ToolCallRequest,
)
from affidavit.contract.evidence import Change, Edge, Line

MARGIN_MIN: Final = 0.15
"""How far the first suspect's score must stand before the second's to be published."""

SCORE_MIN: Final = 0.3
"""Below this the strongest abnormality is what noise also reaches."""

SUSPECTS_MAX: Final = 2
"""Looked at closely: the first, and the one that could be it instead."""

SENTENCES_MAX: Final = 3
"""Changes told per service: enough to recognise the fault, few enough to read."""

WEIGHT_MIN: Final = 0.3
"""A change that weighs less is true and tells a reader nothing."""

_FIRST: Final = ("topology", "metric_scan", "error_logs")
_CLOSE: Final = ("metric_scan", "error_logs")


class PlaybookInvestigator:
    """The embedded agent."""

    name = "playbook"

    async def decide(self, state: AgentState) -> Decision:
        """The next step; see `decide_step`."""
        return decide_step(state)


def decide_step(state: AgentState) -> Decision:
    """The next step, as a pure function of what was observed."""
    offered = {tool.name for tool in state.tools}
    if not state.observations and not state.must_conclude:
        return Act(tuple(ToolCallRequest(name, {}) for name in _FIRST if name in offered))
    suspects = rank_suspects(state.observations)
    if not state.must_conclude:
        calls = tuple(_close_look(state, suspects, offered))[: state.calls_left]
        if calls:
            return Act(calls, note="a close look at the first suspects and what they call")
    return Conclude(write_draft(state, suspects))


def _close_look(
    state: AgentState, suspects: tuple[Suspect, ...], offered: set[str]
) -> Iterator[ToolCallRequest]:
    """What was not asked yet about the first suspects and their callees."""
    asked = {(item.tool, item.arguments.get("service")) for item in state.observations}
    entities = [suspect.entity for suspect in suspects[:SUSPECTS_MAX]]
    called = [edge.target for _, edge in _edges(state.observations) if edge.source in entities]
    for tool in _CLOSE:
        for entity in dict.fromkeys((*entities, *called)):
            if tool in offered and (tool, entity) not in asked:
                yield ToolCallRequest(tool, {"service": entity})


def _edges(observations: Iterable[Observation]) -> Iterator[tuple[str, Edge]]:
    for observation in observations:
        if observation.envelope is None or observation.tool_call_id is None:
            continue
        for fact in observation.envelope.facts:
            if isinstance(fact, Edge):
                yield observation.tool_call_id, fact


def write_draft(state: AgentState, suspects: tuple[Suspect, ...]) -> dict[str, object]:
    """The report; its conclusion is null where no place stands out."""
    located = _located(suspects)
    analyses = list(_analyses(state, suspects, located))
    conclusion = None
    recommendations: list[dict[str, object]] = []
    if located is not None and analyses:
        sentence = _conclude(located).as_json()
        conclusion = {
            "text": sentence["text"],
            "sentences": [sentence],
            "based_on_analysis_ids": ["A1"],
        }
        advice = f"Inspect {located.entity} before the services that call it."
        recommendations = [{"text": advice, "based_on_analysis_ids": ["A1"]}]
    return {
        "analyses": analyses,
        "conclusion": conclusion,
        "action_plan": [],
        "recommendations": recommendations,
        "limitations": {
            "scope": _scope(state),
            "missing_info": list(_missing(state, located is not None)),
        },
    }


def _conclude(located: Suspect) -> Sentence:
    """Where it broke, and the strongest thing that was seen there."""
    changes = _changes(located)
    if not changes:
        return _told(located)[0]
    return say_abnormal(changes[0].fact, changes[0].tool_call_id)


def _located(suspects: tuple[Suspect, ...]) -> Suspect | None:
    """The first suspect, if it stands out."""
    if not suspects or suspects[0].score < SCORE_MIN or not _told(suspects[0]):
        return None
    if len(suspects) > 1 and suspects[0].score - suspects[1].score < MARGIN_MIN:
        return None
    return suspects[0]


def _analyses(
    state: AgentState, suspects: tuple[Suspect, ...], located: Suspect | None
) -> Iterator[dict[str, object]]:
    """What was seen at the place, at what calls it, and what was looked for and not found."""
    shown = [located] if located is not None else list(suspects[:SUSPECTS_MAX])
    number = 0
    for suspect in shown:
        if told := _told(suspect):
            number += 1
            yield analysis(f"A{number}", "NORMAL", told)
    if located is not None:
        for sentences in _victims(state, suspects, located):
            number += 1
            yield analysis(f"A{number}", "NORMAL", sentences)
    for sentence in _absences(state):
        number += 1
        yield analysis(f"A{number}", "NEGATIVE_OBSERVATION", (sentence,))


def _told(suspect: Suspect) -> tuple[Sentence, ...]:
    """The strongest changes of a suspect, and words that it logged."""
    changes = [say_change(fact, call) for call, fact in _changes(suspect)[:SENTENCES_MAX]]
    lines = [
        say_line(item.fact, item.tool_call_id)
        for item in suspect.found
        if isinstance(item.fact, Line)
    ]
    return (*changes, *lines[:1])


def _changes(suspect: Suspect) -> list[FoundChange]:
    """The abnormal changes of a suspect, strongest first, one a kind of signal before the rest."""
    weighed = [
        (*weigh_change(item.fact), FoundChange(item.tool_call_id, item.fact))
        for item in suspect.found
        if isinstance(item.fact, Change)
    ]
    weighed.sort(key=lambda told: (-told[1], signal_name(told[2].fact)))
    firsts: dict[str, FoundChange] = {}
    for class_, weight, item in weighed:
        if weight >= WEIGHT_MIN and class_ != "log":
            firsts.setdefault(class_, item)
    return list(firsts.values())


class FoundChange(NamedTuple):
    """A change with the call that recorded it."""

    tool_call_id: str
    fact: Change


def _victims(
    state: AgentState, suspects: tuple[Suspect, ...], located: Suspect
) -> Iterator[tuple[Sentence, ...]]:
    """Who calls the place, and what was seen there."""
    by_entity = {suspect.entity: suspect for suspect in suspects}
    said: set[str] = set()
    for tool_call_id, edge in _edges(state.observations):
        caller = by_entity.get(edge.source)
        if edge.target != located.entity or caller is None or edge.source in said:
            continue
        said.add(edge.source)
        yield (say_edge(edge, tool_call_id), *_told(caller)[:1])


def _absences(state: AgentState) -> Iterator[Sentence]:
    """Empty answers about one service, as scoped absences, each once."""
    said: dict[str, Sentence] = {}
    for item in state.observations:
        if item.kind is not ObservationKind.EMPTY or item.scope is None or item.tool not in _CLOSE:
            continue
        if item.scope.service is None or item.tool_call_id is None:
            continue
        what = "error line" if item.tool == "error_logs" else "comparable metric"
        sentence = say_absence(item.scope.service, item.scope, what, item.tool_call_id)
        if sentence is not None:
            said.setdefault(sentence.text, sentence)
    yield from said.values()


def _scope(state: AgentState) -> str:
    asked = sorted({item.tool for item in state.observations if item.envelope is not None})
    return f"{', '.join(asked) or 'nothing'}, over the window of the incident"


def _missing(state: AgentState, located: bool) -> Iterator[str]:
    for tool in sorted({item.tool for item in state.observations if item.envelope is None}):
        yield f"the answer of {tool}"
    if not located:
        yield "a signal in which one service stands out"
