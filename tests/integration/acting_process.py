"""Processes that drive one run with effects to its end, and may be killed at any moment.

    acting_process.py STORE FILE LEASE_S        and then, on its input, one RUN_ID a line

Each line is a process of its own, forked from one that has all modules loaded, so that two hundred
deaths take a minute. It says `PID`, `ready` when it begins to drive, answers for the people
(approves, resolves), and adds a line to FILE for each effect: the effect's key. When it is over,
killed or not, `over CODE` is said for it. All else is the product.
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import anyio

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import Decision, GiveUp
from affidavit.contract.errors import InputRefused
from affidavit.contract.limits import Limits
from affidavit.contract.report import ReleaseRecord
from affidavit.core import run
from affidavit.core.breaker import Circuits
from affidavit.core.chain import to_us
from affidavit.core.fold import fold
from affidavit.diagnose import World, drive, start
from affidavit.testing.scripted import ScriptedArguments
from affidavit.tools import approval_desk as desk
from affidavit.tools.catalogue import Catalogue
from tests.support.acting import guards_for, writing_tool
from tests.support.runs import request
from tests.support.worlds import act, world

EFFECTS: Final = 10
NAP_S: Final = 0.02
"""Before and after each effect, so that a death falls into it often enough."""

LIMITS: Final = Limits(iterations=50, tokens=0, timeout_s=600, tool_calls=100, concurrency=4)


def world_of(store: SqliteStore, file: Path) -> World:
    """Look, restart, look, restart …"""

    async def restart(arguments: ScriptedArguments, key: str) -> None:
        await anyio.sleep(random.uniform(0, NAP_S))
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{key}\n".encode())
        os.close(descriptor)
        await anyio.sleep(random.uniform(0, NAP_S))

    script: list[Decision] = []
    for number in range(EFFECTS):
        script += [
            act("probe", query=f"before {number}"),
            act("restart", service=f"service {number}"),
        ]
    told = world([*script, GiveUp("done")], store=store, holder=f"process {os.getpid()}")
    tools = (*told.collection.catalogue.tools.values(), writing_tool("restart", restart))
    catalogue = Catalogue.of(tools)
    collection = replace(
        told.collection,
        catalogue=catalogue,
        guards=guards_for(catalogue),
        circuits=Circuits(told.driver.clock),
    )
    return replace(told, collection=collection)


async def main(path: str, file: str, run_id: str) -> None:
    """Drive the run to its end, and be everybody who has to be asked."""
    store, clock = SqliteStore(Path(path)), SystemClock()
    told = world_of(store, Path(file))
    asked: Any = {**dict(request(run_id, limits=LIMITS)), "requested_by": "Ada"}
    if await store.head(run_id) is None:
        await start(told, request().model_validate(asked))
    print("ready", flush=True)
    while not isinstance(await attempt(run_id, told), ReleaseRecord):
        view = fold(await store.read(run_id))
        for call in view.waiting():
            said = desk.Decision(run_id, call.tool_call_id, approved=True, by="Mo")
            await desk.decide_approval(store, to_us(clock.now()), said)
        for call in view.unresolved():
            await desk.record_outcome(store, run_id, call.tool_call_id, "done", "Mo")
    print("ended", flush=True)


async def attempt(run_id: str, told: World) -> object:
    """Drive it, once the lease of whoever died before us has run out."""
    try:
        return await drive(run_id, told)
    except InputRefused as refused:
        if refused.code not in {"RUN_BUSY", "APPROVAL_DECIDED", "OUTCOME_KNOWN"}:
            raise
        await anyio.sleep(0.05)
        return None


def live(path: str, file: str, lease_s: str, run_id: str) -> int:
    """One life of a process; its exit code."""
    run.LEASE_TTL_S = float(lease_s)  # type: ignore[misc]
    run.LEASE_TTL_US = int(run.LEASE_TTL_S * 1_000_000)  # type: ignore[misc]
    print(os.getpid(), flush=True)
    try:
        anyio.run(main, path, file, run_id)
    except InputRefused as late:
        # A word that was posted by a process that died right after it: the next one goes on.
        print(late.code, flush=True)
        return 3
    return 0


def serve() -> None:
    """One life a line."""
    path, file, lease_s = sys.argv[1:]
    while line := sys.stdin.readline().strip():
        child = os.fork()
        if not child:
            os._exit(live(path, file, lease_s, line))
        _, status = os.waitpid(child, 0)
        print(f"over {os.waitstatus_to_exitcode(status)}", flush=True)


if __name__ == "__main__":
    serve()
