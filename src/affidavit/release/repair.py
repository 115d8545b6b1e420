"""Repairing citations: a patch that can set ids, and can do nothing else (Q1 to Q5).

A repairer sees question, draft and violations; it has no tools, no new evidence and one attempt.
Its answer is text, parsed strictly here, so that no repairer can hand over anything but ids. What
comes out is a plain candidate again: only EvidenceGuard can make a verified draft of it (Q3, N4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeVar

from affidavit.contract.draft import (
    AnalysisCandidate,
    BoundCandidate,
    DraftCandidate,
    SentenceCandidate,
)
from affidavit.contract.errors import ModelFailed
from affidavit.contract.ids import is_call_id
from affidavit.contract.violations import Violation
from affidavit.release.reading import read_json

PATCH_CHARS_MAX: Final = 100_000
"""Ids for every part that a draft may have."""

ITEMS_MAX: Final = 200
"""As many places as a draft has parts."""

IDS_MAX: Final = 50
"""More citations at one place point nowhere in particular."""

ID_CHARS_MAX: Final = 200
"""An analysis id is a label."""

_ID_FIELDS: Final = frozenset({"tool_call_ids", "tool_call_id", "based_on_analysis_ids"})
_PLACE: Final = re.compile(r"0|[1-9][0-9]{0,3}", re.ASCII)


class RepairUnavailable(ModelFailed):
    """There is nobody who could repair a citation (Q5)."""

    code = "REPAIR_UNAVAILABLE"


class Repairer(Protocol):
    """Anything that can propose a patch for a draft's citations."""

    @property
    def name(self) -> str:
        """What the audit calls this repairer."""
        ...

    async def propose(
        self, query: str, draft: DraftCandidate, violations: tuple[Violation, ...]
    ) -> str:
        """JSON text: a list of `{"pointer": …, "ids": […]}`.

        Raises ModelFailed when there is no answer, RepairUnavailable when there is nobody to ask.
        """
        ...


class NoRepairer:
    """The repairer where no model is configured: there is none (Q5)."""

    name = "none"

    async def propose(
        self, query: str, draft: DraftCandidate, violations: tuple[Violation, ...]
    ) -> str:
        """Never answers."""
        del query, draft, violations
        raise RepairUnavailable("no model is configured that could repair citations")


@dataclass(frozen=True, slots=True)
class PatchItem:
    """One place in a draft that holds ids, and the ids that shall stand there."""

    path: tuple[str, ...]
    ids: tuple[str, ...]


class PatchRefused(ValueError):
    """The answer is no patch, or would set something that is no id."""


def is_mendable(violation: Violation) -> bool:
    """Whether other ids could mend it; a missing body or scope is no full view to repair (Q4)."""
    tokens = violation.pointer.split("/")
    return any(token in _ID_FIELDS for token in tokens[-2:])


def read_patch(text: str) -> tuple[PatchItem, ...]:
    """The patch in a repairer's answer. Raises PatchRefused for anything else."""
    if len(text) > PATCH_CHARS_MAX:
        raise PatchRefused("a patch of that length sets more than ids")
    try:
        raw = read_json(text)
    except ValueError:
        raise PatchRefused("a patch is JSON") from None
    if not isinstance(raw, list) or not 1 <= len(raw) <= ITEMS_MAX:
        raise PatchRefused(f"a patch is a list of 1 to {ITEMS_MAX} items")
    items = tuple(_item(item) for item in raw)
    if len({item.path for item in items}) != len(items):
        raise PatchRefused("a patch sets each place once")
    return items


def apply_patch(candidate: DraftCandidate, patch: tuple[PatchItem, ...]) -> DraftCandidate:
    """The draft with those ids set. Raises PatchRefused for a place that holds no ids."""
    for item in patch:
        candidate = _set(candidate, item)
    return candidate


def same_view(before: DraftCandidate, after: DraftCandidate) -> bool:
    """Whether a reader sees the same: everything but the ids of calls and bound analyses (Q2)."""
    return _view(before) == _view(after)


def _item(raw: object) -> PatchItem:
    if not isinstance(raw, dict) or raw.keys() != {"pointer", "ids"}:
        raise PatchRefused("an item has exactly a pointer and ids")
    pointer, ids = raw["pointer"], raw["ids"]
    if not isinstance(pointer, str) or not pointer.startswith("/"):
        raise PatchRefused("a pointer is a JSON pointer into the draft")
    if not isinstance(ids, list) or not 1 <= len(ids) <= IDS_MAX:
        raise PatchRefused(f"ids are a list of 1 to {IDS_MAX}")
    return PatchItem(tuple(pointer[1:].split("/")), tuple(_id(value) for value in ids))


