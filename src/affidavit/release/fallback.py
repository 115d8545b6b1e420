"""The safe fallback: what was proved, and why nothing more is (C7 to C9; pure).

The one maker of `SafeFallback`. Facts are worded from ledger values, limitations and next steps
come from a closed set, and the stage is the release row's. What a type needs and does not have
makes the fallback impossible, and the run has failed (C8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NoReturn

from affidavit.contract.decisions import DECISIONS
from affidavit.contract.errors import InternalFault
from affidavit.contract.report import (
    FallbackRecord,
    Lead,
    ObservedFact,
    SourceRef,
    ValidationIssue,
)
from affidavit.contract.snapshots import DiagnosisProgressSnapshot, VerifiedEvidenceSnapshot
from affidavit.contract.states import EvidenceStatus, FailureStage, FallbackType, IntentType
from affidavit.contract.violations import remedy_of
from affidavit.progress.projector import LIMITATIONS_MAX, SOURCES_MAX, bounded
from affidavit.progress.selection import FACT_CLASSES, SeenCall, select_facts, word
from affidavit.release.material import AskedFor, Evidence, Gathered, Refusals
from affidavit.release.requests import NO_REQUESTS, Requests
from affidavit.release.situation import (
    Cited,
    Illegal,
    Opinion,
    RepairEnd,
    Situation,
    Spent,
    StopKind,
    Stopped,
    Uncited,
    Unconcluded,
    Unrouted,
)
from affidavit.release.wording import REASONS, STEPS, NextStep, Reason
from affidavit.verify.support import SentenceProof

ISSUES_MAX: Final = 50
"""Refusals shown; a report with more is not mended one by one."""

REMEDIES_MAX: Final = 5
"""Next queries that a person can hold in mind; every code stands with its own in docs/codes.md."""

PROVED_KINDS: Final = frozenset(
    {
        "value",
        "count",
        "change",
        "comparison",
        "trend",
        "membership",
        "quote",
        "absence",
        "edge",
        "prose",
    }
)
"""C9: the kinds of statement whose facts come first, and the facts that plain words rest on.

Never those of a cause, path, order or onset.
"""

STAGES: Final[Mapping[FallbackType, FailureStage]] = MappingProxyType(
    {row.fallback: row.stage for row in DECISIONS.values() if row.fallback and row.stage}
)
"""The stage of each type, read off the release table; BUDGET_EXHAUSTED is a missing key (E19)."""


class FallbackImpossible(InternalFault):
    """A fallback of that type would be empty; nothing can be published but a failure (C8)."""

    code = "FALLBACK_IMPOSSIBLE"


@dataclass(frozen=True, slots=True)
class Ground:
    """What a fallback is built from; every text in it was worded by code or passed C7's filter."""

    reasons: tuple[Reason, ...]
    progress: DiagnosisProgressSnapshot
    facts: tuple[ObservedFact, ...] = ()
    sources: tuple[SourceRef, ...] = ()
    requests: Requests = NO_REQUESTS
    issues: tuple[ValidationIssue, ...] = ()


_MAKER: Final = object()


class SafeFallback:
    """A bounded answer without a conclusion (C7).

    Made by `build_fallback` alone; it cannot be changed, copied, pickled or read from anywhere.
    """

    __slots__ = ("record",)
    record: FallbackRecord

    def __init__(self, maker: object, record: FallbackRecord) -> None:
        if maker is not _MAKER:
            raise TypeError("only build_fallback makes a safe fallback")
        object.__setattr__(self, "record", record)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a safe fallback does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a safe fallback does not change")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("a safe fallback has one kind")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a safe fallback cannot be copied or stored; store its record")


_NEEDS: Final[Mapping[FallbackType, Callable[[Ground], bool]]] = MappingProxyType(
    {
        FallbackType.INSUFFICIENT_EVIDENCE: lambda ground: bool(ground.facts),
        FallbackType.MISSING_REQUIRED_CONTEXT: lambda ground: bool(
            ground.requests.items and not ground.facts
        ),
        FallbackType.EVIDENCE_VALIDATION_FAILED: lambda ground: bool(ground.issues),
        FallbackType.SEMANTIC_UNSUPPORTED: lambda ground: bool(ground.sources),
        FallbackType.SEMANTIC_UNAVAILABLE: lambda ground: bool(ground.sources),
    }
)
"""What each type needs (C8)."""


