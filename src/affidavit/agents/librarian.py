"""The librarian: answers a question by quoting the indexed pages, or says that none match (I2).

Deterministic, and no model: one search, then quotations. So nothing is answered from anybody's
memory, no passage can talk an author into anything, and each sentence is proved by comparing
characters. Deliberately absent: a summary in words of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from affidavit.contract.agent import (
    Act,
    AgentState,
    Conclude,
    Decision,
    GiveUp,
    Observation,
    ObservationKind,
    ToolCallRequest,
)
from affidavit.contract.evidence import Line
from affidavit.contract.masking import holds_mask
from affidavit.tools.knowledge_search import NAME

QUOTED_MAX: Final = 3
"""An answer that a person reads; the search's record holds the rest."""

SCOPE: Final = "indexed pages of this tenant"


class Librarian:
    """The agent of the KNOWLEDGE branch."""

    name = "librarian"

    async def decide(self, state: AgentState) -> Decision:
        """The next step; see `decide_step`."""
        return decide_step(state)


def decide_step(state: AgentState) -> Decision:
    """Search once with the question itself; then quote, or say that nothing matched."""
    if not state.observations:
        return Act((ToolCallRequest(NAME, {"query": state.request.question}),))
    found = state.observations[-1]
    match found.kind:
        case ObservationKind.FOUND:
            return Conclude(quote(found, state.request.question))
        case ObservationKind.EMPTY:
            return Conclude(nothing_matched(found))
        case _:
            return GiveUp("the indexed pages could not be searched")


def quote(found: Observation, question: str) -> Mapping[str, object]:
    """A draft that quotes the best passages. One in which a secret was masked is not quoted: what
    the page says there is not known."""
    frame = FRAMES["zh" if _HAN.search(question) else "en"]
    lines = () if found.envelope is None else found.envelope.facts
    call = found.tool_call_id or ""
    passages = [item for item in lines if isinstance(item, Line) and _can_be_quoted(item)]
    sentences = [_quotation(frame, passage, call) for passage in passages[:QUOTED_MAX]]
    if not sentences:
        return _draft((), None)
    analyses = [
        {"id": f"A{place}", "kind": "NORMAL", "sentences": [sentence], "tool_call_ids": [call]}
        for place, sentence in enumerate(sentences, start=1)
    ]
    conclusion = {"sentences": sentences[:1], "based_on_analysis_ids": ["A1"]}
    return _draft(analyses, conclusion)


FRAMES: Final = {
    "en": "The knowledge page{page} says: {quoted}",
    "zh": "文档{page} 写道：{quoted}",
}
"""How a page is quoted, in the language of the question; the page's words stay its own."""

_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


MARKS: Final = (("“", "”"), ("「", "」"), ('"', '"'), ("`", "`"))
"""Quotation marks that the support check reads; a passage stands between two that are not in it."""


def _marks_for(text: str) -> tuple[str, str] | None:
    return next((marks for marks in MARKS if marks[1] not in text), None)


def _can_be_quoted(passage: Line) -> bool:
    return _marks_for(passage.text) is not None and not holds_mask(passage.text)


def _named(passage: Line) -> str:
    """The page's name as it is said. One with Chinese words in it would be read as words of ours;
    it stands in the record that the sentence cites."""
    page = passage.subject or ""
    return "" if _HAN.search(page) else f" {page}"


def _quotation(frame: str, passage: Line, call: str) -> Mapping[str, object]:
    first, last = _marks_for(passage.text) or MARKS[0]
    quoted = f"{first}{passage.text}{last}"
    statement = {"kind": "quote", "text": passage.text, "tool_call_id": call}
    return {
        "text": frame.format(page=_named(passage), quoted=quoted),
        "tool_call_ids": [call],
        "statements": [statement],
    }


def nothing_matched(found: Observation) -> Mapping[str, object]:
    """A draft that concludes nothing: within the indexed pages, nothing matched (G9)."""
    call = found.tool_call_id or ""
    sentence = {
        "text": "No indexed page matched the question.",
        "tool_call_ids": [call],
    }
    analysis = {
        "id": "A1",
        "kind": "NEGATIVE_OBSERVATION",
        "sentences": [sentence],
        "tool_call_ids": [call],
    }
    return _draft((analysis,), None)


def _draft(analyses: object, conclusion: object) -> Mapping[str, object]:
    return {
        "analyses": list(analyses) if isinstance(analyses, (list, tuple)) else [],
        "conclusion": conclusion,
        "limitations": {"scope": SCOPE, "missing_info": []},
    }
