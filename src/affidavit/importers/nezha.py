"""Nezha (Yu et al., FSE 2023): fault injections in Online Boutique and Train Ticket.

Layout: `cases.json` (id, system, day, inject_epoch, service, fault) and a folder a day with
`metrics.parquet` (the whole day at one minute, a column a quantity), `HHMM_traces.parquet` and
`HHMM_logs.parquet` of each injection, and `faultfree_*` of one quiet minute.

What is mended here, because no tool could: absurd stamps, rows out of order, NaN, zero for "no
data". What is not: everything else stands as it was measured. The set says where a fault was
injected, not what was noticed, so that every case is paged at the entry service with an unknown
symptom.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from affidavit.contract.errors import InputRefused
from affidavit.importers.folder import (
    Alert,
    Incident,
    Symptom,
    Truth,
    Window,
    new_folder,
    read_text,
)
from affidavit.importers.rows import connect, create, quoted, save

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

METRICS_BEFORE: Final = timedelta(minutes=60)
METRICS_AFTER: Final = timedelta(minutes=10)
"""Long enough for a robust median; the next injection may follow five minutes later."""
WINDOW_LENGTH: Final = timedelta(minutes=5)
"""The set's faults last three to four minutes."""
STAMP_SLACK: Final = timedelta(minutes=15)
"""Spans and lines of a case lie within minutes of its injection; others have a broken stamp."""

ENTRY_SERVICE: Final = {"OnlineBoutique": "frontend", "TrainTicket": "ts-gateway-service"}
"""Where users enter each system, from the systems' own architecture pages."""


@dataclass(frozen=True, slots=True)
class Column:
    """One wide column of the set and the long row that it becomes."""

    source: str
    metric: str
    unit: str
    statistic: str
    zero_is_absent: bool = False


COLUMNS: Final = (
    Column("CpuUsage(m)", "container.cpu.usage", "m{cpu}", "mean"),
    Column("CpuUsageRate(%)", "container.cpu.utilization", "%", "mean"),
    Column("MemoryUsage(Mi)", "container.memory.usage", "MiBy", "gauge"),
    Column("MemoryUsageRate(%)", "container.memory.utilization", "%", "gauge"),
    Column("SyscallRead", "container.syscall.reads", "{call}", "sum"),
    Column("SyscallWrite", "container.syscall.writes", "{call}", "sum"),
    Column("NetworkReceiveBytes", "container.network.io.receive", "By", "rate"),
    Column("NetworkTransmitBytes", "container.network.io.transmit", "By", "rate"),
    Column("PodClientLatencyP90(s)", "rpc.client.duration", "s", "p90"),
    Column("PodServerLatencyP90(s)", "rpc.server.duration", "s", "p90"),
    Column("PodClientLatencyP95(s)", "rpc.client.duration", "s", "p95"),
    Column("PodServerLatencyP95(s)", "rpc.server.duration", "s", "p95"),
    Column("PodClientLatencyP99(s)", "rpc.client.duration", "s", "p99"),
    Column("PodServerLatencyP99(s)", "rpc.server.duration", "s", "p99"),
    Column("PodWorkload(Ops)", "rpc.server.requests", "{request}/s", "rate"),
    Column("PodSuccessRate(%)", "rpc.server.success_ratio", "%", "mean", zero_is_absent=True),
    # Node columns: the same value on every pod of a node, so that they say nothing about a pod.
    Column("NodeCpuUsageRate(%)", "system.cpu.utilization", "%", "mean"),
    Column("NodeMemoryUsageRate(%)", "system.memory.utilization", "%", "gauge"),
    Column("NodeNetworkReceiveBytes", "system.network.io.receive", "By", "rate"),
)

POD_SUFFIX: Final = r"-[0-9a-f]{6,10}-[a-z0-9]{5}$"
"""What Kubernetes appends to a Deployment's name to make a pod's."""

LINE_CLOCK: Final = r"^(\d\d):(\d\d):(\d\d)\.(\d\d\d) "
DAY_US: Final = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """One injection of `cases.json`."""

    id: str
    system: str
    day: str
    injected_at: datetime
    service: str
    fault: str

    @property
    def minute(self) -> str:
        """The prefix of the case's files."""
        return self.id.rsplit("-", 1)[1]

    @property
    def paged_at(self) -> datetime:
        """The injection minute: all that a page would have said."""
        return self.injected_at.replace(second=0, microsecond=0)


def import_nezha(src: Path, dst: Path) -> list[Path]:
    """Writes one folder a case of `src/cases.json` under `dst`; returns them in that order."""
    cases = read_cases(src)
    con = connect()
    try:
        return [import_case(con, src, dst, case, cases) for case in cases]
    finally:
        con.close()