def build_fallback(type_: FallbackType, ground: Ground) -> SafeFallback:
    """The fallback of that type.

    Raises FallbackImpossible when the type is never published, or lacks what it needs.
    """
    needs, stage = _NEEDS.get(type_), STAGES.get(type_)
    if needs is None or stage is None:
        raise FallbackImpossible(f"a fallback {type_} is never published")
    if not needs(ground):
        raise FallbackImpossible(f"a fallback {type_} lacks what it needs")
    leads = ground.progress.leads
    return SafeFallback(
        _MAKER,
        FallbackRecord(
            type=type_,
            verified_sources=ground.sources[:SOURCES_MAX],
            observed_facts=ground.facts,
            limitations=_limitations(ground),
            next_steps=(
                *(STEPS[step] for step in dict.fromkeys(_next_steps(ground, leads))),
                *_remedies(ground.issues),
            ),
            leads=leads,
            asked_for=ground.requests.items,
            failure_stage=stage,
            validation_issues=ground.issues[:ISSUES_MAX],
        ),
    )


def ground_of(gathered: Gathered) -> Ground:
    """What a fallback of this situation stands on.

    Facts and sources come from the guard's snapshot where there is one (D4, D5), else from the
    progress (C8).
    """
    progress, material = gathered.progress, gathered.material
    facts, sources = progress.observed_facts, progress.verified_sources
    reasons = [*reasons_of(gathered.situation, gathered.intent)]
    requests = NO_REQUESTS
    issues: tuple[ValidationIssue, ...] = ()
    match material:
        case Evidence():
            selection = select_facts(_seen(material.snapshot), _proved(material))
            facts, sources = selection.facts, material.snapshot.verified_sources()
            issues = tuple(_issue(item.code, item.pointer) for item in material.refusals)
            reasons += [Reason.FACTS_LEFT_OUT] if selection.left_out else []
        case Refusals(violations=violations):
            issues = tuple(_issue(item.code, item.pointer) for item in violations)
        case AskedFor(requests=asked):
            requests = asked
        case _:
            pass
    return Ground(tuple(reasons), progress, facts, sources, requests, tuple(dict.fromkeys(issues)))


def reasons_of(
    situation: Situation, intent: IntentType | None = IntentType.DIAGNOSIS
) -> tuple[Reason, ...]:
    """Why a situation confirms no root cause, in the words of the closed set."""
    match situation:
        case Unrouted():
            return (Reason.NOT_ROUTED,)
        case Unconcluded(facts=True) if intent is IntentType.KNOWLEDGE:
            return (Reason.NO_PASSAGE,)
        case Uncited(repair=repair):
            return (Reason.CITATION_NOT_REAL, _REPAIRS[repair])
        case Cited(opinion=opinion):
            return tuple(_OPINIONS[opinion])
        case Unconcluded(facts=True):
            return (Reason.NO_CONCLUSION,)
        case Unconcluded(asks=True, references_hold=True):
            return (Reason.CONTEXT_MISSING,)
        case Unconcluded():
            return (Reason.NOTHING_VERIFIED,)
        case Stopped(kind=kind):
            return (_STOPS[kind],)
        case Illegal():
            return (Reason.DRAFT_UNREADABLE,)
        case Spent(timed_out=timed_out):
            return (Reason.TIME_OVER if timed_out else Reason.BUDGET_SPENT,)
        case _:
            return ()


_REPAIRS: Final[Mapping[RepairEnd, Reason]] = MappingProxyType(
    {
        RepairEnd.UNAVAILABLE: Reason.REPAIR_UNAVAILABLE,
        RepairEnd.NOT_MENDABLE: Reason.REPAIR_IMPOSSIBLE,
        RepairEnd.FAILED: Reason.REPAIR_FAILED,
        RepairEnd.UNREADABLE: Reason.REPAIR_FAILED,
        RepairEnd.MEANING_CHANGED: Reason.REPAIR_CHANGED_MEANING,
        RepairEnd.STILL_INVALID: Reason.REPAIR_NOT_ENOUGH,
    }
)
_OPINIONS: Final[Mapping[Opinion, tuple[Reason, ...]]] = MappingProxyType(
    {
        Opinion.SUPPORTED: (),
        Opinion.UNSUPPORTED: (Reason.WORDS_UNSUPPORTED,),
        Opinion.REFUTED: (Reason.WORDS_REFUTED,),
        Opinion.UNAVAILABLE: (Reason.NO_VERDICT,),
    }
)
_STOPS: Final[Mapping[StopKind, Reason]] = MappingProxyType(
    {
        StopKind.SATURATED: Reason.SATURATED,
        StopKind.PROTOCOL_VIOLATED: Reason.PROTOCOL_VIOLATED,
        StopKind.LOOP_DETECTED: Reason.LOOP_DETECTED,
        StopKind.GAVE_UP: Reason.GAVE_UP,
    }
)


