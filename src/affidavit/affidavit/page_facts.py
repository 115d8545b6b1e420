"""Facts on a page: exact numbers, whole words, whose words they are (C13).

A fact is shown as the projection holds it; on one line where it stands in a summary. Anchors are
places in the file, never names out of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, assert_never

from affidavit.affidavit.document import CitedCall, Document
from affidavit.affidavit.markup import Markup, data, join, tag
from affidavit.contract.evidence import (
    Cell,
    Change,
    Edge,
    Envelope,
    Fact,
    Line,
    Onset,
    Quantity,
    Row,
    Value,
    Window,
)
from affidavit.contract.record import format_instant
from affidavit.contract.states import Emitter
from affidavit.progress.wording import clip, plain

WHOSE: Final[Mapping[Emitter, str]] = {
    Emitter.PLATFORM: "the platform, about itself",
    Emitter.WORKLOAD: "the application's own words",
    Emitter.REQUEST: "words that a caller could have written",
}
"""Whose words a record holds (C13)."""

BRIEF_CHARS_MAX: Final = 240
"""Words of a record in a summary; all of them stand one click below."""

_BINARY: Final = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


@dataclass(frozen=True, slots=True)
class Shown:
    """One call of the file, read: its place there, and its projection."""

    place: int
    call: CitedCall
    envelope: Envelope

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"call-{self.place}"

    def fact_anchor(self, place: int) -> str:
        """The id of one of its facts on the page."""
        return f"call-{self.place}-fact-{place}"


@dataclass(frozen=True, slots=True)
class Exhibits:
    """Every call of a file by its id, and the day that times without a date belong to."""

    calls: Mapping[str, Shown]
    window: Window | None
    day: date | None

    def when(self, moment: datetime) -> Markup:
        """A moment in UTC; the day is said only where it is another."""
        at = moment.astimezone(UTC)
        shown = at.strftime("%H:%M:%S") + (
            f".{at.microsecond // 1000:03d}" if at.microsecond else ""
        )
        words = shown if at.date() == self.day else f"{at.date().isoformat()} {shown}"
        exact = format_instant(moment)
        return tag("time", words, datetime=exact, title=exact)

    def span(self, window: Window) -> Markup:
        """A window in UTC."""
        return join(self.when(window.start), " – ", self.when(window.end))


def exhibits_of(document: Document) -> Exhibits:
    """The calls of a file, read. Raises ValueError where one is no projection."""
    calls = {
        call.tool_call_id: Shown(place, call, Envelope.model_validate_json(call.result))
        for place, call in enumerate(document.calls)
    }
    window = document.request.window
    day = None if window is None else window.start.astimezone(UTC).date()
    return Exhibits(calls, window, day)


def show_fact(exhibits: Exhibits, shown: Shown, place: int) -> Markup:
    """One fact as the projection holds it."""
    fact = shown.envelope.facts[place]
    own = getattr(fact, "emitter", None)
    whose = None
    if own is not None and own is not shown.envelope.emitter:
        whose = tag("small", f"whose words: {WHOSE[own]}")
    return join(tag("span", f"#{place} {fact.kind}", class_="no"), _fact(exhibits, fact), whose)


def brief_fact(exhibits: Exhibits, shown: Shown, place: int) -> Markup:
    """A fact on one line, for a summary that opens the whole of it."""
    match fact := shown.envelope.facts[place]:
        case Line():
            who = None if fact.subject is None else join(tag("b", data(fact.subject)), " ")
            at = None if fact.at is None else join(exhibits.when(fact.at), " ")
            times = None if fact.count is None else f"×{fact.count} "
            return join(who, at, times, "“", data(clip(plain(fact.text), BRIEF_CHARS_MAX)), "”")
        case Row():
            who = None if fact.subject is None else join(tag("b", data(fact.subject)), " ")
            at = None if fact.at is None else join(exhibits.when(fact.at), " ")
            said = " · ".join(plain(cell.text) for cell in fact.cells if cell.text)
            return join(who, at, data(clip(said or f"row #{place}", BRIEF_CHARS_MAX)))
        case Value(text=str(words)):
            signal = _signal(fact.subject, fact.attribute, fact.statistic)
            return join(signal, " “", data(clip(plain(words), BRIEF_CHARS_MAX)), "”")
        case Change():
            return _moved(fact)
        case _:
            return _fact(exhibits, fact)


def _moved(fact: Change) -> Markup:
    """How far a signal moved, and whether the tool calls that abnormal."""
    arrow = {"up": "↑", "down": "↓", "flat": "="}[fact.direction]
    word, mark = ("abnormal", "warn") if fact.anomalous else ("usual", "")
    ends = tag("span", _quantity(fact.before), " → ", tag("b", _quantity(fact.after)), class_="num")
    title = "by the tool's own recorded rule"
    label = tag("span", word, class_=f"tag {mark}".strip(), title=title)
    signal = _signal(fact.subject, fact.attribute, fact.statistic)
    return join(signal, " ", ends, f" {arrow} ", label)


def _fact(exhibits: Exhibits, fact: Fact) -> Markup:
    match fact:
        case Value():
            return _value(exhibits, fact)
        case Change():
            return _change(exhibits, fact)
        case Onset():
            began = join(exhibits.when(fact.earliest), " – ", exhibits.when(fact.latest))
            signal = _signal(fact.subject, fact.attribute, None)
            return join(signal, " began between ", tag("b", began))
        case Line():
            return _line(exhibits, fact)
        case Row():
            return _row(exhibits, fact)
        case Edge():
            times = "" if fact.count is None else f" (seen {fact.count} times)"
            relation = fact.relation.replace("_", " ")
            ends = (tag("b", data(end)) for end in (fact.source, fact.target))
            return join(next(ends), " ", data(relation), " ", next(ends), times)
        case _:
            assert_never(fact)


def _signal(subject: str, attribute: str, statistic: str | None) -> Markup:
    of = None if statistic is None else join(" (", data(statistic), ")")
    return join(tag("b", data(subject)), " ", data(attribute), of)


def _value(exhibits: Exhibits, fact: Value) -> Markup:
    signal = _signal(fact.subject, fact.attribute, fact.statistic)
    at = None if fact.at is None else join(" at ", exhibits.when(fact.at))
    over = None if fact.window is None else join(" over ", exhibits.span(fact.window))
    if fact.quantity is not None:
        return join(signal, " = ", _quantity(fact.quantity), at, over)
    return join(signal, at, over, _quote(fact.text or ""))


def _change(exhibits: Exhibits, fact: Change) -> Markup:
    details = [
        None if fact.score is None else f"score {fact.score}",
        None if fact.baseline is None else join("baseline ", exhibits.span(fact.baseline)),
        None if fact.window is None else join("window ", exhibits.span(fact.window)),
    ]
    known = [item for item in details if item is not None]
    spaced = [piece for item in known for piece in (" · ", item)][1:]
    return join(_moved(fact), tag("small", *spaced) if spaced else None)


def _line(exhibits: Exhibits, fact: Line) -> Markup:
    parts = [
        None if fact.subject is None else tag("b", data(fact.subject)),
        None if fact.level is None else tag("span", data(fact.level), class_="tag"),
        None if fact.at is None else exhibits.when(fact.at),
        None if fact.count is None else f"seen {fact.count} times",
    ]
    spaced = [piece for part in parts if part is not None for piece in (part, " ")]
    return join(*spaced, _quote(fact.text))


def _row(exhibits: Exhibits, fact: Row) -> Markup:
    head = None if fact.subject is None else tag("b", data(fact.subject))
    at = None if fact.at is None else join(" at ", exhibits.when(fact.at))
    cells = (join(tag("dt", data(cell.name)), tag("dd", _cell(cell))) for cell in fact.cells)
    return join(head, at, tag("dl", *cells, class_="row"))


def _cell(cell: Cell) -> Markup:
    if cell.text is None and cell.quantity is None:
        return tag("span", "null", class_="note")
    said = data(cell.text) if cell.text is not None else None
    if said is None and cell.quantity is not None:
        said = _quantity(cell.quantity)
    whose = tag("small", f" ({WHOSE[cell.emitter]})") if cell.emitter is Emitter.REQUEST else None
    return join(said, whose)


def _quote(words: str) -> Markup:
    return tag("pre", data(words), class_="quote", tabindex="0")


def _quantity(said: Quantity) -> Markup:
    """The exact number with its unit; bytes also as people say them."""
    unit = "" if said.unit in {"", "1"} else said.unit
    number = f"{said.number:f}" if abs(said.number.adjusted()) < 24 else str(said.number)
    shown = join(number, "%" if unit == "%" else None)
    if unit and unit != "%":
        shown = join(number, " ", data(unit))
    near = next(
        (
            f" (≈ {float(said.number) / size:.4g} {word})"
            for size, word in _BINARY
            if unit == "By" and abs(said.number) >= size
        ),
        None,
    )
    return join(shown, near)
