"""How the reader tests show a result to the readers, and look at what came back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from affidavit.contract.evidence import Edge, Envelope, Line, Onset, Row, Scope, Value, Window
from affidavit.tools.readers.result import RawResult, ReadError, read_result

NIGHT = Window(
    start=datetime(2031, 5, 4, 1, 0, tzinfo=UTC), end=datetime(2031, 5, 4, 3, 0, tzinfo=UTC)
)


def attempt(result: object, tool: str = "tool", **said: Any) -> Envelope | ReadError:
    """The reading of a result; `said` are fields of RawResult, and `arguments`."""
    said.setdefault("arguments", {})
    said.setdefault("scope", Scope(tenant="t", window=NIGHT))
    said.setdefault("observed_at", NIGHT.end)
    return read_result(RawResult(tool=tool, result=result, **said))


def read(result: object, tool: str = "tool", **said: Any) -> Envelope:
    """The envelope of a result that must have one; it is true to its own rules."""
    envelope = attempt(result, tool, **said)
    assert isinstance(envelope, Envelope), envelope
    assert envelope.contradiction() is None
    return envelope


def rows(envelope: Envelope, subject: str | None = None) -> list[Row]:
    """The rows, or those about one subject."""
    found = [fact for fact in envelope.facts if isinstance(fact, Row)]
    return found if subject is None else [row for row in found if row.subject == subject]


def lines(envelope: Envelope) -> list[Line]:
    """The lines, in order."""
    return [fact for fact in envelope.facts if isinstance(fact, Line)]


def values(envelope: Envelope) -> list[Value]:
    """The values, in order."""
    return [fact for fact in envelope.facts if isinstance(fact, Value)]


def edges(envelope: Envelope) -> set[tuple[str, str, str]]:
    """The relations as (source, relation, target)."""
    return {
        (fact.source, fact.relation, fact.target)
        for fact in envelope.facts
        if isinstance(fact, Edge)
    }


def onsets(envelope: Envelope) -> list[Onset]:
    """The onsets, in order."""
    return [fact for fact in envelope.facts if isinstance(fact, Onset)]


def cells(*found: Row) -> Mapping[str, str | None]:
    """The cells of rows by name, each as its text or its number with its unit."""
    shown: dict[str, str | None] = {}
    for row in found:
        for cell in row.cells:
            quantity = cell.quantity
            number = f"{quantity.number}{quantity.unit}" if quantity else None
            shown[cell.name] = cell.text if cell.text is not None else number
    return shown


def quantity(row: Row, name: str) -> tuple[str, str]:
    """The number and unit of one cell."""
    cell = next(cell for cell in row.cells if cell.name == name)
    assert cell.quantity is not None
    return str(cell.quantity.number), cell.quantity.unit
