"""The playbook's report: from a ranking and its facts to a draft that carries its proof (C4). Pure.

Every sentence says what one recorded fact says. Nothing here claims a cause, an order or a path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.agents.changes import leads_of
from affidavit.agents.drafting import (
    Sentence,
    analysis,
    say_abnormal,
    say_absence,
    say_change,
    say_edge,
    say_event,
    say_line,
    say_onset,
)
from affidavit.agents.reading import Material
from affidavit.agents.signals import Ranking, Suspect
from affidavit.contract.agent import AgentState, ObservationKind
from affidavit.contract.evidence import Change, Edge, Line, Onset, Row

SIGNALS_TOLD_MAX: Final = 4
"""Signals told of the place: enough to recognise the fault, few enough to read."""

RIVALS_MAX: Final = 2
"""Suspects told besides the first: those that a reader would ask about."""

CALLERS_MAX: Final = 3
"""Callers told: they show how far it reached."""

LEADS_MAX: Final = 3
"""Changes told; a person looks at three (C9)."""

NO_PLACE: Final = "a signal in which one service stands out"

ABSENCES: Final = {"error_logs": "error line"}
"""Tools whose empty answer about one service is worth a sentence, and what they found none of."""


@dataclass(frozen=True, slots=True)
class Case:
    """All that a report is written from."""

    state: AgentState
    material: Material
    ranking: Ranking

    @property
    def located(self) -> Suspect | None:
        """The first suspect, if it stands out."""
        return self.ranking.suspects[0] if self.ranking.is_separable else None


def write_report(case: Case) -> dict[str, object]:
    """The draft; its conclusion is null where no place stands out."""
    located = case.located
    conclusion = None
    recommendations: list[dict[str, object]] = []
    concluded = conclude(case, located) if located is not None else None
    analyses = list(number_analyses(case))
    if located is not None and concluded is not None:
        sentence = concluded.as_json()
        conclusion = {
            "text": sentence["text"],
            "sentences": [sentence],
            "based_on_analysis_ids": ["A1"],
        }
        advice = f"Inspect {located.service} before the services that call it."
        recommendations = [{"text": advice, "based_on_analysis_ids": ["A1"]}]
    return {
        "analyses": analyses,
        "conclusion": conclusion,
        "action_plan": [],
        "recommendations": recommendations,
        "limitations": {
            "scope": scope_of(case.state),
            "missing_info": list(missing(case.state, conclusion is not None)),
        },
    }


def conclude(case: Case, suspect: Suspect) -> Sentence | None:
    """Where it broke, and the strongest thing that was seen there."""
    changes = changes_of(case.material, suspect)
    abnormal = next((item for item in changes if item.fact.anomalous), None)
    if abnormal is not None:
        return say_abnormal(abnormal.fact, abnormal.tool_call_id)
    told = tell(case.material, suspect)
    return told[0] if told else None


def number_analyses(case: Case) -> Iterator[dict[str, object]]:
    """The analyses, numbered: the place first."""
    groups = [("NORMAL", group) for group in tell_all(case)]
    groups += [("NEGATIVE_OBSERVATION", (sentence,)) for sentence in absences(case.state)]
    for number, (kind, sentences) in enumerate(groups, 1):
        yield analysis(f"A{number}", kind, sentences)


def tell_all(case: Case) -> Iterator[tuple[Sentence, ...]]:
    """The place, who calls it, what else deviates, and which changes came before."""
    located = case.located
    suspects = case.ranking.suspects
    said: set[str] = set()
    if located is not None and (told := tell(case.material, located)):
        said.add(located.service)
        yield told
        for caller, sentences in tell_callers(case, located):
            said.add(caller)
            yield sentences
    rivals = [suspect for suspect in suspects if suspect.service not in said]
    for rival in rivals[:RIVALS_MAX]:
        if told := tell(case.material, rival)[: SIGNALS_TOLD_MAX if located is None else 1]:
            yield told
    if leads := tuple(tell_leads(case)):
        yield leads


@dataclass(frozen=True, slots=True)
class FoundChange:
    """A change with the call that recorded it."""

    tool_call_id: str
    fact: Change


def changes_of(material: Material, suspect: Suspect) -> list[FoundChange]:
    """The changes that speak for a suspect, in the order of what they add to its score."""
    found = (material.measured.get((suspect.service, s.signal)) for s in suspect.supports)
    return [
        FoundChange(item.tool_call_id, item.fact)
        for item in found
        if item is not None and isinstance(item.fact, Change)
    ]


def tell(material: Material, suspect: Suspect) -> tuple[Sentence, ...]:
    """The strongest changes of a suspect, when the first began, and words that it logged."""
    changes = changes_of(material, suspect)[:SIGNALS_TOLD_MAX]
    sentences = [say_change(item.fact, item.tool_call_id) for item in changes]
    for item in changes:
        began = material.onsets.get((suspect.service, item.fact.attribute))
        if began is not None and isinstance(began.fact, Onset):
            sentences.append(say_onset(began.fact, item.fact.direction, began.tool_call_id))
            break
    line = material.lines.get(suspect.service)
    if line is not None and isinstance(line.fact, Line):
        sentences.append(say_line(line.fact, line.tool_call_id))
    return tuple(sentences)


def tell_callers(case: Case, located: Suspect) -> Iterator[tuple[str, tuple[Sentence, ...]]]:
    """Who calls the place, and what was seen there."""
    suspects = {suspect.service: suspect for suspect in case.ranking.suspects}
    said: set[str] = set()
    for item in case.material.edges:
        if not isinstance(item.fact, Edge) or item.fact.target != located.service:
            continue
        caller = item.fact.source
        if caller in said or caller not in suspects or len(said) == CALLERS_MAX:
            continue
        said.add(caller)
        relation = say_edge(item.fact, item.tool_call_id)
        yield caller, (relation, *tell(case.material, suspects[caller])[:1])


def tell_leads(case: Case) -> Iterator[Sentence]:
    """The changes most worth looking at, as they were recorded; none of them is convicted."""
    for found in leads_of(case.state, case.material, case.ranking):
        if isinstance(found.fact, Row):
            sentence = say_event(found.fact, found.tool_call_id)
            if sentence is not None:
                yield sentence


def absences(state: AgentState) -> Iterator[Sentence]:
    """Empty answers about one service, as scoped absences, each once."""
    said: dict[str, Sentence] = {}
    for item in state.observations:
        if item.kind is not ObservationKind.EMPTY or item.scope is None:
            continue
        what = ABSENCES.get(item.tool)
        if what is None or item.scope.service is None or item.tool_call_id is None:
            continue
        sentence = say_absence(item.scope.service, item.scope, what, item.tool_call_id)
        if sentence is not None:
            said.setdefault(sentence.text, sentence)
    yield from said.values()


def scope_of(state: AgentState) -> str:
    """What was asked."""
    asked = sorted({item.tool for item in state.observations if item.envelope is not None})
    return f"{', '.join(asked) or 'nothing'}, over the window of the incident"


def missing(state: AgentState, located: bool) -> Iterator[str]:
    """The answers that did not come, and what would tell the suspects apart."""
    for tool in sorted({item.tool for item in state.observations if item.envelope is None}):
        yield f"the answer of {tool}"
    if not located:
        yield NO_PLACE
