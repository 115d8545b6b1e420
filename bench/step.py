"""What the harness adds to a step: `python bench/step.py [--profile]`.

A step is one turn of a scripted model, one read-only tool whose projection has some 2 KB, every
guard on, the journal on disk, durable against a killed process. Its CPU is what passes from one
turn of the model to the next; beside it stands one bare append of a line to the same run. Figures
are medians of `ROUNDS` rounds, in microseconds of CPU time.
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import anyio

from affidavit import Harness, Limits, Lines, Window, tool
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import AgentRequest
from affidavit.contract.journal import Event, EventType
from affidavit.core.run import Driver, drive_lease
from affidavit.ports.model import ModelAnswer, ModelRequest
from affidavit.testing import ScriptedModel, call_tools, say
from affidavit.wiring import new_run_id

ROUNDS: Final = 7
STEPS: Final = 10
"""What a run of the profile standard has at most."""

APPENDS: Final = 400
LINES: Final = 13
WINDOW: Final = Window(
    start=datetime(2026, 3, 2, 10, tzinfo=UTC), end=datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
)


@tool(source_type="logs")
async def error_logs(service: str, window: Window) -> Lines:
    """Error lines of a service."""
    lines = [(window.start, f"{service} timeout {place:02d}") for place in range(LINES)]
    return Lines(lines, subject=service)


def script(
    steps: int, turns: list[float], profiler: cProfile.Profile | None = None
) -> ScriptedModel:
    """A model that asks another question each turn, and then gives nothing to publish; `turns`
    gets the CPU seconds at which each turn begins, and only what lies between them is profiled."""

    def answer(_: ModelRequest) -> ModelAnswer:
        turns.append(time.process_time())
        if profiler is not None and len(turns) in {1, steps + 1}:
            (profiler.enable if len(turns) == 1 else profiler.disable)()
        if len(turns) <= steps:
            return call_tools(("error_logs", {"service": f"service-{len(turns)}"}))
        return say("{}")

    return ScriptedModel([answer])


def request(steps: int) -> AgentRequest:
    """A run that has room for so many steps."""
    limits = Limits(
        iterations=steps + 2, tokens=2_000_000, timeout_s=600, tool_calls=steps + 2, concurrency=4
    )
    return AgentRequest(
        run_id=new_run_id(), tenant="bench", question="Why?", limits=limits, window=WINDOW
    )


async def run_steps(store: SqliteStore, profiler: cProfile.Profile | None = None) -> float:
    """CPU seconds of a step."""
    turns: list[float] = []
    harness = Harness(tools=[error_logs], model=script(STEPS, turns, profiler), store=store)
    result = await harness.run(request(STEPS))
    if result.usage.tool_calls != STEPS:
        raise SystemExit(f"{result.usage.tool_calls} calls instead of {STEPS}: {result}")
    return (turns[STEPS] - turns[0]) / STEPS


async def append_lines(store: SqliteStore) -> float:
    """CPU seconds of one bare append to a run."""
    asked = request(1)
    await Harness(tools=[error_logs], model=script(1, []), store=store).start(asked)
    async with drive_lease(Driver("bench", store, SystemClock()), asked.run_id) as run:
        event = Event(EventType.STATUS_CHANGED, {"status": "DIAGNOSIS_RUNNING"})
        begin = time.process_time()
        for _ in range(APPENDS):
            await run.note(event)
        return (time.process_time() - begin) / APPENDS


async def measure(folder: Path, *, profile: bool) -> None:
    """Print the figures, or where the time goes."""
    store = SqliteStore(folder / "runs.db")
    await run_steps(store)  # imports, schemas and caches are there
    profiler = cProfile.Profile()
    steps, appends = [], []
    for _ in range(ROUNDS):
        gc.collect()
        steps.append(await run_steps(store, profiler if profile else None) * 1e6)
        appends.append(await append_lines(store) * 1e6)
    step, append = statistics.median(steps), statistics.median(appends)
    print(f"a step       {step:8.0f} µs CPU  ({min(steps):.0f} to {max(steps):.0f})")
    print(f"an append    {append:8.0f} µs CPU")
    print(f"a step is {step / append:.1f} appends")
    if profile:
        pstats.Stats(profiler).sort_stats("cumulative").print_stats(90)
    await store.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        anyio.run(lambda: measure(Path(place), profile="--profile" in sys.argv))
