"""From the samples of a Prometheus to the rows of a metrics table (pure).

Samples are taken as they were scraped, with their own times, so that an onset is an interval
between two real samples. A counter becomes a rate between two of them; over a reset there is none.
The labels that tell neither service nor instance are summed over for counters (the total of a
service is what a shift is measured on), and stand behind the instance for gauges.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final, TypeAlias

from affidavit.adapters.backend_tables import PrometheusTable

Row: TypeAlias = tuple[int, str, str, str, str, str, str]
"""timestamp (µs), service, metric, value, unit, statistic, instance: the columns of metrics."""

COUNTER_SUFFIXES: Final = ("_total", "_count", "_sum", "_bucket")
STATUS_LABELS: Final = ("code", "status", "status_code", "http_status_code",
                        "http_response_status_code")  # fmt: skip
SERVER_ERROR: Final = re.compile(r"5(\d\d|xx)")

UNITS: Final = (
    ("_seconds", "s"),
    ("_milliseconds", "ms"),
    ("_ms", "ms"),
    ("_bytes", "By"),
    ("_ratio", "1"),
    ("_percent", "%"),
    ("_celsius", "Cel"),
)

FAILURES: Final = ("errors", "failures", "failed")
TOTALS: Final = ("count", "requests", "")
"""`X_errors_total` over `X_count_total`, `X_requests_total` or `X_total` is a share of failures."""

NO_SERVICE: Final = "unknown"
ID_LABELS_MAX: Final = 4  # further labels behind an instance; more make no name


@dataclass(frozen=True, slots=True)
class Samples:
    """One series as it was answered: its labels, and (seconds, value) pairs as text."""

    labels: Mapping[str, str]
    values: Sequence[tuple[float, str]]


Key: TypeAlias = tuple[str, str, str]  # service, instance, metric
Points: TypeAlias = dict[int, float]  # µs to value


def read_matrix(data: object) -> Iterator[Samples]:
    """The series of an answer's `data`. Raises ValueError for what is no matrix."""
    if not isinstance(data, dict) or data.get("resultType") != "matrix":
        raise ValueError("no matrix")
    for entry in data["result"]:
        pairs = entry.get("values", ())
        yield Samples(
            {str(name): str(value) for name, value in entry["metric"].items()},
            [(float(at), str(value)) for at, value in pairs],
        )


def rows_of(
    series: Iterable[Samples], table: PrometheusTable, kinds: Mapping[str, str]
) -> Iterator[Row]:
    """The rows of raw series. `kinds` are the types that the metadata tell (counter, gauge, …)."""
    counters: dict[Key, Points] = defaultdict(lambda: defaultdict(float))
    failed: dict[Key, Points] = defaultdict(lambda: defaultdict(float))
    for one in series:
        name = one.labels.get("__name__", "")
        if not is_counter(name, kinds):
            yield from _gauge(one, name, table)
            continue
        service, instance = service_of(one.labels, table), instance_of(one.labels, table)
        key = (service, instance, name)
        is_failure = any(
            SERVER_ERROR.fullmatch(one.labels.get(label, "")) for label in STATUS_LABELS
        )
        for at_us, rate in rates(one.values):
            counters[key][at_us] += rate
            if is_failure:
                failed[key][at_us] += rate
        if any(label in one.labels for label in STATUS_LABELS):
            failed[key]  # a service without any failure has a share of none
    yield from _counted(counters, failed, table)


def is_counter(name: str, kinds: Mapping[str, str]) -> bool:
    """Whether a series only grows, by what its metadata say, else by its name."""
    kind = kinds.get(name)
    if kind in {"gauge", "counter"}:
        return kind == "counter"
    stem = next((name.removesuffix(end) for end in COUNTER_SUFFIXES if name.endswith(end)), None)
    if stem is not None and kinds.get(stem) in {"histogram", "summary", "counter"}:
        return True
    return name.endswith(COUNTER_SUFFIXES)


def rates(values: Sequence[tuple[float, str]]) -> Iterator[tuple[int, float]]:
    """The growth a second between neighbouring samples, at the later one's time."""
    before: tuple[float, float] | None = None
    for at_s, text in values:
        value = _number(text)
        if value is None:
            continue
        if before is not None and value >= before[1] and at_s > before[0]:
            yield int(at_s * 1e6), (value - before[1]) / (at_s - before[0])
        before = (at_s, value)


