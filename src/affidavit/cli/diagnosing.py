"""The commands that drive a run: demo, diagnose, resume."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NoReturn

import anyio

import affidavit
from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.narration import Narrator
from affidavit.application.alerts import LIVE
from affidavit.cli.answer import show_release, show_undecided
from affidavit.cli.live import LiveQuestion, is_live, live_request, live_run
from affidavit.cli.opening import (
    head_of,
    login,
    request_of_run,
    runs_at,
    sealed_file,
    settings_in_force,
)
from affidavit.cli.outlet import check_out, write_out
from affidavit.cli.screen import LeftAtOnce, tell
from affidavit.cli.signals import heeding_signals
from affidavit.cli.thinking import Thinkers, think_again, think_with, under_ceilings
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.contract.journal import Entry
from affidavit.contract.report import ReleaseRecord
from affidavit.core.fold import fold
from affidavit.core.run import LEASE_TTL_S
from affidavit.diagnose import Paused, World, drive, start, stored_release
from affidavit.ports.store import Artifact, Store
from affidavit.settings import Settings
from affidavit.wiring import LiveOrder, incident_world, request_of, world_again
from affidavit.wiring.masking import mask_run

DEMO_INCIDENT: Final = "slow-storefront"

QUESTION_CHARS_MAX: Final = 2_000
"""A question fits a paragraph; what is longer is a report already."""

BUSY_WAIT_S: Final = LEASE_TTL_S + 5.0
"""So long a dead driver's lease may still stand; a live one's stands for ever."""

BUSY_LOOK_S: Final = 0.5
"""How often a resume looks whether the lease is free."""


@dataclass(frozen=True, slots=True)
class Order:
    """What one `diagnose` is to do; empty texts mean the settings' or the incident's own."""

    source: Path
    question: str = ""
    limits: str = ""
    store: str = ""
    out: Path | None = None
    as_json: bool = False
    thinkers: Thinkers = field(default_factory=Thinkers)
    settings: Settings = field(default_factory=Settings)
    service: str = ""
    since: str = ""
    masked: tuple[str, ...] = ()


@dataclass(slots=True)
class Watcher:
    """Tells of each new line on standard error, while the run works."""

    narrator: Narrator = field(default_factory=Narrator)

    def __call__(self, entry: Entry, contents: Mapping[str, bytes]) -> None:
        """One more line."""
        for line in self.narrator.tell(entry, contents):
            tell(line)


def demo(out: Path, *, as_json: bool) -> NoReturn:
    """Diagnose the incident that ships with the project; no model is asked, whatever is set.

    It is diagnosed from a copy: installers link a package's files to their own store, and an
    incident folder whose files have two names is refused.
    """
    check_out(out)
    settings = settings_in_force()
    with TemporaryDirectory(prefix="affidavit-") as room:
        folder = shutil.copytree(demo_incident(), Path(room) / DEMO_INCIDENT)
        order = Order(folder, limits=settings.limits, out=out, as_json=as_json, settings=settings)
        _leave(partial(_diagnose, order))


def demo_incident() -> Path:
    """The recorded incident: beside the package where it is installed, else in the repository.

    Raises InputRefused (DEMO_MISSING) where neither is there.
    """
    package = Path(affidavit.__file__).parent
    for examples in (package / "examples", package.parents[1] / "examples"):
        if (examples / DEMO_INCIDENT).is_dir():
            return examples / DEMO_INCIDENT
    raise InputRefused(
        f"the recorded incident {DEMO_INCIDENT} is not installed",
        code="DEMO_MISSING",
        hint="clone the repository and run `make demo`, or diagnose a folder of your own",
    )


def diagnose(order: Order) -> NoReturn:
    """Diagnose one incident, and exit with what its user got."""
    _check_question(order.question)
    check_out(order.out)
    settings = settings_in_force()
    order = replace(
        order,
        limits=order.limits or settings.limits,
        thinkers=order.thinkers.or_configured(settings),
        settings=settings,
    )
    _leave(partial(_diagnose, order))


def _check_question(question: str) -> None:
    """Raises InputRefused (QUESTION_REFUSED) for what could not be recorded or answered (K0)."""
    try:
        question.encode("utf-8")
        wrong = "is blank" if question and not question.strip() else ""
    except UnicodeEncodeError:
        wrong = "is no valid text"
    if len(question) > QUESTION_CHARS_MAX:
        wrong = f"has {len(question)} characters"
    if wrong:
        raise InputRefused(
            f"the question {wrong}",
            code="QUESTION_REFUSED",
            hint=f"ask in at most {QUESTION_CHARS_MAX} characters, or leave --question out",
        )


async def _diagnose(order: Order) -> int:
    """The folder first, then the store: a folder that is refused leaves nothing behind."""
    if is_live(order.source):
        _refuse_masks(order)
        return await _diagnose_live(order)
    if order.service or order.since:
        raise InputRefused(
            "--service and --since belong to `diagnose live` and to an alert's payload",
            code="USAGE",
            hint="an incident folder has its own window and service",
        )
    async with incident_world(
        order.source, MemoryStore(), listen=Watcher(), settings=order.settings
    ) as (bare, incident):
        request = request_of(
            incident,
            order.source,
            question=order.question,
            profile=order.limits,
            requested_by=login(),
            settings=order.settings,
        )
        kept: tuple[Artifact, ...] = ()
        reading = bare
        if order.masked:
            masked = mask_run(bare, request, order.masked, incident.topology)
            reading, request, kept = masked.world, masked.request, masked.kept
        thinking = think_with(order.thinkers, reading, request, order.settings)
        async with runs_at(order.store, may_make=True) as store:
            world = replace(thinking, driver=replace(bare.driver, store=store))
            world = under_ceilings(world, store, order.settings)
            await start(world, request, kept)
            tell(f"run {request.run_id}: {request.question}")
            return await conduct(world, store, request.run_id, order)


def _refuse_masks(order: Order) -> None:
    """Nobody knows beforehand which names back ends will say, so none is promised to be masked."""
    if order.masked:
        raise InputRefused(
            "--mask-name belongs to incident folders",
            code="USAGE",
            hint="record the incident into a folder, or leave --mask-name out",
        )


async def _diagnose_live(order: Order) -> int:
    """As a folder: the back ends first, then the store."""
    asked = LiveQuestion(order.question, order.limits, order.service, order.since)
    request = live_request(str(order.source), asked, order.settings)
    async with live_run(request, MemoryStore(), Watcher(), order.settings) as bare:
        thinking = think_with(order.thinkers, bare, request, order.settings)
        async with runs_at(order.store, may_make=True) as store:
            world = replace(thinking, driver=replace(bare.driver, store=store))
            world = under_ceilings(world, store, order.settings)
            await start(world, request)
            tell(f"run {request.run_id}: {request.question}")
            return await conduct(world, store, request.run_id, order)


@asynccontextmanager
async def _world_again(store: Store, run_id: str, settings: Settings) -> AsyncIterator[World]:
    """The world of a run that is there already, from what its request says of its source."""
    request = await request_of_run(store, run_id)
    if request.source == LIVE:
        async with live_run(request, store, Watcher(), settings) as world:
            yield world
        return
    order = LiveOrder(request, settings, os.environ)
    async with world_again(order, store, listen=Watcher()) as world:
        yield world


def resume(
    run_id: str, store: str, out: Path | None, *, as_json: bool, thinkers: Thinkers | None = None
) -> NoReturn:
    """Go on with a run where its journal stands; one that has ended shows its answer (K8)."""
    check_out(out)
    settings = settings_in_force()
    order = Order(
        Path(),
        store=store,
        out=out,
        as_json=as_json,
        thinkers=thinkers or Thinkers(),
        settings=settings,
    )
    _leave(partial(_resume, run_id, order))


async def _resume(run_id: str, order: Order) -> int:
    async with runs_at(order.store) as store:
        await head_of(store, run_id)
        if await stored_release(store, run_id) is None:
            async with _world_again(store, run_id, order.settings) as bare:
                world = await think_again(order.thinkers, bare, store, run_id, order.settings)
                return await conduct(world, store, run_id, order)
        return await _show_stored(store, run_id, order)


async def conduct(world: World, store: Store, run_id: str, order: Order) -> int:
    """Drive the run to its answer or a pause; the exit code says which."""
    try:
        driven = await heeding_signals(store, run_id, partial(_drive, run_id, world))
    except RecordFailed as failed:
        raise _undecided(failed, run_id) from failed
    except LeftAtOnce as left:
        left.hint = f"go on with it: affidavit runs resume {run_id}"
        raise
    if isinstance(driven, Paused):
        tell(f"paused; go on with: affidavit runs resume {run_id}")
        view = fold(await store.read(run_id))
        return show_undecided(await head_of(store, run_id), view, as_json=order.as_json)
    return await _show_stored(store, run_id, order)


async def _drive(run_id: str, world: World) -> ReleaseRecord | Paused:
    """As `drive`, but wait out the lease of a driver that may be dead."""
    until_s = time.monotonic() + BUSY_WAIT_S
    told = False
    while True:
        try:
            return await drive(run_id, world)
        except InputRefused as refused:
            if refused.code != "RUN_BUSY" or time.monotonic() > until_s:
                raise
        if not told:
            tell(f"another process holds {run_id}; waiting up to {BUSY_WAIT_S:.0f} s for it")
            told = True
        await anyio.sleep(BUSY_LOOK_S)


def _undecided(failed: RecordFailed, run_id: str) -> RecordFailed:
    """L5: nothing was decided and nothing published; the run can be driven again."""
    hint = f"{failed.hint}; then: " if failed.hint else ""
    return RecordFailed(
        f"nothing was decided, because the run could not be recorded: {failed.message}",
        code=failed.code,
        hint=f"{hint}affidavit runs resume {run_id}",
    )


async def _show_stored(store: Store, run_id: str, order: Order) -> int:
    """Write the sealed file where it was asked for, then show the answer that is on record."""
    release = await stored_release(store, run_id)
    content = await sealed_file(store, run_id)
    if release is None or content is None:
        raise RecordFailed(
            f"the answer of run {run_id} cannot be read back",
            hint=f"try `affidavit runs show {run_id}`",
        )
    if order.out is not None:
        write_out(order.out, content, run_id)
    return show_release(release, order.out, as_json=order.as_json)


def _leave(work: Callable[[], Awaitable[int]]) -> NoReturn:
    raise SystemExit(anyio.run(work))
