"""Ctrl-C and SIGTERM become words in the run's inbox (K5)."""

from __future__ import annotations

import os
import signal

import anyio
import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.cli.screen import LeftAtOnce
from affidavit.cli.signals import heeding_signals
from affidavit.contract.errors import RecordFailed
from affidavit.testing.journals import begin_run

pytestmark = pytest.mark.anyio


async def kinds(store: MemoryStore, run_id: str) -> list[str]:
    return [command.kind for command in await store.inbox(run_id)]


async def heard(store: MemoryStore, run_id: str) -> None:
    """Wait until something is in the run's inbox."""
    while not await store.inbox(run_id):  # noqa: ASYNC110 - a store has no event to wait for
        await anyio.sleep(0.001)


@pytest.mark.spec("K5")
@pytest.mark.parametrize(
    ("number", "kind"),
    [(signal.SIGINT, "cancel"), (signal.SIGTERM, "pause"), (signal.SIGHUP, "pause")],
)
async def test_a_signal_is_a_word(number: signal.Signals, kind: str) -> None:
    store = MemoryStore()
    run = await begin_run(store, 1)

    async def work() -> str:
        os.kill(os.getpid(), number)
        await heard(store, run.id)
        return "done"

    assert await heeding_signals(store, run.id, work) == "done"
    assert await kinds(store, run.id) == [kind]


@pytest.mark.spec("K5")
async def test_a_second_interrupt_leaves_at_once() -> None:
    store = MemoryStore()
    run = await begin_run(store, 1)

    async def work() -> str:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            await heard(store, run.id)
        await anyio.sleep_forever()
        return "never"

    with pytest.raises(LeftAtOnce):
        await heeding_signals(store, run.id, work)
    assert await kinds(store, run.id) == ["cancel"]


async def test_what_the_work_raises_leaves_unchanged() -> None:
    async def work() -> str:
        raise RecordFailed("full")

    with pytest.raises(RecordFailed, match="full"):
        await heeding_signals(MemoryStore(), "run_0123456789abcdef", work)


async def test_a_word_for_a_run_that_is_gone_is_no_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def work() -> str:
        os.kill(os.getpid(), signal.SIGTERM)
        await anyio.sleep(0.05)
        return "done"

    assert await heeding_signals(MemoryStore(), "run_0123456789abcdef", work) == "done"
    assert "pausing" in capsys.readouterr().err


async def test_afterwards_signals_are_python_s_again() -> None:
    before = signal.getsignal(signal.SIGTERM)

    async def work() -> None:
        return None

    await heeding_signals(MemoryStore(), "run_0123456789abcdef", work)
    assert signal.getsignal(signal.SIGTERM) == before
