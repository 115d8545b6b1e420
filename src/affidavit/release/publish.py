"""What the user is given: the one place where a decision becomes a public answer (L1, C10).

`publish` is the one maker of `Published`; `release_record` turns any decision into the plain record
that is stored, sealed and shown. A fallback that would be empty, or an end that the tables do not
know, becomes D15: fail closed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Final, NoReturn

from affidavit.contract.decisions import DECISIONS, failure_code_of
from affidavit.contract.draft import AnalysisCandidate, BoundCandidate
from affidavit.contract.errors import InternalFault
from affidavit.contract.report import (
    PublishedAnalysis,
    PublishedBound,
    PublishedReport,
    PublishedSentence,
    ReleaseRecord,
    Usage,
)
from affidavit.contract.states import (
    AGENT_RUN_STATES,
    AGENT_STOP_REASONS,
    AgentStatus,
    AnalysisKind,
    DiagnosisStopReason,
    ReleaseOutcome,
)
from affidavit.progress.projector import bounded
from affidavit.release.decide import decide, run_state_of
from affidavit.release.fallback import FallbackImpossible, build_fallback, ground_of, reasons_of
from affidavit.release.material import Gathered, NoMaterial, Supported
from affidavit.release.replies import reply_of
from affidavit.release.requests import Requests, admit_requests
from affidavit.release.situation import (
    Cancelled,
    Cited,
    Faulted,
    Replied,
    Situation,
    Spent,
    Unrouted,
    Unthinking,
)
from affidavit.release.wording import REASONS, Reason
from affidavit.verify.sentences import Sentence, number_sentences
from affidavit.verify.support import SentenceProof, SupportedDraft

_MAKER: Final = object()


class Published:
    """A report that may be read by anybody who may read the run (L7).

    Made by `publish` alone; it cannot be changed, copied, pickled or read from anywhere.
    """

    __slots__ = ("report",)
    report: PublishedReport

    def __init__(self, maker: object, report: PublishedReport) -> None:
        if maker is not _MAKER:
            raise TypeError("only publish makes a published report")
        object.__setattr__(self, "report", report)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a published report does not change; it can be superseded (L9)")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a published report does not change; it can be superseded (L9)")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("a published report has one kind")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a published report cannot be copied or stored; store its record")


@dataclass(frozen=True, slots=True)
class Frame:
    """What every answer says about its run, whatever the answer is."""

    run_id: str
    tenant: str
    question: str
    decided_at: datetime
    usage: Usage
    agent_status: AgentStatus
    stop_reason: DiagnosisStopReason | None = None


def publish(supported: SupportedDraft, withdrawn: int = 0) -> Published:
    """The draft as its author wrote it, each sentence with its chain to the facts (L2, C10).

    What its author lacked is shown as in a fallback: no item that claims a cause, since no guard
    has looked at it.
    """
    candidate, writer = supported.candidate, _Writer.of(supported)
    if candidate.conclusion is None:
        raise InternalFault("a supported draft has a conclusion")
    limits = candidate.limitations
    report = PublishedReport(
        analyses=tuple(writer.analysis(part) for part in candidate.analyses or ()),
        conclusion=writer.bound(candidate.conclusion),
        action_plan=tuple(writer.bound(part) for part in candidate.action_plan),
        recommendations=tuple(writer.bound(part) for part in candidate.recommendations),
        scope=(limits.scope if limits else None) or "",
        missing_info=_requests(supported).items,
        source_documents=supported.snapshot.verified_sources(),
        withdrawn=withdrawn,
    )
    return Published(_MAKER, report)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes parts down in the order of the document, which is that of the harness's numbers."""

    sentences: Iterator[Sentence]
    proofs: Mapping[int, SentenceProof]

    @classmethod
    def of(cls, supported: SupportedDraft) -> _Writer:
        proofs = {proof.number: proof for proof in supported.report.proofs}
        return cls(iter(number_sentences(supported.candidate)), proofs)

    def analysis(self, part: AnalysisCandidate) -> PublishedAnalysis:
        return PublishedAnalysis(
            id=part.id or "",
            kind=AnalysisKind(part.kind or ""),
            body=part.body or "",
            sentences=self._take(len(part.sentences)),
            tool_call_ids=part.calls(),
        )

    def bound(self, part: BoundCandidate) -> PublishedBound:
        return PublishedBound(
            text=part.text or "",
            sentences=self._take(len(part.sentences)),
            based_on_analysis_ids=part.based_on_analysis_ids,
        )

    def _take(self, count: int) -> tuple[PublishedSentence, ...]:
        return tuple(
            PublishedSentence(
                text=sentence.text,
                tool_call_ids=sentence.calls,
                statements=self.proofs[sentence.number].chains,
                against=self.proofs[sentence.number].against,
                unproved=self.proofs[sentence.number].unproved,
            )
            for sentence in islice(self.sentences, count)
        )


