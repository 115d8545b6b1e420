"""Answers of name servers: resource records as zone files write them, and what stands around them.

A resource record is `name TTL class type data` (RFC 1035, section 5); a signature's data has fields
of its own (RFC 4034, section 3). What `dig` prints as comments (`status: SERVFAIL`, `SERVER: …`)
is about the name in its question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from affidavit.contract.evidence import Cell, Fact, Line, Row
from affidavit.contract.record import format_instant
from affidavit.tools.readers.moments import read_instant
from affidavit.tools.readers.numbers import to_cell
from affidavit.tools.readers.reading import Item, Source
from affidavit.tools.readers.words import pieces

_RECORD: Final = re.compile(
    r"(?P<name>[\w*@.-]{1,253})\s+(?P<ttl>\d{1,10})\s+(?P<class>IN|CH|HS)\s+"
    r"(?P<type>[A-Z][A-Z0-9-]{0,15})\s+(?P<data>\S.{0,4000})"
)
_QUESTION: Final = re.compile(
    r";\s?(?P<name>[\w*@.-]{1,253})\s+(?P<class>IN|CH|HS)\s+(?P<type>[A-Z][A-Z0-9-]{0,15})\s*"
)
_COMMENT: Final = re.compile(r";+ ?(?:->>HEADER<<-)? ?(?P<said>\S.{0,2000})")
_SAID: Final = re.compile(r"(?:^|[,;] )(?P<key>[A-Za-z][A-Za-z ]{0,30}): (?P<value>[^,;]{1,400})")
_SIGNATURE: Final = (
    "covered", "algorithm", "labels", "original_ttl", "expiration", "inception", "key_tag",
    "signer",
)  # fmt: skip
_DATES: Final = frozenset({"expiration", "inception"})
SHARE: Final = 0.5
"""At least so many lines are records or comments; fewer stand in some other text."""


def is_zone(lines: Sequence[str]) -> bool:
    """Whether a text is a name server's answer: records, or a question with its comments."""
    said = [line.strip()[:4_400] for line in lines if line.strip()]
    records = sum(_RECORD.fullmatch(line) is not None for line in said)
    asked = any(_QUESTION.fullmatch(line) for line in said)
    known = records + sum(line.startswith(";") for line in said)
    return bool(said) and bool(records or asked) and known >= len(said) * SHARE


def read_zone(source: Source, lines: Sequence[str]) -> tuple[Item, ...]:
    """Each record as an item about its name; the comments as one about the question."""
    said = [line.strip() for line in lines if line.strip()]
    comments = [found["said"] for line in said if (found := _COMMENT.fullmatch(line[:2_100]))]
    cells = tuple(cell for text in comments for cell in _cells(text))
    asked = (read_instant(cell.text or "") for cell in cells if cell.name == "WHEN")
    at = next((moment for moment in asked if moment), None)
    question = next((found for line in said if (found := _QUESTION.fullmatch(line[:400]))), None)
    subject = _bare(question["name"]) if question else source.subject
    if question:
        cells = (Cell(name="type", text=question["type"]), *cells)
    around = tuple(cell for cell in cells if cell.name.casefold() in _AROUND)
    items = [Item(tuple(_facts(line, _Asked(subject, at, around)))) for line in said]
    return (Item((Row(subject=subject, cells=cells, at=at),)), *items) if cells else tuple(items)


_AROUND: Final = frozenset({"status", "server", "query time"})
"""What an answer says of itself, and so of each of its records: who gave it, and how it went."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one answer is about: the name in its question, when, and what it says of itself."""

    subject: str | None
    at: datetime | None
    around: tuple[Cell, ...]


def _facts(line: str, asked: _Asked) -> Iterator[Fact]:
    found = _RECORD.fullmatch(line[:4_400])
    name = _bare(found["name"]) if found else asked.subject
    for piece in pieces(line):
        yield Line(text=piece, subject=name, at=asked.at)
    if found:
        kind, data = found["type"], found["data"].strip()
        yield Row(
            subject=name,
            cells=(
                to_cell("TTL", found["ttl"]),
                Cell(name="class", text=found["class"]),
                Cell(name="type", text=kind),
                *(Cell(name=kind, text=piece) for piece in pieces(data)),
                *(_signature(data) if kind == "RRSIG" else ()),
                *asked.around,
            ),
            at=asked.at,
        )


def _signature(data: str) -> Iterator[Cell]:
    for name, text in zip(_SIGNATURE, data.split(), strict=False):
        moment = _moment(text) if name in _DATES else None
        shown = format_instant(moment) if moment else _bare(text)
        yield Cell(name=f"RRSIG.{name}", text=shown)


def _moment(text: str) -> datetime | None:
    """A signature's time: 14 digits in UTC (RFC 4034, section 3.2)."""
    if len(text) != 14 or not text.isdecimal():
        return None
    try:
        return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _cells(text: str) -> Iterator[Cell]:
    """The pairs of a comment; one that begins with a key and goes on with anything is one pair."""
    for found in _SAID.finditer(text):
        yield to_cell(found["key"].strip(), found["value"].strip())


def _bare(name: str) -> str:
    return name.removesuffix(".") or name
