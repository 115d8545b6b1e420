"""Results out, against real receivers: signed webhooks, Slack's API, retries, dead letters."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from affidavit.adapters.delivery_senders import open_senders
from affidavit.adapters.delivery_tables import SlackTable, WebhookTable
from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.outgoing_http import OutgoingHttp
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.adapters.system_clock import SystemClock
from affidavit.adapters.webhook_signature import is_signed
from affidavit.application.couriers import Courier, Trouble
from affidavit.application.deliveries import ATTEMPTS_MAX, DeliveryPlan, Destination, Route
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.diagnose import drive, start
from affidavit.ports.incidents import Delivery, GroupAsk, GroupLimits, Outcome, Sender
from affidavit.ports.store import Store
from affidavit.testing.virtual_clock import VirtualClock
from affidavit.wiring import incident_world, request_of
from tests.support.http_stage import Reply, Seen, Stage, stage

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

EXAMPLE = Path(__file__).parents[2] / "examples" / "slow-storefront"
LABELS = {"severity": "page", "team": "web"}
ENVIRONMENT = {"KEY": "new", "OLD": "old", "TOKEN": "xoxb-1"}


@dataclass
class Post:
    """A courier over one run that has ended, and what it complained of."""

    courier: Courier
    book: SqliteIncidents
    clock: VirtualClock
    run_id: str
    troubles: list[Trouble]

    async def rounds(self, number: int, apart_s: float = 1.0) -> None:
        for _ in range(number):
            await self.courier.make_round()
            self.clock.shift(apart_s)


@pytest.fixture(scope="module")
async def ended() -> tuple[Store, str]:
    """A run over the example, as an alert would have started it, driven to its end."""
    store = MemoryStore()
    async with incident_world(EXAMPLE, store) as (world, incident):
        request = request_of(incident, EXAMPLE)
        await start(world, request)
        await drive(request.run_id, world)
    return store, request.run_id


@asynccontextmanager
async def post(
    ended: tuple[Store, str], there: Stage, *routes: Route, tenant: str = "acme"
) -> AsyncIterator[Post]:
    store, run_id = ended
    tables: dict[str, WebhookTable | SlackTable] = {
        "hook": WebhookTable(type="webhook", url=f"{there.url}/hook", secret_env=("KEY", "OLD")),
        "chat": SlackTable(type="slack", channel="C1", token_env="TOKEN", api=f"{there.url}/api"),
    }
    http = OutgoingHttp(OutgoingTable(hosts=(f"127.0.0.1:{there.port}",)))
    senders: dict[str, Sender] = open_senders(tables, http, ENVIRONMENT)
    places = (Destination("hook", "webhook"), Destination("chat", "slack"))
    book, clock = SqliteIncidents(None), VirtualClock(datetime.now(UTC))
    troubles: list[Trouble] = []
    ask = GroupAsk(tenant, "group", run_id, 1, LABELS, int(time.time() * 1e6))
    await book.admit(ask, GroupLimits(0, 9, 9, 9))
    courier = Courier(
        book, book, store, DeliveryPlan(routes, places), senders, clock, troubles.append
    )
    try:
        yield Post(courier, book, clock, run_id, troubles)
    finally:
        await http.close()
        await book.close()


def slack_like(answer: Callable[[Seen], Reply] = lambda _: Reply()) -> Callable[[Seen], Reply]:
    def said(asked: Seen) -> Reply:
        if not asked.path.startswith("/api/"):
            return answer(asked)
        ts = f"{json.loads(asked.body).get('thread_ts') or '17.1'}"
        return Reply(body=json.dumps({"ok": True, "ts": ts}).encode())

    return said


@pytest.mark.spec("I5", "L1")
@pytest.mark.fault("R71")
async def test_a_webhook_is_signed_versioned_and_sent_once(ended: tuple[Store, str]) -> None:
    with stage(lambda _: Reply()) as there:
        async with post(ended, there, Route(to=("hook",))) as told:
            await told.rounds(5)
            listed = await told.book.deliveries("acme")
    assert [item.state for item in listed] == ["delivered", "delivered"]
    kinds = [json.loads(request.body)["type"] for request in there.seen]
    assert kinds == ["run.observation", "run.result"]
    for request in there.seen:
        header = request.headers["affidavit-signature"]
        assert is_signed(request.body, header, ("new",), time.time())
        assert is_signed(request.body, header, ("old",), time.time())
        assert not is_signed(request.body, header, ("other",), time.time())
        document = json.loads(request.body)
        assert document["schema"] == "affidavit.webhook/1"
        assert document["id"] == request.headers["affidavit-delivery"]
        assert (document["run_id"], document["tenant"]) == (told.run_id, "acme")
        assert document["incident"]["labels"] == LABELS
    observation, result = (json.loads(request.body) for request in there.seen)
    assert observation["observations"]
    assert "release" not in observation
    assert result["release"]["outcome"] in {"SUCCESS", "FALLBACK"}


async def test_an_incident_is_one_thread_with_the_observation_first(
    ended: tuple[Store, str],
) -> None:
    with stage(slack_like()) as there:
        async with post(ended, there, Route(to=("chat",))) as told:
            await told.rounds(4)
    messages = [json.loads(request.body) for request in there.seen]
    assert "first observation" in messages[0]["text"]
    assert "thread_ts" not in messages[0]
    assert {message["thread_ts"] for message in messages[1:]} == {"17.1"}
    assert all(m["parse"] == "none" and not m["unfurl_links"] for m in messages)
    assert there.seen[0].headers["authorization"] == "Bearer xoxb-1"
    assert all("<" not in message["text"] for message in messages)


async def test_a_receiver_that_is_down_for_a_while_gets_it_later(ended: tuple[Store, str]) -> None:
    failures = iter([503, 503])

    def answer(_: Seen) -> Reply:
        return Reply(next(failures, 200))

    with stage(answer) as there:
        async with post(ended, there, Route(to=("hook",), observations=False)) as told:
            await told.rounds(3)
            (waiting,) = await told.book.deliveries("acme", "pending")
            assert (waiting.attempts, waiting.code) == (1, "HTTP_503")
            await told.rounds(8, 5.0)
            (done,) = await told.book.deliveries("acme", "delivered")
    assert done.attempts == 3
    assert len(there.seen) == 3
    assert [trouble.code for trouble in told.troubles] == ["HTTP_503", "HTTP_503"]
    ids = {request.headers["affidavit-delivery"] for request in there.seen}
    assert ids == {done.id}


async def test_what_cannot_be_delivered_is_a_dead_letter_to_see_and_to_send_again(
    ended: tuple[Store, str],
) -> None:
    down = True

    def answer(_: Seen) -> Reply:
        return Reply(503 if down else 200)

    with stage(answer) as there:
        async with post(ended, there, Route(to=("hook",), observations=False)) as told:
            await told.rounds(ATTEMPTS_MAX + 3, 3600.0)
            (dead,) = await told.book.deliveries("acme", "dead")
            assert (dead.attempts, dead.code) == (ATTEMPTS_MAX, "HTTP_503")
            assert len(there.seen) == ATTEMPTS_MAX
            down = False
            now_us = int(told.clock.now().timestamp() * 1e6)
            assert not await told.book.resend("other", dead.id, now_us)
            assert await told.book.resend("acme", dead.id, now_us)
            await told.rounds(1)
            assert [item.id for item in await told.book.deliveries("acme", "delivered")] == [
                dead.id
            ]


async def test_a_receiver_that_hangs_holds_up_nobody_else() -> None:
    """Forty incidents wait for a receiver that says nothing; the other receiver is told each of
    them while the first one still hangs."""
    opened, heard = threading.Event(), threading.Semaphore(0)

    def answer(asked: Seen) -> Reply:
        if asked.path == "/hook":
            opened.wait(60)
        else:
            heard.release()
        return Reply(body=b'{"ok": true, "ts": "17.1"}')

    book, clock = SqliteIncidents(None), SystemClock()
    now_us = int(time.time() * 1e6)
    with stage(answer) as there:
        tables: dict[str, WebhookTable | SlackTable] = {
            name: WebhookTable(type="webhook", url=f"{there.url}/{name}", secret_env=("KEY",))
            for name in ("hook", "other")
        }
        http = OutgoingHttp(OutgoingTable(hosts=(f"127.0.0.1:{there.port}",)))
        senders = open_senders(tables, http, ENVIRONMENT)
        courier = Courier(book, book, MemoryStore(), DeliveryPlan(), senders, clock)
        for number in range(40):
            both = [
                Delivery(
                    f"{place}-{number}", "acme", f"run_{number}", f"k{number}", place, "result",
                    "{}", now_us + number, next_us=now_us,
                )
                for place in ("hook", "other")
            ]  # fmt: skip
            await book.put(f"run_{number}", "result", both)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(courier.serve)
            for _ in range(40):
                assert await anyio.to_thread.run_sync(heard.acquire, True, 30.0)
            assert not opened.is_set()
            waits = await book.counts("acme")
            assert waits["pending"] >= 40
            opened.set()
            with anyio.fail_after(30):
                while (await book.counts("acme"))["delivered"] < 80:  # noqa: ASYNC110 - a store's
                    await anyio.sleep(0.05)
            courier.stop()
            tasks.cancel_scope.cancel()
        await http.close()
        await book.close()
    paths = [(seen.path, seen.headers["affidavit-delivery"]) for seen in there.seen]
    assert len(paths) == len(set(paths)) == 80, "each was sent once"


@pytest.mark.spec("L5")
async def test_an_attempt_whose_end_is_not_recorded_is_made_again_and_ends_nothing_else(
    ended: tuple[Store, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full for a moment: the courier goes on, and says so. The receiver sees the same
    id twice."""
    inner, failures = SqliteIncidents.settle, iter([True])

    async def settle(self: SqliteIncidents, delivery_id: str, outcome: Outcome) -> None:
        if next(failures, False):
            raise RecordFailed("the disk is full")
        await inner(self, delivery_id, outcome)

    monkeypatch.setattr(SqliteIncidents, "settle", settle)
    with stage(lambda _: Reply()) as there:
        async with post(ended, there, Route(to=("hook",), observations=False)) as told:
            await told.rounds(3)
            assert [trouble.code for trouble in told.troubles] == [RecordFailed("x").code]
            await told.rounds(3, 121.0)
            assert (await told.book.counts("acme"))["delivered"] == 1
    ids = [seen.headers["affidavit-delivery"] for seen in there.seen]
    assert len(ids) == 2
    assert len(set(ids)) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_a_refusal_is_not_tried_again(ended: tuple[Store, str], status: int) -> None:
    with stage(lambda _: Reply(status)) as there:
        async with post(ended, there, Route(to=("hook",), observations=False)) as told:
            await told.rounds(5, 3600.0)
            (dead,) = await told.book.deliveries("acme", "dead")
    assert dead.code == f"HTTP_{status}"
    assert len(there.seen) == 1


