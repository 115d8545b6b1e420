"""Read this first: one run, from the question to the one public answer.

A run is an append-only journal; whoever drives it holds its lease. The agent collects until its
part is over (`loop.collect`). From then on the facts are immutable: progress is projected from the
ledger, the draft is examined against it, and a pure function picks one row of the release table.
The answer, the end of the run and the sealed file are one append; that append is the publication.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from affidavit.contract.agent import AgentRequest, Ending
from affidavit.contract.errors import RecordFailed, RunStopped
from affidavit.contract.journal import Entry, Event, EventType
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import ChatApplicationStatus, ReleaseOutcome, RunState, is_terminal
from affidavit.core.run import Driver, Run, Stage, drive_lease
from affidavit.loop import Collection, collect, end_stopped, ledger_of
from affidavit.ports.store import Artifact
from affidavit.release.examine import Examiner, examine
from affidavit.release.decide import decide
from affidavit.verify.judges import Judge

Seal = Callable[[Sequence[Entry], Mapping[str, bytes], ReleaseRecord], bytes]
"""Turns a decided run into its file's bytes; given from above, so that this page knows no format."""


@dataclass(frozen=True, slots=True)
class World:
    """All that a run needs from outside."""

    driver: Driver
    collection: Collection
    examiner: Examiner
    seal: Seal


@dataclass(frozen=True, slots=True)
class Paused:
    """The run waits; it goes on when somebody drives it again."""

    run_id: str
    reason: str
