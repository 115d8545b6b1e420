"""What a probe printed: HTTP exchanges (`curl -v`, `curl -i`), certificates (`openssl`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Cell, Fact, Line, Row, Value
from affidavit.tools.readers.documents import read_document
from affidavit.tools.readers.fields import read_json_object
from affidavit.tools.readers.moments import find_stamp
from affidavit.tools.readers.numbers import to_cell, to_quantity
from affidavit.tools.readers.reading import Item, Source, Weight
from affidavit.tools.readers.words import pieces

_ASKED: Final = re.compile(
    r"(?:> )?(?P<method>GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) (?P<path>\S{1,2000})"
    r"(?: HTTP/[\d.]{1,3})?\s*"
)
_ANSWERED: Final = re.compile(
    r"(?:< )?HTTP/[\d.]{1,3} (?P<code>\d{3})(?: (?P<reason>[^\r\n]{0,200}))?\s*"
)
_HEADER: Final = re.compile(r"(?:[<>] )?(?P<name>[A-Za-z][A-Za-z0-9-]{1,60}): (?P<value>.{0,2000})")
_SUBJECT: Final = re.compile(
    r"(?:\s*\d{1,3} s|subject ?|depth=(?P<depth>\d{1,3}) ?):?=?\s?(?P<name>.{1,600})"
)
_ISSUER: Final = re.compile(r"\s*(?:i|issuer ?)[:=]\s?(?P<name>.{1,600})")
_DATE: Final = re.compile(
    r"not ?(?P<which>before|after) ?[:=] ?(?P<time>[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r" \d{4} GMT|\d{4}-\d\d-\d\d[T ][\d:.]{8,15}Z?)",
    re.IGNORECASE,
)
_VERIFIED: Final = re.compile(
    r"\s*(?:Verify return code: |verify error:num=|verify return:)(?P<code>\d{1,6})"
    r"(?:[ :]\(?(?P<reason>[^)\n]{0,200})\)?)?"
)
_COMMON_NAME: Final = re.compile(r"CN ?= ?([^,/\n]{1,253})")


def is_exchange(lines: Sequence[str]) -> bool:
    """Whether a text prints an HTTP answer's status line near its beginning."""
    return any(_ANSWERED.fullmatch(line[:400]) for line in lines[:12])


def is_certificate(lines: Sequence[str]) -> bool:
    """Whether a text is what openssl prints about a certificate."""
    return any(_DATE.search(line[:400]) for line in lines[:60]) and any(
        _COMMON_NAME.search(line[:400]) for line in lines[:60]
    )


def read_exchanges(source: Source, lines: Sequence[str]) -> tuple[Item, ...]:
    """Each answer as one item about the path that was asked for."""
    items: list[Item] = []
    facts: list[Fact] = []
    cells: list[Cell] = []
    subject = source.subject
    for line in lines:
        asked, answered = _ASKED.fullmatch(line[:4_000]), _ANSWERED.fullmatch(line[:4_000])
        if asked and facts:
            items.append(_exchange(facts, cells, subject))
            facts, cells = [], []
        if asked:
            subject = asked["path"]
            cells.append(Cell(name="method", text=asked["method"]))
        elif answered:
            cells.append(Cell(name="status_code", quantity=to_quantity(Decimal(answered["code"]))))
            if answered["reason"]:
                cells.append(Cell(name="reason", text=answered["reason"].strip()))
        elif (header := _HEADER.fullmatch(line[:4_000])) and not line.startswith("{"):
            cells.append(to_cell(header["name"], header["value"].strip()))
        facts.extend(Line(text=p, subject=subject) for p in pieces(line.rstrip()) if p.strip())
        body = read_json_object(line)
        if body is not None:
            read = read_document(source, body)
            rows = (fact for item in read.items for fact in item.facts)
            facts.extend(
                Row(subject=subject, cells=f.cells, at=f.at) for f in rows if f.kind == "row"
            )
    if facts:
        items.append(_exchange(facts, cells, subject))
    return tuple(items)


def read_certificates(source: Source, lines: Sequence[str]) -> tuple[Item, ...]:
    """Each certificate of a chain as one item; the verdict of the check as a value of the host."""
    items: list[Item] = []
    facts: list[Fact] = []
    cells: list[Cell] = []
    subject = source.subject or "certificate"
    for line in lines:
        if not line.strip():
            continue
        named = _SUBJECT.match(line)
        common = _COMMON_NAME.search(named["name"]) if named else None
        if named and common and cells:
            items.append(Item((*facts, Row(subject=subject, cells=tuple(cells)))))
            facts, cells = [], []
        if named and common:
            subject = common[1].strip()
            cells.append(Cell(name="subject", text=named["name"].strip()))
            if named["depth"]:
                cells.append(to_cell("depth", named["depth"]))
        facts.extend(Line(text=p, subject=subject) for p in pieces(line.rstrip()))
        cells.extend(_issued(line))
        facts.extend(_dates(subject, line))
        cells.extend(
            Cell(name=f"not{d['which'].capitalize()}", text=d["time"]) for d in _DATE.finditer(line)
        )
        facts.extend(_verdict(source.subject or subject, line))
    if cells:
        facts.append(Row(subject=subject, cells=tuple(cells)))
    if facts:
        items.append(Item(tuple(facts), Weight.ORDINARY))
    return tuple(items)


def _exchange(facts: Sequence[Fact], cells: Sequence[Cell], subject: str | None) -> Item:
    row = (Row(subject=subject, cells=tuple(cells)),) if cells else ()
    return Item((*facts, *row))


def _issued(line: str) -> Iterator[Cell]:
    found = _ISSUER.match(line)
    if found and _COMMON_NAME.search(found["name"]):
        yield Cell(name="issuer", text=found["name"].strip())


def _dates(subject: str, line: str) -> Iterator[Value]:
    for found in _DATE.finditer(line):
        stamp = find_stamp(found["time"])
        at = stamp.moment if stamp and stamp.has_zone else None
        name = "notAfter" if found["which"].lower() == "after" else "notBefore"
        yield Value(subject=subject, attribute=name, text=found["time"], at=at)


def _verdict(subject: str, line: str) -> Iterator[Value]:
    found = _VERIFIED.match(line)
    if found:
        name = line.split(":", 1)[0].strip().lower()
        code = to_quantity(Decimal(found["code"]))
        yield Value(subject=subject, attribute=name, quantity=code)
        if found["reason"]:
            yield Value(subject=subject, attribute=f"{name} reason", text=found["reason"].strip())
