"""One configured back end with all that a live run needs of it, and what it is wired from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from affidavit.adapters.live_telemetry import Feed
from affidavit.adapters.outgoing_http import OutgoingHttp, Resolve, resolve_by_system
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.ports.lookups import Lookup, Proof

Probe: TypeAlias = Callable[[], Awaitable[Proof]]


@dataclass(frozen=True, slots=True)
class Ground:
    """The way out, its rules, the variables that hold secrets, and how much quiet time is read."""

    http: OutgoingHttp
    outgoing: OutgoingTable
    environment: Mapping[str, str]
    lookback_s: int
    resolve: Resolve = resolve_by_system


@dataclass(frozen=True, slots=True)
class Wired:
    """One back end with its probe: feeds where it gives rows of telemetry, a look-up where it
    answers fixed questions. `signal` is the source type under which it is named when missing."""

    name: str
    signal: str
    probe: Probe
    feeds: tuple[Feed, ...] = ()
    lookup: Lookup | None = None
