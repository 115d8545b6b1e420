"""What simple rules reach on the same folders: chance, N-sigma, and BARO's scorer.

All three see the tables as the tools do, staged by the same adapter, asked in the same process.
None of them looks at traces, logs or the topology, and each always names somebody.

    random    every order of the services is equally likely; the figures are its expectation
    N-sigma   per series max |x - mean| / standard deviation; a service counts its largest
    BARO      per series max |x - median| / interquartile range; a service counts its largest:
              the scorer of BARO (Pham, Ha, Zhang: "BARO: Robust Root Cause Analysis for
              Microservices via Multivariate Bayesian Online Change Point Detection", FSE 2024)

The reference is the declared baseline and whatever came before the window; a spread of zero counts
as one, as in BARO's published code. Deviations are taken on both sides, so that a lost availability
counts as well as a risen latency. BARO's change-point detection is deliberately absent: every case
here comes with its window.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from affidavit.adapters.duckdb_runner import Query, Row
from affidavit.adapters.incident_folder import IncidentFolder
from affidavit.adapters.incident_tables import microseconds, staged_path
from affidavit.evaluation.incidents import Truth
from affidavit.evaluation.rankings import RANKS_MAX, Ranked
from affidavit.ports.telemetry import SignalName

SERVICES_MAX: Final = 1_000
"""More services than any set has; what is beyond would only lower chance."""

SAMPLES_MIN: Final = 2
"""Fewer have no spread."""

NAMED: Final[tuple[SignalName, ...]] = ("metrics", "logs", "traces")
"""Tables whose rows belong to a service."""

DEVIATIONS: Final = """
WITH rows AS (
    SELECT service_name AS service, metric_name AS metric, statistic, instance, value,
           at_us BETWEEN $start_us AND $end_us AS in_window,
           at_us < $start_us OR at_us BETWEEN $base_start_us AND $base_end_us AS is_ref
    FROM {table} WHERE isfinite(value)
), usual AS (
    SELECT service, metric, statistic, instance,
           avg(value) FILTER (is_ref) AS mean, stddev_pop(value) FILTER (is_ref) AS deviation,
           median(value) FILTER (is_ref) AS middle,
           quantile_cont(value, 0.75) FILTER (is_ref)
             - quantile_cont(value, 0.25) FILTER (is_ref) AS range
    FROM rows GROUP BY ALL HAVING count(*) FILTER (is_ref) >= {samples_min}
)
SELECT service,
       max(abs(value - mean) / CASE WHEN deviation > 0 THEN deviation ELSE 1 END) AS sigma,
       max(abs(value - middle) / CASE WHEN range > 0 THEN range ELSE 1 END) AS robust
FROM rows JOIN usual USING (service, metric, statistic, instance)
WHERE in_window GROUP BY service ORDER BY service LIMIT {rows_max}"""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the simple rules say of one incident."""

    services: tuple[str, ...]
    n_sigma: tuple[Ranked, ...]
    baro: tuple[Ranked, ...]


async def apply_rules(incident: IncidentFolder) -> Rules:
    """Every rule on one incident. Raises ToolFailed where a table cannot be asked."""
    rows = await _deviations(incident)
    return Rules(
        services=await _services(incident),
        n_sigma=_ranked(rows, "sigma"),
        baro=_ranked(rows, "robust"),
    )


async def _deviations(incident: IncidentFolder) -> tuple[Row, ...]:
    if "metrics" not in incident.signals:
        return ()
    told = incident.incident
    base = told.baseline
    sql = DEVIATIONS.format(
        table=_table(incident, "metrics"), samples_min=SAMPLES_MIN, rows_max=SERVICES_MAX
    )
    given = {
        "start_us": microseconds(told.window.start),
        "end_us": microseconds(told.window.end),
        "base_start_us": microseconds(base.start) if base else 1,
        "base_end_us": microseconds(base.end) if base else 0,
    }
    return await incident.runner.query(Query(sql, given, rows_max=SERVICES_MAX))


async def _services(incident: IncidentFolder) -> tuple[str, ...]:
    """Everything that has telemetry or stands in the topology: what could be named at all."""
    names = {node.name for node in incident.topology.nodes} if incident.topology else set()
    for signal in NAMED:
        if signal in incident.signals:
            sql = f"SELECT DISTINCT service_name AS service FROM {_table(incident, signal)}"  # noqa: S608 - our own path
            rows = await incident.runner.query(Query(sql, rows_max=SERVICES_MAX))
            names |= {str(row["service"]) for row in rows if row["service"]}
    return tuple(sorted(names))


def _table(incident: IncidentFolder, signal: SignalName) -> str:
    return f"read_parquet('{staged_path(incident.room, signal)}')"


def _ranked(rows: tuple[Row, ...], column: str) -> tuple[Ranked, ...]:
    scored = [Ranked(str(row["service"]), _number(row, column)) for row in rows if row["service"]]
    return tuple(sorted(scored, key=lambda item: (-item.score, item.entity)))


def _number(row: Mapping[str, object], column: str) -> float:
    value = row[column]
    return 0.0 if value is None else float(str(value))


def chance_hits(services: tuple[str, ...], truth: Truth) -> tuple[float, ...]:
    """For k = 1 to 5: how likely a right name is among the first k of a random order."""
    right = sum(truth.holds(name) for name in services)
    missed, hits = 1.0, []
    for place in range(RANKS_MAX):
        left = len(services) - place
        missed *= (left - right) / left if left > 0 else 1.0
        hits.append(1.0 - missed)
    return tuple(hits)


def ranked_hits(ranked: tuple[Ranked, ...], truth: Truth) -> tuple[float, ...]:
    """For k = 1 to 5: whether a right name is among the first k."""
    return tuple(
        float(any(truth.holds(item.entity) for item in ranked[:k])) for k in range(1, RANKS_MAX + 1)
    )
