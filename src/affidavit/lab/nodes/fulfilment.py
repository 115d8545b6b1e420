"""Fulfilment: takes orders from the queue one by one and ships them."""

import time
from typing import Any

from affidavit.lab.instruments import DELIVERIES, REJECTIONS
from affidavit.lab.nodes.node import Node
from affidavit.lab.nodes.telemetry import Span, Trace, describe_crash, now_us
from affidavit.lab.nodes.upstream import Call, UpstreamError, run_statement

_SHIP_SQL = "UPDATE orders SET status = 'shipped' WHERE id = ?"
_POLL_S = 0.2  # between two looks into an empty queue
_PAUSE_S = 1.0  # after a message that could not be done, before the next attempt


class Fulfilment:
    """A consumer with one message under way at a time."""

    def __init__(self, node: Node) -> None:
        self._node = node
        node.declare(database="shop-db", queue="order-queue")
        self._database = node.upstream(node.settings["database"], connections_max=4)
        self._queue = node.upstream(node.settings["queue"])
        node.telemetry.count(DELIVERIES, 0)
        node.telemetry.count(REJECTIONS, 0)
        node.background(self._consume)

    def _consume(self) -> None:
        polling = Trace.begin(sampled=False).child()  # an empty poll is no piece of work
        while not self._node.draining.is_set():
            try:
                answer = self._queue.call(polling, Call("POST", "/messages/take"))
                if answer["message"]:
                    self._deliver(answer["message"])
                else:
                    time.sleep(_POLL_S)
            except UpstreamError as error:
                self._node.telemetry.log("WARN", f"queue: {error}")
                time.sleep(_PAUSE_S)

    def _deliver(self, message: dict[str, Any]) -> None:
        producer = Trace.read(message["traceparent"]) or Trace.begin(sampled=False)
        trace, started_us, started = producer.child(), now_us(), time.perf_counter()
        self._node.telemetry.count(DELIVERIES)
        failure: str | None = None
        try:
            self._ship(trace, message["body"])
        except (UpstreamError, ValueError, KeyError, TypeError) as error:
            failure = f"{type(error).__name__}: {error}"
            text = f"message {message['number']} failed, delivery {message['deliveries']}"
            self._node.telemetry.log("ERROR", f"{text}\n{describe_crash(error)}", trace)
        elapsed_us = int((time.perf_counter() - started) * 1e6)
        self._node.telemetry.record(
            Span(trace, producer.span_id, "ship order", "CONSUMER", started_us, elapsed_us, failure)
        )
        path = f"/messages/{message['number']}/{'reject' if failure else 'ack'}"
        self._queue.call(trace, Call("POST", path, label="POST settle"))
        if failure:
            self._node.telemetry.count(REJECTIONS)
            time.sleep(_PAUSE_S)

    def _ship(self, trace: Trace, order: dict[str, Any]) -> None:
        parcels = -(-int(order["quantity"]) // 2)
        time.sleep(0.005 * parcels)  # packing
        run_statement(self._database, trace, "UPDATE order", _SHIP_SQL, (order["order"],))
