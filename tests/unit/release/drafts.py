"""Drafts, judges, repairers and desks for the release's tests."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from affidavit.contract.agent import Ending
from affidavit.contract.draft import DraftCandidate
from affidavit.contract.errors import RecordFailed
from affidavit.contract.journal import Entry, Event, EventType
from affidavit.contract.snapshots import DiagnosisProgressSnapshot, VerifiedEvidenceSnapshot
from affidavit.contract.states import AgentStatus, DiagnosisStopReason, SemanticVerdict
from affidavit.contract.violations import Violation
from affidavit.core.chain import GENESIS, extend
from affidavit.ports.store import Artifact
from affidavit.progress.coverage import Reach
from affidavit.progress.projector import project_progress
from affidavit.release.findings import Findings
from affidavit.verify.judges import JudgeVerdict
from tests.unit.progress.ledgers import RUN_ID, START, Book

T = TypeVar("T")

QUESTION = "Why is checkout failing?"
BODY = "checkout error_rate was 5%."

Draft = dict[str, Any]


def draft(*calls: str, body: str = BODY, conclusion: str | None = BODY, **parts: object) -> Draft:
    """A draft of one analysis that cites these calls."""
    bound = {"text": conclusion, "based_on_analysis_ids": ["A1"]}
    return {
        "analyses": [{"id": "A1", "kind": "NORMAL", "body": body, "tool_call_ids": list(calls)}],
        "conclusion": None if conclusion is None else bound,
        "action_plan": [],
        "recommendations": [],
        "limitations": {"scope": "checkout", "missing_info": []},
        **parts,
    }


def concluded(
    written: Draft | str | bytes, stop_reason: DiagnosisStopReason | None = None
) -> Findings:
    """The findings of an agent that handed in this draft."""
    if isinstance(written, dict):
        written = json.dumps(written)
    content = written.encode() if isinstance(written, str) else written
    return Findings(QUESTION, Ending.CONCLUDED, AgentStatus.DONE, stop_reason, content)


def progress_of(book: Book, symptom: str | None = "checkout") -> DiagnosisProgressSnapshot:
    """What was seen in this ledger."""
    return project_progress(book.ledger(), book.tracker(), Reach(), symptom=symptom)


@dataclass
class ScriptedJudge:
    """Gives these answers in turn; an exception is raised. Keeps what it was shown."""

    answers: Sequence[object] = (SemanticVerdict.SUPPORTED,)
    name: str = "scripted"
    seen: list[tuple[str, DraftCandidate, VerifiedEvidenceSnapshot]] = field(default_factory=list)

    async def review(
        self, query: str, draft: DraftCandidate, snapshot: VerifiedEvidenceSnapshot
    ) -> JudgeVerdict:
        """The next answer."""
        self.seen.append((query, draft, snapshot))
        answer = self.answers[min(len(self.seen), len(self.answers)) - 1]
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, SemanticVerdict):
            return JudgeVerdict(verdict=answer, reason="a private reason")
        return answer  # type: ignore[return-value]  # a judge that keeps no contract


@dataclass
class ScriptedRepairer:
    """Answers with this patch, or raises; keeps what it was shown."""

    answer: object = "[]"
    name: str = "scripted"
    seen: list[tuple[str, DraftCandidate, tuple[Violation, ...]]] = field(default_factory=list)

    async def propose(
        self, query: str, draft: DraftCandidate, violations: tuple[Violation, ...]
    ) -> str:
        """The patch."""
        self.seen.append((query, draft, violations))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer if isinstance(self.answer, str) else json.dumps(self.answer)


@dataclass
class PlainDesk:
    """A desk in memory: lines chained as in a journal; may fail at the n-th append."""

    past: list[Entry] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    appends: int = 0
    fails_at: int | None = None
    stop: Callable[[], BaseException | None] = lambda: None

    async def record(self, events: tuple[Event, ...], artifacts: tuple[Artifact, ...]) -> None:
        """One append, or none of it."""
        self.appends += 1
        if self.appends == self.fails_at:
            raise RecordFailed("the disk is full")
        last = self.past[-1].hash if self.past else GENESIS
        self.past.extend(extend(RUN_ID, len(self.past) + 1, last, START, events))
        self.contents.update((item.digest, item.content) for item in artifacts)

    async def ask(self, work: Callable[[], Awaitable[T]]) -> T:
        """The work, unless the run is stopped before it."""
        stop = self.stop()
        if stop is not None:
            raise stop
        return await work()

    def lines(self) -> list[EventType]:
        """The kinds of the lines written."""
        return [entry.type for entry in self.past]

    def data(self, type_: EventType) -> list[Mapping[str, object]]:
        """What the lines of one kind say."""
        return [entry.data for entry in self.past if entry.type is type_]
