"""The service, and the keys to it: `serve`, `keys create`, `keys list`, `keys disable`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import anyio

from affidavit.cli.opening import incidents_at, runs_at, settings_in_force
from affidavit.cli.screen import one_line, say, say_json, tell
from affidavit.contract.errors import InputRefused
from affidavit.contract.ids import LOCAL_TENANT

if TYPE_CHECKING:
    import socket

    from affidavit.server.house import ServeOptions

ADMIN_KEY_NAME: Final = "admin.key"

_NEEDED: Final = ("fastapi", "uvicorn", "jinja2", "prometheus_client")


@dataclass(frozen=True, slots=True)
class Asked:
    """What one `serve` is told; empty means as the settings have it."""

    listen: str = ""
    incidents: Path | None = None
    hosts: tuple[str, ...] = ()
    limits: str = ""
    store: str = ""
    keys: Path | None = None
    drills: bool = False


def serve(asked: Asked) -> NoReturn:
    """Serve until told to stop. Refused before anything listens or is written."""
    _need_server()
    from affidavit.server.keyring import Keyring, first_key
    from affidavit.server.logbook import open_log
    from affidavit.server.oidc import check_issuer
    from affidavit.server.serving import (
        Address,
        check_reach,
        open_socket,
        raise_open_files,
        read_address,
    )
    from affidavit.server.tls import open_tls
    from affidavit.wiring import refuse_unsafe_service, tenant_knowledge

    settings = settings_in_force()
    options = _options(asked)
    address = read_address(asked.listen or settings.server.listen)
    check_reach(address, options)
    refuse_unsafe_service(options.settings)
    check_issuer(options.settings, os.environ)
    scheme = "http" if open_tls(settings.server) is None else "https"
    tenant_knowledge(options.settings, os.environ, LOCAL_TENANT)  # its embedder is there, or none
    listening = open_socket(address)
    open_log()
    raise_open_files()
    place = options.keys.with_name(ADMIN_KEY_NAME)
    if first_key(Keyring(options.keys), place, LOCAL_TENANT):
        tell(f"the first key, an admin's, is in {place}")
    tell(f"{scheme}://{Address(*listening.getsockname()[:2])} · stop with Ctrl-C")
    anyio.run(partial(_serve, asked, options, listening))
    raise SystemExit(0)


async def _serve(asked: Asked, options: ServeOptions, listening: socket.socket) -> None:
    from affidavit.server.hooks import HookPlan
    from affidavit.server.serving import serve as serve_at

    settings = settings_in_force()
    async with runs_at(asked.store, may_make=True) as store, incidents_at(asked.store) as book:
        plan = HookPlan(settings, os.environ, book)
        await serve_at(options, store, listening, plan)


def _options(asked: Asked) -> ServeOptions:
    """Raises InputRefused for a profile or a folder that is not there."""
    from affidavit.contract.limits import PROFILES
    from affidavit.server.house import ServeOptions

    settings = settings_in_force()
    told, limits = settings.server, asked.limits or settings.limits
    if limits not in PROFILES:
        raise InputRefused(
            f"there is no profile of limits {limits!r}",
            code="LIMITS_UNKNOWN",
            hint=f"use one of {', '.join(PROFILES)}",
        )
    named = asked.incidents or (Path(told.incidents) if told.incidents else None)
    root = None if named is None else named.expanduser().resolve()
    if root is not None and not root.is_dir():
        raise InputRefused(
            f"{named} is no folder",
            code="INCIDENTS_MISSING",
            hint="name a folder of incident folders with --incidents",
        )
    return ServeOptions(
        keys=(asked.keys or told.keys_file(os.environ)).expanduser().absolute(),
        incidents=root,
        hosts=(*asked.hosts, *told.hosts),
        limits=limits,
        drills=asked.drills,
        settings=settings,
    )


@dataclass(frozen=True, slots=True)
class NewKey:
    """Whose key is made: `certificate` is the name that proves it instead of a secret."""

    name: str
    roles: tuple[str, ...]
    tenant: str
    certificate: str = ""


def create_key(new: NewKey, keys: Path | None, *, as_json: bool) -> NoReturn:
    """Make a key and print it, once; one that a certificate proves has nothing to print."""
    _need_server()
    from affidavit.server.keyring import Keyring
    from affidavit.server.permits import Role

    unknown = [role for role in new.roles if role not in set(Role)]
    if unknown:
        raise InputRefused(
            f"there is no role {unknown[0]!r}",
            code="KEY_REFUSED",
            hint=f"use {', '.join(Role)}",
        )
    roles = tuple(Role(role) for role in new.roles)
    token = Keyring(_file(keys)).create(new.name, new.tenant, roles, new.certificate)
    if as_json:
        told = {"name": new.name, "tenant": new.tenant, "roles": sorted(set(new.roles))}
        proof = {"certificate": new.certificate} if new.certificate else {"key": token}
        say_json({**told, **proof})
    elif new.certificate:
        say(f"{new.name} is whoever shows a client certificate of {new.certificate}")
    else:
        say(token)
        tell("it is shown this once; only its hash is kept")
    raise SystemExit(0)


def list_keys(keys: Path | None, *, as_json: bool) -> NoReturn:
    """Every key, without its secret."""
    _need_server()
    from affidavit.server.keyring import Keyring

    entries = Keyring(_file(keys)).contents().keys
    if as_json:
        shown = [item.model_dump(mode="json", exclude={"secret_sha256"}) for item in entries]
        say_json({"keys": shown})
    for item in () if as_json else entries:
        word = "disabled" if item.disabled else "valid"
        roles = ",".join(item.roles)
        told = f"{item.id}  {word:<8}  {item.tenant}  {item.name}  {roles}  {item.certificate}"
        say(one_line(told.rstrip()))
    raise SystemExit(0)


def disable_key(key_id: str, keys: Path | None, *, as_json: bool) -> NoReturn:
    """That key opens nothing any more."""
    _need_server()
    from affidavit.server.keyring import Keyring

    entry = Keyring(_file(keys)).disable(key_id)
    if as_json:
        say_json({"id": entry.id, "name": entry.name, "disabled": True})
    else:
        say(f"{entry.id} of {entry.name} is disabled")
    raise SystemExit(0)


def _file(keys: Path | None) -> Path:
    return (keys or settings_in_force().server.keys_file(os.environ)).expanduser().absolute()


def _need_server() -> None:
    """Raises InputRefused (SERVER_MISSING) where the extra is not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise InputRefused(
            f"the service needs packages that are not installed: {', '.join(missing)}",
            code="SERVER_MISSING",
            hint="pip install 'affidavit[server]'",
        )
