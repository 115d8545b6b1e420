"""SQL that compares an incident with its own quiet time, one row a service.

Every query here has the same shape. Rows of a staged table (docs/incident-folder.md; `at_us` is the
time, an absent text is '') are marked with a phase, the phases are compared, and what comes out is
one row for each service that deviates: its strength by a stated rule, and the one witness that a
sentence can be made of. A strength is a plain number; what it means for a diagnosis is not decided
here.

Two views of the incident are measured and averaged: all of its rows, and the later half of them.
The alert may come early, and then the first half is still quiet; the fault may end, and then the
second half is. One view alone loses such cases, the mean of both does not.

The baseline of a key is the declared quiet window where that holds at least `BASELINE_MIN` rows of
the key, else these and what was recorded before the incident. Where an alert comes late, the rows
before it are already faulty; the declared window is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from affidavit.adapters.duckdb_runner import Query
from affidavit.ports.telemetry import LEVELS, RESOURCES, SHARED_PREFIX, Aspect

LOOKBACK_US: Final = 30 * 60 * 1_000_000
"""Half an hour: thirty samples at the usual minute, and rarely more than one deploy."""

BASELINE_MIN: Final = 5
"""Fewer rows say nothing about what is usual."""

SERVICES_MAX: Final = 50
"""Rows of an answer. Whoever deviates less than fifty others is no suspect."""

TEXT_CHARS_MAX: Final = 200
"""Of an operation's or a template's name in an answer."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The incident and, where one is declared, the quiet window, in microseconds since the epoch.

    An absent quiet window holds no moment: it ends before it starts.
    """

    start_us: int
    end_us: int
    base_start_us: int = 1
    base_end_us: int = 0

    def given(self) -> dict[str, int]:
        """The parameters that every query takes."""
        return {
            "start_us": self.start_us,
            "end_us": self.end_us,
            "base_start_us": self.base_start_us,
            "base_end_us": self.base_end_us,
        }


QUIET, EARLY, BEFORE, LATE = range(4)
"""Phases: declared quiet, first half of the incident, the half hour before it, second half."""

PHASED: Final = """bounds AS (
    SELECT coalesce(max(at_us), $end_us) AS last_us FROM {table}
    WHERE at_us BETWEEN $start_us AND $end_us
), {name} AS (
    SELECT * FROM (
        SELECT {columns},
            CASE WHEN {at} BETWEEN $base_start_us AND $base_end_us THEN 0
                 WHEN {at} BETWEEN $start_us AND $end_us
                   THEN CASE WHEN {at} >= ($start_us + last_us) // 2 THEN 3 ELSE 1 END
                 WHEN {at} BETWEEN $start_us - {lookback} AND $start_us - 1 THEN 2 END AS phase
        FROM {table}, bounds
    ) WHERE phase IS NOT NULL
)"""


def phased(table: str, name: str, columns: str, at: str = "at_us") -> str:
    """CTEs that mark the rows of a table expression with their phase; others are left out.

    `at` is the column whose moment decides.
    """
    return PHASED.format(table=table, name=name, columns=columns, lookback=LOOKBACK_US, at=at)


SLACK_US: Final = 60_000_000
"""A minute: clocks of hosts that differ by more are broken, and so is whoever compares them."""

NEAR: Final = f"""(at_us BETWEEN $start_us - {LOOKBACK_US + SLACK_US} AND $end_us + {SLACK_US}
    OR at_us BETWEEN $base_start_us - {SLACK_US} AND $base_end_us + {SLACK_US})"""
"""Rows that may belong to a phase although their host's clock says otherwise."""


def bands(figures: Mapping[str, str], phase: str = "phase") -> str:
    """Each aggregate over the whole incident, its later half, the quiet window, and all before."""
    filters = {
        "whole": f"{phase} IN ({EARLY}, {LATE})",
        "late": f"{phase} = {LATE}",
        "quiet": f"{phase} = {QUIET}",
        "pooled": f"{phase} IN ({QUIET}, {BEFORE})",
    }
    return ",\n        ".join(
        f"{expression} FILTER (WHERE {test}) AS {band}_{figure}"
        for figure, expression in figures.items()
        for band, test in filters.items()
    )


