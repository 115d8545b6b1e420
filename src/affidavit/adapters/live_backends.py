"""Opens what is configured for a run: who answers feeds its telemetry, who does not is named.

Every back end is probed first, all at once and for a short time, so that one that hangs delays
nothing (R33) and shows as unavailable in coverage instead of as silence (R15).
"""

from __future__ import annotations

import glob
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.incident_topology import parse_topology
from affidavit.adapters.live_telemetry import Feed, LiveTelemetry, files_feed, metrics_feed
from affidavit.adapters.outgoing_http import OutgoingHttp, authorization, read_secret
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.adapters.postgres import PostgresLookup
from affidavit.adapters.prometheus import PrometheusSource
from affidavit.contract.errors import AffidavitError, InputRefused, ToolFailed
from affidavit.ports.lookups import Lookup
from affidavit.ports.telemetry import Incident, Topology

PROBE_S: Final = 3.0
"""For all probes, side by side; a back end that needs longer for nothing is no use at 3 a.m."""

Probe = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class LiveConfig:
    """What is configured, and the variables that hold the secrets."""

    backends: Backends
    outgoing: OutgoingTable
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe found: `ok`, or a code and one sentence on how to mend it."""

    name: str
    signal: str
    ok: bool
    code: str = ""
    message: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class _Wired:
    """One back end with its probe; a feed where it gives rows of telemetry."""

    name: str
    signal: str
    probe: Probe
    feed: Feed | None = None
    lookup: Lookup | None = None


@dataclass(frozen=True, slots=True)
class LiveBackends:
    """What answered, as telemetry, and what did not."""

    telemetry: LiveTelemetry
    findings: tuple[Finding, ...]
    http: OutgoingHttp
    lookups: tuple[Lookup, ...] = ()

    @property
    def unavailable(self) -> tuple[Finding, ...]:
        """Those that did not answer."""
        return tuple(finding for finding in self.findings if not finding.ok)

    async def close(self) -> None:
        """No process, no connection and no file is left."""
        self.telemetry.close()
        await self.http.close()


async def open_live(config: LiveConfig, incident: Incident, *, probe: bool = True) -> LiveBackends:
    """The back ends of the incident's tenant. Without `probe`, all are believed to be there.

    Raises InputRefused (NO_BACKENDS) where none is configured for that tenant.
    """
    http = OutgoingHttp(config.outgoing)
    wired, broken = _wire(config, incident.tenant, http)
    if not wired and not broken:
        raise no_backends()
    findings = [*broken, *(await _probe_all(wired) if probe else map(_believed, wired))]
    there = {finding.name for finding in findings if finding.ok}
    feeds = [one.feed for one in wired if one.feed is not None and one.name in there]
    telemetry = LiveTelemetry(
        incident, feeds, config.backends.lookback_s, _topology(config.backends)
    )
    lookups = tuple(one.lookup for one in wired if one.lookup is not None and one.name in there)
    return LiveBackends(telemetry, tuple(findings), http, lookups)


async def probe_backends(config: LiveConfig, tenant: str | None = None) -> tuple[Finding, ...]:
    """What each configured back end says to its probe; for `doctor` and `tools check`."""
    http = OutgoingHttp(config.outgoing)
    try:
        wired, broken = _wire(config, tenant, http)
        return (*broken, *await _probe_all(wired))
    finally:
        await http.close()


def no_backends() -> InputRefused:
    """There is nothing to ask."""
    return InputRefused(
        "no live back end is configured",
        code="NO_BACKENDS",
        hint="add one to affidavit.toml, for example [backends.prometheus.main]; docs/backends.md",
    )


def _wire(
    config: LiveConfig, tenant: str | None, http: OutgoingHttp
) -> tuple[list[_Wired], list[Finding]]:
    """Each back end of the tenant; those whose secret is missing are findings at once."""
    wired: list[_Wired] = []
    broken: list[Finding] = []
    for name, table in config.backends.prometheus.items():
        if not _is_for(tenant, table.tenants):
            continue
        try:
            headers = authorization(table.credential, config.environment)
        except InputRefused as refused:
            broken.append(_finding(f"prometheus:{name}", "metrics", refused))
            continue
        source = PrometheusSource(name, table, http, headers)
        wired.append(_Wired(source.name, "metrics", source.probe, metrics_feed(source)))
    for name, files in config.backends.files.items():
        if _is_for(tenant, files.tenants):
            feed = files_feed(name, files)
            wired.append(_Wired(feed.name, files.signal, _looks_for(files.paths), feed))
    for name, server in config.backends.postgres.items():
        if not _is_for(tenant, server.tenants):
            continue
        try:
            asks = bool(server.password_env or server.password_file)
            told = (server.password_env, server.password_file, config.environment)
            password = read_secret(*told) if asks else ""
        except InputRefused as refused:
            broken.append(_finding(f"postgres:{name}", "database", refused))
            continue
        lookup = PostgresLookup(name, server, password, config.outgoing)
        wired.append(_Wired(lookup.source, "database", lookup.probe, lookup=lookup))
    return wired, broken


def _is_for(tenant: str | None, tenants: Sequence[str]) -> bool:
    return tenant is None or not tenants or tenant in tenants


def _looks_for(patterns: Sequence[str]) -> Probe:
    async def look() -> str:
        if not any(glob.glob(pattern) for pattern in patterns):  # noqa: PTH207 - absolute
            raise ToolFailed(
                f"no file matches {', '.join(patterns)}",
                code="SOURCE_UNAVAILABLE",
                hint="check the paths and that this user may read them",
            )
        return "there"

    return look


async def _probe_all(wired: Sequence[_Wired]) -> list[Finding]:
    """One finding each, in order, however long one of them hangs."""
    found: dict[str, Finding] = {}

    async def ask(one: _Wired) -> None:
        try:
            found[one.name] = Finding(one.name, one.signal, True, message=await one.probe())
        except AffidavitError as error:
            found[one.name] = _finding(one.name, one.signal, error)

    with anyio.move_on_after(PROBE_S):
        async with anyio.create_task_group() as tasks:
            for one in wired:
                tasks.start_soon(ask, one)
    late = ToolFailed(
        f"no answer within {PROBE_S:g} s", code="TIMEOUT", hint="is it up, and reachable from here?"
    )
    return [found.get(one.name) or _finding(one.name, one.signal, late) for one in wired]


def _believed(one: _Wired) -> Finding:
    return Finding(one.name, one.signal, True)


def _finding(name: str, signal: str, error: AffidavitError) -> Finding:
    return Finding(name, signal, False, error.code, error.message, error.hint)


def _topology(backends: Backends) -> Topology | None:
    """The configured topology. Raises InputRefused for a file that is none."""
    if not backends.topology:
        return None
    try:
        content = Path(backends.topology).read_bytes()
    except OSError as error:
        raise InputRefused(
            f"the topology {backends.topology} cannot be read: {error.strerror}",
            code="SETTINGS_REFUSED",
            hint="correct [backends] topology",
        ) from None
    return parse_topology(content, backends.topology)
