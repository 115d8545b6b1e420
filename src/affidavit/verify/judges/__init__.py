"""Who says whether the facts carry the conclusion? (M1, M2)

A judge sees the question, the draft and the verified evidence, and nothing else: no tools, no
ledger, no memory, no right to publish or rewrite. What leaves it is a verdict and a reason.
"""

from __future__ import annotations

from typing import Protocol

from affidavit.contract.draft import DraftCandidate
from affidavit.contract.record import Record
from affidavit.contract.snapshots import VerifiedEvidenceSnapshot
from affidavit.contract.states import SemanticVerdict


class JudgeVerdict(Record):
    """A verdict, and its reason for the private audit."""

    verdict: SemanticVerdict
    reason: str


class Judge(Protocol):
    """Anything that can give a verdict on a verified draft."""

    @property
    def name(self) -> str:
        """What the audit calls this judge."""
        ...

    async def review(
        self, query: str, draft: DraftCandidate, snapshot: VerifiedEvidenceSnapshot
    ) -> JudgeVerdict:
        """The verdict. Raises ModelFailed when there is none; no answer is never a yes (M3)."""
        ...
