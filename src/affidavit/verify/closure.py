"""Do the parts of a draft hold together? (G1 to G6, pure)

Everything wrong is reported at once, in the order of the document, each with a JSON pointer that
is made here (RFC 6901) and holds nothing that the author wrote.
"""

from __future__ import annotations

from collections.abc import Iterator

from affidavit.contract.draft import AnalysisCandidate, BoundCandidate, DraftCandidate
from affidavit.contract.states import AnalysisKind
from affidavit.contract.violations import EvidenceCode, Violation

KINDS = frozenset(kind.value for kind in AnalysisKind)


def check_closure(candidate: DraftCandidate | None) -> tuple[Violation, ...]:
    """Every structural violation of a concluding draft; none means that its references close.

    Whether the cited calls are real is for `evidence` to say.
    """
    if candidate is None:
        return (Violation(code=EvidenceCode.DRAFT_MISSING, pointer=""),)
    found = (
        *_analyses(candidate),
        *_conclusion(candidate),
        *_bounds(candidate, "action_plan", EvidenceCode.ACTION_UNBOUND),
        *_bounds(candidate, "recommendations", EvidenceCode.RECOMMENDATION_UNBOUND),
        *_limitations(candidate),
    )
    return tuple(dict.fromkeys(found))


def _wrong(code: EvidenceCode, *path: str | int) -> Violation:
    return Violation(code=code, pointer=point(*path))


def point(*path: str | int) -> str:
    """The JSON pointer of a path of our own field names and places."""
    return "".join(f"/{part}" for part in path)


def _analyses(candidate: DraftCandidate) -> Iterator[Violation]:
    if not candidate.analyses:
        yield _wrong(EvidenceCode.ANALYSES_MISSING, "analyses")
        return
    seen: set[str] = set()
    for place, analysis in enumerate(candidate.analyses):
        if analysis.id is None:
            yield _wrong(EvidenceCode.ANALYSIS_ID_MISSING, "analyses", place, "id")
        elif analysis.id in seen:
            yield _wrong(EvidenceCode.ANALYSIS_ID_DUPLICATE, "analyses", place, "id")
        else:
            seen.add(analysis.id)
        yield from _analysis(place, analysis)


def _analysis(place: int, analysis: AnalysisCandidate) -> Iterator[Violation]:
    if analysis.kind not in KINDS:
        yield _wrong(EvidenceCode.ANALYSIS_KIND_INVALID, "analyses", place, "kind")
    if analysis.body is None or not _says_its_sentences(analysis.body, analysis):
        yield _wrong(EvidenceCode.ANALYSIS_BODY_MISSING, "analyses", place, "body")
    if not analysis.calls():
        yield _wrong(EvidenceCode.ANALYSIS_UNBOUND, "analyses", place, "tool_call_ids")


def _says_its_sentences(text: str, part: AnalysisCandidate | BoundCandidate) -> bool:
    """Whether a text is its sentences joined, spaces aside (C4): only those are checked."""
    if not part.sentences:
        return False
    joined = "".join(item.text for item in part.sentences)
    return "".join(text.split()) == "".join(joined.split())


def _conclusion(candidate: DraftCandidate) -> Iterator[Violation]:
    if candidate.conclusion is None:
        yield _wrong(EvidenceCode.CONCLUSION_UNBOUND, "conclusion")
        return
    yield from _bound(
        candidate, candidate.conclusion, EvidenceCode.CONCLUSION_UNBOUND, "conclusion"
    )


def _bounds(candidate: DraftCandidate, part: str, code: EvidenceCode) -> Iterator[Violation]:
    bounds = candidate.action_plan if part == "action_plan" else candidate.recommendations
    for place, bound in enumerate(bounds):
        yield from _bound(candidate, bound, code, part, place)


def _bound(
    candidate: DraftCandidate, bound: BoundCandidate, code: EvidenceCode, *path: str | int
) -> Iterator[Violation]:
    if bound.text is None or not _says_its_sentences(bound.text, bound):
        yield _wrong(code, *path, "text")
    if not bound.based_on_analysis_ids:
        yield _wrong(code, *path, "based_on_analysis_ids")
    known = {analysis.id for analysis in candidate.analyses or ()}
    for place, name in enumerate(bound.based_on_analysis_ids):
        if name not in known:
            yield _wrong(EvidenceCode.ANALYSIS_REF_UNKNOWN, *path, "based_on_analysis_ids", place)


def _limitations(candidate: DraftCandidate) -> Iterator[Violation]:
    if candidate.limitations is None:
        yield _wrong(EvidenceCode.LIMITATIONS_MISSING, "limitations")
    elif candidate.limitations.scope is None:
        yield _wrong(EvidenceCode.LIMITATIONS_SCOPE_MISSING, "limitations", "scope")
