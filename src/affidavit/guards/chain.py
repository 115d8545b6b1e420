"""The guards in their one global order, cheapest and earliest-terminating first (H2 to H4).

    10 budget            what may still be spent                    before thinking
    20 loop              the same steps over and over               before thinking
    30 timeout           the run's time                             before thinking
    40 circuit-breaker   is there anything left to think with?      before thinking
    50 permission        may this tool be asked so, by this role?   before acting
    60 approval          has a person approved exactly this?        before acting
    70 audit             what came in, what was really executed     around both

Guards decide, the chain acts. A guard that raises or overruns stops the run and is named (H4).
Order and cost must agree: a chain in which a dear guard stands before a cheap one refuses to start.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from itertools import pairwise
from typing import Final, Protocol, runtime_checkable

import anyio

from affidavit.contract.agent import Action, AgentRequest, AgentState, GuardResult, Moment
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.contract.states import AgentStatus
from affidavit.core.canonical import canonical_json, digest

GUARD_TIMEOUT_S: Final = 5.0
"""Guards look at what is in memory or in a small table; one that takes longer is broken."""

GUARD_FAILED: Final = "GUARD_FAILED"
"""The reason on record when a guard raised or overran: no is the answer of a broken guard (F43)."""


class CostClass(IntEnum):
    """What asking a guard costs; never decreases along the chain."""

    MEMORY = 0
    LOOKUP = 1
    PAUSE = 2
    RECORD = 3


@runtime_checkable
class Guard(Protocol):
    """One guard. `check` may be a plain or an async function; it knows no clock and no store."""

    @property
    def name(self) -> str:
        """What it is called in the journal; no other guard is called so."""
        ...

    @property
    def order(self) -> int:
        """Its place in the chain; no other guard has it."""
        ...

    @property
    def cost(self) -> CostClass:
        """What asking it costs."""
        ...

    @property
    def when(self) -> Moment:
        """When it is asked."""
        ...

    def check(
        self, state: AgentState, request: AgentRequest, action: Action | None
    ) -> GuardResult | Awaitable[GuardResult]:
        """Whether the next step may happen. `action` is there only before acting."""
        ...


@runtime_checkable
class Witness(Protocol):
    """A guard around everything: told of what comes in and of what is blocked (H2).

    Its `check` is asked innermost, about what is really executed.
    """

    def enter(self, request: AgentRequest, action: Action | None) -> Awaitable[None]:
        """A request, or an action of it, comes in."""
        ...

    def block(self, request: AgentRequest, blocked: Blocked) -> Awaitable[None]:
        """An action, or the start of a run, was refused and never executed."""
        ...

    def leave(self, request: AgentRequest, ended: str) -> Awaitable[None]:
        """A run ends so; nothing of its answer is public yet."""
        ...


@runtime_checkable
class Gatekeeper(Protocol):
    """A guard that is also asked whether a run may start at all (K0)."""

    def admit(self, request: AgentRequest) -> GuardResult:
        """Pass, or a refusal whose code the caller learns."""
        ...


@runtime_checkable
class Ruled(Protocol):
    """A guard that follows rules of somebody's own, which a run then names by digest."""

    def rules(self) -> object:
        """The rules as JSON without floats, the same for the same rules in every process."""
        ...


@dataclass(frozen=True, slots=True)
class Blocked:
    """An action that was never executed, and the stable code that says why.

    Without a call and a tool it is the start of the run that was refused.
    """

    tool_call_id: str
    tool: str
    code: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """One guard's word, as the journal keeps it."""

    guard: str
    result: GuardResult

    def words(self) -> tuple[str, str, str]:
        """Guard, word and reason. A refusal's reason is its code."""
        if self.result.refusal is not None:
            return self.guard, "REFUSED", self.result.refusal
        status = self.result.status
        return self.guard, "PASS" if status is None else str(status), self.result.reason


