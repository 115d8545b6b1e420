"""JSON and YAML documents of any shape: every list of records becomes rows, the rest one record.

A record is a Row whose cells are named by their path inside it (`state.waiting.reason`,
`containers[0].restart_count`). Records inside a record become rows of their own as well, with a
cell `parent` that names the outer one, so that "the container settle" has a subject too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from affidavit.contract.evidence import Cell, Fact, Line, Row, Value
from affidavit.contract.states import Emitter
from affidavit.tools.readers.bounds import (
    CELLS_MAX,
    DEPTH_MAX,
    FACT_CHARS_MAX,
    LEAVES_MAX,
    TEXT_LINES_MIN,
    worth_reading,
)
from affidavit.tools.readers.fields import (
    TIME_FIELDS,
    WORKLOAD_FIELDS,
    has_more,
    is_list,
    is_records,
    name_of,
    name_value_pairs,
    read_json_object,
    time_of,
    total_of,
    unit_of_field,
)
from affidavit.tools.readers.levels import LEVEL_FIELDS, level_of, weight_of
from affidavit.tools.readers.numbers import read_named, to_number, to_quantity
from affidavit.tools.readers.reading import Item, Reading, Source, Weight
from affidavit.tools.readers.relations import onsets_of, relations_of
from affidavit.tools.readers.requests import is_request_field, own_words, request_spans
from affidavit.tools.readers.series import paired_samples, parallel_samples, point_of
from affidavit.tools.readers.shifts import beginnings_of, shifts_of
from affidavit.tools.readers.words import clean, pieces

ONE_RECORD: Final = "record"
"""The shape of a document that is one thing, and no list of things."""

SAYING_FIELDS: Final = frozenset(
    "message msg log line text body description detail details summary note notes title".split()
)
"""Fields whose value is what somebody says in words."""


@dataclass(slots=True)
class _Walk:
    """One walk through one document: what it found beside the rows, and if it went too deep."""

    source: Source
    marks_requests: bool
    top: object = None
    leaves: int = LEAVES_MAX
    samples: list[Value] = field(default_factory=list)
    cut: bool = False


def read_document(source: Source, document: object, *, marks_requests: bool = False) -> Reading:
    """A document as rows. Total: whatever the document is, something is read out of it.

    `marks_requests` says that its fields may hold what a caller sent (logs and spans do). A field
    of the outermost record that is a text of several lines is left to whoever reads texts.
    """
    walk = _Walk(source, marks_requests, top=document)
    items: list[Item] = []
    frame: list[Fact] = []
    if isinstance(document, Mapping) and is_object(document):
        item = read_record(walk, document, source.subject)
        frame = list(item.facts)
    elif isinstance(document, Mapping):
        subject = name_of(document) or source.subject
        at = time_of(document, source.window)
        for path, records in _collections(document, "", DEPTH_MAX):
            items.extend(_records(walk, records, subject, path))
        cells = tuple(_flatten(walk, document, "", stops_at_records=True))
        frame = [
            *_rows(cells, subject, at),
            *_says(walk, document, subject, at),
            *relations_of(document, subject),
            *onsets_of(document, subject, source.window),
        ]
    elif is_list(document):
        items.extend(_records(walk, document, source.subject))
    else:
        frame = [Row(subject=source.subject, cells=tuple(_leaf(walk, "value", document)))]
    samples = tuple(Item((value,)) for value in walk.samples)
    if not items and not samples and frame:
        return Reading(ONE_RECORD, (Item(tuple(frame)),), cut=walk.cut)
    told = document if isinstance(document, Mapping) and not is_object(document) else {}
    total = total_of(told)
    return Reading(
        "document",
        (*items, *samples),
        context=tuple(frame),
        total=total if total is not None and total >= len(items) else None,
        cut=walk.cut or has_more(told),
    )


def _records(
    walk: _Walk, records: Sequence[object], owner: str | None, path: str = ""
) -> Iterator[Item]:
    """The entries of a list; of more than can be kept, only those that would be are read whole."""
    weights = [
        weight_of(_level(one)) if isinstance(one, Mapping) else Weight.ORDINARY for one in records
    ]
    worth = worth_reading(weights)
    key = _key_of(records)
    for index, (record, weight) in enumerate(zip(records, weights, strict=True)):
        if index in worth:
            own = str(record[key]) if key is not None and isinstance(record, Mapping) else owner
            yield read_record(walk, record, own, path)
        else:
            yield Item((Row(subject=owner, cells=()),), weight)


KEY_FIELDS_MAX: Final = 3
"""What tells records apart stands among their first fields."""
KEY_CHARS_MAX: Final = 80
"""A longer text is something said, and no name."""


def _key_of(records: Sequence[object]) -> str | None:
    """The field that tells records apart that have no name of their own; None where none does.

    A short text without spaces, another one in each record: a variant, a model, a serial number.
    """
    if not is_records(records) or len(records) < 2 or any(name_of(one) for one in records):
        return None
    for key in tuple(records[0])[:KEY_FIELDS_MAX]:
        if str(key).lower().lstrip("@") in TIME_FIELDS:
            continue
        values = [one.get(key) for one in records]
        texts = {text for text in values if isinstance(text, str) and _may_name(text)}
        if len(texts) == len(records):
            return key
    return None


def _may_name(text: str) -> bool:
    return 0 < len(text) <= KEY_CHARS_MAX and not any(sign.isspace() for sign in text)


def is_object(document: Mapping[str, object]) -> bool:
    """Whether a document is one named thing (a Kubernetes object) and no answer around a list."""
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else document.get("name")
    return isinstance(name, str) and bool(name.strip())


def read_record(
    walk: _Walk, record: object, owner: str | None, path: str = "", depth: int = DEPTH_MAX
) -> Item:
    """One entry of a list: its row, the rows of the records inside it, and what it says."""
    if not isinstance(record, Mapping):
        return Item((Row(subject=owner, cells=tuple(_leaf(walk, path or "value", record))),))
    body = record.get("_source")
    record = body if isinstance(body, Mapping) else record
    subject = name_of(record) or owner
    at = time_of(record, walk.source.window)
    facts: list[Fact] = [*_rows(tuple(_flatten(walk, record, "")), subject, at)]
    point = point_of(walk.source, record, subject)
    facts.extend(() if point is None else (point,))
    facts.extend(_says(walk, record, subject, at))
    facts.extend(relations_of(record, subject))
    facts.extend(onsets_of(record, subject, walk.source.window))
    facts.extend(shifts_of(record, subject, walk.top))
    facts.extend(beginnings_of(record, subject, walk.source.window))
    if depth:
        for inner, records in _collections(record, "", DEPTH_MAX):
            for nested in records:
                facts.extend(_nested(walk, nested, inner, subject, depth - 1))
    empty = Row(subject=subject, cells=(), at=at)
    return Item(tuple(facts) or (empty,), weight_of(_level(record)))


def read_json_line(source: Source, document: Mapping[str, object]) -> tuple[Fact, ...]:
    """The facts of one JSON log line: its row and what it says; nobody but its logger is named."""
    walk = _Walk(source, marks_requests=True)
    at = time_of(document, source.window)
    service = document.get("service") or document.get("service_name") or document.get("app")
    subject = clean(service)[:FACT_CHARS_MAX] if isinstance(service, str) and service else None
    subject = subject or source.subject
    cells = tuple(_flatten(walk, document, ""))
    return (*_rows(cells, subject, at), *_says(walk, document, subject, at), *walk.samples)


def _nested(
    walk: _Walk, record: Mapping[str, object], path: str, parent: str | None, depth: int
) -> Iterator[Fact]:
    """A record inside a record, under its own name."""
    subject = name_of(record) or parent
    cells = [Cell(name="list", text=path)]
    if parent is not None and parent != subject:
        cells.append(Cell(name="parent", text=parent))
    cells.extend(_flatten(walk, record, ""))
    yield from _rows(cells, subject, time_of(record, walk.source.window))
    named = parent if subject is None else subject
    yield from onsets_of(record, named, walk.source.window)
    yield from shifts_of(record, named, walk.top)
    yield from beginnings_of(record, named, walk.source.window)
    if depth:
        for inner, records in _collections(record, "", DEPTH_MAX):
            for nested in records:
                yield from _nested(walk, nested, f"{path}.{inner}", subject, depth - 1)


def _collections(
    node: Mapping[str, object], path: str, depth: int
) -> Iterator[tuple[str, Sequence[Mapping[str, object]]]]:
    """The outermost lists of records of a document, with their paths."""
    for key, value in node.items():
        inner = f"{path}.{key}" if path else str(key)
        if is_records(value) and name_value_pairs(value) is None:
            yield inner, value
        elif isinstance(value, Mapping) and depth:
            yield from _collections(value, inner, depth - 1)


def _rows(cells: Sequence[Cell], subject: str | None, at: datetime | None) -> Iterator[Row]:
    """The cells as one row, or as several of one subject where they are too many for one."""
    for start in range(0, len(cells), CELLS_MAX):
        yield Row(subject=subject, cells=tuple(cells[start : start + CELLS_MAX]), at=at)


def _flatten(
    walk: _Walk,
    node: object,
    path: str,
    *,
    stops_at_records: bool = False,
    depth: int = DEPTH_MAX,
) -> Iterator[Cell]:
    """Every leaf of a node as a cell named by its path."""
    if not depth or not walk.leaves:
        walk.cut = True
    elif isinstance(node, Mapping):
        samples = parallel_samples(walk.source, node, path) or paired_samples(
            walk.source, node, path
        )
        walk.samples.extend(samples)
        for key, value in node.items():
            inner = f"{path}.{key}" if path else str(key)
            if samples and is_list(value) and len(value) == len(samples):
                continue
            if stops_at_records and is_records(value) and name_value_pairs(value) is None:
                continue
            yield from _flatten(
                walk, value, inner, stops_at_records=stops_at_records, depth=depth - 1
            )
    elif is_list(node):
        pairs = name_value_pairs(node)
        if pairs is not None:
            for name, value in pairs:
                yield from _leaf(walk, f"{path}.{name}", value)
            return
        for index, value in enumerate(node):
            yield from _flatten(
                walk, value, f"{path}[{index}]", stops_at_records=stops_at_records, depth=depth - 1
            )
    else:
        yield from _leaf(walk, path or "value", node)


def _leaf(walk: _Walk, name: str, value: object) -> Iterator[Cell]:
    walk.leaves = max(0, walk.leaves - 1)
    emitter = _emitter(walk, name)
    name = clean(name)[:FACT_CHARS_MAX]
    if value is None:
        yield Cell(name=name)
    elif isinstance(value, bool):
        yield Cell(name=name, text="true" if value else "false")
    elif (number := to_number(value)) is not None:
        yield Cell(name=name, quantity=to_quantity(number, unit_of_field(name)))
    else:
        text = clean(value if isinstance(value, str) else str(value))
        quantity = read_named(name, text)
        if walk.marks_requests and emitter is None and request_spans(text):
            emitter = Emitter.REQUEST
        for piece in pieces(text):
            yield Cell(name=name, quantity=quantity, text=piece, emitter=emitter)


def _emitter(walk: _Walk, name: str) -> Emitter | None:
    if walk.marks_requests and is_request_field(name):
        return Emitter.REQUEST
    if name.rsplit(".", 1)[-1] in WORKLOAD_FIELDS and walk.source.emitter is Emitter.PLATFORM:
        return Emitter.WORKLOAD
    return None


def _says(
    walk: _Walk, record: Mapping[str, object], subject: str | None, at: datetime | None
) -> Iterator[Fact]:
    """What a record says in words, as lines: its message, and any text of several lines.

    A message that is itself a JSON object gives its cells too.
    """
    level = _level(record)
    for key, value in record.items():
        if not isinstance(value, str) or not value.strip():
            continue
        name = str(key).lower()
        is_text = value.count("\n") >= TEXT_LINES_MIN
        if (is_text and record is walk.top) or not (is_text or name in SAYING_FIELDS):
            continue
        inner = read_json_object(value)
        if inner is not None:
            yield from _rows(tuple(_flatten(walk, inner, "")), subject, at)
        emitter = _emitter(walk, name)
        for line in clean(value).split("\n"):
            for text, whose in _voices(walk, line, emitter) if line.strip() else ():
                for piece in pieces(text.rstrip()):
                    yield Line(text=piece, subject=subject, level=level, at=at, emitter=whose)


def _voices(
    walk: _Walk, line: str, emitter: Emitter | None
) -> Iterator[tuple[str, Emitter | None]]:
    """A line, and beside it the parts that no caller wrote, where it holds a request."""
    spans = request_spans(line) if walk.marks_requests else ()
    if not spans or emitter is Emitter.REQUEST:
        yield line, emitter
        return
    yield line, Emitter.REQUEST
    for part in own_words(line, spans):
        yield part, emitter


def _level(record: Mapping[str, object]) -> str | None:
    for key, value in record.items():
        if str(key).lower() in LEVEL_FIELDS and isinstance(value, (str, int)):
            level = level_of(str(value))
            if level is not None:
                return level
    return None
