"""SQL over spans: where time is lost between services, inside them, and where work breaks off.

The shape of these queries, the phases and the two views are explained in `telemetry_sql`.
"""

from __future__ import annotations

from typing import Final

from affidavit.adapters.duckdb_runner import Query
from affidavit.adapters.telemetry_sql import (
    NEAR,
    SERVICES_MAX,
    SLACK_US,
    TEXT_CHARS_MAX,
    Bounds,
    bands,
    phased,
    views,
)

FLOOR_US: Final = 2_000
"""Two milliseconds: what a scheduler or a garbage collector adds to any call."""

HOT_RATIO: Final = 2.0
"""An edge is hot when its time outside the callee has doubled."""

CALLS_MIN: Final = 3
"""Calls on either side before an edge is compared."""

SPANS_MIN: Final = 5
"""Spans on either side before an operation is compared."""

SHRINK: Final = 3
"""A difference seen in n spans counts n / (n + 3): few spans prove little."""

SPAN_COLUMNS: Final = (
    "trace_id, span_id, parent_span_id, service_name AS service, name, at_us, duration_us"
)

TRACED: Final = f"""(SELECT *, CASE WHEN trace_id = '' THEN at_us ELSE greatest(
    at_us - {SLACK_US}, min(at_us) OVER (PARTITION BY trace_id)) END AS began_us
    FROM {{table}} WHERE {NEAR})"""  # noqa: S608 -- ours


def phased_spans(traces: str, columns: str = SPAN_COLUMNS) -> str:
    """The CTE `spans`, each with the phase in which its trace began.

    A trace belongs to one phase. Were each span's own clock asked, a host whose clock is ahead
    would lose the calls at the window's end, and that looks like work that breaks off. A trace that
    lasts longer than clocks may differ is no one request: its spans count from a minute before.
    """
    return phased(TRACED.format(table=traces), "spans", columns, at="began_us")


EDGE_EXCESS: Final = """
WITH {phased}, calls AS (
    SELECT p.service AS source, s.service AS target, left(s.name, {chars}) AS operation, s.phase,
           greatest(0, p.duration_us - s.duration_us) AS between_us
    FROM spans AS s
    JOIN spans AS p ON p.trace_id = s.trace_id AND p.span_id = s.parent_span_id
    WHERE p.service <> s.service
), operations AS (
    SELECT source, target, operation, {bands} FROM calls GROUP BY source, target, operation
), compared AS (
    {views}
), rated AS (
    SELECT *, least(n1, n0) AS n, least(n1, n0) / (least(n1, n0) + {shrink}) *
        (ln((mid1 + {floor}) / (mid0 + {floor})) + ln((high1 + {floor}) / (high0 + {floor}))) / 2
        AS excess
    FROM compared WHERE n1 >= {calls} AND n0 >= {calls}
), pairs AS (
    SELECT view, source, target, sum(n * excess) / sum(n) AS excess,
           arg_max(operation, (excess, operation)) AS operation,
           arg_max(mid0, (excess, operation)) AS before_us,
           arg_max(mid1, (excess, operation)) AS after_us
    FROM rated GROUP BY view, source, target
), ends AS (
    SELECT source AS service, * FROM pairs UNION ALL SELECT target AS service, * FROM pairs
), services AS (
    SELECT view, service, count(*) AS edges, count(*) FILTER (WHERE excess > ln({hot})) AS hot,
           avg(excess) FILTER (WHERE excess > ln({hot})) AS heat,
           max(struct_pack(excess, source, target, operation, before_us, after_us)) AS worst
    FROM ends GROUP BY view, service
)
SELECT service, sum(heat * hot / edges * ln(1 + hot)) / 2 AS strength, max(edges) AS edges,
       max(hot) AS hot, max(worst).source AS source, max(worst).target AS target,
       max(worst).operation AS operation, max(worst).before_us AS before_us,
       max(worst).after_us AS after_us
FROM services WHERE hot > 0
GROUP BY service ORDER BY strength DESC, service LIMIT {rows}"""


