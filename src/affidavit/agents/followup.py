"""A further question about an incident: what was recorded is read again, and little is asked (I6).

    1  read every record of the earlier run, each by a call of this run
    2  a service is named? → one close look at it, as the playbook looks at a suspect
    3  write the playbook's report; where a service is named, about that service

Deterministic; what it says and how it proves it are the playbook's. What nothing recorded is not
said: then the facts about the incident are all that its user gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from affidavit.agents.playbook import CLOSE
from affidavit.agents.reading import Material, read_material
from affidavit.agents.report import Case, write_report
from affidavit.agents.signals import Ranking, Signal, Support, Suspect, Weights, rank
from affidavit.agents.weighing import shipped_weights
from affidavit.contract.agent import (
    Act,
    AgentState,
    Conclude,
    Decision,
    Observation,
    ToolCallRequest,
)
from affidavit.tools.earlier import PREFIX, EarlierRecord

READ_MAX = 16
"""Records that are read again: as many calls as one step takes, and as a playbook run makes."""


@dataclass(slots=True)
class FollowUp:
    """The agent of a further question; with the records of the earlier run."""

    records: tuple[EarlierRecord, ...]
    name: str = "follow-up"

    async def decide(self, state: AgentState) -> Decision:
        """The next step; see `decide_step`."""
        return decide_step(state, self.records, shipped_weights())


def decide_step(
    state: AgentState, records: tuple[EarlierRecord, ...], weights: Weights
) -> Decision:
    """The next step, as a pure function of what was observed."""
    if not state.observations and not state.must_conclude and records:
        return Act(tuple(_again(record) for record in records[:READ_MAX]))
    seen = replace(state, observations=tuple(_as_recorded(state.observations, records)))
    material = read_material(seen)
    ranking = rank(material.seen, weights)
    focus = services_in(state.request.question, services_of(material, ranking))
    if not state.must_conclude:
        close = tuple(_look(seen, focus))[: state.calls_left]
        if close:
            return Act(close, note="a close look at what is asked about")
    ranking = _about(material, focus) if focus else ranking
    return Conclude(_answer(write_report(Case(seen, material, ranking)), focus))


def _again(record: EarlierRecord) -> ToolCallRequest:
    return ToolCallRequest(f"{PREFIX}{record.tool}", {"call": record.tool_call_id})


def _as_recorded(
    observations: tuple[Observation, ...], records: tuple[EarlierRecord, ...]
) -> Iterator[Observation]:
    """What was read again, by the tool that had recorded it; its call is the one of this run."""
    by_call = {record.tool_call_id: record for record in records}
    for item in observations:
        record = by_call.get(str(item.arguments.get("call")))
        if record is None or not item.tool.startswith(PREFIX):
            yield item
        else:
            yield replace(item, tool=record.tool, arguments=record.arguments)


def services_of(material: Material, ranking: Ranking) -> tuple[str, ...]:
    """Every service that some record names."""
    named = [suspect.service for suspect in ranking.suspects]
    named += [end for call in material.seen.calls for end in call]
    named += [service for service, _ in material.measured]
    return tuple(dict.fromkeys(sorted(named, key=lambda name: (-len(name), name))))


def services_in(question: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The known services that a question names, as whole words; the longest name wins its place."""
    rest, found = question.casefold(), []
    for service in known:
        pattern = rf"(?<![a-z0-9_-]){re.escape(service.casefold())}(?![a-z0-9_-])"
        if service and re.search(pattern, rest):
            found.append(service)
            rest = re.sub(pattern, " ", rest)
    return tuple(found)


def _look(state: AgentState, focus: tuple[str, ...]) -> Iterator[ToolCallRequest]:
    offered = {tool.name for tool in state.tools}
    asked = {(item.tool, item.arguments.get("service")) for item in state.observations}
    for tool in CLOSE:
        for service in focus:
            if tool in offered and (tool, service) not in asked:
                yield ToolCallRequest(tool, {"service": service})


def _about(material: Material, focus: tuple[str, ...]) -> Ranking:
    """Those that were asked about in place of suspects, each with whatever was measured there,
    strongest first; one alone is what the report is about. Nothing here says that it is at fault.
    """
    told = tuple(_measured(material, service) for service in focus)
    kept = tuple(suspect for suspect in told if suspect.supports)
    return Ranking(kept, 0.0, is_separable=len(kept) == 1)


ASKED: Final = 1.0
"""Whoever is asked about weighs as much as any other that is."""


def _measured(material: Material, service: str) -> Suspect:
    strengths: dict[Signal, float] = {}
    for reading in material.seen.readings:
        if reading.service == service:
            known = strengths.get(reading.signal, 0.0)
            strengths[reading.signal] = max(known, reading.strength)
    order = sorted(strengths, key=lambda signal: (-strengths[signal], signal))
    supports = tuple(Support(signal, 0.0, "") for signal in order)
    return Suspect(service, ASKED, supports, None)


def _answer(report: dict[str, object], focus: tuple[str, ...]) -> Mapping[str, object]:
    """The report as an answer: whoever asks about one service is not told to inspect it first; and
    where no recorded name was met, the report says so beside its answer about the whole."""
    if focus:
        return {**report, "recommendations": []}
    limits = report["limitations"]
    told = limits if isinstance(limits, dict) else {}
    return {**report, "limitations": {**told, "missing_info": [*told["missing_info"], UNNAMED]}}


UNNAMED: Final = "the name of a service as the records have it, if the question is about one alone"
"""What a further question about nothing recorded lacks."""
