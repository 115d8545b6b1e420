"""Each kind of live back end, and how one is made of its table. A new kind is a new row."""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from affidavit.adapters.alertmanager import AlertmanagerLookup
from affidavit.adapters.backend_tables import FilesTable, PostgresTable, PrometheusTable
from affidavit.adapters.cluster_tables import (
    AlertmanagerTable,
    HttpTable,
    JournaldTable,
    KubernetesTable,
)
from affidavit.adapters.experimental_kinds import (
    wire_elasticsearch,
    wire_jaeger,
    wire_loki,
    wire_tempo,
)
from affidavit.adapters.http_checks import HttpChecks, prepare
from affidavit.adapters.journald import JournaldSource
from affidavit.adapters.kubernetes import KubernetesSource
from affidavit.adapters.kubernetes_access import open_access
from affidavit.adapters.kubernetes_api import KubernetesApi
from affidavit.adapters.live_parts import Ground, Wired
from affidavit.adapters.live_rows import rows_feed
from affidavit.adapters.live_telemetry import files_feed, metrics_feed
from affidavit.adapters.outgoing_http import authorization, read_secret
from affidavit.adapters.postgres import PostgresLookup
from affidavit.adapters.prometheus import PrometheusSource
from affidavit.contract.errors import ToolFailed
from affidavit.ports.lookups import Proof


@dataclass(frozen=True, slots=True)
class Kind:
    """How one is made. `wire` raises InputRefused where a secret is not there; `signal` is the
    source type under which it is named then, "" where the table's own says it."""

    signal: str
    wire: Callable[[str, Any, Ground], Wired]
    is_experimental: bool = False


def wire_prometheus(name: str, table: PrometheusTable, ground: Ground) -> Wired:
    """Metrics."""
    headers = authorization(table.credential, ground.environment)
    source = PrometheusSource(name, table, ground.http, headers)
    return Wired(source.name, "metrics", source.probe, (metrics_feed(source),))


def wire_files(name: str, table: FilesTable, _: Ground) -> Wired:
    """Logs, spans or changes."""
    feed = files_feed(name, table)

    async def look() -> Proof:
        if not any(glob.glob(pattern) for pattern in table.paths):  # noqa: PTH207 - absolute
            raise ToolFailed(
                f"no file matches {', '.join(table.paths)}",
                code="SOURCE_UNAVAILABLE",
                hint="check the paths and that this user may read them",
            )
        return Proof("can be read; opened for reading alone")

    return Wired(feed.name, table.signal, look, (feed,))


def wire_postgres(name: str, table: PostgresTable, ground: Ground) -> Wired:
    """Sessions, locks, counters, settings."""
    asks = bool(table.password_env or table.password_file)
    told = (table.password_env, table.password_file, ground.environment)
    password = read_secret(*told) if asks else ""
    lookup = PostgresLookup(name, table, password, ground.outgoing, ground.resolve)
    return Wired(lookup.source, "database", lookup.probe, lookup=lookup)


def wire_alertmanager(name: str, table: AlertmanagerTable, ground: Ground) -> Wired:
    """Alerts and silences."""
    headers = authorization(table.credential, ground.environment)
    lookup = AlertmanagerLookup(name, table, ground.http, headers)
    return Wired(lookup.source, "alerts", lookup.probe, lookup=lookup)


def wire_kubernetes(name: str, table: KubernetesTable, ground: Ground) -> Wired:
    """Pods, events, rollouts, nodes."""
    access = open_access(table, ground.environment)
    api = KubernetesApi(f"kubernetes:{name}", access, ground.http, table.timeout_s)
    source = KubernetesSource(name, table, api)
    feeds = (
        rows_feed(source.source, "events", source.changes),
        rows_feed(source.source, "logs", source.lines),
    )
    return Wired(source.source, "kubernetes", source.probe, feeds, source)


def wire_http(name: str, table: HttpTable, ground: Ground) -> Wired:
    """Checks over HTTP."""
    checks = {one: prepare(check, ground.environment) for one, check in table.checks.items()}
    lookup = HttpChecks(name, table, checks, ground.http)
    return Wired(lookup.source, "http", lookup.probe, lookup=lookup)


def wire_journald(name: str, table: JournaldTable, _: Ground) -> Wired:
    """Log lines of a machine."""
    source = JournaldSource(name, table)
    feeds = (rows_feed(source.name, "logs", source.capture),)
    return Wired(source.name, "logs", source.probe, feeds)


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "prometheus": Kind("metrics", wire_prometheus),
        "files": Kind("", wire_files),
        "postgres": Kind("database", wire_postgres),
        "alertmanager": Kind("alerts", wire_alertmanager),
        "kubernetes": Kind("kubernetes", wire_kubernetes),
        "http": Kind("http", wire_http),
        "journald": Kind("logs", wire_journald),
        "loki": Kind("logs", wire_loki, is_experimental=True),
        "elasticsearch": Kind("logs", wire_elasticsearch, is_experimental=True),
        "tempo": Kind("traces", wire_tempo, is_experimental=True),
        "jaeger": Kind("traces", wire_jaeger, is_experimental=True),
    }
)
"""By the name of their table in `[backends]`, in the order in which they are asked."""
