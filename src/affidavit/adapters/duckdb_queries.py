"""The SQL of each question over the staged tables, and its answer.

Values reach a query as named parameters; what is built into its text are constants of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final, assert_never

from affidavit.adapters.duckdb_runner import DuckRunner, Query, Row
from affidavit.adapters.incident_tables import microseconds, staged_path
from affidavit.adapters.interruption_sql import interruptions
from affidavit.adapters.listing_sql import change_events, log_search, series_samples
from affidavit.adapters.log_sql import error_rise, template_changes
from affidavit.adapters.telemetry_sql import (
    Bounds,
    aspect_case,
    level_shifts,
    resource_shifts,
)
from affidavit.adapters.trace_sql import edge_excess, edge_onset, error_spans, self_time
from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Window
from affidavit.ports.telemetry import (
    LEVELS,
    RESOURCES,
    Answer,
    ChangeEvents,
    Comparison,
    EdgeOnset,
    ErrorLines,
    Floor,
    LogSearch,
    MetricScan,
    Plain,
    Question,
    SeriesSamples,
    Signal,
    SignalName,
    TraceEdges,
)

LINE_CHARS_MAX: Final = 320
"""Of a line's example text: what a reader takes in, and what a fact may hold (C5)."""

MASKED_CHARS_MAX: Final = 400
"""Of a line's start, which is masked; what a logger says of itself takes up to 150."""

TEMPLATE_CHARS_MAX: Final = 200
"""Of the masked start: enough to tell one kind of line from another."""

MASKS: Final[tuple[tuple[str, str], ...]] = (
    (r"\s+", " "),
    (r'"[^"]*"', "<*>"),
    (r"(^|[\s=(:\[])'[^']*'", r"\1<*>"),
    (r"\b(0x[0-9a-fA-F]+|[0-9a-fA-F]{8,}|[0-9]+)([.:,-]([0-9a-fA-F]{4,}|[0-9]+))*\b", "<*>"),
    (r"[0-9]+([.:,][0-9]+)*", "<*>"),
)
"""What varies from line to line, in the order in which it is masked (RE2 syntax): quoted text,
ids, addresses and numbers, then digits inside words. One mask for all: whether an id has a letter
in it is chance."""


async def read_answer(
    runner: DuckRunner, room: Path, signals: Mapping[SignalName, Signal], question: Question
) -> Answer:
    """The answer to a question. Raises ToolFailed."""
    match question:
        case MetricScan():
            table = _table(room, signals, "metrics")
            return _answer(await runner.query(metric_scan(question, table)))
        case ErrorLines():
            table = _table(room, signals, "logs")
            return _answer(await runner.query(error_lines(question, table)))
        case TraceEdges():
            table = _table(room, signals, "traces")
            return _answer(await runner.query(trace_edges(question, table)))
        case Comparison():
            return _answer(await runner.query(_comparison(room, signals, question)))
        case EdgeOnset():
            table = _table(room, signals, "traces")
            bounds = _bounds(question.window, question.baseline)
            query = edge_onset(table, bounds, question.source, question.target)
            return _answer(await runner.query(query))
        case ChangeEvents():
            table = _table(room, signals, "events")
            return _answer(await runner.query(change_events(question, table)))
        case LogSearch():
            table = _table(room, signals, "logs")
            return _answer(await runner.query(log_search(question, table)))
        case SeriesSamples():
            table = _table(room, signals, "metrics")
            return _answer(await runner.query(series_samples(question, table)))
    assert_never(question)


def _comparison(room: Path, signals: Mapping[SignalName, Signal], question: Comparison) -> Query:
    """The query of a comparison. Raises ToolFailed (SOURCE_UNAVAILABLE) where a table is missing.

    Activity of a service and lines within spans make two of them sharper; they do without.
    """
    bounds = _bounds(question.window, question.baseline)
    match question.name:
        case "resource_shifts":
            return resource_shifts(_table(room, signals, "metrics"), bounds)
        case "level_shifts":
            return level_shifts(_table(room, signals, "metrics"), bounds)
        case "edge_excess":
            return edge_excess(_table(room, signals, "traces"), bounds)
        case "self_time":
            return self_time(_table(room, signals, "traces"), bounds)
        case "error_spans":
            return error_spans(_table(room, signals, "traces"), bounds)
        case "interruptions":
            logs = _table(room, signals, "logs") if "logs" in signals else None
            return interruptions(_table(room, signals, "traces"), logs, bounds)
        case "error_rise":
            traces = _table(room, signals, "traces") if "traces" in signals else None
            return error_rise(_table(room, signals, "logs"), traces, bounds)
        case "template_changes":
            return template_changes(_table(room, signals, "logs"), bounds)
    assert_never(question.name)


