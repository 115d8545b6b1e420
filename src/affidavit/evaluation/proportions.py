"""A share with how sure one can be of it (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

Z_95: Final = 1.959963984540054
"""The normal quantile of a two-sided interval of 95 %."""


def wilson(hits: float, of: int) -> tuple[float, float] | None:
    """The Wilson score interval at 95 % (Wilson 1927), which also holds for 0 of n.

    None of nothing. `hits` is a fraction where a case's runs are averaged. Of independent cases;
    those of one scenario are not, see `clusters` of a score.
    """
    if not of:
        return None
    share, square = hits / of, Z_95**2
    middle = share + square / (2 * of)
    half = Z_95 * sqrt(max(0.0, share * (1 - share) / of + square / (4 * of**2)))
    scale = 1 + square / of
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """The share, or None of nothing: nothing was measured, and that is not zero."""
        return self.hits / self.of if self.of else None

    def interval(self) -> tuple[float, float] | None:
        """The Wilson score interval at 95 % (see `wilson`)."""
        return wilson(self.hits, self.of)
