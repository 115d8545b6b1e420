"""Re-checking a file's answer against its journal: states, decision, calls, counts (A5; pure)

Each function raises `Broken` at the first thing that does not hold, and says nothing otherwise.
What the words of the answer rest on is for `evidence_checks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from affidavit.affidavit.document import CitedCall, Document
from affidavit.affidavit.implied import NothingImplied, Seen, implied_decision
from affidavit.affidavit.journal_checks import Broken, line_at
from affidavit.affidavit.seal import cited_calls, source_of, withdrawn_sentences
from affidavit.contract.agent import Ending
from affidavit.contract.decisions import DECISIONS, DecisionId, failure_code_of
from affidavit.contract.evidence import Envelope
from affidavit.contract.journal import EventType
from affidavit.contract.report import CoverageLine, ReleaseRecord, SystemReply
from affidavit.contract.states import (
    AGENT_RUN_STATES,
    AGENT_STOP_REASONS,
    AgentStatus,
    DiagnosisStopReason,
    EvidenceStatus,
    Provenance,
    ReleaseOutcome,
)
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.fold import RunView, fold
from affidavit.release.replies import REPLIES


def check_request(document: Document) -> None:
    """The question is the one that the journal's first line names by its digest."""
    request, release, first = document.request, document.release, document.journal[0].data
    if digest(canonical_json(request.model_dump(mode="json"))) != first["request_digest"]:
        raise Broken("/request", "it is not the request that this run began with")
    same = (
        request.run_id == release.run_id
        and request.tenant == release.tenant == first["tenant"]
        and request.question == release.question
        and request.limits.model_dump(mode="json") == first["limits"]
    )
    if not same:
        raise Broken("/release/question", "answer, request and first line are not of one run")


def check_release_digest(document: Document) -> None:
    """The journal decided on exactly this answer."""
    content = canonical_json(document.release.model_dump(mode="json"))
    if digest(content) != document.journal[-2].data["release_digest"]:
        raise Broken("/release", "it is not the answer whose digest the decision names")


def check_calls(document: Document) -> None:
    """Each call in the file is READY in the journal with this projection; none is missing."""
    view = fold(document.journal)
    numbers = Counter(call.tool_call_id for call in document.calls)
    for place, call in enumerate(document.calls):
        if numbers[call.tool_call_id] > 1:
            raise Broken(f"/calls/{place}", f"{call.tool_call_id} stands twice")
        _check_call(place, call, document, view)
    needed = set(cited_calls(document.release))
    for key in needed:
        if document.call(key) is None:
            raise Broken("/calls", f"{key} is cited and is not in the file")
    fallback = document.release.fallback
    listed = set(fallback.verified_sources) if fallback is not None else set()
    for place, call in enumerate(document.calls):
        if call.tool_call_id not in needed and source_of(envelope_of(call)) not in listed:
            raise Broken(f"/calls/{place}", "nothing in the answer rests on it")


def envelope_of(call: CitedCall) -> Envelope:
    """The projection of a call in the file. Raises ValueError when it is none."""
    return Envelope.model_validate_json(call.result)


def _check_call(place: int, call: CitedCall, document: Document, view: RunView) -> None:
    known = view.calls.get(call.tool_call_id)
    ready = next(
        (
            entry.data
            for entry in document.journal
            if entry.type is EventType.TOOL_CALL_READY
            and entry.data["tool_call_id"] == call.tool_call_id
        ),
        None,
    )
    if known is None or ready is None:
        raise Broken(f"/calls/{place}", f"{call.tool_call_id} is not READY in the journal")
    if digest(call.result) != ready["result_digest"]:
        raise Broken(f"/calls/{place}/result", "it is not the projection that was recorded")
    if known.tool != call.tool:
        raise Broken(f"/calls/{place}/tool", "the journal names another tool")
    envelope = envelope_of(call)
    for field in ("count", "total", "truncated"):
        if getattr(envelope, field) != ready[field]:
            raise Broken(f"/calls/{place}/result/{field}", "the journal says otherwise")


def check_states(document: Document) -> None:
    """Row, run state, outcome, status and stop reason may stand together (E17, E18)."""
    release = document.release
    row, view = DECISIONS[release.decision], fold(document.journal)
    fallback_type = release.fallback.type if release.fallback else None
    stage = release.fallback.failure_stage if release.fallback else None
    agreements = (
        ("run_state", release.run_state in row.run_states),
        ("outcome", release.outcome is row.outcome),
        ("failure_code", release.failure_code is failure_code_of(row, view.intent)),
        ("fallback", (fallback_type, stage) == (row.fallback, row.stage)),
        ("result", (release.result is not None) == (row.id in _REPORTED)),
        ("reply", (release.reply is not None) == (row.id is DecisionId.S1)),
        ("reply/text", release.reply is None or release.reply.text == _fixed(release.reply)),
        ("agent_status", release.run_state in AGENT_RUN_STATES[release.agent_status]),
        ("stop_reason", release.stop_reason in AGENT_STOP_REASONS[release.agent_status]),
    )
    for field, agrees in agreements:
        if not agrees:
            raise Broken(f"/release/{field}", f"{release.decision} has none such")
    _check_last_lines(document)
    _check_status(document)


def _fixed(reply: SystemReply) -> str:
    """The text that a reply of this topic has; nobody else words one (I3)."""
    return REPLIES[reply.topic, reply.language]


def _check_last_lines(document: Document) -> None:
    """The last two lines say of the answer what the answer says of itself."""
    release, last = document.release, len(document.journal) - 1
    decided = {
        "decision": str(release.decision),
        "outcome": str(release.outcome),
        "fallback_type": release.fallback and str(release.fallback.type),
        "failure_code": release.failure_code and str(release.failure_code),
    }
    ended = {
        "run_state": str(release.run_state),
        "agent_status": str(release.agent_status),
        "stop_reason": release.stop_reason and str(release.stop_reason),
    }
    for place, said in ((last - 1, decided), (last, ended)):
        for field, value in said.items():
            if document.journal[place].data[field] != value:
                raise Broken(f"{line_at(place)}/data/{field}", "the answer says otherwise")


