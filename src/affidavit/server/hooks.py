"""Alerts in and results out, as one running service does it (I5)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from affidavit.adapters.delivery_senders import open_senders
from affidavit.adapters.live_backends import no_backends
from affidavit.adapters.outgoing_http import OutgoingHttp, read_secret
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.adapters.system_clock import SystemClock
from affidavit.application.alerts import LIVE
from affidavit.application.couriers import Courier, Trouble
from affidavit.application.incidents import AlertDesk
from affidavit.contract.agent import AgentRequest
from affidavit.diagnose import World, start
from affidavit.ports.store import Store
from affidavit.server.driving import think
from affidavit.server.logbook import LOGGER
from affidavit.server.watching import Watch
from affidavit.settings import Settings
from affidavit.wiring import Listen, LiveOrder, live_world, new_run_id


@dataclass(frozen=True, slots=True)
class HookPlan:
    """What is configured, and the book of incidents of the service's store."""

    settings: Settings
    environment: Mapping[str, str]
    book: SqliteIncidents


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the routes of `/hooks` need, and the courier that carries results out."""

    plan: HookPlan
    desk: AlertDesk
    courier: Courier
    http: OutgoingHttp
    pagerduty_secrets: tuple[str, ...]
    watch: Watch

    def open_world(
        self, request: AgentRequest, listen: Listen
    ) -> AbstractAsyncContextManager[World] | None:
        """The world of a live run; None for any other."""
        if request.source != LIVE:
            return None
        return _live(self.plan, self.desk.store, request, listen)

    async def serve(self) -> None:
        """Carry results out until cancelled."""
        try:
            await self.courier.serve()
        finally:
            await self.http.close()


def open_hooks(
    plan: HookPlan,
    store: Store,
    wake: Callable[[], None],
    count: Callable[[str], None] | None = None,
) -> Hooks:
    """The hooks over a store. `wake` tells the engine that a run is there, `count` is told how each
    attempt to deliver ended.

    Raises InputRefused for a destination or a secret that is not there: a service that could not
    deliver, or not check who posts, does not start.
    """
    settings, environment = plan.settings, plan.environment
    http = OutgoingHttp(settings.outgoing)
    clock = SystemClock()

    async def begin(request: AgentRequest) -> None:
        if not settings.backends.names:
            raise no_backends()
        limits = settings.agent.limits.of(request.profile)
        asked = AgentRequest.model_validate({**dict(request), "limits": limits})
        order = LiveOrder(asked, settings, environment, probe=False)
        async with live_world(order, store) as (world, _):
            await start(think(world, asked, settings), asked)
        wake()

    desk = AlertDesk(plan.book, store, settings.alerts, begin, new_run_id, clock)
    courier = Courier(
        plan.book,
        plan.book,
        store,
        settings.delivery.plan(),
        open_senders(settings.delivery.destinations, http, environment),
        clock,
        _tell,
        count,
    )
    secrets = tuple(
        read_secret(name, "", environment) for name in settings.alerts.pagerduty_secret_env
    )
    return Hooks(plan, desk, courier, http, secrets, Watch(settings, environment))


@asynccontextmanager
async def _live(
    plan: HookPlan, store: Store, request: AgentRequest, listen: Listen
) -> AsyncIterator[World]:
    order = LiveOrder(request, plan.settings, plan.environment)
    async with live_world(order, store, listen=listen) as (world, live):
        for finding in live.unavailable:
            told = {"run_id": request.run_id, "code": finding.code}
            LOGGER.warning("not available: %s", finding.name, extra=told)
        yield world


def _tell(trouble: Trouble) -> None:
    LOGGER.warning("not delivered: %s", trouble.what, extra={"code": trouble.code})
