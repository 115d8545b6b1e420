"""`earlier_…`: what an earlier run of the same tenant recorded, read by a new call (I6).

An old record is never cited by its old id. Whoever wants it asks for it: that is a call of the
current run, with an id of its own, and its result says which run and call it comes from and how old
it is. Kind, emitter, scope and the moment of observation are those of the record: a runbook stays
guidance, and what was seen an hour ago was seen an hour ago.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from pydantic import Field

from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Envelope, Scope
from affidavit.contract.record import Record, format_instant
from affidavit.contract.states import Provenance
from affidavit.core.canonical import canonical_json
from affidavit.core.fold import RunView
from affidavit.ledger.reader import take_snapshot
from affidavit.ledger.snapshot import Verified
from affidavit.tools.catalogue import ArgumentsRefused, Tool, ToolContext

PREFIX: Final = "earlier_"
"""Before the name of the tool that recorded it."""

CALL_CHARS_MAX: Final = 64

LISTED_MAX: Final = 20
"""Records that a tool's description names; an agent may still ask for the others."""


@dataclass(frozen=True, slots=True)
class EarlierRecord:
    """One READY record of an earlier run: what was asked, and what came back."""

    run_id: str
    tool_call_id: str
    tool: str
    arguments: Mapping[str, object]
    envelope: Envelope


class EarlierArguments(Record):
    """Which call of the earlier run."""

    call: str = Field(min_length=1, max_length=CALL_CHARS_MAX, description="the id it had there")


def earlier_records(
    run_id: str, tenant: str, view: RunView, contents: Mapping[str, bytes]
) -> tuple[EarlierRecord, ...]:
    """The records of a run that can be read back by the ledger's one reader, in order.

    Recorded ones alone: what was supplied to that run is not shown as recorded by this one (N18).
    What has expired is not there.
    """
    tools = frozenset(call.tool for call in view.calls.values())
    ledger = take_snapshot(run_id, tenant, view, contents, tools)
    found: list[EarlierRecord] = []
    for key, call in view.calls.items():
        read = ledger.read_back(key)
        if not isinstance(read, Verified) or read.record.provenance is not Provenance.RECORDED:
            continue
        header = json.loads(contents[call.request_digest])
        tool = read.record.tool.removeprefix(PREFIX)
        found.append(EarlierRecord(run_id, key, tool, header["arguments"], read.envelope))
    return tuple(found)


def earlier_tools(records: Iterable[EarlierRecord]) -> tuple[Tool[Record], ...]:
    """One tool for each kind of record, by the tool that recorded it."""
    kinds: dict[str, list[EarlierRecord]] = {}
    for record in records:
        kinds.setdefault(record.tool, []).append(record)
    return tuple(_tool(f"{PREFIX}{tool}", kept) for tool, kept in kinds.items())


def _tool(name: str, records: list[EarlierRecord]) -> Tool[Record]:
    by_call = {record.tool_call_id: record for record in records}
    first = records[0].envelope

    def scope_of(arguments: EarlierArguments, context: ToolContext) -> Scope:
        record = by_call.get(arguments.call)
        if record is None or record.envelope.scope.tenant != context.tenant:
            raise ArgumentsRefused("arguments do not fit: call")
        return record.envelope.scope

    async def fetch(arguments: EarlierArguments, _: Scope) -> bytes:
        record = by_call.get(arguments.call)
        if record is None:
            raise ToolFailed("there is no such record", code="NOT_FOUND")
        origin = {"run_id": record.run_id, "call": record.tool_call_id, "tool": record.tool}
        return canonical_json(
            {"origin": origin, "envelope": record.envelope.model_dump(mode="json")}
        )

    def project(raw: bytes, _: EarlierArguments, __: Scope, now: datetime) -> Envelope:
        parts = json.loads(raw)
        envelope = Envelope.model_validate_json(json.dumps(parts["envelope"]))
        return _aged(envelope, parts, now)

    named = ", ".join(f"{item.tool_call_id} {_asked(item)}" for item in records[:LISTED_MAX])
    tool = Tool(
        name=name,
        description="What an earlier run about this incident recorded, with its origin and age; "
        f"nothing is asked anew. call: {named}.",
        source_type=first.source_type,
        source=first.source,
        evidence_class=first.evidence_class,
        arguments=EarlierArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )
    return cast("Tool[Record]", tool)


def _aged(envelope: Envelope, parts: Mapping[str, Mapping[str, str]], now: datetime) -> Envelope:
    origin = parts["origin"]
    age_s = max(0, int((now - envelope.observed_at).total_seconds()))
    note = (
        f"read from {origin['call']} of {origin['run_id']}, where {origin['tool']} recorded it at "
        f"{format_instant(envelope.observed_at)}, {age_s} s before this reading"
    )
    return Envelope.model_validate({**dict(envelope), "notes": (note, *envelope.notes)})


def _asked(record: EarlierRecord) -> str:
    """What the record is about, in a word; never its content."""
    scope = record.envelope.scope
    return f"({scope.service or 'all services'}, {record.envelope.status})"
