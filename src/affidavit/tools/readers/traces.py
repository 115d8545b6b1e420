"""Spans of a trace: as lists (Tempo, Jaeger, OTLP, Zipkin and their like) and as printed trees.

A span is a row named by its operation, with its duration as a Value and its parent as an Edge, both
between operations and, where they differ, between services.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from affidavit.contract.evidence import Cell, Edge, Fact, Line, Quantity, Row, Value
from affidavit.contract.states import Emitter
from affidavit.tools.readers.bounds import worth_reading
from affidavit.tools.readers.documents import read_document
from affidavit.tools.readers.fields import is_records, to_instant
from affidavit.tools.readers.logs import fields_of
from affidavit.tools.readers.moments import read_instant
from affidavit.tools.readers.numbers import read_quantity, to_cell, to_decimal, to_number
from affidavit.tools.readers.reading import Item, Reading, Source, Weight
from affidavit.tools.readers.requests import is_request_field, request_spans
from affidavit.tools.readers.words import clean, pieces

_ID: Final = ("spanID", "spanId", "span_id", "spanid", "id")
_PARENT: Final = (
    "parentSpanID", "parentSpanId", "parent_span_id", "parentId", "parent_id", "parentID", "parent",
)  # fmt: skip
_NAME: Final = ("name", "operationName", "operation", "operation_name", "span_name", "resource")
_SERVICE: Final = ("service", "serviceName", "service_name", "service.name")
_DURATIONS: Final = (
    ("durationMs", "ms"), ("duration_ms", "ms"), ("durMs", "ms"), ("dur_ms", "ms"),
    ("elapsed_ms", "ms"), ("durationNanos", "ns"), ("duration_ns", "ns"), ("durationNano", "ns"),
    ("duration_us", "us"), ("durationMicros", "us"), ("duration_s", "s"), ("duration", ""),
)  # fmt: skip
_STARTS: Final = (
    "start", "startTime", "start_time", "startTimeUnixNano", "timestamp", "startTimeMillis",
)  # fmt: skip
SPAN_SHARE: Final = 0.8
"""At least this share of a list's records must look like spans."""

SEARCH_DEPTH_MAX: Final = 8
"""OTLP nests spans four levels deep."""

_ATTRIBUTE: Final = re.compile(r"[ │|]{0,400}(?P<name>[\w./-]{1,100}): (?P<value>\S.{0,2000})")
_MOMENT: Final = re.compile(
    r"[ │|]{0,400}(?P<name>\S.{0,200}) \(\+(?P<after>[\d.]{1,20} ?(?:ns|us|µs|ms|s))\)"
    r" at (?P<at>\S{8,40})\s*"
)
_TREE: Final = re.compile(
    r"(?P<indent>[ │|]{0,400})(?:[├└][─-]{1,4} ?|[|+`\\][-─]{1,4} ?)(?P<name>\S.{0,600}?) "
    r"\((?P<service>[^()]{1,200})\)(?: -|:)? (?P<duration>[\d.]{1,20} ?(?:ns|us|µs|ms|s))\b.{0,400}"
)


@dataclass(frozen=True, slots=True)
class _Span:
    """What is known of one span."""

    id: str | None
    parent: str | None
    name: str
    service: str | None


def read_trace(source: Source, document: object) -> Reading | None:
    """A document that holds spans, or None."""
    found = list(_span_lists(document, None, SEARCH_DEPTH_MAX))
    if not found:
        return None
    services = _jaeger_services(document)
    records = [(record, service) for records, service in found for record in records]
    spans = [_span(record, service, services) for record, service in records]
    by_id = {span.id: span for span in spans if span.id is not None}
    items: list[Item] = []
    weights = [_weight(record) for record, _ in records]
    worth = worth_reading(weights)
    for index, ((record, _), span) in enumerate(zip(records, spans, strict=True)):
        if index not in worth:
            items.append(Item(tuple(_duration(record, span)), weights[index]))
            continue
        row = read_document(source, [record], marks_requests=True).items[0]
        facts: list[Fact] = [*(_named(fact, span) for fact in row.facts)]
        facts.extend(_duration(record, span))
        parent = by_id.get(span.parent) if span.parent else None
        facts.extend(_edges(parent, span))
        items.append(Item(tuple(facts), weights[index]))
    return Reading("trace", tuple(items), context=_frame(document))