_REPORTED: Final = frozenset(
    row.id
    for row in DECISIONS.values()
    if row.outcome is ReleaseOutcome.SUCCESS and row.id is not DecisionId.S1
)
"""Rows that publish a report; S1 has its fixed reply instead."""

_Ends = frozenset[tuple[AgentStatus, DiagnosisStopReason | None]]

_SPENT: Final = DiagnosisStopReason.BUDGET_LIMIT_REACHED
_STOPPED_ENDS: Final[Mapping[Ending, _Ends]] = MappingProxyType(
    {
        Ending.CANCELLED: frozenset({(AgentStatus.CANCELLED, None)}),
        Ending.TIMED_OUT: frozenset({(AgentStatus.TIMEOUT, _SPENT)}),
        Ending.BUDGET_EXHAUSTED: frozenset(
            {(AgentStatus.BUDGET_EXCEEDED, _SPENT), (AgentStatus.MAX_ITERATIONS, _SPENT)}
        ),
        Ending.INTERNAL_FAILURE: frozenset({(AgentStatus.FAILED, None)}),
    }
)
"""How a loop has ended whose release was stopped: a stop names itself (L4, N5)."""


def _check_status(document: Document) -> None:
    """How the loop ended is what the collection's last line says, or the stop that came after."""
    release, view = document.release, fold(document.journal)
    said = (release.agent_status, release.stop_reason)
    if view.release_stopped is not None:
        holds = said in _STOPPED_ENDS.get(view.release_stopped, frozenset())
    elif release.decision is DecisionId.D15:
        holds = said == (AgentStatus.FAILED, None)
    else:
        holds = said == (view.agent_status, view.stop_reason)
    if not holds:
        raise Broken("/release/agent_status", "the journal says that the loop ended otherwise")


def check_decision(document: Document) -> None:
    """The recorded row is the one that the journal's lines imply (section 10, L8)."""
    release = document.release
    fallback = release.fallback
    seen = Seen(
        facts=bool(fallback and fallback.observed_facts),
        asks=bool(fallback and fallback.asked_for),
    )
    if release.decision in _FROM_SNAPSHOT:
        seen = Seen(facts=False, asks=False)
    try:
        implied = implied_decision(document.journal, seen)
    except NothingImplied as error:
        raise Broken("/journal", str(error)) from None
    if release.decision not in implied:
        rows = " or ".join(sorted(implied))
        raise Broken("/release/decision", f"the journal implies {rows}, not {release.decision}")


_FROM_SNAPSHOT: Final = frozenset({DecisionId.D3, DecisionId.D4, DecisionId.D5})
"""Rows whose facts decide nothing."""


def check_provenance(document: Document) -> None:
    """No supplied call stands in an answer that calls itself recorded (C12, N18)."""
    supplied = [
        place for place, call in enumerate(document.calls) if call.provenance is Provenance.SUPPLIED
    ]
    if supplied and document.release.provenance is Provenance.RECORDED:
        raise Broken(f"/calls/{supplied[0]}/provenance", "the answer calls itself recorded")


def check_counts(document: Document) -> None:
    """Usage and coverage count the calls and steps that the journal holds, within the limits."""
    view, release = fold(document.journal), document.release
    limits = document.request.limits
    counted = {
        "iterations": len(view.steps),
        "tool_calls": view.reserved_calls,
        "attempts": sum(call.attempts for call in view.calls.values()) + view.spend.calls,
        "tokens": view.spend.committed.tokens,
        "money_micro": view.spend.committed.micros if view.spend.calls else None,
    }
    for field, number in counted.items():
        if getattr(release.usage, field) != number:
            raise Broken(f"/release/usage/{field}", f"the journal holds {number}")
    over = view.spend.committed.tokens > limits.tokens and not view.spend.overruns
    if over or len(view.steps) > limits.iterations or view.reserved_calls > limits.tool_calls:
        raise Broken("/release/usage", "more was spent than the limits of the run allow")
    _check_coverage(release, view)
    _check_withdrawn(document)


def _check_coverage(release: ReleaseRecord, view: RunView) -> None:
    executed = [call for call in view.calls.values() if call.attempts]
    found = sum(call.evidence_status == EvidenceStatus.EVIDENCE_FOUND for call in executed)
    empty = sum(call.evidence_status == EvidenceStatus.NO_EVIDENCE for call in executed)
    lines = release.coverage.lines
    if _calls(lines, "consulted") > found or _calls(lines, "empty") > empty:
        raise Broken("/release/coverage", "more results are said to be there than were READY")
    if sum(line.calls for line in lines) != len(executed):
        raise Broken("/release/coverage", f"the journal holds {len(executed)} executed calls")


def _check_withdrawn(document: Document) -> None:
    """A report says how many sentences its author took back, as the journal does (M6)."""
    report = document.release.result
    if report is None:
        return
    lines = [e for e in document.journal if e.type is EventType.DRAFT_WITHDRAWAL_ATTEMPT]
    taken = sum(len(withdrawn_sentences(entry)) for entry in lines)
    said = [entry.data["withdrawn"] for entry in lines]
    if report.withdrawn != taken or sum(item for item in said if isinstance(item, int)) != taken:
        raise Broken("/release/result/withdrawn", f"the journal holds {taken}")


def _calls(lines: tuple[CoverageLine, ...], status: str) -> int:
    return sum(line.calls for line in lines if line.status == status)
