"""What is one answer worth? Its sealed file, its ranking and the truth in; figures out (pure).

Everything is read off the file, re-checked as anybody could (`affidavit.recheck`): what the run
says of itself counts only where the file proves it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from affidavit.affidavit.answer_checks import envelope_of
from affidavit.affidavit.document import Document
from affidavit.affidavit.evidence_checks import rebuild_draft, rebuild_ledger
from affidavit.affidavit.recheck import Recheck
from affidavit.affidavit.seal import parts_of
from affidavit.contract.errors import InternalFault
from affidavit.contract.report import PublishedSentence, ReleaseRecord
from affidavit.contract.states import ReleaseOutcome
from affidavit.evaluation.incidents import Truth
from affidavit.evaluation.locating import Located, locate
from affidavit.evaluation.rankings import RANKS_MAX, Ranked, margin, order_suspects
from affidavit.verify.evidence import Refused, check_evidence
from affidavit.verify.support import check_support
from affidavit.wiring import recheck_file

CLAIMS: Final = ("/analyses/", "/conclusion")
"""Where sentences claim something; an advice claims nothing."""


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences of an answer that claim something: its analyses and its conclusion.

    `cited` resolve in an intact file, down to each fact; `proved` were proved there once more.
    """

    all: int = 0
    cited: int = 0
    proved: int = 0


@dataclass(frozen=True, slots=True)
class RunScore:
    """One run on one case.

    `rank` is the place of the first right name, from 1; None where it is not among them. `margin`
    is how sure the ranking was. `lead_rank` and `change_lead` are of what a reader of a fallback
    was shown: the truth among the leads, and a guilty change among them.
    """

    release: ReleaseRecord
    intact: bool
    located: Located
    suspects: tuple[str, ...]
    rank: int | None
    margin: float | None
    right: bool
    sentences: Sentences
    lead_rank: int | None
    change_lead: bool | None

    @property
    def published(self) -> bool:
        """Whether a cause or place was published at all."""
        return self.release.outcome is ReleaseOutcome.SUCCESS

    @property
    def hits(self) -> tuple[float, ...]:
        """For k = 1 to 5: whether a right name is among the first k."""
        return tuple(
            float(self.rank is not None and self.rank <= k) for k in range(1, RANKS_MAX + 1)
        )

    @property
    def codes(self) -> tuple[str, ...]:
        """What a guard refused in the draft: code and pointer."""
        fallback = self.release.fallback
        issues = fallback.validation_issues if fallback is not None else ()
        return tuple(f"{issue.code} at {issue.field or '/'}" for issue in issues)


def score_file(content: bytes, ranked: Sequence[Ranked], truth: Truth) -> RunScore:
    """The score of the answer in these bytes.

    Raises InternalFault where the file cannot even be read: then nothing was measured.
    """
    checked = recheck_file(content)
    if checked.document is None:
        failure = checked.failure
        raise InternalFault(f"the sealed file is unreadable: {failure.says if failure else ''}")
    release = checked.document.release
    located = locate(checked)
    suspects = order_suspects(located.entity, ranked, release)
    return RunScore(
        release=release,
        intact=checked.verdict.is_intact,
        located=located,
        suspects=suspects,
        rank=_rank(suspects, truth),
        margin=margin(ranked),
        right=located.entity is not None and truth.holds(located.entity),
        sentences=_sentences(checked, checked.document),
        lead_rank=_rank(_leads(release), truth),
        change_lead=_change_lead(release, truth),
    )


def _rank(names: Sequence[str], truth: Truth) -> int | None:
    return next((place for place, name in enumerate(names, start=1) if truth.holds(name)), None)


def _leads(release: ReleaseRecord) -> tuple[str, ...]:
    return tuple(lead.entity for lead in release.fallback.leads) if release.fallback else ()


def _change_lead(release: ReleaseRecord, truth: Truth) -> bool | None:
    """Whether a guilty change stands among the leads; None where no change is guilty."""
    if not truth.changes:
        return None
    leads = release.fallback.leads if release.fallback is not None else ()
    words = {word for lead in leads for word in (lead.entity, *lead.signal.split())}
    return any(change in words for change in truth.changes)


def _sentences(checked: Recheck, document: Document) -> Sentences:
    intact = checked.verdict.is_intact
    claims = tuple(_claims(document))
    return Sentences(
        all=len(claims),
        cited=sum(intact and _resolves(document, item, calls) for item, calls in claims),
        proved=_count_proved(document) if intact else 0,
    )


def _count_proved(document: Document) -> int:
    """Claims that the support check, run once more, finds nothing against: not even coverage, which
    a model judge may have overruled."""
    report = document.release.result
    if report is None:
        return 0
    ledger = rebuild_ledger(document)
    verified = check_evidence(rebuild_draft(report, document.statements), ledger)
    if isinstance(verified, Refused):
        return 0
    found = check_support(verified, ledger, document.release.question)
    refused = {refusal.sentence for refusal in found.refusals}
    return sum(
        proof.pointer.startswith(CLAIMS) and proof.number not in refused for proof in found.proofs
    )


def _claims(document: Document) -> Iterator[tuple[PublishedSentence, tuple[str, ...]]]:
    """Sentences of analyses and conclusion, with the calls that they name or their part does."""
    report = document.release.result
    if report is None:
        return
    for at, part in parts_of(report):
        if at.startswith(CLAIMS):
            calls = getattr(part, "tool_call_ids", ())
            for sentence in part.sentences:
                yield sentence, sentence.tool_call_ids or calls


def _resolves(document: Document, sentence: PublishedSentence, calls: tuple[str, ...]) -> bool:
    """Whether each call that the sentence names is in the file, and each fact in that call."""
    named = {*calls, *(chain.tool_call_id for chain in sentence.statements)}
    if not named or any(document.call(name) is None for name in named):
        return False
    for chain in sentence.statements:
        call = document.call(chain.tool_call_id)
        if call is None or any(place >= len(envelope_of(call).facts) for place in chain.facts):
            return False
    return True