def read_tree(source: Source, lines: Sequence[str]) -> tuple[Item, ...]:
    """A printed tree of spans, one item a span; nothing where the lines are no such tree."""
    stack: list[tuple[int, _Span]] = []
    items: list[Item] = []
    pending: list[Fact] = []
    for line in lines:
        found = _TREE.fullmatch(line[:2_000])
        if found is None:
            span = stack[-1][1] if stack else _Span(None, None, source.subject or "", None)
            pending.extend(_detail(span, line))
            continue
        if pending and stack:
            items.append(Item(tuple(pending)))
            pending = []
        depth = len(found["indent"])
        while stack and stack[-1][0] >= depth:
            stack.pop()
        span = _Span(None, None, found["name"], found["service"])
        duration = read_quantity(found["duration"].replace(" ", ""))
        pending.append(Line(text=line.rstrip(), subject=span.service))
        if duration is not None:
            pending.append(Value(subject=span.name, attribute="duration", quantity=duration))
        pending.extend(_edges(stack[-1][1] if stack else None, span))
        stack.append((depth, span))
    if not stack:
        return ()
    items.append(Item(tuple(pending)))
    return tuple(items)


def _detail(span: _Span, line: str) -> Iterator[Fact]:
    """A line under a span: its attributes, and what a request brought marked as such."""
    asked = Emitter.REQUEST if request_spans(line[:4_000]) else None
    for piece in pieces(line.rstrip()):
        if piece.strip():
            yield Line(text=piece, subject=span.service, emitter=asked)
    moment = _MOMENT.fullmatch(line[:4_000])
    if moment and span.name:
        quantity = read_quantity(moment["after"].replace(" ", ""))
        if quantity is not None:
            at = read_instant(moment["at"])
            yield Value(subject=span.name, attribute=moment["name"], quantity=quantity, at=at)
        return
    cells = list(fields_of(line[:4_000]))
    found = _ATTRIBUTE.fullmatch(line[:4_000])
    if found and not cells:
        emitter = Emitter.REQUEST if is_request_field(found["name"]) else None
        cells.append(to_cell(found["name"], found["value"], emitter))
    if cells and span.name:
        yield Row(subject=span.name, cells=tuple(cells))


def is_tree(lines: Sequence[str]) -> bool:
    """Whether a text prints spans as a tree."""
    return any(_TREE.fullmatch(line[:2_000]) for line in lines[:6])


def _span_lists(
    node: object, service: str | None, depth: int
) -> Iterator[tuple[Sequence[Mapping[str, object]], str | None]]:
    if not depth:
        return
    if is_records(node):
        spans = sum(_is_span(record) for record in node)
        if spans >= SPAN_SHARE * len(node) and spans:
            yield node, service
            return
        for record in node:
            yield from _span_lists(record, service, depth - 1)
    elif isinstance(node, Mapping):
        service = _resource_service(node) or service
        for value in node.values():
            if isinstance(value, (Mapping, list, tuple)):
                yield from _span_lists(value, service, depth - 1)


def _is_span(record: Mapping[str, object]) -> bool:
    linked = any(key in record for key in (*_PARENT, "references"))
    timed = _length(record) is not None
    identified = any(key in record for key in _ID)
    return identified and timed and (linked or any(key in record for key in _NAME))


