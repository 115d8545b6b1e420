"""Ceilings of a day hold over every process that shares a store (K3)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.ports.ceiling import CeilingRule, Ceilings, CeilingStore
from affidavit.testing.conformance_ceilings import CEILING_CHECKS, OpenCeilings, spend_of


@asynccontextmanager
async def opening(kind: str, folder: Path) -> AsyncIterator[OpenCeilings]:
    """Opens the same sums anew each time."""
    memory, opened = MemoryStore(), list[SqliteStore]()

    def open_ceilings(rule: CeilingRule) -> Ceilings:
        if kind == "memory":
            return memory.reopen().ceilings(rule)
        opened.append(SqliteStore(folder / "runs.db"))
        return opened[-1].ceilings(rule)

    yield open_ceilings
    for store in opened:
        await store.close()


@pytest.mark.spec("K3")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("name", CEILING_CHECKS)
async def test_ceilings(kind: str, name: str, tmp_path: Path) -> None:
    async with opening(kind, tmp_path) as open_ceilings:
        await CEILING_CHECKS[name](open_ceilings)


OTHER_PROCESS = """
import sys, anyio
from pathlib import Path
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.ports.ceiling import CeilingRequest, CeilingRule

async def main():
    store = SqliteStore(Path(sys.argv[1]))
    asked = CeilingRequest(key="other/1", tenant="a", day="2026-03-02", tokens=60, micros=0)
    print(await store.ceilings(CeilingRule(tenant_tokens=100)).reserve(asked))
    await store.close()

anyio.run(main)
"""


@pytest.mark.spec("K3")
async def test_another_process_cannot_spend_what_this_one_holds(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    assert isinstance(store, CeilingStore)
    ceilings = store.ceilings(CeilingRule(tenant_tokens=100))
    assert await ceilings.reserve(spend_of("here/1", 50)) is None
    asked = [sys.executable, "-c", OTHER_PROCESS, str(tmp_path / "runs.db")]
    said = subprocess.run(asked, capture_output=True, text=True, check=True)  # noqa: ASYNC221 - short
    assert said.stdout.strip() == "tenant_day"
    await ceilings.settle(spend_of("here/1", 40))
    said = subprocess.run(asked, capture_output=True, text=True, check=True)  # noqa: ASYNC221 - short
    assert said.stdout.strip() == "None"
    await store.close()
