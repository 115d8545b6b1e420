"""What a run spends on models: reserved before, settled after, a fold over the journal (K3, K4).

    MODEL_CALL_INTENDED   so many tokens and so much money are held back for one call
    MODEL_ATTEMPT         the call is over: what is held back becomes what was spent
    MODEL_CALL_REFUSED    there was no room; nothing was sent

What is held and what is spent count alike, so that calls side by side can never all fit into the
same room. A call that never came back (a crash) keeps its reservation: nobody knows what it cost.
Whether a call may start is `refusal_of`, a pure function; whoever asks it and appends the intent
does both under one lock (`models.desk`).

A provider that ignores its maximum can put a run over its limit by what it overran; it is counted
(`Spend.overruns`), and nothing starts after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from affidavit.contract.journal import Entry, EventType
from affidavit.contract.limits import Limits
from affidavit.ports.model import RELEASE_PURPOSES, Purpose

TOKENS_PER_KB_FIRST: Final = 400
"""Tokens in 1 000 bytes of request, before a model has counted any: English and JSON come to some
280, tables of numbers to 400. Afterwards each model's own counts are used."""

TOKENS_PER_KB_MARGIN: Final = 1.1
"""The next request may be denser than the densest so far."""

TOKENS_FRAME: Final = 32
"""What a provider's own template adds to any request."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and money (millionths); `micros` is None where the price is not known."""

    tokens: int = 0
    micros: int | None = 0

    def plus(self, other: Amount) -> Amount:
        """Both together; unknown and known make unknown."""
        known = self.micros is not None and other.micros is not None
        micros = (self.micros or 0) + (other.micros or 0) if known else None
        return Amount(self.tokens + other.tokens, micros)


@dataclass(frozen=True, slots=True)
class Held:
    """What is held back for one call that is under way, or that never came back."""

    purpose: str
    model: str
    input_bytes: int
    amount: Amount


_NOTHING: Final = Amount()


@dataclass(frozen=True, slots=True)
class Spend:
    """What a run has spent, by purpose, and what it holds back.

    `density` is the most tokens in 1 000 bytes that each model ever counted.
    """

    accounts: Mapping[str, Amount] = field(default_factory=dict)
    held: Mapping[int, Held] = field(default_factory=dict)
    density: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0
    overruns: int = 0

    @property
    def settled(self) -> Amount:
        """What the calls that are over cost."""
        return _sum(self.accounts.values())

    @property
    def committed(self) -> Amount:
        """Settled and held together: what no further call may use."""
        return _sum((*self.accounts.values(), *(item.amount for item in self.held.values())))

    def committed_to(self, purposes: frozenset[Purpose]) -> Amount:
        """What is settled and held for these purposes."""
        spent = (amount for purpose, amount in self.accounts.items() if purpose in purposes)
        held = (item.amount for item in self.held.values() if item.purpose in purposes)
        return _sum((*spent, *held))


def _sum(amounts: Iterable[Amount]) -> Amount:
    total = _NOTHING
    for amount in amounts:
        total = total.plus(amount)
    return total


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that one call of a purpose may send and get, in tokens."""

    input_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.input_tokens + self.output_tokens


def bound_of(purpose: Purpose, limits: Limits) -> Bound:
    """How large one call of that purpose may be under these limits.

    Shares of the run's tokens between a floor, under which the call cannot do its work, and a
    ceiling, over which it does it no better.
    """
    share, floor, ceiling, out_share, out_floor, out_ceiling = _BOUNDS[purpose]
    return Bound(
        min(max(limits.tokens // share, floor), ceiling),
        min(max(limits.tokens // out_share, out_floor), out_ceiling),
    )


_BOUNDS: Final[Mapping[Purpose, tuple[int, int, int, int, int, int]]] = MappingProxyType(
    {
        Purpose.DECIDE: (8, 4_000, 60_000, 12, 1_000, 6_000),
        Purpose.ROUTE: (40, 500, 2_000, 200, 100, 200),
        Purpose.JUDGE: (10, 3_500, 24_000, 40, 1_200, 4_000),
        Purpose.REPAIR: (20, 1_500, 12_000, 60, 400, 1_500),
        Purpose.WITHDRAW: (20, 1_500, 12_000, 200, 100, 200),
    }
)
"""Of the run's tokens one part in so many, at least, at most; for the request, then the answer."""