def _bounds(window: Window, baseline: Window | None) -> Bounds:
    start_us, end_us = microseconds(window.start), microseconds(window.end)
    if baseline is None:
        return Bounds(start_us, end_us)
    return Bounds(start_us, end_us, microseconds(baseline.start), microseconds(baseline.end))


def _table(room: Path, signals: Mapping[SignalName, Signal], name: SignalName) -> str:
    if name not in signals:
        raise ToolFailed(f"the incident has no {name}", code="SOURCE_UNAVAILABLE")
    return f"read_parquet('{staged_path(room, name)}')"


FIGURE: Final = "all_"
"""Figures travel as columns with this prefix, the same in every row."""


def _answer(rows: Sequence[Row]) -> Answer:
    """Rows and figures apart. A query always has a row; without a first column it is no finding."""
    figures: dict[str, Plain] = {}
    findings: list[Mapping[str, Plain]] = []
    for row in rows:
        figures |= {k.removeprefix(FIGURE): v for k, v in row.items() if k.startswith(FIGURE)}
        finding = {k: v for k, v in row.items() if not k.startswith(FIGURE)}
        if any(value is not None for value in finding.values()):
            findings.append(finding)
    return Answer(tuple(findings), figures)


def _given(window: Window, baseline: Window | None, service: str | None) -> dict[str, Plain]:
    """Parameters of a question about a window; an absent baseline holds no moment."""
    return {
        "service": service,
        "start_us": microseconds(window.start),
        "end_us": microseconds(window.end),
        "base_start_us": microseconds(baseline.start) if baseline else 1,
        "base_end_us": microseconds(baseline.end) if baseline else 0,
    }


def literal(text: str) -> str:
    """An SQL text literal."""
    return "'" + text.replace("'", "''") + "'"


def floor_expression(floors: Sequence[Floor]) -> str:
    """The smallest scale of a series of unit `unit`, name `metric` and median `before`."""
    cases = []
    for floor in floors:
        tests = [f"unit = {literal(floor.unit)}"] if floor.unit else []
        tests += [f"contains(lower(metric), {literal(floor.word)})"] if floor.word else []
        value = f"greatest({Decimal(floor.absolute)}, {Decimal(floor.relative)} * abs(before))"
        cases.append(f"WHEN {' AND '.join(tests) or 'true'} THEN {value}")
    return f"CASE {' '.join(cases)} END::DOUBLE"


