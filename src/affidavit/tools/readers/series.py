"""Samples over time: Prometheus (HTTP API v1), CloudWatch, lists of times beside lists of values.

Each sample is a Value with its time; each series' labels are one Row.

A unit is taken from the source where it prints one, else from the metric's name by Prometheus'
naming rules (`_seconds`, `_bytes`, `_ratio`), and only where the query keeps that unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, TypeGuard

from affidavit.contract.evidence import Fact, Quantity, Row, Value
from affidavit.tools.readers.fields import is_list, is_records, to_instant
from affidavit.tools.readers.numbers import to_cell, to_decimal, to_number
from affidavit.tools.readers.reading import Item, Reading, Source
from affidavit.tools.readers.words import clean

QUERY_CHARS_MAX: Final = 2_000
"""Of a query this much names its samples; a longer one is named by its beginning."""

LABELS_MAX: Final = 12
"""Labels that are joined to tell series apart; more of them make no name."""

LABEL_ORDER: Final = (
    "pod service service_name app job_name deployment statefulset container instance host node "
    "pool queue topic DBInstanceIdentifier LoadBalancer FunctionName InstanceId database db "
    "route path endpoint device namespace job"
).split()
"""Labels that name an entity, the narrowest first."""

_UNITS: Final = (
    ("_seconds", "s"), ("_secs", "s"), ("_milliseconds", "ms"), ("_ms", "ms"),
    ("_microseconds", "us"), ("_bytes", "By"), ("_ratio", "1"), ("_percent", "%"),
    ("_pct", "%"), ("_celsius", "Cel"),
)  # fmt: skip
_SUFFIXES: Final = re.compile(r"_(?:total|sum|count|bucket|avg|max|min|p\d{2})$")
_METRIC: Final = re.compile(r"(?<![\w:])[a-zA-Z_:][\w:]{2,200}(?=[{\[]|\s*$|\s*\))", re.ASCII)
_SELECTOR: Final = re.compile(
    r"\s*(?:(avg|max|min|sum)\s*\(\s*)?([a-zA-Z_:][\w:]{2,200})\s*(?:\{[^{}]{0,2000}\})?\s*\)?\s*",
    re.ASCII,
)
_SUM: Final = re.compile(r"(?<![\w:])([a-zA-Z_:][\w:]{2,200})_sum\b", re.ASCII)
_STATISTIC: Final = re.compile(
    r"^\s*(avg|mean|max|min|sum|count|median|stddev|rate|irate|increase|delta|topk|quantile"
    r"|histogram_quantile|(?:avg|max|min|sum|count|quantile)_over_time)\b[^(]{0,200}\(\s*(0?\.\d+)?"
)
_CLOUDWATCH_UNITS: Final = {
    "Percent": "%", "Seconds": "s", "Milliseconds": "ms", "Microseconds": "us", "Bytes": "By",
    "Kilobytes": "kB", "Megabytes": "MB", "Gigabytes": "GB", "Count": "", "None": "",
    "Count/Second": "1/s", "Bytes/Second": "By/s",
}  # fmt: skip
STATISTICS: Final = (
    "Average Maximum Minimum Sum SampleCount p50 p90 p95 p99 p99.9 avg max min sum count"
).split()
_TIME_KEYS: Final = ("timestamps", "times", "Timestamps", "time", "timestamp")
_POINT_TIMES: Final = ("timestamp", "time", "ts", "at", "Timestamp", "t")
_VALUE_KEYS: Final = ("values", "Values", "value", "points")


def read_series(source: Source, document: object) -> Reading | None:
    """A document of samples, or None. An empty answer is nobody's shape here (see `answers`)."""
    if not isinstance(document, Mapping):
        return None
    inner = document.get("data")
    data: Mapping[str, object] = inner if isinstance(inner, Mapping) else document
    result = data.get("result")
    kind = data.get("resultType")
    if kind in ("matrix", "vector", "scalar") or all_have(result, "metric"):
        return _prometheus(source, result, kind)
    for key in ("metric_data_results", "MetricDataResults"):
        if isinstance(document.get(key), Sequence):
            return _parallel(source, document, key)
    if all_have(document.get("Datapoints"), "Timestamp"):
        return _datapoints(source, document)
    return read_points(source, document)


