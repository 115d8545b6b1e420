"""A reading before and after, where one record of a document states both (a scan's finding).

    {entity, signal, direction, baseline, value, onset: {earliest, latest}}
    {endpoint, before, after}            below a document that names the metric and its unit

The two numbers are the source's own; nothing is computed here but which of them is larger. A
record without a signal, in itself or around it, gives none: what changed would be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final, Literal

from affidavit.contract.evidence import Change, Onset, Quantity, Window
from affidavit.tools.readers.bounds import FACT_CHARS_MAX
from affidavit.tools.readers.fields import is_list, to_instant, unit_of_field
from affidavit.tools.readers.numbers import read_quantity, to_number
from affidavit.tools.readers.words import clean

_ENDS: Final = (
    ("baseline", ("observed", "value", "current", "actual", "after", "now", "peak")),
    ("baseline_value", ("observed_value", "value", "current_value")),
    ("expected", ("observed", "actual", "value", "current")),
    ("normal", ("observed", "actual", "value", "current")),
    ("before", ("after", "now")),
    ("old", ("new",)),
    ("old_value", ("new_value",)),
    ("from", ("to",)),
    ("previous", ("current", "now", "new", "value")),
    ("prev", ("current", "now", "new", "value")),
)
"""What a field is called that holds the reading before, and what the one after it may be called."""

_SIGNALS: Final = "signal metric metric_name attribute measure indicator kpi field".split()
_STATISTICS: Final = ("statistic", "stat", "aggregation")
_UPWARD: Final = frozenset("up increase increased increasing rise rising higher".split())
_DOWNWARD: Final = frozenset("down decrease decreased decreasing fall falling drop lower".split())
_ABNORMAL: Final = ("anomalous", "abnormal", "anomaly", "is_anomaly", "is_anomalous")
_BEGINNING: Final = ("onset", "onset_window", "onset_interval")
_STARTS: Final = ("earliest", "start", "from", "not_before", "after")
_STOPS: Final = ("latest", "end", "to", "not_after", "before")
_STATISTIC_TAIL: Final = re.compile(r"[._ -](?:p\d{2,3}|avg|mean|max|min|sum|median|rate)$")

Direction = Literal["up", "down", "flat"]


def shifts_of(
    record: Mapping[str, object], subject: str | None, around: object
) -> Iterator[Change]:
    """The change that a record states, with the signal that it or the document names."""
    ends = _ends(record)
    frame = around if isinstance(around, Mapping) else {}
    signal = _text(record, _SIGNALS) or _text(frame, _SIGNALS)
    if ends is None or signal is None or subject is None or signal == subject:
        return
    unit = _text(record, ("unit",)) or _text(frame, ("unit",)) or _unit_of(signal)
    before, after = (
        item if item.unit else Quantity(number=item.number, unit=unit) for item in ends
    )
    yield Change(
        subject=subject,
        attribute=signal,
        statistic=_text(record, _STATISTICS) or _text(frame, _STATISTICS),
        before=before,
        after=after,
        direction=_direction(record, before.number, after.number),
        anomalous=_is_abnormal(record),
    )


def beginnings_of(
    record: Mapping[str, object], subject: str | None, window: Window | None
) -> Iterator[Onset]:
    """The onset that a record states as a moment or as an interval."""
    signal = _text(record, _SIGNALS)
    interval = _interval(record, window)
    if interval is None or signal is None or subject is None:
        return
    yield Onset(subject=subject, attribute=signal, earliest=interval.start, latest=interval.end)


def _interval(record: Mapping[str, object], window: Window | None) -> Window | None:
    for key in _BEGINNING:
        held = record.get(key)
        if isinstance(held, Mapping):
            first = next((held[name] for name in _STARTS if name in held), None)
            last = next((held[name] for name in _STOPS if name in held), None)
        elif is_list(held) and len(held) == 2:
            first, last = held
        else:
            first = held if held is not None else record.get(f"{key}_earliest")
            last = first if held is not None else record.get(f"{key}_latest")
        start, end = to_instant(first, window), to_instant(last, window)
        if start is not None and end is not None and start <= end:
            return Window(start=start, end=end)
    return None


def _ends(record: Mapping[str, object]) -> tuple[Quantity, Quantity] | None:
    for first, others in _ENDS:
        before = _quantity(record.get(first))
        if before is None:
            continue
        for other in others:
            after = _quantity(record.get(other))
            if after is not None:
                return before, after
    return None


def _quantity(value: object) -> Quantity | None:
    number = to_number(value)
    if number is not None:
        return Quantity(number=number)
    return read_quantity(value) if isinstance(value, str) else None


def _text(record: Mapping[str, object], names: tuple[str, ...] | list[str]) -> str | None:
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return clean(value.strip())[:FACT_CHARS_MAX]
    return None


def _unit_of(signal: str) -> str:
    return unit_of_field(_STATISTIC_TAIL.sub("", signal))


def _direction(record: Mapping[str, object], before: Decimal, after: Decimal) -> Direction:
    said = (_text(record, ("direction", "trend")) or "").casefold()
    if said in _UPWARD and after > before:
        return "up"
    if said in _DOWNWARD and after < before:
        return "down"
    return "up" if after > before else "down" if after < before else "flat"


def _is_abnormal(record: Mapping[str, object]) -> bool:
    """Whether the source calls it so, or gives it an onset."""
    said = [record[name] for name in _ABNORMAL if isinstance(record.get(name), bool)]
    return all(said) if said else any(record.get(name) for name in _BEGINNING)
