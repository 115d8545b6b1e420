"""The programs of the rig by themselves: what they answer, and what they say about it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from affidavit.lab.instruments import (
    CACHE_HITS,
    CACHE_LOOKUPS,
    LOCK_HELD,
    LOCK_TIMEOUTS,
    POOL_TIMEOUTS,
)
from affidavit.lab.nodes.broker import Broker
from affidavit.lab.nodes.cache import CacheServer
from affidavit.lab.nodes.database import DatabaseServer
from affidavit.lab.nodes.node import Node, NodeSpec, Refused, Request
from affidavit.lab.nodes.telemetry import Telemetry
from affidavit.lab.nodes.upstream import PoolTimeout, Upstream
from affidavit.lab.scrape import read_page

SAMPLED = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"

MakeNode = Callable[..., Node]


@pytest.fixture
def make_node(tmp_path: Path) -> Iterator[MakeNode]:
    """Nodes that answer without serving; their telemetry goes to the test's folder."""
    made: list[Node] = []

    def make(**settings: object) -> Node:
        spec = NodeSpec("it", "it-1", "any", "1.0", 0, str(tmp_path), dict(settings), {})
        made.append(Node(spec))
        return made[-1]

    yield make
    for node in made:
        node.telemetry.close()


def said(folder: Path) -> list[dict[str, Any]]:
    """Every log line so far."""
    lines = (folder / "it-1.logs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def ask(node: Node, method: str, target: str, body: object = None) -> tuple[int, Any]:
    """Status and parsed answer of one request."""
    payload = b"" if body is None else json.dumps(body).encode()
    reply = node.answer(method, target, payload, SAMPLED)
    return reply.status, json.loads(reply.payload)


def test_a_route_gets_path_query_and_body(make_node: MakeNode) -> None:
    """Path parameters win over a query of the same name."""
    node = make_node()
    node.route("POST", "/things/{name}", lambda request: [dict(request.values), request.body])
    assert ask(node, "POST", "/things/a?name=b&n=1", {"x": 1}) == (
        200,
        [{"name": "a", "n": "1"}, {"x": 1}],
    )
    assert ask(node, "GET", "/things/a")[0] == 404


def test_a_crash_is_answered_and_logged(make_node: MakeNode, tmp_path: Path) -> None:
    """The caller gets 500 and the type of the error, as the span does; the log, the traceback."""
    node = make_node()
    node.route("GET", "/", lambda request: request.values["nothing"])
    assert ask(node, "GET", "/") == (500, {"error": "KeyError"})
    line = next(line for line in said(tmp_path) if line["severity_text"] == "ERROR")
    assert "KeyError: 'nothing'" in line["body"]
    assert line["trace_id"] == "a" * 32
    span = json.loads((tmp_path / "it-1.traces.jsonl").read_text(encoding="utf-8"))
    assert (span["parent_span_id"], span["status_message"]) == ("b" * 16, "KeyError")


def test_a_refusal_keeps_its_status(make_node: MakeNode) -> None:
    """A refusal is an answer, not an accident."""

    def refuse(_: Request) -> Any:
        raise Refused(404, "no such thing")

    node = make_node()
    node.route("GET", "/", refuse)
    assert ask(node, "GET", "/") == (404, {"error": "no such thing"})


@pytest.mark.parametrize(
    ("action", "body", "status"),
    [("nonsense", {}, 404), ("set", {"nonsense": 1}, 400), ("set", [1], 400), ("set", {}, 200)],
)
def test_the_control_door_refuses_what_it_does_not_know(
    make_node: MakeNode, action: str, body: object, status: int
) -> None:
    """A typing error in an order is an error, never a silent nothing."""
    assert ask(make_node(), "POST", f"/-/{action}", body)[0] == status


def test_a_pool_that_ran_dry_says_how_many_it_has(tmp_path: Path) -> None:
    """All places taken: the next one is refused, counted, and told the size."""
    telemetry = Telemetry(tmp_path, "orders", "orders-1")
    pool = Upstream("orders-db", 1, telemetry, connections_max=2, wait_s=0.0)
    pool.acquire()
    pool.acquire()
    with pytest.raises(PoolTimeout, match=r"orders-db .* pool exhausted \(size 2, in use 2\)"):
        pool.acquire()
    pool.release()
    pool.acquire()
    assert read_page(telemetry.exposition())[POOL_TIMEOUTS.exposed, None] == 1
    telemetry.close()


@pytest.fixture
def database(make_node: MakeNode) -> Node:
    """A database server with a few rows, which calls every statement slow and waits for no lock."""
    node = make_node(orders=60_000, lines=100, slow_ms=0.0, lock_wait_s=0.0)
    DatabaseServer(node)
    return node


def statement(sql: str, *args: object) -> dict[str, object]:
    return {"name": "a statement", "sql": sql, "args": args}


BY_CUSTOMER = "SELECT id FROM orders WHERE customer_id = ?"


def test_a_slow_statement_is_reported_with_the_plan_that_was_used(
    database: Node, tmp_path: Path
) -> None:
    """With the index the server names it; without, it says that the whole table was read."""
    ask(database, "POST", "/sql", statement(BY_CUSTOMER, 7919))
    assert "full scan" not in said(tmp_path)[-1]["body"]
    assert "orders_by_customer" in said(tmp_path)[-1]["body"]
    order = {"sql": "DROP INDEX orders_by_customer"}
    assert ask(database, "POST", "/-/migrate", order)[0] == 200
    ask(database, "POST", "/sql", statement(BY_CUSTOMER, 7919))
    line = said(tmp_path)[-1]
    assert "because of a full scan of table orders (60000 rows, no usable index)" in line["body"]
    assert line["emitter"] == "platform"


def test_a_scan_of_a_small_table_is_blamed_for_nothing(database: Node, tmp_path: Path) -> None:
    """Whatever made the statement slow, two hundred rows did not; the plan is still shown."""
    ask(database, "POST", "/sql", statement("SELECT id FROM products WHERE name LIKE ?", "%1%"))
    body = said(tmp_path)[-1]["body"]
    assert "plan: SCAN products" in body
    assert "because" not in body


def test_a_statement_that_waits_for_the_lock_names_who_holds_it(
    database: Node, tmp_path: Path
) -> None:
    """The name is that of the session that really holds it."""
    job = {"job": "archive", "hold_s": 30, "rest_s": 0, "for_s": 30}
    assert ask(database, "POST", "/-/maintain", job)[0] == 200
    deadline = time.monotonic() + 20  # bounds the wait for a thread; measures nothing
    while not read_page(database.telemetry.exposition())[LOCK_HELD.exposed, None]:
        assert time.monotonic() < deadline
    insert = statement("INSERT INTO order_lines VALUES (1000, 1, 1, 1)")
    status, answer = ask(database, "POST", "/sql", insert)
    database.draining.set()
    assert status == 503
    assert "locked" in answer["error"]
    assert "by session archive" in answer["error"]
    assert said(tmp_path)[-1]["emitter"] == "platform"
    assert read_page(database.telemetry.exposition())[LOCK_TIMEOUTS.exposed, None] == 1


def test_a_statement_that_is_wrong_is_refused(database: Node) -> None:
    """A missing table is the caller's error, and no crash."""
    status, answer = ask(database, "POST", "/sql", statement("SELECT * FROM nowhere"))
    assert status == 503
    assert "no such table: nowhere" in answer["error"]


def test_a_cache_miss_is_an_answer(make_node: MakeNode) -> None:
    """A miss is null and counted as a lookup; the oldest entry leaves a full cache."""
    node = make_node(entries_max=2)
    CacheServer(node)
    assert ask(node, "GET", "/entries/a") == (200, {"value": None})
    for key in ("a", "b", "c"):
        ask(node, "POST", f"/entries/{key}", {"value": key})
    assert [ask(node, "GET", f"/entries/{key}")[1]["value"] for key in "abc"] == [None, "b", "c"]
    page = read_page(node.telemetry.exposition())
    assert (page[CACHE_LOOKUPS.exposed, None], page[CACHE_HITS.exposed, None]) == (4, 2)


def test_a_rejected_message_holds_up_all_behind_it(make_node: MakeNode, tmp_path: Path) -> None:
    """The head comes again until it is acknowledged; it carries its producer's trace."""
    node = make_node()
    Broker(node)
    for text in ("first", "second"):
        ask(node, "POST", "/messages", text)
    taken = [ask(node, "POST", "/messages/take")[1]["message"] for _ in range(2)]
    assert [(message["body"], message["deliveries"]) for message in taken] == [
        ("first", 1),
        ("first", 2),
    ]
    assert taken[0]["traceparent"].startswith("00-" + "a" * 32)
    ask(node, "POST", "/messages/1/reject")
    assert "kept at the head" in said(tmp_path)[-1]["body"]
    assert ask(node, "POST", "/messages/2/ack")[0] == 404  # not at the head
    assert ask(node, "POST", "/messages/1/ack")[0] == 200
    assert ask(node, "POST", "/messages/take")[1]["message"]["body"] == "second"
    ask(node, "POST", "/messages/2/ack")
    assert ask(node, "POST", "/messages/take")[1]["message"] is None