def parallel_samples(source: Source, node: Mapping[str, object], name: str) -> tuple[Value, ...]:
    """The samples of an object with a list of times beside a list of values, else none."""
    times = _first_list(node, _TIME_KEYS)
    values = _first_list(node, _VALUE_KEYS)
    if not times or len(times) != len(values):
        return ()
    attribute = _text(node, "metric_name", "Label", "label", "metric", "name", "Id", "id") or name
    statistic = _text(node, "stat", "statistic", "Stat")
    subject = _dimensions(node) or source.subject or attribute
    unit = _unit_text(_text(node, "unit", "Unit"))
    return tuple(
        Value(
            subject=subject,
            attribute=attribute,
            statistic=statistic,
            quantity=Quantity(number=number, unit=unit),
            at=to_instant(when),
        )
        for when, raw in zip(times, values, strict=True)
        if (number := _number(raw)) is not None
    )


def _first_list(node: Mapping[str, object], keys: Sequence[str]) -> Sequence[object]:
    for key in keys:
        value = node.get(key)
        if is_list(value):
            return value
    return ()


def paired_samples(source: Source, node: Mapping[str, object], name: str) -> tuple[Value, ...]:
    """The samples of an object that lists (time, number) pairs, as Datadog and Graphite do."""
    for key, listed in node.items():
        pairs = [
            (moment, number)
            for pair in (listed if is_list(listed) else ())
            if is_list(pair)
            and len(pair) == 2
            and (moment := to_instant(pair[0])) is not None
            and (number := _number(pair[1])) is not None
        ]
        if not pairs or not is_list(listed) or len(pairs) < len(listed):
            continue
        attribute = _text(node, "metric", "target", "name", "expression", "display_name") or name
        scope = (_text(node, "scope") or "").split(",", 1)[0].rpartition(":")[2]
        unit = _unit_text(_text(node, "unit")) or unit_of(attribute)
        return tuple(
            Value(
                subject=_dimensions(node) or scope or source.subject or attribute or str(key),
                attribute=attribute or str(key),
                quantity=Quantity(number=number, unit=unit),
                at=moment,
            )
            for moment, number in pairs
        )
    return ()


def point_of(source: Source, record: Mapping[str, object], subject: str | None) -> Value | None:
    """The reading of a record that has a time and a number called `value`, or None."""
    moment = next((at for key in _POINT_TIMES if (at := to_instant(record.get(key)))), None)
    number = _number(record.get("value"))
    named = _text(record, "metric", "metric_name", "name", "label")
    attribute = named or source.argument("metric", "metric_name", "query")
    owner = _text(record, "service", "pod", "host", "instance", "entity") or source.subject
    if moment is None or number is None or attribute is None or not (owner or subject):
        return None
    unit = _unit_text(_text(record, "unit", "Unit")) or unit_of(attribute)
    quantity = Quantity(number=number, unit=unit)
    return Value(
        subject=owner or subject or attribute,
        attribute=attribute[:QUERY_CHARS_MAX],
        quantity=quantity,
        at=moment,
    )


def unit_of(metric: str) -> str:
    """The unit that a metric's name gives, or "" (Prometheus' naming practice)."""
    if metric.endswith(("_count", "_bucket")):
        return ""
    bare = _SUFFIXES.sub("", metric)
    return next((unit for suffix, unit in _UNITS if bare.endswith(suffix)), "")


def all_have(value: object, key: str) -> TypeGuard[Sequence[Mapping[str, object]]]:
    """Whether a value is a list of records that all have a field."""
    return is_records(value) and all(key in entry for entry in value)


def _number(raw: object) -> Decimal | None:
    return to_decimal(raw) if isinstance(raw, str) else to_number(raw)


def _text(node: Mapping[str, object], *names: str) -> str | None:
    for name in names:
        value = node.get(name)
        if isinstance(value, str) and value.strip():
            return clean(value.strip())[:400]
    return None


# --- Prometheus -------------------------------------------------------------------------------


def _prometheus(source: Source, result: object, kind: object) -> Reading | None:
    if kind == "scalar" and is_list(result) and len(result) == 2:
        result = [{"metric": {}, "value": result}]
    if not all_have(result, "metric"):
        return None
    query = (source.argument("query", "expr", "promql", "expression") or "")[:QUERY_CHARS_MAX]
    subjects = _subjects([labels_of(entry["metric"]) for entry in result], source, query)
    items: list[Item] = []
    context: list[Fact] = []
    for entry, subject in zip(result, subjects, strict=True):
        labels = labels_of(entry["metric"])
        attribute, statistic, unit = _meaning(labels.get("__name__"), query)
        if labels:
            cells = tuple(to_cell(name, text) for name, text in labels.items())
            context.append(Row(subject=subject, cells=cells))
        samples = entry.get("values") or ([entry["value"]] if entry.get("value") else ())
        for sample in samples if is_list(samples) else ():
            value = _sample(sample, subject, attribute, statistic, unit)
            if value is not None:
                items.append(Item((value,)))
    return Reading("series", tuple(items), tuple(context)) if items else None


