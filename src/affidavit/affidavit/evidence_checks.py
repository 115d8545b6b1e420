"""Re-checking what a file's answer rests on: the guards again, over what the file holds (A5; pure)

The ledger is rebuilt from the journal and the cited projections, the draft from the published
report and the statements beside it. Then EvidenceGuard and the support check run as they did in
the run. Each function raises `Broken` at the first thing that does not hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from affidavit.affidavit.answer_checks import envelope_of
from affidavit.affidavit.document import CitedCall, Document, PartStatements
from affidavit.affidavit.journal_checks import Broken
from affidavit.affidavit.seal import parts_of
from affidavit.contract.draft import (
    AnalysisCandidate,
    BoundCandidate,
    DraftCandidate,
    LimitationsCandidate,
    SentenceCandidate,
)
from affidavit.contract.invocation import CanonicalToolInvocation
from affidavit.contract.journal import EventType
from affidavit.contract.report import (
    PublishedAnalysis,
    PublishedBound,
    PublishedReport,
    PublishedSentence,
)
from affidavit.contract.states import EvidenceStatus, InvocationStatus, Provenance
from affidavit.core.fold import CallView, fold
from affidavit.ledger.snapshot import LedgerSnapshot, StoredCall
from affidavit.release.reading import read_json
from affidavit.release.requests import admit_requests
from affidavit.verify.evidence import Refused, VerifiedDraft, check_evidence
from affidavit.verify.judges.embedded import EmbeddedJudge
from affidavit.verify.support import SupportReport, check_support

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def check_citations(document: Document) -> None:
    """EvidenceGuard lets the published report through once more, and its sources are the cited."""
    report = document.release.result
    if report is None:
        return
    verified = _verify(document, report)
    if report.source_documents != verified.snapshot.verified_sources():
        raise Broken("/release/result/source_documents", "these are not the cited sources")


def check_statements(document: Document) -> None:
    """The support check refutes no sentence, and each chain is what it finds (M4, C10)."""
    report = document.release.result
    if report is None:
        return
    ledger = rebuild_ledger(document)
    found = check_support(_verify(document, report), ledger, document.release.question)
    judge = document.journal[0].data["judge"]
    refusals = found.refusals if judge == EmbeddedJudge.name else found.contradictions()
    recorded = [e.data for e in document.journal if e.type is EventType.SUPPORT_CHECK]
    if recorded and recorded[-1]["result"] == "PASSED":
        refusals = found.refusals
    if refusals:
        first = refusals[0]
        raise Broken(f"/release/result{first.pointer}", f"{first.code}: not carried by the facts")
    _check_chains(report, found)
    if admit_requests(report.missing_info).items != report.missing_info:
        raise Broken(
            "/release/result/missing_info", "an item that claims a cause, or is no request"
        )


def _verify(document: Document, report: PublishedReport) -> VerifiedDraft:
    candidate = rebuild_draft(report, document.statements)
    for place, part in enumerate(candidate.analyses or ()):
        if part.calls() != part.tool_call_ids:
            at = f"/release/result/analyses/{place}/tool_call_ids"
            raise Broken(at, "a sentence of it cites what the analysis does not")
    verified = check_evidence(candidate, rebuild_ledger(document))
    if isinstance(verified, Refused):
        first = verified.violations[0]
        raise Broken(f"/release/result{first.pointer}", str(first.code))
    return verified


def _check_chains(report: PublishedReport, found: SupportReport) -> None:
    """Sentence → statement → call → fact, as proved now."""
    sentences = [
        (f"{at}/sentences/{number}", sentence)
        for at, part in _ordered(report)
        for number, sentence in enumerate(part.sentences)
    ]
    for (at, sentence), proof in zip(sentences, found.proofs, strict=False):
        if sentence.statements != proof.chains:
            raise Broken(f"/release/result{at}/statements", "the facts prove another chain")
        if sentence.against != proof.against:
            raise Broken(f"/release/result{at}/against", "other facts say otherwise")
        if sentence.unproved != proof.unproved:
            raise Broken(f"/release/result{at}/unproved", "code proves more of it, or less")
    if len(found.proofs) < len(sentences):
        raise Broken("/release/result", "a sentence was not checked")


def _ordered(report: PublishedReport) -> Iterator[tuple[str, PublishedAnalysis | PublishedBound]]:
    """The parts in the order in which the harness numbers their sentences."""
    return parts_of(report)


def rebuild_ledger(document: Document) -> LedgerSnapshot:
    """The ledger as far as the file holds it: the cited calls, as journal and projection say.

    Scope and class of a record stand in its request, which never leaves; here they are taken from
    the projection, whose digest the journal holds. Which tools were registered stands nowhere in
    the file: the tools of its READY calls count as known.
    """
    view, release = fold(document.journal), document.release
    calls = {
        call.tool_call_id: StoredCall(
            _record(document, call, view.calls[call.tool_call_id]), call.result
        )
        for call in document.calls
    }
    tools = frozenset(call.tool for call in document.calls)
    return LedgerSnapshot(release.run_id, release.tenant, calls, tools)


def _record(document: Document, call: CitedCall, known: CallView) -> CanonicalToolInvocation:
    envelope = envelope_of(call)
    completed_us = known.completed_us
    return CanonicalToolInvocation(
        run_id=document.release.run_id,
        tenant=document.release.tenant,
        tool_call_id=call.tool_call_id,
        tool=known.tool,
        scope=envelope.scope,
        status=InvocationStatus.READY,
        evidence_status=EvidenceStatus(str(known.evidence_status)),
        evidence_class=envelope.evidence_class,
        provenance=Provenance(call.provenance),
        request_digest=known.request_digest,
        raw_digest=known.raw_digest,
        result_digest=known.result_digest,
        started_at=_EPOCH + timedelta(microseconds=known.started_us),
        completed_at=None
        if completed_us is None
        else _EPOCH + timedelta(microseconds=completed_us),
        attempts=known.attempts,
        truncated=known.truncated,
    )


def rebuild_draft(
    report: PublishedReport, statements: tuple[PartStatements, ...]
) -> DraftCandidate:
    """The draft that reads as the report does, with what its author bound to each sentence.

    Raises `Broken` when report and statements do not fit each other.
    """
    bound = {part.at: part for part in statements}
    parts = dict(parts_of(report))
    if list(bound) != list(parts) or len(statements) != len(parts):
        raise Broken("/statements", "these are not the parts of the report")

    def sentences(at: str) -> tuple[SentenceCandidate, ...]:
        return _sentences(at, parts[at].sentences, bound[at])

    def bounds(name: str, items: tuple[PublishedBound, ...]) -> tuple[BoundCandidate, ...]:
        return tuple(one(f"/{name}/{place}", item) for place, item in enumerate(items))

    def one(at: str, item: PublishedBound) -> BoundCandidate:
        return BoundCandidate(
            item.text, sentences(at), item.based_on_analysis_ids, bound[at].written
        )

    return DraftCandidate(
        analyses=tuple(
            AnalysisCandidate(
                id=item.id,
                kind=str(item.kind),
                body=item.body,
                sentences=sentences(f"/analyses/{place}"),
                tool_call_ids=item.tool_call_ids,
                written=bound[f"/analyses/{place}"].written,
            )
            for place, item in enumerate(report.analyses)
        ),
        conclusion=one("/conclusion", report.conclusion),
        action_plan=bounds("action_plan", report.action_plan),
        recommendations=bounds("recommendations", report.recommendations),
        limitations=LimitationsCandidate(report.scope, report.missing_info),
    )


def _sentences(
    at: str, published: tuple[PublishedSentence, ...], bound: PartStatements
) -> tuple[SentenceCandidate, ...]:
    if len(published) != len(bound.sentences):
        raise Broken("/statements", f"{at} has another number of sentences")
    return tuple(
        SentenceCandidate(
            text=sentence.text,
            tool_call_ids=sentence.tool_call_ids,
            statements=tuple(_statement(at, text) for text in texts),
        )
        for sentence, texts in zip(published, bound.sentences, strict=True)
    )


def _statement(at: str, text: str) -> dict[str, object]:
    statement = read_json(text)
    if not isinstance(statement, dict):
        raise Broken("/statements", f"a statement of {at} is no object")
    return statement
