"""Orders: reads and writes the database; with payments and a queue where the plant has them."""

import time
from collections.abc import Mapping
from typing import Any, Final

from affidavit.lab.instruments import POOL_MAX, POOL_TIMEOUTS, POOL_USED
from affidavit.lab.nodes.node import Node, Refused, Request
from affidavit.lab.nodes.upstream import Call, PoolTimeout, UpstreamError, run_statement

_SERVICE_UNAVAILABLE = 503
_HISTORY_SQL = (
    "SELECT id, status, total_cents, placed_at FROM orders "
    "WHERE customer_id = ? ORDER BY placed_at DESC LIMIT 100"
)
_SPENT_SQL = "SELECT COUNT(*), SUM(total_cents) FROM orders WHERE customer_id = ?"
_ORDER_SQL = "SELECT id, status, total_cents, placed_at FROM orders WHERE id = ?"
_LINES_SQL = "SELECT product_id, quantity FROM order_lines WHERE order_id = ?"
_INSERT_SQL = (
    "INSERT INTO orders (customer_id, placed_at, status, total_cents, note) VALUES (?, ?, ?, ?, ?)"
    " RETURNING id"
)
_TIERS: Final[Mapping[str, int]] = {"group-0": 1, "group-1": 2}
# Points per order by customer group. Three of the five groups are missing: the bug behind a flag.


class Orders:
    """Order history, single orders, and placing an order."""

    def __init__(self, node: Node) -> None:
        self._node = node
        node.declare(
            database="orders-db",
            connections_max=8,
            payments_timeout_s=2.0,
            lines_in_history=False,
            audit_session_every=0,
            loyalty_points=False,
        )
        settings = node.settings
        self._database = node.upstream(settings["database"], int(settings["connections_max"]))
        self._queue = node.upstream("order-queue") if node.has_upstream("order-queue") else None
        self._payments = node.upstream("payments") if node.has_upstream("payments") else None
        self._placed = 0
        node.telemetry.gauge(POOL_USED, lambda: self._database.in_use)
        node.telemetry.gauge(POOL_MAX, lambda: self._database.connections_max)
        node.telemetry.count(POOL_TIMEOUTS, 0)
        node.route("GET", "/customers/{customer}/orders", self.history)
        node.route("GET", "/orders/{order}", self.order)
        node.route("POST", "/orders", self.place)

    def _rows(self, request: Request, name: str, sql: str, *args: Any) -> list[list[Any]]:
        try:
            return run_statement(self._database, request.trace, name, sql, args)
        except UpstreamError as error:
            severity = "ERROR" if isinstance(error, PoolTimeout) else "WARN"
            self._node.telemetry.log(severity, f"{name} failed: {error}", request.trace)
            raise Refused(_SERVICE_UNAVAILABLE, str(error)) from None

    def history(self, request: Request) -> Any:
        """The latest 100 orders of one customer, with what was spent in all."""
        customer = int(request.values["customer"])
        rows = self._rows(request, "SELECT orders of customer", _HISTORY_SQL, customer)
        spent = self._rows(request, "SELECT sum of orders", _SPENT_SQL, customer)
        orders = [_order(row) for row in rows]
        if self._node.settings["lines_in_history"]:
            orders = [self._with_lines(request, order["id"]) for order in orders]
        if self._node.settings["loyalty_points"]:
            tier = _TIERS[f"group-{customer % 5}"]
            return {"orders": orders, "spent": spent[0], "points": tier}
        return {"orders": orders, "spent": spent[0]}

    def order(self, request: Request) -> Any:
        """One order with its age in seconds."""
        order_id = int(request.values["order"])
        rows = self._rows(request, "SELECT order", _ORDER_SQL, order_id)
        if not rows:
            raise Refused(404, f"no order {order_id}")
        return _order(rows[0])

    def _with_lines(self, request: Request, order_id: int) -> dict[str, Any]:
        """One order read by itself, with its lines: two statements, as one release does it."""
        row = self._rows(request, "SELECT order", _ORDER_SQL, order_id)[0]
        lines = self._rows(request, "SELECT order lines", _LINES_SQL, order_id)
        return _order(row) | {"lines": lines}

    def place(self, request: Request) -> Any:
        """Charge the customer, write the order, queue it for fulfilment."""
        body = request.body
        self._charge(request)
        status = "pending" if self._queue else "accepted"
        args = (body["customer"], time.time(), status, body["total_cents"], body.get("note", ""))
        order_id = self._rows(request, "INSERT order", _INSERT_SQL, *args)[0][0]
        self._keep_audit_session()
        if self._queue:
            message = {"order": order_id, "quantity": body.get("quantity", 1)}
            self._queue.call(request.trace, Call("POST", "/messages", message))
        return {"id": order_id, "status": status}

    def _charge(self, request: Request) -> None:
        if self._payments is None:
            return
        body = {"customer": request.body["customer"], "cents": request.body["total_cents"]}
        timeout_s = float(self._node.settings["payments_timeout_s"])
        try:
            self._payments.call(request.trace, Call("POST", "/charges", body, None, timeout_s))
        except UpstreamError as error:
            self._node.telemetry.log("ERROR", f"charge failed: {error}", request.trace)
            raise Refused(_SERVICE_UNAVAILABLE, str(error)) from None

    def _keep_audit_session(self) -> None:
        """The bug of one release: a session opened for the audit trail is never given back."""
        every = int(self._node.settings["audit_session_every"])
        self._placed += 1
        if every and self._placed % every == 0:
            self._database.acquire()


def _order(row: list[Any]) -> dict[str, Any]:
    order_id, status, cents, placed_at = row
    age_s = round(time.time() - placed_at, 1)
    return {"id": order_id, "status": status, "total_cents": cents, "age_s": age_s}
