"""Reads the metrics of a window from a Prometheus (or VictoriaMetrics) over its HTTP API.

Only GET, only `/api/v1/query`, `/query_range`, `/metadata`, `/label/__name__/values`. Raw samples
are asked for with a range selector, so that their times are those of the scrapes. Names are asked
in batches, one request at a time: the server may be the patient. A batch that is too large is
halved; a single name that is too large is left out, and said. What did not fit is said too.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, cast

from anyio import to_thread

from affidavit.adapters.backend_tables import Measure, PrometheusTable
from affidavit.adapters.json_api import ODD_SHAPES
from affidavit.adapters.outgoing_http import HttpCall, OutgoingHttp, expect_ok
from affidavit.adapters.prometheus_series import (
    Row,
    instance_of,
    read_matrix,
    rows_of,
    service_of,
)
from affidavit.contract.errors import ToolFailed
from affidavit.ports.lookups import Proof

NAMES_MAX: Final = 800
"""Metrics of one capture; a service with its runtime has about a hundred."""

BATCH_NAMES: Final = 40
"""Names in one selector: its URL stays below the 8 kB that a proxy lets through."""

ROWS_MAX: Final = 400_000
"""Samples of one capture: 2 000 series of fifty minutes at 15 s. Staging them takes two seconds."""

HISTOGRAMS_MAX: Final = 20
"""Histograms whose quantiles are asked for; each is a query that reads every bucket."""

CAPTURE_S: Final = 20.0
"""All queries together, below what a tool call has."""

STEP_MIN_S: Final = 5
POINTS_MAX: Final = 360
"""Of a computed series (a quantile, a measure) over window and lookback."""

ANSWER_BYTES_MAX: Final = 16 * 1024 * 1024

VICTORIA_HEADER: Final = "x-server-hostname"
"""A header that VictoriaMetrics sends and Prometheus does not."""

REPEATED_S: Final = 30.0
"""Of a computed series: VictoriaMetrics repeats an older value in place of the newest ones
(-search.latencyOffset), which would be a calm that nobody measured. Raw samples are whole."""

HALVED: Final = frozenset({"RESULT_TOO_LARGE", "TIMEOUT", "HTTP_422", "HTTP_503"})
"""What asking for less may mend: too many bytes, too slow, more samples than the server allows."""


@dataclass(frozen=True, slots=True)
class Span:
    """What is captured, in seconds since the epoch."""

    start_s: float
    end_s: float

    @property
    def length_s(self) -> int:
        """Its length, at least a second."""
        return max(1, int(self.end_s - self.start_s))

    @property
    def step_s(self) -> int:
        """Between two points of a computed series."""
        return max(STEP_MIN_S, -(-self.length_s // POINTS_MAX))


@dataclass(slots=True)
class Captured:
    """The rows, and what was left out of them, worded."""

    rows: list[Row] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class PrometheusSource:
    """One configured server."""

    def __init__(
        self, name: str, table: PrometheusTable, http: OutgoingHttp, headers: Mapping[str, str]
    ) -> None:
        self.name = f"prometheus:{name}"
        self._table = table
        self._http = http
        self._headers = headers
        self._repeats = False

    async def probe(self) -> Proof:
        """One cheap question. Raises ToolFailed."""
        await self._get("query", (("query", "vector(1)"),))
        return Proof("answers; read by GET on four paths of its query API, and by nothing else")

    async def capture(self, span: Span) -> Captured:
        """Every metric of the span within the bounds. Raises ToolFailed where nothing was read."""
        deadline = time.monotonic() + CAPTURE_S
        captured = Captured()
        kinds = await self._kinds()
        names = await self._names(span, captured)
        plain = [name for name in names if not name.endswith("_bucket")]
        waiting = [plain[i : i + BATCH_NAMES] for i in range(0, len(plain), BATCH_NAMES)]
        while waiting:
            if time.monotonic() > deadline or len(captured.rows) > ROWS_MAX:
                why = "time" if time.monotonic() > deadline else "rows"
                left = sum(map(len, waiting))
                captured.left_out.append(f"{left} metrics, for want of {why}")
                break
            batch = waiting.pop(0)
            try:
                captured.rows += await self._raw(batch, span, kinds)
            except ToolFailed as failed:
                if failed.code not in HALVED:
                    raise
                if len(batch) > 1:
                    half = len(batch) // 2
                    waiting[:0] = [batch[:half], batch[half:]]
                else:
                    captured.left_out.append(f"the metric {batch[0]} ({failed.code})")
        await self._computed(names, span, captured, deadline)
        return captured

    async def _kinds(self) -> dict[str, str]:
        """The types that the server's metadata tell; a server without metadata tells none."""
        try:
            data = await self._get("metadata", (("limit", "5000"),))
        except ToolFailed as failed:
            if failed.code in {"HTTP_404", "HTTP_400", "RESULT_TOO_LARGE"}:
                return {}
            raise
        if not isinstance(data, dict):
            return {}
        return {
            str(name): str(entries[0].get("type", ""))
            for name, entries in data.items()
            if isinstance(entries, list) and entries and isinstance(entries[0], dict)
        }

    async def _names(self, span: Span, captured: Captured) -> list[str]:
        query = [("start", str(span.start_s)), ("end", str(span.end_s))]
        if self._table.selector:
            query.append(("match[]", self._table.selector))
        data = await self._get("label/__name__/values", tuple(query))
        if not isinstance(data, list):
            raise ToolFailed(f"{self.name} answered no list of names", code="SOURCE_FAILED")
        excluded = re.compile(self._table.exclude) if self._table.exclude else None
        names = sorted(
            name
            for name in map(str, data)
            if name.isprintable() and (excluded is None or not excluded.search(name))
        )
        if len(names) > NAMES_MAX:
            captured.left_out.append(f"{len(names) - NAMES_MAX} of {len(names)} metrics, by name")
        return names[:NAMES_MAX]

    async def _raw(self, names: Sequence[str], span: Span, kinds: Mapping[str, str]) -> list[Row]:
        words = "|".join(re.escape(name) for name in names)
        selector = _selector(self._table.selector, f"__name__=~{_quoted(words)}")
        query = (("query", f"{selector}[{span.length_s}s]"), ("time", str(span.end_s)))
        data = await self._get("query", query)

        def read() -> list[Row]:
            return list(islice(rows_of(read_matrix(data), self._table, kinds), ROWS_MAX))

        try:
            return await to_thread.run_sync(read)
        except ODD_SHAPES:
            raise ToolFailed(f"{self.name} answered no matrix", code="SOURCE_FAILED") from None

    async def _computed(
        self, names: Sequence[str], span: Span, captured: Captured, deadline: float
    ) -> None:
        """Quantiles of histograms and the configured measures: the server computes them."""
        asked = [*self._table.measures, *self._quantiles(names)]
        known_s = time.time() - REPEATED_S
        if self._repeats and asked and span.end_s > known_s:
            span = Span(span.start_s, known_s)
            captured.left_out.append(f"the newest {REPEATED_S:g} s of computed series")
        for place, measure in enumerate(asked):
            if time.monotonic() > deadline:
                left = len(asked) - place
                captured.left_out.append(f"{left} computed series, for want of time")
                return
            try:
                captured.rows += await self._range(measure, span)
            except ToolFailed as failed:
                if failed.code not in HALVED | {"HTTP_400"}:
                    raise
                captured.left_out.append(f"the measure {measure.name} ({failed.code})")

    def _quantiles(self, names: Sequence[str]) -> Iterator[Measure]:
        kept = ", ".join(("le", *self._table.service_labels, *self._table.instance_labels))
        for name in islice((n for n in names if n.endswith("_bucket")), HISTOGRAMS_MAX):
            selector = _selector(self._table.selector, f"__name__={_quoted(name)}")
            query = f"histogram_quantile(0.95, sum by ({kept}) (rate({selector}[1m])))"
            stem = name.removesuffix("_bucket")
            unit = next((u for end, u in (("_seconds", "s"), ("_bytes", "By"))
                         if stem.endswith(end)), "")  # fmt: skip
            yield Measure(name=stem, query=query, unit=unit, statistic="p95")

    async def _range(self, measure: Measure, span: Span) -> list[Row]:
        query = (
            ("query", measure.query),
            ("start", str(span.start_s)),
            ("end", str(span.end_s)),
            ("step", str(span.step_s)),
        )
        data = await self._get("query_range", query)
        try:
            return [
                (
                    int(at_s * 1e6),
                    service_of(series.labels, self._table),
                    measure.name,
                    text,
                    measure.unit,
                    measure.statistic,
                    instance_of(series.labels, self._table),
                )
                for series in read_matrix(data)
                for at_s, text in series.values
                if at_s <= span.end_s and text not in {"NaN", "+Inf", "-Inf"}
            ]
        except ODD_SHAPES:
            raise ToolFailed(f"{self.name} answered no matrix", code="SOURCE_FAILED") from None

    async def _get(self, path: str, query: tuple[tuple[str, str], ...]) -> object:
        """The `data` of a successful answer. Raises ToolFailed, naming URL and status (R75)."""
        timeout_s = self._table.timeout_s
        call = HttpCall(
            what=self.name,
            url=f"{self._table.url.rstrip('/')}/api/v1/{path}",
            query=(*query, ("timeout", f"{timeout_s:g}s")) if path.startswith("query") else query,
            headers=self._headers,
            timeout_s=timeout_s,
            bytes_max=ANSWER_BYTES_MAX,
        )
        answer = expect_ok(await self._http.send(call), call)
        self._repeats = self._repeats or VICTORIA_HEADER in answer.headers
        try:
            document = await to_thread.run_sync(json.loads, answer.body)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict) or document.get("status") != "success":
            raise ToolFailed(f"{self.name}: {call.url} answered no result", code="SOURCE_FAILED")
        return cast("object", document.get("data"))


def _quoted(text: str) -> str:
    """A string of PromQL: since its version 3 a metric's name may hold any sign, also a quote."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _selector(own: str, matcher: str) -> str:
    """The configured selector with one more matcher."""
    inner = own.strip()[1:-1].strip().rstrip(",")
    return f"{{{inner + ', ' if inner else ''}{matcher}}}"
