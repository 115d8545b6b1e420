"""Text of any shape: cut into blocks, each read by the reader that knows it; the rest is lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from affidavit.tools.readers.boxes import is_ruled
from affidavit.tools.readers.columns import spans_of
from affidavit.tools.readers.documents import read_document
from affidavit.tools.readers.listings import read_listing
from affidavit.tools.readers.logs import is_log, read_entries, zone_notes
from affidavit.tools.readers.manifests import read_manifest
from affidavit.tools.readers.probes import (
    is_certificate,
    is_exchange,
    read_certificates,
    read_exchanges,
)
from affidavit.tools.readers.reading import Item, Reading, Source
from affidavit.tools.readers.reports import is_report, read_report
from affidavit.tools.readers.series import read_series
from affidavit.tools.readers.tables import find_table
from affidavit.tools.readers.traces import is_tree, read_tree
from affidavit.tools.readers.words import clean, quotable
from affidavit.tools.readers.zones import is_zone, read_zone

_CUT_MARK: Final = re.compile(
    r"\[?\(?(?:\.{3}|…)?\s?(?:output |result |log |logs )?(?:was |were )?truncated\b|<truncated|"
    r"\.{3} ?\(?\d{1,9} more\b|\.{3} \d{1,9} lines (?:omitted|skipped)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Text:
    """What was read of one text so far; `words` are entries that no reader of a shape knew."""

    items: list[Item] = field(default_factory=list)
    words: list[Item] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_text(source: Source, text: str) -> Reading:
    """A text, line by line. Total: every line that holds something is quotable afterwards."""
    lines = clean(text).split("\n")
    cut = any(_CUT_MARK.search(line[:400]) for line in lines[-6:])
    whole = _read_whole(source, lines)
    if whole is not None:
        return Reading(whole.shape, whole.items, whole.context, whole.notes, whole.total, cut)
    read = _Text()
    index = 0
    while index < len(lines):
        if not lines[index].strip():
            index += 1
            continue
        table = find_table(source, lines, index)
        if table is not None:
            read.items.extend(table.items)
            read.shapes.append("table")
            read.totals.extend(() if table.total is None else (table.total,))
            index += table.lines
            continue
        end = _block_end(source, lines, index)
        _read_block(source, lines[index:end], read)
        index = end
    shape = "+".join(dict.fromkeys(read.shapes)) or "text"
    total = read.totals[0] if len(read.totals) == 1 and read.shapes == ["table"] else None
    if not read.items:
        return Reading(shape, tuple(read.words), notes=tuple(read.notes), cut=cut)
    words = tuple(fact for item in read.words for fact in item.facts)
    notes = tuple(dict.fromkeys(read.notes))
    return Reading(shape, tuple(read.items), words, notes, total, cut)


def _read_whole(source: Source, lines: Sequence[str]) -> Reading | None:
    """The text as one document: a trace's tree, an HTTP exchange, a certificate, a report, YAML."""
    if is_tree(lines):
        return Reading("trace", read_tree(source, lines))
    if not is_log(lines):
        if is_zone(lines):
            return Reading("zone", read_zone(source, lines))
        if is_exchange(lines):
            return Reading("exchange", read_exchanges(source, lines))
        if is_certificate(lines):
            return Reading("certificate", read_certificates(source, lines))
        manifest = read_manifest(lines)
        if manifest is not None:
            document = read_series(source, manifest) or read_document(source, manifest)
            words = quotable("\n".join(lines), source.subject)
            return Reading("manifest", document.items, (*document.context, *words))
    return None


def _read_block(source: Source, block: Sequence[str], read: _Text) -> None:
    """A block between tables: a report, a log, a list, or plain lines."""
    if is_report(block) and not is_log(block):
        read.items.extend(read_report(source, block))
        read.shapes.append("report")
    elif is_log(block):
        read.items.extend(read_entries(source, block))
        read.shapes.append("log")
        read.notes.extend(zone_notes(source, block))
    elif listing := read_listing(source, block):
        read.items.extend(listing)
        read.shapes.append("list")
    else:
        _read_plain(source, block, read)


def _read_plain(source: Source, block: Sequence[str], read: _Text) -> None:
    """Plain lines, and the tables that begin right below one of them."""
    start = index = 0
    while index < len(block):
        table = find_table(source, block, index) if index and _heads(block[index]) else None
        if table is None or len(table.items) < ROWS_MIN:
            index += 1
            continue
        read.words.extend(read_entries(source, block[start:index]))
        read.items.extend(table.items)
        read.shapes.append("table")
        start = index = index + table.lines
    read.words.extend(read_entries(source, block[start:]))


ROWS_MIN: Final = 2
"""Right below a line of words, fewer rows may be words too."""
COLUMNS_MIN: Final = 3


def _heads(line: str) -> bool:
    """Whether a line could be a header: several words, set apart."""
    return len(line.split()) >= COLUMNS_MIN and len(spans_of(line.strip())) > 1


def _block_end(source: Source, lines: Sequence[str], start: int) -> int:
    """Where the block that begins here ends: at the next table, or at the end.

    A table begins after a blank line, or anywhere if a rule stands under its header.
    """
    for index in range(start + 1, len(lines)):
        after_blank = not lines[index - 1].strip() and bool(lines[index].strip())
        ruled = "|" in lines[index] and is_ruled(lines, index)
        if (after_blank or ruled) and find_table(source, lines, index) is not None:
            return index
    return len(lines)
