"""What the harness adds to a step: `python bench/step.py [--profile]`.

A step is one turn of a scripted model, one read-only tool whose projection has some 2 KB, every
guard on, the journal on disk, durable against a killed process. Its CPU is what passes from one
turn of the model to the next. Beside it stands one bare append of one line to the same run at the
same moment: it is made during each turn, and taken off the step. For comparison, four hundred of
them one after the other, with the caches warm. Figures are medians of `ROUNDS` runs, in
microseconds of CPU time.
"""

# ruff: noqa: INP001, T201 -- a script, and it prints

from __future__ import annotations

import cProfile
import gc
import pstats
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import anyio

from affidavit import Harness, Limits, Lines, Window, tool
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.agent import AgentRequest
from affidavit.contract.journal import Event, EventType
from affidavit.core.run import Run, drive_lease
from affidavit.diagnose import Mind, World, drive, start
from affidavit.ports.model import ModelAnswer, ModelRequest
from affidavit.testing import ScriptedModel, call_tools, say
from affidavit.wiring import new_run_id

ROUNDS: Final = 15
STEPS: Final = 10
"""What a run of the profile standard has at most."""

APPENDS: Final = 400
LINES: Final = 13
LINE: Final = Event(EventType.STATUS_CHANGED, {"status": "DIAGNOSIS_RUNNING"})
WINDOW: Final = Window(
    start=datetime(2026, 3, 2, 10, tzinfo=UTC), end=datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
)


@tool(source_type="logs")
async def error_logs(service: str, window: Window) -> Lines:
    """Error lines of a service."""
    lines = [(window.start, f"{service} timeout {place:02d}") for place in range(LINES)]
    return Lines(lines, subject=service)


@dataclass(slots=True)
class Watched:
    """A run under the clock: when each turn began and ended, and what an append cost in it.

    It stands where the run's models are bound (`diagnose.Mind`), so it learns which run it is.
    """

    profiler: cProfile.Profile | None = None
    mind: Mind | None = None
    run: Run | None = None
    began: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    appends: list[float] = field(default_factory=list)

    def admit(self, request: AgentRequest) -> None:
        """As the run's own mind does."""
        if self.mind is not None:
            self.mind.admit(request)

    def bind(self, run: Run, world: World) -> World:
        """The run, and then as its own mind does."""
        self.run = run
        return world if self.mind is None else self.mind.bind(run, world)

    async def answer(self, _: ModelRequest) -> ModelAnswer:
        """Another question each turn, and then nothing to publish."""
        self.began.append(time.process_time())
        if self.profiler is not None:
            self.profiler.disable()
        if self.run is not None:
            before = time.process_time()
            await self.run.note(LINE)
            self.appends.append(time.process_time() - before)
        turn = len(self.began)
        if self.profiler is not None and turn <= STEPS:
            self.profiler.enable()
        self.ended.append(time.process_time())
        if turn <= STEPS:
            return call_tools(("error_logs", {"service": f"service-{turn}"}))
        return say("{}")

    @property
    def step_s(self) -> float:
        """CPU seconds of a step."""
        return (self.began[STEPS] - self.ended[0] - sum(self._turns())) / STEPS

    def _turns(self) -> list[float]:
        """CPU seconds of the turns in between: the model's own, and the appends'."""
        return [self.ended[turn] - self.began[turn] for turn in range(1, STEPS)]


def request() -> AgentRequest:
    """A run that has room for its steps."""
    limits = Limits(
        iterations=STEPS + 2, tokens=2_000_000, timeout_s=600, tool_calls=STEPS + 2, concurrency=4
    )
    return AgentRequest(
        run_id=new_run_id(), tenant="bench", question="Why?", limits=limits, window=WINDOW
    )


def world_of(watched: Watched, store: SqliteStore, asked: AgentRequest) -> World:
    """A harness's own world, with everything on."""
    model = ScriptedModel([watched.answer])
    world = Harness(tools=[error_logs], model=model, store=store)._world(None, asked)
    watched.mind = world.mind
    return replace(world, mind=watched)


async def run_steps(store: SqliteStore, profiler: cProfile.Profile | None = None) -> Watched:
    """One run, watched."""
    watched, asked = Watched(profiler), request()
    world = world_of(watched, store, asked)
    await start(world, asked)
    await drive(asked.run_id, world)
    if len(watched.began) <= STEPS:
        raise SystemExit(f"{len(watched.began)} turns instead of {STEPS + 1}")
    return watched


async def append_lines(store: SqliteStore) -> float:
    """CPU seconds of one bare append among many."""
    asked = request()
    world = world_of(Watched(), store, asked)
    await start(world, asked)
    async with drive_lease(world.driver, asked.run_id) as run:
        begin = time.process_time()
        for _ in range(APPENDS):
            await run.note(LINE)
        return (time.process_time() - begin) / APPENDS


async def measure(folder: Path, *, profile: bool) -> None:
    """Print the figures, or where the time goes."""
    store = SqliteStore(folder / "runs.db")
    await run_steps(store)  # imports, schemas and caches are there
    profiler = cProfile.Profile() if profile else None
    steps, appends, warm = [], [], []
    for _ in range(ROUNDS):
        gc.collect()
        watched = await run_steps(store, profiler)
        steps.append(watched.step_s * 1e6)
        appends.append(statistics.median(watched.appends) * 1e6)
        warm.append(await append_lines(store) * 1e6)
    step, append = statistics.median(steps), statistics.median(appends)
    print(f"a step                 {step:8.0f} µs CPU  ({min(steps):.0f} to {max(steps):.0f})")
    print(
        f"an append in its turn  {append:8.0f} µs CPU  ({min(appends):.0f} to {max(appends):.0f})"
    )
    print(f"an append among many   {statistics.median(warm):8.0f} µs CPU")
    ratio, ratio_warm = step / append, step / statistics.median(warm)
    print(f"a step is {ratio:.1f} appends, or {ratio_warm:.1f} with the caches warm")
    if profiler is not None:
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(90)
    await store.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        anyio.run(lambda: measure(Path(place), profile="--profile" in sys.argv))