def edge_excess(traces: str, bounds: Bounds) -> Query:
    """Services whose calls, in or out, spend more time between caller and callee.

    The time of a call between two services is the caller's span less the callee's: network,
    queueing, and connection set-up. excess is the logarithm of its ratio to the baseline, the mean
    of median and 75th percentile; an edge is hot above ln 2. strength = mean excess of the hot
    edges x their share of the service's edges x ln(1 + hot edges): who is at fault is hot on all
    its edges, a victim on one. Columns: service, strength, edges, hot, and of the hottest edge
    source, target, operation, before_us, after_us (medians).
    """
    figures = {
        "n": "count(*)",
        "mid": "quantile_cont(between_us, 0.5)",
        "high": "quantile_cont(between_us, 0.75)",
    }
    sql = EDGE_EXCESS.format(
        phased=phased_spans(traces),
        bands=bands(figures),
        views=views("operations", "source, target, operation", tuple(figures)),
        chars=TEXT_CHARS_MAX,
        floor=FLOOR_US,
        hot=HOT_RATIO,
        calls=CALLS_MIN,
        shrink=SHRINK,
        rows=SERVICES_MAX,
    )
    return Query(sql, bounds.given(), rows_max=SERVICES_MAX)


SLICE_US: Final = 15_000_000
"""A quarter of a minute: a handful of calls even on a quiet edge."""

EDGE_ONSET: Final = """
WITH {phased}, calls AS (
    SELECT s.phase, s.at_us // {slice} AS slice,
           greatest(0, p.duration_us - s.duration_us) AS between_us
    FROM spans AS s
    JOIN spans AS p ON p.trace_id = s.trace_id AND p.span_id = s.parent_span_id
    WHERE p.service = $source AND s.service = $target
), usual AS (
    SELECT median(between_us) FILTER (WHERE phase IN (0, 2)) AS before_us FROM calls
), slices AS (
    SELECT slice, median(between_us) AS mid_us, count(*) AS n, max(phase) IN (1, 3) AS inside
    FROM calls WHERE phase <> 0 GROUP BY slice HAVING count(*) >= {calls}
), judged AS (
    SELECT slice, inside, mid_us + {floor} > {hot} * (before_us + {floor}) AS is_hot
    FROM slices, usual
), first AS (SELECT min(slice) AS slice FROM judged WHERE is_hot AND inside)
SELECT max(j.slice * {slice}) FILTER (WHERE j.slice < first.slice AND NOT is_hot) AS normal_us,
       first.slice * {slice} + {slice} AS abnormal_us
FROM first LEFT JOIN judged AS j ON true
WHERE first.slice IS NOT NULL GROUP BY first.slice"""


def edge_onset(traces: str, bounds: Bounds, source: str, target: str) -> Query:
    """When the calls of one edge began to take long, as an interval of quarter minutes.

    Columns: normal_us, the start of the last slice before it that was not hot (null where none was
    seen), and abnormal_us, the end of the first hot one. No row: the edge never was hot.
    """
    sql = EDGE_ONSET.format(
        phased=phased_spans(traces),
        slice=SLICE_US,
        calls=CALLS_MIN,
        floor=FLOOR_US,
        hot=HOT_RATIO,
    )
    return Query(sql, {**bounds.given(), "source": source, "target": target}, rows_max=1)


SELF_TIME: Final = """
WITH {phased}, nested AS (
    SELECT k.trace_id, k.parent_span_id AS span_id, sum(k.duration_us) AS nested_us,
           bool_or(k.service <> p.service) AS leaves
    FROM spans AS k
    JOIN spans AS p ON p.trace_id = k.trace_id AND p.span_id = k.parent_span_id
    GROUP BY ALL
), own AS (
    SELECT service, left(name, {chars}) AS operation, phase,
           greatest(0, duration_us - coalesce(nested_us, 0)) AS own_us
    FROM spans LEFT JOIN nested USING (trace_id, span_id)
    -- a span that calls another service directly waits: its time is the edge's, not its own
    WHERE NOT coalesce(leaves, false)
), operations AS (
    SELECT service, operation, {bands} FROM own GROUP BY service, operation
), compared AS (
    {views}
), rated AS (
    SELECT *, ln((high1 + {floor}) / (high0 + {floor})) * least(n1, n0)
        / (least(n1, n0) + {shrink}) AS excess
    FROM compared WHERE n1 >= {spans} AND n0 >= {spans}
), services AS (
    SELECT view, service,
           sum(least(n1, n0) * greatest(0, excess)) / sum(least(n1, n0)) AS excess,
           max(struct_pack(excess, operation, high0, high1)) AS worst
    FROM rated GROUP BY view, service HAVING max(excess) > 0
)
SELECT service, sum(excess) / 2 AS strength, max(worst).operation AS operation,
       max(worst).high0 AS before_us, max(worst).high1 AS after_us
FROM services GROUP BY service ORDER BY strength DESC, service LIMIT {rows}"""


