"""Why a draft was refused: stable codes, each with one plain sentence and what would prove it.

EvidenceGuard's codes are G10's. The support check's codes fall in two classes (M4): a
*contradiction* is refuted by the cited facts, or names what they do not hold; a *coverage* refusal
means that nothing cited licenses the words. A code travels with a JSON pointer that the harness
made, and never with content.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from affidavit.contract.record import Record


class EvidenceCode(StrEnum):
    """What can be wrong with a draft's structure and citations (G10)."""

    DRAFT_MISSING = "DRAFT_MISSING"
    ANALYSES_MISSING = "ANALYSES_MISSING"
    ANALYSIS_ID_MISSING = "ANALYSIS_ID_MISSING"
    ANALYSIS_ID_DUPLICATE = "ANALYSIS_ID_DUPLICATE"
    ANALYSIS_KIND_INVALID = "ANALYSIS_KIND_INVALID"
    ANALYSIS_BODY_MISSING = "ANALYSIS_BODY_MISSING"
    ANALYSIS_UNBOUND = "ANALYSIS_UNBOUND"
    CONCLUSION_UNBOUND = "CONCLUSION_UNBOUND"
    ACTION_UNBOUND = "ACTION_UNBOUND"
    RECOMMENDATION_UNBOUND = "RECOMMENDATION_UNBOUND"
    ANALYSIS_REF_UNKNOWN = "ANALYSIS_REF_UNKNOWN"
    LIMITATIONS_MISSING = "LIMITATIONS_MISSING"
    LIMITATIONS_SCOPE_MISSING = "LIMITATIONS_SCOPE_MISSING"
    TOOL_CALL_ID_MALFORMED = "TOOL_CALL_ID_MALFORMED"
    INVOCATION_NOT_FOUND = "INVOCATION_NOT_FOUND"
    INVOCATION_ID_MISMATCH = "INVOCATION_ID_MISMATCH"
    INVOCATION_RUN_MISMATCH = "INVOCATION_RUN_MISMATCH"
    INVOCATION_NOT_READY = "INVOCATION_NOT_READY"
    EVIDENCE_KIND_MISMATCH = "EVIDENCE_KIND_MISMATCH"
    TOOL_UNSUPPORTED = "TOOL_UNSUPPORTED"
    AGENT_RESULT_UNPARSABLE = "AGENT_RESULT_UNPARSABLE"
    AGENT_RESULT_INCONSISTENT = "AGENT_RESULT_INCONSISTENT"


class Violation(Record):
    """One thing wrong, and where: a JSON pointer into the draft (RFC 6901)."""

    code: EvidenceCode
    pointer: str


class RefusalClass(StrEnum):
    """Is the sentence refuted, or merely not licensed? (M4)"""

    CONTRADICTION = "CONTRADICTION"
    COVERAGE = "COVERAGE"


class SupportCode(StrEnum):
    """Why a sentence is not carried by what it cites (M4, M5)."""

    NUMBER_REFUTED = "NUMBER_REFUTED"
    UNIT_REFUTED = "UNIT_REFUTED"
    STATISTIC_REFUTED = "STATISTIC_REFUTED"
    TIME_REFUTED = "TIME_REFUTED"
    WINDOW_REFUTED = "WINDOW_REFUTED"
    DIRECTION_REFUTED = "DIRECTION_REFUTED"
    SUBJECT_REFUTED = "SUBJECT_REFUTED"
    IDENTIFIER_UNKNOWN = "IDENTIFIER_UNKNOWN"
    NUMBER_UNKNOWN = "NUMBER_UNKNOWN"
    TIME_UNKNOWN = "TIME_UNKNOWN"
    URL_UNKNOWN = "URL_UNKNOWN"
    QUANTIFIER_REFUTED = "QUANTIFIER_REFUTED"
    NEGATION_REFUTED = "NEGATION_REFUTED"
    ORDER_REFUTED = "ORDER_REFUTED"
    QUOTE_NOT_FOUND = "QUOTE_NOT_FOUND"
    COUNT_REFUTED = "COUNT_REFUTED"
    ABSENCE_TOO_WIDE = "ABSENCE_TOO_WIDE"
    ABSENCE_REFUTED = "ABSENCE_REFUTED"
    EVIDENCE_CONTRADICTS = "EVIDENCE_CONTRADICTS"
    MASK_CITED = "MASK_CITED"
    STATEMENT_MALFORMED = "STATEMENT_MALFORMED"
    STATEMENT_UNPROVED = "STATEMENT_UNPROVED"
    STATEMENT_CALL_UNCITED = "STATEMENT_CALL_UNCITED"
    WORDS_UNBOUND = "WORDS_UNBOUND"
    NUMBER_UNBOUND = "NUMBER_UNBOUND"
    TIME_UNBOUND = "TIME_UNBOUND"
    SUBJECT_UNBOUND = "SUBJECT_UNBOUND"
    QUANTIFIER_UNBOUND = "QUANTIFIER_UNBOUND"
    NEGATION_UNBOUND = "NEGATION_UNBOUND"
    WINDOW_UNBOUND = "WINDOW_UNBOUND"
    CAUSE_UNPROVED = "CAUSE_UNPROVED"
    CAUSE_NO_PATH = "CAUSE_NO_PATH"
    CAUSE_NO_ORDER = "CAUSE_NO_ORDER"
    CAUSE_NO_ABNORMALITY = "CAUSE_NO_ABNORMALITY"
    CAUSE_ONE_RECORD = "CAUSE_ONE_RECORD"
    REQUEST_TEXT_CITED = "REQUEST_TEXT_CITED"
    GUIDANCE_CITED = "GUIDANCE_CITED"
    CLASS_NOT_OBSERVATION = "CLASS_NOT_OBSERVATION"


