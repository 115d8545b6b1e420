"""Results out: who is told what, in which form, when an attempt is repeated (pure; R70, R71)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from pydantic import ConfigDict, Field

from affidavit.application.slack_text import observation_messages, result_messages
from affidavit.contract.record import Record, format_instant
from affidavit.contract.report import ReleaseRecord
from affidavit.ports.incidents import Delivery, DeliveryKind, IncidentRun, Outcome, Sent

SCHEMA: Final = "affidavit.webhook/1"
"""The version of the webhook's JSON. A field is added under the same number; any other change of
meaning gets the next."""

ATTEMPTS_MAX: Final = 8
BACK_OFF_S: Final = 5.0
BACK_OFF_MAX_S: Final = 1800.0
"""5, 10, 20 … seconds, half an hour at most: eight attempts take about ten minutes; after that a
receiver is down for good, and a person re-sends what waits among the dead letters."""

MICRO: Final = 1_000_000

Form = Literal["webhook", "slack"]


def _hyphened(name: str) -> str:
    return name.replace("_", "-")


class Route(Record):
    """`[[delivery.routes]]`: alerts whose labels hold all of `match` go to these destinations.

    The first route that fits counts. `record_only` is the shadow mode: the run is on record, and
    nobody is told.
    """

    model_config = ConfigDict(alias_generator=_hyphened, validate_by_name=True)

    match: Mapping[str, str] = Field(default_factory=dict)
    to: tuple[str, ...] = ()
    record_only: bool = False
    observations: bool = True

    def fits(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels hold all that is asked for; an absent label is an empty one."""
        return all(labels.get(name, "") == value for name, value in self.match.items())


@dataclass(frozen=True, slots=True)
class Destination:
    """A configured destination, as far as planning needs it."""

    name: str
    form: Form
    tenants: tuple[str, ...] = ()

    def is_for(self, tenant: str) -> bool:
        """Whether that tenant's results may go there."""
        return not self.tenants or tenant in self.tenants


@dataclass(frozen=True, slots=True)
class DeliveryPlan:
    """The routes and the destinations."""

    routes: tuple[Route, ...] = ()
    destinations: tuple[Destination, ...] = ()

    def route_of(self, labels: Mapping[str, str]) -> Route | None:
        """The first route that fits."""
        return next((route for route in self.routes if route.fits(labels)), None)

    def reached(self, run: IncidentRun, kind: DeliveryKind) -> tuple[Destination, ...]:
        """Who is told; nobody without a route, and nobody in shadow mode."""
        route = self.route_of(run.labels)
        if route is None or route.record_only or (kind == "observation" and not route.observations):
            return ()
        return tuple(
            one for one in self.destinations if one.name in route.to and one.is_for(run.tenant)
        )


@dataclass(frozen=True, slots=True)
class Observed:
    """The first observation of a run: facts as code words them, and no conclusion (L1)."""

    question: str
    facts: tuple[str, ...]


def plan_observation(
    plan: DeliveryPlan, run: IncidentRun, observed: Observed, now_us: int
) -> tuple[Delivery, ...]:
    """A delivery for each who is told of first observations."""
    said = {"question": observed.question, "observations": list(observed.facts)}
    texts = observation_messages(observed.question, run.run_id, observed.facts)
    return _plan(plan, run, "observation", (said, texts), now_us)


def plan_result(
    plan: DeliveryPlan, run: IncidentRun, release: ReleaseRecord, now_us: int
) -> tuple[Delivery, ...]:
    """A delivery for each who is told of results."""
    said = {"question": release.question, "release": release.model_dump(mode="json")}
    return _plan(plan, run, "result", (said, result_messages(release)), now_us)


def _plan(
    plan: DeliveryPlan,
    run: IncidentRun,
    kind: DeliveryKind,
    said: tuple[Mapping[str, object], Sequence[str]],
    now_us: int,
) -> tuple[Delivery, ...]:
    deliveries = []
    for place in plan.reached(run, kind):
        known = f"{run.run_id}\0{place.name}\0{kind}".encode()
        delivery_id = f"dlv_{hashlib.sha256(known).hexdigest()[:24]}"
        content: object = list(said[1])
        if place.form == "webhook":
            content = {
                "schema": SCHEMA,
                "type": f"run.{kind}",
                "id": delivery_id,
                "created_at": format_instant(_moment(now_us)),
                "run_id": run.run_id,
                "tenant": run.tenant,
                "incident": {"key": run.key, "labels": dict(run.labels)},
                **said[0],
            }
        deliveries.append(
            Delivery(
                id=delivery_id,
                tenant=run.tenant,
                run_id=run.run_id,
                key=run.key,
                destination=place.name,
                kind=kind,
                body=json.dumps(content, ensure_ascii=False, sort_keys=True),
                created_us=now_us,
                next_us=now_us,
            )
        )
    return tuple(deliveries)


def _moment(us: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)


def outcome_of(sent: Sent, attempts: int, now_us: int) -> Outcome:
    """What follows from an attempt; `attempts` were made before it."""
    if not sent.code:
        return Outcome("delivered")
    if not sent.retry or attempts + 1 >= ATTEMPTS_MAX:
        return Outcome("dead", code=sent.code)
    wait_s = max(sent.after_s, min(BACK_OFF_MAX_S, BACK_OFF_S * 2**attempts))
    return Outcome("pending", now_us + int(wait_s * MICRO), sent.code)
