"""What is told of one call: its whole projection, its index line, or a word among many (K10; pure).

    in full      the projection, fenced
    index line   tool_call_id, tool, status; scope, count and first fact, fenced
    index        one line a call in one fence: what survives where even index lines find no room

What is told of a call never changes, whoever asks; so a request of the same state has the same
bytes. Nothing here is evidence: a report cites the record itself, which is never compressed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from affidavit.contract.agent import Observation, ObservationKind
from affidavit.contract.evidence import Envelope
from affidavit.contract.record import format_instant
from affidavit.models.fencing import fence
from affidavit.progress.selection import SeenCall, select_facts

INDEX_CHARS_MAX: Final = 400
"""One line of the index; a fact itself has at most 320 characters."""

QUERY_CHARS_MAX: Final = 60
"""Of what was asked, on a line of the index: enough to tell one question from the next."""


def in_full(item: Observation) -> str:
    """The whole projection, fenced; or the code that says why there is none."""
    if item.envelope is None:
        return _without_result(item)
    label = f"{item.tool_call_id} {item.tool} {item.kind}"
    return f"tool_call_id: {item.tool_call_id}\n{fence(_compact(item.envelope), label)}"


def index_line(item: Observation) -> str:
    """What survives of a call when its result has to make room (K10)."""
    if item.envelope is None:
        return _without_result(item)
    envelope, first = item.envelope, _first_fact(item.tool_call_id, item.envelope)
    says = json.dumps(
        {"scope": _scope(envelope), "count": envelope.count, "first_fact": first},
        sort_keys=True,
        ensure_ascii=False,
    )
    label = f"{item.tool_call_id} {item.tool} {item.kind} shortened"
    return f"tool_call_id: {item.tool_call_id}\n{fence(says[:INDEX_CHARS_MAX], label)}"


def index_of(items: Sequence[Observation], fact_chars: int) -> str:
    """One line a call: tool_call_id, tool, status, scope, and so much of its first fact."""
    lines = "\n".join(_entry(item, fact_chars) for item in items)
    said = "Index of the first calls; their records stand, and are cited by tool_call_id:"
    return f"{said}\n{fence(lines, f'index of {len(items)} calls')}"


def _entry(item: Observation, fact_chars: int) -> str:
    named = f"{item.tool_call_id or 'refused'} {item.tool} {item.kind}"
    if item.envelope is None:
        return f"{named} {item.code or 'UNKNOWN'}"
    scope = item.envelope.scope
    window = scope.window
    words = [
        scope.service or "",
        "" if window is None else f"{format_instant(window.start)}/{format_instant(window.end)}",
        scope.query[:QUERY_CHARS_MAX],
        _first_fact(item.tool_call_id, item.envelope)[:fact_chars],
    ]
    told = "; ".join(" ".join(word.split()) for word in words if word)
    return f"{named} {told}"


def _first_fact(tool_call_id: str | None, envelope: Envelope) -> str:
    facts = select_facts((SeenCall(tool_call_id or "", envelope),)).facts
    return facts[0].text if facts else f"{envelope.count} items"


def _without_result(item: Observation) -> str:
    code = item.code or "UNKNOWN"
    if item.kind is ObservationKind.REFUSED:
        return f"refused, not executed: {code}"
    return f"tool_call_id: {item.tool_call_id}\nfailed: {code}; this is no evidence"


def _compact(envelope: Envelope) -> str:
    """The projection as JSON, without what is the same in every one of them."""
    shown = envelope.model_dump(mode="json", exclude_none=True, exclude=_LEFT_OUT)
    for name in [name for name in _OPTIONAL if not shown.get(name)]:
        shown.pop(name, None)
    shown["scope"] = _scope(envelope)
    return json.dumps(shown, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


_LEFT_OUT: Final = {"observed_at", "uncertainty_s", "source", "scope"}
"""Left out of the projection as it is told; the scope is written anew."""

_OPTIONAL: Final = ("truncated", "notes")
"""Said only where there is something to say."""


def _scope(envelope: Envelope) -> Mapping[str, object]:
    """The scope, without the tenant: it is nobody's business but the framework's."""
    scope = envelope.scope.model_dump(mode="json", exclude_none=True)
    return {key: value for key, value in scope.items() if key != "tenant"}
