"""`knowledge_search`: passages of the tenant's indexed pages. Guidance, never evidence (I2, C13).

An ordinary tool: its calls pass the guards, its results stand in the ledger, and an answer cites
them there. What a page says is quoted as what a page says; it proves nothing about an incident
(N17), and an instruction in it is words like any other (T6).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, cast

from pydantic import Field

from affidavit.contract.evidence import Envelope, Line, Scope
from affidavit.contract.record import Record
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.ports.knowledge import FOUND_MAX, KnowledgeIndex
from affidavit.ports.telemetry import Answer, Plain
from affidavit.tools.capture.rows import Origin, count, envelope, read_raw, text, write_raw
from affidavit.tools.catalogue import Tool, ToolContext

NAME: Final = "knowledge_search"

QUERY_CHARS_MAX: Final = 2_000
"""A whole question is a query."""

SHOWN_MAX: Final = 8
"""Passages of one result: as much guidance as one answer quotes from."""


class SearchArguments(Record):
    """What to look for."""

    query: str = Field(
        min_length=1, max_length=QUERY_CHARS_MAX, description="words, in any order; or a question"
    )
    most: int = Field(default=SHOWN_MAX, ge=1, le=FOUND_MAX, description="passages at most")


def knowledge_search_tool(index: KnowledgeIndex) -> Tool[Record]:
    """The tool over one tenant's index."""
    origin = Origin("knowledge", "indexed pages (文档)", EvidenceClass.GUIDANCE, Emitter.WORKLOAD)

    async def fetch(arguments: SearchArguments, _: Scope) -> bytes:
        found = await index.search(arguments.query, arguments.most)
        rows: list[Mapping[str, Plain]] = [
            {"page": one.page, "place": one.place, "heading": one.heading, "text": one.text}
            for one in found.passages
        ]
        return write_raw(Answer(rows, {"passages": found.total, "indexed": found.indexed}), {})

    def project(raw: bytes, _: SearchArguments, scope: Scope, now: datetime) -> Envelope:
        answer = read_raw(raw)
        lines = [Line(text=text(row, "text"), subject=text(row, "page")) for row in answer.rows]
        notes = [f"{count(answer.figures, 'indexed')} passages are indexed for this tenant"]
        return envelope(origin, scope, lines, count(answer.figures, "passages"), notes, now)

    def scope_of(arguments: SearchArguments, context: ToolContext) -> Scope:
        return Scope(tenant=context.tenant, query=arguments.query)

    tool = Tool(
        name=NAME,
        description="Passages of the pages that were indexed for this tenant, best first. "
        "Guidance: it says what to do or to look for, and proves nothing about an incident.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=SearchArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )
    return cast("Tool[Record]", tool)
