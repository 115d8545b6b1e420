"""A run as a person reads it: each gate that it passed, and why (A2; pure)

One line of the journal is one line here: its number, when, its kind with the word that matters
(`EVIDENCE_GUARD_INITIAL=PASSED violations=0`), and what that means. Nothing here holds a payload,
because the journal holds none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

from affidavit.contract.agent import Ending
from affidavit.contract.decisions import DECISIONS, DecisionId
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.record import format_instant

_Data = Mapping[str, object]
_Say = Callable[[_Data], str]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

LEADING: Final[Mapping[EventType, str]] = MappingProxyType(
    {
        EventType.ROUTING_DECISION: "intent",
        EventType.STATUS_CHANGED: "status",
        EventType.COMMAND_REFUSED: "code",
        EventType.STEP_DECIDED: "decision",
        EventType.APPROVAL_DECIDED: "decision",
        EventType.TOOL_CALL_READY: "evidence_status",
        EventType.TOOL_CALL_ERROR: "error_code",
        EventType.TOOL_CALL_REFUSED: "code",
        EventType.TOOL_CALL_LATE: "outcome",
        EventType.OUTCOME_RESOLVED: "outcome",
        EventType.STOP_NOTICE_GIVEN: "reason",
        EventType.COLLECTION_ENDED: "ending",
        EventType.MODEL_CALL_REFUSED: "code",
        EventType.MODEL_ATTEMPT: "result",
        EventType.EVIDENCE_GUARD_INITIAL: "result",
        EventType.EVIDENCE_REPAIR_ATTEMPT: "result",
        EventType.EVIDENCE_GUARD_RECHECK: "result",
        EventType.SUPPORT_CHECK: "result",
        EventType.DRAFT_WITHDRAWAL_ATTEMPT: "result",
        EventType.SEMANTIC_GUARD_ATTEMPT: "result",
        EventType.SEMANTIC_GUARD_DECISION: "verdict",
        EventType.RELEASE_STOPPED: "ending",
        EventType.RELEASE_DECISION: "outcome",
        EventType.RUN_ENDED: "run_state",
    }
)
"""The field that says what a line of that kind says; it stands behind the kind."""

SHOWN: Final = (
    *("step", "tool_call_id", "of", "tool", "attempt", "agent", "judge", "model", "purpose"),
    *("count", "total", "truncated", "violations", "refusals", "withdrawn", "sentences", "codes"),
    *("call", "input_bytes", "reserved_tokens", "reserved_micros", "needed_tokens"),
    *("tokens_in", "tokens_out", "micros", "counted"),
    *("decision", "fallback_type", "failure_code", "agent_status", "stop_reason"),
    *("kind", "by", "holder", "epoch", "reason", "slept_ms", "expires_us", "version"),
)
"""Further fields, in this order; every other one, digests above all, is for the journal alone."""


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """One line of a run: its number, when, what happened, and what that means."""

    seq: int
    at: str
    elapsed_ms: int
    mark: str
    says: str


def write_timeline(journal: Sequence[Entry]) -> tuple[TimelineLine, ...]:
    """The journal, line by line."""
    started_us = journal[0].at_us if journal else 0
    return tuple(
        TimelineLine(
            seq=entry.seq,
            at=format_instant(_EPOCH + timedelta(microseconds=entry.at_us)),
            elapsed_ms=(entry.at_us - started_us) // 1000,
            mark=mark_of(entry),
            says=_SAYS[entry.type](entry.data),
        )
        for entry in journal
    )


def mark_of(entry: Entry) -> str:
    """The line's kind and fields, as one reads them in a log."""
    if entry.type is EventType.GUARDS_CHECKED:
        return _guards_mark(entry.data)
    leading = LEADING.get(entry.type)
    kind = f"{entry.type}={entry.data[leading]}" if leading else str(entry.type)
    return " ".join((kind, *_fields(entry.data, leading)))