def service_of(labels: Mapping[str, str], table: PrometheusTable) -> str:
    """The first label that names a service."""
    return next((labels[n] for n in table.service_labels if labels.get(n)), NO_SERVICE)


def instance_of(labels: Mapping[str, str], table: PrometheusTable) -> str:
    """The first label that names an instance; empty where none does."""
    return next((labels[n] for n in table.instance_labels if labels.get(n)), "")


def unit_of(metric: str, table: PrometheusTable) -> str:
    """The unit of a metric: as configured, else as its name ends."""
    stem = metric
    for end in ("_total", "_count", "_sum", "_bucket"):
        stem = stem.removesuffix(end)
    told = table.units.get(metric) or table.units.get(stem)
    return told or next((unit for end, unit in UNITS if stem.endswith(end)), "")


def _gauge(one: Samples, name: str, table: PrometheusTable) -> Iterator[Row]:
    labels = dict(one.labels)
    service, instance = service_of(labels, table), instance_of(labels, table)
    statistic = _statistic(labels.get("quantile"))
    skipped = {"__name__", "quantile", *table.service_labels, *table.instance_labels}
    further = [
        f"{label}={value}"
        for label, value in sorted(labels.items())
        if label not in skipped and value != service
    ]
    place = " ".join((instance, *further[:ID_LABELS_MAX])).strip()
    unit = unit_of(name, table)
    for at_s, text in one.values:
        if _number(text) is not None:
            yield int(at_s * 1e6), service, name, text, unit, statistic, place


def _statistic(quantile: str | None) -> str:
    """`p95` of the quantile 0.95; `gauge` where there is none."""
    if quantile is None:
        return "gauge"
    try:
        return f"p{(Decimal(quantile) * 100).normalize():f}"
    except InvalidOperation:
        return "gauge"


def _counted(
    counters: Mapping[Key, Points], failed: Mapping[Key, Points], table: PrometheusTable
) -> Iterator[Row]:
    """Rates, shares of failures, and means where a sum has its count."""
    for (service, instance, name), points in counters.items():
        if name.endswith("_sum"):
            yield from _means(counters, (service, instance, name), table)
            continue
        metric = name.removesuffix("_total")
        for at_us, rate in points.items():
            yield at_us, service, metric, f"{rate:.6g}", "1/s", "rate", instance
        bad = failed.get((service, instance, name))
        if bad is None:
            bad = _failures_beside(counters, (service, instance, name))
        if bad is not None:
            stem = metric.removesuffix("_count")
            for at_us, rate in points.items():
                if rate > 0:
                    share = min(1.0, bad.get(at_us, 0.0) / rate)
                    yield (
                        at_us,
                        service,
                        f"{stem}_error_ratio",
                        f"{share:.6g}",
                        "1",
                        "mean",
                        instance,
                    )


def _failures_beside(counters: Mapping[Key, Points], key: Key) -> Points | None:
    """The counter of failures that belongs to a counter of all, by their names."""
    service, instance, name = key
    if not name.endswith("_total"):
        return None
    metric = name.removesuffix("_total")
    for ending in TOTALS:
        stem = metric.removesuffix(f"_{ending}") if ending else metric
        if ending and stem == metric:
            continue
        for word in FAILURES:
            found = counters.get((service, instance, f"{stem}_{word}_total"))
            if found is not None:
                return found
    return None


def _means(counters: Mapping[Key, Points], key: Key, table: PrometheusTable) -> Iterator[Row]:
    service, instance, name = key
    stem = name.removesuffix("_sum")
    counts = counters.get((service, instance, f"{stem}_count"), {})
    unit = unit_of(stem, table)
    for at_us, grown in counters[key].items():
        count = counts.get(at_us, 0.0)
        if count > 0:
            yield at_us, service, stem, f"{grown / count:.6g}", unit, "mean", instance


def _number(text: str) -> float | None:
    try:
        value = float(Decimal(text))
    except (InvalidOperation, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None
