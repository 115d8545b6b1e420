"""`affidavit worker`: drives what is due in a store, beside whoever started it (idea 6).

A run needs nothing of the process that started it: its question, its limits and its answers so far
stand in the store. So any worker that can read its incident's folder, and has the models that it
was begun with, goes on with it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn

import anyio

from affidavit.adapters.in_process_engine import EngineRules, InProcessEngine
from affidavit.adapters.process_identity import is_gone
from affidavit.adapters.system_clock import SystemClock
from affidavit.application.gate import order_digest, reread
from affidavit.cli.opening import request_of_run, runs_at, settings_in_force
from affidavit.cli.screen import one_line, tell
from affidavit.cli.thinking import Thinkers, think_again
from affidavit.contract.errors import AffidavitError, InputRefused
from affidavit.core.chain import to_us
from affidavit.diagnose import Paused, World, drive
from affidavit.ports.engine import EngineNote
from affidavit.ports.store import Store
from affidavit.settings import Settings
from affidavit.wiring import LiveOrder, gate_world, refuse_unsafe_service, world_again

TIDY_S: Final = 300.0
"""Between two looks for payloads whose time is over; they live for hours."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one worker drives, and with whom."""

    store: Store
    settings: Settings
    thinkers: Thinkers

    async def drive(self, run_id: str) -> object:
        """One run, to its end or a pause (`ports.engine.Drive`)."""
        async with self._world_of(run_id) as bare:
            world = await think_again(self.thinkers, bare, self.store, run_id, self.settings)
            driven = await drive(run_id, world)
        word = f"waits: {driven.reason}" if isinstance(driven, Paused) else str(driven.outcome)
        tell(one_line(f"{run_id}: {word}"))
        return driven

    @asynccontextmanager
    async def _world_of(self, run_id: str) -> AsyncIterator[World]:
        request = await request_of_run(self.store, run_id)
        handed_in = order_digest(request.source)
        if handed_in is None:
            order = LiveOrder(request, self.settings, os.environ)
            async with world_again(order, self.store) as world:
                yield world
            return
        content = await self.store.artifact(run_id, handed_in)
        if content is None:
            raise InputRefused(
                f"run {run_id} cannot go on: the answer that it was handed has expired",
                code="RUN_EXPIRED",
                hint="hand the answer in anew with `affidavit gate`",
            )
        yield gate_world(reread(content), self.store, settings=self.settings)


def work(store: str, runs_max: int, thinkers: Thinkers) -> NoReturn:
    """Drive what is due until told to stop; what is under way is paused then, for others."""
    settings = settings_in_force()
    refuse_unsafe_service(settings)
    if (store or settings.store_url(os.environ)) == "memory:":
        raise InputRefused(
            "a store in memory is this process's alone: no other could start a run in it",
            code="STORE_UNSHARED",
            hint="name a store that others write to: --store sqlite:PATH",
        )
    if runs_max < 1:
        raise InputRefused("a worker drives at least one run", code="USAGE", hint="--runs-max 1")
    anyio.run(partial(_work, store, runs_max, thinkers, settings))
    raise SystemExit(0)


async def _work(url: str, runs_max: int, thinkers: Thinkers, settings: Settings) -> None:
    async with runs_at(url, may_make=True) as store:
        todo = Work(store, settings, thinkers)
        rules = EngineRules(runs_max=runs_max)
        engine = InProcessEngine(
            store, SystemClock(), todo.drive, rules, _tell_trouble, is_gone=is_gone
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_heed, engine)
            tasks.start_soon(keep_tidy, store, settings)
            tell("driving what is due; stop with Ctrl-C")
            await engine.serve()
            tasks.cancel_scope.cancel()


async def _heed(engine: InProcessEngine) -> None:
    """The first signal stops; what is under way is paused."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            tell("pausing what is under way")
            engine.stop()


async def keep_tidy(store: Store, settings: Settings) -> None:
    """Payloads whose time is over are gone, again and again (C2)."""
    clock = SystemClock()
    while True:
        try:
            await store.expire_artifacts(to_us(clock.now()), settings.retention.payloads_us)
        except AffidavitError as error:
            tell(one_line(f"payloads could not be expired: {error.message}"))
        await clock.sleep(TIDY_S)


def _tell_trouble(note: EngineNote) -> None:
    what = note.run_id or "the store"
    tell(one_line(f"{what}: {note.code}; tried again in {note.again_in_s:.0f} s"))
