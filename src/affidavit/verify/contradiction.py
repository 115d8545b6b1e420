"""Does anything in the run say otherwise? (M4, R22; pure)

A sentence that says that something is well, that something did not happen, or that a reading had a
value is held against every record of the run, cited or not. A record refutes it when its words are
a platform's or a metric store's (C13), when it observes (an alert and a runbook do not), and when
it is about the same thing in the same window. A record that says otherwise with less standing (a
workload's own words, an alert, a time that the sentence sets apart) is shown beside the sentence.

No rule here knows a product or a fault: `well.py` knows which words say that things are well or
not; what they are said of is matched by name, and when, by window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from affidavit.contract.evidence import Fact, Value, Window
from affidavit.contract.report import StatementChain
from affidavit.contract.statement import ValueStatement
from affidavit.contract.states import Emitter, EvidenceClass, EvidenceStatus
from affidavit.contract.violations import SupportCode
from affidavit.verify.sentences import Part, Sentence
from affidavit.verify.statements import Checked
from affidavit.verify.statements.absence import phrases
from affidavit.verify.statements.outcome import Proved
from affidavit.verify.statements.records import CallView, Evidence, RecordView
from affidavit.verify.statements.words import names_in
from affidavit.verify.well import Claim, Trouble, claims_in, trouble_in

AGAINST: Final = "against"
"""The kind of a chain that carries nothing: a record that says otherwise."""

SHOWN_MAX: Final = 3
"""Records beside one sentence; a reader who needs more opens the call."""

PART_CHARS_MIN: Final = 3
"""A shorter name stands in too many others to own them."""


@dataclass(frozen=True, slots=True)
class Opposed:
    """What the run says against a sentence: a code where that refutes it, and what is shown."""

    code: SupportCode | None
    shown: tuple[StatementChain, ...]


NOT_OPPOSED: Final = Opposed(None, ())


@dataclass(frozen=True)
class Stage:
    """Every call of the run, and what is known by name in it; made once a draft."""

    calls: tuple[CallView, ...]
    known: frozenset[str]

    @classmethod
    def of(cls, evidence: Evidence) -> Stage:
        """Of all calls that could be read back."""
        calls = tuple(evidence.calls.values())
        known: set[str] = set()
        for call in calls:
            known |= {part for name in _things_of(call) for part in (name, *_owners(name))}
        return cls(calls, frozenset(known - {""}))


def oppose(
    sentence: Sentence, proofs: Iterable[Checked], cited: tuple[CallView, ...], stage: Stage
) -> Opposed:
    """What the run says against one sentence."""
    if sentence.part in {Part.ACTION, Part.SCOPE}:
        return NOT_OPPOSED
    refuting: list[RecordView] = []
    beside: list[RecordView] = []
    if sentence.part is Part.NEGATIVE:
        found, code = tuple(_absences(cited, stage)), SupportCode.ABSENCE_REFUTED
    else:
        found = (*_troubles(sentence, cited, stage), *_readings(proofs, stage))
        code = SupportCode.EVIDENCE_CONTRADICTS
    for record, refutes in found:
        (refuting if refutes else beside).append(record)
    places = sorted({(record.call, record.facts[:SHOWN_MAX]) for record in refuting or beside})
    shown = tuple(
        StatementChain(kind=AGAINST, tool_call_id=name, facts=facts)
        for name, facts in places[:SHOWN_MAX]
    )
    return Opposed(code if refuting else None, shown)


_Found = Iterator[tuple[RecordView, bool]]


# --- Well, and not well -----------------------------------------------------------------------


def _troubles(sentence: Sentence, cited: tuple[CallView, ...], stage: Stage) -> _Found:
    """Records of trouble about what a sentence calls well, and whether each refutes it."""
    window = _span(cited)
    for claim in claims_in(sentence.text):
        named = _named(claim, stage)
        if not named and not claim.sweeping:
            continue
        for call in stage.calls:
            if call.call.envelope.status is not EvidenceStatus.EVIDENCE_FOUND:
                continue
            yield from _against(claim, named, call, window)


def _against(claim: Claim, named: frozenset[str], call: CallView, window: Window | None) -> _Found:
    envelope = call.call.envelope
    if envelope.evidence_class not in {EvidenceClass.OBSERVATION, EvidenceClass.ALERT}:
        return
    observed = envelope.evidence_class is EvidenceClass.OBSERVATION
    for record in call.records:
        trouble = trouble_in(record)
        if trouble is Trouble.NONE or not claim.denies(trouble, record):
            continue
        if not _is_about(record, call, named) or not _is_within(record, call, window):
            continue
        if record.emitter is Emitter.REQUEST:
            continue
        trusted = observed and record.emitter is Emitter.PLATFORM
        yield record, trusted and not claim.dated


def _named(claim: Claim, stage: Stage) -> frozenset[str]:
    """The things of the run that the claim names, or that it speaks of without a new name."""
    return names_in(claim.about) & stage.known


def _is_about(record: RecordView, call: CallView, named: frozenset[str]) -> bool:
    """Whether a record is about one of these, or a part of one; without names, about anything."""
    if not named:
        return True
    subject = record.subject.casefold()
    if subject:
        owned = {subject, *_owners(subject)} & named
        if owned:
            return True
        if subject in call.about_names or _is_thing(subject):
            return False
    return bool(named & call.about_names) or bool(named & record.names)


def _is_thing(subject: str) -> bool:
    return any(char.isalpha() for char in subject)


def _owners(name: str) -> Iterator[str]:
    """What a name may belong to: `web-6c9f-x2` to `web-6c9f` and to `web`."""
    for place, char in enumerate(name):
        if place >= PART_CHARS_MIN and char in "-./:_@":
            yield name[:place]


def _things_of(call: CallView) -> Iterator[str]:
    """The names of things in a call: subjects of its records, and what was asked of it."""
    service = call.call.envelope.scope.service
    if service:
        yield service.casefold()
    for _, value in call.arguments:
        yield from names_in(value)
    for record in call.records:
        yield record.subject.casefold()


# --- The same reading, and another value -----------------------------------------------------


def _readings(proofs: Iterable[Checked], stage: Stage) -> _Found:
    """Readings of the very series and moment that a proved value statement speaks of, which have
    another value."""
    for item in proofs:
        statement = item.statement
        if not isinstance(statement, ValueStatement) or not isinstance(item.outcome, Proved):
            continue
        if statement.operator != "=":
            continue
        for value in _values_of(item.outcome, stage):
            yield from _other_readings(value, item.outcome, stage)


def _values_of(outcome: Proved, stage: Stage) -> Iterator[Value]:
    calls: Mapping[str, CallView] = {call.id: call for call in stage.calls}
    for name, places in outcome.facts:
        facts = calls[name].call.envelope.facts if name in calls else ()
        for place in places:
            if place < len(facts) and isinstance(fact := facts[place], Value) and fact.at:
                yield fact


def _other_readings(value: Value, outcome: Proved, stage: Stage) -> _Found:
    own = {name for name, _ in outcome.facts}
    for call in stage.calls:
        if call.id in own or call.call.envelope.emitter is not Emitter.PLATFORM:
            continue
        for record in call.records:
            facts = (call.call.envelope.facts[place] for place in record.facts)
            if any(_is_other_reading(value, fact) for fact in facts):
                yield record, record.emitter is Emitter.PLATFORM


def _is_other_reading(value: Value, fact: Fact) -> bool:
    """Whether a fact reads the same thing at the same moment, and reads another number."""
    return (
        isinstance(fact, Value)
        and fact.quantity is not None
        and value.quantity is not None
        and fact.at == value.at
        and fact.subject.casefold() == value.subject.casefold()
        and fact.attribute.casefold() == value.attribute.casefold()
        and (fact.statistic, fact.window) == (value.statistic, value.window)
        and fact.quantity.unit == value.quantity.unit
        and fact.quantity.number != value.quantity.number
    )


# --- Nothing found, and found -----------------------------------------------------------------


def _absences(cited: tuple[CallView, ...], stage: Stage) -> _Found:
    """Records of another call that hold the very words for which an empty search looked, in the
    same kind of source, of the same service, in the same window."""
    for empty in cited:
        envelope = empty.call.envelope
        if envelope.status is not EvidenceStatus.NO_EVIDENCE or not envelope.scope.service:
            continue
        sought = tuple(phrase.casefold() for phrase in phrases(empty) if phrase.strip())
        for call in stage.calls if sought else ():
            other = call.call.envelope
            alike = (other.source_type, other.scope.service) == (
                envelope.source_type,
                envelope.scope.service,
            )
            if call.id == empty.id or not alike:
                continue
            for record in call.records:
                if record.emitter is Emitter.REQUEST or record.at is None:
                    continue
                if _is_within(record, call, envelope.scope.window) and any(
                    phrase in record.own.casefold() for phrase in sought
                ):
                    yield record, _same_search(empty, call)


def _same_search(empty: CallView, call: CallView) -> bool:
    """Whether both asked the same tool; another tool may look into another place."""
    return empty.call.tool == call.call.tool


# --- When -------------------------------------------------------------------------------------


def _span(calls: tuple[CallView, ...]) -> Window | None:
    """The window over which a sentence's calls look, or None where one of them names none."""
    windows = [call.call.envelope.scope.window for call in calls]
    if not windows or any(window is None for window in windows):
        return None
    starts = [window.start for window in windows if window]
    ends = [window.end for window in windows if window]
    return Window(start=min(starts), end=max(ends))


def _is_within(record: RecordView, call: CallView, window: Window | None) -> bool:
    """Whether a record is of that window: by its own moment, else by its call's window."""
    if window is None:
        return True
    when: datetime | None = record.at
    if when is not None:
        return window.start <= when <= window.end
    scope = call.call.envelope.scope.window
    return scope is None or (scope.start <= window.end and window.start <= scope.end)
