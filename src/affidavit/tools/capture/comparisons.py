"""Comparisons of the incident with its own quiet time: what every such tool has in common.

The rule of a comparison, its constants and its columns are the adapter's (`*_sql.py`); the tool
turns its rows into facts and says the rule in the notes. A fact's `score` is the row's strength,
as it was computed; whoever reads it compares and never computes it again (M5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

from pydantic import Field

from affidavit.contract.evidence import Envelope, Fact, Quantity, Scope, Window
from affidavit.contract.record import Record
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.ports.telemetry import (
    Answer,
    Comparison,
    ComparisonName,
    Plain,
    SignalName,
    Telemetry,
)
from affidavit.tools.capture.rows import (
    Origin,
    WindowArguments,
    envelope,
    read_raw,
    signal_notes,
    source_notes,
    source_of,
    window_scope,
    write_raw,
)
from affidavit.tools.catalogue import Tool, ToolContext

SIDES: Final = (
    "two views of the window, all of it and its later half, are averaged; the baseline is the "
    "declared quiet window where it holds 5 rows of the key, else that and the 30 min before"
)
"""How telemetry_sql compares; every comparison by rows says so."""

US_PER_MS: Final = Decimal(1000)


class ComparisonArguments(Record):
    """Over which window; every service is compared, since a strength means little alone."""

    window: Window | None = Field(
        default=None, description="a closed span of time; the incident's window when left out"
    )


Project = Callable[[Mapping[str, Plain], Scope], Sequence[Fact]]
Refine = Callable[[Answer, Scope], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Analysis:
    """One comparison as a tool: its name, what it reads, what it says, and its rows as facts."""

    name: str
    question: ComparisonName
    signal: SignalName
    description: str
    rule: str
    facts: Project
    emitter: Emitter = Emitter.PLATFORM


async def as_it_is(answer: Answer, _: Scope) -> Answer:
    """No further question."""
    return answer


def comparison_tool(
    telemetry: Telemetry, analysis: Analysis, refine: Refine = as_it_is
) -> Tool[ComparisonArguments]:
    """A tool over one comparison; `refine` may ask more about the rows that came first."""
    source = source_of(telemetry, analysis.signal)
    origin = Origin(analysis.signal, source, EvidenceClass.OBSERVATION, analysis.emitter)
    rule: dict[str, Plain] = {
        "rule": analysis.rule,
        **signal_notes(telemetry.signals.get(analysis.signal)),
    }

    def scope_of(arguments: ComparisonArguments, context: ToolContext) -> Scope:
        asked = WindowArguments(window=arguments.window)
        query = analysis.name.replace("_", " ")
        return window_scope(telemetry, analysis.signal, context, asked, query)

    async def fetch(_: ComparisonArguments, scope: Scope) -> bytes:
        incident = telemetry.incident
        window = scope.window or incident.window
        answer = await telemetry.ask(Comparison(analysis.question, window, incident.baseline))
        return write_raw(await refine(answer, scope), rule)

    def project(raw: bytes, _: ComparisonArguments, scope: Scope, now: datetime) -> Envelope:
        return _project(raw, origin, analysis.facts, scope, now)

    return Tool(
        name=analysis.name,
        description=analysis.description,
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=ComparisonArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )


def _project(
    raw: bytes, origin: Origin, facts_of: Project, scope: Scope, now: datetime
) -> Envelope:
    answer = read_raw(raw)
    facts: dict[Fact, None] = {}  # a pair of services may stand in two rows
    for row in answer.rows:
        facts.update(dict.fromkeys(facts_of(row, scope)))
    notes = [f"rule: {answer.rule['rule']}", *source_notes(answer.rule)]
    return envelope(origin, scope, tuple(facts), len(facts), notes, now)


def milliseconds(microseconds: Decimal) -> Quantity:
    """A duration as a person reads it."""
    return Quantity(number=microseconds / US_PER_MS, unit="ms")


def direction_of(before: Quantity, after: Quantity) -> Literal["up", "down", "flat"]:
    """Where the number went."""
    if after.number == before.number:
        return "flat"
    return "up" if after.number > before.number else "down"
