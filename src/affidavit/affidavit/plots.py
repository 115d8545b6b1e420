"""Plots of metric evidence as inline SVG, without script, style attribute or resource (pure).

What is drawn is what the file holds. A scan records two levels, before and within a window, and an
interval in which the deviation began; it draws as two levels, never as a curve. A series that was
read slice by slice draws as its slices. The incident's window is shaded, the onset marked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

from affidavit.affidavit.markup import Markup, join, tag
from affidavit.contract.evidence import Change, Fact, Onset, Value, Window

WIDTH: Final = 420
HEIGHT: Final = 224
LEFT: Final = 58
RIGHT: Final = 12
TOP: Final = 34
BOTTOM: Final = 44
"""Room for the axes and their names, in SVG units; narrow, so that a phone shows it legibly."""

PLOTS_MAX: Final = 8
"""Plots of one call; what is beyond stands in its facts, and the page says how many."""

POINTS_MIN: Final = 3
"""Fewer readings than this are no series."""

TICKS: Final = 4
_NICE: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_CLOCK_SECONDS_BELOW_S: Final = 600
_SPAN_MIN_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Series:
    """One signal of one subject, as a call recorded it. `facts` are its places in the call."""

    subject: str
    attribute: str
    statistic: str | None
    unit: str
    points: tuple[tuple[datetime, float], ...] = ()
    change: Change | None = None
    onset: Onset | None = None
    facts: tuple[int, ...] = ()

    @property
    def title(self) -> str:
        """Subject and signal in one line."""
        statistic = f" ({self.statistic})" if self.statistic else ""
        return f"{self.subject}: {self.attribute}{statistic}"


def series_of(facts: Sequence[Fact]) -> tuple[Series, ...]:
    """What of these facts can be drawn: changes with their onset, and readings over time."""
    onsets = {(fact.subject, fact.attribute): fact for fact in facts if isinstance(fact, Onset)}
    drawn: list[Series] = []
    readings: dict[tuple[str, str, str | None, str], list[tuple[int, datetime, float]]] = {}
    for place, fact in enumerate(facts):
        if isinstance(fact, Change) and fact.window is not None and _is_drawable(fact):
            drawn.append(_of_change(fact, place, onsets, facts))
        if isinstance(fact, Value) and fact.quantity is not None:
            moment = fact.at or (None if fact.window is None else _middle(fact.window))
            if moment is not None:
                key = (fact.subject, fact.attribute, fact.statistic, fact.quantity.unit)
                row = (place, moment, float(fact.quantity.number))
                readings.setdefault(key, []).append(row)
    for (subject, attribute, statistic, unit), rows in readings.items():
        if len(rows) >= POINTS_MIN:
            points = tuple(sorted((moment, number) for _, moment, number in rows))
            onset = onsets.get((subject, attribute))
            places = tuple(place for place, _, _ in rows)
            drawn.append(Series(subject, attribute, statistic, unit, points, None, onset, places))
    return tuple(drawn)


def _is_drawable(fact: Change) -> bool:
    return fact.before.unit == fact.after.unit


def _of_change(
    fact: Change,
    place: int,
    onsets: dict[tuple[str, str], Onset],
    facts: Sequence[Fact],
) -> Series:
    onset = onsets.get((fact.subject, fact.attribute))
    places = (place,) if onset is None else (place, list(facts).index(onset))
    return Series(
        fact.subject, fact.attribute, fact.statistic, fact.after.unit, (), fact, onset, places
    )


def _middle(window: Window) -> datetime:
    return window.start + (window.end - window.start) / 2


@dataclass(frozen=True, slots=True)
class _Frame:
    """From moments and numbers to SVG units."""

    start: datetime
    end: datetime
    low: float
    high: float

    def x(self, moment: datetime) -> float:
        share = (moment - self.start) / (self.end - self.start)
        return LEFT + min(1.0, max(0.0, share)) * (WIDTH - LEFT - RIGHT)

    def y(self, number: float) -> float:
        share = (number - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def draw(series: Series, shaded: Window | None, call: str = "") -> Markup:
    """One plot as a figure with a caption that says in words what it shows, and of which call."""
    frame = _frame(series)
    label = _unit(series.unit) or "value"
    shapes = join(
        _shade(frame, shaded),
        *_grid(frame),
        tag("text", label, x=str(LEFT - 50), y="20", class_="axis"),
        tag("text", "time, UTC", x=_n(WIDTH - RIGHT), y=_n(HEIGHT - 6), class_="axis end"),
        _onset(frame, series.onset),
        *(_levels(frame, series.change) if series.change else _curve(frame, series.points)),
    )
    svg = tag(
        "svg",
        shapes,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"Plot. {caption(series)}",
    )
    return tag(
        "figure",
        tag("figcaption", tag("bdi", series.title, class_="plot-title")),
        svg,
        tag("p", tag("bdi", caption(series)), f" {call}" if call else None, class_="note"),
    )


def _unit(unit: str) -> str:
    """A unit as an axis names it: nothing for a ratio, and no braces around a thing counted."""
    return "" if unit == "1" else unit.replace("{", "").replace("}", "")


def caption(series: Series) -> str:
    """The plot in words, for whoever cannot see it."""
    words = []
    if series.change is not None:
        before, after = series.change.before.number, series.change.after.number
        unit = _unit(series.unit)
        said = f"From {before} to {after} {unit}".rstrip()
        words.append(f"{said}: two levels as the tool recorded them, not samples.")
    else:
        words.append(f"{len(series.points)} readings as the tool recorded them.")
    if series.onset is not None:
        earliest, latest = _clock(series.onset.earliest, 0), _clock(series.onset.latest, 0)
        words.append(f"Began between {earliest} and {latest} UTC.")
    return " ".join(words)


def _frame(series: Series) -> _Frame:
    moments = [moment for moment, _ in series.points]
    numbers = [number for _, number in series.points]
    if series.change is not None:
        change = series.change
        window = change.window or change.baseline
        assert window is not None  # noqa: S101 -- `series_of` draws no change without a window
        moments = [_before(change, window).start, window.start, window.end]
        numbers = [float(change.before.number), float(change.after.number)]
    if series.onset is not None:
        moments += [series.onset.earliest, series.onset.latest]
    start, end = min(moments), max(moments)
    if (end - start).total_seconds() < _SPAN_MIN_S:
        end = start + timedelta(seconds=_SPAN_MIN_S)
    low, high = _bounds(min(numbers), max(numbers))
    return _Frame(start, end, low, high)


def _before(change: Change, window: Window) -> Window:
    """When the level before was seen; where the tool names no baseline, the time just before."""
    if change.baseline is not None:
        return change.baseline
    return Window(start=window.start - (window.end - window.start) / 2, end=window.start)


def _bounds(low: float, high: float) -> tuple[float, float]:
    """Axis ends on round numbers; zero is on the axis wherever all numbers have one sign."""
    low, high = min(0.0, low), max(0.0, high)
    if low == high:
        high = 1.0
    step = _step(high - low)
    return step * math.floor(low / step), step * math.ceil(high / step)


def _step(span: float) -> float:
    raw = span / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(nice * power for nice in _NICE if nice * power >= raw * 0.999999)


def _grid(frame: _Frame) -> Iterator[Markup]:
    step = _step(frame.high - frame.low)
    count = round((frame.high - frame.low) / step)
    for place in range(count + 1):
        number = frame.low + step * place
        y = frame.y(number)
        yield tag("path", d=f"M{LEFT} {_n(y)}H{WIDTH - RIGHT}", class_="grid")
        yield tag("text", _short(number), x=_n(LEFT - 6), y=_n(y + 4), class_="tick end")
    whole_s = (frame.end - frame.start).total_seconds()
    for share in (0.0, 1 / 3, 2 / 3, 1.0):
        moment = frame.start + timedelta(seconds=whole_s * share)
        x = frame.x(moment)
        anchor = "start" if share == 0 else "end" if share == 1 else "middle"
        yield tag("path", d=f"M{_n(x)} {HEIGHT - BOTTOM}v4", class_="grid")
        words = _clock(moment, whole_s)
        yield tag("text", words, x=_n(x), y=_n(HEIGHT - BOTTOM + 17), class_=f"tick {anchor}")


def _shade(frame: _Frame, window: Window | None) -> Markup | None:
    if window is None or window.end <= frame.start or window.start >= frame.end:
        return None
    left, right = frame.x(window.start), frame.x(window.end)
    height = HEIGHT - TOP - BOTTOM
    rect = tag(
        "rect", x=_n(left), y=_n(TOP), width=_n(right - left), height=_n(height), class_="shade"
    )
    words = "incident window"
    return join(rect, tag("text", words, x=_n(right - 5), y=_n(TOP - 6), class_="tick end"))


def _onset(frame: _Frame, onset: Onset | None) -> Markup | None:
    if onset is None:
        return None
    left, right = frame.x(onset.earliest), frame.x(onset.latest)
    width = max(2.0, right - left)
    bar = tag(
        "rect",
        x=_n(left),
        y=_n(TOP),
        width=_n(width),
        height=_n(HEIGHT - TOP - BOTTOM),
        class_="onset",
    )
    near_end = left > WIDTH / 2
    x = left - 5 if near_end else left + width + 5
    anchor = "end" if near_end else "start"
    return join(bar, tag("text", "onset", x=_n(x), y=_n(TOP + 13), class_=f"mark {anchor}"))


def _levels(frame: _Frame, change: Change) -> Iterator[Markup]:
    window = change.window or change.baseline
    assert window is not None  # noqa: S101 -- as in `_frame`
    before = _before(change, window)
    old, new = float(change.before.number), float(change.after.number)
    dashed = "" if change.baseline is not None else " dashed"
    yield tag(
        "path",
        d=f"M{_n(frame.x(before.start))} {_n(frame.y(old))}H{_n(frame.x(before.end))}",
        class_=f"level{dashed}",
    )
    yield tag(
        "path",
        d=f"M{_n(frame.x(window.start))} {_n(frame.y(new))}H{_n(frame.x(window.end))}",
        class_="level now",
    )
    for words, number, x, anchor in (
        (f"before {_short(old)}", old, frame.x(before.start) + 3, "start"),
        (f"then {_short(new)}", new, frame.x(window.end) - 3, "end"),
    ):
        y = frame.y(number)
        above = y - 6 if y - 6 > TOP + 10 else y + 15
        yield tag("text", words, x=_n(x), y=_n(above), class_=f"mark {anchor}")


def _curve(frame: _Frame, points: Sequence[tuple[datetime, float]]) -> Iterator[Markup]:
    places = [(frame.x(moment), frame.y(number)) for moment, number in points]
    path = "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in places)
    yield tag("path", d=path, class_="level now")
    if all(after[0] - before[0] > 3 for before, after in pairwise(places)):
        yield from (tag("circle", cx=_n(x), cy=_n(y), r="2.4", class_="dot") for x, y in places)


def _clock(moment: datetime, span_s: float) -> str:
    seconds = span_s < _CLOCK_SECONDS_BELOW_S
    return moment.astimezone(UTC).strftime("%H:%M:%S" if seconds else "%H:%M")


def _short(number: float) -> str:
    """A number that fits an axis; the exact one stands in the fact."""
    for size, prefix in _PREFIXES:
        if abs(number) >= size:
            return f"{number / size:.3g}{prefix}"
    return f"{number:.3g}"


def _n(number: float) -> str:
    return f"{number:.1f}"
