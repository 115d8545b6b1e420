"""From an address and a folder to a world that runs: guards, agent, tools, store and seal."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast, get_args

from anyio import CancelScope, to_thread

from affidavit.adapters.cedar_policy import CedarPolicy
from affidavit.adapters.incident_folder import IncidentFolder, load_incident
from affidavit.adapters.live_backends import LiveBackends, LiveConfig, open_live
from affidavit.adapters.model_names import open_model
from affidavit.adapters.process_identity import is_gone, own_holder
from affidavit.adapters.system_clock import SystemClock
from affidavit.agents.playbook import PlaybookInvestigator
from affidavit.application.gate import (
    GateOrder,
    SuppliedAgent,
    SuppliedCollection,
    supplied_catalogue,
)
from affidavit.contract.agent import AgentRequest, Investigator, ToolSpec
from affidavit.contract.errors import InputRefused
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.contract.journal import Entry
from affidavit.contract.limits import PROFILES
from affidavit.contract.record import Record
from affidavit.core.breaker import Circuits
from affidavit.core.run import Driver
from affidavit.diagnose import World
from affidavit.guards.approval import ApprovalGuard
from affidavit.guards.audit import AuditGuard
from affidavit.guards.budget import BudgetGuard
from affidavit.guards.chain import Guard, GuardChain, in_order
from affidavit.guards.circuit import CircuitGuard
from affidavit.guards.loop import LoopGuard
from affidavit.guards.permission import PermissionGuard, permit_reads
from affidavit.guards.plugins import load_guards
from affidavit.guards.timeout import TimeoutGuard
from affidavit.guards.toggles import GuardToggles
from affidavit.loop import Collection
from affidavit.models.priced import at_price
from affidavit.ports.ceiling import CeilingRule, Ceilings, CeilingStore
from affidavit.ports.model import Model
from affidavit.ports.policy import ActionPolicy
from affidavit.ports.signer import Signer
from affidavit.ports.store import Store
from affidavit.ports.telemetry import Incident, Symptom, SymptomSignal
from affidavit.release.examine import Examiner
from affidavit.release.repair import NoRepairer
from affidavit.release.withdrawal import ConsentingAuthor, NoAuthor
from affidavit.settings import Settings
from affidavit.tools.capture import capture_catalogue
from affidavit.tools.capture.lookups import lookup_tool
from affidavit.tools.catalogue import Catalogue, Tool, UnavailableSource
from affidavit.verify.judges.embedded import EmbeddedJudge
from affidavit.wiring.sealing import Sealing, sealing_of

SYMPTOM_SIGNALS: Final = get_args(SymptomSignal)

Listen = Callable[[Entry, Mapping[str, bytes]], None]


def standard_guards(
    tools: Iterable[ToolSpec] = (),
    toggles: GuardToggles | None = None,
    further: Iterable[Guard] = (),
    policy: ActionPolicy | None = None,
) -> GuardChain:
    """The seven guards that stand around every run, but for those that are off, and further ones.

    What is allowed without a policy is to read with these tools. Raises InputRefused (GUARD_ORDER).
    """
    on = toggles or GuardToggles()
    seven: tuple[tuple[bool, Guard], ...] = (
        (on.budget, BudgetGuard()),
        (on.loop, LoopGuard()),
        (on.timeout, TimeoutGuard()),
        (on.circuit_breaker, CircuitGuard()),
        (on.permission, PermissionGuard(policy or permit_reads(tools))),
        (on.approval, ApprovalGuard()),
        (on.audit, AuditGuard()),
    )
    return in_order((*(guard for is_on, guard in seven if is_on), *further))


def guards_of(settings: Settings, tools: Iterable[ToolSpec] = ()) -> GuardChain:
    """The guards that the settings ask for, those of installed packages among them (H3, H5).

    Raises InputRefused for a plug-in that is not there, or an order in which cost decreases.
    """
    agent, file = settings.agent, settings.policy.file
    policy = CedarPolicy.read(Path(file)) if file else None
    return standard_guards(tools, agent.guard, load_guards(agent.guard_plugins), policy)


def refuse_unsafe_service(settings: Settings) -> None:
    """Raise InputRefused (GUARD_OFF) for a service without its needed guards (H5).

    Whatever drives runs for others calls this before it takes the first one.
    """
    settings.agent.guard.refuse_unsafe()


def ceilings_of(store: Store, settings: Settings) -> Ceilings | None:
    """The day's ceilings over every process that shares this store, or None: none are set (K3).

    Raises InputRefused (CEILINGS_UNSUPPORTED) where some are set and the store keeps none: what
    would hold for one process alone is no ceiling.
    """
    rule = settings.ceilings.rule()
    if rule == CeilingRule():
        return None
    if not isinstance(store, CeilingStore):
        raise InputRefused(
            "this store keeps no ceilings, and some are set",
            code="CEILINGS_UNSUPPORTED",
            hint="use a sqlite: store, or remove the table [ceilings]",
        )
    return store.ceilings(rule)


def models_of(names: Iterable[str], settings: Settings) -> tuple[Model, ...]:
    """The models of these names, each at the price that is configured for it.

    Raises InputRefused for a model that cannot be opened.
    """
    return tuple(at_price(open_model(name), settings.models.price_of(name)) for name in names)


def new_run_id() -> str:
    """A run id that nobody can guess."""
    return f"run_{secrets.token_hex(8)}"


@asynccontextmanager
async def incident_world(
    folder: Path,
    store: Store,
    *,
    listen: Listen | None = None,
    investigator: Investigator | None = None,
    settings: Settings | None = None,
    signer: Signer | None = None,
) -> AsyncIterator[tuple[World, IncidentFolder]]:
    """A world over one incident folder; its worker process is gone when this ends.

    It is sealed by `signer`, else by this installation's own key; then its anchors are told of it,
    too. Raises InputRefused for a folder that cannot be used, or a key; then nothing was started.
    """
    # It reads whole tables: other runs and streams of this process go on meanwhile.
    incident = await to_thread.run_sync(load_incident, folder)
    try:
        sealing = sealing_of(settings, signer)
        catalogue = capture_catalogue(incident)
        yield world_over(catalogue, store, listen, investigator, settings, sealing), incident
    finally:
        incident.close()


def world_over(
    catalogue: Catalogue,
    store: Store,
    listen: Listen | None,
    investigator: Investigator | None,
    settings: Settings | None,
    sealing: Sealing,
) -> World:
    """A world over these tools: the playbook where no investigator is named, the embedded judge,
    and the seal."""
    clock = SystemClock()
    return World(
        driver=Driver(own_holder(), store, clock, listen, is_gone=is_gone),
        collection=Collection(
            investigator=investigator or PlaybookInvestigator(),
            catalogue=catalogue,
            guards=guards_of(settings or Settings(), catalogue.specs()),
            circuits=Circuits(clock),
        ),
        examiner=Examiner(
            judge=EmbeddedJudge(),
            repairer=NoRepairer(),
            author=ConsentingAuthor() if investigator is None else NoAuthor(),
        ),
        seal=sealing.seal,
        tell=sealing.tell,
    )


@dataclass(frozen=True, slots=True)
class LiveOrder:
    """What a live world is opened for: the run's request, and what is configured.

    `probe` off opens nothing yet: for whoever only starts the run, and lets an engine drive it.
    """

    request: AgentRequest
    settings: Settings
    environment: Mapping[str, str]
    probe: bool = True

    @property
    def config(self) -> LiveConfig:
        """The back ends."""
        return LiveConfig(self.settings.backends, self.settings.outgoing, self.environment)


@asynccontextmanager
async def live_world(
    order: LiveOrder,
    store: Store,
    *,
    listen: Listen | None = None,
    investigator: Investigator | None = None,
) -> AsyncIterator[tuple[World, LiveBackends]]:
    """A world over the live back ends of the request's tenant; nothing is left when this ends.

    Raises InputRefused (NO_BACKENDS) where none is configured.
    """
    sealing = sealing_of(order.settings)
    live = await open_live(order.config, live_incident(order.request), probe=order.probe)
    try:
        catalogue = capture_catalogue(live.telemetry)
        named = {finding.signal for finding in live.unavailable}
        absent = [
            *(UnavailableSource(f.signal, f.name, f.code) for f in live.unavailable),
            *(item for item in catalogue.unavailable if item.source_type not in named),
        ]
        looks = tuple(cast("Tool[Record]", lookup_tool(lookup)) for lookup in live.lookups)
        reachable = Catalogue.of((*catalogue.tools.values(), *looks), absent)
        world = world_over(reachable, store, listen, investigator, order.settings, sealing)
        yield world, live
    finally:
        with CancelScope(shield=True):
            await live.close()


def live_incident(request: AgentRequest) -> Incident:
    """The incident of a live run, as its request tells it; so any process can go on with the run.

    Raises InputRefused (WINDOW_MISSING) for a request without a window.
    """
    if request.window is None:
        raise InputRefused(
            "a live run needs a window", code="WINDOW_MISSING", hint="say since when it fails"
        )
    signal = request.symptom_signal if request.symptom_signal in SYMPTOM_SIGNALS else "unknown"
    return Incident.model_validate(
        {
            "id": request.incident or request.run_id,
            "title": request.question[:500],
            "question": request.question,
            "window": request.window,
            "symptom": Symptom.model_validate(
                {"service": request.symptom_service or "unknown", "signal": signal}
            ),
            "tenant": request.tenant,
        }
    )


def gate_world(
    order: GateOrder,
    store: Store,
    *,
    listen: Listen | None = None,
    settings: Settings | None = None,
    signer: Signer | None = None,
) -> World:
    """A world in which a supplied answer is written down and released; it collects nothing.

    For `signer` and what is raised, see `incident_world`.
    """
    sealing = sealing_of(settings, signer)
    holder = own_holder()
    return World(
        driver=Driver(holder, store, SystemClock(), listen, is_gone=is_gone),
        collection=Collection(
            investigator=SuppliedAgent(),
            catalogue=supplied_catalogue(order.answer.tool_calls),
            guards=guards_of(settings or Settings()),
        ),
        examiner=Examiner(judge=EmbeddedJudge(), repairer=NoRepairer(), author=order.author),
        seal=sealing.seal,
        supplied=SuppliedCollection(order),
        tell=sealing.tell,
    )


def request_of(
    incident: IncidentFolder,
    folder: Path,
    *,
    question: str = "",
    profile: str = "standard",
    requested_by: str = "local",
    settings: Settings | None = None,
) -> AgentRequest:
    """The request of an incident folder; whoever makes it cannot approve what the run does.

    Raises InputRefused (LIMITS_UNKNOWN) for a profile that does not exist.
    """
    if profile not in PROFILES:
        raise InputRefused(
            f"there is no profile of limits {profile!r}",
            code="LIMITS_UNKNOWN",
            hint=f"use one of {', '.join(PROFILES)}",
        )
    told = incident.incident
    return AgentRequest(
        run_id=new_run_id(),
        tenant=LOCAL_TENANT,
        question=question or told.question,
        limits=(settings or Settings()).agent.limits.of(profile),
        profile=profile,
        window=told.window,
        incident=told.id,
        source=str(folder.resolve()),
        symptom_service=told.symptom.service,
        symptom_signal=told.symptom.signal,
        requested_by=requested_by,
    )