def _id(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= ID_CHARS_MAX:
        raise PatchRefused("an id is a short text")
    return value


def _set(candidate: DraftCandidate, item: PatchItem) -> DraftCandidate:
    match item.path:
        case ("analyses", place, *rest):
            analyses = _at(candidate.analyses or (), place, lambda part: _part(part, rest, item))
            return replace(candidate, analyses=analyses)
        case ("conclusion", *rest) if candidate.conclusion is not None:
            return replace(candidate, conclusion=_part(candidate.conclusion, rest, item))
        case ("action_plan", place, *rest):
            plan = _at(candidate.action_plan, place, lambda part: _part(part, rest, item))
            return replace(candidate, action_plan=plan)
        case ("recommendations", place, *rest):
            others = _at(candidate.recommendations, place, lambda part: _part(part, rest, item))
            return replace(candidate, recommendations=others)
        case _:
            raise PatchRefused("a pointer leads to ids of the draft")


Part = TypeVar("Part", AnalysisCandidate, BoundCandidate)
Item = TypeVar("Item")


def _at(items: tuple[Item, ...], place: str, change: Callable[[Item], Item]) -> tuple[Item, ...]:
    """The items with the one at that place changed."""
    if not _PLACE.fullmatch(place) or int(place) >= len(items):
        raise PatchRefused("a pointer leads to a place that is there")
    index = int(place)
    return (*items[:index], change(items[index]), *items[index + 1 :])


def _part(part: Part, path: list[str], item: PatchItem) -> Part:
    match path, part:
        case ["tool_call_ids"], AnalysisCandidate():
            return replace(part, tool_call_ids=_calls(item))
        case ["based_on_analysis_ids"], BoundCandidate():
            return replace(part, based_on_analysis_ids=item.ids)
        case ["sentences", place, *rest], _:
            own = _at(part.sentences, place, lambda sentence: _sentence(sentence, rest, item))
            return replace(part, sentences=own)
        case ["statements", *_], _ if not part.written:
            # Statements of a plain body stand on every sentence that code split off it.
            shared = tuple(_sentence(sentence, path, item) for sentence in part.sentences)
            return replace(part, sentences=shared)
        case _:
            raise PatchRefused("a pointer leads to ids of the draft")


def _sentence(sentence: SentenceCandidate, path: list[str], item: PatchItem) -> SentenceCandidate:
    change: dict[str, object]
    match path:
        case ["tool_call_ids"]:
            return replace(sentence, tool_call_ids=_calls(item))
        case ["statements", place, "tool_call_id"] if len(item.ids) == 1:
            change = {"tool_call_id": _calls(item)[0]}
        case ["statements", place, "tool_call_ids"]:
            change = {"tool_call_ids": _calls(item)}
        case _:
            raise PatchRefused("a pointer leads to ids of the draft")
    own = _at(sentence.statements, place, lambda statement: {**statement, **change})
    return replace(sentence, statements=own)


def _calls(item: PatchItem) -> tuple[str, ...]:
    if not all(is_call_id(value) for value in item.ids):
        raise PatchRefused("a call id has the shape of one")
    return item.ids


def _view(candidate: DraftCandidate) -> DraftCandidate:
    """The draft without the ids that a patch may set."""
    return replace(
        candidate,
        analyses=None
        if candidate.analyses is None
        else tuple(
            replace(part, tool_call_ids=(), sentences=_bare(part.sentences))
            for part in candidate.analyses
        ),
        conclusion=None if candidate.conclusion is None else _unbound(candidate.conclusion),
        action_plan=tuple(_unbound(part) for part in candidate.action_plan),
        recommendations=tuple(_unbound(part) for part in candidate.recommendations),
    )


def _unbound(part: BoundCandidate) -> BoundCandidate:
    return replace(part, based_on_analysis_ids=(), sentences=_bare(part.sentences))


def _bare(sentences: tuple[SentenceCandidate, ...]) -> tuple[SentenceCandidate, ...]:
    return tuple(
        replace(
            sentence,
            tool_call_ids=(),
            statements=tuple(_without_ids(statement) for statement in sentence.statements),
        )
        for sentence in sentences
    )


def _without_ids(statement: Mapping[str, object]) -> Mapping[str, object]:
    return {key: value for key, value in statement.items() if key not in _ID_FIELDS}
