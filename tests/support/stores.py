"""Small stores of logs and spans on loopback that answer as Loki, Elasticsearch, Tempo and Jaeger.

The documents are written by hand after the public references of their APIs; no such server was at
hand. Paging is real: a store gives what its question asks for, and no more.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.http_stage import Reply, Seen


@dataclass(frozen=True)
class Told:
    """One log line: microseconds since the epoch, service, level, text."""

    at_us: int
    service: str
    level: str
    text: str


def asked_of(asked: Seen) -> tuple[str, dict[str, str]]:
    """Path and query of a request."""
    parts = urlsplit(asked.path)
    return parts.path, {name: found[0] for name, found in parse_qs(parts.query).items()}


def said(document: object, status: int = 200) -> Reply:
    """A document."""
    return Reply(status, json.dumps(document).encode())


def loki(lines: Sequence[Told]) -> Callable[[Seen], Reply]:
    """`start` is within, `end` is not; the newest `limit` lines, by stream."""

    def answer(asked: Seen) -> Reply:
        path, query = asked_of(asked)
        if path.endswith("/labels"):
            return said({"status": "success", "data": ["app"]})
        first, last = int(query["start"]), int(query["end"])
        found = sorted(
            (one for one in lines if first <= one.at_us * 1000 < last), key=lambda one: -one.at_us
        )[: int(query["limit"])]
        streams: dict[tuple[str, str], list[list[Any]]] = {}
        for one in found:
            value: list[Any] = [str(one.at_us * 1000), one.text, {"trace_id": "ab" * 16}]
            streams.setdefault((one.service, one.level), []).append(value)
        result = [
            {"stream": {"app": app, "level": level, "pod": f"{app}-1"}, "values": values}
            for (app, level), values in streams.items()
        ]
        return said({"status": "success", "data": {"resultType": "streams", "result": result}})

    return answer


def elasticsearch(
    lines: Sequence[Told], rights: dict[str, bool] | None = None, **more: Any
) -> Callable[[Seen], Reply]:
    """`_search` over a range, newest first; without `rights` it does not know the question."""

    def answer(asked: Seen) -> Reply:
        path, _ = asked_of(asked)
        question = json.loads(asked.body)
        if path.endswith("_has_privileges"):
            told = {"has_all_requested": False, "index": {"logs-*": rights}}
            return said({"error": "no handler"}, 400) if rights is None else said(told)
        if question["size"] == 0:
            return said({"hits": {"hits": []}})
        span = question["query"]["bool"]["filter"][0]["range"]["@timestamp"]
        found = sorted(
            (one for one in enumerate(lines) if span["gte"] <= one[1].at_us // 1000 <= span["lte"]),
            key=lambda one: -one[1].at_us,
        )[: question["size"]]
        hits = [
            {
                "_index": "logs-1",
                "_id": str(place),
                "_source": {
                    "@timestamp": one.at_us // 1000,
                    "message": one.text,
                    "service": {"name": one.service},
                    "log.level": one.level,
                },
                "sort": [one.at_us // 1000],
            }
            for place, one in found
        ]
        return said({"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": hits}, **more})

    return answer


@dataclass(frozen=True)
class Call:
    """One trace: a service that calls another, when, and how long the other took."""

    at_us: int
    caller: str
    callee: str
    took_us: int
    failed: bool = False

    @property
    def trace_id(self) -> str:
        """Its id, in hexadecimal."""
        return f"{self.at_us:032x}"


def jaeger(calls: Sequence[Call]) -> Callable[[Seen], Reply]:
    """`/api/services` and `/api/traces?service=…`, the newest `limit` of them."""

    def answer(asked: Seen) -> Reply:
        path, query = asked_of(asked)
        if path.endswith("/services"):
            return said({"data": sorted({name for c in calls for name in (c.caller, c.callee)})})
        first, last = int(query["start"]), int(query["end"])
        found = [
            one
            for one in calls
            if first <= one.at_us < last and query["service"] in {one.caller, one.callee}
        ]
        return said({"data": [_jaeger_trace(one) for one in found[-int(query["limit"]) :]]})

    return answer


def _jaeger_trace(call: Call) -> dict[str, Any]:
    outer = {
        "traceID": call.trace_id,
        "spanID": f"{call.at_us:016x}",
        "operationName": "GET /",
        "references": [],
        "startTime": call.at_us,
        "duration": call.took_us + 1000,
        "tags": [{"key": "span.kind", "type": "string", "value": "server"}],
        "processID": "p1",
    }
    error = [{"key": "error", "type": "bool", "value": True}] if call.failed else []
    parent = {"refType": "CHILD_OF", "traceID": call.trace_id, "spanID": outer["spanID"]}
    inner = {
        **outer,
        "spanID": f"{call.at_us + 1:016x}",
        "references": [parent],
        "startTime": call.at_us + 500,
        "duration": call.took_us,
        "tags": error,
        "processID": "p2",
    }
    processes = {
        "p1": {"serviceName": call.caller, "tags": [{"key": "hostname", "value": "a-1"}]},
        "p2": {"serviceName": call.callee, "tags": []},
    }
    return {"traceID": call.trace_id, "spans": [outer, inner], "processes": processes}


def tempo(calls: Sequence[Call]) -> Callable[[Seen], Reply]:
    """`/api/search` in seconds, and `/api/traces/ID` with ids in base64."""

    def answer(asked: Seen) -> Reply:
        path, query = asked_of(asked)
        if path.endswith("/search"):
            first, last = int(query["start"]), int(query["end"])
            found = [one for one in calls if first <= one.at_us / 1e6 < last]
            kept = found[: int(query["limit"])]
            return said({"traces": [{"traceID": one.trace_id.lstrip("0")} for one in kept]})
        wanted = path.rpartition("/")[2]
        (one,) = [one for one in calls if one.trace_id.lstrip("0") == wanted]
        return said({"batches": [_batch(one, of_caller=True), _batch(one, of_caller=False)]})

    return answer


def _batch(call: Call, *, of_caller: bool) -> dict[str, Any]:
    def id_(number: int, size: int) -> str:
        return base64.b64encode(number.to_bytes(size, "big")).decode()

    start_us = call.at_us if of_caller else call.at_us + 500
    took_us = call.took_us + 1000 if of_caller else call.took_us
    span = {
        "traceId": id_(call.at_us, 16),
        "spanId": id_(call.at_us if of_caller else call.at_us + 1, 8),
        "name": "GET /",
        "kind": "SPAN_KIND_SERVER",
        "startTimeUnixNano": str(start_us * 1000),
        "endTimeUnixNano": str((start_us + took_us) * 1000),
        "status": {"code": "STATUS_CODE_ERROR"} if call.failed and not of_caller else {},
    }
    if not of_caller:
        span["parentSpanId"] = id_(call.at_us, 8)
    name = call.caller if of_caller else call.callee
    attributes = [{"key": "service.name", "value": {"stringValue": name}}]
    return {"resource": {"attributes": attributes}, "scopeSpans": [{"spans": [span]}]}
