"""`knowledge`: passages of the incident's own pages. Guidance, never evidence (C13, N17)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pydantic import Field

from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Envelope, Line, Scope
from affidavit.contract.record import Record
from affidavit.contract.states import Emitter, EvidenceClass
from affidavit.ports.telemetry import Answer, Page, Plain, Telemetry
from affidavit.tools.capture.rows import Origin, count, envelope, read_raw, text, write_raw
from affidavit.tools.catalogue import Tool, ToolContext

PASSAGES_MAX: Final = 8
"""As much guidance as fits beside the evidence."""

PASSAGE_CHARS_MAX: Final = 800
"""A paragraph; a longer one is cut."""

QUERY_CHARS_MAX: Final = 400

WORD: Final = re.compile(r"[A-Za-z0-9_]{3,}")


class KnowledgeArguments(Record):
    """What to look for."""

    query: str = Field(min_length=2, max_length=QUERY_CHARS_MAX, description="words, in any order")


@dataclass(frozen=True, slots=True)
class Passage:
    """One paragraph of a page, under its heading."""

    page: str
    heading: str
    text: str


def knowledge_tool(telemetry: Telemetry) -> Tool[KnowledgeArguments]:
    """The tool over an incident's pages."""
    origin = Origin("knowledge", "knowledge", EvidenceClass.GUIDANCE, Emitter.WORKLOAD)

    async def fetch(arguments: KnowledgeArguments, _: Scope) -> bytes:
        if not telemetry.pages:
            raise ToolFailed("the incident has no knowledge pages", code="SOURCE_UNAVAILABLE")
        found = find_passages(telemetry.pages, arguments.query)
        rows: list[Mapping[str, Plain]] = [
            {"page": one.page, "heading": one.heading, "text": one.text[:PASSAGE_CHARS_MAX]}
            for one in found[:PASSAGES_MAX]
        ]
        return write_raw(Answer(rows, {"passages": len(found)}), {})

    def project(raw: bytes, _: KnowledgeArguments, scope: Scope, now: datetime) -> Envelope:
        answer = read_raw(raw)
        lines = [Line(text=text(row, "text"), subject=text(row, "page")) for row in answer.rows]
        notes = ["paragraphs that share a word with the query, those that share most first"]
        return envelope(origin, scope, lines, count(answer.figures, "passages"), notes, now)

    def scope_of(arguments: KnowledgeArguments, context: ToolContext) -> Scope:
        return Scope(tenant=context.tenant, query=arguments.query)

    return Tool(
        name="knowledge",
        description="Paragraphs of the runbooks and notes that came with the incident. Guidance: "
        "it says what to look for, and proves nothing about this incident.",
        source_type=origin.source_type,
        source=origin.source,
        evidence_class=origin.evidence_class,
        arguments=KnowledgeArguments,
        scope_of=scope_of,
        fetch=fetch,
        project=project,
    )


def find_passages(pages: Iterable[Page], query: str) -> tuple[Passage, ...]:
    """The paragraphs that share a word with the query, those that share most words first."""
    wanted = words(query)
    rated = []
    for page in pages:
        for place, passage in enumerate(passages(page)):
            shared = len(wanted & words(f"{passage.heading} {passage.text}"))
            if shared:
                rated.append((-shared, passage.page, place, passage))
    return tuple(passage for *_, passage in sorted(rated, key=lambda found: found[:3]))


def passages(page: Page) -> Iterable[Passage]:
    """The paragraphs of a page in Markdown; a heading belongs to those below it."""
    heading = ""
    for block in re.split(r"\n\s*\n", page.text):
        stripped = block.strip()
        if stripped.startswith("#"):
            heading, _, stripped = stripped.partition("\n")
            heading = heading.lstrip("# ").strip()
        if stripped:
            yield Passage(page.name, heading, " ".join(stripped.split()))


def words(content: str) -> frozenset[str]:
    """The words of three letters and more, in lower case."""
    return frozenset(word.lower() for word in WORD.findall(content))
