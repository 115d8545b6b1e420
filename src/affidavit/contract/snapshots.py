"""The two snapshots that every release rests on (C5, C6).

`DiagnosisProgressSnapshot` needs no draft: it is what was verifiably seen, at every exit.
`VerifiedEvidenceSnapshot` needs one: it is what the draft's citations really hold. Both are read
back from the ledger by the one reader, and neither holds a request, a raw response or an error.
"""

from __future__ import annotations

from typing import Final

from pydantic import Field

from affidavit.contract.evidence import Envelope
from affidavit.contract.record import Record
from affidavit.contract.report import Coverage, Lead, ObservedFact, SourceRef
from affidavit.contract.states import AnalysisKind, DiagnosisStopReason, Provenance

FACTS_MAX: Final = 12
"""S0 section 5.2: what a person can read in a fallback at three in the morning."""

FACT_CHARS_MAX: Final = 320
"""S0 section 5.2: one fact is a line or two."""


class DiagnosisProgressSnapshot(Record):
    """What was verifiably seen when the agent ended, draft or no draft (C5)."""

    verified_sources: tuple[SourceRef, ...] = ()
    observed_facts: tuple[ObservedFact, ...] = Field(default=(), max_length=FACTS_MAX)
    facts_left_out: int = Field(default=0, ge=0)
    limitations: tuple[str, ...] = ()
    leads: tuple[Lead, ...] = ()
    stop_reason: DiagnosisStopReason | None = None
    coverage: Coverage = Coverage()

    def has_observed_facts(self) -> bool:
        """The safety valve: without a fact nothing can be published but a failure."""
        return bool(self.observed_facts)


class VerifiedCall(Record):
    """One cited call as EvidenceGuard read it back: its identity and its bounded projection."""

    tool_call_id: str
    tool: str
    provenance: Provenance = Provenance.RECORDED
    envelope: Envelope


class VerifiedAnalysis(Record):
    """One analysis with the evidence that really stands behind it."""

    id: str
    kind: AnalysisKind
    body: str
    tool_call_ids: tuple[str, ...]


class VerifiedEvidenceSnapshot(Record):
    """What a draft's citations hold, rebuilt from the ledger and never from the draft (C6)."""

    analyses: tuple[VerifiedAnalysis, ...]
    calls: tuple[VerifiedCall, ...]

    def call(self, tool_call_id: str) -> VerifiedCall | None:
        """The cited call with that id, or None."""
        return next((call for call in self.calls if call.tool_call_id == tool_call_id), None)

    def verified_sources(self) -> tuple[SourceRef, ...]:
        """Every source once, distinct by source type, source and scope."""
        return tuple(
            dict.fromkeys(
                SourceRef(
                    source_type=call.envelope.source_type,
                    source=call.envelope.source,
                    scope=call.envelope.scope,
                )
                for call in self.calls
            )
        )