def _guards_mark(data: _Data) -> str:
    stopped = stopping_guard(data)
    word = f"STOPPED guard={stopped[0]} status={stopped[1]}" if stopped else "PASSED"
    return f"{EventType.GUARDS_CHECKED}={word} step={data['step']}"


def stopping_guard(data: _Data) -> tuple[str, str, str] | None:
    """Name, status and reason of the guard that stopped the run on this line, or None."""
    for verdict in _verdicts(data):
        if verdict[1] != "PASS":
            return verdict
    return None


def _verdicts(data: _Data) -> Iterator[tuple[str, str, str]]:
    verdicts = data["verdicts"]
    for item in verdicts if isinstance(verdicts, (list, tuple)) else ():
        name, word, reason = item
        yield str(name), str(word), str(reason)


def _fields(data: _Data, leading: str | None) -> Iterator[str]:
    for field in SHOWN:
        value = data.get(field)
        if field == leading or value is None or value is False or value in ("", (), []):
            continue
        shown = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        yield f"{field}={shown}"


def _says(text: str) -> _Say:
    return lambda _: text


def _choose(field: str, texts: Mapping[str, str], other: str = "") -> _Say:
    return lambda data: texts.get(str(data[field]), other)


def _step(data: _Data) -> str:
    calls = data["calls"]
    number = len(calls) if isinstance(calls, (list, tuple)) else 0
    match data["decision"]:
        case "ACT":
            return f"the agent asks {number} tool{'s' if number != 1 else ''}"
        case "CONCLUDE":
            return "the agent hands over its report"
        case _:
            return "the agent gives up"


def _guards(data: _Data) -> str:
    stopped = stopping_guard(data)
    if stopped is not None:
        return f"the {stopped[0]} guard ends the collection: {stopped[2]}"
    return f"may the next step happen? {', '.join(name for name, _, _ in _verdicts(data))}"


def _decision(data: _Data) -> str:
    return DECISIONS[DecisionId(str(data["decision"]))].meaning


_GUARD: Final = _choose(
    "result",
    {
        "PASSED": "every citation was read back from this run's ledger",
        "FAILED": "a citation is not what this run recorded",
    },
)

_ENDINGS: Final[Mapping[str, str]] = {
    Ending.CONCLUDED: "the agent's part is over",
    Ending.GAVE_UP: "the agent's part is over, without a conclusion",
    Ending.UNREADABLE: "what the agent wrote is no report",
    Ending.PROTOCOL_VIOLATED: "the agent went on after it was told to conclude",
    Ending.LOOP_DETECTED: "the agent went round in circles",
    Ending.BUDGET_EXHAUSTED: "the budget is spent",
    Ending.TIMED_OUT: "the time is over",
    Ending.CANCELLED: "somebody cancelled the run",
    Ending.NO_MODEL_LEFT: "every model failed, or is not asked now",
    Ending.INTERNAL_FAILURE: "something of ours broke",
    Ending.REPLIED: "one of the fixed replies was chosen",
    Ending.UNROUTED: "nothing says which branch the request takes",
}

