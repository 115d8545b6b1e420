"""Units, and when a stated number is the number of a fact.

A unit is a dimension and a factor to its base. Numbers compare only within a dimension; a number
without a unit is a plain count. Conversions are exact decimals; nothing is ever compared as a
float. A number matches a fact that rounds to it at the digits it was stated with (ISO 80000-1,
annex B); "about" allows five per cent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Final

ABOUT: Final = Decimal("0.05")
"""What "about", "roughly", 约 allow: the second digit may be off, the first may not."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A dimension, and how many of its base unit this is."""

    dimension: str
    factor: Decimal


def _table(dimension: str, entries: Mapping[str, str]) -> dict[str, Unit]:
    return {
        name: Unit(dimension, Decimal(factor))
        for factor, names in entries.items()
        for name in names.split()
    }


_TIME: Final = {
    "0.000000001": "ns nanosecond nanoseconds nanos 纳秒",
    "0.000001": "us µs μs microsecond microseconds micros 微秒",
    "0.001": "ms msec msecs millisecond milliseconds millis 毫秒",
    "1": "s sec secs second seconds 秒 秒钟",
    "60": "min mins minute minutes 分钟 分",
    "3600": "h hr hrs hour hours 小时 个小时",
    "86400": "d day days 天",
    "604800": "w week weeks 周",
}
_BYTES: Final = {
    "1": "B By byte bytes Bytes 字节",
    "1000": "kB KB kb kBy kilobyte kilobytes Kilobytes",
    "1000000": "MB mb MBy megabyte megabytes Megabytes",
    "1000000000": "GB gb GBy gigabyte gigabytes Gigabytes",
    "1000000000000": "TB tb TBy terabyte terabytes Terabytes",
    "1024": "K Ki KiB KiBy kibibytes",
    "1048576": "M Mi MiB MiBy mebibytes",
    "1073741824": "G Gi GiB GiBy gibibytes",
    "1099511627776": "T Ti TiB tebibytes",
}
_RATIO: Final = {
    "0.01": "% percent per-cent pct Percent 百分之 个百分点",
    "0.001": "‰ permille",
    "1": "ratio fraction 1",
}
_RATE: Final = {
    "1": "1/s /s per-second rps qps tps req/s Count/Second ops/s {requests}/s /sec per-sec",
    "0.0166666666666666666666666667": "1/min /min per-minute rpm",
    "0.000277777777777777777777777778": "1/h /h per-hour",
}
_FLOW: Final = {
    "1": "B/s By/s Bytes/Second bytes/s",
    "1000": "kB/s KB/s Kilobytes/Second",
    "1000000": "MB/s Megabytes/Second",
    "1024": "KiB/s",
    "1048576": "MiB/s",
    "1073741824": "GiB/s",
}
_CORES: Final = {"1": "core cores cpu cpus vcpu 核", "0.001": "mcpu millicores mcores"}
_BITS: Final = {
    "1": "bit/s bits/s bps",
    "1000": "kbit/s Kbit/s kbps Kbps",
    "1000000": "Mbit/s Mbps mbps",
    "1000000000": "Gbit/s Gbps gbps",
}
_PRESSURE: Final = {"1": "Pa", "100": "mbar hPa", "1000": "kPa", "100000": "bar", "6894.76": "psi"}
_FREQUENCY: Final = {"1": "Hz", "1000": "kHz", "1000000": "MHz", "1000000000": "GHz"}
_POWER: Final = {"1": "W watt watts", "1000": "kW kilowatt kilowatts"}
_TENSION: Final = {"0.001": "mV", "1": "V volt volts", "1000": "kV"}
_CURRENT: Final = {"0.001": "mA", "1": "ampere amperes amps"}

UNITS: Final[Mapping[str, Unit]] = MappingProxyType(
    {
        **_table("time", _TIME),
        **_table("bytes", _BYTES),
        **_table("ratio", _RATIO),
        **_table("rate", _RATE),
        **_table("flow", _FLOW),
        **_table("cores", _CORES),
        **_table("bits", _BITS),
        **_table("pressure", _PRESSURE),
        **_table("frequency", _FREQUENCY),
        **_table("power", _POWER),
        **_table("tension", _TENSION),
        **_table("current", _CURRENT),
        **_table("celsius", {"1": "°C celsius"}),
        **_table("fahrenheit", {"1": "°F fahrenheit"}),
        **_table("level", {"1": "dBm"}),
    }
)
"""Every unit that is understood. A word that is not here counts things."""

_NAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ns": "ns", "nanos": "ns", "us": "us", "micros": "us", "ms": "ms", "millis": "ms",
        "milliseconds": "ms", "msec": "ms", "seconds": "s", "secs": "s", "sec": "s",
        "second": "s", "minutes": "min", "mins": "min", "hours": "h", "days": "d",
        "bytes": "By", "kb": "kB", "kib": "KiB", "mb": "MB", "mib": "MiB", "gb": "GB",
        "gib": "GiB", "percent": "%", "pct": "%", "percentage": "%", "ratio": "ratio",
        "fraction": "ratio", "rps": "rps", "qps": "qps", "mbps": "Mbps", "kbps": "kbps",
        "gbps": "Gbps", "pa": "Pa", "hpa": "hPa", "kpa": "kPa", "mbar": "mbar", "bar": "bar",
        "psi": "psi", "hz": "Hz", "khz": "kHz", "mhz": "MHz", "ghz": "GHz", "kw": "kW", "mv": "mV",
        "kv": "kV", "volts": "V", "dbm": "dBm", "celsius": "°C", "fahrenheit": "°F",
    }
)  # fmt: skip
"""The unit that the last word of a field's name speaks of: `duration_ms`, `IntervalSeconds`."""


