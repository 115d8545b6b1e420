"""The queue: messages in order, one under way at a time, a rejected one comes back first."""

import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from affidavit.lab.instruments import QUEUE_AGE, QUEUE_DEPTH
from affidavit.lab.nodes.node import Node, Refused, Request

_NOT_FOUND = 404


@dataclass(slots=True)
class _Message:
    number: int
    body: Any
    traceparent: str
    put_at: float
    deliveries: int = 0


class Broker:
    """An ordered queue without a dead-letter queue."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._messages: deque[_Message] = deque()
        self._lock = threading.Lock()
        self._numbers = 0
        node.telemetry.gauge(QUEUE_DEPTH, lambda: len(self._messages))
        node.telemetry.gauge(QUEUE_AGE, self._oldest_s)
        node.route("POST", "/messages", self.put)
        node.route("POST", "/messages/take", self.take)
        node.route("POST", "/messages/{number}/ack", self.ack)
        node.route("POST", "/messages/{number}/reject", self.reject)

    def _oldest_s(self) -> float:
        with self._lock:
            return time.monotonic() - self._messages[0].put_at if self._messages else 0.0

    def put(self, request: Request) -> Any:
        """Add a message at the end."""
        with self._lock:
            self._numbers += 1
            message = _Message(self._numbers, request.body, request.trace.header, time.monotonic())
            self._messages.append(message)
        return {"number": message.number}

    def take(self, _: Request) -> Any:
        """The message at the head, which stays there until it is acknowledged."""
        with self._lock:
            if not self._messages:
                return {"message": None}
            head = self._messages[0]
            head.deliveries += 1
            return {
                "message": {
                    "number": head.number,
                    "body": head.body,
                    "traceparent": head.traceparent,
                    "deliveries": head.deliveries,
                }
            }

    def ack(self, request: Request) -> Any:
        """Remove the message at the head: it is done."""
        with self._lock:
            if not self._messages or self._messages[0].number != int(request.values["number"]):
                raise Refused(_NOT_FOUND, f"message {request.values['number']} is not at the head")
            self._messages.popleft()
        return {}

    def reject(self, request: Request) -> Any:
        """The consumer could not do it: the message stays at the head."""
        number = request.values["number"]
        with self._lock:
            deliveries = self._messages[0].deliveries if self._messages else 0
        text = f"message {number} rejected by its consumer, delivery {deliveries}; kept at the head"
        self._node.telemetry.log("WARN", text, request.trace, "platform")
        return {}
