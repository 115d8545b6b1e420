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
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.ports.lookups import Lookup
from affidavit.ports.telemetry import Answer, Plain
from affidavit.tools.capture.rows import Origin, count, envelope, read_raw, write_raw
from affidavit.tools.catalogue import Tool, ToolContext

UNITS: Final = (("_s", "s"), ("_bytes", "By"), ("_ms", "ms"))


class LookupArguments(Record):
    """Which of its questions."""

    look: str = Field(min_length=1, max_length=40, description="the name of a question")


def lookup_tool(lookup: Lookup) -> Tool[LookupArguments]:
    """The tool over one back end."""
    origin = Origin(lookup.source_type, lookup.source, EvidenceClass.OBSERVATION, Emitter.PLATFORM)

    async def fetch(arguments: LookupArguments, _: Scope) -> bytes:
        if arguments.look not in lookup.looks:
            raise ToolFailed(
                f"there is no look {arguments.look!r}; there are {', '.join(lookup.looks)}",
                code="BAD_REQUEST",
            )
        looked = await lookup.look(arguments.look)
        return write_raw(Answer(looked.rows, {"rows": looked.total}), {})

    def project(raw: bytes, _: LookupArguments, scope: Scope, now: datetime) -> Envelope:
        answer = read_raw(raw)
        facts = [
            Row(subject=lookup.service, cells=_cells(row, lookup.spoken), at=now)
            for row in answer.rows
        ]
        notes = ["as the back end said it when it was asked; it says nothing about before"]
        return envelope(origin, scope, facts, count(answer.figures, "rows"), notes, now)

    def scope_of(arguments: LookupArguments, context: ToolContext) -> Scope:
        return Scope(tenant=context.tenant, service=lookup.service, query=arguments.look)

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


def _cells(row: Mapping[str, Plain], spoken: frozenset[str]) -> tuple[Cell, ...]:
    return tuple(_cell(name, value, name in spoken) for name, value in row.items())


def _cell(name: str, value: Plain, is_spoken: bool) -> Cell:
    unit = next((unit for end, unit in UNITS if name.endswith(end)), "")
    if isinstance(value, int) and not isinstance(value, bool):
        return Cell(name=name, quantity=Quantity(number=Decimal(value), unit=unit))
    if isinstance(value, str) and unit:
        return Cell(name=name, quantity=Quantity(number=Decimal(value), unit=unit))
    emitter = Emitter.WORKLOAD if is_spoken else None
    return Cell(name=name, text=None if value is None else str(value), emitter=emitter)
