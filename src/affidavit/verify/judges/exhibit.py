"""The verified evidence as a judge is shown it: one line a fact, in the order in which it was read.

A call that does not fit is cut by rule: facts about what the sentences name stay first, and the
call says how many were left out. Nothing that a tool said can end its line, let alone its fence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Final

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
from affidavit.contract.snapshots import VerifiedCall

_NAMES: Final = ("subject", "source", "target", "attribute")


def exhibit(call: VerifiedCall, words: str, facts_max: int) -> str:
    """One call: where it was asked and what came back, then at most so many of its facts.

    `words` are the report's, casefolded: when facts are cut, those that it names stay.
    """
    facts = call.envelope.facts
    shown = set(range(len(facts)))
    if len(facts) > facts_max:
        ranked = sorted(shown, key=lambda place: (not _is_named(facts[place], words), place))
        shown = set(ranked[:facts_max])
    lines = [_head(call)]
    lines += [_fact(fact) for place, fact in enumerate(facts) if place in shown]
    if len(shown) < len(facts):
        lines.append(f"facts not shown: {len(facts) - len(shown)}")
    return "\n".join(lines)


def _is_named(fact: Fact, words: str) -> bool:
    names = (getattr(fact, name, None) for name in _NAMES)
    return any(isinstance(name, str) and name.casefold() in words for name in names)


def _head(call: VerifiedCall) -> str:
    envelope = call.envelope
    return "; ".join(
        (
            f"tool {_quoted(call.tool)}",
            f"class {envelope.evidence_class}",
            f"emitter {envelope.emitter}",
            f"status {envelope.status}",
            *_scope(envelope),
            f"items {envelope.count}",
            *(() if envelope.total is None else (f"of {envelope.total}",)),
            *(("TRUNCATED",) if envelope.truncated else ()),
        )
    )


def _scope(envelope: Envelope) -> Iterator[str]:
    """What was asked; the tenant is nobody's business."""
    scope = envelope.scope
    if scope.service:
        yield f"service {_quoted(scope.service)}"
    if scope.window:
        yield f"window {_window(scope.window)}"
    if scope.query:
        yield f"query {_quoted(scope.query)}"


def _window(window: Window) -> str:
    return f"{_moment(window.start)} to {_moment(window.end)}"


def _moment(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _quoted(text: str) -> str:
    """A tool's words as one JSON string: whatever they hold, they end where it ends."""
    return json.dumps(text, ensure_ascii=False)


def _quantity(quantity: Quantity) -> str:
    return f"{quantity.number} {quantity.unit}".rstrip()


def _fact(fact: Fact) -> str:
    return f"{fact.kind} {'; '.join(_parts(fact))}"


def _parts(fact: Fact) -> Iterator[str]:
    match fact:
        case Line():
            return _line(fact)
        case Row():
            return _row(fact)
        case Value():
            return _value(fact)
        case Change():
            return _change(fact)
        case Onset():
            return _onset(fact)
        case Edge():
            return _edge(fact)


def _line(fact: Line) -> Iterator[str]:
    yield from _when(fact.at)
    yield from (f"of {_quoted(fact.subject)}",) if fact.subject else ()
    yield from (f"level {_quoted(fact.level)}",) if fact.level else ()
    yield from (f"seen {fact.count} times",) if fact.count else ()
    yield from (f"words of {fact.emitter}",) if fact.emitter else ()
    yield _quoted(fact.text)


def _row(fact: Row) -> Iterator[str]:
    yield from _when(fact.at)
    yield from (f"of {_quoted(fact.subject)}",) if fact.subject else ()
    yield from (_cell(cell) for cell in fact.cells)


def _cell(cell: Cell) -> str:
    text = () if cell.text is None else (_quoted(cell.text),)
    number = () if cell.quantity is None else (_quantity(cell.quantity),)
    said = ", as a number ".join((*text, *number)) or "null"
    words = f" (words of {cell.emitter})" if cell.emitter else ""
    return f"{_quoted(cell.name)}: {said}{words}"


def _value(fact: Value) -> Iterator[str]:
    yield from _when(fact.at)
    yield f"{_measure(fact.statistic, fact.attribute)} of {_quoted(fact.subject)}"
    yield _quantity(fact.quantity) if fact.quantity else _quoted(fact.text or "")
    yield from (f"over {_window(fact.window)}",) if fact.window else ()
    yield from (f"words of {fact.emitter}",) if fact.emitter else ()


def _change(fact: Change) -> Iterator[str]:
    yield f"{_measure(fact.statistic, fact.attribute)} of {_quoted(fact.subject)}"
    yield f"from {_quantity(fact.before)} to {_quantity(fact.after)}"
    yield fact.direction
    yield "abnormal by the tool's rule" if fact.anomalous else "not abnormal"
    yield from (f"over {_window(fact.window)}",) if fact.window else ()
    yield from (f"against {_window(fact.baseline)}",) if fact.baseline else ()


def _onset(fact: Onset) -> Iterator[str]:
    yield f"{_quoted(fact.attribute)} of {_quoted(fact.subject)}"
    yield f"began between {_moment(fact.earliest)} and {_moment(fact.latest)}"


def _edge(fact: Edge) -> Iterator[str]:
    yield f"{_quoted(fact.source)} {fact.relation} {_quoted(fact.target)}"
    yield from (f"seen {fact.count} times",) if fact.count else ()


def _measure(statistic: str | None, attribute: str) -> str:
    return f"{statistic} {_quoted(attribute)}" if statistic else _quoted(attribute)


def _when(at: datetime | None) -> tuple[str, ...]:
    return () if at is None else (_moment(at),)