def views(table: str, keys: str, figures: tuple[str, ...], base: str = "quiet_n") -> str:
    """A query with a row a key and view: `view`, the incident's figures `…1` and the baseline's
    `…0`, of the quiet window where it has enough, else of all that came before."""
    parts = []
    for view in ("whole", "late"):
        pairs = ", ".join(
            f"{view}_{f} AS {f}1, CASE WHEN {base} >= {BASELINE_MIN} THEN quiet_{f}"
            f" ELSE pooled_{f} END AS {f}0"
            for f in figures
        )
        parts.append(f"SELECT '{view}' AS view, {keys}, {pairs} FROM {table}")  # noqa: S608 -- ours
    return "\n    UNION ALL ".join(parts)


def aspect_case(aspects: tuple[tuple[Aspect, str], ...]) -> str:
    """What a metric measures if it is one of these aspects, else null; see `aspect_of`."""
    cases = [f"WHEN starts_with(lower(metric_name), '{SHARED_PREFIX}') THEN NULL"]
    for aspect, words in (*LEVELS, *RESOURCES):
        told = f"'{aspect}'" if (aspect, words) in aspects else "NULL"
        cases.append(f"WHEN regexp_matches(lower(metric_name), '{words}') THEN {told}")
    return f"CASE {' '.join(cases)} END"


# --- metrics -------------------------------------------------------------------------------------

RATIO_NAME: Final = "util|percent|ratio|usage_rate|pct"
"""A series of a share has a floor that means something. Raw usage speaks where there is none."""

CPU_FLOOR_POINTS: Final = 2.0
MEMORY_FLOOR_POINTS: Final = 1.0
"""The smallest scale, in percentage points: an idle service's own jitter."""

SCALE_SHARE: Final = 0.15
"""And of the median: a busy service's jitter grows with its load."""

ABNORMAL_SCALES: Final = 3
"""From here on a sample is abnormal: the usual three sigma of a robust scale."""

RESOURCE_SHIFTS: Final = """
WITH {phased}, series AS (
    SELECT service, metric, statistic, unit, resource, bool_or(is_share) AS is_share,
        median(value) FILTER (WHERE phase IN (0, 2)) AS before,
        1.4826 * mad(value) FILTER (WHERE phase IN (0, 2)) AS spread,
        count(*) FILTER (WHERE phase IN (0, 2)) AS baseline_samples,
        -- the second highest: one sample alone is a spike
        list_extract(max(value, 2) FILTER (WHERE phase IN (1, 3)), -1) AS after,
        count(*) FILTER (WHERE phase IN (1, 3)) AS samples,
        CASE WHEN lower(unit) IN ('%', 'percent') THEN 1
             WHEN unit = '1' OR max(value) <= 1.5 THEN 0.01 ELSE 1 END AS point
    FROM samples WHERE resource IS NOT NULL AND isfinite(value)
    GROUP BY service, metric, statistic, unit, resource
), scaled AS (
    SELECT *, greatest(spread, {share} * abs(before), CASE WHEN is_share
        THEN point * CASE resource WHEN 'cpu' THEN {cpu} ELSE {memory} END ELSE 1e-6 END) AS scale
    FROM series WHERE baseline_samples >= 2 AND samples > 0
), best AS (
    SELECT service, resource, metric, statistic, unit, before, after, scale,
        greatest(0, (after - before) / scale) AS strength, samples, baseline_samples
    FROM scaled
    QUALIFY row_number() OVER (PARTITION BY service, resource
        ORDER BY is_share DESC, (after - before) / scale DESC, metric, statistic) = 1
), onsets AS (
    SELECT service, resource, min(at_us) AS abnormal_us
    FROM samples JOIN best USING (service, resource, metric, statistic, unit)
    WHERE phase IN (1, 3) AND value > before + {abnormal} * scale
    GROUP BY service, resource
), normals AS (
    SELECT s.service, s.resource, max(s.at_us) AS normal_us
    FROM samples AS s JOIN best AS b USING (service, resource, metric, statistic, unit)
    JOIN onsets AS o USING (service, resource)
    WHERE s.phase <> 0 AND s.at_us < o.abnormal_us
    GROUP BY s.service, s.resource
)
SELECT best.*, normal_us, abnormal_us
FROM best LEFT JOIN onsets USING (service, resource) LEFT JOIN normals USING (service, resource)
WHERE strength > 0 ORDER BY strength DESC, service, resource LIMIT {rows}"""


