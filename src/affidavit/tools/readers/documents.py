"""JSON documents of any shape: every list of records becomes rows, everything else one record.

A record is a Row whose cells are named by their path inside it (`state.waiting.reason`,
`containers[0].restart_count`). Records inside a record become rows of their own as well, with a
cell `parent` that names the outer one, so that "the container settle" has a subject too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Cell, Fact, Line, Quantity, Row, Window
from affidavit.contract.states import Emitter
from affidavit.tools.readers.bounds import CELLS_MAX, DEPTH_MAX, FACT_CHARS_MAX
from affidavit.tools.readers.levels import LEVEL_FIELDS, level_of, weight_of
from affidavit.tools.readers.moments import read_epoch, read_instant
from affidavit.tools.readers.numbers import read_quantity, to_decimal
from affidavit.tools.readers.reading import Item, Reading, Source, Weight
from affidavit.tools.readers.requests import is_request_field
from affidavit.tools.readers.words import clean, pieces

NAME_FIELDS: Final = (
    "metadata.name name displayName display_name title id Id ID identifier Name key service "
    "service_name pod host hostname instance node statement sha commit commit_sha revision version "
    "traceID traceId trace_id spanID object involved_object involvedObject.name InstanceId "
    "DBInstanceIdentifier db_instance_identifier TargetGroupName FunctionName LoadBalancerName "
    "Label source_identifier Target.Id"
).split()
"""Where a record says what it is called, the best name first."""

TIME_FIELDS: Final = frozenset(
    "timestamp time ts at date datetime created_at createdat creation_date eventtime event_time "
    "starttime start_time startedat started_at start last_time lasttimestamp lastseen last_seen "
    "fired_at firedat startsat starts_at updated_at updatedat occurred_at finishedat".split()
)
MESSAGE_FIELDS: Final = frozenset(
    "message msg log line text body description detail details summary reason error err exception "
    "stack stacktrace stack_trace notes note title label".split()
)
_SAYING: Final = ("message", "msg", "log", "line", "text", "body", "description", "detail", "summary")
_WORKLOAD_TEXT: Final = frozenset("query statement sql blocked_query blocking_query command".split())


@dataclass(slots=True)
class _Walk:
    """One walk through one document: what it found so far, and whether anything was too deep."""

    source: Source
    marks_requests: bool
    items: list[Item] = field(default_factory=list)
    cut: bool = False


def read_document(source: Source, document: object, *, marks_requests: bool = False) -> Reading:
    """A JSON document as rows. Total: whatever the document is, something is read out of it."""
    walk = _Walk(source, marks_requests)
    frame: list[Fact] = []
    if isinstance(document, Mapping):
        cells = _cells(walk, document, "", stops_at_records=True)
        subject = name_of(document) or source.subject
        collections = tuple(_collections(document, "", DEPTH_MAX))
        for path, records in collections:
            for record in records:
                walk.items.append(_record(walk, record, path, subject))
        if cells:
            frame = [*_rows(cells, subject, _time_of(document, source.window)), *_says(walk, document, subject)]
    elif _is_list(document):
        for entry in document:
            walk.items.append(_record(walk, entry, "", source.subject))
    else:
        cells = tuple(_leaf(walk, "value", document))
        frame = [Row(subject=source.subject, cells=cells)]
    if not walk.items and frame:
        return Reading("document", (Item(tuple(frame)),), cut=walk.cut)
    return Reading("document", tuple(walk.items), context=tuple(frame), cut=walk.cut)


def name_of(record: Mapping[str, object]) -> str | None:
    """What a record is called, by its own fields, or None."""
    for path in NAME_FIELDS:
        value: object = record
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, str) and value.strip():
            return clean(value.strip())[:FACT_CHARS_MAX]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)[:64]
    for value in record.values():
        inner = name_of(value) if isinstance(value, Mapping) else None
        if inner is not None:
            return inner
    return None


def is_records(value: object) -> bool:
    """Whether a value is a list of objects."""
    return _is_list(value) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _collections(
    node: Mapping[str, object], path: str, depth: int
) -> Iterator[tuple[str, Sequence[Mapping[str, object]]]]:
    """The outermost lists of records of a document, with their paths."""
    for key, value in node.items():
        inner = f"{path}.{key}" if path else str(key)
        if is_records(value):
            yield inner, value
        elif isinstance(value, Mapping) and depth:
            yield from _collections(value, inner, depth - 1)


def _record(walk: _Walk, record: object, path: str, owner: str | None, depth: int = DEPTH_MAX) -> Item:
    """One entry of a list: its row, the rows of the records inside it, and what it says."""
    if not isinstance(record, Mapping):
        cells = tuple(_leaf(walk, path or "value", record))
        return Item((Row(subject=owner, cells=cells),))
    body = record.get("_source")
    if isinstance(body, Mapping):
        record = body
    subject = name_of(record) or owner
    at = _time_of(record, walk.source.window)
    cells = _cells(walk, record, "")
    facts: list[Fact] = [*_rows(cells, subject, at)]
    facts.extend(_says(walk, record, subject, at))
    if depth:
        for inner, records in _collections(record, "", DEPTH_MAX):
            for nested in records:
                facts.extend(_nested(walk, nested, inner, subject, depth - 1))
    return Item(tuple(facts), _weight(record))


def _nested(
    walk: _Walk, record: Mapping[str, object], path: str, parent: str | None, depth: int
) -> Iterator[Fact]:
    subject = name_of(record) or parent
    cells = [Cell(name="list", text=path)]
    if parent is not None and parent != subject:
        cells.append(Cell(name="parent", text=parent))
    yield from _rows((*cells, *_cells(walk, record, "")), subject, _time_of(record, walk.source.window))
    if depth:
        for inner, records in _collections(record, "", DEPTH_MAX):
            for nested in records:
                yield from _nested(walk, nested, f"{path}.{inner}", subject, depth - 1)


def _rows(cells: Sequence[Cell], subject: str | None, at: datetime | None) -> Iterator[Row]:
    """The cells as one row, or as several of one subject where they are too many for one."""
    for start in range(0, len(cells), CELLS_MAX):
        yield Row(subject=subject, cells=tuple(cells[start : start + CELLS_MAX]), at=at)


def _cells(
    walk: _Walk, node: Mapping[str, object], path: str, *, stops_at_records: bool = False
) -> tuple[Cell, ...]:
    return tuple(_flatten(walk, node, path, stops_at_records, DEPTH_MAX))


def _flatten(
    walk: _Walk, node: object, path: str, stops_at_records: bool, depth: int
) -> Iterator[Cell]:
    if not depth:
        walk.cut = True
        return
    if isinstance(node, Mapping):
        for key, value in node.items():
            inner = f"{path}.{key}" if path else str(key)
            if stops_at_records and is_records(value):
                continue
            yield from _flatten(walk, value, inner, stops_at_records, depth - 1)
    elif _is_list(node):
        pairs = _name_value_pairs(node)
        if pairs is not None:
            yield from (cell for name, value in pairs for cell in _leaf(walk, f"{path}.{name}", value))
            return
        for index, value in enumerate(node):
            yield from _flatten(walk, value, f"{path}[{index}]", stops_at_records, depth - 1)
    else:
        yield from _leaf(walk, path or "value", node)


def _name_value_pairs(node: Sequence[object]) -> tuple[tuple[str, object], ...] | None:
    """The pairs of a list such as `[{"Name": "DBInstanceIdentifier", "Value": "x"}]`, or None."""
    pairs = []
    for entry in node:
        if not isinstance(entry, Mapping) or len(entry) != 2:
            return None
        lower = {str(key).lower(): value for key, value in entry.items()}
        name = lower.get("name", lower.get("key"))
        if not isinstance(name, str) or "value" not in lower:
            return None
        pairs.append((name, lower["value"]))
    return tuple(pairs) or None


def _leaf(walk: _Walk, name: str, value: object) -> Iterator[Cell]:
    emitter = _emitter(walk, name)
    name = clean(name)[:FACT_CHARS_MAX]
    if value is None:
        yield Cell(name=name)
    elif isinstance(value, bool):
        yield Cell(name=name, text="true" if value else "false")
    elif isinstance(value, (int, float, Decimal)):
        number = to_decimal(str(value) if not isinstance(value, float) else repr(value))
        if number is None:
            yield Cell(name=name, text=str(value)[:FACT_CHARS_MAX])
        else:
            yield Cell(name=name, quantity=Quantity(number=number))
    else:
        text = clean(value if isinstance(value, str) else str(value))
        quantity = read_quantity(text)
        for piece in pieces(text):
            yield Cell(name=name, quantity=quantity, text=piece, emitter=emitter)


def _emitter(walk: _Walk, name: str) -> Emitter | None:
    if walk.marks_requests and is_request_field(name):
        return Emitter.REQUEST
    if name.rsplit(".", 1)[-1] in _WORKLOAD_TEXT and walk.source.emitter is Emitter.PLATFORM:
        return Emitter.WORKLOAD
    return None


def _says(
    walk: _Walk, record: Mapping[str, object], subject: str | None, at: datetime | None = None
) -> Iterator[Line]:
    """What a record says in words, as lines: its message, and any text of several lines."""
    level = _level(record)
    for key, value in record.items():
        if not isinstance(value, str) or not value.strip():
            continue
        name = str(key).lower()
        if name in _SAYING or (name in MESSAGE_FIELDS and "\n" in value):
            emitter = _emitter(walk, name)
            for line in clean(value).split("\n"):
                for piece in pieces(line.rstrip()) if line.strip() else ():
                    yield Line(text=piece, subject=subject, level=level, at=at, emitter=emitter)


def _level(record: Mapping[str, object]) -> str | None:
    for key, value in record.items():
        if str(key).lower() in LEVEL_FIELDS and isinstance(value, (str, int)):
            level = level_of(str(value))
            if level is not None:
                return level
    return None


def _weight(record: Mapping[str, object]) -> Weight:
    return weight_of(_level(record))


def _time_of(record: Mapping[str, object], window: Window | None) -> datetime | None:
    """When a record says that it happened, or None; an end never stands in for a beginning."""
    for key, value in record.items():
        if re.sub(r"^@", "", str(key).lower()) not in TIME_FIELDS:
            continue
        if isinstance(value, str):
            moment = read_instant(value, window)
            if moment is None and value.isdigit() and (number := to_decimal(value)) is not None:
                moment = read_epoch(number)
        elif isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
            number = to_decimal(str(value))
            moment = read_epoch(number) if number is not None else None
        else:
            moment = None
        if moment is not None:
            return moment
    return None