def _requests(supported: SupportedDraft) -> Requests:
    limits = supported.candidate.limitations
    return admit_requests(limits.missing_info if limits else ())


def release_record(frame: Frame, gathered: Gathered) -> ReleaseRecord:
    """The one public answer of a run, decided here and now (L1, L8).

    A fallback that would be empty is D15 instead (C8). Raises InternalFault when the frame's agent
    status or stop reason cannot stand beside the run state (E18, N5).
    """
    try:
        return _record(frame, gathered)
    except FallbackImpossible:
        return _record(frame, replace(gathered, situation=Faulted(), material=NoMaterial()))


def _record(frame: Frame, gathered: Gathered) -> ReleaseRecord:
    situation = gathered.situation
    row = DECISIONS[decide(situation)]
    state = run_state_of(situation)
    status, stop_reason = _end_of(situation, frame)
    if state not in AGENT_RUN_STATES[status] or stop_reason not in AGENT_STOP_REASONS[status]:
        raise InternalFault(f"a loop that ended {status} ({stop_reason}) is never {state}")
    fallback = build_fallback(row.fallback, ground_of(gathered)) if row.fallback else None
    return ReleaseRecord(
        run_id=frame.run_id,
        tenant=frame.tenant,
        question=frame.question,
        decided_at=frame.decided_at,
        decision=row.id,
        run_state=state,
        outcome=row.outcome,
        agent_status=status,
        stop_reason=stop_reason,
        failure_code=failure_code_of(row, gathered.intent),
        result=_report(gathered, row.outcome),
        fallback=fallback.record if fallback else None,
        reply=reply_of(situation) if isinstance(situation, Replied) else None,
        provenance=gathered.provenance,
        coverage=gathered.progress.coverage,
        usage=frame.usage,
        limitations=_limitations(gathered, row.outcome),
    )


def _report(gathered: Gathered, outcome: ReleaseOutcome) -> PublishedReport | None:
    """The report of a success; system chat has none, it has its fixed reply."""
    if outcome is not ReleaseOutcome.SUCCESS or isinstance(gathered.situation, Replied):
        return None
    return _result(gathered).report


def _result(gathered: Gathered) -> Published:
    match gathered.situation, gathered.material:
        case Cited(withdrawn=withdrawn), Supported(draft=draft):
            return publish(draft, withdrawn)
        case _:
            raise InternalFault("only a supported draft is published")


_Status = tuple[AgentStatus, DiagnosisStopReason | None]


def _end_of(situation: Situation, frame: Frame) -> _Status:
    """How the loop ended; a stop during release names itself, whatever the agent had done (N5)."""
    spent = DiagnosisStopReason.BUDGET_LIMIT_REACHED
    match situation:
        case Cancelled():
            return AgentStatus.CANCELLED, None
        case Faulted() | Unthinking() | Unrouted():
            return AgentStatus.FAILED, None
        case Spent(timed_out=True):
            return AgentStatus.TIMEOUT, spent
        case Spent() if frame.agent_status is AgentStatus.MAX_ITERATIONS:
            return AgentStatus.MAX_ITERATIONS, spent
        case Spent():
            return AgentStatus.BUDGET_EXCEEDED, spent
        case _:
            return frame.agent_status, frame.stop_reason


def _limitations(gathered: Gathered, outcome: ReleaseOutcome) -> tuple[str, ...]:
    """The limits of an answer that is no fallback; a fallback carries its own."""
    reasons: tuple[Reason, ...] = ()
    match outcome, gathered.material:
        case ReleaseOutcome.FAILED, _:
            reasons = reasons_of(gathered.situation, gathered.intent)
        case ReleaseOutcome.SUCCESS, Supported(draft=draft):
            reasons = (Reason.REQUESTS_LEFT_OUT,) if _requests(draft).dropped else ()
        case _:
            return ()
    return bounded((*(REASONS[reason] for reason in reasons), *gathered.progress.limitations))