def resource_shifts(metrics: str, bounds: Bounds) -> Query:
    """How far cpu and memory of each service rose over their own median.

    strength = (second highest of the incident - median before) / max(1.4826 MAD, 15 % of the
    median, 2 points of cpu or 1 of memory); a share (utilization) goes before raw usage.
    Columns: service, resource (cpu or memory), metric, statistic, unit, before, after, scale,
    strength, samples, baseline_samples, and the onset as an interval: normal_us, the sample
    before, and abnormal_us, the first three scales above (both null where none is). Series
    named system.* belong to a node and are shared by what runs on it: they convict nobody.
    """
    columns = f"""service_name AS service, metric_name AS metric, statistic, unit, value, at_us,
        {aspect_case(RESOURCES)} AS resource,
        lower(unit) IN ('%', 'percent', '1') OR regexp_matches(lower(metric_name), '{RATIO_NAME}')
            AS is_share"""
    sql = RESOURCE_SHIFTS.format(
        phased=phased(metrics, "samples", columns),
        share=SCALE_SHARE,
        cpu=CPU_FLOOR_POINTS,
        memory=MEMORY_FLOOR_POINTS,
        abnormal=ABNORMAL_SCALES,
        rows=2 * SERVICES_MAX,
    )
    return Query(sql, bounds.given(), rows_max=2 * SERVICES_MAX)


LATENCY_FLOOR_S: Final = 0.005
"""Below five milliseconds a ratio of durations is noise."""

LEVEL_SHIFTS: Final = """
WITH {phased}, judged AS (
    SELECT *, CASE lower(unit) WHEN 'ms' THEN 1e-3 WHEN 'us' THEN 1e-6 WHEN 'ns' THEN 1e-9
        ELSE CASE WHEN ends_with(metric, '_ms') THEN 1e-3 ELSE 1 END END AS seconds
    FROM samples WHERE aspect IS NOT NULL AND isfinite(value)
), series AS (
    SELECT service, metric, statistic, unit, aspect, any_value(seconds) AS seconds,
        greatest(quantile_cont(value, 0.95) FILTER (WHERE phase = 0),
                 quantile_cont(value, 0.95) FILTER (WHERE phase = 2)) AS high,
        least(quantile_cont(value, 0.05) FILTER (WHERE phase = 0),
              quantile_cont(value, 0.05) FILTER (WHERE phase = 2)) AS low,
        list_extract(max(value, 2) FILTER (WHERE phase IN (1, 3)), -1) AS top,
        list_extract(min(value, 2) FILTER (WHERE phase IN (1, 3)), -1) AS bottom,
        count(*) FILTER (WHERE phase IN (1, 3)) AS samples,
        count(*) FILTER (WHERE phase IN (0, 2)) AS baseline_samples,
        CASE WHEN lower(unit) IN ('%', 'percent') THEN 1
             WHEN unit = '1' OR max(value) <= 1.5 THEN 100 ELSE 1 END AS points
    FROM judged GROUP BY service, metric, statistic, unit, aspect
), shifted AS (
    SELECT service, aspect, metric, statistic, unit, samples, baseline_samples,
        CASE aspect WHEN 'availability' THEN low ELSE high END AS before,
        CASE aspect WHEN 'availability' THEN bottom ELSE top END AS after,
        CASE aspect
            WHEN 'availability' THEN points * (low - bottom)
            WHEN 'errors' THEN (top - high) / greatest(high - low, 0.1 * abs(high), 0.01)
            ELSE ln((top * seconds + {floor}) / (high * seconds + {floor})) END AS strength
    FROM series WHERE samples >= 2 AND baseline_samples >= 1
)
SELECT * FROM shifted WHERE strength > 0
QUALIFY row_number() OVER (PARTITION BY service, aspect
    ORDER BY strength DESC, metric, statistic) = 1
ORDER BY strength DESC, service, aspect LIMIT {rows}"""


def level_shifts(metrics: str, bounds: Bounds) -> Query:
    """How far latency and errors rose and availability fell beyond what was usual before.

    Usual is the 95th percentile (5th for availability) of the quiet window or of the half hour
    before, whichever is worse: a drift between the two is no incident. Of the incident the second
    most extreme sample counts. strength: latency the logarithm of the ratio, availability the
    percentage points lost, errors in usual ranges. Columns: service, aspect (latency,
    client_latency, availability, errors), metric, statistic, unit, samples, baseline_samples,
    before, after, strength.
    """
    columns = f"""service_name AS service, metric_name AS metric, statistic, unit, value,
        {aspect_case(LEVELS)} AS aspect"""
    sql = LEVEL_SHIFTS.format(
        phased=phased(metrics, "samples", columns), floor=LATENCY_FLOOR_S, rows=4 * SERVICES_MAX
    )
    return Query(sql, bounds.given(), rows_max=4 * SERVICES_MAX)
