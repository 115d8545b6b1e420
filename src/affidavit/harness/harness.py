"""`Harness(…).run(…)`: all that a caller writes (H1).

Budget, loop guard, timeout, circuit breaker, permission, approval and audit stand around every run;
the ledger records what tools said; the release publishes what can be traced to it, and nothing
else. A caller says what to look with, who thinks, and what may be spent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from affidavit.adapters.incident_folder import IncidentFolder, load_incident
from affidavit.adapters.process_identity import is_gone, own_holder
from affidavit.adapters.store_url import open_store
from affidavit.adapters.system_clock import SystemClock
from affidavit.affidavit.seal import Sealer
from affidavit.agents.playbook import PlaybookInvestigator
from affidavit.application.minds import ModelMind
from affidavit.contract.agent import AgentRequest, Investigator
from affidavit.contract.errors import InputRefused
from affidavit.contract.evidence import Window
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.contract.journal import Entry
from affidavit.contract.limits import PROFILES, Limits
from affidavit.contract.record import Record
from affidavit.contract.report import ReleaseRecord
from affidavit.core.breaker import Circuits
from affidavit.core.chain import to_us
from affidavit.core.fold import fold
from affidavit.core.run import Driver
from affidavit.diagnose import Paused, World, drive, start
from affidavit.guards.chain import Guard, GuardChain
from affidavit.guards.plugins import load_guards
from affidavit.harness.result import AgentResult, result_of, result_of_pause
from affidavit.harness.tooling import FunctionTool
from affidavit.loop import Collection
from affidavit.models.priced import at_price
from affidavit.models.roster import Roster
from affidavit.ports.clock import Clock
from affidavit.ports.model import Model
from affidavit.ports.policy import ActionPolicy
from affidavit.ports.store import Store
from affidavit.release.examine import Examiner
from affidavit.release.repair import NoRepairer
from affidavit.release.withdrawal import ConsentingAuthor, NoAuthor
from affidavit.settings import Settings
from affidavit.tools.approval_desk import Decision as Said
from affidavit.tools.approval_desk import decide_approval
from affidavit.tools.capture import capture_catalogue
from affidavit.tools.catalogue import Catalogue, Tool
from affidavit.verify.judges.embedded import EmbeddedJudge
from affidavit.wiring import (
    ceilings_of,
    head_signer,
    head_teller,
    models_of,
    new_run_id,
    standard_guards,
)

AnyTool: TypeAlias = FunctionTool[..., Any] | Tool[Record]
"""A function under `@tool`, or a registered tool."""

AnyModel: TypeAlias = str | Model
"""A model's name as after `--model` (`openai:gpt-5`, `exec:COMMAND`, …), or a model."""