def read_cases(src: Path) -> tuple[Case, ...]:
    """The cases of `cases.json`. Errors: InputRefused."""
    source = src / "cases.json"
    try:
        return tuple(
            Case(
                id=str(row["id"]),
                system=str(row["system"]),
                day=str(row["day"]),
                injected_at=datetime.fromtimestamp(int(row["inject_epoch"]), UTC),
                service=str(row["service"]),
                fault=str(row["fault"]),
            )
            for row in json.loads(read_text(source))
        )
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputRefused(f"{source} is not a list of cases: {error!r}") from error


def import_case(
    con: DuckDBPyConnection, src: Path, dst: Path, case: Case, cases: tuple[Case, ...]
) -> Path:
    """Writes one case."""
    quiet = quiet_day(src, case, cases)
    load_spans(con, src, case, quiet)
    load_lines(con, src, case, quiet)
    incident = make_incident(case, baseline_window(con))
    truth = Truth(True, case.service, case.fault, case.injected_at)
    with new_folder(dst, incident, truth) as folder:
        save(con, "SELECT * FROM spans ORDER BY timestamp, span_id", folder / "traces.parquet")
        save(con, "SELECT * FROM lines ORDER BY timestamp, instance", folder / "logs.parquet")
        metrics = src / case.day / "metrics.parquet"
        if metrics.is_file():
            create(con, "wide metrics", f"SELECT * FROM {quoted(metrics)}")
            save(con, metric_rows(con, case), folder / "metrics.parquet")
    return dst / case.id


def make_incident(case: Case, baseline: Window | None) -> Incident:
    """The page: when and at the entry, nothing else."""
    entry = ENTRY_SERVICE.get(case.system, "unknown")
    start = case.paged_at
    return Incident(
        id=case.id,
        title=f"{case.system}: degradation noticed",
        question=(
            f"Users of {case.system} are affected since about {start:%H:%M} UTC on "
            f"{start:%Y-%m-%d}. Which service is at fault, and how does it show?"
        ),
        window=Window(start, start + WINDOW_LENGTH),
        symptom=Symptom(entry),
        alert=Alert("UserExperienceDegraded", start, {"system": case.system}),
        baseline=baseline,
        description=(
            "Nezha (FSE 2023), MIT licence. Traces and logs cover the first minutes of the "
            "incident and, as the baseline, one quiet minute of another time; metrics are one "
            "value a minute. The noticed symptom is not part of the set."
        ),
    )


def quiet_day(src: Path, case: Case, cases: tuple[Case, ...]) -> Path | None:
    """The folder of the fault-free minute: the case's own day, else the nearest of its system."""
    days = {other.day for other in cases if other.system == case.system}
    own = datetime.fromisoformat(case.day)
    nearest = sorted(days, key=lambda day: (abs(datetime.fromisoformat(day) - own), day))
    for day in nearest:
        if (src / day / "faultfree_traces.parquet").is_file():
            return src / day
    return None


def sources(
    src: Path, case: Case, quiet: Path | None, signal: str
) -> tuple[tuple[Path, bool], ...]:
    """The files that hold a signal of a case, each with whether it is the quiet minute."""
    named = [(src / case.day / f"{case.minute}_{signal}.parquet", False)]
    if quiet is not None:
        named.append((quiet / f"faultfree_{signal}.parquet", True))
    return tuple((path, is_quiet) for path, is_quiet in named if path.is_file())


def load_spans(con: DuckDBPyConnection, src: Path, case: Case, quiet: Path | None) -> None:
    """Fills the table `spans`; the quiet minute's rows stand among them."""
    create(con, "spans", f"SELECT {NO_SPAN} WHERE false")
    create(con, "quiet stamps", "SELECT now() AS stamp WHERE false")
    for path, is_quiet in sources(src, case, quiet, "traces"):
        create(
            con,
            "new spans",
            f"""SELECT TraceID::VARCHAR AS trace_id, SpanID::VARCHAR AS span_id,
                   CASE WHEN ParentID IN ('root', '') THEN NULL ELSE ParentID END AS parent_span_id,
                   regexp_replace(PodName, '{POD_SUFFIX}', '') AS service_name,
                   OperationName AS name,
                   make_timestamp(StartTimeUnixNano // 1000)::TIMESTAMPTZ AS timestamp,
                   Duration::BIGINT AS duration_us, PodName AS instance
                FROM {quoted(path)}
                WHERE Duration >= 0 AND StartTimeUnixNano > 0""",
        )
        keep_near(con, "new spans", None if is_quiet else case.injected_at)
        con.execute('INSERT INTO spans SELECT * FROM "new spans"')
        if is_quiet:
            con.execute('INSERT INTO "quiet stamps" SELECT timestamp FROM "new spans"')


def load_lines(con: DuckDBPyConnection, src: Path, case: Case, quiet: Path | None) -> None:
    """Fills the table `lines`; a lost stamp is rebuilt from the line's own clock."""
    create(con, "lines", f"SELECT {NO_LINE} WHERE false")
    for path, is_quiet in sources(src, case, quiet, "logs"):
        create(con, "raw lines", raw_lines(path))
        create(con, "new lines", MENDED_LINES)
        keep_near(con, "new lines", None if is_quiet else case.injected_at)
        con.execute('INSERT INTO lines SELECT * FROM "new lines"')
        if is_quiet:
            con.execute('INSERT INTO "quiet stamps" SELECT timestamp FROM "new lines"')


