"""The alert at the edge: fires on what the edge itself measured, and knows nothing of the fault."""

from dataclasses import dataclass
from statistics import median
from typing import Any

from affidavit.lab.instruments import DURATION, ERROR_RATIO

SLOW_FACTOR = 3.0
"""The edge is slow when its p95 is this many times its usual median …"""
SLOW_EXTRA_MS = 60.0
"""… and this much above it, so that a few milliseconds of noise alarm nobody."""
ERROR_RATIO_MAX = 0.05
"""The edge is failing when more than this share of its answers are 5xx."""
PASSES = 3
"""Consecutive measurements over the limit before the alert fires, as an alert rule's `for`."""


@dataclass(frozen=True, slots=True)
class Alert:
    """An alert that fired: `at_us` is the measurement that fired it, `since_us` the first over."""

    name: str
    signal: str
    metric: str
    since_us: int
    at_us: int
    text: str


class EdgeAlarm:
    """Feed it the edge's metric rows in order; it fires at most once."""

    def __init__(self, edge: str) -> None:
        self._edge = edge
        self._usual_ms: list[float] = []
        self._over: dict[str, list[int]] = {DURATION.name: [], ERROR_RATIO.name: []}
        self.fired: Alert | None = None

    def learn(self, rows: list[dict[str, Any]]) -> None:
        """Take what is measured in the baseline as usual."""
        self._usual_ms += [row["value"] for row in rows if self._is(row, DURATION.name, "p95")]

    def look(self, rows: list[dict[str, Any]]) -> Alert | None:
        """Judge one pass of measurements; returns the alert in the pass in which it fires."""
        if self.fired:
            return None
        usual_ms = median(self._usual_ms) if self._usual_ms else 0.0
        limit_ms = max(SLOW_FACTOR * usual_ms, usual_ms + SLOW_EXTRA_MS)
        for row in rows:  # errors first: a failing edge is often slow as well
            if self._is(row, ERROR_RATIO.name, "mean"):
                text = (
                    f"{self._edge}: {row['value']:.0%} of answers are server errors, "
                    f"over the limit of {ERROR_RATIO_MAX:.0%}"
                )
                self._count(row, ERROR_RATIO_MAX, ("HighErrorRatio", "errors", text))
        for row in rows:
            if self._is(row, DURATION.name, "p95"):
                text = (
                    f"{self._edge}: p95 latency is {row['value']:.0f} ms, over the limit of "
                    f"{limit_ms:.0f} ms (usually {usual_ms:.0f} ms)"
                )
                self._count(row, limit_ms, ("HighLatency", "latency", text))
        return self.fired

    def _is(self, row: dict[str, Any], metric: str, statistic: str) -> bool:
        return bool(
            row["service_name"] == self._edge
            and row["metric_name"] == metric
            and row["statistic"] == statistic
        )

    def _count(self, row: dict[str, Any], limit: float, says: tuple[str, str, str]) -> None:
        over = self._over[row["metric_name"]]
        if row["value"] <= limit:
            over.clear()
            return
        over.append(row["timestamp"])
        if len(over) >= PASSES and not self.fired:
            name, signal, text = says
            metric, at_us = row["metric_name"], row["timestamp"]
            self.fired = Alert(name, signal, metric, over[0], at_us, text)
