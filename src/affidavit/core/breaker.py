"""A circuit breaker per dependency: stop asking what is down, and find out with one probe (H8).

    CLOSED ── failures_max failures in a row ──▶ OPEN ── open_s later ──▶ HALF_OPEN
       ▲                                          ▲                          │
       │                                          └── the probe fails ───────┤
       └──────────────────────── the probe succeeds ─────────────────────────┘

`admit` and `settle` are the whole machine, pure; `CircuitBreaker` holds one circuit and a clock.
An empty answer (NO_EVIDENCE) is a success; a cancelled call is neither success nor failure, and so
is one that failed by its caller's own fault (a 4xx): both give their slot back. A probe that does
not come back in its time gives its slot back too, and its late word no longer counts.

Why our own: of five packages that were tried, three let every caller through at half-open.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, TypeVar

from affidavit.contract.errors import AffidavitError
from affidavit.ports.clock import Clock

T = TypeVar("T")

FAILURES_MAX: Final = 5
"""One lost packet is no outage, five answers in a row that never came are."""

OPEN_S: Final = 30.0
"""Long enough for a process to restart, short enough that a run of three minutes sees it back."""

PROBE_S: Final = 30.0
"""A probe is an ordinary call, and an ordinary call has this long."""


class CircuitState(StrEnum):
    """Whether a dependency is asked."""

    CLOSED = "CLOSED"
    OPEN = "OPEN"
    HALF_OPEN = "HALF_OPEN"


class Outcome(StrEnum):
    """What a call says about its dependency."""

    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"
    NEITHER = "NEITHER"


@dataclass(frozen=True, slots=True)
class BreakerRule:
    """When a circuit opens, for how long, and how long its probe may take."""

    failures_max: int = FAILURES_MAX
    open_s: float = OPEN_S
    probe_s: float = PROBE_S

    def __post_init__(self) -> None:
        """Refuse a rule under which nothing would ever be asked, or nothing ever stopped."""
        if self.failures_max < 1 or self.open_s <= 0 or self.probe_s <= 0:
            raise ValueError("a breaker needs at least one failure, and times above zero")


@dataclass(frozen=True, slots=True)
class Circuit:
    """One dependency's circuit. `era` counts its moves: a word from an earlier era is stale."""

    state: CircuitState = CircuitState.CLOSED
    failures: int = 0
    opened_s: float = 0.0
    probe_until_s: float | None = None
    era: int = 0

    def seen_at(self, rule: BreakerRule, now_s: float) -> CircuitState:
        """The state by the clock: an open circuit is half-open once its time is over."""
        if self.state is CircuitState.OPEN and now_s >= self.opened_s + rule.open_s:
            return CircuitState.HALF_OPEN
        return self.state


@dataclass(frozen=True, slots=True)
class Ticket:
    """The right to make one call. `probe` says that the circuit waits for its word."""

    era: int
    probe: bool = False


def admit(circuit: Circuit, rule: BreakerRule, now_s: float) -> tuple[Circuit, Ticket | None]:
    """The circuit after somebody asks to call, and the ticket, or None: not now."""
    match circuit.seen_at(rule, now_s):
        case CircuitState.CLOSED:
            return circuit, Ticket(circuit.era)
        case CircuitState.OPEN:
            return circuit, None
        case CircuitState.HALF_OPEN:
            taken = circuit.probe_until_s
            if circuit.state is CircuitState.HALF_OPEN and taken is not None and now_s < taken:
                return circuit, None
            era = circuit.era + 1
            probing = replace(
                circuit,
                state=CircuitState.HALF_OPEN,
                probe_until_s=now_s + rule.probe_s,
                era=era,
            )
            return probing, Ticket(era, probe=True)


def settle(
    circuit: Circuit, ticket: Ticket, outcome: Outcome, rule: BreakerRule, now_s: float
) -> Circuit:
    """The circuit after a call came back. A stale ticket changes nothing."""
    if ticket.era != circuit.era:
        return circuit
    if ticket.probe:
        return _settle_probe(circuit, outcome, now_s)
    match outcome:
        case Outcome.SUCCESS:
            return replace(circuit, failures=0)
        case Outcome.NEITHER:
            return circuit
        case Outcome.FAILURE:
            failures = circuit.failures + 1
            failed = replace(circuit, failures=failures)
            return _open(failed, now_s) if failures >= rule.failures_max else failed


