"""OTLP JSON: what an OpenTelemetry collector's file exporter writes, one request a line.

Layout: files `*.json` or `*.jsonl`, each line (or the whole file) an object with `resourceSpans`,
`resourceLogs` or `resourceMetrics`. They become one folder; the page is that somebody asked, at the
end of what was exported, about whatever is in it. Times are nanoseconds since the epoch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from affidavit.contract.errors import InputRefused
from affidavit.importers.folder import (
    Incident,
    Json,
    Symptom,
    Window,
    new_folder,
    read_text,
    write_jsonl,
)

KINDS: Final = ("", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
STATUSES: Final = ("UNSET", "OK", "ERROR")
"""Enumerations of the protocol, by number; exporters write the number or the name."""

WINDOW_SHARE: Final = 3
"""The last third of what was exported is asked about, the rest is what came before."""

UNTIMED: Final = "0"
"""The protocol's word for no time."""

Row = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Export:
    """The rows of all files."""

    spans: tuple[Row, ...]
    logs: tuple[Row, ...]
    metrics: tuple[Row, ...]

    def stamps(self) -> tuple[str, ...]:
        """All times, as they are written."""
        return tuple(str(r["timestamp"]) for r in (*self.spans, *self.logs, *self.metrics))


def import_otlp(src: Path, dst: Path) -> list[Path]:
    """Writes one folder from the file `src`, or from all files of the folder `src`."""
    files = sorted(f for f in src.glob("*.json*")) if src.is_dir() else [src]
    requests = [request for file in files for request in read_requests(file)]
    export = Export(
        tuple(row for request in requests for row in span_rows(request)),
        tuple(row for request in requests for row in log_rows(request)),
        tuple(row for request in requests for row in metric_rows(request)),
    )
    stamps = sorted(export.stamps())
    if not stamps:
        raise InputRefused(f"{src} holds no span, line or data point with a time")
    first, last = (datetime.fromisoformat(stamp) for stamp in (stamps[0], stamps[-1]))
    start = last - max((last - first) / WINDOW_SHARE, timedelta(seconds=1))
    name = f"otlp-{last:%Y%m%dT%H%M%SZ}"
    incident = Incident(
        id=name,
        title=f"OTLP export of {src.name}",
        question=f"What went wrong between {start:%H:%M:%S} and {last:%H:%M:%S} UTC?",
        window=Window(start, last),
        symptom=Symptom("unknown"),
        description="OTLP JSON. The answer is not known.",
    )
    with new_folder(dst, incident, None) as path:
        write_jsonl(path / "traces.jsonl", export.spans)
        write_jsonl(path / "logs.jsonl", export.logs)
        write_jsonl(path / "metrics.jsonl", export.metrics)
    return [dst / name]


def read_requests(path: Path) -> list[Mapping[str, Any]]:
    """The export requests of a file: one object, or one a line. Errors: InputRefused."""
    text = read_text(path)
    try:
        whole = json.loads(text)
        found = whole if isinstance(whole, list) else [whole]
    except json.JSONDecodeError:
        found = []
        for number, line in enumerate(text.splitlines(), start=1):
            try:
                found += [json.loads(line)] if line.strip() else []
            except json.JSONDecodeError as error:
                raise InputRefused(f"{path}, line {number}: no JSON: {error}") from error
    if not all(isinstance(request, dict) for request in found):
        raise InputRefused(f"{path} holds something else than export requests")
    return found


def span_rows(request: Mapping[str, Any]) -> Iterator[Row]:
    """The spans of a request."""
    for service, instance, span in records(request, "resourceSpans", "scopeSpans", "spans"):
        start = int(span.get("startTimeUnixNano") or 0)
        status = span.get("status") or {}
        if start:
            yield {
                "trace_id": span.get("traceId", ""),
                "span_id": span.get("spanId", ""),
                "parent_span_id": span.get("parentSpanId") or None,
                "service_name": service,
                "name": span.get("name", ""),
                "timestamp": stamp(start),
                "duration_us": max(0, int(span.get("endTimeUnixNano") or start) - start) // 1000,
                "kind": enumerated(span.get("kind"), KINDS, "SPAN_KIND_"),
                "status_code": enumerated(status.get("code"), STATUSES, "STATUS_CODE_") or "UNSET",
                "status_message": status.get("message") or None,
                "instance": instance,
            }


