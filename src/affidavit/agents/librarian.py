"""The librarian: answers a question by quoting the indexed pages, or says that none match (I2).

Deterministic, and no model: one search, then quotations. So nothing is answered from anybody's
memory, no passage can talk an author into anything, and each sentence is proved by comparing
characters. Deliberately absent: a summary in words of its own.
"""

from __future__ import annotations

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
            return Conclude(quote(found))
        case ObservationKind.EMPTY:
            return Conclude(nothing_matched(found))
        case _:
            return GiveUp("the indexed pages could not be searched")


def quote(found: Observation) -> Mapping[str, object]:
    """A draft that quotes the best passages. One in which a secret was masked is not quoted: what
    the page says there is not known."""
    lines = () if found.envelope is None else found.envelope.facts
    passages = [item for item in lines if isinstance(item, Line) and not holds_mask(item.text)]
    call = found.tool_call_id or ""
    sentences = [_quotation(passage, call) for passage in passages[:QUOTED_MAX]]
    if not sentences:
        return _draft((), None)
    analyses = [
        {"id": f"A{place}", "kind": "NORMAL", "sentences": [sentence], "tool_call_ids": [call]}
        for place, sentence in enumerate(sentences, start=1)
    ]
    conclusion = {"sentences": sentences[:1], "based_on_analysis_ids": ["A1"]}
    return _draft(analyses, conclusion)


def _quotation(passage: Line, call: str) -> Mapping[str, object]:
    statement = {"kind": "quote", "text": passage.text, "tool_call_id": call}
    return {
        "text": f"The knowledge page {passage.subject} says: “{passage.text}”",
        "tool_call_ids": [call],
        "statements": [statement],
    }


def nothing_matched(found: Observation) -> Mapping[str, object]:
    """A draft that concludes nothing: within the indexed pages, nothing matched (G9)."""
    call = found.tool_call_id or ""
    sentence = {
        "text": "No indexed page matched the question.",
        "tool_call_ids": [call],
        "statements": [{"kind": "absence", "tool_call_id": call}],
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
