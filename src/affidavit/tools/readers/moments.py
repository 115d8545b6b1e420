"""Points in time as sources write them, with or without a zone, a year or a date.

A stamp without a zone is never silently taken for UTC: it becomes an instant only where reading it
as UTC puts it inside the window that the call asked for (R26); otherwise it stays text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Window

STAMP_CHARS_MAX: Final = 48
"""The longest form below with room; nothing beyond it is looked at."""

EPOCH_UNITS: Final = ((10**17, 10**9), (10**14, 10**6), (10**11, 10**3), (10**8, 1))
"""An epoch number is told by its size: nanoseconds, microseconds, milliseconds, seconds, each from
1973 on; smaller numbers are no times."""

EPOCH_MAX: Final = 10**20
"""Nanoseconds until the year 5138."""

_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1
    )
}
_CLOCK: Final = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,12}))?"
_ZONE: Final = r"(?:\s?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d|[+-]\d\d(?![\d:])))?"
_MONTH: Final = r"(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY_NAME: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        rf"(?P<year>\d{{4}})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T ]{_CLOCK}{_ZONE}",
        rf"(?P<day>\d\d)/{_MONTH}/(?P<year>\d{{4}})[: ]{_CLOCK}{_ZONE}",
        rf"(?:{_DAY_NAME},? )?(?P<day>\d{{1,2}}) {_MONTH} (?P<year>\d{{4}}) {_CLOCK}{_ZONE}",
        (
            rf"(?:{_DAY_NAME},? )?{_MONTH} {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK}{_ZONE}"
            r" (?P<year>\d{4})(?: (?P<zone2>GMT|UTC))?"
        ),
        rf"{_MONTH} {{1,2}}(?P<day>\d{{1,2}}) {_CLOCK}",
        rf"[IWEFD](?P<month>\d\d)(?P<day>\d\d) {_CLOCK}",
        rf"{_CLOCK}(?P<zone>Z)?",
    )
)
_START: Final = re.compile(r"[\d\[(]|[A-Z][a-z]{2}[ ,]|[IWEFD]\d{4} ")


@dataclass(frozen=True, slots=True)
class Stamp:
    """A point in time as it was written: what was said, and what was left out."""

    moment: datetime
    end: int
    has_zone: bool
    has_year: bool = True
    has_date: bool = True

    def instant(self, window: Window | None) -> datetime | None:
        """The instant, or None where what was left out cannot be told from the window."""
        if self.has_zone and self.has_date:
            return self.moment
        if window is None:
            return None
        fits = {moment for moment in self._readings(window) if window.start <= moment <= window.end}
        return fits.pop() if len(fits) == 1 else None

    def _readings(self, window: Window) -> tuple[datetime, ...]:
        clock = self.moment.timetz() if self.has_zone else self.moment.time().replace(tzinfo=UTC)
        if not self.has_date:
            days = {window.start.date(), window.end.date()}
            return tuple(datetime.combine(day, clock) for day in days)
        if self.has_year:
            return (datetime.combine(self.moment.date(), clock),)
        years = {window.start.year, window.end.year}
        days = {day for year in years if (day := _day(year, self.moment.month, self.moment.day))}
        return tuple(datetime.combine(day, clock) for day in days)


def find_stamp(text: str) -> Stamp | None:
    """The time that a text begins with (after an opening bracket), or None."""
    head = text[:STAMP_CHARS_MAX]
    if not _START.match(head):
        return None
    opening = 1 if head[0] in "[(" else 0
    for form in _FORMS:
        found = form.match(head, opening)
        if found:
            stamp = _stamp(found)
            if stamp is not None:
                return stamp
    return None


def read_instant(text: str, window: Window | None = None) -> datetime | None:
    """The instant that the whole text is, or None. A name of a zone after an offset may follow."""
    text = text.strip()
    if not 8 <= len(text) <= STAMP_CHARS_MAX:
        return None
    stamp = find_stamp(text)
    if stamp is None or not re.fullmatch(r"[\])]?(?: [A-Z]{2,5})?", text[stamp.end :]):
        return None
    return stamp.instant(window)


def read_epoch(number: Decimal) -> datetime | None:
    """The instant of an epoch number in seconds, milli-, micro- or nanoseconds, by its size."""
    if not 0 < number < EPOCH_MAX:
        return None
    for least, scale in EPOCH_UNITS:
        if number >= least:
            micros = int(number * 1_000_000 / scale)
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    return None


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _stamp(found: re.Match[str]) -> Stamp | None:
    parts = found.groupdict()
    month = _MONTHS[parts["mon"].lower()] if parts.get("mon") else int(parts.get("month") or 1)
    year, day = parts.get("year"), parts.get("day")
    zone = _zone(parts.get("zone") or parts.get("zone2"))
    try:
        clock = time(
            int(parts["hour"]),
            int(parts["minute"]),
            int(parts["second"]),
            int((parts["fraction"] or "0").ljust(6, "0")[:6]),
            tzinfo=zone,
        )
        moment = datetime.combine(date(int(year or 2000), month, int(day or 1)), clock)
        moment = moment.astimezone(UTC) if zone is not None and day else moment
    except (ValueError, OverflowError):  # no moment, or one that UTC does not have
        return None
    return Stamp(
        moment,
        found.end(),
        has_zone=zone is not None,
        has_year=year is not None,
        has_date=day is not None,
    )


def _zone(text: str | None) -> timezone | None:
    if text is None:
        return None
    if text in ("Z", "UTC", "GMT"):
        return UTC
    hours, minutes = int(text[1:3]), int(text[3:].lstrip(":") or 0)
    if hours > 14 or minutes > 59:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if text[0] == "-" else offset)
