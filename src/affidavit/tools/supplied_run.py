"""Writing a supplied answer down as a run: its calls, its draft, the end of its collection (C12).

The calls go through the ledger writer's stages like any other, and every one of them says
`supplied`; there is no other provenance here to say (N18). All of it is one append: either the
whole answer is on record, or none of it, and then it can be written again.

A call whose id no citation could ever name is refused under an id of ours: coverage shows it, and
what cites it is refused by the guard.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from affidavit.contract.agent import Ending
from affidavit.contract.evidence import Envelope
from affidavit.contract.ids import is_call_id
from affidavit.contract.journal import Event, EventType
from affidavit.contract.states import AgentStatus, InvocationStatus, Provenance
from affidavit.core.canonical import NotCanonical, canonical_json, digest
from affidavit.core.pen import Stage
from affidavit.core.run import Run
from affidavit.ledger.snapshot import LedgerSnapshot, StoredCall
from affidavit.ledger.writer import CallHeader, Written, fail, intend, project, refuse, settle
from affidavit.ports.store import Artifact
from affidavit.tools.supplied import SuppliedCall

ILL_NAMED: Final = "TOOL_CALL_ID_MALFORMED"
"""Why a call is refused that nobody could cite."""


@dataclass(frozen=True, slots=True)
class SuppliedAnswer:
    """Somebody's answer: its calls as they came and as they were read, and its draft as bytes.

    `ledger` is `supplied_ledger` of these calls. `draft` may be anything; whether it is a draft,
    the release says.
    """

    calls: tuple[SuppliedCall, ...]
    ledger: LedgerSnapshot
    draft: bytes


async def record_supplied(run: Run, answer: SuppliedAnswer) -> None:
    """The run holds the answer, and its collection has ended; nothing is written twice.

    The run's status is DIAGNOSIS_RUNNING already. Raises RecordFailed, and then nothing of it was
    written.
    """
    if run.view.is_collected:
        return
    written = [*_asked(answer), *_concluded(answer)]
    events = tuple(event for item in written for event in item.events)
    artifacts = {kept.digest: kept for item in written for kept in item.artifacts}
    await run.record(Stage(events, tuple(artifacts.values())))


def _asked(answer: SuppliedAnswer) -> Iterator[Written]:
    """One step that asks for every call, and each call's life; nothing where there is no call."""
    if not answer.calls:
        return
    keys = _keys(answer.calls)
    asked = [{"tool": call.tool, "arguments": call.arguments} for call in answer.calls]
    yield _decided(1, "ACT", _plain_json({"calls": asked, "note": ""}), tuple(keys))
    for key, call in keys.items():
        yield from _life(key, call, answer.ledger.calls[call.id])


def _concluded(answer: SuppliedAnswer) -> Iterator[Written]:
    """The last step hands over the draft, or whatever stands where one should."""
    yield _decided(2 if answer.calls else 1, "CONCLUDE", answer.draft, ())
    readable = answer.draft.lstrip()[:1] == b"{"
    ended = {
        "ending": str(Ending.CONCLUDED if readable else Ending.UNREADABLE),
        "agent_status": str(AgentStatus.DONE),
        "stop_reason": None,
        "draft_digest": digest(answer.draft),
    }
    yield Written((Event(EventType.COLLECTION_ENDED, ended),))


def _decided(step: int, decision: str, content: bytes, calls: tuple[str, ...]) -> Written:
    """A step. No guard stands before it: nothing is spent, and nothing executed."""
    checked = {"step": step, "moment": "BEFORE_THINKING", "verdicts": ()}
    address = digest(content)
    decided = {"step": step, "decision": decision, "digest": address, "calls": calls}
    return Written(
        (Event(EventType.GUARDS_CHECKED, checked), Event(EventType.STEP_DECIDED, decided)),
        (Artifact(address, "decision", content),),
    )


def _keys(calls: tuple[SuppliedCall, ...]) -> dict[str, SuppliedCall]:
    """The calls by the id under which they stand: their own, or one of ours that nobody uses."""
    taken = {call.id for call in calls}
    keys: dict[str, SuppliedCall] = {}
    for number, call in enumerate(calls, start=1):
        key = call.id
        if not is_call_id(key):
            key = f"unnamed_{number}"
            while key in taken or key in keys:
                key += "_"
        keys[key] = call
    return keys


def _life(key: str, call: SuppliedCall, stored: StoredCall) -> Iterator[Written]:
    """What the ledger writer has to say of one call, in order."""
    record = stored.record
    if key != call.id:
        yield refuse(1, key, record.tool, ILL_NAMED)
        return
    header = CallHeader(
        step=1,
        tool_call_id=key,
        tool=record.tool,
        arguments=_canonical(call.arguments),
        scope=record.scope,
        evidence_class=record.evidence_class,
        provenance=Provenance.SUPPLIED,
    )
    yield intend(header, 1)
    yield project(key, _plain_json(call.error if call.result is None else call.result))
    if record.status is InvocationStatus.READY and stored.result is not None:
        yield settle(key, Envelope.model_validate_json(stored.result))
    else:
        yield fail(key, record.error_code or "SUPPLIED_ERROR")


def _canonical(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Arguments as the private request keeps them: as they are, or where they hold what canonical
    JSON does not know (a fraction, a key that is not ASCII), as one JSON text."""
    try:
        canonical_json(arguments)
    except NotCanonical:
        return {"json": _plain_json(arguments).decode("ascii")}
    return arguments


def _plain_json(value: object) -> bytes:
    """A private artifact's JSON; a decimal is the text that it was."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str).encode("ascii")
