"""Every store through the same checks, and a broken store through them too: it must be caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.errors import InputRefused
from affidavit.contract.journal import Entry
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.ports.store import (
    Append,
    Artifact,
    Command,
    CommandKind,
    Lease,
    PendingApproval,
    Store,
)
from affidavit.testing.conformance import ConformanceFailed
from affidavit.testing.conformance_store import STORE_CHECKS, OpenStore, StoreCheck
from affidavit.testing.faulty_store import FaultyStore
from affidavit.testing.journals import first_lines


def in_memory(_: Path) -> OpenStore:
    """Handles on one set of runs in memory."""
    return MemoryStore().reopen


def in_sqlite(folder: Path) -> OpenStore:
    """Connections to one file."""
    return lambda: SqliteStore(folder / "runs.db")


def behind_faults(_: Path) -> OpenStore:
    """The fault-injecting store, with no fault: it must not change anything by itself."""
    memory = MemoryStore()
    return lambda: FaultyStore(memory.reopen())


STORES = {"memory": in_memory, "sqlite": in_sqlite, "faulty": behind_faults}


@pytest.mark.spec("K1", "K8", "C2", "L5", "L6", "N12", "A1", "H10")
@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("place", STORES.values(), ids=STORES.keys())
async def test_store_conforms(
    place: Callable[[Path], OpenStore], check: StoreCheck, tmp_path: Path
) -> None:
    """What a store promises holds in memory and on disk alike."""
    await check(place(tmp_path))


class Unfenced(MemoryStore):
    """Takes any driver for the right one."""

    async def append(self, lease: Lease, write: Append) -> None:
        if run := self._runs.get(lease.run_id):
            lease = replace(lease, epoch=run.standing.epoch, holder=run.standing.holder or "")
        await super().append(lease, write)


class Forgetful(MemoryStore):
    """Loses artifacts."""

    async def artifacts(self, run_id: str) -> tuple[Artifact, ...]:
        return (await super().artifacts(run_id))[1:]


class Torn(MemoryStore):
    """Keeps the artifacts of a write that it then refuses."""

    async def append(self, lease: Lease, write: Append) -> None:
        await super().append(lease, Append((), write.artifacts))
        await super().append(lease, write)


class Impatient(MemoryStore):
    """Gives a lease away before it has run out."""

    async def acquire(self, run_id: str, holder: str, now_us: int, ttl_us: int) -> Lease | None:
        return await super().acquire(run_id, holder, now_us + 1, ttl_us)


class Deaf(MemoryStore):
    """Loses the newest command."""

    async def inbox(self, run_id: str) -> tuple[Command, ...]:
        return (await super().inbox(run_id))[:-1]


class Listy(MemoryStore):
    """Gives lists back as lists."""

    async def read(self, run_id: str) -> tuple[Entry, ...]:
        def thaw(value: object) -> object:
            if isinstance(value, dict):
                return {key: thaw(item) for key, item in value.items()}
            return [thaw(item) for item in value] if isinstance(value, tuple) else value

        lines = await super().read(run_id)
        return tuple(
            replace(line, data={key: thaw(item) for key, item in line.data.items()})
            for line in lines
        )


class Hasty(MemoryStore):
    """Lets payloads expire too early."""

    async def expire_artifacts(self, now_us: int, older_than_us: int = 0) -> int:
        return await super().expire_artifacts(now_us, older_than_us - 1)


class Endless(MemoryStore):
    """Forgets that a run has ended."""

    async def append(self, lease: Lease, write: Append) -> None:
        await super().append(lease, replace(write, ended=None))


class Mute(MemoryStore):
    """Loses what a command says."""

    async def post(self, run_id: str, kind: CommandKind, by: str, payload: str = "") -> None:
        await super().post(run_id, kind, by)


class Indiscreet(MemoryStore):
    """Shows every tenant what waits."""

    async def approvals(self, tenant: str, limit: int = 50) -> tuple[PendingApproval, ...]:
        tenants = sorted({run.standing.head.tenant for run in self._runs.values()})
        everything: list[PendingApproval] = []
        for each in tenants:
            everything += await super().approvals(each)
        return tuple(everything[: max(0, limit)])


class Oversleeping(MemoryStore):
    """Forgets when to wake."""

    async def append(self, lease: Lease, write: Append) -> None:
        await super().append(lease, replace(write, wake_at_us=None))


class Loyal(MemoryStore):
    """Lets nothing be said of an answer."""

    async def attach(self, run_id: str, item: Artifact) -> None:
        await self._enter()


class Headless(MemoryStore):
    """Stores a sealed run, and leaves it out of its tenant's chain."""

    async def append(self, lease: Lease, write: Append) -> None:
        await super().append(lease, replace(write, head=None))


BROKEN = {
    Headless: "chains_sealed_heads",
    Unfenced: "fences_a_sleeper",
    Forgetful: "keeps_artifacts",
    Torn: "refuses_disorder",
    Impatient: "leases_to_one",
    Deaf: "keeps_commands",
    Listy: "reads_what_was_written",
    Hasty: "expires_payloads",
    Endless: "ends_once",
    Mute: "keeps_payloads",
    Indiscreet: "lists_what_waits_for_a_person",
    Oversleeping: "wakes_at_its_time",
    Loyal: "keeps_what_is_said_since",
}


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
async def test_broken_store_is_caught(kind: type[MemoryStore]) -> None:
    """Each broken promise is found by the check that is meant for it: the checks can fail."""
    caught = set()
    for check in STORE_CHECKS:
        runs = kind()

        def reopen(runs: MemoryStore = runs) -> Store:
            other = kind()
            other._runs, other._ids = runs._runs, runs._ids
            other._heads = runs._heads
            return other

        try:
            await check(reopen)
        except (
            ConformanceFailed,
            ValueError,
            InputRefused,
        ):  # a check may also find no way to go on
            caught.add(check.__name__)
    assert BROKEN[kind] in caught


@pytest.mark.spec("K1")
@pytest.mark.parametrize(
    ("entries", "state"), [(1, RunState.RUNNING), (0, RunState.SUCCESS), (0, RunState.RUNNING)]
)
def test_end_is_said_by_a_line(entries: int, state: RunState) -> None:
    """A write cannot end a run without a line, or in a state that goes on."""
    with pytest.raises(ValueError, match="ends no run"):
        Append(first_lines("run_0000000000000001")[:entries], ended=(state, ReleaseOutcome.FAILED))


def test_only_a_pause_has_an_alarm() -> None:
    """A time to wake without a pause would wake nobody."""
    for paused in (None, False):
        with pytest.raises(ValueError, match="only a pause"):
            Append((), paused=paused, wake_at_us=1)
