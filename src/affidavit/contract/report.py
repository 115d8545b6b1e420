"""What leaves the system: plain records of a release, its coverage and its usage (C7 to C12).

These are what is stored and shown. They prove nothing by themselves: the trust types that only the
release can make (`release.publish`, `release.fallback`) are turned into these and never back (L7).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from pydantic import Field

from affidavit.contract.decisions import DecisionId
from affidavit.contract.evidence import Scope, Window
from affidavit.contract.record import Instant, Record
from affidavit.contract.states import (
    AgentStatus,
    AnalysisKind,
    ChatFailureCode,
    DiagnosisStopReason,
    EvidenceStatus,
    FailureStage,
    FallbackType,
    Provenance,
    ReleaseOutcome,
    RunState,
)
from affidavit.contract.violations import SupportCode


class SourceRef(Record):
    """A source that was really read, with the scope it was read in; distinct by all three."""

    source_type: str
    source: str
    scope: Scope


class ObservedFact(Record):
    """A fact worded by code from a READY record of this run (C5, C9)."""

    text: str = Field(min_length=1, max_length=320)
    tool_call_id: str
    status: EvidenceStatus
    source_type: str
    source: str


class ValidationIssue(Record):
    """A refusal as a user may see it: a stable code and a pointer, never content (C7)."""

    code: str
    field: str


class CoverageLine(Record):
    """One source: was it looked at, and what came back? (C11)"""

    source_type: str
    source: str
    status: Literal["consulted", "empty", "failed", "unavailable", "refused", "not_asked"]
    truncated: bool = False
    calls: int = Field(default=0, ge=0)
    services: tuple[str, ...] = ()
    window: Window | None = None
    codes: tuple[str, ...] = ()


class Coverage(Record):
    """What was looked at and what was not; computed by code, never written by a model (C11)."""

    lines: tuple[CoverageLine, ...] = ()


class Lead(Record):
    """A suspect, no root cause: where a recorded scan stood out, and the missing leg (C9)."""

    entity: str
    signal: str
    size: str
    missing: str
    tool_call_id: str


class FallbackRecord(Record):
    """The content of a SafeFallback (C7). There is no conclusion, by construction."""

    type: FallbackType
    conclusion: None = None
    verified_sources: tuple[SourceRef, ...] = ()
    observed_facts: tuple[ObservedFact, ...] = ()
    limitations: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    leads: tuple[Lead, ...] = ()
    asked_for: tuple[str, ...] = ()
    failure_stage: FailureStage
    validation_issues: tuple[ValidationIssue, ...] = ()


class StatementChain(Record):
    """A statement of a sentence, and the facts that prove it: call id and places in `facts`.

    Of kind `against` it proves nothing: these facts say otherwise (M4).
    """

    kind: str
    tool_call_id: str
    facts: tuple[int, ...] = ()


class PublishedSentence(Record):
    """One sentence with its chain: sentence → statement → tool_call_id → fact (C10).

    `against` are facts of the run that say otherwise and have not the standing to refute it (M4).
    `unproved` are the codes of what is not proved of it: that is a model judge's word (M4, M8).
    """

    text: str
    tool_call_ids: tuple[str, ...]
    statements: tuple[StatementChain, ...] = ()
    against: tuple[StatementChain, ...] = ()
    unproved: tuple[SupportCode, ...] = ()


class PublishedAnalysis(Record):
    """One analysis as its author wrote it, with its citations."""

    id: str
    kind: AnalysisKind
    body: str
    sentences: tuple[PublishedSentence, ...]
    tool_call_ids: tuple[str, ...]


class PublishedBound(Record):
    """A conclusion, action or recommendation, with the analyses it rests on."""

    text: str
    sentences: tuple[PublishedSentence, ...]
    based_on_analysis_ids: tuple[str, ...]


GUIDANCE_SOURCE: Final = "knowledge"
"""The source type of runbooks and indexed pages (C13)."""


class PublishedReport(Record):
    """The content of a published result (C10)."""

    analyses: tuple[PublishedAnalysis, ...]
    conclusion: PublishedBound
    action_plan: tuple[PublishedBound, ...] = ()
    recommendations: tuple[PublishedBound, ...] = ()
    scope: str
    missing_info: tuple[str, ...] = ()
    source_documents: tuple[SourceRef, ...]
    withdrawn: int = Field(default=0, ge=0)

    @property
    def is_guidance(self) -> bool:
        """Whether it rests on pages alone: it says what they say, and proves no cause (N17)."""
        types = {source.source_type for source in self.source_documents}
        return types == {GUIDANCE_SOURCE}


class SystemTopic(StrEnum):
    """What the system says about itself: a closed set (I3)."""

    GREETING = "GREETING"
    CAPABILITIES = "CAPABILITIES"
    IDENTITY = "IDENTITY"
    THANKS = "THANKS"
    FAREWELL = "FAREWELL"


Language = Literal["en", "zh"]
"""The languages in which the system speaks of itself."""


class SystemReply(Record):
    """A fixed reply that claims nothing: its text follows from topic and language (I3, L1)."""

    topic: SystemTopic
    language: Language
    text: str


class Usage(Record):
    """What the run spent. Money is micro-units of the currency, or None where no price is known."""

    iterations: int = Field(default=0, ge=0)
    tool_calls: int = Field(default=0, ge=0)
    attempts: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    money_micro: int | None = None
    duration_ms: int = Field(default=0, ge=0)


class ReleaseRecord(Record):
    """The one public answer of a run, whatever it is. `reply` stands in system chat alone, and is
    written only where there is one."""

    run_id: str
    tenant: str
    question: str
    decided_at: Instant
    decision: DecisionId
    run_state: RunState
    outcome: ReleaseOutcome
    agent_status: AgentStatus
    stop_reason: DiagnosisStopReason | None = None
    failure_code: ChatFailureCode | None = None
    result: PublishedReport | None = None
    fallback: FallbackRecord | None = None
    reply: SystemReply | None = Field(default=None, exclude_if=lambda reply: reply is None)
    provenance: Provenance = Provenance.RECORDED
    coverage: Coverage
    usage: Usage
    limitations: tuple[str, ...] = ()
