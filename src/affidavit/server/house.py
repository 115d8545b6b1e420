"""What one running service consists of, made once and handed to every route."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from anyio import CapacityLimiter
from fastapi import Request

from affidavit.adapters.in_process_engine import EngineRules, InProcessEngine
from affidavit.adapters.process_identity import is_gone
from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import AgentRequest
from affidavit.contract.ids import LOCAL_TENANT, is_run_id
from affidavit.diagnose import World
from affidavit.ports.engine import EngineNote
from affidavit.ports.store import RunHead, Store
from affidavit.server.driving import RunDriver
from affidavit.server.feeds import Feeds
from affidavit.server.gatekeeper import LOOPBACK_NAMES, Door
from affidavit.server.hooks import Hooks
from affidavit.server.keyring import NAME, Keyring
from affidavit.server.logbook import LOGGER
from affidavit.server.meters import Meters
from affidavit.server.oidc import Oidc, open_oidc
from affidavit.server.permits import Principal
from affidavit.server.problems import not_found
from affidavit.server.sessions import Sessions
from affidavit.settings import Settings
from affidavit.wiring import refuse_unsafe_service

MICRO: Final = 1_000_000

DRILLS_MAX: Final = 4
"""Drills at a time: each is a whole run, on the processor that serves."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What a service is told: where incidents and keys lie, which names it answers to."""

    keys: Path
    incidents: Path | None = None
    hosts: tuple[str, ...] = ()
    limits: str = "standard"
    drills: bool = False
    runs_max: int = 4
    settings: Settings = field(default_factory=Settings)


@dataclass(slots=True)
class House:
    """One service: its store, the engine that drives its runs, its streams and its door."""

    options: ServeOptions
    store: Store
    door: Door
    feeds: Feeds
    engine: InProcessEngine
    driver: RunDriver
    meters: Meters
    drilling: CapacityLimiter
    hooks: Hooks | None = None
    oidc: Oidc | None = None
    is_ready: bool = False

    @property
    def ring(self) -> Keyring:
        """The keys."""
        return self.door.ring

    async def head_for(self, who: Principal, run_id: str) -> RunHead:
        """A run of that somebody's tenant; any other is not there (R69). Raises Problem (404)."""
        head = await self.store.head(run_id) if is_run_id(run_id) else None
        if head is None or head.tenant != who.tenant:
            raise not_found()
        return head

    def incidents_of(self, tenant: str) -> Path | None:
        """Where that tenant's incident folders lie; None where none were configured."""
        root = self.options.incidents
        if root is None or tenant == LOCAL_TENANT:
            return root
        if NAME.fullmatch(tenant) is None:  # a ring of an older version may hold `..`
            return None
        return root / tenant


def add_hooks(house: House, hooks: Hooks) -> None:
    """From now on alerts start runs, live ones are driven, and results go out."""
    house.hooks, inner = hooks, house.driver.further

    def further(request: AgentRequest) -> AbstractAsyncContextManager[World] | None:
        return hooks.open_world(request, house.feeds.hear) or inner(request)

    house.driver.further = further


def add_issuer(house: House, environment: Mapping[str, str]) -> None:
    """From now on whoever the configured issuer knows may come in; nothing where there is none.

    Raises InputRefused as `open_oidc` does.
    """
    house.ring.make()
    house.oidc = open_oidc(house.options.settings, environment, house.ring.pepper())
    if house.oidc is not None:
        house.door.bearer = house.oidc.bearer


def build_house(options: ServeOptions, store: Store) -> House:
    """The service around a store; nothing runs yet.

    Raises InputRefused (GUARD_OFF) for settings under which nobody is served (H5).
    """
    refuse_unsafe_service(options.settings)
    meters = Meters()
    feeds = Feeds(store, observe_lag=meters.event_lag_s.observe)
    driver = RunDriver(store, feeds, meters, options.settings)
    rules = EngineRules(runs_max=options.runs_max)
    engine = InProcessEngine(
        store, SystemClock(), driver.drive, rules, _teller(meters), is_gone=is_gone
    )
    hosts = LOOPBACK_NAMES | {name.lower() for name in options.hosts}
    door = Door(Keyring(options.keys), Sessions(), frozenset(hosts), options.drills)
    meters.watch("affidavit_streams_open", "Open streams", lambda: feeds.streams)
    meters.watch("affidavit_runs_under_way", "Driven here", lambda: len(engine.under_way))
    return House(options, store, door, feeds, engine, driver, meters, CapacityLimiter(DRILLS_MAX))


def _teller(meters: Meters) -> Callable[[EngineNote], None]:
    def tell(note: EngineNote) -> None:
        meters.troubles.labels(note.code).inc()
        told = {"run_id": note.run_id, "code": note.code, "again_in_s": note.again_in_s}
        LOGGER.warning("a run could not be driven", extra=told)

    return tell


def house_of(request: Request) -> House:
    """The service that a request came to."""
    house: House = request.app.state.house
    return house


def principal_of(request: Request) -> Principal:
    """Who asks; the gatekeeper let them in."""
    who: Principal = request.state.principal
    return who


def now_us() -> int:
    """Microseconds since 1970 UTC."""
    return int(datetime.now(UTC).timestamp() * MICRO)
