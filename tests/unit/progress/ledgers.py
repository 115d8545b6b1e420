"""A run's ledger in a few lines, written as the store holds it: records and projection bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal

from affidavit.contract.evidence import (
    Change,
    Edge,
    Envelope,
    Fact,
    Line,
    Onset,
    Quantity,
    Scope,
    Value,
    Window,
)
from affidavit.contract.invocation import CanonicalToolInvocation
from affidavit.contract.states import (
    Emitter,
    EvidenceClass,
    EvidenceStatus,
    InvocationStatus,
    Provenance,
)
from affidavit.core.canonical import canonical_json, digest
from affidavit.ledger.snapshot import LedgerSnapshot, StoredCall
from affidavit.progress.tracker import TrackedCall, TrackedStep, Tracker

RUN_ID = "run_0123456789abcdef"
TENANT = "acme"
START = datetime(2026, 3, 2, 10, tzinfo=UTC)
WINDOW = Window(start=START, end=START + timedelta(minutes=30))
SOURCES = {
    "scan": ("metrics", "metrics.parquet"),
    "logs": ("logs", "logs.jsonl"),
    "map": ("topology", "topology.json"),
    "runbook": ("knowledge", "knowledge"),
}


@dataclass
class Book:
    """A ledger under construction. Calls are `call_0001`, `call_0002`, … in order."""

    run_id: str = RUN_ID
    tenant: str = TENANT
    calls: dict[str, StoredCall] = field(default_factory=dict)
    steps: list[TrackedStep] = field(default_factory=list)

    def found(
        self,
        *facts: Fact,
        tool: str = "scan",
        service: str | None = "checkout",
        truncated: bool = False,
        total: int | None = None,
        evidence_class: EvidenceClass = EvidenceClass.OBSERVATION,
        emitter: Emitter = Emitter.PLATFORM,
        provenance: Provenance = Provenance.RECORDED,
        window: Window = WINDOW,
        query: str = "",
        step: bool = True,
    ) -> str:
        """A READY call with these facts."""
        source_type, source = SOURCES[tool]
        status = EvidenceStatus.EVIDENCE_FOUND if facts else EvidenceStatus.NO_EVIDENCE
        envelope = Envelope(
            source_type=source_type,
            source=source,
            evidence_class=evidence_class,
            emitter=emitter,
            scope=Scope(tenant=self.tenant, service=service, window=window, query=query),
            status=status,
            count=len(facts),
            total=total if total is not None else len(facts),
            truncated=truncated,
            facts=facts,
            observed_at=START,
        )
        return self.stored(envelope, tool=tool, provenance=provenance, step=step)

    def empty(self, tool: str = "logs", service: str | None = "checkout", query: str = "") -> str:
        """A READY call that found nothing."""
        return self.found(tool=tool, service=service, query=query)

    def stored(
        self,
        envelope: Envelope,
        *,
        tool: str,
        provenance: Provenance = Provenance.RECORDED,
        step: bool = True,
    ) -> str:
        """A READY call with that projection."""
        key = self.next_id()
        result = canonical_json(envelope.model_dump(mode="json"))
        record = CanonicalToolInvocation(
            run_id=self.run_id,
            tenant=self.tenant,
            tool_call_id=key,
            tool=tool,
            scope=envelope.scope,
            status=InvocationStatus.READY,
            evidence_status=envelope.status,
            evidence_class=envelope.evidence_class,
            provenance=provenance,
            request_digest=digest(b"request"),
            result_digest=digest(result),
            started_at=START,
            completed_at=START,
            truncated=envelope.truncated,
        )
        self.calls[key] = StoredCall(record, result)
        if step:
            self.steps.append(TrackedStep((TrackedCall(key, tool, envelope.scope),)))
        return key

    def failed(
        self,
        code: str = "TIMEOUT",
        tool: str = "logs",
        service: str = "checkout",
        status: Literal["ERROR", "PROJECTING"] = "ERROR",
    ) -> str:
        """A call that failed, or one that was still under way."""
        key = self.next_id()
        scope = Scope(tenant=self.tenant, service=service, window=WINDOW)
        is_error = status == "ERROR"
        record = CanonicalToolInvocation(
            run_id=self.run_id,
            tenant=self.tenant,
            tool_call_id=key,
            tool=tool,
            scope=scope,
            status=InvocationStatus(status),
            evidence_status=EvidenceStatus.ERROR if is_error else None,
            error_code=code if is_error else None,
            request_digest=digest(b"request"),
            started_at=START,
        )
        self.calls[key] = StoredCall(record)
        self.steps.append(TrackedStep((TrackedCall(key, tool, scope),)))
        return key

    def next_id(self) -> str:
        """The id of the next call."""
        return f"call_{len(self.calls) + 1:04d}"

    def ledger(self, tools: Iterable[str] = tuple(SOURCES)) -> LedgerSnapshot:
        """The ledger as it stands."""
        return LedgerSnapshot(self.run_id, self.tenant, dict(self.calls), frozenset(tools))

    def tracker(self) -> Tracker:
        """One step a call, in order."""
        return Tracker(tuple(self.steps))


def value(
    subject: str = "checkout",
    number: str = "5",
    *,
    attribute: str = "error_rate",
    unit: str = "%",
    at_min: int | None = None,
) -> Value:
    """One reading."""
    return Value(
        subject=subject,
        attribute=attribute,
        quantity=Quantity(number=Decimal(number), unit=unit),
        at=None if at_min is None else START + timedelta(minutes=at_min),
    )


def change(
    subject: str = "payment",
    *,
    score: str | None = "9.5",
    anomalous: bool = True,
    before: str = "120",
    after: str = "5000",
    attribute: str = "latency",
    direction: Literal["up", "down", "flat"] = "up",
) -> Change:
    """A reading against its baseline."""
    return Change(
        subject=subject,
        attribute=attribute,
        statistic="p95",
        before=Quantity(number=Decimal(before), unit="ms"),
        after=Quantity(number=Decimal(after), unit="ms"),
        direction=direction,
        score=None if score is None else Decimal(score),
        anomalous=anomalous,
        window=WINDOW,
    )


def onset(subject: str, earliest_min: int, latest_min: int, attribute: str = "latency") -> Onset:
    """When something began, in minutes after ten o'clock."""
    return Onset(
        subject=subject,
        attribute=attribute,
        earliest=START + timedelta(minutes=earliest_min),
        latest=START + timedelta(minutes=latest_min),
    )


def line(text: str, subject: str | None = "payment", **parts: object) -> Line:
    """A log line."""
    return Line.model_validate({"text": text, "subject": subject, "level": "ERROR", **parts})


def edge(source: str, target: str) -> Edge:
    """A recorded call."""
    return Edge(source=source, target=target)