def _issue(code: str, pointer: str) -> ValidationIssue:
    return ValidationIssue(code=str(code), field=pointer)


def _seen(snapshot: VerifiedEvidenceSnapshot) -> Iterator[SeenCall]:
    return (SeenCall(call.tool_call_id, call.envelope) for call in snapshot.calls)


def _proved(material: Evidence) -> tuple[ObservedFact, ...]:
    """The facts behind the statements that were proved, in the order of the report (C9)."""
    facts = (fact for proof in material.proofs for fact in _behind(proof, material.snapshot))
    return tuple(dict.fromkeys(facts))


def _behind(proof: SentenceProof, snapshot: VerifiedEvidenceSnapshot) -> Iterator[ObservedFact]:
    for chain in proof.chains:
        call = snapshot.call(chain.tool_call_id)
        if call is None or chain.kind not in PROVED_KINDS:
            continue
        if call.envelope.evidence_class not in FACT_CLASSES:
            continue
        seen = SeenCall(call.tool_call_id, call.envelope)
        if call.envelope.status is EvidenceStatus.NO_EVIDENCE:
            yield word(seen, None)
        for place in chain.facts:
            if 0 <= place < len(call.envelope.facts):
                yield word(seen, call.envelope.facts[place])


def _limitations(ground: Ground) -> tuple[str, ...]:
    """The reasons first, then what was left out, then the progress's own limits; bounded."""
    facts = ground.facts
    only_negative = facts and all(fact.status is EvidenceStatus.NO_EVIDENCE for fact in facts)
    reasons = (
        *ground.reasons,
        *((Reason.ONLY_NEGATIVE,) if only_negative else ()),
        *((Reason.SOURCES_LEFT_OUT,) if len(ground.sources) > SOURCES_MAX else ()),
        *((Reason.ISSUES_LEFT_OUT,) if len(ground.issues) > ISSUES_MAX else ()),
        *((Reason.REQUESTS_LEFT_OUT,) if ground.requests.dropped else ()),
    )
    own = tuple(REASONS[reason] for reason in reasons)
    return bounded((*own, *ground.progress.limitations[:LIMITATIONS_MAX]))


def _remedies(issues: tuple[ValidationIssue, ...]) -> tuple[str, ...]:
    """What would prove what was refused, as next queries, in the order of the report."""
    told = dict.fromkeys(remedy for item in issues if (remedy := remedy_of(item.code)))
    return tuple(told)[:REMEDIES_MAX]


_AGAIN: Final[Mapping[Reason, NextStep]] = MappingProxyType(
    {
        Reason.CITATION_NOT_REAL: NextStep.ASK_AGAIN,
        Reason.DRAFT_UNREADABLE: NextStep.ASK_AGAIN,
        Reason.PROTOCOL_VIOLATED: NextStep.ASK_AGAIN,
        Reason.LOOP_DETECTED: NextStep.ASK_AGAIN,
        Reason.NO_VERDICT: NextStep.RESTORE_JUDGE,
        Reason.BUDGET_SPENT: NextStep.RAISE_LIMITS,
        Reason.TIME_OVER: NextStep.RAISE_LIMITS,
    }
)
"""What to do about a reason, where there is something that its reader can do."""


def _next_steps(ground: Ground, leads: tuple[Lead, ...]) -> Iterator[NextStep]:
    if ground.requests.items:
        yield NextStep.SUPPLY_CONTEXT
    if leads:
        yield NextStep.CHECK_LEADS
    if ground.facts:
        yield NextStep.READ_FACTS
    statuses = {line.status for line in ground.progress.coverage.lines}
    if statuses & {"unavailable", "failed"}:
        yield NextStep.CONNECT_SOURCES
    if any(fact.status is EvidenceStatus.NO_EVIDENCE for fact in ground.facts):
        yield NextStep.WIDEN_SCOPE
    for reason in ground.reasons:
        if reason in _AGAIN:
            yield _AGAIN[reason]