def self_time(traces: str, bounds: Bounds) -> Query:
    """Services that work longer themselves.

    Self time is a span's duration less that of its children. An operation's excess is the logarithm
    of the ratio of its 75th percentiles; strength is the mean excess of the service's operations,
    by their spans. What takes a processor away slows whatever runs on it; and of many operations
    one is always slower than it was. Columns: service, strength, and of the worst operation
    operation, before_us, after_us.
    """
    figures = {"n": "count(*)", "high": "quantile_cont(own_us, 0.75)"}
    sql = SELF_TIME.format(
        phased=phased_spans(traces),
        bands=bands(figures),
        views=views("operations", "service, operation", tuple(figures)),
        chars=TEXT_CHARS_MAX,
        floor=FLOOR_US,
        spans=SPANS_MIN,
        shrink=SHRINK,
        rows=SERVICES_MAX,
    )
    return Query(sql, bounds.given(), rows_max=SERVICES_MAX)


CLIENTS: Final = """clients AS (
    SELECT p.service, p.{operation} AS operation, mode(k.service) AS callee,
           {hot} * (median(p.duration_us) + {floor}) AS long_us
    FROM spans AS k JOIN spans AS p ON p.trace_id = k.trace_id AND p.span_id = k.parent_span_id
    WHERE p.service <> k.service GROUP BY ALL
)"""
"""Operations that are calls: a span of another service is usually beneath theirs. Where none is,
the call never arrived. If it failed at once it was refused, and that speaks of the callee; if its
caller waited (for a free connection, or for an answer to the first packet), of either."""


def client_operations(operation: str) -> str:
    """The CTE `clients` over `spans` whose operation is in the column of that name."""
    return CLIENTS.format(operation=operation, hot=HOT_RATIO, floor=FLOOR_US)


ERROR_SPANS: Final = """
WITH {phased}, carried AS (
    SELECT trace_id, parent_span_id AS span_id, bool_or(failed) AS failed_below
    FROM spans GROUP BY ALL
), {clients}, judged AS (
    SELECT s.service, left(s.name, {chars}) AS operation, s.phase, c.callee, s.failed,
           s.failed AND NOT coalesce(k.failed_below, false) AS starts,
           c.callee IS NOT NULL AND k.span_id IS NULL AS is_unanswered,
           coalesce(s.duration_us > c.long_us, false) AS has_waited
    FROM spans AS s LEFT JOIN carried AS k USING (trace_id, span_id)
    LEFT JOIN clients AS c ON c.service = s.service AND c.operation = s.name
), operations AS (
    SELECT service, operation, callee, {bands} FROM judged GROUP BY service, operation, callee
), compared AS (
    {views}
), blamed AS (
    SELECT view, service, operation, n0, n1, own0 AS began0, own1 AS began1, failed1 FROM compared
    UNION ALL
    SELECT view, callee, operation, n0, n1, lost0, lost1, failed1 FROM compared
    WHERE callee IS NOT NULL
), rated AS (
    SELECT *, (began1 + 0.5) / (n1 + 1) - (began0 + 0.5) / (n0 + 1) AS risen
    FROM blamed WHERE n1 > 0 AND began1 >= 2
), services AS (
    SELECT view, service,
           max(struct_pack(risen, operation, n0, n1, began0, began1, failed1)) AS worst
    FROM rated WHERE risen > 0 GROUP BY view, service
)
SELECT service, sum(worst.risen) / 2 AS strength, max(worst).operation AS operation,
       max(worst).began1 AS began, max(worst).failed1 AS failed, max(worst).n1 AS spans,
       max(worst).began0 AS baseline_began, max(worst).n0 AS baseline_spans
FROM services GROUP BY service ORDER BY strength DESC, service LIMIT {rows}"""


def error_spans(traces: str, bounds: Bounds) -> Query:
    """Services in which failed spans begin: a failed span without a failed child.

    A call that failed with no span of its callee beneath it never arrived: it counts for the
    callee, and for the caller too where that waited longer than twice its usual time.

    strength is the rise of their share of the operation's spans. Columns: service, strength,
    operation, began, failed, spans, baseline_began, baseline_spans.
    """
    figures = {
        "n": "count(*)",
        "own": "count_if(starts AND (has_waited OR NOT is_unanswered))",
        "lost": "count_if(starts AND is_unanswered)",
        "failed": "count_if(failed)",
    }
    columns = f"{SPAN_COLUMNS}, status_code = 'ERROR' AS failed"
    sql = ERROR_SPANS.format(
        phased=phased_spans(traces, columns),
        bands=bands(figures),
        views=views("operations", "service, operation, callee", tuple(figures)),
        clients=client_operations("name"),
        chars=TEXT_CHARS_MAX,
        rows=SERVICES_MAX,
    )
    return Query(sql, bounds.given(), rows_max=SERVICES_MAX)
