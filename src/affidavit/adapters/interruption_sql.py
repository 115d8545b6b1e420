"""SQL that finds where work breaks off: steps that an operation usually takes and no longer takes.

A step of a span is a call beneath it or a log line written within it. An early return, an
exception or a refused call leaves no slow span and often no error line; what it leaves is that the
steps which used to follow are missing. Who is to blame for a loss is told by where the work ended:
with no call any more, or in the service's own code, it is the service itself; with a call to
another service that used not to be the last, the blame is shared with that one; and a call that was
made and never arrived is its callee's, but for half of it where the caller waited (`clients`).

The shape of these queries, the phases and the two views are explained in `telemetry_sql`.
"""

from __future__ import annotations

from typing import Final

from affidavit.adapters.duckdb_runner import Query
from affidavit.adapters.log_sql import LOG_COLUMNS, masked
from affidavit.adapters.telemetry_sql import (
    NEAR,
    SERVICES_MAX,
    TEXT_CHARS_MAX,
    Bounds,
    bands,
    views,
)
from affidavit.adapters.trace_sql import SPANS_MIN, client_operations, phased_spans

USUAL_SHARE: Final = 0.5
"""A step is usual when half of the operation's spans take it."""

USUAL_TIMES: Final = 1.5
"""And repeated when those that take it take it more than once."""

LOST_Z: Final = 3.0
"""Standard errors before a usual step counts as lost."""

FULL_Z: Final = 6.0
"""Standard errors from which a loss counts fully."""

HINT_Z: Final = 2.0
"""Standard errors of any lost step without which an unusual ending is only another mix of work."""

ENDED_Z: Final = 2.5
RARE_SHARE: Final = 0.1
RARE_RATIO: Final = 4
"""An ending is new when it was rare, and is now at least four times as frequent."""

ERROR_NAME: Final = "error|exception|fail"
"""Operations that handle errors: that they vanish is good news."""

STEPS: Final = """
{phased}, operations AS (
    SELECT service, operation, {parents} FROM spans GROUP BY service, operation
), calls AS (
    SELECT p.service, p.operation, 'call' AS kind, k.service || ' ' || k.operation AS step,
           k.service AS taker, p.phase, p.trace_id, p.span_id, count(*) AS times
    FROM spans AS k
    JOIN spans AS p ON p.trace_id = k.trace_id AND p.span_id = k.parent_span_id
    GROUP BY ALL
){lines}, steps AS (
    SELECT service, operation, kind, step, taker, {taken}
    FROM (SELECT * FROM calls{union}) GROUP BY service, operation, kind, step, taker
), joined AS (
    SELECT * FROM steps JOIN operations USING (service, operation)
    WHERE NOT regexp_matches(lower(operation), '{error}')
      AND NOT (kind = 'call' AND regexp_matches(lower(step), '{error}'))
), compared AS (
    {views}
), shares AS (
    SELECT *, coalesce(least(k1, n1) / n1, 0) AS f1, coalesce(least(k0, n0) / n0, 0) AS f0,
           (coalesce(k1, 0) + coalesce(k0, 0) + 1) / (n1 + n0 + 2) AS p
    FROM compared WHERE n1 >= {spans} AND n0 >= {spans}
), tested AS (
    SELECT *, (f0 - f1) / sqrt(p * (1 - p) * (1 / n1 + 1 / n0)) AS z,
           -- what another step of the same kind gained is another mix of work, no loss
           greatest(0, max(f1 - f0) OVER (PARTITION BY view, service, operation, kind)) AS gained,
           CASE WHEN k1 >= {spans} AND k0 >= {spans} AND m0 >= {times}
                THEN (m0 - m1) / sqrt((v0 + 0.25) / k0 + (v1 + 0.25) / k1) END AS times_z
    FROM shares
), lost AS (
    SELECT *, greatest(
        CASE WHEN f0 >= {usual} AND z > {lost_z} AND f0 - f1 - gained > 0.05 * f0
             THEN (f0 - f1 - gained) * least(1, z / {full_z}) ELSE 0 END,
        CASE WHEN times_z > {lost_z} AND m0 - m1 > 0.25 * m0
             THEN (m0 - m1) / m0 * least(1, times_z / {full_z}) ELSE 0 END) AS loss
    FROM tested
), losses AS (
    SELECT view, service, operation, max(loss) AS loss, bool_or(z > {hint_z}) AS hinted,
           max(struct_pack(loss, kind, step, taker, caller := service,
               n0, k0, m0, n1, k1, m1)) AS witness
    FROM lost GROUP BY view, service, operation
)"""

