"""Reports of `Key:  value` lines with indentation, such as `kubectl describe` prints.

The whole report is one record: cells named by their path (`Containers.nginx.Restart Count`), about
the entity that `Name:` names. Each container, and each other named section, is a row of its own
too. Tables inside (Conditions, Events) are read as tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from affidavit.contract.evidence import Cell, Edge, Fact, Line, Row
from affidavit.tools.readers.bounds import CELLS_MAX
from affidavit.tools.readers.fields import bare_name
from affidavit.tools.readers.moments import read_instant
from affidavit.tools.readers.numbers import to_cell
from affidavit.tools.readers.reading import Item, Source
from affidavit.tools.readers.tables import Block, find_table
from affidavit.tools.readers.words import pieces

KEY_SHARE: Final = 0.5
"""A text of which less than this share of lines are keys is no report."""

NAME_LINES_MAX: Final = 5
"""A report names its subject at its head; further down other things are named."""

_KEY: Final = re.compile(
    r"(?P<indent>[ \t]*(?:[-*•] )?)"
    r"(?P<key>[A-Za-z@%][\w./@+-]{0,60}(?: [\w./()%@+-]{1,30}){0,4}?)[ ]?:"
    r"(?:[ \t]+(?P<value>\S.*))?[ \t]*"
)
_PAIR: Final = re.compile(r"([A-Za-z][\w./-]{0,253})[=:] ?(\S.{0,1000})")
_SECTIONS: Final = ("Containers", "Init Containers", "Ephemeral Containers", "Volumes")
_NAMED: Final = re.compile(
    r"(?:Name|App|Application|Release|RELEASE NAME|Service|Deployment|Pod|Job|Host|Instance"
    r"|Database|Cluster|Node|Queue|NAME):\s{1,80}(\S{1,253})\s*",
    re.IGNORECASE,
)
_OWNED: Final = "Controlled By"


@dataclass(slots=True)
class _Report:
    """What was read of one report so far."""

    source: Source
    subject: str | None
    cells: list[Cell] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    keys: list[tuple[int, str]] = field(default_factory=list)


def is_report(lines: Sequence[str]) -> bool:
    """Whether enough of the lines are keys, and the first is one."""
    said = [line for line in lines if line.strip()]
    keys = sum(_KEY.fullmatch(line[:2_000]) is not None for line in said)
    return keys > 1 and keys >= KEY_SHARE * min(len(said), 12) and _opens(said)


def read_report(source: Source, lines: Sequence[str]) -> tuple[Item, ...]:
    """One report as one item, and each row of the tables inside it as one more."""
    report = _Report(source, _subject(lines) or source.subject)
    index = 0
    while index < len(lines):
        line = lines[index]
        if not line.strip():
            index += 1
            continue
        table = _table_at(report, lines, index)
        if table is not None:
            report.items.extend(_about(report, item) for item in table.items)
            index += table.lines
            continue
        _read_line(report, line)
        index += 1
    facts: list[Fact] = [*report.lines, *_rows(report.subject, report.cells)]
    facts.extend(_section_rows(report))
    facts.extend(_owners(report))
    return (Item(tuple(facts)), *report.items) if facts else tuple(report.items)


def _opens(lines: Sequence[str]) -> bool:
    return any(_KEY.fullmatch(line[:2_000]) for line in lines[:2])


def _subject(lines: Sequence[str]) -> str | None:
    """What `Name:` (`Service:`, `Host:`, …) at the margin says, within the first lines."""
    for line in lines[:NAME_LINES_MAX]:
        found = _NAMED.fullmatch(line[:400])
        if found:
            return bare_name(found[1])
    return None


def _table_at(report: _Report, lines: Sequence[str], index: int) -> Block | None:
    """A table that stands at this line and is no key itself."""
    if _KEY.fullmatch(lines[index][:2_000]):
        return None
    return find_table(report.source, lines, index)


def _about(report: _Report, item: Item) -> Item:
    """A row inside a report is about the report's subject, unless it names another."""
    facts: list[Fact] = []
    for fact in item.facts:
        names = isinstance(fact, Row) and any(cell.name.lower() == "name" for cell in fact.cells)
        if isinstance(fact, Row) and not names and report.subject is not None:
            facts.append(Row(subject=report.subject, cells=fact.cells, at=fact.at))
        elif isinstance(fact, Line) and report.subject is not None:
            facts.append(
                Line(text=fact.text, subject=report.subject, level=fact.level, at=fact.at,
                     count=fact.count, emitter=fact.emitter)
            )  # fmt: skip
        else:
            facts.append(fact)
    return Item(tuple(facts), item.weight)


def _read_line(report: _Report, line: str) -> None:
    for piece in pieces(line.rstrip()):
        report.lines.append(Line(text=piece, subject=report.subject))
    found = _KEY.fullmatch(line[:2_000])
    indent = len(line) - len(line.lstrip())
    if found is None:
        _continue(report, indent, line.strip())
        return
    while report.keys and report.keys[-1][0] >= indent:
        report.keys.pop()
    report.keys.append((indent, found["key"].strip()))
    path = ".".join(key for _, key in report.keys)
    if found["value"]:
        _put(report, path, found["value"].strip())


def _continue(report: _Report, indent: int, text: str) -> None:
    """A line without a key belongs to the last key that stands further left."""
    while len(report.keys) > 1 and report.keys[-1][0] >= indent:
        report.keys.pop()
    path = ".".join(key for _, key in report.keys)
    _put(report, path or "text", text)


def _put(report: _Report, path: str, text: str) -> None:
    last = path.rsplit(".", 1)[-1]
    if last in ("Labels", "Annotations", "Selector") or path.endswith("Environment"):
        pairs = [_PAIR.fullmatch(part.strip()) for part in text.split(",")]
        for pair in pairs if all(pairs) else ():
            if pair:
                report.cells.append(to_cell(f"{path}.{pair[1]}", pair[2]))
    for piece in pieces(text):
        report.cells.append(
            Cell(name=path) if piece in ("<none>", "<unset>", "<nil>") else to_cell(path, piece)
        )


def _rows(subject: str | None, cells: Sequence[Cell]) -> Iterator[Row]:
    for start in range(0, len(cells), CELLS_MAX):
        part = tuple(cells[start : start + CELLS_MAX])
        at = next((at for c in part if c.name == "at" and (at := read_instant(c.text or ""))), None)
        yield Row(subject=subject, cells=part, at=at)


def _section_rows(report: _Report) -> Iterator[Row]:
    """Each container (volume, …) of the report under its own name."""
    parts: dict[str, list[Cell]] = {}
    for cell in report.cells:
        for section in _SECTIONS:
            if cell.name.startswith(f"{section}."):
                name, dot, rest = cell.name[len(section) + 1 :].partition(".")
                if dot:
                    parts.setdefault(name, [Cell(name="list", text=section)]).append(
                        Cell(name=rest, quantity=cell.quantity, text=cell.text)
                    )
    for name, cells in parts.items():
        parent = () if report.subject is None else (Cell(name="parent", text=report.subject),)
        yield from _rows(name, (*parent, *cells))


def _owners(report: _Report) -> Iterator[Edge]:
    """`Controlled By` and `Node`, as relations."""
    for cell in report.cells:
        if cell.text is None or report.subject is None:
            continue
        if cell.name == _OWNED:
            yield Edge(source=bare_name(cell.text), target=report.subject, relation="owns")
        if cell.name == "Node":
            node = cell.text.split("/", 1)[0]
            yield Edge(source=report.subject, target=node, relation="runs on")