METRIC_SCAN: Final = """
WITH rows AS (
    SELECT service_name AS service, metric_name AS metric, statistic, instance, unit, at_us, value,
           at_us BETWEEN $base_start_us AND $base_end_us AS in_base,
           at_us BETWEEN $start_us AND $end_us AS in_window
    FROM {table}
    WHERE isfinite(value) AND ($service::VARCHAR IS NULL OR service_name = $service)
      AND {aspect} IS NULL  -- what another rule judges is not judged twice
      AND ({span} OR at_us BETWEEN $base_start_us AND $base_end_us)
), named AS MATERIALIZED (
    -- a number a series: one key to join on, and materialised so that it is the same everywhere
    SELECT service, metric, statistic, instance, row_number() OVER () AS series,
           any_value(unit) AS unit,
           count(*) FILTER (in_base) >= {samples_min} AS has_base,
           count(*) FILTER (at_us < $clear_us AND NOT in_base) >= {samples_min} AS has_clear
    FROM rows GROUP BY service, metric, statistic, instance
), samples AS MATERIALIZED (
    SELECT series, at_us, avg(value) AS v, any_value(in_base) AS in_base,
           any_value(in_window) AS in_window,
           any_value(CASE WHEN has_base THEN in_base
                          ELSE at_us < CASE WHEN has_clear THEN $clear_us ELSE $start_us END
                               AND NOT in_base END) AS is_ref
    FROM rows JOIN named USING (service, metric, statistic, instance)
    GROUP BY series, at_us
), baselines AS (
    SELECT series, median(v) FILTER (is_ref) AS before,
           1.4826 * mad(v) FILTER (is_ref) AS spread,
           quantile_cont(v, 0.95) FILTER (is_ref) AS high,
           quantile_cont(v, 0.05) FILTER (is_ref) AS low,
           median(v) FILTER (in_window) AS level,
           min(v) FILTER (in_window) AS lowest, max(v) FILTER (in_window) AS highest,
           count(*) FILTER (is_ref) AS baseline_samples,
           count(*) FILTER (in_window) AS samples,
           min(at_us) FILTER (is_ref) AS baseline_start_us,
           max(at_us) FILTER (is_ref) AS baseline_end_us
    FROM samples GROUP BY series
), scaled AS (
    SELECT *, greatest(spread, (high - before) / 1.645, (before - low) / 1.645, {floor}) AS scale
    FROM baselines JOIN named USING (series)
    WHERE baseline_samples >= {samples_min} AND samples > 0
), marked AS (
    SELECT series, at_us, v, in_window, samples, (v - before) / scale AS z,
           CASE WHEN abs(v - before) < {threshold} * scale THEN 0
                ELSE sign(v - before)::INTEGER END AS side
    FROM samples JOIN scaled USING (series)
    WHERE NOT in_base AND greatest(highest - before, before - lowest) >= {threshold} * scale
), stepped AS (
    SELECT *, max(CASE WHEN abs(z) < {normal} THEN at_us END)
                OVER (past ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS previous_us,
           CASE WHEN side = lag(side) OVER past THEN 0 ELSE 1 END AS step
    FROM marked WINDOW past AS (PARTITION BY series ORDER BY at_us)
), numbered AS (
    SELECT *, sum(step) OVER (PARTITION BY series ORDER BY at_us) AS run FROM stepped
), runs AS (
    SELECT series, min(at_us) AS abnormal_us, arg_min(previous_us, at_us) AS normal_us,
           median(v) FILTER (in_window) AS level, sum(abs(z)) AS weight
    FROM numbered WHERE side <> 0
    GROUP BY series, run
    HAVING count(*) FILTER (in_window) > 0
       AND count(*) >= CASE WHEN max(samples) < 3 THEN 1 ELSE {run_min} END
), strongest AS (
    SELECT series, max(struct_pack(weight, abnormal_us, normal_us, level)) AS found
    FROM runs GROUP BY series
), compared AS (
    SELECT scaled.* EXCLUDE (level), coalesce(found.level, scaled.level) AS after,
           (coalesce(found.level, scaled.level) - before) / scale AS score,
           found IS NOT NULL AS anomalous, found.normal_us, found.abnormal_us
    FROM scaled LEFT JOIN strongest USING (series)
), best AS (
    SELECT *, count(*) OVER same AS instances
    FROM compared
    WINDOW same AS (PARTITION BY service, metric, statistic)
    QUALIFY row_number() OVER (same ORDER BY anomalous DESC, abs(score) DESC, instance) = 1
), begun AS (
    -- one onset a metric: the first of its statistics; none where the first has no sample before
    SELECT service, metric, min(abnormal_us) AS abnormal_us,
           CASE WHEN bool_and(normal_us IS NOT NULL) THEN arg_min(normal_us, abnormal_us) END
             AS normal_us
    FROM best WHERE anomalous GROUP BY service, metric
), totals AS (
    SELECT count(*) AS all_series, count(*) FILTER (anomalous) AS all_anomalous,
           (SELECT count(normal_us) FROM begun) AS all_onsets,
           (SELECT count(DISTINCT (service, metric, statistic)) FROM named) - count(*)
             AS all_incomparable
    FROM best
)
SELECT best.service, instance, best.metric, statistic, unit, before, after, scale, score,
       anomalous, samples, baseline_samples, baseline_start_us, baseline_end_us,
       CASE WHEN anomalous THEN begun.normal_us END AS normal_us,
       CASE WHEN anomalous THEN begun.abnormal_us END AS abnormal_us, instances, totals.*
FROM totals LEFT JOIN best ON true
LEFT JOIN begun ON begun.service = best.service AND begun.metric = best.metric
ORDER BY anomalous DESC, abs(score) DESC, best.service, best.metric, statistic
LIMIT {rows_max}"""


def metric_scan(scan: MetricScan, table: str) -> Query:
    """Each series of the window against its own baseline."""
    sql = METRIC_SCAN.format(
        table=table,
        aspect="NULL" if scan.whole else aspect_case((*LEVELS, *RESOURCES)),
        span="at_us BETWEEN $start_us AND $end_us" if scan.whole else "at_us <= $end_us",
        samples_min=int(scan.samples_min),
        threshold=Decimal(scan.threshold),
        normal=Decimal(scan.normal),
        run_min=int(scan.run_min),
        floor=floor_expression(scan.floors),
        rows_max=int(scan.rows_max),
    )
    given = _given(scan.window, scan.baseline, scan.service)
    given["clear_us"] = microseconds(scan.window.start) - scan.clearance_s * 1_000_000
    return Query(sql, given, rows_max=scan.rows_max)


def template_expression(body: str) -> str:
    """The line's start with what varies masked."""
    expression = f"left(trim({body}), {MASKED_CHARS_MAX})"
    for pattern, mask in MASKS:
        expression = f"regexp_replace({expression}, {literal(pattern)}, {literal(mask)}, 'g')"
    return f"left({expression}, {TEMPLATE_CHARS_MAX})"


