"""The judge's worksheet, and the verdict that code computes from it (M2, M3; pure).

A model fills one row a sentence: which evidence carries it, which words nothing carries, what kind
of fault that is, and a verdict; then a verdict over all, and a reason. The verdict that counts is
computed from the rows. A worksheet that contradicts itself, the draft or the evidence is no answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from pydantic import Field, ValidationError

from affidavit.contract.draft import DraftCandidate
from affidavit.contract.record import Record
from affidavit.contract.states import SemanticVerdict
from affidavit.ports.model import OutputSchema
from affidavit.verify.judges import JudgeVerdict
from affidavit.verify.sentences import Part, Sentence, number_sentences

REASON_CHARS_MAX: Final = 2_000
"""A reason for the private audit; nobody reads a longer one."""


class Issue(StrEnum):
    """What is wrong with a sentence that is not supported."""

    NONE = "NONE"
    NOT_IN_EVIDENCE = "NOT_IN_EVIDENCE"
    CONTRADICTED = "CONTRADICTED"
    OVERSTATED = "OVERSTATED"
    CAUSE_NOT_SHOWN = "CAUSE_NOT_SHOWN"
    WRONG_SUBJECT = "WRONG_SUBJECT"
    WRONG_NUMBER_OR_TIME = "WRONG_NUMBER_OR_TIME"


class Row(Record):
    """One sentence, weighed."""

    id: int
    evidence_ids: tuple[str, ...]
    unsupported_parts: tuple[str, ...]
    issue: Issue
    verdict: SemanticVerdict


class Worksheet(Record):
    """The whole answer of a judge."""

    sentences: tuple[Row, ...]
    verdict: SemanticVerdict
    reason: str = Field(min_length=1, max_length=REASON_CHARS_MAX)


class WorksheetRefused(ValueError):
    """The answer is no worksheet, or contradicts itself, the draft or the evidence."""


NEEDS_EVIDENCE: Final = frozenset({Part.ANALYSIS, Part.NEGATIVE, Part.CONCLUSION})
"""Sentences that state something; an action or a scope may rest on none."""


def read_verdict(text: str, draft: DraftCandidate) -> JudgeVerdict:
    """The verdict that follows from a worksheet. Raises WorksheetRefused (M3)."""
    sheet = _read(text)
    sentences = {item.number: item for item in number_sentences(draft)}
    ids = [row.id for row in sheet.sentences]
    if sorted(ids) != sorted(sentences):
        raise WorksheetRefused("a worksheet has one row for each sentence, and no other")
    for row in sheet.sentences:
        _refuse_contradiction(row, sentences[row.id])
    verdict = _verdict(row.verdict for row in sheet.sentences)
    if verdict is not sheet.verdict:
        raise WorksheetRefused("the verdict over all is not what the rows say")
    return JudgeVerdict(verdict=verdict, reason=sheet.reason)


def _read(text: str) -> Worksheet:
    """Strictly: one JSON object and nothing around it, no doubled key."""
    try:
        json.loads(text, object_pairs_hook=_distinct)
        return Worksheet.model_validate_json(text)
    except (ValidationError, ValueError, RecursionError):
        raise WorksheetRefused("the answer is no worksheet") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _verdict(verdicts: Iterable[SemanticVerdict]) -> SemanticVerdict:
    """SUPPORTED only where there are sentences and each is supported."""
    found = set(verdicts)
    alone = found == {SemanticVerdict.SUPPORTED}
    return SemanticVerdict.SUPPORTED if alone else SemanticVerdict.UNSUPPORTED


def _refuse_contradiction(row: Row, sentence: Sentence) -> None:
    if not set(row.evidence_ids) <= set(sentence.calls):
        raise WorksheetRefused("a row names evidence that its sentence does not rest on")
    if row.verdict is SemanticVerdict.UNSUPPORTED:
        if row.issue is Issue.NONE or not row.unsupported_parts:
            raise WorksheetRefused("an unsupported sentence has an issue and unsupported words")
        if not all(part and part in sentence.text for part in row.unsupported_parts):
            raise WorksheetRefused("unsupported words are words of the sentence")
        return
    if row.issue is not Issue.NONE or row.unsupported_parts:
        raise WorksheetRefused("a supported sentence has no issue and no unsupported words")
    if sentence.part in NEEDS_EVIDENCE and not row.evidence_ids:
        raise WorksheetRefused("a supported statement names its evidence")


def worksheet_schema() -> OutputSchema:
    """The strict schema of a worksheet: every field required, no other allowed."""
    texts = {"type": "array", "items": {"type": "string"}}
    verdict = {"enum": [str(item) for item in SemanticVerdict]}
    row = {
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "evidence_ids", "unsupported_parts", "issue", "verdict"],
        "properties": {
            "id": {"type": "integer"},
            "evidence_ids": texts,
            "unsupported_parts": texts,
            "issue": {"enum": [str(item) for item in Issue]},
            "verdict": verdict,
        },
    }
    body = {
        "type": "object",
        "additionalProperties": False,
        "required": ["sentences", "verdict", "reason"],
        "properties": {
            "sentences": {"type": "array", "items": row},
            "verdict": verdict,
            "reason": {"type": "string"},
        },
    }
    return OutputSchema(name="worksheet", body=MappingProxyType(body))