_SAYS: Final[Mapping[EventType, _Say]] = MappingProxyType(
    {
        EventType.RUN_STARTED: _says("the run exists; nothing was executed yet"),
        EventType.ROUTING_DECISION: _choose(
            "intent",
            {
                "DIAGNOSIS": "the request asks why something fails",
                "SYSTEM_CHAT": "the request asks about the system itself",
                "KNOWLEDGE": "the request asks what the indexed pages say",
            },
            "no branch was found for the request, and none is guessed",
        ),
        EventType.STATUS_CHANGED: _choose(
            "status",
            {
                "ROUTING": "finding the branch",
                "SYSTEM_RESPONDING": "choosing the fixed reply",
                "KNOWLEDGE_SEARCHING": "searching the indexed pages",
                "KNOWLEDGE_ANSWERING": "quoting what was found",
                "DIAGNOSIS_RUNNING": "collecting evidence",
                "SAFETY_VALIDATING": "checking what may be published",
            },
        ),
        EventType.DRIVER_ACQUIRED: _says("this process drives the run, and no other"),
        EventType.CANCEL_REQUESTED: _says("somebody asked to cancel"),
        EventType.RUN_PAUSED: _says("the run waits; `affidavit runs resume` goes on"),
        EventType.RUN_RESUMED: _says("the run goes on where it was"),
        EventType.COMMAND_REFUSED: _says("a word from elsewhere that did not count"),
        EventType.GUARDS_CHECKED: _guards,
        EventType.CALLS_CHECKED: _says("may these calls be executed?"),
        EventType.STEP_DECIDED: _step,
        EventType.APPROVAL_REQUESTED: _says("a person has to decide about exactly this action"),
        EventType.APPROVAL_DECIDED: _says("a person decided about exactly this action"),
        EventType.TOOL_CALL_INTENDED: _says("the call is about to run"),
        EventType.TOOL_CALL_PROJECTING: _says("its raw answer is kept, and shown to nobody"),
        EventType.TOOL_CALL_READY: _choose(
            "evidence_status",
            {
                "EVIDENCE_FOUND": "something was found; it may be cited",
                "NO_EVIDENCE": "nothing matched; that may be cited as a scoped absence",
            },
        ),
        EventType.TOOL_CALL_ERROR: _says("the call failed; it is evidence of nothing"),
        EventType.TOOL_CALL_REFUSED: _says("the call was not executed"),
        EventType.TOOL_CALL_REUSED: _says("an equal, earlier call answers"),
        EventType.TOOL_CALL_LATE: _says(
            "it ended when nobody waited any more, and counts for nothing"
        ),
        EventType.OUTCOME_RESOLVED: _says("an operator recorded what became of the effect"),
        EventType.STOP_NOTICE_GIVEN: _says("looking further stopped paying; one turn to conclude"),
        EventType.COLLECTION_ENDED: _choose("ending", _ENDINGS),
        EventType.MODEL_CALL_INTENDED: _says("tokens are held back for one call of a model"),
        EventType.MODEL_CALL_REFUSED: _says("there was no room for the call; it was not made"),
        EventType.MODEL_ATTEMPT: _says("a model was asked"),
        EventType.EVIDENCE_GUARD_INITIAL: _GUARD,
        EventType.EVIDENCE_REPAIR_ATTEMPT: _choose(
            "result",
            {"APPLIED": "ids were set, and no word was changed"},
            "the citations were not repaired",
        ),
        EventType.EVIDENCE_GUARD_RECHECK: _GUARD,
        EventType.SUPPORT_CHECK: _choose(
            "result",
            {
                "PASSED": "the cited facts carry every sentence",
                "UNPROVED": "some words are licensed by nothing cited; the judge has to say",
                "REFUTED": "the cited facts contradict the report",
            },
        ),
        EventType.DRAFT_WITHDRAWAL_ATTEMPT: _choose(
            "result",
            {
                "WITHDRAWN": "the author takes back what nothing recorded proves; the rest is "
                "checked again",
                "DECLINED": "the author takes nothing back",
                "UNAVAILABLE": "there is no author who could take anything back",
            },
            "the author's answer counts for nothing; nothing was taken back",
        ),
        EventType.SEMANTIC_GUARD_ATTEMPT: _says("a judge was asked"),
        EventType.SEMANTIC_GUARD_DECISION: _choose(
            "verdict",
            {
                "SUPPORTED": "the facts support the conclusion",
                "UNSUPPORTED": "the facts do not support the conclusion",
            },
        ),
        EventType.RELEASE_STOPPED: _choose("ending", _ENDINGS),
        EventType.RELEASE_DECISION: _decision,
        EventType.RUN_ENDED: _says("answer, end and file were one append"),
    }
)
