"""Reads the log lines of a window from an Elasticsearch or OpenSearch, newest first. Experimental.

Only `_search` over the configured indices (POST, for the question is a document; nothing is made by
it), and one question about our own privileges. The query is the settings'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from affidavit.adapters.experimental_tables import ElasticTable
from affidavit.adapters.json_api import ODD_SHAPES, Document, JsonApi
from affidavit.adapters.live_rows import Read
from affidavit.adapters.newest_first import Entry, read_backwards
from affidavit.adapters.prometheus import Span
from affidavit.adapters.telemetry_files import moment_us
from affidavit.contract.errors import ToolFailed
from affidavit.ports.lookups import Proof

PAGE_LINES: Final = 5000
"""Half of an index's own bound (index.max_result_window)."""

WRITES: Final = ("write", "delete", "create_index", "delete_index", "manage")
"""Privileges over an index by which something could be changed."""

SILENT: Final = frozenset({"HTTP_400", "HTTP_401", "HTTP_403", "HTTP_404", "HTTP_405", "HTTP_500"})
"""How servers answer that do not know the question: OpenSearch, or security turned off."""


class ElasticSource:
    """One configured server."""

    def __init__(self, name: str, table: ElasticTable, api: JsonApi) -> None:
        self.name = name
        self._table = table
        self._api = api

    async def probe(self) -> Proof:
        """An empty search, and what we may do. Raises ToolFailed (ROLE_NOT_READ_ONLY)."""
        await self._api.post(f"{self._table.index}/_search", {"size": 0})
        said = "experimental; answers; read by _search over its indices alone"
        asked = {"index": [{"names": self._table.index.split(","), "privileges": [*WRITES]}]}
        try:
            told = await self._api.post("_security/user/_has_privileges", asked)
        except ToolFailed as failed:
            if failed.code not in SILENT:
                raise
            return Proof(said, "nothing proves that it only reads: give it the role of "
                               "docs/backends.md and nothing else")  # fmt: skip
        held = _held(told)
        if held:
            raise ToolFailed(
                f"the identity at {self.name} could change its indices: {', '.join(held)}",
                code="ROLE_NOT_READ_ONLY",
                hint="give it the role of docs/backends.md and nothing else",
            )
        return Proof(f"{said}; its role may write nothing (_has_privileges)")

    async def capture(self, span: Span) -> Read:
        """The lines of the span. Raises ToolFailed."""
        told: dict[str, None] = {}
        first = int(span.start_s * 1000)

        async def page(last: int, until_s: float) -> Sequence[Entry]:
            asked = self._question(first, last)
            found = await self._api.post(f"{self._table.index}/_search", asked, until_s)
            try:
                told.update(dict.fromkeys(self._missing(found)))
                return list(self._entries(found))
            except ODD_SHAPES:
                raise self._api.no("no hits") from None

        read = await read_backwards(self.name, int(span.end_s * 1000), PAGE_LINES, page)
        return Read(read.rows, (*read.left_out, *told))

    def _question(self, first: int, last: int) -> dict[str, object]:
        when = self._table.columns["timestamp"]
        span = {"gte": first, "lte": last, "format": "epoch_millis"}
        own = [{"query_string": {"query": self._table.query}}] if self._table.query else []
        return {
            "size": PAGE_LINES,
            "query": {"bool": {"filter": [{"range": {when: span}}, *own]}},
            "sort": [{when: {"order": "desc", "numeric_type": "date"}}],
            "_source": sorted(set(self._table.columns.values())),
            "track_total_hits": False,
            "timeout": f"{self._table.timeout_s:g}s",
        }

    def _missing(self, found: Document) -> Iterator[str]:
        """What the server did not look at, by its own word."""
        if found.get("timed_out"):
            yield f"what {self.name} had no time for"
        shards = found.get("_shards")
        if isinstance(shards, dict) and shards.get("failed"):
            yield f"{shards['failed']} shards of {self.name}"

    def _entries(self, found: Document) -> Iterator[Entry]:
        for hit in found["hits"]["hits"]:
            source = hit["_source"]
            row = {ours: _at(source, theirs) for ours, theirs in self._table.columns.items()}
            at_us = moment_us(row["timestamp"])
            at_ms = int(float(str(hit["sort"][0])))
            whole = at_us is not None and bool(str(row["body"] or "").strip())
            told = {**{ours: _text(value) for ours, value in row.items()}, "timestamp": at_us}
            yield Entry(at_ms, (str(hit.get("_index")), str(hit["_id"])), told if whole else None)


def _held(told: Document) -> tuple[str, ...]:
    """The privileges that are there, over any of the indices."""
    indices = told.get("index")
    rights = indices.values() if isinstance(indices, dict) else ()
    held = [name for one in rights if isinstance(one, dict) for name, is_so in one.items() if is_so]
    return tuple(dict.fromkeys(held))


def _at(source: Mapping[str, Any], path: str) -> object:
    """A field by its dotted path, whether the document nests it or not."""
    if path in source:
        return source[path]
    head, _, rest = path.partition(".")
    inner = source.get(head)
    return _at(inner, rest) if rest and isinstance(inner, dict) else None


def _text(value: object) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    return "" if value is None else str(value)
