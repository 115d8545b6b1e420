"""The one loop that asks again (K7, E15).

Attempts are numbered from 1. Before each the run is asked whether it may go on; between two of
them it waits, interruptibly, and never beyond the run's deadline. What may not be repeated
(permission, validation, a spent budget, a cancel) is not; a stop of the run passes unchanged (K6).

Waits double from the first on, and are spread by the run's id, so that many runs that failed in
one moment do not come back in one moment. A provider that asks for a longer wait than the longest
of ours is not waited for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from affidavit.contract.errors import ModelFailed
from affidavit.contract.states import RetryFailure
from affidavit.core.run import Run

T = TypeVar("T")

ATTEMPTS_MAX: Final = 3
"""A fault that survives two repetitions is no blink; the next model is asked instead."""

WAIT_FIRST_S: Final = 0.5
"""A lost connection is back by then."""

WAIT_MAX_S: Final = 8.0
"""A run of three minutes has no longer to stand still for one answer."""


@dataclass(frozen=True, slots=True)
class AttemptRule:
    """How often, and how long between. Waits are seconds."""

    attempts_max: int = ATTEMPTS_MAX
    wait_first_s: float = WAIT_FIRST_S
    wait_max_s: float = WAIT_MAX_S

    def __post_init__(self) -> None:
        """Refuse a rule under which nothing would ever be tried."""
        if self.attempts_max < 1 or self.wait_first_s < 0 or self.wait_max_s < 0:
            raise ValueError("at least one attempt, and no negative wait")


ONCE: Final = AttemptRule(attempts_max=1)
"""For whoever has a loop of its own above: the release asks its judge twice, and nobody else."""


class AttemptsEnded(Exception):
    """No attempt succeeded: why it ended, the last failure, and how many were made."""

    def __init__(self, reason: RetryFailure, last: ModelFailed, attempts: int) -> None:
        super().__init__(f"{reason} after {attempts}: {last.code}")
        self.reason = reason
        self.last = last
        self.attempts = attempts


async def attempt(run: Run, rule: AttemptRule, once: Callable[[int], Awaitable[T]]) -> T:
    """The result of the first attempt that succeeds; `once` is given its number, from 1.

    Raises AttemptsEnded when none does, RunStopped unchanged, and whatever is no ModelFailed.
    """
    number = 1
    while True:
        await run.check()
        try:
            return await once(number)
        except ModelFailed as failed:
            ended = _ending(rule, failed, number)
            if ended is not None:
                raise AttemptsEnded(ended, failed, number) from failed
            await wait_between(run, _wait_s(run.id, rule, failed, number))
        number += 1


async def wait_between(run: Run, seconds: float) -> None:
    """Stand still, unless the run is stopped; never beyond its deadline."""
    clipped_s = min(seconds, max(0.0, run.remaining_s()))
    await run.interruptible(lambda: run.clock.sleep(clipped_s))


def _ending(rule: AttemptRule, failed: ModelFailed, number: int) -> RetryFailure | None:
    if not failed.may_retry:
        return RetryFailure.NON_RETRYABLE
    too_long = failed.after_s is not None and failed.after_s > rule.wait_max_s
    return RetryFailure.EXHAUSTED if number >= rule.attempts_max or too_long else None


def _wait_s(run_id: str, rule: AttemptRule, failed: ModelFailed, number: int) -> float:
    """Between half and the whole of the doubled wait; what the provider asked for at least."""
    longest_s = min(rule.wait_first_s * float(2 ** (number - 1)), rule.wait_max_s)
    spread = hashlib.sha256(f"{run_id}:{number}".encode()).digest()[0] / 255
    return max(failed.after_s or 0.0, longest_s * (0.5 + 0.5 * spread))
