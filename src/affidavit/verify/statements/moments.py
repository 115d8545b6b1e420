"""Moments in text: full ones, days, and times of day, each with the precision it was written with.

A time of day without a date means that time on whichever day the evidence has; without a zone it
means the zone that the evidence speaks in. A stated moment matches a fact that is the same when cut
to the stated precision: 02:11:07 is 02:11:07.218, and 12:10 is 12:10:00.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

_MONTHS: Final[Mapping[str, int]] = MappingProxyType(
    {
        name: place
        for place, names in enumerate(
            (
                "jan january", "feb february", "mar march", "apr april", "may", "jun june",
                "jul july", "aug august", "sep sept september", "oct october", "nov november",
                "dec december",
            ),
            start=1,
        )
        for name in names.split()
    }
)  # fmt: skip
_MONTH: Final = (
    r"(?P<mon>[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|[Mm]ar(?:ch)?|[Aa]pr(?:il)?|May|[Jj]une?|[Jj]uly?"
    r"|[Aa]ug(?:ust)?|[Ss]ept?(?:ember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)"
)
_TIME: Final = (
    r"(?P<h>[01]\d|2[0-4]|\d(?=:)):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:[.,](?P<f>\d{1,9}))?)?"
)
_ZONE: Final = r"(?P<z>Z\b| ?(?:UTC|GMT)\b| ?[+-]\d{2}:?\d{2}\b| ?\+00\b)?"

_DAYS_BETWEEN: Final = r" ?[、，,和与及至到~—–-] ?"
_DAYS: Final = re.compile(
    r"(?:(?P<y>20\d{2}) ?年 ?)?(?P<mo>\d{1,2}) ?月 ?(?P<days>\d{1,2}(?: ?[日号])?"
    rf"(?:{_DAYS_BETWEEN}\d{{1,2}}(?: ?[日号])?(?![\d:.]| ?月)){{1,9}}(?<=[日号])"
    r"(?: ?\d{1,2}:\d{2}(?::\d{2})?(?:Z| ?UTC)?)?)"
)
_DAY: Final = re.compile(rf"(?<![\d:])(?P<d>\d{{1,2}})(?![\d:])(?: ?[日号])?(?: ?{_TIME}{_ZONE})?")
"""One of the days of such a list, with its time of day where it has one."""

_SHAPES: Final = (
    re.compile(
        rf"(?<![\d.])(?P<y>20\d{{2}})[-/](?P<mo>\d{{2}})[-/](?P<d>\d{{2}})[T ]{_TIME}{_ZONE}"
    ),
    re.compile(rf"(?P<d>\d{{1,2}})/{_MONTH}/(?P<y>20\d{{2}}):{_TIME}{_ZONE}"),
    re.compile(
        rf"{_MONTH} {{1,2}}(?P<d>\d{{1,2}})(?:,? (?P<y1>20\d{{2}}))?,? (?:at )?{_TIME}{_ZONE}"
        r"(?: (?P<y>20\d{2})(?: ?(?:GMT|UTC))?)?"
    ),
    re.compile(rf"(?P<d>\d{{1,2}}) {_MONTH}(?: (?P<y>20\d{{2}}))?,? (?:at )?{_TIME}{_ZONE}"),
    re.compile(
        rf"(?:(?P<y>20\d{{2}}) ?年 ?)?(?P<mo>\d{{1,2}}) ?月 ?(?P<d>\d{{1,2}}) ?[日号] ?的?{_TIME}{_ZONE}"
    ),
    re.compile(
        r"(?<![\d.\-])(?P<y>20\d{2})(?P<mo>[01]\d)(?P<d>[0-3]\d)(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)"
        r"(?P<s>[0-5]\d)(?P<z>Z)?(?![\d.])"
    ),
    re.compile(r"(?<![\d.\-])(?P<y>20\d{2})[-/](?P<mo>\d{2})[-/](?P<d>\d{2})(?![\d\-])"),
    re.compile(rf"\b{_MONTH} {{1,2}}(?P<d>\d{{1,2}})(?!\d|:)(?:,? (?P<y>20\d{{2}}))?"),
    re.compile(rf"(?<![\d.:])(?P<d>\d{{1,2}}) {_MONTH}\b(?: (?P<y>20\d{{2}}))?"),
    re.compile(r"(?:(?P<y>20\d{2}) ?年 ?)?(?P<mo>\d{1,2}) ?月 ?(?P<d>\d{1,2}) ?[日号]"),
    re.compile(rf"(?<![\d:.\-/]){_TIME}{_ZONE}(?![:\d]|\.\d)"),
)
"""From the fullest shape to the barest; what a fuller one took, a barer one does not see."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment as written: which parts of it were, and where it stands in its text.

    `offset` is the stated zone's distance from UTC, None where none was stated. `precision_s` is
    the last place written, in seconds: 86400 for a day, 60, 1, or a fraction.
    """

    start: int
    end: int
    text: str
    year: int | None
    month: int | None
    day: int | None
    clock_s: float | None
    precision_s: float
    offset: timedelta | None

    def instant(self) -> datetime | None:
        """The full moment in UTC; None where a part of it was not written."""
        if self.year is None or self.month is None or self.day is None or self.clock_s is None:
            return None
        try:
            midnight = datetime(self.year, self.month, self.day, tzinfo=UTC)
        except ValueError:
            return None
        return midnight + timedelta(seconds=self.clock_s) - (self.offset or timedelta())

    def midnight(self) -> datetime | None:
        """The beginning of a whole day in UTC, where no time of day was written."""
        if self.year is None or self.month is None or self.day is None or self.clock_s is not None:
            return None
        try:
            return datetime(self.year, self.month, self.day, tzinfo=UTC)
        except ValueError:
            return None

    def matches(self, fact: datetime, zone: timedelta = timedelta()) -> bool:
        """Whether a fact's moment is this one, at the precision written.

        `zone` is the offset that an unzoned moment is read in.
        """
        local = fact.astimezone(UTC) + (self.offset if self.offset is not None else zone)
        if self.year is not None and local.year != self.year:
            return False
        if self.month is not None and (local.month, local.day) != (self.month, self.day):
            return False
        if self.clock_s is None:
            return self.month is not None
        clock = local.hour * 3600 + local.minute * 60 + local.second + local.microsecond / 1e6
        return -1e-6 <= clock - self.clock_s < self.precision_s - 1e-6

    def is_like(self, other: Moment) -> bool:
        """Whether two written moments can be the same, at the coarser precision of the two."""
        if self.month is not None and other.month is not None:
            if (self.month, self.day) != (other.month, other.day):
                return False
            if None not in (self.year, other.year) and self.year != other.year:
                return False
        if self.clock_s is None or other.clock_s is None:
            return self.clock_s is other.clock_s and None not in (self.month, other.month)
        coarse = max(self.precision_s, other.precision_s)
        return self.clock_s // coarse == other.clock_s // coarse


def find_moments(text: str) -> tuple[Moment, ...]:
    """Every moment in a text, in order, none overlapping. Linear in the text."""
    found: list[Moment] = []
    masked = text

    def take(match: re.Match[str]) -> str:
        moment = _moment(match)
        if moment is None:
            return match[0]
        found.append(moment)
        return "\0" * len(match[0])

    for item in _elided(text):
        found.append(item)
        masked = masked[: item.start] + "\0" * (item.end - item.start) + masked[item.end :]
    for shape in _SHAPES:
        masked = shape.sub(take, masked)
    return tuple(sorted(found, key=lambda moment: moment.start))


def _elided(text: str) -> Iterator[Moment]:
    """Days that share their month (10 月 18、19 和 20 日, 10 月 1 日至 21 日 01:45), each of them."""
    for match in _DAYS.finditer(text):
        year, month = match["y"], int(match["mo"])
        for day in _DAY.finditer(text, match.start("days"), match.end("days")):
            start = match.start() if day.start() == match.start("days") else day.start()
            clock, precision = _clock(day.groupdict())
            if not (1 <= month <= 12 and 1 <= int(day["d"]) <= 31):
                continue
            yield Moment(
                start=start, end=day.end(), text=text[start : day.end()],
                year=int(year) if year else None, month=month, day=int(day["d"]),
                clock_s=clock, precision_s=precision, offset=_offset(day["z"]),
            )  # fmt: skip


def _moment(match: re.Match[str]) -> Moment | None:
    parts = match.groupdict()
    month = int(parts["mo"]) if parts.get("mo") else _MONTHS.get((parts.get("mon") or "").lower())
    day = int(parts["d"]) if parts.get("d") else None
    if month is not None and not (1 <= month <= 12 and 1 <= (day or 1) <= 31):
        return None
    year = parts.get("y") or parts.get("y1")
    clock, precision = _clock(parts)
    return Moment(
        start=match.start(),
        end=match.end(),
        text=match[0],
        year=int(year) if year else None,
        month=month,
        day=day,
        clock_s=clock,
        precision_s=precision,
        offset=_offset(parts.get("z")),
    )


def _clock(parts: Mapping[str, str | None]) -> tuple[float | None, float]:
    if parts.get("h") is None:
        return None, 86_400.0
    clock = int(parts["h"] or 0) * 3600 + int(parts["m"] or 0) * 60
    if parts.get("s") is None:
        return float(clock), 60.0
    fraction = parts.get("f") or ""
    seconds = clock + int(parts["s"] or 0)
    if not fraction:
        return float(seconds), 1.0
    return seconds + int(fraction) / 10 ** len(fraction), 10.0 ** -len(fraction)


def _offset(zone: str | None) -> timedelta | None:
    if not zone:
        return None
    bare = zone.strip()
    if bare in {"Z", "UTC", "GMT", "+00"}:
        return timedelta()
    sign = -1 if bare[0] == "-" else 1
    digits = bare[1:].replace(":", "")
    return sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