LINES: Final = """, lines AS (
    SELECT {columns} FROM {table} WHERE {near}  -- of their span's phase, whatever their clock says
), written AS (
    SELECT s.service, s.operation, 'line' AS kind, l.template AS step,
           s.service AS taker, s.phase, s.trace_id,
           s.span_id, count(*) AS times
    FROM (SELECT service, trace_id, span_id, {template} AS template
          FROM lines WHERE span_id <> '' AND NOT is_error AND NOT is_warning) AS l
    JOIN spans AS s USING (service, trace_id, span_id)
    GROUP BY ALL
)"""

ENDINGS: Final = """, {clients}, beneath AS (
    SELECT trace_id, parent_span_id AS span_id, min(service) AS beneath
    FROM spans WHERE parent_span_id <> '' GROUP BY ALL
), last_calls AS (
    SELECT k.trace_id, k.parent_span_id AS span_id,
           arg_max(struct_pack(service := k.service, operation := k.operation,
                   target := coalesce(b.beneath, c.callee, k.service)),
                   (k.at_us, k.span_id)) AS last
    FROM spans AS k LEFT JOIN beneath AS b USING (trace_id, span_id)
    LEFT JOIN clients AS c USING (service, operation)
    WHERE k.parent_span_id <> '' GROUP BY ALL
), ended AS (
    SELECT service, operation, phase, coalesce(l.last.operation, '') AS last_operation,
           CASE WHEN l.last IS NULL THEN coalesce(c.callee, service) WHEN l.last.service <> service
                THEN l.last.service ELSE l.last.target END AS target
    FROM spans LEFT JOIN last_calls AS l USING (trace_id, span_id)
    LEFT JOIN clients AS c USING (service, operation)
    -- a client span has its one call; it ends unusually only without any
    WHERE l.last IS NULL OR c.callee IS NULL
), endings AS (
    SELECT * FROM (
        SELECT service, operation, target, last_operation, {ends} FROM ended
        WHERE NOT regexp_matches(lower(operation || ' ' || last_operation), '{error}')
        GROUP BY service, operation, target, last_operation
    ) JOIN operations USING (service, operation)
), ends AS (
    SELECT view, service, operation, target,
           max(least(1, (e1 / n1 - e0 / n0)
               / sqrt((e1 + e0 + 1) / (n1 + n0 + 2) * (1 - (e1 + e0 + 1) / (n1 + n0 + 2))
                      * (1 / n1 + 1 / n0)) / {full_z})) AS weight
    FROM ({end_views})
    WHERE n1 >= {spans} AND n0 >= {spans} AND e0 <= {rare} * n0 AND e1 >= 0.01 * n1
      AND e1 / n1 >= {ratio} * e0 / n0
    GROUP BY view, service, operation, target
    HAVING weight >= {ended_z} / {full_z}
), split AS (
    SELECT view, service, operation,
           coalesce(max(weight) FILTER (WHERE target = service), 0) AS own,
           coalesce(sum(weight) FILTER (WHERE target <> service), 0) AS others,
           coalesce(max(weight) FILTER (WHERE target <> service), 0) AS other
    FROM ends GROUP BY view, service, operation
), blamed AS (
    SELECT view, service, operation, loss, witness, coalesce(own, 0) AS own,
           coalesce(others, 0) AS others, coalesce(other, 0) AS other
    FROM losses LEFT JOIN split USING (view, service, operation) WHERE loss > 0 OR hinted
), waiting AS (
    SELECT service, operation, avg(CAST(duration_us > long_us AS INTEGER)) AS waited
    FROM spans JOIN clients AS c USING (service, operation)
    LEFT JOIN beneath AS b USING (trace_id, span_id)
    WHERE b.span_id IS NULL AND phase IN (1, 3) GROUP BY ALL
), calling AS (
    SELECT b.*, coalesce(waited, 0) / 2 AS kept_share
    FROM blamed AS b LEFT JOIN waiting USING (service, operation)
    WHERE loss > 0 AND witness.taker <> service
), held AS (
    SELECT view, service, operation, witness, own, others, other, loss FROM blamed
    WHERE loss = 0 OR witness.taker = service
    -- a call that never arrived is its callee's loss; its caller's too as far as that waited
    UNION ALL SELECT view, witness.taker, operation, witness, greatest(own, others), 0, 0,
        loss * (1 - kept_share) FROM calling
    UNION ALL SELECT view, service, operation, witness, own, 0, 0, loss * kept_share
    FROM calling WHERE kept_share > 0
), kept AS (
    SELECT view, service,
           max(loss * CASE WHEN others = 0 THEN 1
                      ELSE (own + others / 2) / (own + others) END) AS lost,
           max(greatest(own, other / 2)) AS ended, arg_max(operation, witness) AS operation,
           max(witness) AS witness
    FROM held GROUP BY view, service
), passed AS (
    SELECT e.view, e.target AS service, e.service AS source,
           max(greatest(loss, weight) / 2 * weight / (own + others)) AS share
    FROM ends AS e JOIN blamed AS b USING (view, service, operation)
    WHERE e.target <> e.service GROUP BY e.view, e.target, e.service
), handed AS (
    SELECT p.view, p.service, sum(share) AS handed, count(*) AS callers
    FROM passed AS p LEFT JOIN kept AS k USING (view, service)
    GROUP BY p.view, p.service
    -- one caller alone may be at fault itself; two agree, or the callee shows it too
    HAVING count(*) > 1 OR max(coalesce(k.lost, 0) + coalesce(k.ended, 0)) > 0
)"""

