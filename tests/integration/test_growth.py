"""What a step costs on disk: the same at the tenth and at the thousandth (F36)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.contract.agent import Act, AgentState, Decision, GiveUp
from affidavit.contract.evidence import Fact
from affidavit.contract.journal import EventType
from affidavit.contract.limits import Limits
from affidavit.core.breaker import Circuits
from affidavit.diagnose import drive, start
from affidavit.testing.scripted import ScriptedArguments
from tests.support.acting import guards_for
from tests.support.runs import RUN_ID, reading, request
from tests.support.worlds import act, world

pytestmark = pytest.mark.anyio

MARKS: Final = (10, 100, 1_000)
SHARE_MAX: Final = 0.15
"""Of bytes a step that may differ: numbers have more digits, pages are filled differently."""


def bytes_of(path: Path) -> int:
    """The file once its log is in it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return path.stat().st_size


@pytest.mark.slow
@pytest.mark.integration("sqlite")
@pytest.mark.spec("K8", "K10")
@pytest.mark.fault("F36")
async def test_a_step_takes_as_many_bytes_late_as_early(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seven guards, breaker, ledger, journal, artifacts: everything on; each answer is another."""
    path = tmp_path / "runs.db"
    store = SqliteStore(path)
    sizes: dict[int, int] = {}

    class Measuring:
        """Looks until the last mark, and measures the file at each."""

        name = "measuring"

        async def decide(self, state: AgentState) -> Decision:
            done = state.step - 1
            if done in MARKS:
                sizes[done] = bytes_of(path)
            return GiveUp("done") if done == MARKS[-1] else ask(state.step)

    def ask(step: int) -> Act:
        return act("look", query=f"{step:06d}")

    async def look(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        news = arguments.query.translate(str.maketrans("0123456789", "abcdefghij"))
        return tuple(reading(f"service-{n}", "5", f"errors of {news}") for n in range(10))

    told = world([], store=store, backends={"look": look})
    collection = replace(
        told.collection,
        investigator=Measuring(),
        guards=guards_for(told.collection.catalogue),
        circuits=Circuits(told.driver.clock),
    )
    told = replace(told, collection=collection)
    enough = 2 * MARKS[-1]
    limits = Limits(iterations=enough, tokens=0, timeout_s=3600, tool_calls=enough, concurrency=4)
    await start(told, request(limits=limits))
    await drive(RUN_ID, told)
    kinds = [entry.type for entry in await store.read(RUN_ID)]
    assert kinds.count(EventType.TOOL_CALL_READY) == MARKS[-1]
    await store.close()

    low, middle, high = (sizes[mark] for mark in MARKS)
    early = (middle - low) / (MARKS[1] - MARKS[0])
    late = (high - middle) / (MARKS[2] - MARKS[1])
    with capsys.disabled():
        print(f" [{early:.0f} bytes a step up to {MARKS[1]}, {late:.0f} up to {MARKS[2]}]")
    assert abs(late - early) <= SHARE_MAX * early
