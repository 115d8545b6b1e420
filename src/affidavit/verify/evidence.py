"""EvidenceGuard: is each citation real? (G0 to G11; pure, no model, no second source)

The one maker of `VerifiedDraft`. It asks the ledger's one reader about every call id that stands
anywhere in a draft, once a call, and reports everything that is wrong at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NoReturn

from affidavit.contract.draft import AnalysisCandidate, DraftCandidate, SentenceCandidate
from affidavit.contract.snapshots import (
    VerifiedAnalysis,
    VerifiedCall,
    VerifiedEvidenceSnapshot,
)
from affidavit.contract.states import ACCEPTED_EVIDENCE, AnalysisKind
from affidavit.contract.violations import EvidenceCode, Violation
from affidavit.ledger.snapshot import LedgerSnapshot, Unverified, Verified
from affidavit.verify.closure import KINDS, check_closure, point

_MAKER: Final = object()


class VerifiedDraft:
    """A draft whose every citation was read back from this run's ledger (L7).

    Made by `check_evidence` alone; it cannot be changed, copied, pickled or read from anywhere.
    It says nothing about whether the cited facts carry the words.
    """

    __slots__ = ("candidate", "snapshot")
    candidate: DraftCandidate
    snapshot: VerifiedEvidenceSnapshot

    def __init__(
        self, maker: object, candidate: DraftCandidate, snapshot: VerifiedEvidenceSnapshot
    ) -> None:
        if maker is not _MAKER:
            raise TypeError("only EvidenceGuard makes a verified draft")
        object.__setattr__(self, "candidate", candidate)
        object.__setattr__(self, "snapshot", snapshot)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a verified draft does not change")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a verified draft does not change")

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("a verified draft has one kind")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a verified draft cannot be copied or stored; check the draft again")


@dataclass(frozen=True, slots=True)
class Refused:
    """A draft that is not let through, and everything that is wrong with it."""

    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class References:
    """The citations of a draft without a conclusion (D6 to D8): what they hold, and the bad ones."""

    calls: tuple[VerifiedCall, ...]
    violations: tuple[Violation, ...]


def check_evidence(
    candidate: DraftCandidate | None, ledger: LedgerSnapshot
) -> VerifiedDraft | Refused:
    """The verified draft, or every violation in the order of the document (G10).

    A draft without a conclusion is refused here; see `check_references`.
    """
    violations = check_closure(candidate)
    if candidate is None:
        return Refused(violations)
    violations = tuple(dict.fromkeys((*violations, *_citations(candidate, ledger))))
    if violations:
        return Refused(violations)
    return VerifiedDraft(_MAKER, candidate, _snapshot(candidate, ledger))


def check_references(candidate: DraftCandidate, ledger: LedgerSnapshot) -> References:
    """Which citations of a draft without a conclusion are real; the bad ones are dropped (D6)."""
    violations = tuple(dict.fromkeys(_citations(candidate, ledger)))
    cited = (call for analysis in candidate.analyses or () for call in _accepted(analysis, ledger))
    return References(_calls(cited, ledger), violations)


def _citations(candidate: DraftCandidate, ledger: LedgerSnapshot) -> Iterator[Violation]:
    for place, analysis in enumerate(candidate.analyses or ()):
        for path, call in _cited(analysis):
            code = _refusal(analysis, call, ledger)
            if code is not None:
                yield Violation(code=code, pointer=point("analyses", place, *path))
        for path, call in _stated(analysis.sentences, analysis.written):
            yield from _unread(call, ledger, "analyses", place, *path)
    if candidate.conclusion is not None:
        yield from _bound_citations(candidate.conclusion.sentences, ledger, "conclusion")
    for part, bounds in (
        ("action_plan", candidate.action_plan),
        ("recommendations", candidate.recommendations),
    ):
        for place, bound in enumerate(bounds):
            yield from _bound_citations(bound.sentences, ledger, part, place)


def _cited(analysis: AnalysisCandidate) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every call that an analysis cites, with the path of the citation."""
    for place, call in enumerate(analysis.tool_call_ids):
        yield ("tool_call_ids", place), call
    for number, sentence in enumerate(analysis.sentences):
        for place, call in enumerate(sentence.tool_call_ids):
            yield ("sentences", number, "tool_call_ids", place), call


def _stated(
    sentences: tuple[SentenceCandidate, ...], written: bool
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every call that a typed statement names, with the path of the statement's id."""
    for number, sentence in enumerate(sentences):
        above: tuple[str | int, ...] = ("sentences", number) if written else ()
        for place, statement in enumerate(sentence.statements):
            path = (*above, "statements", place)
            if isinstance(call := statement.get("tool_call_id"), str):
                yield (*path, "tool_call_id"), call
            more = statement.get("tool_call_ids")
            for index, call in enumerate(more if isinstance(more, (list, tuple)) else ()):
                yield (*path, "tool_call_ids", index), call if isinstance(call, str) else ""


def _bound_citations(
    sentences: tuple[SentenceCandidate, ...], ledger: LedgerSnapshot, *path: str | int
) -> Iterator[Violation]:
    for number, sentence in enumerate(sentences):
        for place, call in enumerate(sentence.tool_call_ids):
            yield from _unread(call, ledger, *path, "sentences", number, "tool_call_ids", place)
    for below, call in _stated(sentences, written=True):
        yield from _unread(call, ledger, *path, *below)


def _unread(call: str, ledger: LedgerSnapshot, *path: str | int) -> Iterator[Violation]:
    read = ledger.read_back(call)
    if isinstance(read, Unverified):
        yield Violation(code=read.code, pointer=point(*path))


def _refusal(analysis: AnalysisCandidate, call: str, ledger: LedgerSnapshot) -> EvidenceCode | None:
    """Why an analysis may not cite a call: it cannot be read back, or is of the other kind (G8)."""
    read = ledger.read_back(call)
    if isinstance(read, Unverified):
        return read.code
    if analysis.kind in KINDS:
        accepted = ACCEPTED_EVIDENCE[AnalysisKind(analysis.kind)]
        if read.envelope.status is not accepted:
            return EvidenceCode.EVIDENCE_KIND_MISMATCH
    return None


def _accepted(analysis: AnalysisCandidate, ledger: LedgerSnapshot) -> Iterator[str]:
    for call in analysis.calls():
        if _refusal(analysis, call, ledger) is None:
            yield call


def _calls(cited: Iterator[str], ledger: LedgerSnapshot) -> tuple[VerifiedCall, ...]:
    """The cited calls, each once, rebuilt from the ledger and never from the draft (C6)."""
    read = {call: ledger.read_back(call) for call in cited}
    return tuple(
        VerifiedCall(
            tool_call_id=found.record.tool_call_id,
            tool=found.record.tool,
            provenance=found.record.provenance,
            envelope=found.envelope,
        )
        for found in read.values()
        if isinstance(found, Verified)
    )


def _snapshot(candidate: DraftCandidate, ledger: LedgerSnapshot) -> VerifiedEvidenceSnapshot:
    analyses = tuple(
        VerifiedAnalysis(
            id=analysis.id or "",
            kind=AnalysisKind(analysis.kind or ""),
            body=analysis.body or "",
            tool_call_ids=analysis.calls(),
        )
        for analysis in candidate.analyses or ()
    )
    cited = (call for analysis in analyses for call in analysis.tool_call_ids)
    return VerifiedEvidenceSnapshot(analyses=analyses, calls=_calls(cited, ledger))
