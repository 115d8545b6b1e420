"""The circuit breaker: what is down is not asked, and one probe finds out whether it is back."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.core.breaker import (
    BreakerRule,
    Circuit,
    CircuitBreaker,
    CircuitOpen,
    Circuits,
    CircuitState,
    Outcome,
    Ticket,
    admit,
    settle,
)
from affidavit.testing.virtual_clock import VirtualClock

RULE = BreakerRule(failures_max=3, open_s=30, probe_s=10)


def seen(breaker: CircuitBreaker) -> CircuitState:
    """The state at this moment."""
    return breaker.state


async def broken() -> None:
    raise OSError("down")


async def fine() -> str:
    return "answer"


async def open_breaker(clock: VirtualClock) -> CircuitBreaker:
    """A breaker that has seen enough."""
    breaker = CircuitBreaker("tool:logs", clock, RULE)
    for _ in range(RULE.failures_max):
        with pytest.raises(OSError, match="down"):
            await breaker.run(broken)
    assert seen(breaker) is CircuitState.OPEN
    return breaker


@pytest.mark.spec("H8")
async def test_failures_in_a_row_open_it_and_while_open_nothing_is_asked() -> None:
    breaker = await open_breaker(VirtualClock())
    asked: list[int] = []

    async def ask() -> None:
        asked.append(1)

    with pytest.raises(CircuitOpen) as caught:
        await breaker.run(ask)
    assert (asked, caught.value.code) == ([], "CIRCUIT_OPEN")


@pytest.mark.spec("H8")
async def test_a_success_between_failures_keeps_it_closed() -> None:
    breaker = CircuitBreaker("tool:logs", VirtualClock(), RULE)
    for _ in range(5):
        for _ in range(RULE.failures_max - 1):
            with pytest.raises(OSError, match="down"):
                await breaker.run(broken)
        assert await breaker.run(fine) == "answer"
    assert seen(breaker) is CircuitState.CLOSED


@pytest.mark.spec("H8")
@pytest.mark.fault("F45")
async def test_fifty_callers_at_half_open_are_one_probe() -> None:
    clock = VirtualClock()
    breaker = await open_breaker(clock)
    await clock.advance(RULE.open_s)
    assert seen(breaker) is CircuitState.HALF_OPEN
    inside, most, refused = 0, 0, 0
    gate = anyio.Event()

    async def probe() -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await gate.wait()
        inside -= 1

    async def caller() -> None:
        nonlocal refused
        try:
            await breaker.run(probe)
        except CircuitOpen:
            refused += 1
            if refused == 49:
                gate.set()

    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(caller)
    assert (most, refused) == (1, 49)
    assert seen(breaker) is CircuitState.CLOSED


@pytest.mark.spec("H8")
async def test_a_probe_that_fails_opens_it_again_for_the_whole_time() -> None:
    clock = VirtualClock()
    breaker = await open_breaker(clock)
    await clock.advance(RULE.open_s)
    with pytest.raises(OSError, match="down"):
        await breaker.run(broken)
    await clock.advance(RULE.open_s - 1)
    assert seen(breaker) is CircuitState.OPEN
    await clock.advance(1)
    assert await breaker.run(fine) == "answer"
    assert seen(breaker) is CircuitState.CLOSED


@pytest.mark.spec("H8")
@pytest.mark.fault("F45")
async def test_a_cancelled_probe_gives_its_slot_back_at_once() -> None:
    clock = VirtualClock()
    breaker = await open_breaker(clock)
    await clock.advance(RULE.open_s)
    with anyio.CancelScope() as scope:

        async def hang() -> None:
            scope.cancel()
            await anyio.sleep_forever()

        await breaker.run(hang)
    assert scope.cancelled_caught
    assert seen(breaker) is CircuitState.HALF_OPEN
    assert await breaker.run(fine) == "answer"
    assert seen(breaker) is CircuitState.CLOSED


@pytest.mark.spec("H8")
async def test_a_probe_that_never_comes_back_gives_its_slot_back_and_its_word_is_stale() -> None:
    clock = VirtualClock()
    breaker = await open_breaker(clock)
    await clock.advance(RULE.open_s)
    lost = breaker.enter()
    with pytest.raises(CircuitOpen):
        breaker.enter()
    await clock.advance(RULE.probe_s)
    second = breaker.enter()
    assert second.is_probe
    lost.say(Outcome.SUCCESS)
    assert seen(breaker) is CircuitState.HALF_OPEN
    second.say(Outcome.FAILURE)
    assert seen(breaker) is CircuitState.OPEN


@pytest.mark.spec("H8")
async def test_a_callers_own_fault_and_a_cancel_count_for_nothing() -> None:
    breaker = CircuitBreaker("tool:logs", VirtualClock(), RULE)
    for _ in range(10):
        with pytest.raises(OSError, match="down"):
            await breaker.run(broken, lambda _: Outcome.NEITHER)
    assert seen(breaker) is CircuitState.CLOSED


@pytest.mark.spec("H8")
async def test_a_word_from_before_the_circuit_opened_is_stale() -> None:
    clock = VirtualClock()
    breaker = CircuitBreaker("tool:logs", clock, RULE)
    slow = breaker.enter()
    for _ in range(RULE.failures_max):
        breaker.enter().say(Outcome.FAILURE)
    slow.say(Outcome.SUCCESS)
    assert seen(breaker) is CircuitState.OPEN


def test_circuits_are_one_a_dependency() -> None:
    circuits = Circuits(VirtualClock(), RULE)
    for _ in range(RULE.failures_max):
        circuits.breaker("tool:a").enter().say(Outcome.FAILURE)
    assert seen(circuits.breaker("tool:b")) is CircuitState.CLOSED
    assert circuits.states() == {"tool:a": CircuitState.OPEN, "tool:b": CircuitState.CLOSED}


def test_a_rule_that_could_never_close_or_open_is_refused() -> None:
    for wrong in ({"failures_max": 0}, {"open_s": 0.0}, {"probe_s": -1.0}):
        with pytest.raises(ValueError, match="at least one failure"):
            BreakerRule(**wrong)


MOVES = st.lists(
    st.tuples(st.sampled_from(["admit", *Outcome]), st.floats(0, 40), st.integers(min_value=0)),
    max_size=120,
)


@pytest.mark.spec("H8")
@given(moves=MOVES)
def test_laws_of_every_history(moves: list[tuple[str, float, int]]) -> None:
    """Under any interleaving: never two live probes; open means not asked; nothing is stuck."""
    circuit, now_s = Circuit(), 0.0
    flying: list[tuple[Ticket, float]] = []
    failures = 0
    for move, pause_s, choice in moves:
        now_s += pause_s
        if move == "admit":
            before = circuit.seen_at(RULE, now_s)
            circuit, ticket = admit(circuit, RULE, now_s)
            if before is CircuitState.OPEN:
                assert ticket is None
            if before is CircuitState.CLOSED:
                assert ticket is not None
            if ticket is not None:
                flying.append((ticket, now_s))
        elif flying:
            ticket, _ = flying.pop(choice % len(flying))
            counts = ticket.era == circuit.era and circuit.state is CircuitState.CLOSED
            if counts:
                failures = {Outcome.SUCCESS: 0, Outcome.FAILURE: failures + 1}.get(
                    Outcome(move), failures
                )
            before_settled = circuit
            circuit = settle(circuit, ticket, Outcome(move), RULE, now_s)
            if ticket.era != before_settled.era:
                assert circuit == before_settled
            if counts:
                assert (circuit.state is CircuitState.OPEN) == (failures >= RULE.failures_max)
            if (
                circuit.state is not CircuitState.CLOSED
                or before_settled.state is not circuit.state
            ):
                failures = 0
        live = [
            ticket
            for ticket, since_s in flying
            if ticket.probe and ticket.era == circuit.era and now_s < since_s + RULE.probe_s
        ]
        assert len(live) <= 1
    # Whatever happened, after long enough somebody may ask, and one success closes it.
    now_s += RULE.open_s + RULE.probe_s
    circuit, ticket = admit(circuit, RULE, now_s)
    assert ticket is not None
    assert settle(circuit, ticket, Outcome.SUCCESS, RULE, now_s).state is CircuitState.CLOSED
