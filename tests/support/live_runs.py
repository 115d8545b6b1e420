"""A live run whose scripted agent asks given tools once: everything after it is the real thing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.contract.agent import (
    Act,
    AgentRequest,
    AgentState,
    Decision,
    GiveUp,
    Investigator,
    Observation,
    ToolCallRequest,
)
from affidavit.contract.evidence import Envelope, Row, Window
from affidavit.contract.limits import PROFILES
from affidavit.contract.report import ReleaseRecord
from affidavit.diagnose import drive, start
from affidavit.ports.telemetry import Incident, Symptom
from affidavit.settings import Settings
from affidavit.testing.scripted import ScriptedInvestigator
from affidavit.wiring import LiveOrder, live_world, new_run_id

MINUTES = 10


def recent(minutes: int = MINUTES) -> Window:
    """The last minutes, up to now."""
    now = datetime.now(UTC)
    return Window(start=now - timedelta(minutes=minutes), end=now)


def live_settings(hosts: tuple[str, ...], **backends: object) -> Settings:
    """Settings with these back ends, and a way out to these hosts."""
    return Settings(backends=Backends.model_validate(backends), outgoing=OutgoingTable(hosts=hosts))


def incident_of(window: Window, tenant: str = "local") -> Incident:
    """An incident over a window."""
    return Incident(
        id="live",
        title="live",
        question="why?",
        window=window,
        symptom=Symptom(service="checkout"),
        tenant=tenant,
    )


@dataclass(frozen=True)
class Asked:
    """What a run came to, and what its agent saw of each call."""

    release: ReleaseRecord
    observations: tuple[Observation, ...]

    def envelope(self, place: int) -> Envelope:
        """What one call gave. Raises AssertionError where it failed."""
        found = self.observations[place].envelope
        assert found is not None, self.observations[place].code
        return found

    def coverage(self) -> set[tuple[str, str]]:
        """Source and status of each line."""
        return {(line.source, line.status) for line in self.release.coverage.lines}


async def ask_live(settings: Settings, window: Window, *calls: ToolCallRequest) -> Asked:
    """Start and drive a run of the tenant `local` whose agent makes these calls and gives up."""
    seen: list[AgentState] = []

    def leave(state: AgentState) -> Decision:
        seen.append(state)
        return GiveUp("enough")

    script = ScriptedInvestigator([Act(calls), leave])
    release = await _run(_request(window), settings, script)
    return Asked(release, seen[0].observations)


async def investigate(settings: Settings, window: Window, service: str = "") -> ReleaseRecord:
    """The same with the embedded agent."""
    return await _run(_request(window, service), settings, None)


def _request(window: Window, service: str = "") -> AgentRequest:
    return AgentRequest(
        run_id=new_run_id(),
        tenant="local",
        question="What is wrong?",
        limits=PROFILES["standard"],
        window=window,
        source="live",
        symptom_service=service or None,
    )


async def _run(
    request: AgentRequest, settings: Settings, agent: Investigator | None
) -> ReleaseRecord:
    order = LiveOrder(request, settings, {})
    async with live_world(order, MemoryStore(), investigator=agent) as (world, _):
        await start(world, request)
        release = await drive(request.run_id, world)
    assert isinstance(release, ReleaseRecord)
    return release


def cells(envelope: Envelope) -> list[dict[str, object]]:
    """The rows of an envelope: each cell's number or text by its name, and whose it is."""
    return [
        {
            "subject": fact.subject,
            **{c.name: c.quantity.number if c.quantity else c.text for c in fact.cells},
        }
        for fact in envelope.facts
        if isinstance(fact, Row)
    ]
