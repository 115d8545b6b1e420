"""What is left of a draft when sentences leave it (M6; pure).

No word is written here: sentences leave, and what stood on them alone leaves with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import islice

from affidavit.contract.draft import (
    AnalysisCandidate,
    BoundCandidate,
    DraftCandidate,
    SentenceCandidate,
)
from affidavit.contract.violations import Refusal
from affidavit.verify.sentences import Sentence, number_sentences


@dataclass(frozen=True, slots=True)
class Remainder:
    """What is left of a draft, and the sentences of the whole draft that it consists of."""

    draft: DraftCandidate
    sentences: tuple[Sentence, ...]

    def place(self, refusals: Sequence[Refusal]) -> tuple[Refusal, ...]:
        """Refusals of the remainder, as places in the draft that its author knows."""
        return tuple(
            Refusal(
                code=item.code,
                pointer=self.sentences[item.sentence - 1].pointer,
                sentence=self.sentences[item.sentence - 1].number,
            )
            for item in refusals
        )


def draft_without(draft: DraftCandidate, numbers: Sequence[int]) -> Remainder:
    """The draft less those sentences.

    A part whose every sentence is gone falls, and so does an action or recommendation that rests
    on fallen analyses only. The conclusion never falls; one that rests on nothing any more is for
    the guard to refuse. Guard, support check and judge have to look at the remainder anew.
    """
    taking = _Taking(iter(number_sentences(draft)), frozenset(numbers))
    analyses = tuple(taking.shorten(item) for item in draft.analyses or ())
    left = tuple(item for item in analyses if item is not None)
    fallen = {item.id for item in draft.analyses or ()} - {item.id for item in left}
    conclusion = draft.conclusion and taking.rest_on(draft.conclusion, fallen)
    actions, advice = (
        tuple(short for item in items if (short := taking.shorten_bound(item, fallen)) is not None)
        for items in (draft.action_plan, draft.recommendations)
    )
    remainder = replace(
        draft,
        analyses=None if draft.analyses is None else left,
        conclusion=conclusion,
        action_plan=actions,
        recommendations=advice,
    )
    return Remainder(remainder, (*taking.kept, *taking.numbered))


@dataclass(slots=True)
class _Taking:
    """Walks through a draft in the order of the harness's numbers, leaving sentences out."""

    numbered: Iterator[Sentence]
    gone: frozenset[int]
    kept: list[Sentence] = field(default_factory=list)

    def shorten(self, part: AnalysisCandidate) -> AnalysisCandidate | None:
        """The analysis less its withdrawn sentences, or None where it falls."""
        own = tuple(islice(self.numbered, len(part.sentences)))
        stays = tuple(sentence.number not in self.gone for sentence in own)
        if own and not any(stays):
            return None
        self.kept.extend(sentence for sentence, stay in zip(own, stays, strict=True) if stay)
        body = _text_without(part.body, part.sentences, stays)
        return replace(part, body=body, sentences=_where(part.sentences, stays))

    def shorten_bound(self, part: BoundCandidate, fallen: Set[str | None]) -> BoundCandidate | None:
        """The action or recommendation less its withdrawn sentences, or None where it falls."""
        own = tuple(islice(self.numbered, len(part.sentences)))
        stays = tuple(sentence.number not in self.gone for sentence in own)
        standing = _standing(part, fallen)
        unbound = part.based_on_analysis_ids and not standing
        if unbound or (own and not any(stays)):
            return None
        self.kept.extend(sentence for sentence, stay in zip(own, stays, strict=True) if stay)
        return replace(
            part,
            text=_text_without(part.text, part.sentences, stays),
            sentences=_where(part.sentences, stays),
            based_on_analysis_ids=standing,
        )

    def rest_on(self, conclusion: BoundCandidate, fallen: Set[str | None]) -> BoundCandidate:
        """The conclusion, whole, on the analyses that still stand."""
        self.kept.extend(islice(self.numbered, len(conclusion.sentences)))
        return replace(conclusion, based_on_analysis_ids=_standing(conclusion, fallen))


def _standing(part: BoundCandidate, fallen: Set[str | None]) -> tuple[str, ...]:
    return tuple(name for name in part.based_on_analysis_ids if name not in fallen)


def _where(
    sentences: tuple[SentenceCandidate, ...], stays: tuple[bool, ...]
) -> tuple[SentenceCandidate, ...]:
    return tuple(item for item, stay in zip(sentences, stays, strict=True) if stay)


def _text_without(
    text: str | None, sentences: tuple[SentenceCandidate, ...], stays: tuple[bool, ...]
) -> str | None:
    """The text less the sentences that do not stay, with the spacing that its author gave it.

    Of the gaps around what left, one with a line break wins: it alone may part two sentences.
    """
    if text is None or all(stays):
        return text
    shortened, gap, cursor = "", "", 0
    for item, stay in zip(sentences, stays, strict=True):
        at = text.find(item.text, cursor)
        if at < 0:  # spaced otherwise than its sentences are
            return " ".join(one.text for one in _where(sentences, stays))
        between = text[cursor:at]
        gap = between if "\n" in between or "\n" not in gap else gap
        cursor = at + len(item.text)
        if stay:
            shortened, gap = (shortened + gap if shortened else "") + item.text, ""
    return shortened
