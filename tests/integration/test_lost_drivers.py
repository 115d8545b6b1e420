"""A process that drove a run is killed: an engine goes on at once, and never too early."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
import pytest

from affidavit.adapters.in_process_engine import LOST_LOOK_S, EngineRules, InProcessEngine
from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.process_identity import is_gone, own_holder
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import GiveUp
from affidavit.contract.errors import PauseAsked
from affidavit.contract.report import ReleaseRecord
from affidavit.core.chain import first_break, to_us
from affidavit.core.run import Driver, drive_lease
from affidavit.diagnose import drive, stored_release
from affidavit.ports.store import Store
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.runs import RUN_ID, create_run, request
from tests.support.worlds import act, world

pytestmark = pytest.mark.anyio

SCRIPT: Final = Path(__file__).with_name("hanging_process.py")
PATIENCE_S: Final = 25.0
"""Less than a lease lives; a loaded machine needs a few seconds for what takes milliseconds."""


def hanging(store: Path) -> subprocess.Popen[str]:
    """A process whose run is under way."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(store), RUN_ID],
        stdout=subprocess.PIPE,
        text=True,
        cwd=SCRIPT.parents[2],
        env={"PYTHONPATH": str(SCRIPT.parents[2]), "PATH": "/usr/bin:/bin"},
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    return process


@dataclass
class Recovery:
    """An engine over a store, and what it did."""

    store: Store
    is_gone: Callable[[str], bool] | None = is_gone
    driven: list[str] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)

    async def drive(self, run_id: str) -> object:
        """Note whether the lease of whoever died was still alive, and go on with the run."""
        due = await self.store.due(to_us(SystemClock().now()))
        self.held.append(run_id not in due)
        self.driven.append(run_id)
        told = world([act("probe"), GiveUp("done")], store=self.store, holder=own_holder())
        driver = Driver(own_holder(), self.store, SystemClock(), is_gone=is_gone)
        return await drive(run_id, type(told)(driver, told.collection, told.examiner, told.seal))

    async def serve(self, until: Callable[[], bool], within_s: float) -> None:
        """Let the engine work until then, or as long as that."""
        engine = InProcessEngine(
            self.store, SystemClock(), self.drive, EngineRules(look_s=0.1), is_gone=self.is_gone
        )
        with anyio.move_on_after(within_s):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(engine.serve)
                while not until() or engine.under_way:
                    await SystemClock().sleep(0.05)
                engine.stop()


@pytest.mark.slow
@pytest.mark.integration("sqlite")
@pytest.mark.spec("K8", "L6", "N12")
@pytest.mark.fault("F23", "R29")
async def test_a_run_whose_process_was_killed_goes_on_before_its_lease_has_run_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.db"
    with hanging(path) as process:
        store = SqliteStore(path)
        beside = Recovery(store)
        await beside.serve(lambda: bool(beside.driven), LOST_LOOK_S + 1)
        assert beside.driven == [], "its driver is alive: it is left alone"
        process.kill()
        process.wait()
    after = Recovery(store)
    await after.serve(lambda: bool(after.driven), PATIENCE_S)
    assert after.driven == [RUN_ID]
    assert after.held == [True], "nobody waited for the lease"
    release = await stored_release(store, RUN_ID)
    assert isinstance(release, ReleaseRecord)
    assert first_break(RUN_ID, await store.read(RUN_ID)) is None
    await store.close()


@pytest.mark.slow
@pytest.mark.integration("sqlite")
@pytest.mark.spec("L6")
async def test_where_nobody_can_know_the_lease_runs_out_first(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with hanging(path) as process:
        process.kill()
        process.wait()
    store = SqliteStore(path)
    unsure = Recovery(store, is_gone=None)
    await unsure.serve(lambda: bool(unsure.driven), 2)
    assert unsure.driven == []
    await store.close()


@pytest.mark.spec("K8", "H10", "K3")
async def test_a_run_that_sleeps_is_not_woken_because_its_last_driver_is_gone() -> None:
    store, clock = MemoryStore(), VirtualClock()
    await create_run(store, request(), clock)
    wake_us = to_us(clock.now()) + 20_000_000
    async with drive_lease(Driver("dead", store, clock), RUN_ID) as run:
        await run.pause(PauseAsked("asked", wake_us))
    driven: list[int] = []

    async def note(run_id: str) -> object:
        driven.append(to_us(clock.now()))
        async with drive_lease(Driver("next", store, clock), run_id) as run:
            await run.pause(PauseAsked("asked", None))
        return None

    engine = InProcessEngine(store, clock, note, is_gone=lambda holder: holder == "dead")
    async with clock.jumping(), anyio.create_task_group() as tasks:
        tasks.start_soon(engine.serve)
        while not driven:
            await clock.sleep(1)
        engine.stop()
    assert driven[0] >= wake_us