NO_SPAN: Final = """'' AS trace_id, '' AS span_id, '' AS parent_span_id, '' AS service_name,
    '' AS name, now() AS timestamp, 0::BIGINT AS duration_us, '' AS instance"""
NO_LINE: Final = """now() AS timestamp, '' AS service_name, '' AS severity_text, '' AS body,
    '' AS trace_id, '' AS span_id, '' AS instance"""


def raw_lines(path: Path) -> str:
    """The lines as they are, with the time of day that the logger printed, where it did."""
    clock = " + ".join(
        f"TRY_CAST(regexp_extract(Log, '{LINE_CLOCK}', {part}) AS BIGINT) * {weight_us}"
        for part, weight_us in enumerate((3_600_000_000, 60_000_000, 1_000_000, 1_000), start=1)
    )
    return f"""SELECT TimeUnixNano // 1000 AS at_us, PodName AS instance,
        regexp_replace(PodName, '{POD_SUFFIX}', '') AS service_name,
        Log AS body, TraceID AS trace_id, SpanID AS span_id,
        nullif(regexp_extract(Log, '^\\S+\\s+(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\\s', 1), '')
            AS severity_text,
        {clock} AS clock_us
        FROM {quoted(path)}"""


MENDED_LINES: Final = f"""
WITH sound AS (
   SELECT median(at_us) AS middle_us,
          -- the logger's offset to UTC, in the same file, by the rows whose stamp is sound
          mode(round((clock_us - at_us % {DAY_US}) / 900e6)::BIGINT * 900000000) AS offset_us
   FROM "raw lines" WHERE at_us > 0 AND clock_us IS NOT NULL
), mended AS (
   SELECT raw.*, CASE WHEN at_us > 0 THEN at_us ELSE
      (middle_us // {DAY_US})::BIGINT * {DAY_US} + (clock_us - offset_us + {DAY_US}) % {DAY_US} END
      AS stamp_us
   FROM "raw lines" AS raw, sound
)
SELECT make_timestamp(stamp_us)::TIMESTAMPTZ AS timestamp, service_name, severity_text, body,
       trace_id, span_id, instance
FROM mended WHERE stamp_us IS NOT NULL"""


def keep_near(con: DuckDBPyConnection, table: str, at: datetime | None) -> None:
    """Drops rows whose stamp is out of reach of the injection, or of their own median."""
    middle = "(SELECT quantile_disc(timestamp, 0.5) FROM rows)" if at is None else "$at"
    given = {} if at is None else {"at": at}
    con.execute(
        f"""CREATE OR REPLACE TABLE "{table}" AS WITH rows AS (SELECT * FROM "{table}")
            SELECT * FROM rows
            WHERE abs(epoch_us(timestamp) - epoch_us({middle}::TIMESTAMPTZ))
                  <= {STAMP_SLACK // timedelta(microseconds=1)}""",
        given,
    )


def baseline_window(con: DuckDBPyConnection) -> Window | None:
    """The stretch that the quiet minute's rows cover."""
    row = con.execute(
        'SELECT min(epoch_us(stamp)), max(epoch_us(stamp)) FROM "quiet stamps"'
    ).fetchone()
    if row is None or row[0] is None:
        return None
    start, end = (datetime.fromtimestamp(us / 1e6, UTC) for us in row)
    return Window(start.replace(microsecond=0), end.replace(microsecond=0) + timedelta(seconds=1))


def metric_rows(con: DuckDBPyConnection, case: Case) -> str:
    """A query that turns the wide table into long rows near the injection."""
    present = {row[0] for row in con.execute('DESCRIBE "wide metrics"').fetchall()}
    start = int((case.injected_at - METRICS_BEFORE).timestamp())
    end = int((case.injected_at + METRICS_AFTER).timestamp())
    parts = [
        f"""SELECT make_timestamp(TimeStamp::BIGINT * 1000000)::TIMESTAMPTZ AS timestamp,
               regexp_replace(PodName, '{POD_SUFFIX}', '') AS service_name,
               '{column.metric}' AS metric_name, TRY_CAST("{column.source}" AS DOUBLE) AS value,
               '{column.unit}' AS unit, '{column.statistic}' AS statistic, PodName AS instance
            FROM "wide metrics" WHERE TimeStamp BETWEEN {start} AND {end}
               AND TRY_CAST("{column.source}" AS DOUBLE) IS NOT NULL
               AND NOT isnan(TRY_CAST("{column.source}" AS DOUBLE))
               {'AND "' + column.source + '" <> 0' if column.zero_is_absent else ""}"""
        for column in COLUMNS
        if column.source in present
    ]
    if not parts:
        raise InputRefused(f"{case.day}/metrics.parquet has none of the known columns")
    return " UNION ALL ".join(parts) + " ORDER BY service_name, metric_name, statistic, timestamp"
