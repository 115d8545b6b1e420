"""The shape of every record that crosses a wall: strict, frozen, closed.

Strict means that no value is coerced; frozen that no field is set after making; closed that an
unknown field is refused. Numbers are decimals and travel as JSON strings, so that what is hashed
reads back as the same bytes in any language and rounding can be checked exactly. Times are aware,
in UTC, to the microsecond.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainSerializer


class Record(BaseModel):
    """A strict, frozen, closed record."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


def to_utc(moment: datetime) -> datetime:
    """The same moment in UTC. Raises ValueError for a time without a zone (R26), and for one at
    either end of the calendar that UTC does not have."""
    if moment.tzinfo is UTC:  # as most are: written often, and read back already
        return moment
    if moment.tzinfo is None:
        raise ValueError("a time needs a zone, for example 2026-03-02T10:00:00Z")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time has to lie in the years 1 to 9999 of UTC") from None


def format_instant(moment: datetime) -> str:
    """RFC 3339 in UTC with `Z`, microseconds only where there are some."""
    utc = moment if moment.tzinfo is UTC else to_utc(moment)  # a call less, where most come by
    return f"{utc.isoformat()[:-6]}Z"


def _finite(number: Decimal) -> Decimal:
    if not number.is_finite():
        raise ValueError("a number must be finite")
    return number


Number = Annotated[
    Decimal, AfterValidator(_finite), PlainSerializer(str, return_type=str, when_used="json")
]
"""A finite decimal, a string in JSON."""

Instant = Annotated[datetime, AfterValidator(to_utc)]
"""A moment with a zone, kept in UTC. In JSON as `format_instant` writes it: pydantic's own writer
says the same of a moment in UTC, for half the time."""
