"""Lists without a header: filtered `kubectl get`, `git log --oneline`, names beside quantities.

Columns are named only where their order is fixed by the program that printed them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from affidavit.contract.evidence import Cell, Edge, Fact, Line, Row, Value
from affidavit.tools.readers.moments import find_stamp
from affidavit.tools.readers.numbers import read_quantity, to_cell
from affidavit.tools.readers.reading import Item, Source
from affidavit.tools.readers.words import pieces

SHARE: Final = 0.8
"""At least this share of the lines must have the form."""

_GAP: Final = re.compile(r"[ ]{2,}|\t")
_READY: Final = re.compile(r"\d{1,6}/\d{1,6}")
_POD: Final = (
    "READY",
    "STATUS",
    "RESTARTS",
    "AGE",
    "IP",
    "NODE",
    "NOMINATED NODE",
    "READINESS GATES",
    "LABELS",
)
_DEPLOYMENT: Final = (
    "READY",
    "UP-TO-DATE",
    "AVAILABLE",
    "AGE",
    "CONTAINERS",
    "IMAGES",
    "SELECTOR",
    "LABELS",
)
_JOB: Final = (
    "STATUS",
    "COMPLETIONS",
    "DURATION",
    "AGE",
    "CONTAINERS",
    "IMAGES",
    "SELECTOR",
    "LABELS",
)
_COMMIT: Final = re.compile(
    r"(?P<sha>[0-9a-f]{7,40})(?:\s+\([^)\n]{1,200}\))?\s+(?P<rest>\S.{0,2000})"
)
_COUNTED: Final = re.compile(r"\s{0,40}(?P<count>\d{1,12})\s{1,8}(?P<name>\S.{0,1000})")
_SIZED: Final = re.compile(
    r"(?P<size>\d{1,12}(?:[.,]\d{1,3})?[kKMGTP]i?B?)\s{1,8}(?P<name>\S{1,1000})"
)
_MEASURED: Final = re.compile(
    r"(?:(?P<group>[\w.-]{1,253})\s+)?(?P<name>[\w./@:-]{1,400})\s+"
    r"(?P<quantity>[\d.,]{1,30} ?[A-Za-z%]{0,5})"
)


def read_listing(source: Source, lines: Sequence[str]) -> tuple[Item, ...]:
    """The lines of a list without a header, one item each; nothing where they are no such list."""
    said = [line for line in lines if line.strip()]
    for reader in (_cluster_row, _commit, _measured, _sized, _counted):
        rows = [reader(source, line) for line in said]
        if rows and sum(row is not None for row in rows) >= SHARE * len(rows):
            return tuple(
                Item((*_lines(line, source.subject), *(row or ())))
                for line, row in zip(said, rows, strict=True)
            )
    return ()


Reader = Callable[[Source, str], "tuple[Fact, ...] | None"]


def _lines(line: str, subject: str | None) -> Iterator[Line]:
    for piece in pieces(line.rstrip()):
        yield Line(text=piece, subject=subject)


def _cluster_row(_source: Source, line: str) -> tuple[Fact, ...] | None:
    """A row of `kubectl get -A -o wide` for pods, deployments or jobs."""
    texts = [text for text in _GAP.split(line.strip()) if text]
    ready = next((index for index, text in enumerate(texts[:4]) if _READY.fullmatch(text)), None)
    if ready is None or len(texts) < ready + 3 or ready == 0:
        return None
    is_job = ready >= 2 and re.fullmatch(r"Complete|Failed|Running|Suspended", texts[ready - 1])
    first = ready - 1 if is_job else ready
    if not 1 <= first <= 2:
        return None
    counted = all(text.isdigit() for text in texts[ready + 1 : ready + 3])
    names: tuple[str, ...] = _JOB if is_job else _DEPLOYMENT if counted else _POD
    subject = texts[first - 1]
    cells = [Cell(name="NAMESPACE", text=texts[0])] if first == 2 else []
    cells.append(Cell(name="NAME", text=subject))
    for name, text in zip(names, texts[first:], strict=False):
        cells.append(Cell(name=name) if text == "<none>" else to_cell(name, text))
    facts: list[Fact] = [Row(subject=subject, cells=tuple(cells))]
    node = next((cell.text for cell in cells if cell.name == "NODE" and cell.text), None)
    if node:
        facts.append(Edge(source=subject, target=node, relation="runs on"))
    return tuple(facts)


def _commit(source: Source, line: str) -> tuple[Fact, ...] | None:
    """A line of `git log` that begins with the commit's hash."""
    found = _COMMIT.fullmatch(line.strip()[:2_400])
    if found is None or found["sha"].isdigit():
        return None
    stamp = find_stamp(found["rest"])
    rest = found["rest"][stamp.end :].strip() if stamp else found["rest"]
    at = stamp.instant(source.window) if stamp else None
    parts = _GAP.split(rest, maxsplit=1)
    cells = [Cell(name="commit", text=found["sha"])]
    if stamp and len(parts) == 2:
        cells.append(Cell(name="author", text=parts[0]))
    cells.append(Cell(name="message", text=parts[-1]))
    return (Row(subject=found["sha"], cells=tuple(cells), at=at),)


def _measured(source: Source, line: str) -> tuple[Fact, ...] | None:
    """`name  5120 Mi`, also with a group before the name."""
    found = _MEASURED.fullmatch(line.strip()[:1_000])
    quantity = read_quantity(found["quantity"].strip()) if found else None
    if found is None or quantity is None or not re.search(r"[A-Za-z]", found["name"]):
        return None
    asked = " ".join(str(value) for value in source.arguments.values())
    name = "memory request" if "memory" in source.tool.lower() or "MEMORY" in asked else "value"
    value = Value(subject=found["name"], attribute=name, quantity=quantity)
    if not found["group"]:
        return (value,)
    group = Row(subject=found["name"], cells=(Cell(name="group", text=found["group"]),))
    return (value, group)


def _sized(_source: Source, line: str) -> tuple[Fact, ...] | None:
    """`61G  /var/log/audit`: what `du` prints; a size has a unit, else it is a count."""
    found = _SIZED.fullmatch(line.strip()[:1_100])
    quantity = read_quantity(found["size"]) if found else None
    if found is None or quantity is None:
        return None
    value = Value(subject=found["name"], attribute="size", quantity=quantity)
    return (value,)


def _counted(_source: Source, line: str) -> tuple[Fact, ...] | None:
    """`uniq -c`, numbered lines."""
    found = _COUNTED.fullmatch(line[:1_100])
    quantity = read_quantity(found["count"]) if found else None
    if found is None or quantity is None:
        return None
    return (Value(subject=found["name"].strip(), attribute="count", quantity=quantity),)