@dataclass(frozen=True, slots=True)
class GuardChain:
    """Guards in order. Made by `in_order`, which refuses what H3 refuses."""

    guards: tuple[Guard, ...] = ()
    _witnesses: tuple[tuple[str, Witness], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Find the witnesses once: asking a shape of an object costs more than asking the guard."""
        found = tuple((guard.name, guard) for guard in self.guards if isinstance(guard, Witness))
        object.__setattr__(self, "_witnesses", found)

    def digest(self) -> str:
        """Which guards stand here, in which order, by which rules: the policy of a run (A5)."""
        rows = [
            [
                guard.name,
                guard.order,
                str(guard.when),
                guard.rules() if isinstance(guard, Ruled) else None,
            ]
            for guard in self.guards
        ]
        return digest(canonical_json(rows))

    async def ask(
        self, moment: Moment, state: AgentState, request: AgentRequest, action: Action | None = None
    ) -> tuple[Verdict, ...]:
        """Ask each guard of this moment until one does not pass; the last verdict is the chain's.

        A guard that raises or overruns says FAILED with the reason `GUARD_FAILED`.
        """
        verdicts: list[Verdict] = []
        for guard in self.guards:
            if guard.when is not moment:
                continue
            verdict = Verdict(guard.name, await _check(guard, state, request, action))
            verdicts.append(verdict)
            if not verdict.result.passed:
                break
        return tuple(verdicts)

    async def enter(self, request: AgentRequest, action: Action | None = None) -> tuple[str, ...]:
        """Tell every witness, outermost, of what comes in; their names.

        Raises RecordFailed when one cannot take note of it: what cannot be recorded does not begin
        (N15).
        """
        for guard, witness in self._witnesses:
            await _tell(guard, partial(witness.enter, request, action))
        return tuple(guard for guard, _ in self._witnesses)

    async def block(self, request: AgentRequest, blocked: Blocked) -> tuple[str, ...]:
        """Tell every witness that an action was refused; their names. Raises as `enter` does."""
        for guard, witness in self._witnesses:
            await _tell(guard, partial(witness.block, request, blocked))
        return tuple(guard for guard, _ in self._witnesses)

    async def leave(self, request: AgentRequest, ended: str) -> None:
        """Tell every witness how a run ends. Raises as `enter` does: then it does not end so."""
        for guard, witness in self._witnesses:
            await _tell(guard, partial(witness.leave, request, ended))

    def admit(self, request: AgentRequest) -> None:
        """Ask every guard that keeps the gate whether the run may start (K0).

        Raises InputRefused with the guard's code, or GUARD_FAILED where one breaks (H4).
        """
        for guard in self.guards:
            if not isinstance(guard, Gatekeeper):
                continue
            try:
                code = guard.admit(request).refusal
            except Exception as error:
                raise _not_started(guard.name, GUARD_FAILED) from error
            if code is not None:
                raise _not_started(guard.name, code)


def _not_started(guard: str, code: str) -> InputRefused:
    return InputRefused(
        f"the {guard} guard does not let this run start",
        code=code,
        hint="nothing was started or spent; ask whoever sets the policy",
    )


async def _tell(guard: str, say: Callable[[], Awaitable[None]]) -> None:
    try:
        with anyio.fail_after(GUARD_TIMEOUT_S):
            await say()
    except RecordFailed:
        raise
    except Exception as error:
        raise _unrecorded(guard, error) from error


def _unrecorded(guard: str, error: Exception) -> RecordFailed:
    return RecordFailed(
        f"the guard {guard!r} could not record what happens ({type(error).__name__})",
        code="AUDIT_FAILED",
        hint="bring the place back that it records to; the run goes on where it was",
    )


async def _check(
    guard: Guard, state: AgentState, request: AgentRequest, action: Action | None
) -> GuardResult:
    try:
        said: object = guard.check(state, request, action)
        if inspect.isawaitable(said):  # what does not wait cannot overrun a bound on waiting
            with anyio.fail_after(GUARD_TIMEOUT_S):
                said = await said
    except RecordFailed:
        raise
    except Exception as error:
        if isinstance(guard, Witness):
            raise _unrecorded(guard.name, error) from error
        return GuardResult(AgentStatus.FAILED, GUARD_FAILED)  # it said no, and is named
    if not isinstance(said, GuardResult) or (said.refusal is not None and action is None):
        return GuardResult(AgentStatus.FAILED, GUARD_FAILED)  # no word, or nothing to refuse
    return said


def in_order(guards: Iterable[Guard]) -> GuardChain:
    """The chain of these guards, by their `order`.

    Raises InputRefused (GUARD_ORDER) when two share a place or a name, or cost decreases.
    """
    chain = sorted(guards, key=lambda guard: guard.order)
    names = [guard.name for guard in chain]
    for name in names:
        if names.count(name) > 1:
            raise _refused(f"two guards are called {name!r}", "give each guard a name of its own")
    for before, after in pairwise(chain):
        if before.order == after.order:
            raise _refused(
                f"guards {before.name!r} and {after.name!r} have the same order {after.order}",
                "give each guard a place of its own",
            )
        if after.cost < before.cost:
            raise _refused(
                f"guard {before.name!r} costs more than {after.name!r}, which comes after it",
                "put cheap guards first: a run that they end need not pay for the rest",
            )
    return GuardChain(tuple(chain))


def _refused(message: str, hint: str) -> InputRefused:
    return InputRefused(message, code="GUARD_ORDER", hint=hint)
