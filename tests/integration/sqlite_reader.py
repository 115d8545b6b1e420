"""A process that may not write: `sqlite_reader.py FILE RUN_ID FREE_ID (permissions|mount)`.

permissions: root loses its rights first, for it may write anywhere. mount: the folder of FILE is
mounted once more, read-only, in a mount namespace of this process. RUN_ID is held by "a" under
epoch 1, FREE_ID by nobody. It says as JSON what it could do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio

from affidavit.adapters.store_url import open_store
from affidavit.contract.errors import AffidavitError
from affidavit.core.chain import first_break
from affidavit.ports.store import Append, Lease, Store
from affidavit.testing.journals import (
    START_US,
    TTL_US,
    artifact,
    begin_run,
    next_lines,
)

NOBODY = 65534


def give_up_rights(kind: str, folder: Path) -> None:
    """Become somebody for whom the folder cannot be written."""
    if kind == "mount":
        subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
    elif os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


async def try_everything(path: Path, run_id: str, free_id: str) -> dict[str, object]:
    """Read, write in every way, read again."""
    try:
        store = open_store(f"sqlite:{path}")
    except AffidavitError as refused:
        return {"refused": f"{refused.code}: {refused.message}", "hint": refused.hint}
    before = await store.read(run_id)
    refusals = {}
    for name, write in writes(store, run_id, free_id).items():
        try:
            await write()
        except AffidavitError as refused:
            refusals[name] = f"{type(refused).__name__} {refused.code}: {refused.message}"
    after = await store.read(run_id)
    artifacts = await store.artifacts(run_id)
    await store.close()
    return {
        "lines": len(before),
        "artifacts": len(artifacts),
        "chain_broken_at": first_break(run_id, before),
        "unchanged": before == after,
        "refusals": refusals,
    }


def writes(store: Store, run_id: str, free_id: str) -> dict[str, Callable[[], Awaitable[object]]]:
    """Every write, once, each of them right."""
    lease = Lease(run_id, "a", 1, 0)

    async def append(durable: bool) -> None:
        last = (await store.read(run_id))[-1]
        await store.append(lease, Append(next_lines(last), [artifact(b"x")], durable=durable))

    return {
        "create": lambda: begin_run(store, 99),
        "acquire": lambda: store.acquire(free_id, "b", START_US, TTL_US),
        "renew": lambda: store.renew(lease, START_US, 2 * TTL_US),
        "release": lambda: store.release(lease),
        "append": lambda: append(False),
        "append durably": lambda: append(True),
        "post": lambda: store.post(run_id, "cancel", "somebody"),
    }


async def warm_up() -> None:
    """Load what the event loop needs while this process may still read its files."""
    await anyio.to_thread.run_sync(int)


if __name__ == "__main__":
    anyio.run(warm_up)
    give_up_rights(sys.argv[4], Path(sys.argv[1]).parent)
    print(json.dumps(anyio.run(try_everything, Path(sys.argv[1]), sys.argv[2], sys.argv[3])))
