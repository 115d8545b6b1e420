"""Does a sentence rest on a value that was masked as a secret? (T7, pure)

A mask stands where a secret stood: nobody knows what it was, so nothing follows from it, not even
that it is unlike something else. Words beside a mask ("login of eve failed, token [masked:…]") are
words like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from affidavit.contract.masking import MASK_PATTERN, holds_mask
from affidavit.contract.statement import Statement
from affidavit.verify.prose.lexicon import FUNCTION
from affidavit.verify.sentences import Sentence
from affidavit.verify.statements import Checked
from affidavit.verify.statements.outcome import Proved
from affidavit.verify.statements.records import CallView, Evidence, RecordView
from affidavit.verify.statements.words import stems_of

Masked = Mapping[str, tuple[RecordView, ...]]
"""The records with a mask in them, by call."""


def masked_in(evidence: Evidence) -> Masked:
    """The records of a draft's evidence that hold a mask; looked for once a draft."""
    return {
        call.id: found
        for call in evidence.calls.values()
        if (found := tuple(record for record in call.records if holds_mask(record.text)))
    }


def rests_on_mask(
    sentence: Sentence,
    proofs: Iterable[Checked],
    masked: Masked,
    used: Iterable[RecordView],
    calls: Iterable[CallView] = (),
) -> bool:
    """Whether the sentence repeats a mask, or one of its statements does, or a masked value is
    what proves it: the value that a proved statement names, or one whose name the words say.

    An address that the cited calls hold as the same mask may be called so, as long as nothing is
    said of what it is.
    """
    if holds_mask(sentence.statements):
        return True
    if holds_mask(sentence.text) and not _only_calls(sentence.text, calls):
        return True
    if not masked:
        return False
    words = stems_of(sentence.text) - FUNCTION
    if any(_is_masked(record, words) for record in used):
        return True
    return any(
        _is_masked(record, _asked_of(item.statement))
        for item in proofs
        if item.statement is not None and isinstance(item.outcome, Proved)
        for call, facts in item.outcome.facts
        for record in masked.get(call, ())
        if frozenset(facts) & frozenset(record.facts)
    )


NAMING: Final = frozenset({"e-mail"})
"""What a mask of this kind stands for names somebody; a secret names nobody."""
_EQUATING: Final = re.compile(
    r"(?:\b(?:is|are|was|were|equals?|not|than|as)|[=为是同等于])\s*[\"'“(]?\[masked:",
    re.IGNORECASE,
)
"""Words before a mask that say what it is."""


def _only_calls(text: str, calls: Iterable[CallView]) -> bool:
    """Whether the masks of a sentence only call somebody by the mask that the calls hold."""
    masks = {match[0]: match[1] for match in MASK_PATTERN.finditer(text)}
    if not set(masks.values()) <= NAMING or _EQUATING.search(text):
        return False
    held = " ".join(
        part for call in calls for part in (call.about, *(record.text for record in call.records))
    )
    return all(mask in held for mask in masks)


def _asked_of(statement: Statement) -> frozenset[str]:
    """The words by which a statement names the values that it rests on."""
    fields = statement.model_dump()
    named = [str(fields.get(name) or "") for name in ("attribute", "object_attribute", "set")]
    where = fields.get("where")
    named += [str(name) for name in where] if isinstance(where, dict) else []
    return stems_of(" ".join(named))


def _is_masked(record: RecordView, words: frozenset[str]) -> bool:
    """Whether a value that these words name in full is masked; a name of several words needs all
    of them."""
    return any(
        field.names and field.names <= words and holds_mask(field.text)
        for field in record.fields
        if not field.loose
    )