async def test_shadow_mode_and_no_route_tell_nobody_and_keep_the_record(
    ended: tuple[Store, str],
) -> None:
    silent = (
        (Route(to=("hook", "chat"), record_only=True), Route(to=("hook",))),
        (Route(match={"severity": "ticket"}, to=("hook",)),),
        (),
    )
    for routes in silent:
        with stage(lambda _: Reply()) as there:
            async with post(ended, there, *routes) as told:
                await told.rounds(3)
                (incident,) = await told.book.incidents("acme")
                assert incident.settled
                assert await told.book.deliveries("acme") == ()
        assert there.seen == []


async def test_the_first_route_that_fits_counts(ended: tuple[Store, str]) -> None:
    routes = (
        Route(match={"severity": "ticket"}, to=("chat",)),
        Route(match={"severity": "page", "team": "web"}, to=("hook",)),
        Route(to=("chat",)),
    )
    with stage(slack_like()) as there:
        async with post(ended, there, *routes) as told:
            await told.rounds(3)
    assert {request.path for request in there.seen} == {"/hook"}


async def test_two_couriers_on_one_store_send_each_message_once(ended: tuple[Store, str]) -> None:
    with stage(lambda _: Reply()) as there:
        async with post(ended, there, Route(to=("hook",))) as told:
            await told.courier.make_round()
            ours = told.courier
            theirs = Courier(
                ours.book, ours.outbox, ours.store, ours.plan, ours.senders, told.clock
            )
            for _ in range(4):
                await theirs.make_round()
                await ours.make_round()
                told.clock.shift(1)
    assert len(there.seen) == 2


@pytest.mark.fault("R70")
def test_a_destination_without_its_secret_or_host_refuses_the_start() -> None:
    http = OutgoingHttp(OutgoingTable(hosts=("hooks.example",)))
    url = "https://hooks.example/x"
    with pytest.raises(InputRefused, match="destination a"):
        open_senders({"a": WebhookTable(type="webhook", url=url)}, http, {})
    elsewhere = WebhookTable(type="webhook", url="https://other.example/", secret_env=("KEY",))
    with pytest.raises(InputRefused) as refused:
        open_senders({"a": elsewhere}, http, ENVIRONMENT)
    assert refused.value.code == "OUTGOING_UNLISTED"
