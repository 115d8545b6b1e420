"""Re-checking a fallback: every line is worded by code, from what the file holds (C7, C9; pure)

Each function raises `Broken` at the first thing that does not hold, and says nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from affidavit.affidavit.answer_checks import envelope_of
from affidavit.affidavit.document import CitedCall, Document
from affidavit.affidavit.journal_checks import Broken
from affidavit.affidavit.seal import source_of
from affidavit.contract.journal import EventType
from affidavit.contract.report import FallbackRecord, Lead, ObservedFact
from affidavit.contract.states import EvidenceStatus, FallbackType, IntentType
from affidavit.contract.violations import EvidenceCode, SupportCode, remedy_of
from affidavit.core.fold import fold
from affidavit.progress import leads as missing_legs
from affidavit.progress.leads import find_leads
from affidavit.progress.selection import SeenCall, is_fact, word
from affidavit.progress.wording import name
from affidavit.release.examine import CODES_MAX
from affidavit.release.fallback import ISSUES_MAX
from affidavit.release.requests import admit_requests, claims_cause
from affidavit.release.wording import REASONS, STEPS

_LEGS: Final = frozenset({missing_legs.NO_PATH, missing_legs.NO_ORDER, missing_legs.ONE_RECORD})
_MISSING: Final = frozenset(
    {missing_legs.NO_SYMPTOM, missing_legs.OWN_SYMPTOM, missing_legs.NO_CAUSE}
)

_KNOWN_LIMITS: Final = frozenset(REASONS.values())
_KNOWN_CODES: Final = frozenset(str(code) for code in chain(EvidenceCode, SupportCode))
_KNOWN_STEPS: Final = frozenset((*STEPS.values(), *map(remedy_of, _KNOWN_CODES)))


def check_facts(document: Document) -> None:
    """Each fact, source and lead of a fallback is what its own call's projection yields."""
    fallback = document.release.fallback
    if fallback is None:
        return
    intent = fold(document.journal).intent
    for place, fact in enumerate(fallback.observed_facts):
        if fact not in set(_facts(_cited(document, fact.tool_call_id), intent)):
            raise Broken(f"/release/fallback/observed_facts/{place}", "no recorded fact says so")
    read = {source_of(envelope_of(call)) for call in document.calls}
    for place, source in enumerate(fallback.verified_sources):
        if source not in read:
            raise Broken(f"/release/fallback/verified_sources/{place}", "it was not read")
    for place, lead in enumerate(fallback.leads):
        if not _is_lead(lead, _cited(document, lead.tool_call_id), document):
            raise Broken(f"/release/fallback/leads/{place}", "no recorded scan says so")


def _cited(document: Document, tool_call_id: str) -> CitedCall:
    call = document.call(tool_call_id)
    if call is None:
        raise Broken("/calls", f"{tool_call_id} is cited and is not in the file")
    return call


def _facts(call: CitedCall, intent: IntentType | None) -> Iterator[ObservedFact]:
    """Everything that a person may be told of a call, as code words it."""
    envelope = envelope_of(call)
    if not is_fact(envelope, intent):
        return
    seen = SeenCall(call.tool_call_id, envelope)
    if envelope.status is EvidenceStatus.NO_EVIDENCE:
        yield word(seen, None)
    for fact in envelope.facts:
        yield word(seen, fact)


def _is_lead(lead: Lead, call: CitedCall, document: Document) -> bool:
    """Whether the call's own scan makes that entity stand out so; the missing legs are known words.

    Which legs are missing depends on every call of the run, and the file holds the cited ones.
    """
    seen = SeenCall(call.tool_call_id, envelope_of(call))
    own = find_leads((seen,), document.request.symptom_service)
    stands_out = (lead.entity, lead.signal, lead.size) in {
        (item.entity, item.signal, item.size) for item in own
    }
    return stands_out and (lead.missing in _MISSING or set(lead.missing.split("; ")) <= _LEGS)


def check_words(document: Document) -> None:
    """Limits, steps and requests are from the closed sets, and none of them claims a cause (N6)."""
    release = document.release
    sources = _sources(document)
    _check_limits("/release/limitations", release.limitations, sources)
    fallback = release.fallback
    if fallback is None:
        return
    _check_limits("/release/fallback/limitations", fallback.limitations, sources)
    for place, step in enumerate(fallback.next_steps):
        if step not in _KNOWN_STEPS:
            raise Broken(f"/release/fallback/next_steps/{place}", "no step of ours is worded so")
    if admit_requests(fallback.asked_for).items != fallback.asked_for:
        raise Broken("/release/fallback/asked_for", "an item that claims a cause, or is no request")
    _check_issues(document, fallback)


def _sources(document: Document) -> tuple[str, ...]:
    """The names of the sources, longest first; a name claims nothing, whatever it is."""
    lines = document.release.coverage.lines
    names = {name(f"{line.source_type} {line.source}") for line in lines}
    return tuple(sorted(names, key=len, reverse=True))


def _check_limits(at: str, limits: tuple[str, ...], sources: tuple[str, ...]) -> None:
    for place, limit in enumerate(limits):
        said = limit
        for source in sources:
            said = said.replace(source, "")
        if limit not in _KNOWN_LIMITS and claims_cause(said):
            raise Broken(f"{at}/{place}", "a limitation that claims a cause")


_CHECKS_OF: Final = {
    FallbackType.EVIDENCE_VALIDATION_FAILED: (
        EventType.EVIDENCE_GUARD_INITIAL,
        EventType.EVIDENCE_GUARD_RECHECK,
    ),
    FallbackType.SEMANTIC_UNSUPPORTED: (EventType.SUPPORT_CHECK,),
    FallbackType.SEMANTIC_UNAVAILABLE: (EventType.SUPPORT_CHECK,),
}
"""The lines whose codes a fallback of that type shows; every other type shows none."""


def _check_issues(document: Document, fallback: FallbackRecord) -> None:
    """The refusals shown are those that the journal's last check counted."""
    shown = {issue.code for issue in fallback.validation_issues}
    kinds = _CHECKS_OF.get(fallback.type, ())
    lines = [entry.data for entry in document.journal if entry.type in kinds]
    recorded = lines[-1]["codes"] if lines else ()
    known = {str(code) for code in recorded} if isinstance(recorded, (list, tuple)) else set()
    cut = len(known) >= CODES_MAX or len(fallback.validation_issues) >= ISSUES_MAX
    fits = shown <= _KNOWN_CODES if cut else shown == known
    if not fits:
        raise Broken("/release/fallback/validation_issues", "the journal counted other refusals")
