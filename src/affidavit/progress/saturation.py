"""When does looking further stop paying? (P2, P3; pure, no model judges this)

A step gains when one of its calls reads back as a fact that no earlier call had shown. An empty
answer is a fact without gain; a failed or unavailable source is neither, and leaves the streak as
it was. When the streak is long enough, further calls get a stop notice and the agent one turn
without tools; going on after that breaks the protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from affidavit.ledger.snapshot import LedgerSnapshot, Verified
from affidavit.progress.fingerprint import Fingerprint, fingerprint
from affidavit.progress.reading import read_tracked
from affidavit.progress.tracker import TrackedStep, Tracker

PATIENCE_STEPS: Final = 3
"""P2: one step may look in the wrong place, and so may the next; three have looked around."""

EVIDENCE_CALLS_MIN: Final = 2
"""P2: nobody has seen enough after a single answer."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The settings: how many steps without gain, and after how many evidence calls at least."""

    steps: int = PATIENCE_STEPS
    evidence_calls: int = EVIDENCE_CALLS_MIN

    def __post_init__(self) -> None:
        """Refuse a patience that would stop a run before it looked."""
        if self.steps < 1 or self.evidence_calls < 1:
            raise ValueError("patience is at least one step and one evidence call")


@dataclass(frozen=True, slots=True)
class GainState:
    """Where the gain stands: steps in a row without news, calls that answered, facts known."""

    saturated: bool
    streak: int
    evidence_calls: int
    facts: int


News = dict[str, frozenset[Fingerprint]]
"""The fingerprints of results by their digests, so that each is read once a run."""


def saturation(
    ledger: LedgerSnapshot,
    tracker: Tracker,
    patience: Patience | None = None,
    news_of: News | None = None,
) -> GainState:
    """Whether the run has stopped learning, by what its steps read back from the ledger.

    `news_of` remembers from one step to the next what results said.
    """
    limits = patience or Patience()
    seen: News = {} if news_of is None else news_of
    known: set[Fingerprint] = set()
    answered: set[str] = set()
    streak = 0
    for step in tracker.steps:
        read = tuple(_read(step, ledger))
        if not read:
            continue
        answered.update(verified.record.tool_call_id for verified in read)
        news = frozenset().union(*(_news(verified, seen) for verified in read))
        streak = 0 if news - known else streak + 1
        known |= news
    enough = streak >= limits.steps and len(answered) >= limits.evidence_calls
    return GainState(enough, streak, len(answered), len(known))


def _news(verified: Verified, seen: News) -> frozenset[Fingerprint]:
    address = verified.record.result_digest or ""
    known = seen.get(address)
    if known is None:
        known = seen[address] = frozenset(map(fingerprint, verified.envelope.facts))
    return known


def _read(step: TrackedStep, ledger: LedgerSnapshot) -> Iterator[Verified]:
    for call in step.calls:
        read = read_tracked(call, ledger)
        if isinstance(read, Verified):
            yield read


class Admission(StrEnum):
    """What becomes of calls that an agent asks for (P3)."""

    ADMITTED = "ADMITTED"
    STOP_NOTICE = "STOP_NOTICE"
    VIOLATED = "VIOLATED"


def admit_calls(gain: GainState, *, notice_given: bool) -> Admission:
    """The progress gate before a step's calls.

    Once the notice stands there is one turn without tools: asking again is a violation, whatever
    the gain is by then.
    """
    if notice_given:
        return Admission.VIOLATED
    return Admission.STOP_NOTICE if gain.saturated else Admission.ADMITTED