RELEASE_CALLS: Final[Mapping[Purpose, int]] = MappingProxyType(
    {Purpose.JUDGE: 2, Purpose.REPAIR: 1, Purpose.WITHDRAW: 1}
)
"""How often a release may ask (K4): the judge twice, repair and withdrawal once."""


def release_reserve(limits: Limits, purposes: frozenset[Purpose]) -> int:
    """The tokens that a release by these purposes may need at most (K4)."""
    return sum(
        calls * bound_of(purpose, limits).tokens
        for purpose, calls in RELEASE_CALLS.items()
        if purpose in purposes
    )


@dataclass(frozen=True, slots=True)
class Reserve:
    """What is held back for the release; spending for it uses it up."""

    amount: Amount = _NOTHING

    def left(self, spend: Spend) -> Amount:
        """What is still held back."""
        used = spend.committed_to(RELEASE_PURPOSES)
        return Amount(
            max(0, self.amount.tokens - used.tokens),
            max(0, (self.amount.micros or 0) - (used.micros or 0)),
        )


def refusal_of(
    spend: Spend, limits: Limits, reserve: Reserve, purpose: Purpose, need: Amount
) -> str | None:
    """The name of the limit that has no room for this call, or None: it may start.

    Collecting may not touch what is held back for the release; the release may use all there is.
    """
    kept = Amount() if purpose in RELEASE_PURPOSES else reserve.left(spend)
    committed = spend.committed
    if committed.tokens + kept.tokens + need.tokens > limits.tokens:
        return "tokens"
    if limits.money_micros is None:
        return None
    if need.micros is None or committed.micros is None:
        return "price"
    if committed.micros + (kept.micros or 0) + need.micros > limits.money_micros:
        return "money"
    return None


def estimate_tokens(spend: Spend, model: str, size_bytes: int) -> int:
    """How many tokens a request of that size will come to, by what the model counted before."""
    known = spend.density.get(model)
    per_kb = TOKENS_PER_KB_FIRST if known is None else int(known * TOKENS_PER_KB_MARGIN) + 1
    return -(-size_bytes * per_kb // 1000) + TOKENS_FRAME


def room_bytes(tokens: int) -> int:
    """How many bytes of request surely fit into so many tokens before anything was counted."""
    return max(0, (tokens - TOKENS_FRAME) * 1000 // TOKENS_PER_KB_FIRST)


def advance_spend(spend: Spend, entry: Entry) -> Spend:
    """The spend after one more line; lines that are not of a model change nothing."""
    match entry.type:
        case EventType.MODEL_CALL_INTENDED:
            return _hold(spend, entry.data)
        case EventType.MODEL_ATTEMPT:
            return _settle(spend, entry.data)
        case _:
            return spend


def _hold(spend: Spend, data: Mapping[str, object]) -> Spend:
    amount = Amount(_int(data["reserved_tokens"]), _micros(data["reserved_micros"]))
    held = Held(str(data["purpose"]), str(data["model"]), _int(data["input_bytes"]), amount)
    number = _int(data["call"])
    return replace(spend, held={**spend.held, number: held}, calls=max(spend.calls, number))


def _settle(spend: Spend, data: Mapping[str, object]) -> Spend:
    number, purpose = _int(data["call"]), str(data["purpose"])
    held = spend.held.get(number)
    tokens_in = _int(data["tokens_in"])
    cost = Amount(tokens_in + _int(data["tokens_out"]), _micros(data["micros"]))
    before = spend.accounts.get(purpose, _NOTHING)
    return replace(
        spend,
        accounts={**spend.accounts, purpose: before.plus(cost)},
        held={key: item for key, item in spend.held.items() if key != number},
        density=_learn(spend.density, held, tokens_in, str(data["counted"])),
        overruns=spend.overruns + int(held is not None and cost.tokens > held.amount.tokens),
    )


def _learn(
    density: Mapping[str, int], held: Held | None, tokens_in: int, counted: str
) -> Mapping[str, int]:
    """A model's own count teaches how dense requests are for it."""
    if held is None or counted != "PROVIDER" or held.input_bytes == 0:
        return density
    seen = -(-tokens_in * 1000 // held.input_bytes)
    return {**density, held.model: max(density.get(held.model, 0), seen)}


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError("a count in the journal is an integer")
    return value


def _micros(value: object) -> int | None:
    return None if value is None else _int(value)
