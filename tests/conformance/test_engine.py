"""Every engine through the same checks, and broken ones too: they must be caught."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest

from affidavit.adapters.in_process_engine import EngineRules, InProcessEngine
from affidavit.ports.clock import Clock
from affidavit.ports.engine import Drive, EngineNote
from affidavit.ports.store import Store
from affidavit.testing.conformance import ConformanceFailed
from affidavit.testing.conformance_engine import ENGINE_CHECKS, EngineCheck, Stage
from affidavit.testing.journals import begin_run

pytestmark = pytest.mark.anyio


def in_process(store: Store, clock: Clock, drive: Drive) -> InProcessEngine:
    """The engine of one process."""
    return InProcessEngine(store, clock, drive)


@pytest.mark.spec("K8", "L6", "K5")
@pytest.mark.fault("F23")
@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda check: check.__name__)
async def test_engine_conforms(check: EngineCheck) -> None:
    await check(in_process)


class Greedy(InProcessEngine):
    """Knows no bound."""

    __slots__ = ()

    def __init__(self, store: Store, clock: Clock, drive: Drive) -> None:
        super().__init__(store, clock, drive, EngineRules(runs_max=10**6))


class Impatient(InProcessEngine):
    """Backs off no further."""

    __slots__ = ()

    def __init__(self, store: Store, clock: Clock, drive: Drive) -> None:
        super().__init__(store, clock, drive, EngineRules(back_off_min_s=1, back_off_max_s=1))


class Rude(InProcessEngine):
    """Tells nobody that it stops."""

    __slots__ = ()

    async def _pause_all(self) -> None:
        await anyio.lowlevel.checkpoint()


BROKEN: dict[Callable[[Store, Clock, Drive], InProcessEngine], str] = {
    Greedy: "bounds_itself",
    Impatient: "outlives_failures",
    Rude: "stops_gracefully",
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
async def test_a_broken_engine_is_caught(
    kind: Callable[[Store, Clock, Drive], InProcessEngine],
) -> None:
    checks: dict[str, Callable[..., Awaitable[None]]] = {
        check.__name__: check for check in ENGINE_CHECKS
    }
    caught: list[object] = []
    try:
        await checks[BROKEN[kind]](kind)
    except* ConformanceFailed as broken:
        caught.append(broken)
    assert caught


@pytest.mark.spec("A1")
async def test_what_goes_wrong_is_told_with_a_code_and_when_it_goes_on() -> None:
    stage, told = Stage(), list[EngineNote]()
    run = await begin_run(stage.store, 1)

    async def fail() -> None:
        raise KeyError("canary")

    stage.acts[run.id] = fail
    engine = InProcessEngine(stage.store, stage.clock, stage.drive, tell=told.append)
    async with stage.clock.jumping(), anyio.create_task_group() as tasks:
        tasks.start_soon(engine.serve)
        await stage.until(lambda: len(told) == 4, "failures are told")
        engine.stop()
    assert {note.run_id for note in told} == {run.id}
    assert [note.again_in_s for note in told[:4]] == [1.0, 2.0, 4.0, 8.0]
    assert {note.code for note in told} == {"INTERNAL_FAILURE"}
