"""Which sentences may their author take back? (M6, pure)"""

from __future__ import annotations

from typing import Final

from affidavit.contract.draft import DraftCandidate
from affidavit.contract.violations import OPEN_CODES, Refusal, RefusalClass
from affidavit.verify.sentences import Part, number_sentences

WITHDRAWN_MAX: Final = 3
"""M6: more unprovable sentences than this is another report."""

WITHDRAWN_SHARE: Final = 4
"""M6: at most one sentence in so many."""


def withdrawable(refusals: tuple[Refusal, ...], draft: DraftCandidate) -> tuple[int, ...]:
    """The numbers of the sentences that the author may be asked to withdraw, or none.

    None when any refusal is a contradiction or left open, when more than three sentences or a quarter of the
    report's are refused, or when one of them stands in the conclusion, a negative observation or
    the limitations: the report then stands or falls as it is.
    """
    if any(
        item.refusal_class is RefusalClass.CONTRADICTION or item.code in OPEN_CODES
        for item in refusals
    ):
        return ()
    sentences = {item.number: item for item in number_sentences(draft)}
    numbers = tuple(sorted({item.sentence for item in refusals}))
    counted = [item for item in sentences.values() if item.part is not Part.SCOPE]
    if not numbers or len(numbers) > min(WITHDRAWN_MAX, len(counted) // WITHDRAWN_SHARE):
        return ()
    fixed = {Part.CONCLUSION, Part.NEGATIVE, Part.SCOPE}
    if any(number not in sentences or sentences[number].part in fixed for number in numbers):
        return ()
    return numbers
