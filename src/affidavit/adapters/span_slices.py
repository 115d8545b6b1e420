"""What the readers of traces share: slices of a span, and a span as a row.

A store of traces has more of them than can be read. A few are taken from each slice of the time, so
that the quiet time and the incident are both there; that it is a sample is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.adapters.prometheus import Span

SLICES: Final = 6

SPANS_MAX: Final = 100_000
"""Of one capture; staging them takes a second."""

CAPTURE_S: Final = 20.0
"""All requests together, below what a tool call has."""


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One span, by our columns."""

    trace_id: str
    span_id: str
    parent_span_id: str
    service_name: str
    name: str
    timestamp: int
    duration_us: int
    kind: str = ""
    status_code: str = "UNSET"
    instance: str = ""
    status_message: str = ""


def slices_of(span: Span) -> Iterator[Span]:
    """The span in equal parts, the first one first."""
    length_s = (span.end_s - span.start_s) / SLICES
    for place in range(SLICES):
        start_s = span.start_s + place * length_s
        yield Span(start_s, start_s + length_s)
