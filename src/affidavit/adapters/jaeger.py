"""Reads spans of a window from Jaeger's query service. Experimental.

Only GET, only `/api/services` and `/api/traces`. A few traces of each service from each slice of
the time; what there was more is said.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from affidavit.adapters.experimental_tables import JaegerTable
from affidavit.adapters.json_api import ODD_SHAPES, Document, JsonApi
from affidavit.adapters.live_rows import Read
from affidavit.adapters.prometheus import Span
from affidavit.adapters.span_slices import CAPTURE_S, SLICES, SPANS_MAX, SpanRow, slices_of
from affidavit.contract.errors import ToolFailed
from affidavit.ports.lookups import Proof

SERVICES_MAX: Final = 50
"""Each costs a request a slice."""


class JaegerSource:
    """One configured server."""

    def __init__(self, name: str, table: JaegerTable, api: JsonApi) -> None:
        self.name = name
        self._table = table
        self._api = api

    async def probe(self) -> Proof:
        """One cheap question. Raises ToolFailed."""
        await self._services(None)
        return Proof("experimental; answers; read by GET on two paths of its API")

    async def capture(self, span: Span) -> Read:
        """Spans of a sample of traces. Raises ToolFailed where nothing could be read."""
        until_s = time.monotonic() + CAPTURE_S
        services = self._table.services or await self._services(until_s)
        rows: dict[tuple[str, str], SpanRow] = {}
        left_out: dict[str, None] = {}
        if len(services) > SERVICES_MAX:
            left_out[f"traces of {len(services) - SERVICES_MAX} services of {self.name}"] = None
        failures: list[ToolFailed] = []
        asked = 0
        for service in services[:SERVICES_MAX]:
            for part in slices_of(span):
                if len(rows) >= SPANS_MAX or time.monotonic() > until_s:
                    left_out[f"traces of {self.name}, for want of time or room"] = None
                    break
                asked += 1
                try:
                    found, is_cut = await self._traces(service, part, until_s)
                except ToolFailed as failed:
                    failures.append(failed)
                    left_out[f"traces of {service} ({failed.code})"] = None
                    continue
                rows.update({(one.trace_id, one.span_id): one for one in found})
                if is_cut:
                    left_out[f"traces of {self.name} beyond a sample"] = None
        if failures and len(failures) == asked:
            raise failures[0]
        return Read([asdict(one) for one in rows.values()], tuple(left_out))

    async def _services(self, until_s: float | None) -> tuple[str, ...]:
        data = (await self._api.get("api/services", (), until_s)).get("data")
        if not isinstance(data, list) or not all(isinstance(name, str) for name in data):
            raise self._api.no("no services")
        return tuple(sorted(data))

    async def _traces(self, service: str, span: Span, until_s: float) -> tuple[list[SpanRow], bool]:
        limit = max(1, self._table.traces_max // SLICES)
        query = (
            ("service", service),
            ("start", str(int(span.start_s * 1e6))),
            ("end", str(int(span.end_s * 1e6))),
            ("limit", str(limit)),
        )
        found = await self._api.get("api/traces", query, until_s)
        try:
            return list(read_traces(found)), len(found["data"]) >= limit
        except ODD_SHAPES:
            raise self._api.no("no traces") from None


def read_traces(found: Document) -> Iterator[SpanRow]:
    """The spans of an answer of `/api/traces`. Raises KeyError, TypeError, ValueError."""
    for trace in found["data"]:
        processes = trace["processes"]
        for span in trace["spans"]:
            tags = {str(tag["key"]): tag.get("value") for tag in span.get("tags") or ()}
            process = processes[span["processID"]]
            yield SpanRow(
                trace_id=str(span["traceID"]),
                span_id=str(span["spanID"]),
                parent_span_id=_parent(span),
                service_name=str(process["serviceName"]),
                name=str(span["operationName"]),
                timestamp=int(span["startTime"]),
                duration_us=int(span["duration"]),
                kind=str(tags.get("span.kind", "")).upper(),
                status_code=_status(tags),
                instance=_instance(process),
                status_message=str(tags.get("otel.status_description", "")),
            )


def _parent(span: Mapping[str, Any]) -> str:
    references = span.get("references") or ()
    return next((str(r["spanID"]) for r in references if r.get("refType") == "CHILD_OF"), "")


def _status(tags: Mapping[str, object]) -> str:
    if tags.get("error") in {True, "true"}:
        return "ERROR"
    return str(tags.get("otel.status_code") or "UNSET")


def _instance(process: Mapping[str, Any]) -> str:
    tags = {str(tag["key"]): tag.get("value") for tag in process.get("tags") or ()}
    names = ("k8s.pod.name", "service.instance.id", "host.name", "hostname")
    return next((str(tags[name]) for name in names if tags.get(name)), "")
