"""From which strength on a signal counts: what its own tool calls abnormal. Pure.

A strength is measured against the service's own past already: in scales of its usual spread, as a
logarithm of a ratio, as a share. So its scale is known before any incident was seen, and nothing
about it is fitted: neither the traffic of a system, nor how many services it has, nor which faults
it was hit by. A signal that no case of a fit shows counts as its tool says, and not for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Final

from affidavit.agents.signals import Signal, Weight
from affidavit.ports.telemetry import Aspect
from affidavit.tools.capture.log_shifts import EXCESS_ABNORMAL
from affidavit.tools.capture.metric_scan import THRESHOLD
from affidavit.tools.capture.metric_shifts import LEVEL_ABNORMAL, RESOURCE_ABNORMAL
from affidavit.tools.capture.span_shifts import (
    DOUBLED,
    ENDING_ABNORMAL,
    FAILED_ABNORMAL,
    LOST_ABNORMAL,
)

NOISE_SHARE: Final = 0.75
"""Below three quarters of abnormal a strength is noise; at three halves it has half support."""

ABNORMAL: Final[Mapping[Signal, float]] = {
    Signal.CPU: float(RESOURCE_ABNORMAL),
    Signal.MEMORY: float(RESOURCE_ABNORMAL),
    Signal.EDGE: log(DOUBLED) * log(2),  # of a service with one edge, and that one hot
    Signal.SELF_TIME: log(DOUBLED),
    Signal.LOST: 2 * float(LOST_ABNORMAL),  # the tool's half is one of hundreds of steps
    Signal.ENDED: float(ENDING_ABNORMAL) / 2,  # in one of the two views
    Signal.HANDED: float(ENDING_ABNORMAL),  # in both: it is its callers who show it
    Signal.ERROR_LOG: float(EXCESS_ABNORMAL),
    Signal.ERROR_SPAN: float(FAILED_ABNORMAL),
    Signal.LATENCY: float(LEVEL_ABNORMAL[Aspect.LATENCY]),
    Signal.CLIENT_LATENCY: float(LEVEL_ABNORMAL[Aspect.CLIENT_LATENCY]),
    Signal.AVAILABILITY: float(LEVEL_ABNORMAL[Aspect.AVAILABILITY]),
    Signal.ERROR_RATE: float(LEVEL_ABNORMAL[Aspect.ERRORS]),
    Signal.SATURATION: 2 * float(THRESHOLD),  # the largest of all series that a service has
}
"""The strength that each signal's tool calls abnormal, or a plain multiple of it."""


def scale_of(signal: Signal, weight: float = 1.0) -> Weight:
    """A signal's noise level and half, to three decimals, as they stand in the file of weights."""
    least = round(NOISE_SHARE * ABNORMAL[signal], 3)
    return Weight(weight=weight, zero=least, half=least)
