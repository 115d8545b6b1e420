"""The judge that needs no model: SUPPORTED only where every sentence is proved (M5)."""

from __future__ import annotations

from affidavit.contract.draft import DraftCandidate
from affidavit.contract.snapshots import VerifiedEvidenceSnapshot
from affidavit.contract.states import SemanticVerdict
from affidavit.core.beside import compute_beside
from affidavit.verify.judges import JudgeVerdict
from affidavit.verify.review import review_draft


class EmbeddedJudge:
    """Deterministic: the same draft over the same evidence has the same verdict, for ever."""

    name = "embedded"

    async def review(
        self,
        query: str,
        draft: DraftCandidate,
        snapshot: VerifiedEvidenceSnapshot,
    ) -> JudgeVerdict:
        """SUPPORTED if and only if no sentence is refused."""
        reviews = await compute_beside(review_draft, draft, snapshot, query)
        refused = [review for review in reviews if review.codes]
        if not reviews or refused:
            lines = (f"{item.sentence.number}: {', '.join(item.codes)}" for item in refused)
            return JudgeVerdict(
                verdict=SemanticVerdict.UNSUPPORTED,
                reason="; ".join(lines) or "there is no sentence to judge",
            )
        return JudgeVerdict(
            verdict=SemanticVerdict.SUPPORTED, reason=f"{len(reviews)} sentences proved"
        )
