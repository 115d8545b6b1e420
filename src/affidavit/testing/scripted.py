"""Scripted agents and tools: what a test says happens, happens, through the real harness.

A scripted tool is a registered tool whose back end is a function of the test; everything after it,
projection, ledger, guards and release, is the real thing.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from affidavit.contract.agent import AgentState, Decision
from affidavit.contract.evidence import Envelope, Fact, Scope
from affidavit.contract.record import Record
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.core.canonical import canonical_json
from affidavit.tools.catalogue import Tool, ToolContext


@dataclass(slots=True)
class ScriptedInvestigator:
    """Takes its decisions from a list, or from functions of the state; then repeats the last."""

    script: Iterable[Decision | Callable[[AgentState], Decision]]
    name: str = "scripted"
    seen: list[AgentState] = field(default_factory=list)

    async def decide(self, state: AgentState) -> Decision:
        """The next line of the script."""
        self.seen.append(state)
        steps = list(self.script)
        step = steps[min(state.step, len(steps)) - 1]
        return step(state) if callable(step) else step


class ScriptedArguments(Record):
    """The arguments of a scripted tool."""

    service: str | None = None
    query: str = ""


def scripted_tool(
    name: str,
    backend: Callable[[ScriptedArguments], Awaitable[tuple[Fact, ...]]],
    *,
    evidence_class: EvidenceClass = EvidenceClass.OBSERVATION,
    emitter: Emitter = Emitter.PLATFORM,
    timeout_s: float = 30.0,
    polling: bool = False,
) -> Tool[Record]:
    """A registered tool that answers with the facts that `backend` returns; none is NO_EVIDENCE."""

    def scope_of(arguments: Record, context: ToolContext) -> Scope:
        asked = cast("ScriptedArguments", arguments)
        return Scope(
            tenant=context.tenant,
            service=asked.service,
            window=context.window,
            query=asked.query,
        )

    async def fetch(arguments: Record, _: Scope) -> bytes:
        facts = await backend(cast("ScriptedArguments", arguments))
        return canonical_json({"facts": [fact.model_dump(mode="json") for fact in facts]})

    def project(raw: bytes, _: Record, scope: Scope, now: datetime) -> Envelope:
        facts = json.loads(raw)["facts"]
        return envelope_of(
            facts, name=name, scope=scope, now=now, evidence_class=evidence_class, emitter=emitter
        )

    return Tool(
        name=name,
        description=f"scripted {name}",
        source_type=name,
        source=f"{name}-backend",
        evidence_class=evidence_class,
        arguments=ScriptedArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
        timeout_s=timeout_s,
        polling=polling,
    )


def envelope_of(
    facts: list[Mapping[str, object]],
    *,
    name: str,
    scope: Scope,
    now: datetime,
    evidence_class: EvidenceClass,
    emitter: Emitter,
) -> Envelope:
    """The envelope of these facts, read strictly from their JSON form."""
    status = EvidenceStatus.EVIDENCE_FOUND if facts else EvidenceStatus.NO_EVIDENCE
    body = {
        "source_type": name,
        "source": f"{name}-backend",
        "evidence_class": str(evidence_class),
        "emitter": str(emitter),
        "scope": scope.model_dump(mode="json"),
        "status": str(status),
        "count": len(facts),
        "total": len(facts),
        "facts": facts,
        "observed_at": now.isoformat(),
    }
    return Envelope.model_validate_json(json.dumps(body))
