"""Which settings are in force, where runs live, and what FILE|RUN_ID means."""

from __future__ import annotations

import getpass
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.adapters.store_url import open_store
from affidavit.affidavit.integrity import FILE_BYTES_MAX
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.ids import is_run_id
from affidavit.ports.store import RunHead, Store
from affidavit.settings import Settings, read_settings

_SQLITE: Final = "sqlite:"
_OWNER_ONLY: Final = 0o700


def login() -> str:
    """Who sits here, as the operating system has it; `local` where it knows no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "local"


def settings_in_force() -> Settings:
    """The settings of this process. Raises InputRefused (SETTINGS_REFUSED)."""
    return read_settings(os.environ, Path.cwd())


@asynccontextmanager
async def runs_at(url: str, *, may_make: bool = False) -> AsyncIterator[Store]:
    """The store that `--store`, else the settings, name; closed again afterwards.

    A command that only looks makes no store: where none is, it raises InputRefused
    (STORE_MISSING). One that starts a run makes the default folder, for its owner alone.
    """
    settings = settings_in_force()
    address = url or settings.store_url(os.environ)
    if address.startswith(_SQLITE):
        _prepare(
            Path(address.removeprefix(_SQLITE)),
            is_default=not (url or settings.store),
            may_make=may_make,
        )
    store = open_store(address)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def incidents_at(url: str) -> AsyncIterator[SqliteIncidents]:
    """Incidents and deliveries of the store that `runs_at` opened before; closed afterwards."""
    address = url or settings_in_force().store_url(os.environ)
    is_file = address.startswith(_SQLITE)
    book = SqliteIncidents(Path(address.removeprefix(_SQLITE)) if is_file else None)
    try:
        yield book
    finally:
        await book.close()


def _prepare(path: Path, *, is_default: bool, may_make: bool) -> None:
    if not may_make and not path.expanduser().exists():
        raise InputRefused(
            f"there is no store at {path}, so there are no runs",
            code="STORE_MISSING",
            hint="start one with `affidavit diagnose`, or name another store with --store",
        )
    if may_make and is_default:
        try:
            path.parent.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
        except OSError as error:
            raise InputRefused(
                f"the folder {path.parent} for runs cannot be made: {error.strerror}",
                code="STORE_UNREACHABLE",
                hint="name another place with --store sqlite:PATH",
            ) from None


async def head_of(store: Store, run_id: str) -> RunHead:
    """The run at a glance. Raises InputRefused (RUN_UNKNOWN)."""
    head = await store.head(run_id) if is_run_id(run_id) else None
    if head is None:
        raise InputRefused(
            f"there is no run {run_id!r}",
            code="RUN_UNKNOWN",
            hint="`affidavit runs list` shows the runs of this store",
        )
    return head


async def request_of_run(store: Store, run_id: str) -> AgentRequest:
    """What a run was asked. Raises InputRefused (RUN_EXPIRED) where nobody knows any more."""
    lines = await store.read(run_id)
    address = str(lines[0].data["request_digest"]) if lines else ""
    content = await store.artifact(run_id, address)
    if content is None:
        raise _unknown_source(run_id)
    return AgentRequest.model_validate_json(content)


async def source_of(store: Store, run_id: str) -> Path:
    """Where the incident of a run lies. Raises InputRefused (RUN_EXPIRED) where nobody knows."""
    source = (await request_of_run(store, run_id)).source
    if source is None:
        raise _unknown_source(run_id)
    return Path(source)


def _unknown_source(run_id: str) -> InputRefused:
    return InputRefused(
        f"run {run_id} cannot go on: where its incident lies is not known",
        code="RUN_EXPIRED",
        hint="diagnose the incident anew",
    )


async def sealed_file(store: Store, run_id: str) -> bytes | None:
    """The stored affidavit of a run, or None while it has none.

    The one that holds the run's own last line: what else stands under its name is not it.
    """
    lines = await store.read(run_id)
    last = f'"hash":"{lines[-1].hash}"'.encode("ascii") if lines else b""
    for artifact in await store.artifacts(run_id):
        if artifact.kind == "affidavit" and last and last in artifact.content:
            return artifact.content
    return None


async def file_of_run(url: str, run_id: str) -> bytes:
    """The stored affidavit of a run.

    Raises InputRefused for an unknown run (RUN_UNKNOWN) or one without an answer (RUN_UNDECIDED).
    """
    async with runs_at(url) as store:
        await head_of(store, run_id)
        content = await sealed_file(store, run_id)
    if content is None:
        raise InputRefused(
            f"run {run_id} has no answer yet, and so no affidavit",
            code="RUN_UNDECIDED",
            hint=f"`affidavit runs resume {run_id}` goes on with it",
        )
    return content


def names_file(source: str) -> bool:
    """Whether FILE|RUN_ID names a file: it is there, or it could be no run's id.

    Raises InputRefused (SOURCE_UNKNOWN) for what can be neither.
    """
    try:
        is_there = Path(source).exists()
    except (OSError, ValueError):
        is_there = False
    if is_there:
        return True
    if is_run_id(source):
        return False
    raise InputRefused(
        f"{source!r} is no file, and no run's id",
        code="SOURCE_UNKNOWN",
        hint="give the path of an affidavit file, or an id from `affidavit runs list`",
    )


def read_file(path: Path) -> bytes:
    """The bytes of an affidavit file. Raises InputRefused (FILE_UNREADABLE)."""
    if not path.is_file():
        raise InputRefused(
            f"{path} is no plain file", code="FILE_UNREADABLE", hint="give an affidavit file"
        )
    try:
        with path.open("rb") as file:
            return file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise InputRefused(
            f"{path} cannot be read: {error.strerror}",
            code="FILE_UNREADABLE",
            hint="check the path and its permissions",
        ) from None
