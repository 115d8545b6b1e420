"""Laws of alerts in: whatever is posted is refused in words or becomes one run a group (I5)."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.application.alerts import AlertRules, groups_of, read_alertmanager
from affidavit.application.incidents import AlertDesk, take_alerts, take_pagerduty
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.ports.incidents import Admission
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.runs import create_run

NOW = datetime(2026, 3, 2, 10, 5, tzinfo=UTC)

OTHERS = ("tenant", "tenant_id", "run_id", "source", "backend", "limits", "org", "X-Scope-OrgID")
"""Labels by which somebody could try to choose what only a key chooses."""

words = st.one_of(
    st.sampled_from(
        ("api", "checkout", "HighLatency", "Down", "", "../../etc", "run_1", "research",
         "<!channel>", "10.0.0.7:9100", "支付", "a" * 1500, "\u202eevil",
         "\x00\x1b[31m", "ignore the above")
    ),
    st.text(max_size=12),
)  # fmt: skip
labels = st.dictionaries(
    st.one_of(st.sampled_from(("alertname", "service", "app", "severity", *OTHERS)), words),
    words,
    max_size=6,
)
moments = st.one_of(
    st.sampled_from(
        ("2026-03-02T10:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00",
         "9999-12-31T23:59:59-14:00", "2026-03-02T10:00:00.123456789+05:30",
         "1970-01-01T00:00:00Z", "2099-01-01T00:00:00Z")
    ),
    st.datetimes(timezones=st.sampled_from([UTC])).map(datetime.isoformat),
)  # fmt: skip
alerts = st.fixed_dictionaries(
    {"startsAt": moments},
    optional={
        "labels": labels,
        "annotations": labels,
        "fingerprint": words,
        "status": st.sampled_from(("firing", "resolved", {"state": "active"}, {"state": "odd"})),
        "endsAt": moments,
        "generatorURL": words,
    },
)
lists = st.lists(alerts, max_size=8)
hooks = st.fixed_dictionaries(
    {"version": st.just("4"), "groupKey": words, "alerts": lists},
    optional={"truncatedAlerts": st.integers(0, 10**30), "receiver": words},
)
scraps = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), moments),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(("version", "groupKey", "alerts", "labels", "startsAt", "status",
                             "event", "id", "event_type", "occurred_at", "data")),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)  # fmt: skip
payloads = st.one_of(lists, hooks, scraps).map(lambda told: json.dumps(told).encode())
posted = st.one_of(payloads, st.binary(max_size=60), payloads.map(lambda whole: whole[:-3]))


class Room:
    """A desk whose runs only come into being."""

    def __init__(self) -> None:
        numbers = count(1)
        self.begun: list[AgentRequest] = []
        self.codes: set[str] = set()
        self.clock = VirtualClock(NOW)
        self.desk = AlertDesk(
            book=SqliteIncidents(None),
            store=MemoryStore(),
            rules=AlertRules(),
            begin=self.begin,
            new_run_id=lambda: f"run_{next(numbers):016x}",
            clock=self.clock,
        )

    async def begin(self, request: AgentRequest) -> None:
        await create_run(self.desk.store, request, self.clock)
        self.begun.append(request)

    async def post(self, content: bytes, tenant: str = "acme") -> list[Admission]:
        """As the route does it; empty for what is refused."""
        try:
            notification = read_alertmanager(content)
        except InputRefused as refused:
            self.codes.add(refused.code if refused.hint else "")
            return []
        taken = await take_alerts(self.desk, notification, tenant)
        return [one.admitted.admission for one in taken]


@pytest.mark.spec("I5", "H9", "N13")
@pytest.mark.fault("R39", "R72", "R69")
@example([json.dumps([{"startsAt": "0001-01-01T00:00:00Z"}]).encode()], 1)
@example([json.dumps([{"startsAt": "9999-12-31T23:59:59-14:00"}]).encode()], 0)
@given(st.lists(posted, min_size=1, max_size=4), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_whatever_is_posted_however_often_a_group_is_one_run_of_its_own_tenant(
    contents: list[bytes], again: int
) -> None:
    """Refused with a code, or one run a group; posted again, in any order, by anybody of the
    tenant, none; no label says whose it is, what is asked of, or how much it may cost."""

    async def check() -> None:
        room = Room()
        try:
            keys: set[str] = set()
            for content in contents:
                told = await room.post(content)
                if told:
                    keys |= {g.key for g in groups_of(read_alertmanager(content), AlertRules())}
            started = len(room.begun)
            assert started == len(keys)
            assert room.codes <= {"ALERT_REFUSED"}
            for content in contents[::-1] * again:
                assert Admission.STARTED not in await room.post(content)
            assert len(room.begun) == started
            for request in room.begun:
                assert (request.tenant, request.source, request.profile) == (
                    "acme", "live", "standard",
                )  # fmt: skip
                assert request.run_id.startswith("run_000")
                assert request.window is not None
                assert NOW - timedelta(hours=1) <= request.window.start < request.window.end
                assert request.window.end <= NOW + timedelta(seconds=60)
                assert request.question.isprintable()
            for content in contents:
                await room.post(content, "other")
            assert {one.tenant for one in room.begun[started:]} <= {"other"}
            assert len(room.begun) == 2 * started
        finally:
            await room.desk.book.close()

    anyio.run(check)


def pager(at: object, **more: object) -> bytes:
    """An event of PagerDuty."""
    event: dict[str, Any] = {"id": "E1", "event_type": "incident.triggered", "occurred_at": at,
                             "data": {"id": "P1", "title": "slow"}}  # fmt: skip
    return json.dumps({"event": event | more}).encode()


events = st.one_of(
    posted,
    moments.map(pager),
    st.builds(lambda data: pager(NOW.isoformat(), data=data), scraps),
    st.builds(lambda at: pager(NOW.isoformat(), data={"id": "P", "created_at": at}), moments),
)


@pytest.mark.spec("I5")
@pytest.mark.fault("R70", "R72")
@example(pager("0001-01-01T00:00:00+14:00"), "right")
@example(pager(NOW.isoformat(), data={"id": "P", "created_at": "0001-01-01T00:00:00Z"}), "right")
@given(events, st.sampled_from(("right", "", "v1=", "v1=é", "v2=00", "v1=00,v1=11")))
@settings(max_examples=150, deadline=None)
def test_a_page_is_refused_in_words_or_taken_once(content: bytes, proof: str) -> None:
    """Unsigned it never starts anything; signed, too old or odd it is refused with a code; the
    same bytes again start nothing."""
    made = hmac.new(b"key", content, hashlib.sha256).hexdigest()
    header = f"v1=00, v1={made}" if proof == "right" else proof

    async def check() -> None:
        room = Room()
        try:
            for _ in range(2):
                try:
                    await take_pagerduty(room.desk, content, header, ("key",), "acme")
                except InputRefused as refused:
                    room.codes.add(refused.code)
                assert len(room.begun) <= (1 if proof == "right" else 0)
                assert room.codes <= {"SIGNATURE_REFUSED", "ALERT_REFUSED", "EVENT_TOO_OLD"}
        finally:
            await room.desk.book.close()

    anyio.run(check)
