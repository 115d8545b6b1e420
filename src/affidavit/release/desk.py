"""Where an examination is written down, and what an earlier driver wrote there already (K8, L5).

An answer that stands on record is used again: neither a repairer nor a judge is asked twice because
a driver died. What cannot be recorded stops everything; then nothing was decided.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeVar

from affidavit.contract.errors import InternalFault, ModelFailed
from affidavit.contract.journal import Entry, Event, EventType
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.pen import Stage
from affidavit.core.run import CallTimedOut, Run
from affidavit.ports.store import Artifact

T = TypeVar("T")

OPINION_TIMEOUT_S: Final = 60.0
"""One answer of a judge or a repairer; a model that needs longer does not answer at 3 a.m."""

EXAMINATION: Final = frozenset(
    {
        EventType.EVIDENCE_GUARD_INITIAL,
        EventType.EVIDENCE_REPAIR_ATTEMPT,
        EventType.EVIDENCE_GUARD_RECHECK,
        EventType.SUPPORT_CHECK,
        EventType.DRAFT_WITHDRAWAL_ATTEMPT,
        EventType.SEMANTIC_GUARD_ATTEMPT,
        EventType.SEMANTIC_GUARD_DECISION,
    }
)
"""The kinds of line that an examination writes (A1)."""


class Desk(Protocol):
    """What a driver lends to the examination of its run."""

    @property
    def past(self) -> Sequence[Entry]:
        """The run's lines so far."""
        ...

    @property
    def contents(self) -> Mapping[str, bytes]:
        """The run's artifacts that still live, by digest."""
        ...

    async def record(self, events: tuple[Event, ...], artifacts: tuple[Artifact, ...]) -> None:
        """All of it stands in the journal when this returns. Raises RecordFailed (L5)."""
        ...

    async def ask(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work unless the run is stopped. Raises RunStopped, or ModelFailed after too long.

        It is here that a cancel, the deadline or a spent budget is noticed, before and after (K5).
        """
        ...


@dataclass(frozen=True, slots=True)
class RunDesk:
    """The desk of a driven run; `timeout_s` bounds one answer of a judge or a repairer."""

    run: Run
    timeout_s: float = OPINION_TIMEOUT_S

    @property
    def past(self) -> Sequence[Entry]:
        """The run's lines so far."""
        return self.run.entries

    @property
    def contents(self) -> Mapping[str, bytes]:
        """The run's artifacts that still live, by digest."""
        return self.run.contents

    async def record(self, events: tuple[Event, ...], artifacts: tuple[Artifact, ...]) -> None:
        """One append."""
        await self.run.record(Stage(events, artifacts))

    async def ask(self, work: Callable[[], Awaitable[T]]) -> T:
        """Interruptible by a stop of the run, and bounded by the desk's time limit."""
        try:
            return await self.run.interruptible(work, self.timeout_s)
        except CallTimedOut:
            raise ModelFailed("no answer in time", code="MODEL_TIMEOUT") from None


@dataclass(slots=True)
class Trail:
    """Writes an examination down, skipping what an earlier driver already wrote."""

    desk: Desk
    past: tuple[Entry, ...]
    _place: int = field(default=0)

    @classmethod
    def at(cls, desk: Desk) -> Trail:
        """The trail at its beginning."""
        return cls(desk, tuple(entry for entry in desk.past if entry.type in EXAMINATION))

    def take(self, type_: EventType) -> Mapping[str, object] | None:
        """The line of that kind that an earlier driver wrote here; None where its record ends.

        Raises InternalFault when a line of another kind stands here.
        """
        if self._place >= len(self.past):
            return None
        known = self.past[self._place]
        if known.type is not type_:
            raise InternalFault(f"the record holds {known.type} where {type_} belongs")
        self._place += 1
        return known.data

    async def write(self, *events: Event, artifacts: tuple[Artifact, ...] = ()) -> None:
        """Put the events on record, in one append, unless they stand there already.

        Raises InternalFault when something else stands in their place: the same facts and the
        same recorded answers lead to the same examination, or one of them was altered.
        """
        new = tuple(event for event in events if not self._stands(event))
        if new:
            await self.desk.record(new, artifacts)

    def content(self, address: object) -> str | None:
        """The text of an artifact on record, or None where it is gone."""
        content = self.desk.contents.get(str(address))
        return None if content is None else content.decode("utf-8")

    def _stands(self, event: Event) -> bool:
        if self._place >= len(self.past):
            return False
        known = self.past[self._place]
        if known.type is not event.type or canonical_json(known.data) != canonical_json(event.data):
            raise InternalFault(f"the record of {event.type} differs from what is found now")
        self._place += 1
        return True


def text_artifact(kind: str, text: str) -> Artifact:
    """A text as a private artifact."""
    content = text.encode("utf-8", "backslashreplace")
    return Artifact(digest(content), kind, content)