OPEN_CODES: Final = frozenset(
    {
        SupportCode.NUMBER_UNBOUND,
        SupportCode.TIME_UNBOUND,
        SupportCode.SUBJECT_UNBOUND,
        SupportCode.QUANTIFIER_UNBOUND,
        SupportCode.NEGATION_UNBOUND,
        SupportCode.WINDOW_UNBOUND,
    }
)
"""What the cited results hold, and no rule could read together with the rest of the sentence.

A model judge may decide it; it is no aside, and cannot be withdrawn (M6)."""


COVERAGE_CODES: Final = frozenset(
    {
        SupportCode.STATEMENT_MALFORMED,
        SupportCode.STATEMENT_UNPROVED,
        SupportCode.STATEMENT_CALL_UNCITED,
        SupportCode.WORDS_UNBOUND,
        SupportCode.CAUSE_UNPROVED,
        SupportCode.CAUSE_NO_PATH,
        SupportCode.CAUSE_NO_ORDER,
        SupportCode.CAUSE_NO_ABNORMALITY,
        SupportCode.CAUSE_ONE_RECORD,
        *OPEN_CODES,
    }
)
"""The codes that only say "nothing cited licenses this"; every other code is a contradiction."""


class Refusal(Record):
    """One sentence that is not carried, by its harness-made number and pointer."""

    code: SupportCode
    pointer: str
    sentence: int

    @property
    def refusal_class(self) -> RefusalClass:
        """Refuted, or merely not licensed."""
        if self.code in COVERAGE_CODES:
            return RefusalClass.COVERAGE
        return RefusalClass.CONTRADICTION


class Explanation(Record):
    """A code in one plain sentence, and what would prove the words instead."""

    meaning: str
    remedy: str


def _x(meaning: str, remedy: str) -> Explanation:
    return Explanation(meaning=meaning, remedy=remedy)


_CITE = "Cite the id of a READY tool call of this run."
_BIND = "Name an analysis of the same draft by its id."

EXPLANATIONS: Final[Mapping[EvidenceCode, Explanation]] = MappingProxyType(
    {
        EvidenceCode.DRAFT_MISSING: _x("There is no report.", "Write one."),
        EvidenceCode.ANALYSES_MISSING: _x(
            "The report holds no analyses.", "List what was seen, one analysis a finding."
        ),
        EvidenceCode.ANALYSIS_ID_MISSING: _x("An analysis has no id.", "Give it one."),
        EvidenceCode.ANALYSIS_ID_DUPLICATE: _x(
            "Two analyses share an id.", "Give each its own id."
        ),
        EvidenceCode.ANALYSIS_KIND_INVALID: _x(
            "An analysis is neither NORMAL nor NEGATIVE_OBSERVATION.", "Use one of the two."
        ),
        EvidenceCode.ANALYSIS_BODY_MISSING: _x("An analysis says nothing.", "Write its body."),
        EvidenceCode.ANALYSIS_UNBOUND: _x("An analysis cites no tool call.", _CITE),
        EvidenceCode.CONCLUSION_UNBOUND: _x("The conclusion rests on no analysis.", _BIND),
        EvidenceCode.ACTION_UNBOUND: _x("An action rests on no analysis.", _BIND),
        EvidenceCode.RECOMMENDATION_UNBOUND: _x("A recommendation rests on no analysis.", _BIND),
        EvidenceCode.ANALYSIS_REF_UNKNOWN: _x("An analysis is named that is not there.", _BIND),
        EvidenceCode.LIMITATIONS_MISSING: _x(
            "The report does not say what it covers.", "Add limitations with a scope."
        ),
        EvidenceCode.LIMITATIONS_SCOPE_MISSING: _x(
            "The limitations declare no scope.", "Say which sources and window were looked at."
        ),
        EvidenceCode.TOOL_CALL_ID_MALFORMED: _x("A citation has no id's shape.", _CITE),
        EvidenceCode.INVOCATION_NOT_FOUND: _x("A cited call was never made in this run.", _CITE),
        EvidenceCode.INVOCATION_ID_MISMATCH: _x(
            "The record found carries another id than the citation.", _CITE
        ),
        EvidenceCode.INVOCATION_RUN_MISMATCH: _x(
            "The record found belongs to another run or tenant.",
            "Read it through a new call of this run.",
        ),
        EvidenceCode.INVOCATION_NOT_READY: _x(
            "The cited call failed or is not finished.",
            "Ask again, and cite the call that answers.",
        ),
        EvidenceCode.EVIDENCE_KIND_MISMATCH: _x(
            "A finding cites an empty result, or an absence cites a result with content.",
            "NORMAL cites what was found, NEGATIVE_OBSERVATION what came back empty.",
        ),
        EvidenceCode.TOOL_UNSUPPORTED: _x("The cited tool is not registered.", _CITE),
        EvidenceCode.AGENT_RESULT_UNPARSABLE: _x(
            "The cited result cannot be read back.", "Ask again, and cite the new call."
        ),
        EvidenceCode.AGENT_RESULT_INCONSISTENT: _x(
            "The cited result contradicts itself or its record.",
            "Ask again, and cite the new call.",
        ),
    }
)
"""EvidenceGuard's codes, explained (G10)."""

