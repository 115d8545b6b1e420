"""Opens what is configured for a run: who answers feeds its telemetry, who does not is named.

Every back end is probed first, all at once and for a short time, so that one that hangs delays
nothing (R33) and shows as unavailable in coverage instead of as silence (R15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.experimental_tables import experimental
from affidavit.adapters.incident_topology import parse_topology
from affidavit.adapters.live_kinds import KINDS
from affidavit.adapters.live_parts import Ground, Wired
from affidavit.adapters.live_telemetry import LiveTelemetry
from affidavit.adapters.outgoing_http import OutgoingHttp
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.contract.errors import AffidavitError, InputRefused, ToolFailed
from affidavit.ports.lookups import Lookup
from affidavit.ports.telemetry import Incident, Topology

PROBE_S: Final = 3.0
"""For all probes, side by side; a back end that needs longer for nothing is no use at 3 a.m."""


@dataclass(frozen=True, slots=True)
class LiveConfig:
    """What is configured, and the variables that hold the secrets."""

    backends: Backends
    outgoing: OutgoingTable
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe found: `ok` with how it is known that it is only read, or a code.

    `hint` says how to mend it; of one that is `ok`, which right it has and should not.
    """

    name: str
    signal: str
    ok: bool
    code: str = ""
    message: str = ""
    hint: str = ""


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
    feeds = [feed for one in wired if one.name in there for feed in one.feeds]
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
) -> tuple[list[Wired], list[Finding]]:
    """Each back end of the tenant; those whose secret is missing are findings at once."""
    ground = Ground(http, config.outgoing, config.environment, config.backends.lookback_s)
    wired: list[Wired] = []
    broken: list[Finding] = []
    for kind, name in config.backends.names:
        table = getattr(config.backends, kind)[name]
        if tenant is not None and table.tenants and tenant not in table.tenants:
            continue
        try:
            wired.append(KINDS[kind].wire(name, table, ground))
        except InputRefused as refused:
            signal, told = KINDS[kind].signal or table.signal, f"{kind}:{name}"
            told = experimental(told) if KINDS[kind].is_experimental else told
            broken.append(_finding(told, signal, refused))
    return wired, broken


async def _probe_all(wired: Sequence[Wired]) -> list[Finding]:
    """One finding each, in order, however long one of them hangs."""
    found: dict[str, Finding] = {}

    async def ask(one: Wired) -> None:
        try:
            proof = await one.probe()
            found[one.name] = Finding(one.name, one.signal, True, "", proof.said, proof.warning)
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


def _believed(one: Wired) -> Finding:
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
