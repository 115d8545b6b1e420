"""Plots as inline SVG, without script or outside resource (pure).

Shapes carry presentation attributes only, so that a page may forbid inline styles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

COLOURS: Final = ("#0b6e4f", "#8a8a8a", "#c77700", "#3461a8", "#8e3a80", "#a03030")
"""Told apart by the colour-blind too; the first is the agent's."""

WIDTH, HEIGHT = 360, 240
LEFT, TOP, RIGHT, BOTTOM = 44, 26, 12, 40
"""Room for axes and their names, in SVG units."""


@dataclass(frozen=True, slots=True)
class Line:
    """One named line; points run from 0 to 1 on both axes."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One named bar from 0 to 1, with its interval where it has one."""

    name: str
    value: float
    interval: tuple[float, float] | None = None


def line_plot(title: str, axes: tuple[str, str], lines: Sequence[Line]) -> str:
    """Lines over a unit square; the names of both axes are (across, up)."""
    shapes = [*_frame(axes)]
    for place, line in enumerate(lines):
        colour = COLOURS[place % len(COLOURS)]
        path = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in line.points)
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        shapes.extend(
            f'<circle cx="{_x(x):.1f}" cy="{_y(y):.1f}" r="2" fill="{colour}"/>'
            for x, y in line.points
        )
        shapes.append(_text(WIDTH - RIGHT - 4, TOP + 12 + 13 * place, line.name, "end", colour))
    return _svg(title, HEIGHT, shapes)


def bar_plot(title: str, bars: Sequence[Bar]) -> str:
    """Bars across, one a line, each with its interval as a whisker."""
    step = 22
    height = TOP + step * len(bars) + 8
    shapes: list[str] = []
    start, room = 130, WIDTH - 130 - 44
    for place, bar in enumerate(bars):
        y, colour = TOP + step * place, COLOURS[place % len(COLOURS)]
        shapes.append(_text(start - 6, y + 13, bar.name, "end"))
        shapes.append(
            f'<rect x="{start}" y="{y + 3}" width="{room * bar.value:.1f}" height="13" '
            f'fill="{colour}"/>'
        )
        if bar.interval is not None:
            low, high = (start + room * end for end in bar.interval)
            ends = f"M{low:.1f} {y + 6}v7M{high:.1f} {y + 6}v7"
            shapes.append(
                f'<path d="M{low:.1f} {y + 9.5}H{high:.1f}{ends}" stroke="#222222" fill="none"/>'
            )
        shapes.append(_text(WIDTH - 4, y + 13, f"{bar.value:.2f}", "end"))
    return _svg(title, height, shapes)


def _frame(axes: tuple[str, str]) -> Iterator[str]:
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _x(tick), _y(tick)
        yield (
            f'<path d="M{x:.1f} {_y(0):.1f}V{_y(1):.1f}M{_x(0):.1f} {y:.1f}H{_x(1):.1f}" '
            'stroke="#dddddd" fill="none"/>'
        )
        yield _text(x, _y(0) + 14, f"{tick:g}", "middle")
        yield _text(LEFT - 5, y + 4, f"{tick:g}", "end")
    yield _text((_x(0) + _x(1)) / 2, HEIGHT - 8, axes[0], "middle")
    yield _text(4, TOP - 8, axes[1], "start")


def _x(value: float) -> float:
    return LEFT + value * (WIDTH - LEFT - RIGHT)


def _y(value: float) -> float:
    return HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM)


def _text(x: float, y: float, words: str, anchor: str, colour: str = "#222222") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
        f'font-size="11">{escape(words)}</text>'
    )


def _svg(title: str, height: int, shapes: Iterable[str]) -> str:
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title, quote=True)}" '
        f'font-family="sans-serif">{"".join(shapes)}</svg></figure>'
    )
