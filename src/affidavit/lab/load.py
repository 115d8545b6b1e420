"""The load generator: customers at the edge, a process of its own, bounded in count and time.

Arrivals are open-loop (Poisson): customers do not wait for each other, so a slow system fills up
as a real one does. It writes no telemetry; it is outside the system.
"""

import http.client
import json
import random
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from affidavit.lab.lifeline import bind_to_parent, watch_parent
from affidavit.lab.nodes.database import CUSTOMERS, PRODUCTS
from affidavit.lab.nodes.upstream import LOOPBACK

IN_FLIGHT_MAX = 64
"""Requests under way at once; further arrivals turn away, as customers do."""
REQUESTS_MAX = 100_000
"""No recording needs more; a bound on a generator that nobody stops."""
_TIMEOUT_S = 10.0
_CONFIRM_AFTER_S = 8.0  # when a customer looks whether the order was confirmed …
_CONFIRM_BEFORE_S = 20.0  # … and no later, so that the edge tells about now
_WORDS = ("lamp", "article 9", "article A", "article 2F", "teapot", "why is payments down")


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """One JSON line on standard input."""

    port: int
    rate_per_s: float
    mix: Mapping[str, float]
    duration_s: float
    seed: int

    def to_line(self) -> str:
        """The JSON line, with its newline."""
        return json.dumps({name: getattr(self, name) for name in self.__dataclass_fields__}) + "\n"


class Customers:
    """Sends the mix until the time or the count is over."""

    def __init__(self, spec: LoadSpec) -> None:
        self._spec = spec
        self._dice = random.Random(spec.seed)  # noqa: S311 - arrivals, not secrets
        self._local = threading.local()
        self._places = threading.Semaphore(IN_FLIGHT_MAX)
        self._placed: deque[tuple[float, int]] = deque(maxlen=10_000)
        self._rate_factor = 1.0

    def obey(self, line: str) -> None:
        """A further line on standard input changes the rate: `{"rate_factor": 2}`."""
        self._rate_factor = float(json.loads(line)["rate_factor"])

    def run(self) -> None:
        """Send requests until the bound is reached; returns when the last one has ended."""
        end = time.monotonic() + self._spec.duration_s
        operations, shares = list(self._spec.mix), list(self._spec.mix.values())
        due = time.monotonic()
        with ThreadPoolExecutor(IN_FLIGHT_MAX) as pool:
            for _ in range(REQUESTS_MAX):
                due += self._dice.expovariate(self._spec.rate_per_s * self._rate_factor)
                time.sleep(max(0.0, due - time.monotonic()))
                if time.monotonic() > end:
                    return
                operation = self._dice.choices(operations, shares)[0]
                if self._places.acquire(blocking=False):
                    pool.submit(self._send, *self._request(operation))

    def _request(self, operation: str) -> tuple[str, str, Any]:
        dice = self._dice
        customer = int(CUSTOMERS * dice.random() ** 2)  # some customers come more often
        match operation:
            case "history":
                return "GET", f"/my-orders/{customer}", None
            case "order":
                return "GET", f"/orders/{dice.randrange(1, 10_000)}", None
            case "product":
                return "GET", f"/products/{1 + int(PRODUCTS * dice.random() ** 3)}", None
            case "search":
                return "GET", f"/search?q={dice.choice(_WORDS).replace(' ', '+')}", None
            case "confirmation":
                order = self._placed_before() or dice.randrange(1, 10_000)
                return "GET", f"/orders/{order}/confirmation", None
            case _:
                cents, quantity = dice.randrange(500, 90_000), dice.randrange(1, 4)
                body = {"customer": customer, "total_cents": cents, "quantity": quantity}
                return "POST", "/checkout", body

    def _placed_before(self) -> int | None:
        """An order placed a moment ago, whose customer now looks for its confirmation."""
        now = time.monotonic()
        while self._placed and self._placed[0][0] < now - _CONFIRM_BEFORE_S:
            self._placed.popleft()
        if self._placed and self._placed[0][0] < now - _CONFIRM_AFTER_S:
            return self._placed.popleft()[1]
        return None

    def _send(self, method: str, path: str, body: Any) -> None:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection(LOOPBACK, self._spec.port, timeout=_TIMEOUT_S)
            self._local.connection = connection
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, path, payload, {"user-agent": "Mozilla/5.0 (customer)"})
            response = connection.getresponse()
            answer = json.loads(response.read())
            if method == "POST" and response.status < http.HTTPStatus.BAD_REQUEST:
                self._placed.append((time.monotonic(), answer["id"]))
        except (OSError, http.client.HTTPException, ValueError):
            connection.close()  # the edge failed or was replaced: the next request reconnects
        finally:
            self._places.release()


def main() -> None:
    """Read the spec, send the load, exit."""
    bind_to_parent()
    spec = LoadSpec(**json.loads(sys.stdin.readline()))
    customers = Customers(spec)
    watch_parent(sys.stdin, customers.obey)
    customers.run()


if __name__ == "__main__":
    main()
