"""Everything that the public decision rests on, and no more (L8).

A union of small records, each of which holds only what can differ once one is there: a run that was
cancelled has no verdict, a draft that could not be cited has no judge. What cannot happen cannot be
written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from affidavit.contract.report import Language, SystemTopic


class StopKind(StrEnum):
    """Why collection ended without a usable conclusion, and without a limit being reached (D9)."""

    SATURATED = "SATURATED"
    PROTOCOL_VIOLATED = "PROTOCOL_VIOLATED"
    LOOP_DETECTED = "LOOP_DETECTED"
    GAVE_UP = "GAVE_UP"


class RepairEnd(StrEnum):
    """Why the one attempt to repair citations did not lead to a valid draft (D3)."""

    UNAVAILABLE = "UNAVAILABLE"
    NOT_MENDABLE = "NOT_MENDABLE"
    FAILED = "FAILED"
    UNREADABLE = "UNREADABLE"
    MEANING_CHANGED = "MEANING_CHANGED"
    STILL_INVALID = "STILL_INVALID"


class Opinion(StrEnum):
    """What became of the words of a validly cited draft.

    REFUTED: by the support check, before any judge; UNAVAILABLE: no judge answered, twice asked.
    """

    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"
    REFUTED = "REFUTED"
    UNAVAILABLE = "UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Somebody who may do so cancelled the run before publication."""


@dataclass(frozen=True, slots=True)
class Faulted:
    """An invariant of ours is broken, or an end that no table knows (P4)."""


@dataclass(frozen=True, slots=True)
class Unthinking:
    """Every model of the agent failed, or is not asked now: nobody decides the next step (H8)."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The budget or the time ran out, during collection or release (L4)."""

    timed_out: bool
    facts: bool


@dataclass(frozen=True, slots=True)
class Stopped:
    """Collection ended under control, and there is no draft to look at (D9)."""

    kind: StopKind
    facts: bool


@dataclass(frozen=True, slots=True)
class Illegal:
    """What the agent wrote is no draft."""

    facts: bool


@dataclass(frozen=True, slots=True)
class Unconcluded:
    """A draft without a conclusion: is there a fact, a request that may be shown, a false
    reference?"""

    facts: bool
    asks: bool
    references_hold: bool


@dataclass(frozen=True, slots=True)
class Uncited:
    """A conclusion of which at least one citation is not real, in the end."""

    repair: RepairEnd


@dataclass(frozen=True, slots=True)
class Cited:
    """A conclusion whose every citation is real, and what became of its words."""

    opinion: Opinion
    repaired: bool = False
    withdrawn: int = 0

    def __post_init__(self) -> None:
        """Refuse a negative number of withdrawn sentences."""
        if self.withdrawn < 0:
            raise ValueError("nobody withdraws less than nothing")


@dataclass(frozen=True, slots=True)
class Replied:
    """System chat: which of the fixed replies, in which language (I3)."""

    topic: SystemTopic
    language: Language


@dataclass(frozen=True, slots=True)
class Unrouted:
    """Nothing says which branch the request takes, and none is guessed (I1)."""


Situation = (
    Cancelled
    | Faulted
    | Unthinking
    | Spent
    | Stopped
    | Illegal
    | Unconcluded
    | Uncited
    | Cited
    | Replied
    | Unrouted
)
"""Every situation that a release can find itself in."""
