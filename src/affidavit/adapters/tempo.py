"""Reads spans of a window from a Grafana Tempo. Experimental.

Only GET, only `/api/search` and `/api/traces/ID`. Traces are searched for in slices of the time,
with a query of the settings', and read whole one after another; what there was more is said.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from affidavit.adapters.experimental_tables import TempoTable
from affidavit.adapters.json_api import ODD_SHAPES, Document, JsonApi
from affidavit.adapters.live_rows import Read
from affidavit.adapters.prometheus import Span
from affidavit.adapters.span_slices import CAPTURE_S, SLICES, SPANS_MAX, SpanRow, slices_of
from affidavit.contract.errors import ToolFailed
from affidavit.ports.lookups import Proof

HEX: Final = re.compile(r"[0-9a-fA-F]{1,32}")

KINDS: Final = ("", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
STATUSES: Final = ("UNSET", "OK", "ERROR")
"""By OTLP's numbers; newer servers write SPAN_KIND_SERVER and STATUS_CODE_ERROR."""


class TempoSource:
    """One configured server."""

    def __init__(self, name: str, table: TempoTable, api: JsonApi) -> None:
        self.name = name
        self._table = table
        self._api = api

    async def probe(self) -> Proof:
        """One cheap search. Raises ToolFailed."""
        now_s = time.time()
        await self._search(Span(now_s - 60, now_s), 1, None)
        return Proof("experimental; answers; read by GET on two paths of its API")

    async def capture(self, span: Span) -> Read:
        """Spans of a sample of traces. Raises ToolFailed where nothing could be read."""
        until_s = time.monotonic() + CAPTURE_S
        limit = max(1, self._table.traces_max // SLICES)
        left_out: dict[str, None] = {}
        ids: dict[str, None] = {}
        for part in slices_of(span):
            found = await self._search(part, limit, until_s)
            ids |= dict.fromkeys(found)
            if len(found) >= limit:
                left_out[f"traces of {self.name} beyond a sample"] = None
        rows: list[Mapping[str, object]] = []
        failures: list[ToolFailed] = []
        for place, trace_id in enumerate(ids):
            if len(rows) >= SPANS_MAX or time.monotonic() > until_s:
                left_out[f"{len(ids) - place} traces of {self.name}, for want of time"] = None
                break
            try:
                rows += [asdict(one) for one in await self._trace(trace_id, until_s)]
            except ToolFailed as failed:
                failures.append(failed)
                left_out[f"traces of {self.name} ({failed.code})"] = None
        if failures and not rows:
            raise failures[0]
        return Read(rows, tuple(left_out))

    async def _search(self, span: Span, limit: int, until_s: float | None) -> list[str]:
        query = (
            ("q", self._table.query),
            ("start", str(int(span.start_s))),
            ("end", str(int(span.end_s) + 1)),
            ("limit", str(limit)),
        )
        found = (await self._api.get("api/search", query, until_s)).get("traces")
        try:
            ids = [str(one["traceID"]) for one in found or ()]
        except ODD_SHAPES:
            raise self._api.no("no traces") from None
        return [one for one in ids if HEX.fullmatch(one)]

    async def _trace(self, trace_id: str, until_s: float) -> list[SpanRow]:
        found = await self._api.get(f"api/traces/{trace_id}", (), until_s)
        try:
            return list(read_trace(found))
        except ODD_SHAPES:
            raise self._api.no("no trace") from None


def read_trace(found: Document) -> Iterator[SpanRow]:
    """The spans of an answer of `/api/traces/ID`, OTLP as JSON. Raises KeyError, TypeError,
    ValueError."""
    for batch in found.get("batches") or found["resourceSpans"]:
        own = _attributes(batch["resource"])
        instance = next(
            (own[n] for n in ("k8s.pod.name", "service.instance.id", "host.name") if own.get(n)), ""
        )
        for scope in batch.get("scopeSpans") or batch.get("instrumentationLibrarySpans") or ():
            for span in scope["spans"]:
                start_ns, end_ns = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
                status = span.get("status") or {}
                yield SpanRow(
                    trace_id=_id(span["traceId"]),
                    span_id=_id(span["spanId"]),
                    parent_span_id=_id(span.get("parentSpanId") or ""),
                    service_name=own.get("service.name", ""),
                    name=str(span["name"]),
                    timestamp=start_ns // 1000,
                    duration_us=(end_ns - start_ns) // 1000,
                    kind=_word(span.get("kind", 0), KINDS, "SPAN_KIND_"),
                    status_code=_word(status.get("code", 0), STATUSES, "STATUS_CODE_"),
                    instance=instance,
                    status_message=str(status.get("message", "")),
                )


def _attributes(resource: Mapping[str, Any]) -> dict[str, str]:
    found = resource.get("attributes") or ()
    return {str(one["key"]): str((one.get("value") or {}).get("stringValue", "")) for one in found}


def _id(text: object) -> str:
    """In hexadecimal, whether the server writes it so or as base64."""
    told = str(text)
    if len(told) in {16, 32} and HEX.fullmatch(told):
        return told.lower()
    return base64.b64decode(told, validate=True).hex()


def _word(value: object, words: tuple[str, ...], prefix: str) -> str:
    if isinstance(value, int):
        return words[value]
    return str(value).removeprefix(prefix)
