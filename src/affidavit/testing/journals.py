"""Small valid journals for checks of stores: chained lines, artifacts, whole runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from affidavit.contract.journal import EVENT_FIELDS, Entry, Event, EventType
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.core.canonical import digest
from affidavit.core.chain import GENESIS, extend, to_us
from affidavit.ports.store import Append, ApprovalAsk, Artifact, Lease, RunHead, Store
from affidavit.testing.virtual_clock import START

START_US: Final = to_us(START)
SECOND_US: Final = 1_000_000
TTL_US: Final = 30 * SECOND_US


def event(type_: EventType, value: object = "x", **fields: object) -> Event:
    """An event of that kind; each field that is not named holds `value`."""
    data: Mapping[str, object] = {**dict.fromkeys(EVENT_FIELDS[type_], value), **fields}
    return Event(type_, data)


def artifact(content: bytes, kind: str = "raw") -> Artifact:
    """The bytes at their address."""
    return Artifact(digest(content), kind, content)


def ask(tool_call_id: str, *, asked_s: float = 0) -> ApprovalAsk:
    """An action that waits for a person for a minute."""
    asked_us = START_US + int(asked_s * SECOND_US)
    return ApprovalAsk(
        tool_call_id=tool_call_id,
        tool="restart",
        action_digest="a" * 64,
        shown_digest="b" * 64,
        asked_us=asked_us,
        expires_us=asked_us + 60 * SECOND_US,
    )


def first_lines(run_id: str, *, at_s: float = 0, value: object = "x") -> tuple[Entry, ...]:
    """How a journal begins."""
    moment = START + timedelta(seconds=at_s)
    return extend(run_id, 1, GENESIS, moment, [event(EventType.RUN_STARTED, value)])


def next_lines(last: Entry, *events: Event, at_s: float = 0) -> tuple[Entry, ...]:
    """The events as lines after that one; one STEP_DECIDED where none is given."""
    moment = START + timedelta(seconds=at_s)
    new = events or (event(EventType.STEP_DECIDED),)
    return extend(last.run_id, last.seq + 1, last.hash, moment, new)


def ending(last: Entry, *, at_s: float = 0, artifacts: Sequence[Artifact] = ()) -> Append:
    """The publication: decision and end in one write."""
    lines = next_lines(
        last, event(EventType.RELEASE_DECISION), event(EventType.RUN_ENDED), at_s=at_s
    )
    ended = (RunState.SUCCESS, ReleaseOutcome.SUCCESS)
    return Append(lines, artifacts, ended=ended, durable=True)


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that has begun: its head as it was given, its lines so far."""

    head: RunHead
    lines: tuple[Entry, ...]

    @property
    def id(self) -> str:
        """The run's id."""
        return self.head.run_id

    @property
    def last(self) -> Entry:
        """The newest line."""
        return self.lines[-1]


async def begin_run(
    store: Store, number: int = 1, *, tenant: str = "local", paused: bool = False
) -> Begun:
    """Create the n-th run, n seconds after the start, with one line."""
    run_id = f"run_{number:016d}"
    lines = first_lines(run_id, at_s=number)
    head = RunHead(
        run_id=run_id,
        tenant=tenant,
        created_us=START_US + number * SECOND_US,
        state=RunState.RUNNING,
        outcome=None,
        last_seq=1,
        question=f"Why did {number} fail?",
        paused=paused,
    )
    await store.create(head, Append(lines, durable=True))
    return Begun(head, lines)


async def lease_run(store: Store, run_id: str, holder: str = "a", at_s: float = 0) -> Lease:
    """A lease of thirty seconds. Raises ValueError when the run is held."""
    lease = await store.acquire(run_id, holder, START_US + int(at_s * SECOND_US), TTL_US)
    if lease is None:
        raise ValueError(f"run {run_id} is held by another driver")
    return lease
