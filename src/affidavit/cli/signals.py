"""What the terminal asks of a run under way: Ctrl-C cancels, SIGTERM pauses.

Both go through the run's inbox, as a word from any other process would; so the run ends or waits in
one of its own ways, on record. A second Ctrl-C leaves at once: the run can be resumed.
"""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from typing import Final, Literal, TypeVar

import anyio

from affidavit.cli.screen import LeftAtOnce, tell
from affidavit.contract.errors import AffidavitError, InputRefused
from affidavit.ports.store import Store

T = TypeVar("T")

_ASKS: Final[dict[signal.Signals, Literal["cancel", "pause"]]] = {
    signal.SIGINT: "cancel",
    signal.SIGTERM: "pause",
    signal.SIGHUP: "pause",
}

_WORDS: Final = {
    "cancel": "cancelling; press Ctrl-C again to leave at once (the run can be resumed)",
    "pause": "pausing",
}


async def heeding_signals(store: Store, run_id: str, work: Callable[[], Awaitable[T]]) -> T:
    """The work, while signals become words in the run's inbox.

    Raises what the work raises, and `LeftAtOnce` after a second Ctrl-C.
    """
    results: list[T] = []
    failures: list[Exception] = []
    with anyio.open_signal_receiver(*_ASKS) as signals:
        async with anyio.create_task_group() as tasks:

            async def listen() -> None:
                interrupts = 0
                async for number in signals:
                    interrupts += number == signal.SIGINT
                    if interrupts > 1:
                        failures.append(LeftAtOnce("left before the run ended"))
                        tasks.cancel_scope.cancel()
                        return
                    await _post(store, run_id, _ASKS[number])

            tasks.start_soon(listen)
            try:
                results.append(await work())
            except Exception as error:  # noqa: BLE001 - a task group would wrap it
                failures.append(error)
            tasks.cancel_scope.cancel()
    if failures:
        raise failures[0]
    return results[0]


async def _post(store: Store, run_id: str, ask: Literal["cancel", "pause"]) -> None:
    tell(_WORDS[ask])
    try:
        await store.post(run_id, ask, "local")
    except InputRefused:
        pass  # the run has just ended: its answer comes anyway
    except AffidavitError as error:
        tell(f"the wish to {ask} could not be recorded: {error.message}")
