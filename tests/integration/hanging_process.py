"""A process that drives one run and hangs in its tool: `hanging_process.py STORE RUN_ID`.

It says `ready` when its tool is under way; only a kill ends it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from affidavit.adapters.process_identity import own_holder
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.agent import GiveUp
from affidavit.contract.evidence import Fact
from affidavit.diagnose import drive, start
from affidavit.testing.scripted import ScriptedArguments
from tests.support.runs import request
from tests.support.worlds import act, world


async def main(path: str, run_id: str) -> None:
    """Begin the run, and never come back from its first call."""

    async def hang(_: ScriptedArguments) -> tuple[Fact, ...]:
        print("ready", flush=True)
        await anyio.sleep_forever()
        raise AssertionError

    store = SqliteStore(Path(path))
    told = world(
        [act("probe"), GiveUp("done")], store=store, holder=own_holder(), backends={"probe": hang}
    )
    await start(told, request(run_id))
    await drive(run_id, told)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
