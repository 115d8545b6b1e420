"""What a process says about itself: spans, JSON log lines and a Prometheus text page."""

import json
import secrets
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from affidavit.lab.instruments import QUANTILES, Instrument

SUMMARY_WINDOW_S = 5.0
"""A quantile covers this much of the past: one default sampling step, so that two neighbouring
samples share no request and an onset is not smeared over several of them."""

_SUMMARY_VALUES_MAX = 4096  # a bound on memory; the load generator stays far below it
_TRACEPARENT_PARTS = 4
_FRAMES_MAX = 3  # what a log keeps of a crash


@dataclass(frozen=True, slots=True)
class Trace:
    """Where a piece of work stands in its trace (W3C Trace Context, version 00).

    `span_id` is the span that the work runs in, None before the first one.
    """

    trace_id: str
    span_id: str | None
    sampled: bool

    @classmethod
    def begin(cls, sampled: bool) -> "Trace":
        """A new trace without a span yet."""
        return cls(secrets.token_hex(16), None, sampled)

    @classmethod
    def read(cls, header: str | None) -> "Trace | None":
        """The caller's trace from its `traceparent` header; None when there is no valid one."""
        parts = (header or "").split("-")
        if len(parts) != _TRACEPARENT_PARTS or parts[0] != "00":
            return None
        _, trace_id, span_id, flags = parts
        if len(trace_id) != 32 or len(span_id) != 16 or flags not in ("00", "01"):
            return None
        return cls(trace_id, span_id, flags == "01")

    def child(self) -> "Trace":
        """The same trace, in a new span below this one."""
        return Trace(self.trace_id, secrets.token_hex(8), self.sampled)

    @property
    def header(self) -> str:
        """The `traceparent` header to send with a call made from this span."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"


@dataclass(frozen=True, slots=True)
class Span:
    """One finished piece of work. `started_us` is epoch microseconds."""

    trace: Trace
    parent_span_id: str | None
    name: str
    kind: str
    started_us: int
    duration_us: int
    failure: str | None


def describe_crash(error: Exception) -> str:
    """The innermost frames and the error, as a traceback prints them, files by name alone."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES_MAX:]
    lines = [
        f'  File "{Path(frame.filename).name}", line {frame.lineno}, in {frame.name}\n'
        f"    {frame.line}"
        for frame in frames
    ]
    text = "".join(traceback.format_exception_only(error)).strip()
    return "\n".join(["Traceback (most recent call last):", *lines, text])


def now_us() -> int:
    """The wall clock in epoch microseconds."""
    return time.time_ns() // 1000


class Telemetry:
    """Writes one process's logs and spans to `folder`, and holds its measurements.

    Each line is flushed as it is written, so that a killed process loses nothing it has said.
    """

    def __init__(self, folder: Path, service: str, instance: str) -> None:
        self._service = service
        self._instance = instance
        self._lock = threading.Lock()
        self._logs = self._open(folder / f"{instance}.logs.jsonl")
        self._spans = self._open(folder / f"{instance}.traces.jsonl")
        self._counters: dict[str, float] = {}
        self._gauges: dict[str, Callable[[], float]] = {}
        self._summaries: dict[str, deque[tuple[float, float]]] = {}

    @staticmethod
    def _open(path: Path) -> TextIO:
        return path.open("a", encoding="utf-8", buffering=1)

    def close(self) -> None:
        """Close the files; nothing can be written afterwards."""
        self._logs.close()
        self._spans.close()

    def log(
        self, severity: str, body: str, trace: Trace | None = None, emitter: str = "workload"
    ) -> None:
        """Write one log line. `emitter` says whose words these are (platform, workload, request).

        A trace id is written only where the trace is recorded, so that it can be followed.
        """
        traced = trace if trace is not None and trace.sampled else None
        row = {
            "timestamp": now_us(),
            "service_name": self._service,
            "severity_text": severity,
            "body": body,
            "instance": self._instance,
            "trace_id": traced.trace_id if traced else None,
            "span_id": traced.span_id if traced else None,
            "emitter": emitter,
        }
        self._write(self._logs, row)

    def record(self, span: Span) -> None:
        """Write one span, if its trace is sampled."""
        if not span.trace.sampled:
            return
        row = {
            "trace_id": span.trace.trace_id,
            "span_id": span.trace.span_id,
            "parent_span_id": span.parent_span_id,
            "service_name": self._service,
            "name": span.name,
            "kind": span.kind,
            "timestamp": span.started_us,
            "duration_us": span.duration_us,
            "status_code": "ERROR" if span.failure else "OK",
            "status_message": span.failure,
            "instance": self._instance,
        }
        self._write(self._spans, row)

    def _write(self, stream: TextIO, row: dict[str, Any]) -> None:
        line = json.dumps(row, ensure_ascii=False) + "\n"
        with self._lock:
            stream.write(line)

    def count(self, instrument: Instrument, amount: float = 1) -> None:
        """Add to a counter; `count(x, 0)` makes it visible before the first event."""
        with self._lock:
            name = instrument.exposed
            self._counters[name] = self._counters.get(name, 0) + amount

    def gauge(self, instrument: Instrument, read: Callable[[], float]) -> None:
        """Register a value that is read when somebody looks."""
        self._gauges[instrument.exposed] = read

    def observe(self, instrument: Instrument, value: float) -> None:
        """Add one observation to a summary."""
        with self._lock:
            values = self._summaries.setdefault(
                instrument.exposed, deque(maxlen=_SUMMARY_VALUES_MAX)
            )
            values.append((time.monotonic(), value))

    def exposition(self) -> str:
        """The Prometheus text page. A quantile without a recent observation is left out."""
        since = time.monotonic() - SUMMARY_WINDOW_S
        with self._lock:
            counters = dict(self._counters)
            recent = {
                name: sorted(value for at, value in values if at >= since)
                for name, values in self._summaries.items()
            }
        lines = [
            *_typed("counter", ((name, f"{value:.15g}") for name, value in counters.items())),
            *_typed("gauge", ((name, f"{read():.15g}") for name, read in self._gauges.items())),
        ]
        for name, values in recent.items():
            lines.append(f"# TYPE {name} summary")
            lines += [
                f'{name}{{quantile="{q}"}} {quantile(values, float(q)):.3f}'
                for q in QUANTILES
                if values
            ]
        return "\n".join(lines) + "\n"


def _typed(shape: str, samples: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, value in samples:
        yield f"# TYPE {name} {shape}"
        yield f"{name} {value}"


def quantile(ordered: list[float], q: float) -> float:
    """The nearest-rank quantile of a sorted, non-empty list: always a value that occurred."""
    return ordered[max(0, -(-int(q * 1000) * len(ordered) // 1000) - 1)]
