"""What a run may spend (K3), by profile (S4 section 5.4)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pydantic import Field

from affidavit.contract.record import Record


class Limits(Record):
    """The ceilings of one run. Time asleep, waiting for a person, is not run time.

    `money_micros` is in millionths of the currency; None means that money is not limited, and
    then a model whose price nobody knows may be asked.
    """

    iterations: int = Field(ge=1)
    tokens: int = Field(ge=0)
    timeout_s: int = Field(ge=1)
    tool_calls: int = Field(ge=1)
    concurrency: int = Field(ge=1)
    money_micros: int | None = Field(default=None, ge=0)


PROFILES: Final[Mapping[str, Limits]] = MappingProxyType(
    {
        "simple": Limits(iterations=5, tokens=20_000, timeout_s=60, tool_calls=20, concurrency=4),
        "standard": Limits(
            iterations=10, tokens=80_000, timeout_s=180, tool_calls=60, concurrency=4
        ),
        "research": Limits(
            iterations=20, tokens=300_000, timeout_s=600, tool_calls=200, concurrency=4
        ),
    }
)
"""Iterations, tokens and time are S4's; tool calls allow about six a step, and four at once is
what a small back end bears."""