ERROR_LINES: Final = """
WITH bounds AS (
    SELECT min(at_us) AS first_us,
           count(*) FILTER (at_us BETWEEN $base_start_us AND $base_end_us) > 0 AS has_base
    FROM {table}
), reference AS (
    SELECT CASE WHEN has_base THEN $base_start_us ELSE first_us END AS ref_start_us,
           CASE WHEN has_base THEN $base_end_us ELSE $start_us - 1 END AS ref_end_us
    FROM bounds
), spoken AS (
    SELECT service_name AS service, count(*) AS ref_lines
    FROM {table}, reference WHERE at_us BETWEEN ref_start_us AND ref_end_us
    GROUP BY service_name
), lines AS (
    SELECT service_name AS service, upper(severity_text) AS level, lower(emitter) AS emitter,
           {template} AS template, left(body, {line_chars}) AS text, at_us,
           at_us BETWEEN $start_us AND $end_us AS in_window
    FROM {table}, reference
    WHERE is_error AND ($service::VARCHAR IS NULL OR service_name = $service)
      AND (at_us BETWEEN $start_us AND $end_us OR at_us BETWEEN ref_start_us AND ref_end_us)
), grouped AS (
    SELECT service, level, emitter, template,
           arg_min(text, at_us) FILTER (in_window) AS example,
           min(at_us) FILTER (in_window) AS first_us, max(at_us) FILTER (in_window) AS last_us,
           count(*) FILTER (in_window) AS lines, count(*) FILTER (NOT in_window) AS baseline_lines
    FROM lines GROUP BY service, level, emitter, template
    HAVING count(*) FILTER (in_window) > 0
), rated AS (
    SELECT g.*, lines / greatest(1, ($end_us - $start_us) / 60e6) AS per_min,
           CASE WHEN ref_lines > 0
                THEN baseline_lines / greatest(1, (ref_end_us - ref_start_us) / 60e6) END
             AS baseline_per_min
    FROM grouped AS g LEFT JOIN spoken USING (service), reference
), flagged AS (
    SELECT *, CASE WHEN baseline_per_min IS NOT NULL THEN baseline_lines = 0 END AS new,
           CASE WHEN baseline_per_min IS NOT NULL THEN baseline_lines > 0
                AND lines >= {risen_lines_min} AND per_min >= {risen_ratio} * baseline_per_min END
             AS risen
    FROM rated
), totals AS (
    SELECT count(*) AS all_templates, count(*) FILTER (new OR risen) AS all_flagged,
           coalesce(sum(lines), 0)::BIGINT AS all_lines,
           (SELECT ref_start_us FROM reference) AS all_baseline_start_us,
           (SELECT ref_end_us FROM reference) AS all_baseline_end_us
    FROM flagged
)
SELECT service, level, emitter, template, example, first_us, last_us, lines, baseline_lines,
       per_min, baseline_per_min, new, risen, totals.*
FROM totals LEFT JOIN flagged ON true
ORDER BY coalesce(new OR risen, false) DESC, lines DESC, first_us, service, template
LIMIT {rows_max}"""


def error_lines(question: ErrorLines, table: str) -> Query:
    """Error lines of the window by template, against the baseline."""
    sql = ERROR_LINES.format(
        table=table,
        template=template_expression("body"),
        line_chars=LINE_CHARS_MAX,
        risen_lines_min=int(question.risen_lines_min),
        risen_ratio=Decimal(question.risen_ratio),
        rows_max=int(question.rows_max),
    )
    given = _given(question.window, question.baseline, question.service)
    return Query(sql, given, rows_max=question.rows_max)


TRACE_EDGES: Final = """
WITH spans AS (
    SELECT trace_id, span_id, parent_span_id, service_name AS service FROM {table}
), pairs AS (
    SELECT parent.service AS source, child.service AS target, count(*) AS calls
    FROM spans AS child
    JOIN spans AS parent
      ON parent.trace_id = child.trace_id AND parent.span_id = child.parent_span_id
    WHERE parent.service <> child.service
    GROUP BY ALL
), totals AS (
    SELECT count(*) AS all_edges, (SELECT count(DISTINCT service) FROM spans) AS all_services
    FROM pairs
)
SELECT source, target, calls, totals.*
FROM totals LEFT JOIN pairs ON true
ORDER BY calls DESC, source, target
LIMIT {rows_max}"""


def trace_edges(question: TraceEdges, table: str) -> Query:
    """Which service called which, as recorded."""
    sql = TRACE_EDGES.format(table=table, rows_max=int(question.rows_max))
    return Query(sql, rows_max=question.rows_max)
