"""What /metrics says, in Prometheus' text format. No label carries a tenant, a run or a word that
somebody outside made up: their number is bounded by the code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from affidavit.ports.incidents import DeliveryState

LAG_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(slots=True)
class Meters:
    """The meters of one service; each has its own registry, so that two can live in one process."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    requests: Counter = field(init=False)
    request_s: Histogram = field(init=False)
    started: Counter = field(init=False)
    ended: Counter = field(init=False)
    troubles: Counter = field(init=False)
    deliveries: Counter = field(init=False)
    event_lag_s: Histogram = field(init=False)

    def __post_init__(self) -> None:
        """Make the meters."""
        ours = self.registry
        self.requests = Counter(
            "affidavit_http_requests", "Requests", ("method", "route", "status"), registry=ours
        )
        self.request_s = Histogram(
            "affidavit_http_request_seconds", "Duration of requests", ("route",), registry=ours
        )
        self.started = Counter(
            "affidavit_runs_started", "Runs started here", ("profile",), registry=ours
        )
        self.ended = Counter("affidavit_runs_ended", "Runs ended here", ("outcome",), registry=ours)
        self.troubles = Counter(
            "affidavit_engine_troubles", "Runs that could not be driven", ("code",), registry=ours
        )
        self.deliveries = Counter(
            "affidavit_delivery_attempts",
            "Attempts to deliver, by what came of it: delivered, pending (again) or dead",
            ("state",),
            registry=ours,
        )
        for state in get_args(DeliveryState):
            self.deliveries.labels(state)
        self.event_lag_s = Histogram(
            "affidavit_stream_event_lag_seconds",
            "From an event's line in the journal to its write",
            registry=ours,
            buckets=LAG_BUCKETS_S,
        )

    def watch(self, name: str, says: str, look: Callable[[], float]) -> None:
        """A gauge that is read when somebody asks."""
        Gauge(name, says, registry=self.registry).set_function(look)

    def note_request(
        self, method: str, route: str, status: int, elapsed_s: float, _: str | None
    ) -> None:
        """One request was answered."""
        self.requests.labels(method, route, str(status)).inc()
        self.request_s.labels(route).observe(elapsed_s)

    def note_delivery(self, state: str) -> None:
        """One attempt to deliver ended so."""
        self.deliveries.labels(state).inc()

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self.registry)
