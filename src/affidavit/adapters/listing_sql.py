"""SQL that lists rows as they were recorded: change events, log lines, samples of one series.

Nothing is compared here. What a caller wrote reaches a query as a parameter only.
"""

from __future__ import annotations

from typing import Final

from affidavit.adapters.duckdb_runner import Query
from affidavit.adapters.incident_tables import microseconds
from affidavit.contract.evidence import Window
from affidavit.ports.telemetry import ChangeEvents, LogSearch, Plain, SeriesSamples

LINE_CHARS_MAX: Final = 320
"""Of a line or an event's text: what a fact may hold (C5)."""

ATTRIBUTES_CHARS_MAX: Final = 2_000
"""Of an event's attributes: the files of a commit, not its diff."""

CHANGE_EVENTS: Final = """
WITH found AS (
    SELECT id, event_name AS event, service_name AS service, left(body, {chars}) AS body,
           left(attributes, {attributes}) AS attributes, at_us
    FROM {table}
    WHERE at_us BETWEEN $start_us - $lookback_us AND $end_us
      AND ($service::VARCHAR IS NULL OR service_name = $service)
), totals AS (SELECT count(*) AS all_events FROM found)
SELECT found.*, totals.* FROM totals LEFT JOIN found ON true
ORDER BY at_us DESC, id, event LIMIT {rows}"""


def change_events(question: ChangeEvents, table: str) -> Query:
    """What was changed, latest first."""
    sql = CHANGE_EVENTS.format(
        table=table,
        chars=LINE_CHARS_MAX,
        attributes=ATTRIBUTES_CHARS_MAX,
        rows=int(question.rows_max),
    )
    given = _within(question.window, question.service)
    given["lookback_us"] = question.lookback_s * 1_000_000
    return Query(sql, given, rows_max=question.rows_max)


LOG_SEARCH: Final = """
WITH found AS (
    SELECT service_name AS service, upper(severity_text) AS level, lower(emitter) AS emitter,
           left(body, {chars}) AS body, at_us
    FROM {table}
    WHERE at_us BETWEEN $start_us AND $end_us AND contains(lower(body), lower($text))
      AND ($service::VARCHAR IS NULL OR service_name = $service)
), totals AS (SELECT count(*) AS all_lines FROM found)
SELECT found.*, totals.* FROM totals LEFT JOIN found ON true
ORDER BY at_us, service, body LIMIT {rows}"""


def log_search(question: LogSearch, table: str) -> Query:
    """Lines that hold a text, the first ones first."""
    sql = LOG_SEARCH.format(table=table, chars=LINE_CHARS_MAX, rows=int(question.rows_max))
    given = {**_within(question.window, question.service), "text": question.text}
    return Query(sql, given, rows_max=question.rows_max)


SERIES: Final = """
WITH found AS (
    SELECT statistic, unit, value, at_us,
           $start_us + (at_us - $start_us) // $slice_us * $slice_us AS slice_us
    FROM {table}
    WHERE service_name = $service AND metric_name = $metric AND isfinite(value)
      AND at_us BETWEEN $start_us AND $end_us
), slices AS (
    SELECT statistic, unit, slice_us AS at_us, avg(value) AS value, count(*) AS samples
    FROM found GROUP BY statistic, unit, slice_us
), totals AS (
    SELECT count(*) AS all_slices, (SELECT count(*) FROM found) AS all_samples FROM slices
)
SELECT slices.*, totals.* FROM totals LEFT JOIN slices ON true
ORDER BY statistic, unit, at_us LIMIT {rows}"""


def series_samples(question: SeriesSamples, table: str) -> Query:
    """One metric of a service, in equal slices of the window."""
    given = _within(question.window, question.service)
    span_us = microseconds(question.window.end) - microseconds(question.window.start) + 1
    given["slice_us"] = max(1, -(-span_us // question.slices_max))
    given["metric"] = question.metric
    sql = SERIES.format(table=table, rows=int(question.rows_max))
    return Query(sql, given, rows_max=question.rows_max)


def _within(window: Window, service: str | None) -> dict[str, Plain]:
    return {
        "service": service,
        "start_us": microseconds(window.start),
        "end_us": microseconds(window.end),
    }