def log_rows(request: Mapping[str, Any]) -> Iterator[Row]:
    """The log lines of a request."""
    for service, instance, line in records(request, "resourceLogs", "scopeLogs", "logRecords"):
        at = line.get("timeUnixNano")
        if at in {None, UNTIMED, 0}:
            at = line.get("observedTimeUnixNano")
        if at:
            yield {
                "timestamp": stamp(int(at)),
                "service_name": service,
                "severity_text": line.get("severityText") or None,
                "body": value_text(line.get("body")),
                "trace_id": line.get("traceId") or None,
                "span_id": line.get("spanId") or None,
                "instance": instance,
            }


def metric_rows(request: Mapping[str, Any]) -> Iterator[Row]:
    """Gauges and sums as they are; of histograms the mean, and of summaries the quantiles."""
    for service, instance, metric in records(request, "resourceMetrics", "scopeMetrics", "metrics"):
        for kind, statistic in (("gauge", "gauge"), ("sum", "sum"), ("histogram", "mean"),
                                ("summary", "")):  # fmt: skip
            for point in (metric.get(kind) or {}).get("dataPoints") or ():
                at = int(point.get("timeUnixNano") or 0)
                for name, value in readings(point, statistic) if at else ():
                    yield {
                        "timestamp": stamp(at),
                        "service_name": service,
                        "metric_name": metric.get("name", ""),
                        "value": value,
                        "unit": metric.get("unit") or None,
                        "statistic": name,
                        "instance": instance,
                    }


def readings(point: Mapping[str, Any], statistic: str) -> Iterator[tuple[str, float]]:
    """The values of a data point, each with its statistic."""
    for key in ("asDouble", "asInt"):
        if key in point:
            yield statistic, float(point[key])
    if "sum" in point and int(point.get("count") or 0):
        yield "mean", float(point["sum"]) / int(point["count"])
    for quantile in point.get("quantileValues") or ():
        yield f"p{100 * float(quantile.get('quantile', 0)):g}", float(quantile.get("value", 0))


def records(
    request: Mapping[str, Any], outer: str, middle: str, inner: str
) -> Iterator[tuple[str, str | None, Mapping[str, Any]]]:
    """Service, instance and record of each innermost entry."""
    for resource in request.get(outer) or ():
        named = attributes((resource.get("resource") or {}).get("attributes") or ())
        service = named.get("service.name") or "unknown"
        instance = next(
            (named[key] for key in ("service.instance.id", "k8s.pod.name", "host.name")
             if named.get(key)), None,
        )  # fmt: skip
        for scope in resource.get(middle) or ():
            for record in scope.get(inner) or ():
                yield service, instance, record


def attributes(pairs: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Key and value as text."""
    return {str(pair.get("key")): value_text(pair.get("value")) for pair in pairs}


def value_text(value: Any) -> str:
    """An AnyValue as text: a plain one as it is, a composite as JSON."""
    if isinstance(value, dict) and len(value) == 1:
        (kind, held), *_ = value.items()
        if kind in {"stringValue", "intValue", "doubleValue", "boolValue"}:
            return str(held)
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def enumerated(value: Any, names: tuple[str, ...], prefix: str) -> str | None:
    """A protocol enumeration, written as number or as name."""
    if isinstance(value, int) and 0 <= value < len(names):
        return names[value] or None
    return str(value).removeprefix(prefix) if value else None


def stamp(nanoseconds: int) -> str:
    """RFC 3339 of nanoseconds since the epoch, cut to microseconds."""
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)
    return at.isoformat()