def _sample(
    sample: object, subject: str, attribute: str, statistic: str | None, unit: str
) -> Value | None:
    if not is_list(sample) or len(sample) != 2:
        return None
    number = _number(sample[1])
    if number is None:
        return Value(
            subject=subject, attribute=attribute, statistic=statistic,
            text=str(sample[1])[:64], at=to_instant(sample[0]),
        )  # fmt: skip
    return Value(
        subject=subject,
        attribute=attribute,
        statistic=statistic,
        quantity=Quantity(number=number, unit=unit),
        at=to_instant(sample[0]),
    )


def labels_of(raw: object) -> dict[str, str]:
    """The labels of a series or stream as clean, bounded texts."""
    if not isinstance(raw, Mapping):
        return {}
    return {clean(str(key))[:200]: clean(str(value))[:1_000] for key, value in raw.items()}


def _subjects(labels: list[dict[str, str]], source: Source, query: str) -> list[str]:
    """One subject a series: the label that names it, with more labels where two would be equal."""
    bare = [{k: v for k, v in one.items() if k != "__name__"} for one in labels]
    keys = list(dict.fromkeys(key for one in bare for key in one))
    ordered = [key for key in LABEL_ORDER if key in keys] + [
        k for k in keys if k not in LABEL_ORDER
    ]
    for size in range(1, min(len(ordered), LABELS_MAX) + 1):
        named = ["/".join(one[key] for key in ordered[:size] if key in one) for one in bare]
        if len(set(named)) == len(named) and all(named):
            return named
    fallback = source.subject or query or "result"
    named = ["/".join(one[key] for key in ordered if key in one) for one in bare]
    return [name or fallback for name in named]


def _meaning(metric: str | None, query: str) -> tuple[str, str | None, str]:
    """What the samples are: attribute, statistic, unit, from the metric's name and the query."""
    found = _STATISTIC.match(query)
    statistic = found[1] if found else None
    if found and found[1] in ("quantile", "histogram_quantile") and found[2]:
        share = (to_decimal(found[2]) or Decimal(0)) * 100
        bucket = next((name for name in _METRIC.findall(query) if name.endswith("_bucket")), "")
        unit = unit_of(bucket.removesuffix("_bucket"))
        return metric or query, f"p{share.normalize():f}", unit
    selector = _SELECTOR.fullmatch(query)
    if selector:
        name = metric or selector[2]
        return name, statistic, unit_of(name)
    summed = _SUM.search(query)
    divided = query[summed.end() :].partition("/")[2] if summed else ""
    if summed and f"{summed[1]}_count" in divided:
        return query, "mean", unit_of(summed[1])
    names = _METRIC.findall(query)
    if re.search(r"[\])}]\s*[-+*/%]|\b(?:rate|irate)\s*\(", query):
        return metric or query or "value", statistic, ""
    return metric or query or "value", statistic, unit_of(metric or (names[0] if names else ""))


# --- CloudWatch and its like ------------------------------------------------------------------


def _parallel(source: Source, document: Mapping[str, object], key: str) -> Reading | None:
    entries = document[key]
    items = [
        Item((value,))
        for entry in (entries if is_list(entries) else ())
        if isinstance(entry, Mapping)
        for value in parallel_samples(source, entry, "value")
    ]
    return Reading("series", tuple(items)) if items else None


def read_points(source: Source, document: Mapping[str, object]) -> Reading | None:
    """A metric with its points, or with several series of points under their labels.

    What the outer object says of unit and statistic holds for every series that says nothing else.
    """
    listed = next((value for key in _SERIES_KEYS if is_records(value := document.get(key))), None)
    entries = listed if listed is not None and not _points(listed) else [document]
    items: list[Item] = []
    context: list[Fact] = []
    for entry in entries:
        points = next((found for key in _POINTS_KEYS if (found := _points(entry.get(key)))), ())
        labels = _labels_beside(entry) if entry is not document else {}
        if not points or len(points) < _listed(entry):
            return None
        items.extend(_pointed(source, document, entry, labels, points))
        if labels:
            cells = tuple(to_cell(name, text) for name, text in labels.items())
            context.append(Row(subject=next(iter(labels.values())), cells=cells))
    about = _labels_beside(document)
    if about:
        context.append(
            Row(subject=None, cells=tuple(to_cell(name, text) for name, text in about.items()))
        )
    return Reading("series", tuple(items), tuple(context)) if items else None