_ANNOTATION: Final = re.compile(r"\{[^{}]{0,80}\}")


_COUNTED: Final = re.compile(r"[A-Za-z]{4,24}/(s|sec|second|min|minute|h|hour)", re.IGNORECASE)
"""So many things a second: `requests/s`, `messages/min`."""
_PER: Final[Mapping[str, str]] = MappingProxyType(
    {"s": "/s", "sec": "/s", "second": "/s", "min": "/min", "minute": "/min", "h": "/h",
     "hour": "/h"}
)  # fmt: skip


def unit_of(text: str) -> Unit | None:
    """The unit with that name, or None when the word only counts things or is not known.

    An annotation in braces names what is counted and is no part of the unit (UCUM section 6).
    """
    if "{" in text:
        text = _ANNOTATION.sub("", text)
    known = UNITS.get(text) or UNITS.get(text.lower())
    if known is None and (counted := _COUNTED.fullmatch(text)):
        return UNITS[_PER[counted[1].lower()]]
    return known


def named_unit(words: tuple[str, ...]) -> str:
    """The unit in a field's name, from its words in order; empty for none.

    A short one (`queued_s`, `duration_min`) is a unit only behind another word, and "min" only
    behind one of time: else it is a minimum.
    """
    for place in range(len(words) - 1, -1, -1):
        word = words[place]
        if word in _NAMED:
            return "" if is_busy_time(words) else _NAMED[word]
        if place and word == "s":
            return "s"
        if place and word in {"min", "h", "d"} and words[place - 1] in _TIMED:
            return word
    return ""


def is_busy_time(words: tuple[str, ...]) -> bool:
    """Whether a name's words take a counter of seconds by the second, which measures no time.

    `rate(node_cpu_seconds_total[5m])` is how many are busy, a bare number.
    """
    for place, word in enumerate(words[:-1]):
        if _NAMED.get(word) == "s" and words[place + 1] == "total":
            return not _RATING.isdisjoint(words[:place])
    return False


_RATING: Final = frozenset({"rate", "irate"})
_TIMED: Final = frozenset(
    "duration time elapsed uptime age wait waited runtime took interval window timeout ttl delay "
    "queued lag period took".split()
)
"""What a field measures in time where its name says so."""


SCALED: Final = Decimal("0.05")
"""How much of a number written with a word of scale its last place may be."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A number as somebody wrote it: with its unit, its digits, and whether it was "about" it."""

    number: Decimal
    unit: str = ""
    about: bool = False

    @property
    def step(self) -> Decimal:
        """One unit in the last place that was written; of "5 million" no more than its share."""
        exponent = self.number.as_tuple().exponent
        place = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
        return place if place <= 1 else max(Decimal(1), min(place, abs(self.number) * SCALED))


def convert(number: Decimal, unit: str, to: str) -> Decimal | None:
    """The number in another unit, or None where the two units do not measure the same thing.

    A number without a unit stays as it is; a bare number and a per cent do not convert.
    """
    have, want = unit_of(unit), unit_of(to)
    if have is None or want is None:
        return number if have is want else None
    if have.dimension != want.dimension:
        return None
    return number * have.factor / want.factor


def _base_of(unit: str) -> str:
    """A bare number may be bytes, and no other measure: counters of bytes seldom say so."""
    known = UNITS.get(unit) or UNITS.get(unit.lower())
    return "B" if known and known.dimension == "bytes" and known.factor == 1 else ""


def agrees(stated: Stated, number: Decimal, unit: str) -> bool:
    """Whether a fact is what was stated, at the digits it was stated with."""
    if not stated.unit or not unit_of(stated.unit):
        converted: Decimal | None = number
    else:
        converted = convert(number, unit or _base_of(stated.unit), stated.unit)
    if converted is None:
        return False
    slack = stated.step / 2
    if stated.about:
        slack = max(slack, abs(stated.number) * ABOUT)
    return abs(converted - stated.number) <= slack


_CLOCK: Final = re.compile(r"(?:(\d{1,4}) days?,? )?(\d{1,3}):(\d{2}):(\d{2}(?:\.\d{1,9})?)")
_PARTS: Final = re.compile(
    r"(\d{1,9}(?:\.\d{1,9})?) ?(ms|µs|us|ns|days?|d|hours?|hrs?|h|minutes?|mins?|min|m"
    r"|seconds?|secs?|s)(?![A-Za-z])"
)
_PART_UNIT: Final[Mapping[str, str]] = MappingProxyType({"m": "min"})


def read_duration(text: str) -> Decimal | None:
    """The seconds of `00:06:41`, `2m48s`, `17 min 22 s`, `2d5h`; None for anything else."""
    clock = _CLOCK.fullmatch(text.strip())
    if clock:
        days, hours, minutes, seconds = clock.groups()
        return (
            Decimal(days or 0) * 86400 + Decimal(hours) * 3600 + Decimal(minutes) * 60
            + Decimal(seconds)
        )  # fmt: skip
    total, place = Decimal(0), 0
    stripped = text.strip()
    while place < len(stripped):
        part = _PARTS.match(stripped, place)
        if part is None:
            return None
        unit = _PART_UNIT.get(part[2], part[2])
        total += Decimal(part[1]) * UNITS[unit].factor
        place = part.end()
        while place < len(stripped) and stripped[place] == " ":
            place += 1
    return total if stripped else None
