"""Reads the log lines of a window from a Loki, newest first. Experimental.

Only GET, only `/loki/api/v1/labels` and `/loki/api/v1/query_range`, with a query of the settings'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from affidavit.adapters.experimental_tables import LokiTable
from affidavit.adapters.json_api import ODD_SHAPES, Document, JsonApi
from affidavit.adapters.live_rows import Read
from affidavit.adapters.newest_first import Entry, read_backwards
from affidavit.adapters.prometheus import Span
from affidavit.ports.lookups import Proof

PAGE_LINES: Final = 5000
"""Loki's own bound of a query, unless its operator moved it (max_entries_limit_per_query)."""

NS: Final = 1_000_000_000


class LokiSource:
    """One configured server."""

    def __init__(self, name: str, table: LokiTable, api: JsonApi) -> None:
        self.name = name
        self._table = table
        self._api = api

    async def probe(self) -> Proof:
        """One cheap question. Raises ToolFailed."""
        if (await self._api.get("loki/api/v1/labels")).get("status") != "success":
            raise self._api.no("no labels")
        return Proof("experimental; answers; read by GET on two paths of its API")

    async def capture(self, span: Span) -> Read:
        """The lines of the span. Raises ToolFailed."""
        first = int(span.start_s * NS)

        async def page(last: int, until_s: float) -> Sequence[Entry]:
            query = (
                ("query", self._table.query),
                ("start", str(first)),
                ("end", str(last + 1)),  # Loki's end is not within
                ("limit", str(PAGE_LINES)),
                ("direction", "backward"),
            )
            found = await self._api.get("loki/api/v1/query_range", query, until_s)
            try:
                return list(self._entries(found))
            except ODD_SHAPES:
                raise self._api.no("no streams") from None

        return await read_backwards(self.name, int(span.end_s * NS), PAGE_LINES, page)

    def _entries(self, found: Document) -> Iterator[Entry]:
        data = found["data"]
        if data["resultType"] != "streams":
            raise ValueError("no streams")
        for stream in data["result"]:
            labels: Mapping[str, Any] = stream["stream"]
            who = tuple(sorted(map(str, labels.values())))
            for value in stream["values"]:
                at_ns, line = int(value[0]), str(value[1])
                further = value[2] if len(value) > 2 and isinstance(value[2], dict) else {}
                row = self._row(at_ns, line, {**labels, **further})
                yield Entry(at_ns, (at_ns, who, line), row if line.strip() else None)

    def _row(self, at_ns: int, line: str, labels: Mapping[str, Any]) -> Mapping[str, object]:
        def first(names: Sequence[str]) -> str:
            return next((str(labels[name]) for name in names if labels.get(name)), "")

        level = first(self._table.level_labels)
        return {
            "timestamp": at_ns // 1000,
            "service_name": first(self._table.service_labels),
            "body": line,
            "severity_text": "" if level == "unknown" else level,
            "instance": first(self._table.instance_labels),
            "trace_id": first(("trace_id", "traceID")),
            "emitter": "workload",
        }
