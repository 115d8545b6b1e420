"""The scales of signals are their tools', and the file of weights keeps them."""

from __future__ import annotations

from math import log

import pytest

from affidavit.adapters import interruption_sql, log_sql, telemetry_sql, trace_sql
from affidavit.agents.scales import ABNORMAL, scale_of
from affidavit.agents.signals import Signal
from affidavit.agents.weighing import shipped_weights


def test_every_signal_has_a_scale() -> None:
    assert set(ABNORMAL) == set(Signal)
    assert all(scale > 0 for scale in ABNORMAL.values())


@pytest.mark.spec("M5")
def test_what_is_listed_and_what_is_abnormal_is_one_rule() -> None:
    """The adapters' SQL and the tools say it twice, since neither may import the other."""
    assert ABNORMAL[Signal.CPU] == telemetry_sql.ABNORMAL_SCALES
    assert ABNORMAL[Signal.SELF_TIME] == pytest.approx(log(trace_sql.HOT_RATIO))
    assert ABNORMAL[Signal.EDGE] == pytest.approx(log(trace_sql.HOT_RATIO) * log(2))
    assert ABNORMAL[Signal.ERROR_LOG] == log_sql.RISEN_LN
    least = interruption_sql.ENDED_Z / interruption_sql.FULL_Z
    assert ABNORMAL[Signal.ENDED] == pytest.approx(least / 2, abs=0.005)


@pytest.mark.parametrize("signal", Signal)
def test_the_shipped_weights_stand_on_these_scales(signal: Signal) -> None:
    row = shipped_weights().signals[signal]
    assert (row.zero, row.half) == (scale_of(signal).zero, scale_of(signal).half)
