"""A share with how sure one can be of it (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

Z_95: Final = 1.959963984540054
"""The normal quantile of a two-sided interval of 95 %."""


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
        """The Wilson score interval at 95 % (Wilson 1927), which also holds for 0 of n.

        Of independent cases; those of one scenario are not, see `clusters` of a score.
        """
        if not self.of:
            return None
        share, square = self.hits / self.of, Z_95**2
        middle = share + square / (2 * self.of)
        half = Z_95 * sqrt(share * (1 - share) / self.of + square / (4 * self.of**2))
        scale = 1 + square / self.of
        return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
