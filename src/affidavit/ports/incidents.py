"""Which alerts are one incident, which run is theirs, and what goes out about it.

The book decides in one transaction whether a group of alerts starts a run, so that two senders, two
processes or a restart cannot start two. It gives the run its id before the run exists: whoever
finds the id without the run starts it then, under the same id, and a store takes an id only once.

The outbox holds what is to be delivered until it was. A delivery is known by its run, its
destination and its kind; the same is never added twice, and may be sent twice (at least once): its
id lets the receiver see that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol, TypeAlias

LISTED_MAX: Final = 500
"""No list is longer; a storm of more groups is counted, not listed."""

DeliveryKind: TypeAlias = Literal["observation", "result"]
DeliveryState: TypeAlias = Literal["pending", "delivered", "dead"]


class Admission(StrEnum):
    """What became of a group of alerts.

    A group whose run is not settled, or whose last run began within the cool-down, is repeated.
    """

    STARTED = "started"
    REPEATED = "repeated"
    STORM_LIMITED = "storm_limited"
    CEILING_REACHED = "ceiling_reached"


@dataclass(frozen=True, slots=True)
class GroupAsk:
    """A group of alerts that fires, and the id that its run would have."""

    tenant: str
    key: str
    run_id: str
    alerts: int
    labels: Mapping[str, str]
    at_us: int


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """Within `cooldown_us` a group starts no second run; the rest are a tenant's ceilings."""

    cooldown_us: int
    runs_per_hour: int
    runs_per_day: int
    tokens_per_day: int


@dataclass(frozen=True, slots=True)
class Admitted:
    """The answer to a group: its run, where it has one."""

    admission: Admission
    run_id: str | None


@dataclass(frozen=True, slots=True)
class IncidentRun:
    """A run that alerts started. `repeats` are alerts that came for it afterwards.

    `observed` says that its first observation was put into the outbox, `settled` that its result
    was. Times are microseconds since 1970 UTC.
    """

    run_id: str
    tenant: str
    key: str
    labels: Mapping[str, str]
    started_us: int
    alerts: int
    repeats: int
    observed: bool
    settled: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message for one destination. `body` is what is sent, as text."""

    id: str
    tenant: str
    run_id: str
    key: str
    destination: str
    kind: DeliveryKind
    body: str
    created_us: int
    state: DeliveryState = "pending"
    attempts: int = 0
    next_us: int = 0
    code: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended: delivered, to be tried again at `next_us`, or dead."""

    state: DeliveryState
    next_us: int = 0
    code: str = ""


class IncidentBook(Protocol):
    """Every method raises `RecordFailed` when the store cannot do it; then nothing was written."""

    async def admit(self, ask: GroupAsk, limits: GroupLimits) -> Admitted:
        """Start a run for the group, or say which it has, or why it gets none; durably."""
        ...

    async def knows_event(self, sender: str, event_id: str) -> bool:
        """Whether this event was noted, and is still remembered."""
        ...

    async def note_event(self, sender: str, event_id: str, now_us: int, keep_us: int) -> None:
        """The event is remembered for `keep_us`, durably; those whose time is over are not."""
        ...

    async def unsettled(self, limit: int = LISTED_MAX) -> tuple[IncidentRun, ...]:
        """Runs whose result was not put into the outbox yet, oldest first."""
        ...

    async def incidents(self, tenant: str, limit: int = 50) -> tuple[IncidentRun, ...]:
        """That tenant's runs of alerts, newest first."""
        ...

    async def close(self) -> None:
        """No file is open."""
        ...


class Outbox(Protocol):
    """As the book: all or nothing, durably."""

    async def put(
        self, run_id: str, kind: DeliveryKind, deliveries: Sequence[Delivery], tokens: int = 0
    ) -> None:
        """The run is marked as observed or settled, and its deliveries wait, in one transaction.

        A delivery whose run, destination and kind are there already is left as it is.
        """
        ...

    async def due(self, now_us: int) -> tuple[str, ...]:
        """The destinations for which something is due."""
        ...

    async def take(
        self, destination: str, now_us: int, until_us: int, limit: int = 20
    ) -> tuple[Delivery, ...]:
        """A destination's deliveries that are due, oldest first; nobody else is given them before
        `until_us`."""
        ...

    async def settle(self, delivery_id: str, outcome: Outcome) -> None:
        """An attempt was made."""
        ...

    async def postpone(self, delivery_id: str, now_us: int) -> None:
        """It was taken and not tried: it is due again at once."""
        ...

    async def deliveries(
        self, tenant: str, state: DeliveryState | None = None, limit: int = 50
    ) -> tuple[Delivery, ...]:
        """That tenant's deliveries, newest first."""
        ...

    async def counts(self, tenant: str) -> Mapping[DeliveryState, int]:
        """How many of that tenant's deliveries are in each state."""
        ...

    async def resend(self, tenant: str, delivery_id: str, now_us: int) -> bool:
        """The delivery waits again, from its first attempt; False where there is none such."""
        ...

    async def thread(self, destination: str, key: str) -> str | None:
        """The thread of an incident at a destination."""
        ...

    async def begin_thread(self, destination: str, key: str, thread: str) -> None:
        """Remember the thread; the first one stays."""
        ...


@dataclass(frozen=True, slots=True)
class Sent:
    """What a destination said. No `code` is a success; `retry` says whether to try again."""

    code: str = ""
    retry: bool = True
    after_s: float = 0.0
    thread: str | None = None


class Sender(Protocol):
    """Delivers to one destination."""

    async def send(self, delivery: Delivery, now_s: float, thread: str | None) -> Sent:
        """One attempt. Never raises for what the destination did."""
        ...
