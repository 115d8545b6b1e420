"""The one loop that asks again: numbered, bounded, and never where it cannot help."""

from __future__ import annotations

import pytest

from affidavit.contract.errors import DeadlineReached, ModelFailed, RunCancelled
from affidavit.contract.states import RetryFailure
from affidavit.core.attempts import ONCE, AttemptRule, AttemptsEnded, attempt
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.desks import limits
from tests.support.runs import driven, request

pytestmark = pytest.mark.anyio

RULE = AttemptRule(attempts_max=4, wait_first_s=1.0, wait_max_s=4.0)


class Work:
    """Fails as told, then succeeds; keeps the numbers and the moments of its attempts."""

    def __init__(self, clock: VirtualClock, *failures: BaseException) -> None:
        self.clock, self.failures = clock, list(failures)
        self.numbers: list[int] = []
        self.moments: list[float] = []

    async def __call__(self, number: int) -> str:
        self.numbers.append(number)
        self.moments.append(self.clock.monotonic_s())
        if len(self.numbers) <= len(self.failures):
            raise self.failures[len(self.numbers) - 1]
        return "done"


def again(after_s: float | None = None) -> ModelFailed:
    return ModelFailed("again", may_retry=True, after_s=after_s)


@pytest.mark.spec("K7")
async def test_attempts_count_from_one_and_wait_longer_each_time() -> None:
    clock = VirtualClock()
    work = Work(clock, again(), again(), again())
    async with clock.jumping(), driven(clock=clock) as run:
        assert await attempt(run, RULE, work) == "done"
    assert work.numbers == [1, 2, 3, 4]
    waits = [later - sooner for sooner, later in zip(work.moments, work.moments[1:], strict=False)]
    for wait, longest in zip(waits, (1.0, 2.0, 4.0), strict=True):
        assert longest / 2 <= wait <= longest + 0.01


@pytest.mark.spec("K7", "E15")
async def test_the_end_of_the_attempts_says_why() -> None:
    clock = VirtualClock()
    for rule, failures, reason, count in (
        (RULE, [again()] * 9, RetryFailure.EXHAUSTED, 4),
        (ONCE, [again()], RetryFailure.EXHAUSTED, 1),
        (RULE, [ModelFailed("never")], RetryFailure.NON_RETRYABLE, 1),
        (RULE, [again(after_s=600.0)], RetryFailure.EXHAUSTED, 1),
    ):
        work = Work(clock, *failures)
        async with clock.jumping(), driven(clock=clock) as run:
            with pytest.raises(AttemptsEnded) as ended:
                await attempt(run, rule, work)
        assert (ended.value.reason, ended.value.attempts) == (reason, count)
        assert work.numbers == list(range(1, count + 1))


@pytest.mark.spec("K7", "K6")
async def test_what_is_no_failure_of_a_model_passes_unchanged() -> None:
    clock = VirtualClock()
    for error in (RunCancelled(), ValueError("a fault of ours")):
        work = Work(clock, error)
        async with driven(clock=clock) as run:
            with pytest.raises(type(error)):
                await attempt(run, RULE, work)
        assert work.numbers == [1]


@pytest.mark.spec("K7")
async def test_the_provider_s_wait_is_kept_and_never_beyond_the_deadline() -> None:
    clock = VirtualClock()
    work = Work(clock, again(after_s=3.5))
    async with clock.jumping(), driven(clock=clock) as run:
        await attempt(run, RULE, work)
    assert work.moments[1] - work.moments[0] >= 3.5
    late = Work(clock, again(after_s=3.5))
    async with (
        clock.jumping(),
        driven(clock=clock, asked=request(limits=limits(timeout_s=2))) as run,
    ):
        before_s = clock.monotonic_s()
        with pytest.raises(DeadlineReached):
            await attempt(run, RULE, late)
        assert clock.monotonic_s() - before_s <= 2.1
    assert late.numbers == [1]


@pytest.mark.spec("K7")
def test_a_rule_under_which_nothing_is_tried_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one attempt"):
        AttemptRule(attempts_max=0)
