"""`resource_shifts` and `level_shifts`: metrics whose meaning their name tells, each by its rule.

What neither judges is `metric_scan`'s, so that a series has one judgement (ADR 0005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Change, Fact, Onset, Scope
from affidavit.ports.telemetry import Aspect, Plain
from affidavit.tools.capture.comparisons import Analysis, direction_of
from affidavit.tools.capture.rows import moment, number, quantity, text

RESOURCE_ABNORMAL: Final = Decimal(3)
"""Scales of the median: the usual three sigma of a robust scale."""

LEVEL_ABNORMAL: Final[Mapping[Aspect, Decimal]] = {
    Aspect.LATENCY: Decimal("0.693"),
    Aspect.CLIENT_LATENCY: Decimal("0.693"),
    Aspect.AVAILABILITY: Decimal(1),
    Aspect.ERRORS: Decimal(1),
}
"""A doubled latency (ln 2), a percentage point of availability, one more usual range of errors."""


def _resource(row: Mapping[str, Plain], scope: Scope) -> Sequence[Fact]:
    change = _change(row, scope, number(row, "strength") >= RESOURCE_ABNORMAL)
    if row.get("normal_us") is None or row.get("abnormal_us") is None:
        return (change,)
    began = Onset(
        subject=change.subject,
        attribute=change.attribute,
        earliest=moment(row, "normal_us"),
        latest=moment(row, "abnormal_us"),
    )
    return (change, began)


def _level(row: Mapping[str, Plain], scope: Scope) -> Sequence[Fact]:
    least = LEVEL_ABNORMAL[Aspect(text(row, "aspect"))]
    return (_change(row, scope, number(row, "strength") >= least),)


def _change(row: Mapping[str, Plain], scope: Scope, anomalous: bool) -> Change:
    unit = text(row, "unit")
    before, after = quantity(row, "before", unit), quantity(row, "after", unit)
    return Change(
        subject=text(row, "service"),
        attribute=text(row, "metric"),
        statistic=text(row, "statistic") or None,
        before=before,
        after=after,
        direction=direction_of(before, after),
        score=number(row, "strength"),
        anomalous=anomalous,
        window=scope.window,
    )


RESOURCE_SHIFTS: Final = Analysis(
    name="resource_shifts",
    question="resource_shifts",
    signal="metrics",
    description="How far cpu and memory of each service rose above their own median, and since "
    "when. Strongest first.",
    rule="cpu and memory of a service; before: median of the declared quiet window and the 30 min "
    "before; after: the second highest sample of the window; score: their difference in scales of "
    "max(1.4826 MAD, 15 % of the median, 2 points of cpu or 1 of memory); utilization goes before "
    f"raw usage; anomalous from {RESOURCE_ABNORMAL} scales; onset: between the sample before and "
    "the first one three scales above",
    facts=_resource,
)

LEVEL_SHIFTS: Final = Analysis(
    name="level_shifts",
    question="level_shifts",
    signal="metrics",
    description="How far latency and errors of each service rose and availability fell beyond what "
    "was usual before. Strongest first.",
    rule="series of latency, errors or availability by name; before: the 95th percentile (5th of "
    "availability) of the quiet window or the 30 min before, whichever is worse; after: the second "
    "most extreme sample of the window; score: of latency ln((after + 5 ms) / (before + 5 ms)), of "
    "availability the percentage points lost, of errors the rise in usual ranges; anomalous from "
    "ln 2, 1 point, 1 range; of each service and kind the strongest series",
    facts=_level,
)
