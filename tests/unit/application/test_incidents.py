"""Groups of alerts and their runs: one a group, started once, within the tenant's limits."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.application.alerts import AlertRules, read_alertmanager
from affidavit.application.incidents import (
    AlertDesk,
    Taken,
    counted,
    take_alerts,
    take_pagerduty,
)
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.ports.incidents import Admission
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.runs import create_run
from tests.unit.application.test_pagerduty import NOW, event, signed

pytestmark = pytest.mark.anyio


class Room:
    """A desk whose runs only come into being, and a list of what was asked."""

    def __init__(self, **rules: object) -> None:
        self.begun: list[AgentRequest] = []
        self.clock = VirtualClock(NOW)
        numbers = count(1)
        self.book = SqliteIncidents(None)
        self.desk = AlertDesk(
            book=self.book,
            store=MemoryStore(),
            rules=AlertRules.model_validate(rules),
            begin=self.begin,
            new_run_id=lambda: f"run_{next(numbers):016x}",
            clock=self.clock,
        )
        self.fails = 0

    async def begin(self, request: AgentRequest) -> None:
        if self.fails:
            self.fails -= 1
            raise InputRefused("killed here", code="KILLED")
        await create_run(self.desk.store, request, self.clock)
        self.begun.append(request)

    async def take(self, *services: str, tenant: str = "acme") -> list[Admission]:
        alerts = [{"labels": {"alertname": "A", "service": service},
                   "startsAt": NOW.isoformat()} for service in services]  # fmt: skip
        taken = await take_alerts(self.desk, read_alertmanager(json.dumps(alerts).encode()), tenant)
        return [item.admitted.admission for item in taken]

    def later(self, **by: float) -> None:
        self.clock.shift(timedelta(**by).total_seconds())


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    made = Room()
    yield made
    await made.desk.book.close()


@pytest.mark.fault("R39")
@pytest.mark.spec("I5")
async def test_the_same_alert_ten_times_is_one_run_and_nine_repeats(room: Room) -> None:
    admissions = [(await room.take("api"))[0] for _ in range(10)]
    assert admissions == [Admission.STARTED] + 9 * [Admission.REPEATED]
    assert len(room.begun) == 1
    (incident,) = await room.book.incidents("acme")
    assert (incident.alerts, incident.repeats) == (1, 9)


async def test_after_the_cool_down_of_a_settled_run_a_group_starts_again(room: Room) -> None:
    await room.take("api")
    await room.book.put(room.begun[0].run_id, "result", ())
    room.later(minutes=29)
    assert await room.take("api") == [Admission.REPEATED]
    room.later(minutes=2)
    assert await room.take("api") == [Admission.STARTED]


async def test_a_run_that_goes_on_keeps_its_group_beyond_the_cool_down(room: Room) -> None:
    await room.take("api")
    room.later(hours=3)
    assert await room.take("api") == [Admission.REPEATED]


async def test_a_storm_is_limited_and_the_limit_is_a_tenant_s_own() -> None:
    room = Room(**{"runs-per-hour": 3})
    names = [f"s{i}" for i in range(10)]
    assert (await room.take(*names)).count(Admission.STARTED) == 3
    assert (await room.take("new")) == [Admission.STORM_LIMITED]
    assert (await room.take("new", tenant="other")) == [Admission.STARTED]
    room.later(minutes=61)
    assert (await room.take("new")) == [Admission.STARTED]
    await room.book.close()


async def test_a_day_has_a_ceiling_in_runs_and_in_tokens() -> None:
    room = Room(**{"runs-per-day": 2})
    assert (await room.take("a", "b", "c")).count(Admission.CEILING_REACHED) == 1
    await room.book.close()
    room = Room(**{"tokens-per-day": 1000})
    await room.take("a")
    await room.book.put(room.begun[0].run_id, "result", (), 1000)
    assert await room.take("b") == [Admission.CEILING_REACHED]
    room.later(hours=25)
    assert await room.take("b") == [Admission.STARTED]
    await room.book.close()


async def test_a_run_that_was_never_begun_is_begun_by_the_next_alert_under_its_id(
    room: Room,
) -> None:
    """A crash between the book's word and the run's first line loses and doubles nothing."""
    room.fails = 1
    with pytest.raises(InputRefused, match="killed here"):
        await room.take("api")
    assert await room.take("api") == [Admission.REPEATED]
    assert await room.take("api") == [Admission.REPEATED]
    (incident,) = await room.book.incidents("acme")
    assert [request.run_id for request in room.begun] == [incident.run_id]


async def test_another_tenant_s_same_group_is_another_incident(room: Room) -> None:
    assert await room.take("api") == [Admission.STARTED]
    assert await room.take("api", tenant="other") == [Admission.STARTED]
    assert [request.tenant for request in room.begun] == ["acme", "other"]


async def test_an_event_of_pagerduty_is_taken_once(room: Room) -> None:
    content = event()
    header = signed(content, "key")

    async def take() -> tuple[Taken, ...]:
        return await take_pagerduty(room.desk, content, header, ("key",), "acme")

    assert counted(await take())["started"] == 1
    assert await take() == ()
    with pytest.raises(InputRefused) as refused:
        await take_pagerduty(room.desk, content, signed(content, "no"), ("key",), "acme")
    assert refused.value.code == "SIGNATURE_REFUSED"
    assert len(room.begun) == 1


def test_the_signature_of_the_test_is_the_documented_one() -> None:
    made = hmac.new(b"key", b"body", hashlib.sha256).hexdigest()
    assert signed(b"body", "key") == f"v1={made}"
