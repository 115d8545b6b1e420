"""`affidavit doctor`, `affidavit tools list|check`: what is connected, what is missing, how to mend
it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NoReturn

import anyio

from affidavit.adapters.delivery_senders import open_senders
from affidavit.adapters.live_backends import Finding, LiveConfig, open_live, probe_backends
from affidavit.adapters.outgoing_http import OutgoingHttp
from affidavit.cli.opening import runs_at, settings_in_force
from affidavit.cli.screen import one_line, say, say_json
from affidavit.contract.agent import ToolSpec
from affidavit.contract.errors import AffidavitError
from affidavit.contract.evidence import Window
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.ports.telemetry import Incident, Symptom
from affidavit.settings import Settings, settings_of
from affidavit.tools.capture import capture_catalogue
from affidavit.tools.capture.lookups import lookup_tool

PACKAGES: Final = (
    ("duckdb", "capture", "diagnoses over incident folders and live back ends"),
    ("httpx2", "live", "live back ends and deliveries over HTTP"),
    ("cryptography", "sign", "signatures"),
    ("fastapi", "server", "the service"),
)
"""Module, extra, and what does not work without it."""

EXIT_MISSING: Final = 1


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    what: str
    ok: bool
    said: str
    hint: str = ""


NOT_CONFIGURED: Final = Check(
    "back ends", True, "none is configured", "add one to affidavit.toml: docs/backends.md"
)
"""No failure: folders are diagnosed without any."""


def doctor(store: str, *, as_json: bool) -> NoReturn:
    """Look at everything; exit 1 where something is missing. Nothing is changed."""
    settings = settings_in_force()
    checks = [*_packages(), anyio.run(_store, store), *_destinations(settings)]
    findings = anyio.run(probe_backends, config_of(settings))
    checks += [_backend(settings, finding) for finding in findings]
    if not findings:
        checks.append(NOT_CONFIGURED)
    _show(checks, list(_in_force(settings)), as_json=as_json)


def check_tools(*, as_json: bool) -> NoReturn:
    """Ask each configured back end one cheap question; exit 1 where one does not answer."""
    settings = settings_in_force()
    findings = anyio.run(probe_backends, config_of(settings))
    checks = [_backend(settings, finding) for finding in findings] or [NOT_CONFIGURED]
    _show(checks, [], as_json=as_json)


def list_tools(*, as_json: bool) -> NoReturn:
    """The tools that a live run would have, and which sources they read."""
    settings = settings_in_force()
    rows = anyio.run(_tools, settings)
    if as_json:
        say_json({"tools": rows})
    for row in () if as_json else rows:
        say(one_line(f"{row['name']:<18}  {row['source_type']}:{row['source']}  {row['effect']}"))
    raise SystemExit(0)


def config_of(settings: Settings) -> LiveConfig:
    """The configured back ends, and this process's variables."""
    return LiveConfig(settings.backends, settings.outgoing, os.environ)


async def _tools(settings: Settings) -> list[dict[str, str]]:
    now = datetime.now(UTC)
    incident = Incident(
        id="tools",
        title="tools",
        question="which tools are there?",
        window=Window(start=now - timedelta(minutes=1), end=now),
        symptom=Symptom(service="unknown"),
        tenant=LOCAL_TENANT,
    )
    live = await open_live(config_of(settings), incident, probe=False)
    try:
        catalogue = capture_catalogue(live.telemetry)
        rows = [_row(spec, catalogue.tools[spec.name].source) for spec in catalogue.specs()]
        kept = [row for row in rows if row["source_type"] in {*live.telemetry.signals, "topology"}]
        return [*kept, *(_row(lookup_tool(one).spec(), one.source) for one in live.lookups)]
    finally:
        await live.close()


def _row(spec: ToolSpec, source: str) -> dict[str, str]:
    return {
        "name": spec.name,
        "source_type": spec.source_type,
        "source": source,
        "effect": spec.effect,
        "description": spec.description,
    }


def _show(checks: list[Check], in_force: list[str], *, as_json: bool) -> NoReturn:
    failed = any(not check.ok for check in checks)
    if as_json:
        say_json({"ok": not failed, "settings": in_force, "checks": [asdict(c) for c in checks]})
    else:
        for line in in_force:
            say(one_line(f"set   {line}"))
        for check in checks:
            say(one_line(f"{'ok  ' if check.ok else 'FAIL'}  {check.what}: {check.said}"))
            if check.hint:
                say(one_line(f"      {check.hint}"))
    raise SystemExit(EXIT_MISSING if failed else 0)


def _packages() -> Iterator[Check]:
    for module, extra, purpose in PACKAGES:
        there = find_spec(module) is not None
        hint = "" if there else f"pip install 'affidavit[{extra}]' for {purpose}"
        yield Check(f"package {module}", True, "installed" if there else "not installed", hint)


async def _store(url: str) -> Check:
    try:
        async with runs_at(url) as store:
            await store.runs(LOCAL_TENANT, 1)
    except AffidavitError as error:
        there = error.code == "STORE_MISSING"  # the first run makes it
        return Check("store", there, error.message, error.hint)
    return Check("store", True, "can be read")


def _destinations(settings: Settings) -> Iterator[Check]:
    for name, table in settings.delivery.destinations.items():
        try:
            open_senders({name: table}, OutgoingHttp(settings.outgoing), os.environ)
        except AffidavitError as error:
            yield Check(f"destination {name}", False, error.message, error.hint)
        else:
            yield Check(f"destination {name}", True, f"{table.type}, not tried: it would be told")


def _backend(settings: Settings, finding: Finding) -> Check:
    """What a probe found, and what proves or contradicts that it is only read."""
    if not finding.ok:
        return Check(finding.name, False, f"{finding.code}: {finding.message}", finding.hint)
    kind, _, name = finding.name.partition(":")
    if kind != "files":
        return Check(finding.name, True, finding.message, finding.hint)
    writable = _writable(settings.backends.files[name].paths)
    hint = (
        f"this user could write {len(writable)} of them: take that right away" if writable else ""
    )
    return Check(finding.name, True, finding.message, hint)


def _writable(patterns: Iterable[str]) -> list[str]:
    found = [path for pattern in patterns for path in glob(pattern)]  # noqa: PTH207 - absolute
    return [path for path in found if os.access(path, os.W_OK)]


def _in_force(settings: Settings) -> Iterator[str]:
    """Each setting that is not its default, by its key; no value of a table of the user's own."""
    for setting in settings_of(Settings):
        value: object = settings
        default: object = Settings()
        for part in setting.path:
            name = part.replace("-", "_")
            value, default = getattr(value, name), getattr(default, name)
        if value == default:
            continue
        plain = isinstance(value, (str, int, float, bool, Path))
        yield f"{setting.key} = {value!r}" if plain else f"{setting.key}: {_names(value)}"


def _names(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(map(str, value))
    return f"{len(value)} entries" if hasattr(value, "__len__") else "set"
