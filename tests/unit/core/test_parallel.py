"""Work side by side: settled in order, and a stop leaves unchanged."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from affidavit.contract.errors import RunCancelled
from affidavit.core.parallel import run_side_by_side

pytestmark = pytest.mark.anyio


async def _work(place: int, started: list[int], gates: list[anyio.Event]) -> int:
    started.append(place)
    await gates[place].wait()
    return place


@pytest.mark.spec("T2")
async def test_results_are_settled_in_the_order_asked_however_they_finish() -> None:
    gates = [anyio.Event() for _ in range(4)]
    settled: list[int] = []

    async def settle(place: int, result: int) -> None:
        settled.append(result)

    async def open_backwards() -> None:
        for gate in reversed(gates):
            gate.set()
            await anyio.wait_all_tasks_blocked()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(open_backwards)
        works = [partial(_work, place, [], gates) for place in range(4)]
        await run_side_by_side(works, settle, concurrency=4)
    assert settled == [0, 1, 2, 3]


@pytest.mark.spec("K3")
@pytest.mark.fault("F9")
async def test_no_more_than_the_bound_run_at_once() -> None:
    gates = [anyio.Event() for _ in range(5)]
    started: list[int] = []

    async def settle(place: int, result: int) -> None:
        pass

    async with anyio.create_task_group() as tasks:
        works = [partial(_work, place, started, gates) for place in range(5)]
        tasks.start_soon(partial(run_side_by_side, works, settle, concurrency=2))
        await anyio.wait_all_tasks_blocked()
        assert started == [0, 1]
        for gate in gates:
            gate.set()
    assert sorted(started) == [0, 1, 2, 3, 4]


@pytest.mark.spec("K6")
async def test_a_stop_ends_the_others_and_is_raised_as_it_was() -> None:
    stop = RunCancelled()
    ended: list[str] = []

    async def stopping() -> int:
        raise stop

    async def waiting() -> int:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("waiting")
        return 0

    async def settle(place: int, result: int) -> None:
        raise AssertionError("nothing may be settled")

    with pytest.raises(RunCancelled) as caught:
        await run_side_by_side([waiting, stopping], settle, concurrency=2)
    assert caught.value is stop
    assert ended == ["waiting"]
