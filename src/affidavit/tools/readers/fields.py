"""What a record's fields are for, told by their names: who, when, in which unit, whose words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, TypeGuard

from affidavit.contract.evidence import Window
from affidavit.tools.readers.bounds import FACT_CHARS_MAX
from affidavit.tools.readers.moments import read_epoch, read_instant
from affidavit.tools.readers.numbers import to_decimal, to_number
from affidavit.tools.readers.words import clean

NAME_FIELDS: Final = (
    "involvedObject.name involved_object regarding.name metadata.name name displayName "
    "display_name TargetGroupName FunctionName LoadBalancerName DBInstanceIdentifier "
    "db_instance_identifier source_identifier Target.Id service service_name serviceName "
    "labels.alertname pod host hostname instance node statement sha commit commit_sha revision "
    "version traceID traceId trace_id spanID span_id object InstanceId resource.name subject.name "
    "metric.__name__ identifier id Id ID uid title key Name entity component endpoint route "
    "partition shard peer neighbor neighbour interface queue topic"
).split()
"""Where a record says what it is called, the best name first."""

TIME_FIELDS: Final = frozenset(
    "timestamp time ts at date datetime created_at createdat creation_date creationtimestamp "
    "eventtime event_time starttime start_time startedat started_at start last_time lasttimestamp "
    "lastseen last_seen fired_at firedat startsat starts_at updated_at updatedat occurred_at "
    "lasttransitiontime finishedat deployed_at merged_at committed_at".split()
)
"""Where a record says when it happened."""

WORKLOAD_FIELDS: Final = frozenset(
    "query statement sql blocked_query blocking_query command notes".split()
)
"""Fields of a platform's record that repeat what an application wrote."""

TOTAL_MAX: Final = 2**53
"""Beyond this a JSON number is not the same integer everywhere."""

_TOTALS: Final = ("total", "total_count", "totalCount", "TotalCount", "hits", "matched")
_CUT_MARKS: Final = ("truncated", "has_more", "hasMore", "IsTruncated", "partial")
_NEXT_PAGES: Final = (
    "next", "next_token", "nextToken", "NextToken", "nextPageToken", "next_cursor", "nextCursor",
    "Marker", "NextMarker",
)  # fmt: skip
_KIND_PREFIX: Final = re.compile(r"([A-Za-z]{2,40}(?:\.[a-z0-9.-]{1,60})?)/([^/\s]{1,253})")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[._\-\s\[\]]+")
_FIELD_UNITS: Final = {
    "ms": "ms", "millis": "ms", "milliseconds": "ms", "seconds": "s", "secs": "s", "sec": "s",
    "nanos": "ns", "ns": "ns", "nanoseconds": "ns", "micros": "us", "us": "us", "bytes": "By",
    "kb": "kB", "mb": "MB", "gb": "GB", "mib": "MiB", "gib": "GiB", "pct": "%", "percent": "%",
    "percentage": "%", "minutes": "min", "hours": "h", "days": "d",
}  # fmt: skip


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a value is a JSON array."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def is_records(value: object) -> TypeGuard[Sequence[Mapping[str, object]]]:
    """Whether a value is an array of objects, with at least one."""
    return is_list(value) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def name_value_pairs(node: Sequence[object]) -> tuple[tuple[str, object], ...] | None:
    """The pairs of a list such as `[{"Name": "DBInstanceIdentifier", "Value": "x"}]`, or None."""
    pairs: list[tuple[str, object]] = []
    for entry in node:
        if not isinstance(entry, Mapping) or len(entry) != 2:
            return None
        lower = {str(key).lower(): value for key, value in entry.items()}
        name = lower.get("name", lower.get("key"))
        if not isinstance(name, str) or "value" not in lower:
            return None
        pairs.append((name, lower["value"]))
    return tuple(pairs) or None


def name_of(record: Mapping[str, object]) -> str | None:
    """What a record is called, by its own fields, or None."""
    for path in NAME_FIELDS:
        value: object = record
        for part in path.split(".", 1):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, str) and value.strip():
            return bare_name(clean(value.strip()))[:FACT_CHARS_MAX]
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)[:64]
    return None


def bare_name(name: str) -> str:
    """`Pod/x`, `job.batch/x` name x; any other slash stays."""
    found = _KIND_PREFIX.fullmatch(name)
    return found[2] if found else name


def time_of(record: Mapping[str, object], window: Window | None) -> datetime | None:
    """When a record says that it happened, or None."""
    for key, value in record.items():
        if str(key).lower().lstrip("@") in TIME_FIELDS:
            moment = to_instant(value, window)
            if moment is not None:
                return moment
    return None


def to_instant(value: object, window: Window | None = None) -> datetime | None:
    """The instant that a field's value is: a time in text, or an epoch number by its size."""
    if isinstance(value, str):
        moment = read_instant(value, window)
        if moment is not None:
            return moment
        number = to_decimal(value) if value.replace(".", "", 1).isdigit() else None
    else:
        number = to_number(value)
    return None if number is None else read_epoch(number)


def total_of(document: Mapping[str, object]) -> int | None:
    """How many items there are, by the answer's own word, or None."""
    for key in _TOTALS:
        value = document.get(key)
        if isinstance(value, Mapping):
            value = value.get("total", value.get("value"))
        if isinstance(value, Mapping):
            value = value.get("value")
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < TOTAL_MAX:
            return value
    return None


def has_more(document: Mapping[str, object]) -> bool:
    """Whether an answer says that it is only a part: a next page, or a mark that it was cut."""
    metadata = document.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("continue"):
        return True
    if any(document.get(key) is True for key in _CUT_MARKS):
        return True
    return any(isinstance(document.get(key), str) and document.get(key) for key in _NEXT_PAGES)


def unit_of_field(name: str) -> str:
    """The unit that a field's name ends in (`durationMs`, `HealthCheckIntervalSeconds`), or ""."""
    words = [word.lower() for word in _CAMEL.split(name[-120:]) if word]
    return _FIELD_UNITS.get(words[-1], "") if len(words) > 1 else ""


def read_json_object(text: str) -> Mapping[str, object] | None:
    """The JSON object that a whole text is, or None. Numbers stay as they were written."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        document = json.loads(text, parse_float=Decimal, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, Mapping) and document else None
