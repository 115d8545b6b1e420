"""Cases for fitting: what a run had on record, without a run."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from affidavit.contract.agent import AgentState, Observation, ObservationKind
from affidavit.contract.evidence import Change, Envelope, Quantity, Scope
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.evaluation.rankings import Lesson
from tests.support.runs import TENANT, WINDOW, request


def lesson(case: str, guilty: str, *, shows: bool = True) -> Lesson:
    """A case in which a processor of the guilty service rose far, and another one's a little."""
    moves = (("bystander", "3"), (guilty, "30"))
    facts = tuple(cpu(subject, score) for subject, score in moves) if shows else ()
    scope = Scope(tenant=TENANT, window=WINDOW, query="resource_shifts")
    envelope = Envelope(
        source_type="metrics",
        source="metrics",
        evidence_class=EvidenceClass.OBSERVATION,
        emitter=Emitter.PLATFORM,
        scope=scope,
        status=EvidenceStatus.EVIDENCE_FOUND if facts else EvidenceStatus.NO_EVIDENCE,
        count=len(facts),
        facts=facts,
        observed_at=datetime(2026, 3, 2, 11, tzinfo=UTC),
    )
    kind = ObservationKind.FOUND if facts else ObservationKind.EMPTY
    told = Observation(1, "resource_shifts", {}, kind, "call_0001", scope, envelope, "x")
    state = AgentState(request=request(), step=2, tools=(), observations=(told,))
    return Lesson(case, "a system", state, frozenset({guilty}))


def cpu(subject: str, score: str) -> Change:
    """A processor's rise, as `resource_shifts` records it."""
    return Change(
        subject=subject,
        attribute="cpu",
        before=Quantity(number=Decimal(1), unit="%"),
        after=Quantity(number=Decimal(90), unit="%"),
        direction="up",
        score=Decimal(score),
        anomalous=True,
    )
