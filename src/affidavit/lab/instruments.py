"""What the rig measures, as one table: the processes expose it, the scraper reads it back.

Names follow OpenTelemetry's semantic conventions where these have one; a Prometheus text page
spells them with underscores, so the table is also the way back. Durations are milliseconds,
memory is bytes, ratios are 0 to 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Shape(StrEnum):
    """How a measurement behaves: only ever growing, going up and down, or a distribution."""

    COUNTER = "counter"
    GAUGE = "gauge"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Instrument:
    """One measured quantity: its OpenTelemetry name, its unit, its shape."""

    name: str
    unit: str
    shape: Shape

    @property
    def exposed(self) -> str:
        """The name on the Prometheus text page."""
        stem = self.name.replace(".", "_")
        return f"{stem}_total" if self.shape is Shape.COUNTER else stem


REQUESTS = Instrument("http.server.request.count", "{request}/s", Shape.COUNTER)
ERRORS = Instrument("http.server.request.errors", "{request}/s", Shape.COUNTER)
DURATION = Instrument("http.server.request.duration", "ms", Shape.SUMMARY)
ACTIVE = Instrument("http.server.active_requests", "{request}", Shape.GAUGE)
POOL_USED = Instrument("db.client.connection.count", "{connection}", Shape.GAUGE)
POOL_MAX = Instrument("db.client.connection.max", "{connection}", Shape.GAUGE)
POOL_TIMEOUTS = Instrument("db.client.connection.timeouts", "{timeout}/s", Shape.COUNTER)
STATEMENT_DURATION = Instrument("db.server.statement.duration", "ms", Shape.SUMMARY)
LOCK_TIMEOUTS = Instrument("db.server.lock.timeouts", "{timeout}/s", Shape.COUNTER)
LOCK_HELD = Instrument("db.server.write_lock.held_time", "ms", Shape.GAUGE)
CACHE_LOOKUPS = Instrument("cache.lookups", "{lookup}/s", Shape.COUNTER)
CACHE_HITS = Instrument("cache.hits", "{lookup}/s", Shape.COUNTER)
CACHE_ENTRIES = Instrument("cache.entries", "{entry}", Shape.GAUGE)
QUEUE_DEPTH = Instrument("messaging.queue.depth", "{message}", Shape.GAUGE)
QUEUE_AGE = Instrument("messaging.queue.oldest_message.age", "s", Shape.GAUGE)
DELIVERIES = Instrument("messaging.consumer.deliveries", "{message}/s", Shape.COUNTER)
REJECTIONS = Instrument("messaging.consumer.rejections", "{message}/s", Shape.COUNTER)

EXPOSED: Final[Mapping[str, Instrument]] = {
    instrument.exposed: instrument
    for instrument in (
        REQUESTS, ERRORS, DURATION, ACTIVE, POOL_USED, POOL_MAX, POOL_TIMEOUTS,
        STATEMENT_DURATION, LOCK_TIMEOUTS, LOCK_HELD, CACHE_LOOKUPS, CACHE_HITS,
        CACHE_ENTRIES, QUEUE_DEPTH, QUEUE_AGE, DELIVERIES, REJECTIONS,
    )
}  # fmt: skip
"""Every instrument by its name on the text page."""

# What the scraper computes or reads from /proc by itself; no process exposes these.
CPU = Instrument("process.cpu.utilization", "1", Shape.GAUGE)
MEMORY = Instrument("process.memory.usage", "By", Shape.GAUGE)
THREADS = Instrument("process.thread.count", "{thread}", Shape.GAUGE)
UP = Instrument("up", "1", Shape.GAUGE)
ERROR_RATIO = Instrument("http.server.request.error_ratio", "1", Shape.GAUGE)

QUANTILES: Final[Mapping[str, str]] = {"0.5": "p50", "0.95": "p95", "0.99": "p99"}
"""The quantiles that a summary exposes, and the statistic each becomes in the folder."""
