"""Gathering all that a release needs, one named step after the other (section 10).

    no draft to look at?     → what was seen, and nothing else                D9 to D15
    no conclusion?           → its references only; no repair, no judge       D6 to D8
    citations real?          → else one repair, and the guard again           D3
    words refuted?           → no judge                                       D4
    author takes back?       → what is left, and guard and support check again  D2b
    facts carry the words?   → the judge; asked again only if there was no answer   D1, D2, D4, D5

Nothing is decided here, and nothing is built. A stop of the run passes unchanged (L4); when a step
cannot be recorded, the caller hears so and nothing was gathered (L5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from affidavit.contract.agent import Ending
from affidavit.contract.draft import DraftCandidate, DraftUnreadable
from affidavit.contract.errors import InternalFault, ModelFailed, RecordFailed
from affidavit.contract.journal import Event, EventType
from affidavit.contract.snapshots import DiagnosisProgressSnapshot
from affidavit.contract.states import (
    DiagnosisStopReason,
    Provenance,
    SemanticVerdict,
)
from affidavit.contract.violations import Violation
from affidavit.core.beside import compute_beside
from affidavit.ledger.snapshot import LedgerSnapshot
from affidavit.progress.reading import stable_code
from affidavit.release.desk import Desk, Trail, text_artifact
from affidavit.release.findings import STOP_CODES, Findings
from affidavit.release.material import (
    AskedFor,
    Evidence,
    Gathered,
    Material,
    NoMaterial,
    Refusals,
    Supported,
)
from affidavit.release.reading import concludes, read_draft
from affidavit.release.repair import (
    PatchRefused,
    Repairer,
    RepairUnavailable,
    apply_patch,
    is_mendable,
    read_patch,
    same_view,
)
from affidavit.release.replies import read_reply
from affidavit.release.requests import admit_requests
from affidavit.release.situation import (
    Cancelled,
    Cited,
    Faulted,
    Illegal,
    Opinion,
    RepairEnd,
    Situation,
    Spent,
    StopKind,
    Stopped,
    Uncited,
    Unconcluded,
    Unrouted,
    Unthinking,
)
from affidavit.release.withdrawal import Author, NoAuthor, withdraw
from affidavit.verify.evidence import Refused, VerifiedDraft, check_evidence, check_references
from affidavit.verify.judges import Judge, JudgeVerdict
from affidavit.verify.support import SupportReport, check_support, support

JUDGE_ATTEMPTS_MAX: Final = 2
"""M3: one retry with the same input, and only where there was no answer."""

CODES_MAX: Final = 20
"""Different codes on one journal line; the number of refusals stands beside them."""

APPLIED: Final = "APPLIED"
"""The result of a repair whose patch was applied; whether it mended anything, the recheck says."""

ANSWERED: Final = "ANSWERED"
"""The result of an attempt that gave a verdict; any other result is why it did not."""


@dataclass(frozen=True, slots=True)
class Examiner:
    """Who is asked: a judge for a verdict, a repairer for ids, an author for what it takes back."""

    judge: Judge
    repairer: Repairer
    author: Author = field(default_factory=NoAuthor)


async def examine(
    findings: Findings,
    progress: DiagnosisProgressSnapshot,
    ledger: LedgerSnapshot,
    examiner: Examiner,
    desk: Desk,
) -> Gathered:
    """The situation of a run whose collection has ended, and what an answer can be built from.

    Raises RunStopped unchanged (L4), RecordFailed when a step cannot be recorded (L5), and
    InternalFault when the record of an earlier driver contradicts what is found now.
    """
    situation = read_reply(findings) or _without_draft(findings, progress)
    provenance = provenance_of(ledger)
    if situation is not None:
        return Gathered(situation, NoMaterial(), progress, provenance)
    facts = progress.has_observed_facts()
    try:
        candidate = read_draft(findings.draft or b"")
    except DraftUnreadable:
        return Gathered(Illegal(facts), NoMaterial(), progress, provenance)
    inquiry = _Inquiry(findings, candidate, ledger, examiner, Trail.at(desk))
    if concludes(candidate):
        found, material = await inquiry.with_conclusion()
    elif findings.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED:
        found, material = Stopped(StopKind.SATURATED, facts), NoMaterial()
    else:
        found, material = await inquiry.without_conclusion(facts=facts)
    return Gathered(found, material, progress, provenance)


def gather_stopped(
    findings: Findings, progress: DiagnosisProgressSnapshot, ledger: LedgerSnapshot
) -> Gathered:
    """What is left when there is no draft to look at, or no time to look at it (D9 to D15).

    With a draft that could still be examined, this fails closed: only a stop may skip the checks.
    """
    situation = _without_draft(findings, progress) or Faulted()
    return Gathered(situation, NoMaterial(), progress, provenance_of(ledger))


def provenance_of(ledger: LedgerSnapshot) -> Provenance:
    """Supplied as soon as one call came with somebody's answer (C12, N18)."""
    supplied = any(
        stored.record.provenance is Provenance.SUPPLIED for stored in ledger.calls.values()
    )
    return Provenance.SUPPLIED if supplied else Provenance.RECORDED


