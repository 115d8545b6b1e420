"""SUPPORT_CHECK: do the cited facts carry the words? (M4; deterministic, only able to refuse)

The one maker of `SupportedDraft`. Contradiction-class refusals are final; coverage-class refusals
are left to a model judge where one is configured, and refuse where the embedded judge judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NoReturn

from affidavit.contract.draft import DraftCandidate
from affidavit.contract.errors import InternalFault
from affidavit.contract.report import StatementChain
from affidavit.contract.snapshots import VerifiedCall, VerifiedEvidenceSnapshot
from affidavit.contract.states import SemanticVerdict
from affidavit.contract.violations import Refusal, RefusalClass, SupportCode
from affidavit.ledger.snapshot import LedgerSnapshot, Verified
from affidavit.verify.evidence import VerifiedDraft
from affidavit.verify.review import SentenceReview, review_draft

_MAKER: Final = object()


@dataclass(frozen=True, slots=True)
class SentenceProof:
    """One sentence, and the facts that carry it: statement kind, call id, places in `facts`.

    `against` are facts of the run that say otherwise, and that refute it or do not (M4).
    `unproved` are the codes against it: where it is published all the same, a model judge said so.
    """

    number: int
    pointer: str
    chains: tuple[StatementChain, ...]
    against: tuple[StatementChain, ...] = ()
    unproved: tuple[SupportCode, ...] = ()


@dataclass(frozen=True, slots=True)
class SupportReport:
    """What the support check says about one verified draft."""

    draft: VerifiedDraft
    refusals: tuple[Refusal, ...]
    proofs: tuple[SentenceProof, ...]

    def contradictions(self) -> tuple[Refusal, ...]:
        """The refusals that no judge may overrule."""
        return tuple(
            refusal
            for refusal in self.refusals
            if refusal.refusal_class is RefusalClass.CONTRADICTION
        )


class SupportedDraft:
    """A verified draft that the support check did not refute and a judge called SUPPORTED (L7).

    Made by `support` alone; it cannot be changed, copied, pickled or read from anywhere.
    """

    __slots__ = ("draft", "report")
    draft: VerifiedDraft
    report: SupportReport

    def __init__(self, maker: object, report: SupportReport) -> None:
        if maker is not _MAKER:
            raise TypeError("only the support check makes a supported draft")
        object.__setattr__(self, "draft", report.draft)
        object.__setattr__(self, "report", report)

    @property
    def candidate(self) -> DraftCandidate:
        """The draft as its author wrote it."""
        return self.draft.candidate

    @property
    def snapshot(self) -> VerifiedEvidenceSnapshot:
        """The evidence that it cites."""
        return self.draft.snapshot

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a supported draft does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a supported draft does not change")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("a supported draft has one kind")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a supported draft cannot be copied or stored; check the draft again")


def check_support(
    draft: VerifiedDraft, ledger: LedgerSnapshot, question: str = ""
) -> SupportReport:
    """Every sentence against what it cites, and against the whole run for contradictions (M4)."""
    reviews = review_draft(draft.candidate, draft.snapshot, question, run=_run(ledger))
    refusals = tuple(
        Refusal(code=code, pointer=review.sentence.pointer, sentence=review.sentence.number)
        for review in reviews
        for code in review.codes
    )
    return SupportReport(draft, refusals, tuple(_proof(review) for review in reviews))


def support(
    draft: VerifiedDraft, report: SupportReport, verdict: SemanticVerdict
) -> SupportedDraft:
    """The supported draft.

    Raises InternalFault unless the report is this draft's, holds no contradiction, and the judge
    said SUPPORTED: whoever calls has to have looked.
    """
    if report.draft is not draft:
        raise InternalFault("a support report belongs to the draft that it checked")
    if report.contradictions() or verdict is not SemanticVerdict.SUPPORTED:
        raise InternalFault("a refuted or unsupported draft cannot become a supported one")
    return SupportedDraft(_MAKER, report)


def _run(ledger: LedgerSnapshot) -> tuple[VerifiedCall, ...]:
    """Every call of the run that can be read back, cited or not."""
    read = (ledger.read_back(call) for call in ledger.calls)
    return tuple(
        VerifiedCall(
            tool_call_id=found.record.tool_call_id,
            tool=found.record.tool,
            provenance=found.record.provenance,
            envelope=found.envelope,
        )
        for found in read
        if isinstance(found, Verified)
    )


def _proof(review: SentenceReview) -> SentenceProof:
    sentence = review.sentence
    return SentenceProof(
        sentence.number, sentence.pointer, review.chains, review.against, review.codes
    )
