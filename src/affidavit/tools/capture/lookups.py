"""A tool over a back end's fixed questions (`ports.lookups`): what it says of itself, now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Final

from pydantic import Field

from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Cell, Envelope, Quantity, Row, Scope
from affidavit.contract.record import Record
from affidavit.contract.states import Emitter
from affidavit.ports.lookups import AT, WHOSE, Lookup
from affidavit.ports.telemetry import Answer, Plain
from affidavit.tools.capture.rows import (
    Origin,
    count,
    envelope,
    moment,
    read_raw,
    source_notes,
    write_raw,
)
from affidavit.tools.catalogue import Tool, ToolContext

UNITS: Final = (("_s", "s"), ("_bytes", "By"), ("_ms", "ms"))


class LookupArguments(Record):
    """Which of its questions."""

    look: str = Field(min_length=1, max_length=40, description="the name of a question")


NOW: Final = "as the back end said it when it was asked; it says nothing about before"
WITHIN: Final = "as the back end knew it when it was asked, about the window and its lookback"


def lookup_tool(lookup: Lookup) -> Tool[LookupArguments]:
    """The tool over one back end."""
    origin = Origin(lookup.source_type, lookup.source, lookup.evidence_class, Emitter.PLATFORM)

    async def fetch(arguments: LookupArguments, scope: Scope) -> bytes:
        if arguments.look not in lookup.looks:
            raise ToolFailed(
                f"there is no look {arguments.look!r}; there are {', '.join(lookup.looks)}",
                code="BAD_REQUEST",
            )
        looked = await lookup.look(arguments.look, scope.window)
        rule = {"source_left_out": "; ".join(looked.left_out)}
        rows = [{name: _whole(value) for name, value in row.items()} for row in looked.rows]
        return write_raw(Answer(rows, {"rows": looked.total}), rule)

    def project(raw: bytes, arguments: LookupArguments, scope: Scope, now: datetime) -> Envelope:
        answer = read_raw(raw)
        facts = [_row(row, lookup, now) for row in answer.rows]
        notes = [WITHIN if arguments.look in lookup.windowed else NOW, *source_notes(answer.rule)]
        return envelope(origin, scope, facts, count(answer.figures, "rows"), notes, now)

    def scope_of(arguments: LookupArguments, context: ToolContext) -> Scope:
        return Scope(
            tenant=context.tenant,
            service=lookup.service,
            window=context.window if arguments.look in lookup.windowed else None,
            query=arguments.look,
        )

    return Tool(
        name=lookup.name,
        description=f"{lookup.description} look: {', '.join(lookup.looks)}.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=LookupArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
        polling=True,
    )


def _row(row: Mapping[str, Plain], lookup: Lookup, now: datetime) -> Row:
    """One row; whose it is and when it was so where it says so, else the back end's, now."""
    whose = row.get(WHOSE)
    at = moment(row, AT) if row.get(AT) is not None else now
    cells = _cells(row, lookup.spoken)
    return Row(subject=str(whose) if whose else lookup.service or None, cells=cells, at=at)


def _whole(value: Plain) -> Plain:
    """A text without what JSON can spell and no text can hold: half a surrogate pair."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _cells(row: Mapping[str, Plain], spoken: frozenset[str]) -> tuple[Cell, ...]:
    return tuple(
        _cell(name, value, name in spoken) for name, value in row.items() if name not in {AT, WHOSE}
    )


def _cell(name: str, value: Plain, is_spoken: bool) -> Cell:
    unit = next((unit for end, unit in UNITS if name.endswith(end)), "")
    if isinstance(value, int) and not isinstance(value, bool):
        return Cell(name=name, quantity=Quantity(number=Decimal(value), unit=unit))
    if isinstance(value, str) and unit:
        return Cell(name=name, quantity=Quantity(number=Decimal(value), unit=unit))
    emitter = Emitter.WORKLOAD if is_spoken else None
    return Cell(name=name, text=None if value is None else str(value), emitter=emitter)