def _span(record: Mapping[str, object], service: str | None, processes: dict[str, str]) -> _Span:
    parent = _first(record, _PARENT)
    references = record.get("references")
    if parent is None and is_records(references):
        parent = _first(references[0], _ID)
    process = record.get("process")
    own = _first(record, _SERVICE) or (
        _first(process, _SERVICE) if isinstance(process, Mapping) else None
    )
    own = own or processes.get(str(record.get("processID", ""))) or service
    name = _first(record, _NAME) or own or _first(record, _ID) or "span"
    return _Span(_first(record, _ID), parent, name, own)


def _named(fact: Fact, span: _Span) -> Fact:
    """A span's row is about its operation; the service is one of its cells."""
    if fact.kind != "row":
        return fact
    cells = fact.cells
    if span.service and not any(cell.name in _SERVICE for cell in cells):
        cells = (*cells, Cell(name="service", text=span.service))
    return type(fact)(subject=span.name, cells=cells, at=fact.at)


def _duration(record: Mapping[str, object], span: _Span) -> Iterator[Value]:
    length = _length(record)
    if length is not None:
        start = next((at for key in _STARTS if (at := to_instant(record.get(key)))), None)
        yield Value(subject=span.name, attribute="duration", quantity=length, at=start)


def _length(record: Mapping[str, object]) -> Quantity | None:
    for key, unit in _DURATIONS:
        raw = record.get(key)
        number = to_number(raw)
        if number is not None:
            jaeger = "operationName" in record or "processID" in record
            return Quantity(number=number, unit=unit or ("us" if jaeger else ""))
        if isinstance(raw, str) and (quantity := read_quantity(raw)):
            return quantity
    ends = [to_decimal(str(record.get(f"{end}TimeUnixNano", ""))) for end in ("start", "end")]
    if ends[0] is not None and ends[1] is not None and ends[1] >= ends[0]:
        return Quantity(number=(ends[1] - ends[0]) / Decimal(1_000_000), unit="ms")
    return None


def _edges(parent: _Span | None, span: _Span) -> Iterator[Edge]:
    if parent is None:
        return
    if parent.name != span.name:
        yield Edge(source=parent.name, target=span.name)
    if parent.service and span.service and parent.service != span.service:
        yield Edge(source=parent.service, target=span.service)


def _weight(record: Mapping[str, object]) -> Weight:
    status = record.get("status")
    text = str(status.get("code", "") if isinstance(status, Mapping) else status or "").lower()
    failed = text in ("error", "status_code_error", "2") or record.get("error") not in (None, False)
    return Weight.ALARMING if failed and record.get("error") != 0 else Weight.ORDINARY


def _frame(document: object) -> tuple[Fact, ...]:
    if not isinstance(document, Mapping):
        return ()
    return tuple(
        Value(subject="trace", attribute=str(key)[:200], text=clean(value)[:400])
        for key, value in document.items()
        if isinstance(value, str) and value.strip() and clean(value).strip()
    )


def _first(record: Mapping[str, object], names: Sequence[str]) -> str | None:
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return clean(value.strip())[:600]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)[:64]
    return None


def _resource_service(node: Mapping[str, object]) -> str | None:
    """OTLP: a resource's attribute service.name."""
    resource = node.get("resource")
    attributes = resource.get("attributes") if isinstance(resource, Mapping) else None
    for attribute in attributes if is_records(attributes) else ():
        value = attribute.get("value")
        if attribute.get("key") == "service.name" and isinstance(value, Mapping):
            return _first(value, ("stringValue",))
    return None


def _jaeger_services(document: object) -> dict[str, str]:
    """Jaeger: the service of each process id, wherever the map stands in the first two levels."""
    found: dict[str, str] = {}
    nodes = [document]
    if isinstance(document, Mapping):
        data = document.get("data")
        nodes.extend(data if is_records(data) else ())
    for node in nodes:
        processes = node.get("processes") if isinstance(node, Mapping) else None
        for key, process in processes.items() if isinstance(processes, Mapping) else ():
            name = _first(process, _SERVICE) if isinstance(process, Mapping) else None
            if name:
                found[str(key)] = name
    return found
