"""The guards in their one global order, cheapest and earliest-terminating first (H2 to H4).

    10 budget     what may still be spent            before thinking
    20 loop       the same steps over and over       before thinking
    30 timeout    the run's time                     before thinking

A guard that raises or overruns stops the run and is named (H4). Order and cost must agree: a chain
in which a dear guard stands before a cheap one refuses to start.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Final, Protocol

import anyio

from affidavit.contract.agent import Act, AgentRequest, AgentState, GuardResult, Moment
from affidavit.contract.errors import InputRefused, InternalFault

GUARD_TIMEOUT_S: Final = 5.0
"""Guards look at what is in memory or in a small table; one that takes longer is broken."""


class CostClass(IntEnum):
    """What asking a guard costs; never decreases along the chain."""

    MEMORY = 0
    LOOKUP = 1
    PAUSE = 2


class Guard(Protocol):
    """One guard. `check` may be a plain or an async function."""

    name: str
    order: int
    cost: CostClass
    when: Moment

    def check(self, state: AgentState, request: AgentRequest, action: Act | None) -> GuardResult:
        """Whether the next step may happen."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """One guard's word, as the journal keeps it."""

    guard: str
    result: GuardResult


class GuardFailed(InternalFault):
    """A guard raised or overran: the run stops, and the guard is named (H4, F43)."""

    code = "GUARD_FAILED"


@dataclass(frozen=True, slots=True)
class GuardChain:
    """Guards in order. Made by `in_order`, which refuses what H3 refuses."""

    guards: tuple[Guard, ...]

    async def ask(
        self, moment: Moment, state: AgentState, request: AgentRequest, action: Act | None = None
    ) -> tuple[Verdict, ...]:
        """Ask each guard of this moment until one stops; the last verdict is the chain's."""
        verdicts: list[Verdict] = []
        for guard in self.guards:
            if guard.when is not moment:
                continue
            verdict = Verdict(guard.name, await _check(guard, state, request, action))
            verdicts.append(verdict)
            if not verdict.result.passed:
                break
        return tuple(verdicts)


async def _check(
    guard: Guard, state: AgentState, request: AgentRequest, action: Act | None
) -> GuardResult:
    try:
        with anyio.fail_after(GUARD_TIMEOUT_S):
            result = guard.check(state, request, action)
            return await result if inspect.isawaitable(result) else result
    except Exception as error:
        raise GuardFailed(
            f"the guard {guard.name!r} failed ({type(error).__name__}); the run stops",
            hint="mend the guard or take it out by name",
        ) from error


def in_order(guards: Iterable[Guard]) -> GuardChain:
    """The chain of these guards, by their `order`.

    Raises InputRefused (GUARD_ORDER) when two share a place or a name, or cost decreases.
    """
    chain = sorted(guards, key=lambda guard: guard.order)
    for before, after in pairwise(chain):
        if before.order == after.order:
            raise InputRefused(
                f"guards {before.name!r} and {after.name!r} have the same order {after.order}",
                code="GUARD_ORDER",
                hint="give each guard a place of its own",
            )
        if after.cost < before.cost:
            raise InputRefused(
                f"guard {before.name!r} costs more than {after.name!r}, which comes after it",
                code="GUARD_ORDER",
                hint="put cheap guards first: a run that they end need not pay for the rest",
            )
    return GuardChain(tuple(chain))