def _without_draft(findings: Findings, progress: DiagnosisProgressSnapshot) -> Situation | None:
    """The situation where no draft is looked at; None where there is one to look at."""
    facts = progress.has_observed_facts()
    if not findings.is_lawful:
        return Faulted()
    match findings.ending:
        case Ending.CONCLUDED:
            return None
        case Ending.GAVE_UP:
            saturated = findings.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED
            return Stopped(StopKind.SATURATED if saturated else StopKind.GAVE_UP, facts)
        case Ending.UNREADABLE:
            return Illegal(facts)
        case Ending.PROTOCOL_VIOLATED:
            return Stopped(StopKind.PROTOCOL_VIOLATED, facts)
        case Ending.LOOP_DETECTED:
            return Stopped(StopKind.LOOP_DETECTED, facts)
        case Ending.BUDGET_EXHAUSTED:
            return Spent(timed_out=False, facts=facts)
        case Ending.TIMED_OUT:
            return Spent(timed_out=True, facts=facts)
        case _:
            return _NOBODY.get(findings.ending, Faulted())


_NOBODY: Final[Mapping[Ending, Situation]] = MappingProxyType(
    {
        Ending.CANCELLED: Cancelled(),
        Ending.NO_MODEL_LEFT: Unthinking(),
        Ending.UNROUTED: Unrouted(),
    }
)
"""Endings that say all there is to say; what stands nowhere fails closed (P4)."""


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """One draft under examination."""

    findings: Findings
    candidate: DraftCandidate
    ledger: LedgerSnapshot
    examiner: Examiner
    trail: Trail

    async def without_conclusion(self, *, facts: bool) -> tuple[Situation, Material]:
        """Its references only: the bad ones are dropped, and nothing rests on them (D6 to D8)."""
        references = check_references(self.candidate, self.ledger)
        await self.trail.write(_guarded(EventType.EVIDENCE_GUARD_INITIAL, references.violations))
        limits = self.candidate.limitations
        requests = admit_requests(limits.missing_info if limits else ())
        situation = Unconcluded(facts, bool(requests.items), not references.violations)
        return situation, AskedFor(requests)

    async def with_conclusion(self) -> tuple[Situation, Material]:
        """Guard, at most one repair and the guard again; then the words (D1 to D5)."""
        checked = check_evidence(self.candidate, self.ledger)
        await self.trail.write(_guarded(EventType.EVIDENCE_GUARD_INITIAL, _wrongs(checked)))
        if isinstance(checked, VerifiedDraft):
            return await self._weigh(checked, repaired=False)
        mended = await self._repair(checked.violations)
        if isinstance(mended, RepairEnd):
            return Uncited(mended), Refusals(checked.violations)
        rechecked = check_evidence(mended, self.ledger)
        await self.trail.write(_guarded(EventType.EVIDENCE_GUARD_RECHECK, _wrongs(rechecked)))
        if isinstance(rechecked, Refused):
            return Uncited(RepairEnd.STILL_INVALID), Refusals(rechecked.violations)
        return await self._weigh(rechecked, repaired=True)

    async def _repair(self, violations: tuple[Violation, ...]) -> DraftCandidate | RepairEnd:
        """The one attempt: a candidate that reads the same, or why there is none (Q1 to Q5)."""
        known = self.trail.take(EventType.EVIDENCE_REPAIR_ATTEMPT)
        if known is not None:
            return self._mended_before(known)
        answer = await self._propose(violations)
        if isinstance(answer, RepairEnd):
            await self.trail.write(_repair_attempt(answer, None))
            return answer
        mended = _mend(self.candidate, answer)
        patch = text_artifact("patch", answer)
        result = mended if isinstance(mended, RepairEnd) else APPLIED
        await self.trail.write(_repair_attempt(result, patch.digest), artifacts=(patch,))
        return mended

    def _mended_before(self, known: Mapping[str, object]) -> DraftCandidate | RepairEnd:
        """What an earlier driver's attempt came to: the same patch, applied again (K8)."""
        if known["result"] != APPLIED:
            return RepairEnd(str(known["result"]))
        patch = self.trail.content(known["patch_digest"])
        if patch is None:
            raise RecordFailed("the patch on record can no longer be read")
        return _mend(self.candidate, patch)

    async def _propose(self, violations: tuple[Violation, ...]) -> str | RepairEnd:
        """The repairer's answer, or why there is none."""
        if not all(is_mendable(item) for item in violations):
            return RepairEnd.NOT_MENDABLE
        repairer, query = self.examiner.repairer, self.findings.question
        try:
            return await self.trail.desk.ask(
                lambda: repairer.propose(query, self.candidate, violations)
            )
        except RepairUnavailable:
            return RepairEnd.UNAVAILABLE
        except ModelFailed as failed:
            if failed.code in STOP_CODES:
                raise
            return RepairEnd.FAILED

    async def _weigh(self, draft: VerifiedDraft, *, repaired: bool) -> tuple[Situation, Material]:
        """Support check, withdrawal, judge (M1 to M6)."""
        report = await self._check_words(draft)
        refusals, withdrawn = report.refusals, 0
        taken = await withdraw(self.trail, self.examiner.author, draft, self.ledger, refusals)
        if taken is not None:
            draft, withdrawn = taken.verified, len(taken.numbers)
            await self.trail.write(_guarded(EventType.EVIDENCE_GUARD_RECHECK, ()))
            report = await self._check_words(draft)
            refusals = taken.left.place(report.refusals)
        evidence = Evidence(draft.snapshot, report.proofs, refusals)
        if report.contradictions():
            return Cited(Opinion.REFUTED, repaired, withdrawn), evidence
        opinion = await self._judge(draft)
        if opinion is not Opinion.SUPPORTED:
            return Cited(opinion, repaired, withdrawn), evidence
        supported = support(draft, report, SemanticVerdict.SUPPORTED)
        return Cited(opinion, repaired, withdrawn), Supported(supported)

    async def _check_words(self, draft: VerifiedDraft) -> SupportReport:
        report = await compute_beside(check_support, draft, self.ledger, self.findings.question)
        await self.trail.write(_support_checked(report))
        return report

    async def _judge(self, draft: VerifiedDraft) -> Opinion:
        """The verdict; asked once more with the same input if there was no answer, and never after
        one (M3)."""
        for attempt in range(1, JUDGE_ATTEMPTS_MAX + 1):
            known = self.trail.take(EventType.SEMANTIC_GUARD_ATTEMPT)
            if known is not None and known["result"] == ANSWERED:
                return self._decided_before()
            if known is not None:
                continue
            answer = await self._ask_judge(draft)
            if isinstance(answer, str):
                await self.trail.write(self._attempt(attempt, answer))
                continue
            reason = text_artifact("verdict_reason", answer.reason)
            decision = Event(
                EventType.SEMANTIC_GUARD_DECISION,
                {"verdict": str(answer.verdict), "reason_digest": reason.digest},
            )
            attempted = self._attempt(attempt, ANSWERED)
            await self.trail.write(attempted, decision, artifacts=(reason,))
            return Opinion(str(answer.verdict))
        return Opinion.UNAVAILABLE

    def _decided_before(self) -> Opinion:
        """The verdict on record: final, whoever judges now (M3, K8)."""
        known = self.trail.take(EventType.SEMANTIC_GUARD_DECISION)
        if known is None:
            raise InternalFault("an answer is on record, and its verdict is not")
        return Opinion(SemanticVerdict(str(known["verdict"])))

    async def _ask_judge(self, draft: VerifiedDraft) -> JudgeVerdict | str:
        """The judge's answer, or the stable code that says why there is none."""
        judge, query = self.examiner.judge, self.findings.question
        try:
            answer: object = await self.trail.desk.ask(
                lambda: judge.review(query, draft.candidate, draft.snapshot)
            )
        except ModelFailed as failed:
            if failed.code in STOP_CODES:
                raise
            return stable_code(failed.code) or ModelFailed.code
        return answer if isinstance(answer, JudgeVerdict) else "ANSWER_MALFORMED"

    def _attempt(self, attempt: int, result: str) -> Event:
        data = {"judge": self.examiner.judge.name, "attempt": attempt, "result": result}
        return Event(EventType.SEMANTIC_GUARD_ATTEMPT, data)


