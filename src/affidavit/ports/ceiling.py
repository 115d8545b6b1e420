"""Ceilings over many runs: what a tenant may spend in a day, and everybody together (K3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from affidavit.contract.record import Record


class CeilingRequest(Record):
    """Room for one model call. `key` names the call for ever, `day` is a date in UTC."""

    key: str
    tenant: str
    day: str
    tokens: int
    micros: int


@dataclass(frozen=True, slots=True)
class CeilingRule:
    """Tokens and money (millionths) a day, for one tenant and for all; None means no ceiling."""

    tenant_tokens: int | None = None
    tenant_micros: int | None = None
    global_tokens: int | None = None
    global_micros: int | None = None


class Ceilings(Protocol):
    """Reserve and settle across runs. Both are done at once, whoever else asks."""

    async def reserve(self, asked: CeilingRequest) -> str | None:
        """None: the room is held under that key. Else the name of the ceiling that is reached,
        and nothing is held. A key that holds already is not held twice.
        """
        ...

    async def settle(self, spent: CeilingRequest) -> None:
        """What the call came to, in place of what was held under that key; once and for all."""
        ...


@runtime_checkable
class CeilingStore(Protocol):
    """A store that keeps ceilings beside its runs, over all processes that share it."""

    def ceilings(self, rule: CeilingRule) -> Ceilings:
        """Its sums, under that rule."""
        ...


def ceiling_reached(
    rule: CeilingRule, asked: CeilingRequest, own: tuple[int, int], everybody: tuple[int, int]
) -> str | None:
    """The ceiling that has no room for the call: `tenant_day`, `global`, or None (pure).

    `own` and `everybody` are the tokens and millionths that are held or spent that day.
    """
    if _exceeds(own, asked, rule.tenant_tokens, rule.tenant_micros):
        return "tenant_day"
    if _exceeds(everybody, asked, rule.global_tokens, rule.global_micros):
        return "global"
    return None


def _exceeds(
    spent: tuple[int, int], asked: CeilingRequest, tokens: int | None, micros: int | None
) -> bool:
    over_tokens = tokens is not None and spent[0] + asked.tokens > tokens
    return over_tokens or (micros is not None and spent[1] + asked.micros > micros)
