"""A number with its unit, as a source wrote it. Units are kept as written; judges compare them."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

from affidavit.contract.evidence import Cell, Quantity
from affidavit.contract.states import Emitter

DIGITS_MAX: Final = 40
"""More digits than any counter, timestamp or float prints; longer ones are identifiers."""

EXPONENT_MAX: Final = 400
"""Beyond a double's range; an exact decimal with a larger exponent is a denial of service."""

_UNIT: Final = (
    r"%|‰|°C|ns|us|µs|μs|ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?"
    r"|[kKMGTPE]i?B?|[kKMGTPE]i?B/s|[kKMGTP]bps|[Bb]|By|bytes?|B/s|bps"
    r"|Hz|[kKMG]Hz|rps|qps|tps|iops|IOPS|req/s|ops/s|/s|/min|1/s|x|cores?|rows?|times"
)
_QUANTITY: Final = re.compile(
    rf"([+-]?(?:\d{{1,3}}(?:,\d{{3}}){{1,8}}|\d{{1,40}})(?:\.\d{{0,40}})?|[+-]?\.\d{{1,40}})"
    rf"((?:[eE][+-]?\d{{1,3}})?)[ ]?({_UNIT})?",
)
_LEADING: Final = re.compile(r"([+-]?\d[\w.%µμ/]{0,40}) \(")
_DURATION: Final = re.compile(
    r"(?:(\d{1,6})y)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?"
    r"(?:(\d{1,6}(?:\.\d{1,12})?)s)?(?:(\d{1,6}(?:\.\d{1,12})?)ms)?"
)
_IS_TIME: Final = re.compile(r"age|duration|seen|uptime|elapsed|since|schedule|timeout|interval")
_DURATION_S: Final = (31_536_000, 86_400, 3_600, 60)


def to_decimal(text: str) -> Decimal | None:
    """The decimal that a plain number is, or None for anything else or beyond the bounds."""
    if not text or len(text) > 2 * DIGITS_MAX:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > EXPONENT_MAX:
        return None
    return number


def to_number(value: object) -> Decimal | None:
    """The decimal of a JSON number as Python holds it; None for anything else, bounds as above."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    if isinstance(value, int) and abs(value) >= 10**DIGITS_MAX:
        return None
    return to_decimal(repr(value) if isinstance(value, float) else str(value))


def to_quantity(number: Decimal, unit: str = "") -> Quantity:
    """A quantity of a number."""
    return Quantity(number=number, unit=unit)


def read_quantity(text: str) -> Quantity | None:
    """The quantity that the whole text is: `5000ms`, `97.4%`, `1,024`, `8Gi`, `-1.5e3`.

    A compound duration (`2m48s`) becomes seconds. A fraction, an address, a date is none.
    """
    text = text.strip()
    if not text or len(text) > 2 * DIGITS_MAX or not (text[0].isdigit() or text[0] in "+-."):
        return None
    found = _QUANTITY.fullmatch(text)
    if found:
        number = to_decimal(found[1].replace(",", "") + found[2])
        return None if number is None else Quantity(number=number, unit=found[3] or "")
    return read_duration(text)


def read_duration(text: str) -> Quantity | None:
    """Seconds of a compound duration such as `2d5h`, `3m12s`, `1h2m3.5s`, or None."""
    found = _DURATION.fullmatch(text)
    parts = found.groups() if found else ()
    if sum(part is not None for part in parts) < 2:
        return None
    seconds = sum(
        (Decimal(part) * scale for part, scale in zip(parts, _DURATION_S, strict=False) if part),
        Decimal(0),
    )
    seconds += Decimal(parts[4] or 0) + Decimal(parts[5] or 0) / 1000
    return Quantity(number=seconds, unit="s")


def read_named(name: str, text: str) -> Quantity | None:
    """The quantity of a field's text; a bare `m` is minutes of an age, thousandths of a CPU."""
    quantity = read_quantity(text)
    if quantity is None or quantity.unit != "m":
        return quantity
    field = name.lower()
    unit = "mcpu" if "cpu" in field else "min" if _IS_TIME.search(field) else "m"
    return Quantity(number=quantity.number, unit=unit)


def to_cell(name: str, text: str, emitter: Emitter | None = None) -> Cell:
    """A cell from text: its quantity where it is one, with the text where that says more."""
    quantity = read_named(name, text)
    if quantity is None:
        leading = _LEADING.match(text)
        quantity = read_named(name, leading[1]) if leading else None
        return Cell(name=name, quantity=quantity, text=text, emitter=emitter)
    plain = f"{quantity.number}{quantity.unit}"
    return Cell(name=name, quantity=quantity, text=None if plain == text else text, emitter=emitter)
