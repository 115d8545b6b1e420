"""The window that a call's arguments ask for, in the names and forms that tools use.

An absence reaches no further than the search did (G9), so a window that cannot be placed is none:
`since: 5m` says nothing without the time of the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Window
from affidavit.tools.readers.moments import find_stamp, read_epoch
from affidavit.tools.readers.numbers import read_named, to_decimal

STARTS: Final = "start start_time startTime start_datetime from since start_timestamp begin".split()
ENDS: Final = "end end_time endTime end_datetime to until end_timestamp".split()
SPANS: Final = "since last lookback range time_range".split()
_SECONDS: Final = {"": 1, "s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}

SPAN_MAX: Final = 10**7
"""No search looks further back than a third of a year in seconds; more is a time, not a span."""

INSTANTS: Final = "time at timestamp".split()


def names_time(arguments: Mapping[str, object]) -> bool:
    """Whether any argument bounds the time that was asked about; `from` may name a place too."""
    named = {name: arguments.get(name) for name in (*STARTS, *ENDS, *SPANS, *INSTANTS)}
    return any(
        value not in (None, "")
        and (name not in ("from", "to") or any(c.isdigit() for c in str(value)) or value == "now")
        for name, value in named.items()
    )


def window_of(asked: Mapping[str, object], read_at: datetime | None) -> Window | None:
    """The closed window that the arguments name, or None where it cannot be placed.

    An open or relative end counts from `read_at`, the time of the call, if that is known.
    """
    start = next((moment for name in STARTS if (moment := _moment(asked.get(name)))), None)
    end = next((moment for name in ENDS if (moment := _moment(asked.get(name)))), None)
    if start is None and end is None:
        start = end = next((at for name in INSTANTS if (at := _moment(asked.get(name)))), None)
    open_end = all(asked.get(name) in (None, "", "now", "now()") for name in ENDS)
    end = end or (read_at if open_end else None)
    if start is None and end is not None:
        spans = (_span(asked.get(name)) for name in (*SPANS, *STARTS))
        span = next((found for found in spans if found is not None), None)
        start = None if span is None else end - span
    if start is None or end is None or end < start:
        return None
    return Window(start=start, end=end)


def _span(value: object) -> timedelta | None:
    """A length of time back from now: `1h`, `-3600`, `now-15m`; None for anything else."""
    text = str(value).removeprefix("now").removeprefix("-").strip() if value is not None else ""
    quantity = read_named("since", text)
    seconds = _SECONDS.get(quantity.unit) if quantity else None
    if quantity is None or seconds is None or not 0 < quantity.number < SPAN_MAX:
        return None
    return timedelta(seconds=float(quantity.number) * seconds)


def _moment(value: object) -> datetime | None:
    if isinstance(value, str):
        stamp = find_stamp(value.strip())
        if stamp is not None and stamp.has_zone and stamp.has_date and stamp.has_year:
            return stamp.moment
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, str)):
        return None
    number = to_decimal(str(value))
    return None if number is None else read_epoch(number)
