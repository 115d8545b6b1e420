"""The agent's report before anybody has checked it, read leniently (C4, G0).

`read_candidate` accepts whatever JSON object an author wrote and keeps what can be kept: a missing
or misshapen part becomes None and is reported by EvidenceGuard with its code, instead of one parse
error that hides all others. What it cannot read at all, because it is no object, is an illegal
draft (D10, D11). Fields that nobody knows are dropped here and reach no one.

A body is split into sentences by code; an author cannot number its own sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

TEXT_CHARS_MAX: Final = 8_000
"""A single body or text; a report that needs more is a book, and every check is linear in it."""

PARTS_MAX: Final = 200
"""Analyses, actions, recommendations, sentences of one part: beyond this a draft is illegal."""


class DraftUnreadable(ValueError):
    """Not a draft at all: no JSON object, or larger than any bound."""


@dataclass(frozen=True, slots=True)
class SentenceCandidate:
    """One sentence with the statements and calls that its author bound to it."""

    text: str
    tool_call_ids: tuple[str, ...] = ()
    statements: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class AnalysisCandidate:
    """One analysis; None marks what is missing or misshapen.

    `tool_call_ids` stand as the author wrote them. `written` says whether the sentences are the
    author's own; else code split them off the body, and each carries the statements of the whole.
    """

    id: str | None
    kind: str | None
    body: str | None
    sentences: tuple[SentenceCandidate, ...]
    tool_call_ids: tuple[str, ...]
    written: bool = False

    def calls(self) -> tuple[str, ...]:
        """Every call that the analysis or one of its sentences cites, each once."""
        own = (call for item in self.sentences for call in item.tool_call_ids)
        return tuple(dict.fromkeys((*self.tool_call_ids, *own)))


@dataclass(frozen=True, slots=True)
class BoundCandidate:
    """A conclusion, action or recommendation, with the analyses it rests on."""

    text: str | None
    sentences: tuple[SentenceCandidate, ...]
    based_on_analysis_ids: tuple[str, ...]
    written: bool = False


@dataclass(frozen=True, slots=True)
class LimitationsCandidate:
    """What the report covers, and what its author lacked."""

    scope: str | None
    missing_info: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftCandidate:
    """A whole draft, read leniently."""

    analyses: tuple[AnalysisCandidate, ...] | None
    conclusion: BoundCandidate | None
    action_plan: tuple[BoundCandidate, ...] = field(default=())
    recommendations: tuple[BoundCandidate, ...] = field(default=())
    limitations: LimitationsCandidate | None = None


_END: Final = re.compile(
    r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9\u4e00-\u9fff`])|(?<=[。！？])\s*|\n+"
)


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, in order, none empty. Linear in the text; no language model.

    Splits after a full stop, exclamation or question mark that ends a sentence (followed by space
    and a capital, digit, quote or Chinese character; or the Chinese marks), and at line breaks.
    A dot inside a number, name or address is followed by no space and splits nothing.
    """
    parts = (part.strip() for part in _END.split(text))
    return tuple(part for part in parts if part)


def read_candidate(raw: object) -> DraftCandidate:
    """The draft that an author wrote, as far as it can be read.

    Raises DraftUnreadable when `raw` is no object or exceeds a bound.
    """
    if not isinstance(raw, Mapping):
        raise DraftUnreadable("a draft is a JSON object")
    analyses = raw.get("analyses")
    return DraftCandidate(
        analyses=tuple(_analysis(item) for item in _bounded(analyses))
        if _is_list(analyses)
        else None,
        conclusion=_bound(raw.get("conclusion")),
        action_plan=_bounds(raw.get("action_plan")),
        recommendations=_bounds(raw.get("recommendations")),
        limitations=_limitations(raw.get("limitations")),
    )


def _is_list(raw: object) -> bool:
    return isinstance(raw, Sequence) and not isinstance(raw, (str, bytes))


def _bounded(raw: object) -> tuple[object, ...]:
    if not isinstance(raw, Sequence) or isinstance(raw, (str, bytes)):
        return ()
    if len(raw) > PARTS_MAX:
        raise DraftUnreadable(f"more than {PARTS_MAX} parts in one list")
    return tuple(raw)


def _text(raw: object) -> str | None:
    if not isinstance(raw, str) or not raw.strip():
        return None
    if len(raw) > TEXT_CHARS_MAX:
        raise DraftUnreadable(f"a text of more than {TEXT_CHARS_MAX} characters")
    return raw


def _texts(raw: object) -> tuple[str, ...]:
    """The strings of a list; anything else in it is kept as a text that names nothing."""
    return tuple(item if isinstance(item, str) else "" for item in _bounded(raw))


def _get(raw: object, key: str) -> object:
    return raw.get(key) if isinstance(raw, Mapping) else None


def _statements(raw: object) -> tuple[Mapping[str, object], ...]:
    return tuple(item if isinstance(item, Mapping) else {} for item in _bounded(raw))


def _sentences(raw: object) -> tuple[SentenceCandidate, ...]:
    return tuple(
        SentenceCandidate(
            text=_text(_get(item, "text")) or "",
            tool_call_ids=_texts(_get(item, "tool_call_ids")),
            statements=_statements(_get(item, "statements")),
        )
        for item in _bounded(raw)
    )


def _own_sentences(body: str | None, raw: object) -> tuple[tuple[SentenceCandidate, ...], bool]:
    """The author's sentences, or the body split by code with its statements on every one."""
    written = _sentences(_get(raw, "sentences"))
    if written or body is None:
        return written, True
    statements = _statements(_get(raw, "statements"))
    parts = _bounded(split_sentences(body))
    return tuple(SentenceCandidate(str(part), statements=statements) for part in parts), False


def _joined(body: str | None, sentences: tuple[SentenceCandidate, ...]) -> str | None:
    if body is not None:
        return body
    return " ".join(item.text for item in sentences) or None


def _analysis(raw: object) -> AnalysisCandidate:
    body = _text(_get(raw, "body"))
    sentences, written = _own_sentences(body, raw)
    return AnalysisCandidate(
        id=_text(_get(raw, "id")),
        kind=_text(_get(raw, "kind")),
        body=_joined(body, sentences),
        sentences=sentences,
        tool_call_ids=_texts(_get(raw, "tool_call_ids")),
        written=written,
    )


def _bound(raw: object) -> BoundCandidate | None:
    """None for an absent part; a part without readable text is kept, and is unbound or empty."""
    if raw is None:
        return None
    text = _text(raw) if isinstance(raw, str) else _text(_get(raw, "text"))
    sentences, written = _own_sentences(text, raw)
    return BoundCandidate(
        text=_joined(text, sentences),
        sentences=sentences,
        based_on_analysis_ids=_texts(_get(raw, "based_on_analysis_ids")),
        written=written,
    )


def _bounds(raw: object) -> tuple[BoundCandidate, ...]:
    return tuple(_bound(item) or BoundCandidate(None, (), ()) for item in _bounded(raw))


def _limitations(raw: object) -> LimitationsCandidate | None:
    if not isinstance(raw, Mapping):
        return None
    return LimitationsCandidate(_text(raw.get("scope")), _texts(raw.get("missing_info")))