def _mend(candidate: DraftCandidate, answer: str) -> DraftCandidate | RepairEnd:
    """The candidate with the patch's ids, if the answer is a patch and a reader sees the same."""
    try:
        mended = apply_patch(candidate, read_patch(answer))
    except PatchRefused:
        return RepairEnd.UNREADABLE
    return mended if same_view(candidate, mended) else RepairEnd.MEANING_CHANGED


def _repair_attempt(result: str, patch_digest: str | None) -> Event:
    data = {"result": str(result), "patch_digest": patch_digest}
    return Event(EventType.EVIDENCE_REPAIR_ATTEMPT, data)


def _wrongs(checked: VerifiedDraft | Refused) -> tuple[Violation, ...]:
    return checked.violations if isinstance(checked, Refused) else ()


def _guarded(type_: EventType, violations: tuple[Violation, ...]) -> Event:
    codes = sorted({str(item.code) for item in violations})
    return Event(
        type_,
        {
            "result": "FAILED" if violations else "PASSED",
            "violations": len(violations),
            "codes": tuple(codes[:CODES_MAX]),
        },
    )


def _support_checked(report: SupportReport) -> Event:
    """PASSED; UNPROVED, where only words that nothing licenses remain for a judge; or REFUTED."""
    result = "REFUTED" if report.contradictions() else "UNPROVED" if report.refusals else "PASSED"
    codes = sorted({str(item.code) for item in report.refusals})
    return Event(
        EventType.SUPPORT_CHECK,
        {"result": result, "refusals": len(report.refusals), "codes": tuple(codes[:CODES_MAX])},
    )
