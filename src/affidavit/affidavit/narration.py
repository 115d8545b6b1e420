"""What a person may see of a run while it works (L1; pure)

Steps, code-worded facts of READY calls, guard stops and the stages of the release. No draft, no
conclusion, no raw text: a progress observation is not a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import ValidationError

from affidavit.affidavit.timeline import stopping_guard
from affidavit.contract.evidence import Envelope
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.states import EvidenceStatus
from affidavit.progress.selection import SeenCall, select_facts

FACTS_SHOWN_MAX: Final = 3
"""Of one call, while the run works; the answer has its own bound, and the store has all of them."""


@dataclass(slots=True)
class Narrator:
    """Words each new line of one run; remembers which tool stands behind a call id."""

    _tools: dict[str, str] = field(default_factory=dict)

    def tell(self, entry: Entry, contents: Mapping[str, bytes]) -> tuple[str, ...]:
        """What to show for this line; nothing for lines that only an auditor needs."""
        return tuple(self._lines(entry, contents))

    def _lines(self, entry: Entry, contents: Mapping[str, bytes]) -> Iterator[str]:
        data = entry.data
        match entry.type:
            case EventType.TOOL_CALL_INTENDED | EventType.TOOL_CALL_REFUSED:
                self._tools[str(data["tool_call_id"])] = str(data["tool"])
                if entry.type is EventType.TOOL_CALL_REFUSED:
                    yield f"{self._call(data)}: not executed ({data['code']})"
            case EventType.TOOL_CALL_READY:
                yield from self._ready(data, contents)
            case EventType.TOOL_CALL_ERROR:
                yield f"{self._call(data)}: failed ({data['error_code']})"
            case EventType.GUARDS_CHECKED:
                stopped = stopping_guard(data)
                if stopped is not None:
                    yield f"guard {stopped[0]} stops the collection: {stopped[2] or stopped[1]}"
            case EventType.STEP_DECIDED:
                yield from _step(data)
            case _:
                yield from _stage(entry)

    def _call(self, data: Mapping[str, object]) -> str:
        key = str(data["tool_call_id"])
        return f"  {key} {self._tools.get(key, '')}".rstrip()

    def _ready(self, data: Mapping[str, object], contents: Mapping[str, bytes]) -> Iterator[str]:
        envelope = _envelope(contents.get(str(data["result_digest"])))
        if data["evidence_status"] == EvidenceStatus.NO_EVIDENCE:
            yield f"{self._call(data)}: nothing matched"
            return
        if envelope is None:
            yield f"{self._call(data)}: found something"
            return
        cut = ", cut" if data["truncated"] else ""
        number = len(envelope.facts)
        yield f"{self._call(data)}: {number} fact{'s' if number != 1 else ''}{cut}"
        selection = select_facts((SeenCall(str(data["tool_call_id"]), envelope),))
        for fact in selection.facts[:FACTS_SHOWN_MAX]:
            yield f"    {fact.text}"


def _envelope(result: bytes | None) -> Envelope | None:
    try:
        return None if result is None else Envelope.model_validate_json(result)
    except ValidationError:
        return None


def _step(data: Mapping[str, object]) -> Iterator[str]:
    calls = data["calls"]
    number = len(calls) if isinstance(calls, (list, tuple)) else 0
    if data["decision"] == "ACT" and number:
        yield f"step {data['step']}: {number} tool call{'s' if number > 1 else ''}"


def _stage(entry: Entry) -> Iterator[str]:
    """The stages between the agent's report and the answer."""
    data = entry.data
    match entry.type:
        case EventType.DRIVER_ACQUIRED if data["epoch"] != 1:
            yield "going on where the run was"
        case EventType.CANCEL_REQUESTED:
            yield "cancel requested"
        case EventType.STOP_NOTICE_GIVEN:
            yield "nothing new for some steps: the agent is told to conclude"
        case EventType.COLLECTION_ENDED:
            yield f"collection ended: {data['ending']}"
        case EventType.EVIDENCE_GUARD_INITIAL | EventType.EVIDENCE_GUARD_RECHECK:
            yield f"citations: {data['result']}, {data['violations']} violations{_codes(data)}"
        case EventType.EVIDENCE_REPAIR_ATTEMPT:
            yield f"repair of citations: {data['result']}"
        case EventType.SUPPORT_CHECK:
            yield f"support check: {data['result']}, {data['refusals']} refusals{_codes(data)}"
        case EventType.DRAFT_WITHDRAWAL_ATTEMPT:
            yield f"withdrawal: {data['result']}, {data['withdrawn']} sentences"
        case EventType.SEMANTIC_GUARD_DECISION:
            yield f"verdict: {data['verdict']}"
        case EventType.RELEASE_STOPPED:
            yield f"release stopped: {data['ending']}"
        case EventType.RELEASE_DECISION:
            yield f"decision {data['decision']}: {data['outcome']}"
        case _:
            pass


def _codes(data: Mapping[str, object]) -> str:
    codes = data["codes"]
    shown = ", ".join(map(str, codes)) if isinstance(codes, (list, tuple)) else ""
    return f" ({shown})" if shown else ""