def _settle_probe(circuit: Circuit, outcome: Outcome, now_s: float) -> Circuit:
    match outcome:
        case Outcome.SUCCESS:
            return Circuit(era=circuit.era + 1)
        case Outcome.FAILURE:
            return _open(circuit, now_s)
        case Outcome.NEITHER:
            return replace(circuit, probe_until_s=None)


def _open(circuit: Circuit, now_s: float) -> Circuit:
    return replace(
        circuit,
        state=CircuitState.OPEN,
        opened_s=now_s,
        probe_until_s=None,
        era=circuit.era + 1,
    )


class CircuitOpen(AffidavitError):
    """The dependency is not asked: it failed too often, or another caller probes it now."""

    code = "CIRCUIT_OPEN"


@dataclass(slots=True)
class Slot:
    """One admitted call. Whoever holds it says once how the call went; silence is NEITHER."""

    ticket: Ticket
    _breaker: CircuitBreaker
    _said: bool = False

    @property
    def is_probe(self) -> bool:
        """Whether the circuit waits for this call's word."""
        return self.ticket.probe

    def say(self, outcome: Outcome) -> None:
        """How the call went; only the first word counts."""
        if not self._said:
            self._said = True
            self._breaker.settle(self.ticket, outcome)


@dataclass(slots=True)
class CircuitBreaker:
    """One dependency's circuit, by a clock. No call here waits, so nobody comes between."""

    name: str
    clock: Clock
    rule: BreakerRule = field(default_factory=BreakerRule)
    _circuit: Circuit = field(default_factory=Circuit)

    @property
    def state(self) -> CircuitState:
        """The state at this moment."""
        return self._circuit.seen_at(self.rule, self.clock.monotonic_s())

    def enter(self) -> Slot:
        """A slot for one call. Raises CircuitOpen; then nothing has changed.

        The slot must be given a word (`Slot.say`), also when the call is never made.
        """
        self._circuit, ticket = admit(self._circuit, self.rule, self.clock.monotonic_s())
        if ticket is None:
            raise CircuitOpen(
                f"{self.name} is not asked: its circuit is open",
                hint=f"it is probed {self.rule.open_s:.0f} s after its last failure",
            )
        return Slot(ticket, self)

    def settle(self, ticket: Ticket, outcome: Outcome) -> None:
        """Take a call's word in."""
        now_s = self.clock.monotonic_s()
        self._circuit = settle(self._circuit, ticket, outcome, self.rule, now_s)

    @contextmanager
    def call(self, judge: Callable[[Exception], Outcome] | None = None) -> Iterator[Slot]:
        """Make one call inside: it succeeds unless it raises.

        `judge` says what an exception means for the dependency; without it each is a failure. A
        cancelled call, or one that a stop ended, is neither. Raises CircuitOpen before the call.
        """
        slot = self.enter()
        try:
            yield slot
            slot.say(Outcome.SUCCESS)
        except Exception as error:
            slot.say(Outcome.FAILURE if judge is None else judge(error))
            raise
        finally:
            slot.say(Outcome.NEITHER)

    async def run(
        self,
        work: Callable[[], Awaitable[T]],
        judge: Callable[[Exception], Outcome] | None = None,
    ) -> T:
        """Do the work as one call; see `call`."""
        with self.call(judge):
            return await work()


@dataclass(slots=True)
class Circuits:
    """Every dependency's breaker by name, shared by all runs of a process: `tool:…`, `model:…`."""

    clock: Clock
    rule: BreakerRule = field(default_factory=BreakerRule)
    _breakers: dict[str, CircuitBreaker] = field(default_factory=dict)

    def breaker(self, name: str) -> CircuitBreaker:
        """The breaker of that dependency; one that nobody asked for yet is closed."""
        known = self._breakers.get(name)
        if known is None:
            known = self._breakers[name] = CircuitBreaker(name, self.clock, self.rule)
        return known

    def states(self) -> Mapping[str, CircuitState]:
        """Every dependency that was ever asked, and its state at this moment."""
        return {name: breaker.state for name, breaker in self._breakers.items()}