@dataclass(slots=True)
class Harness:
    """Runs an agent under the seven guards, and publishes what the ledger proves.

    tools         functions under `@tool`
    incident      an incident folder: its tables become tools, and without a model the playbook
                  investigates it
    model         who investigates; further ones take over when the first is down (H8)
    judge         who judges whether the facts carry the words; without one the embedded judge,
                  which says yes only where it can prove it
    guards        further guards, each in its place by its `order`; a name is one of an installed
                  package (entry point group `affidavit.guards`)
    policy        what may be called by whom; without one, everybody may read
    limits        a profile (simple, standard, research) or `Limits`
    store         where runs live: `memory:`, `sqlite:PATH`, or a store
    investigator  an agent of your own, in place of a model: `decide(state)`
    settings      everything else that can be set; the files and variables of the command line are
                  not read here
    clock         time, where a test owns it
    circuits      the breakers of models and back ends, to share them with other harnesses
    """

    tools: Sequence[AnyTool] = ()
    incident: str | Path | None = None
    model: AnyModel | Sequence[AnyModel] | None = None
    judge: AnyModel | Sequence[AnyModel] | None = None
    guards: Sequence[Guard | str] = ()
    policy: ActionPolicy | None = None
    limits: str | Limits = "standard"
    store: str | Store = "memory:"
    investigator: Investigator | None = None
    settings: Settings = field(default_factory=Settings)
    clock: Clock = field(default_factory=SystemClock)
    circuits: Circuits | None = None
    _store: Store = field(init=False, repr=False)
    _circuits: Circuits = field(init=False, repr=False)
    _authors: tuple[Model, ...] = field(init=False, repr=False)
    _judges: tuple[Model, ...] = field(init=False, repr=False)
    _own: tuple[Tool[Record], ...] = field(init=False, repr=False)
    _chain: GuardChain = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse now what could not run later: names, orders of guards, missing thinkers."""
        self._own = tuple(
            item.tool if isinstance(item, FunctionTool) else item for item in self.tools
        )
        self._authors = _opened(self.model, self.settings)
        self._judges = _opened(self.judge, self.settings)
        if self._authors and self.investigator:
            raise InputRefused(
                "a model and an investigator cannot both decide",
                code="INVESTIGATOR_AMBIGUOUS",
                hint="give the harness one of them",
            )
        if not (self._authors or self.investigator or self.incident):
            raise InputRefused(
                "nobody investigates",
                code="INVESTIGATOR_MISSING",
                hint="give the harness a model, an investigator, or an incident folder",
            )
        self.limits_of(self.limits)
        self._guards_over(Catalogue.of(self._own))
        self._store = open_store(self.store) if isinstance(self.store, str) else self.store
        self._circuits = self.circuits or Circuits(self.clock)

    async def run(
        self,
        request: str | AgentRequest,
        *,
        window: Window | None = None,
        tenant: str = LOCAL_TENANT,
        requested_by: str = "local",
        roles: Iterable[str] = (),
    ) -> AgentResult:
        """Ask a question, and get the one public answer, whatever it is.

        A request whose run exists goes on where it was; one that has ended returns its stored
        answer, and executes nothing (K8). Raises InputRefused for what cannot be started, and
        RecordFailed when something could not be recorded: nothing was decided then (L5).
        """
        async with self._opened_incident() as incident:
            if isinstance(request, AgentRequest):
                asked = request
            else:
                asked = self._request(request, incident, window)
                asked = AgentRequest.model_validate(
                    asked.model_dump()
                    | {"tenant": tenant, "requested_by": requested_by, "roles": tuple(roles)}
                )
            world = self._world(incident, asked)
            if await self._store.head(asked.run_id) is None:
                await start(world, asked)
            return await self._finish(await drive(asked.run_id, world))

    async def start(self, request: AgentRequest) -> None:
        """The run exists, durably, and nothing of it was executed yet; `resume` drives it."""
        async with self._opened_incident() as incident:
            await start(self._world(incident, request), request)

    async def resume(self, run_id: str) -> AgentResult:
        """Go on with a run that waits or lost its process; what was recorded is reused."""
        lines = await self._store.read(run_id)
        content = None
        if lines:
            content = await self._store.artifact(run_id, str(lines[0].data["request_digest"]))
        if content is None:
            raise InputRefused(f"there is no run {run_id!r} to go on with", code="RUN_UNKNOWN")
        return await self.run(AgentRequest.model_validate_json(content))

    async def approve(self, run_id: str, tool_call_id: str, *, by: str) -> None:
        """Let exactly the action that waits happen, once; then `resume` (H10).

        Raises InputRefused where the decision does not count: `by` is the requester or the agent,
        it was decided already, or its time is over.
        """
        await self._decide(run_id, tool_call_id, by, approved=True)

    async def reject(self, run_id: str, tool_call_id: str, *, by: str) -> None:
        """Refuse the action that waits; the run goes on without it. Raises as `approve` does."""
        await self._decide(run_id, tool_call_id, by, approved=False)

    async def cancel(self, run_id: str, *, by: str = "local") -> None:
        """End a run, also one that another process drives; it ends as CANCELLED."""
        await self._store.post(run_id, "cancel", by)

    async def journal(self, run_id: str) -> tuple[Entry, ...]:
        """Every line of a run: each gate that it passed, in order."""
        return await self._store.read(run_id)

    async def aclose(self) -> None:
        """Close the store that the harness opened; one that was given stays open."""
        if isinstance(self.store, str):
            await self._store.close()

    def limits_of(self, limits: str | Limits) -> Limits:
        """The limits of a run. Raises InputRefused (LIMITS_UNKNOWN) for an unknown profile."""
        if isinstance(limits, Limits):
            return limits
        if limits not in PROFILES:
            raise InputRefused(
                f"there is no profile of limits {limits!r}",
                code="LIMITS_UNKNOWN",
                hint=f"use one of {', '.join(PROFILES)}, or Limits(…)",
            )
        return self.settings.agent.limits.of(limits)

    @asynccontextmanager
    async def _opened_incident(self) -> AsyncIterator[IncidentFolder | None]:
        if self.incident is None:
            yield None
            return
        incident = load_incident(Path(self.incident))
        try:
            yield incident
        finally:
            incident.close()

    def _request(
        self, question: str, incident: IncidentFolder | None, window: Window | None
    ) -> AgentRequest:
        told = None if incident is None else incident.incident
        asked = AgentRequest(
            run_id=new_run_id(),
            tenant=LOCAL_TENANT,
            question=question or (told.question if told else ""),
            limits=self.limits_of(self.limits),
            profile=self.limits if isinstance(self.limits, str) else "own",
            window=window or (told.window if told else None),
        )
        if told is None:
            return asked
        more: Mapping[str, object] = {
            "incident": told.id,
            "source": str(Path(str(self.incident)).resolve()),
            "symptom_service": told.symptom.service,
            "symptom_signal": told.symptom.signal,
        }
        return AgentRequest.model_validate({**asked.model_dump(), **more})

    def _world(self, incident: IncidentFolder | None, asked: AgentRequest) -> World:
        catalogue = Catalogue.of(self._own)
        if incident is not None:
            captured = capture_catalogue(incident)
            catalogue = Catalogue.of((*captured.tools.values(), *self._own), captured.unavailable)
        is_ours = self.investigator is None
        collection = Collection(
            investigator=self.investigator or PlaybookInvestigator(),
            catalogue=catalogue,
            guards=self._guards_over(catalogue),
            circuits=self._circuits,
        )
        examiner = Examiner(
            judge=EmbeddedJudge(),
            repairer=NoRepairer(),
            author=ConsentingAuthor() if is_ours else NoAuthor(),
        )
        driver = Driver(own_holder(), self._store, self.clock, is_gone=is_gone)
        sealer, tell = Sealer(head_signer(self.settings)), head_teller(self.settings)
        world = World(driver, collection, examiner, sealer, tell=tell)
        if not (self._authors or self._judges):
            return world
        ceilings = ceilings_of(self._store, self.settings)
        return ModelMind(Roster(self._authors, self._judges), ceilings).named(world, asked)

    def _guards_over(self, catalogue: Catalogue) -> GuardChain:
        agent = self.settings.agent
        named = [item for item in self.guards if isinstance(item, str)]
        given = [item for item in self.guards if not isinstance(item, str)]
        further = (*given, *load_guards((*agent.guard_plugins, *named)))
        return standard_guards(catalogue.specs(), agent.guard, further, self.policy)

    async def _finish(self, driven: ReleaseRecord | Paused) -> AgentResult:
        if isinstance(driven, Paused):
            return result_of_pause(driven, fold(await self._store.read(driven.run_id)))
        kept = await self._store.artifacts(driven.run_id)
        sealed = next((item.content for item in kept if item.kind == "affidavit"), None)
        return result_of(driven, sealed)

    async def _decide(self, run_id: str, tool_call_id: str, by: str, *, approved: bool) -> None:
        now_us = to_us(self.clock.now())
        await decide_approval(self._store, now_us, Said(run_id, tool_call_id, approved, by))


def _opened(models: AnyModel | Sequence[AnyModel] | None, settings: Settings) -> tuple[Model, ...]:
    """The models that were named or given, each at its configured price."""
    if models is None:
        return ()
    several: Sequence[AnyModel]
    several = models if isinstance(models, (list, tuple)) else (models,)
    return tuple(
        models_of((item,), settings)[0]
        if isinstance(item, str)
        else at_price(item, settings.models.price_of(item.name))
        for item in several
    )
