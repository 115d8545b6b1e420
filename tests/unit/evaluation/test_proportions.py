"""Shares and their intervals, against published figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.evaluation.proportions import Share


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, table I: method 3 (Wilson, no correction).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_wilson_s(hits: int, of: int, low: float, high: float) -> None:
    interval = Share(hits, of).interval()
    assert interval is not None
    assert interval == pytest.approx((low, high), abs=5e-5)


def test_a_share_of_nothing_is_no_zero() -> None:
    assert Share(0, 0).value is None
    assert Share(0, 0).interval() is None


@given(st.integers(1, 1000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_the_interval_holds_the_share(pair: tuple[int, int]) -> None:
    share = Share(*pair)
    interval = share.interval()
    assert interval is not None
    assert share.value is not None
    assert 0 <= interval[0] <= share.value + 1e-12
    assert share.value - 1e-12 <= interval[1] <= 1
