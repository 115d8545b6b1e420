"""Every sentence of a draft in order, numbered by the harness and never by the agent (C4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from affidavit.contract.draft import (
    AnalysisCandidate,
    BoundCandidate,
    DraftCandidate,
    SentenceCandidate,
    split_sentences,
)
from affidavit.contract.states import AnalysisKind
from affidavit.verify.closure import point


class Part(StrEnum):
    """Where in a draft a sentence stands; it decides what the sentence may say."""

    ANALYSIS = "ANALYSIS"
    NEGATIVE = "NEGATIVE"
    CONCLUSION = "CONCLUSION"
    ACTION = "ACTION"
    SCOPE = "SCOPE"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its number from 1, its pointer, and the calls that it may rest on.

    `analyses` are the places of the analyses that it belongs to or is based on; `statements` what
    the author bound to it; `shared` says that the statements belong to the whole body.
    """

    number: int
    pointer: str
    part: Part
    text: str
    calls: tuple[str, ...]
    analyses: tuple[int, ...]
    statements: tuple[Mapping[str, object], ...] = ()
    shared: bool = False


def number_sentences(candidate: DraftCandidate) -> tuple[Sentence, ...]:
    """The sentences of analyses, conclusion, actions, recommendations and scope, in that order."""
    raw = (
        *_analyses(candidate),
        *_bounds(candidate, "conclusion", candidate.conclusion),
        *_many(candidate, "action_plan", candidate.action_plan),
        *_many(candidate, "recommendations", candidate.recommendations),
        *_scope(candidate),
    )
    return tuple(
        Sentence(
            number,
            item.pointer,
            item.part,
            item.text,
            item.calls,
            item.analyses,
            item.statements,
            item.shared,
        )
        for number, item in enumerate(raw, start=1)
    )


def _pointer(path: tuple[str | int, ...], text: str, number: int, *, written: bool) -> str:
    """A written sentence has a place of its own; a split one points at the text it stands in."""
    return point(*path, "sentences", number) if written else point(*path, text)


def _analyses(candidate: DraftCandidate) -> Iterator[Sentence]:
    for place, analysis in enumerate(candidate.analyses or ()):
        negative = analysis.kind == AnalysisKind.NEGATIVE_OBSERVATION
        for number, item in enumerate(analysis.sentences):
            yield Sentence(
                number=0,
                pointer=_pointer(("analyses", place), "body", number, written=analysis.written),
                part=Part.NEGATIVE if negative else Part.ANALYSIS,
                text=item.text,
                calls=item.tool_call_ids or analysis.calls(),
                analyses=(place,),
                statements=item.statements,
                shared=not analysis.written,
            )


def _based_on(
    candidate: DraftCandidate, bound: BoundCandidate
) -> tuple[tuple[int, AnalysisCandidate], ...]:
    return tuple(
        (place, analysis)
        for place, analysis in enumerate(candidate.analyses or ())
        if analysis.id in bound.based_on_analysis_ids
    )


def _bounds(
    candidate: DraftCandidate, part: str, bound: BoundCandidate | None, *place: int
) -> Iterator[Sentence]:
    if bound is None:
        return
    based = _based_on(candidate, bound)
    calls = tuple(dict.fromkeys(call for _, analysis in based for call in analysis.calls()))
    for number, item in enumerate(bound.sentences):
        yield Sentence(
            number=0,
            pointer=_pointer((part, *place), "text", number, written=bound.written),
            part=Part.CONCLUSION if part == "conclusion" else Part.ACTION,
            text=item.text,
            calls=_within(item, calls),
            analyses=tuple(index for index, _ in based),
            statements=item.statements,
        )


def _within(item: SentenceCandidate, calls: tuple[str, ...]) -> tuple[str, ...]:
    """A sentence may narrow what its part rests on, and never widen it."""
    own = tuple(call for call in item.tool_call_ids if call in calls)
    return own if item.tool_call_ids else calls


def _many(
    candidate: DraftCandidate, part: str, bounds: tuple[BoundCandidate, ...]
) -> Iterator[Sentence]:
    for place, bound in enumerate(bounds):
        yield from _bounds(candidate, part, bound, place)


def _scope(candidate: DraftCandidate) -> Iterator[Sentence]:
    scope = candidate.limitations.scope if candidate.limitations else None
    calls = tuple(
        dict.fromkeys(call for analysis in candidate.analyses or () for call in analysis.calls())
    )
    for text in split_sentences(scope or ""):
        yield Sentence(0, point("limitations", "scope"), Part.SCOPE, text, calls, ())