SUPPORT_EXPLANATIONS: Final[Mapping[SupportCode, Explanation]] = MappingProxyType(
    {
        SupportCode.NUMBER_REFUTED: _x(
            "A number is not the one that the cited results hold for that subject and metric.",
            "Query that metric of that subject over the same window, and write its value.",
        ),
        SupportCode.UNIT_REFUTED: _x(
            "A number has another unit than the cited result gives it.",
            "Write the unit of the result, or convert the number with it.",
        ),
        SupportCode.STATISTIC_REFUTED: _x(
            "A statistic is named that the cited result does not hold, such as p95 for a mean.",
            "Query the metric with that statistic, or name the one that was read.",
        ),
        SupportCode.TIME_REFUTED: _x(
            "A time or duration is not the one that the cited results hold.",
            "Query the moment itself, with its zone, and write what the result says.",
        ),
        SupportCode.WINDOW_REFUTED: _x(
            "A window is claimed that the cited result does not cover.",
            "Query the whole window, or write the one that was read.",
        ),
        SupportCode.DIRECTION_REFUTED: _x(
            "A direction is claimed that the cited values do not show.",
            "Query the values before and after, and write which way they went.",
        ),
        SupportCode.SUBJECT_REFUTED: _x(
            "Something is said of one subject that the cited results hold of another.",
            "Query the subject that is named, or name the one that the result is about.",
        ),
        SupportCode.IDENTIFIER_UNKNOWN: _x(
            "A name or identifier stands in no cited result.",
            "Query for it, and cite the call that returns it.",
        ),
        SupportCode.NUMBER_UNKNOWN: _x(
            "A number stands in no cited result and follows from none by counting.",
            "Query the metric or the rows that it comes from, and cite that call.",
        ),
        SupportCode.TIME_UNKNOWN: _x(
            "A time stands in no cited result.",
            "Query with a window that holds it, and cite that call.",
        ),
        SupportCode.URL_UNKNOWN: _x(
            "An address stands in no cited result.",
            "Leave it out, or cite the call that returns it.",
        ),
        SupportCode.QUANTIFIER_REFUTED: _x(
            "All, none, only or most is claimed, and the cited rows do not bear it out.",
            "List every member without a limit, and count them.",
        ),
        SupportCode.NEGATION_REFUTED: _x(
            "Something is denied that the cited results hold, or asserted that they deny.",
            "Query the state itself, and write it as it is.",
        ),
        SupportCode.ORDER_REFUTED: _x(
            "One thing is put before another, and the recorded times do not say so.",
            "Query both onsets with a step that is finer than the time between them.",
        ),
        SupportCode.QUOTE_NOT_FOUND: _x(
            "Quoted words stand in no cited result.", "Quote word for word, and cite that call."
        ),
        SupportCode.COUNT_REFUTED: _x(
            "A count is not that of the cited rows.",
            "Query the rows without a limit, and count those that match.",
        ),
        SupportCode.ABSENCE_TOO_WIDE: _x(
            "More is said to be absent than was searched for.",
            "Search the whole scope and window, or write the scope of the search that was made.",
        ),
        SupportCode.ABSENCE_REFUTED: _x(
            "Something is said to be absent that a result of the run holds.",
            "Write what was found, or search a scope that excludes it.",
        ),
        SupportCode.EVIDENCE_CONTRADICTS: _x(
            "A result of the same scope and window says otherwise.",
            "Read that result too, and write what both of them say.",
        ),
        SupportCode.MASK_CITED: _x(
            "A sentence rests on a value that was masked as a secret.",
            "Rest it on something that is no secret.",
        ),
        SupportCode.STATEMENT_MALFORMED: _x(
            "A typed statement lacks a field of its kind, or has one of another.",
            "Write it in the form of its kind.",
        ),
        SupportCode.STATEMENT_UNPROVED: _x(
            "No cited record proves a typed statement.",
            "Query the record that would, and cite that call.",
        ),
        SupportCode.STATEMENT_CALL_UNCITED: _x(
            "A typed statement names a call that its sentence does not cite.",
            "Cite the call at the sentence or its analysis.",
        ),
        SupportCode.WORDS_UNBOUND: _x(
            "Nothing cited licenses what a sentence says.",
            "Query what would show it and cite that call, or leave the words out.",
        ),
        SupportCode.NUMBER_UNBOUND: _x(
            "The cited results hold the number, but nothing shows that it is the one of what "
            "the sentence names.",
            "State it as a typed statement, or name the subject and the field as the result does.",
        ),
        SupportCode.TIME_UNBOUND: _x(
            "The cited results hold the time, but not at what the sentence says of it.",
            "Name what the result says of that moment, as the result does.",
        ),
        SupportCode.SUBJECT_UNBOUND: _x(
            "What is named stands in the run's results, but not where the sentence speaks.",
            "Cite the result that names it, and name it as the result does.",
        ),
        SupportCode.QUANTIFIER_UNBOUND: _x(
            "How many it is said of (all, only, most, half) cannot be counted in what is cited.",
            "Query the whole set and cite it, or say the number.",
        ),
        SupportCode.NEGATION_UNBOUND: _x(
            "What is denied, or said in spite of a denial, cannot be read from what is cited.",
            "Cite the result that says it, in its own words.",
        ),
        SupportCode.WINDOW_UNBOUND: _x(
            "How long or how often something was so cannot be read from what is cited.",
            "Query the whole window, and write the window that was read.",
        ),
        SupportCode.CAUSE_UNPROVED: _x(
            "A cause is claimed that no cited record states and no chain of records shows.",
            "Look for a record in which the platform itself names the cause, or query onset and "
            "path of both ends.",
        ),
        SupportCode.CAUSE_NO_PATH: _x(
            "Nothing recorded connects the cause with the symptom.",
            "Query the topology or the traces between the two.",
        ),
        SupportCode.CAUSE_NO_ORDER: _x(
            "Nothing recorded shows that the cause began before the symptom.",
            "Query both onsets with a step that is finer than the time between them.",
        ),
        SupportCode.CAUSE_NO_ABNORMALITY: _x(
            "Nothing recorded shows that the cause was abnormal at all.",
            "Query its metric or log against a window that is known to be normal.",
        ),
        SupportCode.CAUSE_ONE_RECORD: _x(
            "Only the workload's own words say so, and no second record bears them out.",
            "Query either end in another source, such as events or metrics.",
        ),
        SupportCode.REQUEST_TEXT_CITED: _x(
            "A sentence rests on words that a caller could have written.",
            "Cite what the platform or the workload says of itself.",
        ),
        SupportCode.GUIDANCE_CITED: _x(
            "A sentence rests on a runbook or other guidance, and guidance observes nothing.",
            "Query the system itself, and cite that call.",
        ),
        SupportCode.CLASS_NOT_OBSERVATION: _x(
            "A sentence rests on an alert or a change where an observation is needed.",
            "Query what the system did, and cite that call.",
        ),
    }
)
"""The support check's codes, explained: what is wrong, and the next query that would prove it."""


_EVIDENCE_CODES: Final = frozenset(map(str, EvidenceCode))
_SUPPORT_CODES: Final = frozenset(map(str, SupportCode))


def remedy_of(code: str) -> str | None:
    """What would prove what this code refuses, or None where nobody knows the code."""
    if code in _EVIDENCE_CODES:
        return EXPLANATIONS[EvidenceCode(code)].remedy
    return SUPPORT_EXPLANATIONS[SupportCode(code)].remedy if code in _SUPPORT_CODES else None


def meaning_of(code: str) -> str | None:
    """What is wrong where this code stands, or None where nobody knows the code."""
    if code in _EVIDENCE_CODES:
        return EXPLANATIONS[EvidenceCode(code)].meaning
    return SUPPORT_EXPLANATIONS[SupportCode(code)].meaning if code in _SUPPORT_CODES else None