_SERIES_KEYS: Final = ("series", "results", "result", "data", "metrics")
_POINTS_KEYS: Final = ("points", "datapoints", "samples", "values", "data")
_NUMBER_KEYS: Final = ("value", "v", "val", "y")
_METRIC_KEYS: Final = ("metric", "metric_name", "name", "label", "id")
_MEASURE_KEYS: Final = frozenset({"unit", "units", "stat", "statistic", "agg", "aggregation"})


def _listed(entry: Mapping[str, object]) -> int:
    """How many points an object lists, whatever they hold."""
    return next((len(held) for key in _POINTS_KEYS if is_list(held := entry.get(key))), 0)


def _points(listed: object) -> tuple[tuple[datetime, Decimal], ...]:
    """The moments and numbers of a list of objects that hold one of each."""
    found: list[tuple[datetime, Decimal]] = []
    for point in listed if is_records(listed) else ():
        at = next((at for key in _POINT_TIMES if (at := to_instant(point.get(key)))), None)
        number = next(
            (n for key in _NUMBER_KEYS if (n := _number(point.get(key))) is not None), None
        )
        if at is not None and number is not None and len(point) <= 3:
            found.append((at, number))
    return tuple(found)


def _labels_beside(entry: Mapping[str, object]) -> dict[str, str]:
    """The short texts of an object that say what its points are of."""
    labels = {
        clean(str(key))[:200]: clean(str(value))[:200]
        for key, value in entry.items()
        if isinstance(value, (str, int)) and not isinstance(value, bool)
    }
    inner = entry.get("labels", entry.get("tags"))
    return {**labels, **labels_of(inner)}


def _pointed(
    source: Source,
    document: Mapping[str, object],
    entry: Mapping[str, object],
    labels: Mapping[str, str],
    points: tuple[tuple[datetime, Decimal], ...],
) -> list[Item]:
    """Each point as a reading of the entry that its labels name."""
    outer = _text(document, *_METRIC_KEYS) or source.argument("metric", "metric_name", "query")
    own = _text(entry, *_METRIC_KEYS)
    attribute = (outer or own or "value")[:QUERY_CHARS_MAX]
    names = [
        text for name, text in labels.items()
        if name not in _MEASURE_KEYS and text != attribute
    ]  # fmt: skip
    subject = "/".join(names[:LABELS_MAX]) or source.subject or _text(document, "service", "host")
    unit = _text(entry, "unit", "units") or _text(document, "unit", "units")
    statistic = _text(entry, *_STATISTIC_KEYS) or _text(document, *_STATISTIC_KEYS)
    return [
        Item(
            (
                Value(
                    subject=subject or attribute,
                    attribute=attribute,
                    statistic=statistic,
                    quantity=Quantity(number=number, unit=_unit_text(unit) or unit_of(attribute)),
                    at=at,
                ),
            )
        )
        for at, number in points
    ]


_STATISTIC_KEYS: Final = ("stat", "statistic", "aggregation", "agg")


def _datapoints(source: Source, document: Mapping[str, object]) -> Reading | None:
    label = (
        _text(document, "Label", "MetricName")
        or source.argument("metric", "metric_name")
        or "value"
    )
    subject = _dimensions(document) or _dimensions(source.arguments) or source.subject or label
    items: list[Item] = []
    points = document.get("Datapoints")
    for point in points if is_records(points) else ():
        unit = _unit_text(_text(point, "Unit"))
        values = tuple(
            Value(
                subject=subject,
                attribute=label,
                statistic=str(name),
                quantity=Quantity(number=number, unit=unit),
                at=to_instant(point["Timestamp"]),
            )
            for name, raw in point.items()
            if name not in ("Timestamp", "Unit") and (number := _number(raw)) is not None
        )
        if values:
            items.append(Item(values))
    return Reading("series", tuple(items)) if items else None


def _dimensions(node: Mapping[str, object]) -> str | None:
    """The values of an object's dimensions, joined, or None."""
    raw = node.get("dimensions", node.get("Dimensions"))
    if isinstance(raw, Mapping):
        values = [str(value) for value in raw.values()]
    elif is_list(raw):
        values = [
            str(entry.get("Value", entry.get("value", "")))
            for entry in raw
            if isinstance(entry, Mapping)
        ]
    else:
        return None
    return clean("/".join(value for value in values if value))[:400] or None


def _unit_text(unit: str | None) -> str:
    return "" if unit is None else _CLOUDWATCH_UNITS.get(unit, unit)