INTERRUPTIONS: Final = """WITH {steps}{endings}, services AS (
    SELECT service, coalesce(sum(lost), 0) / 2 AS lost, coalesce(sum(ended), 0) / 2 AS ended,
           coalesce(sum(handed), 0) / 2 AS handed, coalesce(max(callers), 0) AS callers,
           arg_max(operation, witness) AS operation, max(witness) AS witness
    FROM kept FULL JOIN handed USING (view, service) GROUP BY service
)
SELECT service, lost, ended, handed, callers, operation, witness.kind AS kind,
       witness.caller AS caller, witness.taker AS taker,
       left(witness.step, {chars}) AS step, witness.n0 AS baseline_spans,
       witness.k0 AS baseline_taken, witness.m0 AS baseline_times, witness.n1 AS spans,
       witness.k1 AS taken, witness.m1 AS times
FROM services WHERE lost + ended + handed > 0
ORDER BY greatest(lost, ended, handed) DESC, service LIMIT {rows}"""


def interruptions(traces: str, logs: str | None, bounds: Bounds) -> Query:
    """Services whose work breaks off.

    lost: the share of spans that lost a usual step, or of its repetitions, less what other steps
    gained and less the half that another service's part in it takes. ended: how surely operations
    end where they used not to. handed: what callers whose work now ends with a call to this service
    pass on to it. Columns: service, lost, ended, handed, callers, and of the largest loss
    operation, kind (call or line), caller and taker (one and the same but for a call
    that never arrived), step, baseline_spans, baseline_taken, baseline_times, spans,
    taken, times.
    """
    parents, taken = {"n": "count(*)"}, {"k": "count(*)", "m": "avg(times)", "v": "var_pop(times)"}
    columns = f"""trace_id, span_id, parent_span_id, service_name AS service,
        left(name, {TEXT_CHARS_MAX}) AS operation, at_us, duration_us"""
    lines = ""
    if logs is not None:
        lines = LINES.format(columns=LOG_COLUMNS, table=logs, near=NEAR, template=masked("body"))
    steps = STEPS.format(
        phased=phased_spans(traces, columns),
        parents=bands(parents),
        lines=lines,
        union=" UNION ALL SELECT * FROM written" if lines else "",
        taken=bands(taken),
        views=views("joined", "service, operation, kind, step, taker", ("n", *taken)),
        error=ERROR_NAME,
        spans=SPANS_MIN,
        times=USUAL_TIMES,
        usual=USUAL_SHARE,
        lost_z=LOST_Z,
        full_z=FULL_Z,
        hint_z=HINT_Z,
    )
    endings = ENDINGS.format(
        clients=client_operations("operation"),
        ends=bands({"e": "count(*)"}),
        end_views=views("endings", "service, operation, target, last_operation", ("n", "e")),
        error=ERROR_NAME,
        spans=SPANS_MIN,
        rare=RARE_SHARE,
        ratio=RARE_RATIO,
        ended_z=ENDED_Z,
        full_z=FULL_Z,
    )
    sql = INTERRUPTIONS.format(
        steps=steps, endings=endings, chars=TEXT_CHARS_MAX, rows=SERVICES_MAX
    )
    return Query(sql, bounds.given(), rows_max=SERVICES_MAX)
