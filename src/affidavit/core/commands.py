"""Words from elsewhere, taken into a run's journal: cancel, pause, approve, reject, resolve (pure).

Anybody who can post to a store can post anything. So the driver believes nothing: a decision counts
only for an action that this run's own journal asked about, once, in its time, bound to the very
digest that was asked about, and by somebody who is neither the agent nor the requester (H10). What
does not count is on record as COMMAND_REFUSED with a code; nothing is ignored in silence.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from affidavit.contract.errors import PauseAsked
from affidavit.contract.journal import Event, EventType
from affidavit.core.fold import RunView
from affidavit.ports.store import Command

STOPPING: Final = "stopping"
"""What a pause says whose engine stops: another may go on at once."""

OUTCOMES: Final = ("done", "not-done")
"""What an operator may say of an effect whose outcome is unknown."""

REFUSALS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PAYLOAD_MALFORMED": "what was posted is no decision",
        "APPROVAL_UNKNOWN": "this run asked nobody about that call",
        "APPROVAL_DECIDED": "it was decided already; a decision counts once",
        "APPROVAL_MISMATCH": "the decision is about another action than the one that waits",
        "APPROVAL_EXPIRED": "its time is over",
        "APPROVER_UNNAMED": "a decision needs the name of the person who takes it",
        "APPROVER_IS_REQUESTER": "whoever asked for the run cannot approve what it does",
        "APPROVER_IS_AGENT": "an agent cannot approve what it wants to do",
        "OUTCOME_KNOWN": "the outcome of that call is not unknown",
        "OUTCOME_MALFORMED": "an effect was done or not-done",
    }
)
"""Why a word from elsewhere does not count: a stable code, and the sentence for it."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who wants the run: nobody of these may approve what it does."""

    requested_by: str
    agent: str


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What a batch of words becomes: lines, calls that no longer wait, and a pause if one asks."""

    events: tuple[Event, ...]
    answered: tuple[str, ...] = ()
    pause: PauseAsked | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's decision about one action."""

    tool_call_id: str
    action_digest: str
    by: str

    def payload(self) -> str:
        """The decision as it is posted; who takes it stands beside it."""
        return json.dumps({"tool_call_id": self.tool_call_id, "action_digest": self.action_digest})


def take_in(view: RunView, asker: Asker, commands: Iterable[Command], now_us: int) -> TakenIn:
    """The lines of these words, in order. Each word becomes a line, or asks for a pause."""
    events: list[Event] = []
    answered: list[str] = []
    resolved: set[str] = set()
    pause: PauseAsked | None = None
    for word in commands:
        match word.kind:
            case "cancel":
                events.append(Event(EventType.CANCEL_REQUESTED, {"by": word.by}))
            case "pause":
                stopping = word.payload == STOPPING
                pause = PauseAsked(STOPPING, now_us) if stopping else PauseAsked()
            case "wake":
                pass
            case "approve" | "reject":
                event = _decided(view, asker, word, now_us, frozenset(answered))
                if event.type is EventType.APPROVAL_DECIDED:
                    answered.append(str(event.data["tool_call_id"]))
                events.append(event)
            case "resolve":
                event = _resolved(view, asker, word, frozenset(resolved))
                if event.type is EventType.OUTCOME_RESOLVED:
                    resolved.add(str(event.data["tool_call_id"]))
                events.append(event)
    return TakenIn(tuple(events), tuple(answered), pause)


def _decided(
    view: RunView, asker: Asker, word: Command, now_us: int, answered: frozenset[str]
) -> Event:
    said = _read(word.payload, ("action_digest", "tool_call_id"))
    if said is None:
        return _refused(word, "PAYLOAD_MALFORMED")
    answer = Answer(said["tool_call_id"], said["action_digest"], word.by)
    code = refuse_answer(view, asker, answer, now_us)
    if code is None and answer.tool_call_id in answered:
        code = "APPROVAL_DECIDED"
    if code is not None:
        return _refused(word, code)
    data = {
        "tool_call_id": answer.tool_call_id,
        "decision": "approved" if word.kind == "approve" else "rejected",
        "action_digest": answer.action_digest,
        "by": word.by,
    }
    return Event(EventType.APPROVAL_DECIDED, data)


def refuse_answer(view: RunView, asker: Asker, answer: Answer, now_us: int) -> str | None:
    """Why that decision does not count, as a code of `REFUSALS`, or None: it does."""
    call = view.calls.get(answer.tool_call_id)
    if call is None or call.approval is None:
        return "APPROVAL_UNKNOWN"
    if not call.waits_for_approval:
        return "APPROVAL_DECIDED"
    if answer.action_digest != call.approval.action_digest:
        return "APPROVAL_MISMATCH"
    if now_us > call.approval.expires_us:
        return "APPROVAL_EXPIRED"
    return refuse_person(asker, answer.by, may_request=False)


def refuse_person(asker: Asker, by: str, *, may_request: bool) -> str | None:
    """Why nobody of that name may say it, as a code of `REFUSALS`, or None."""
    name = _plain(by)
    if not name:
        return "APPROVER_UNNAMED"
    if name == _plain(asker.agent):
        return "APPROVER_IS_AGENT"
    if name == _plain(asker.requested_by) and not may_request:
        return "APPROVER_IS_REQUESTER"
    return None


def refuse_outcome(view: RunView, asker: Asker, tool_call_id: str, by: str) -> str | None:
    """Why that outcome cannot be recorded, as a code of `REFUSALS`, or None: it can."""
    call = view.calls.get(tool_call_id)
    if call is None or not call.is_unresolved:
        return "OUTCOME_KNOWN"
    return refuse_person(asker, by, may_request=True)


def _resolved(view: RunView, asker: Asker, word: Command, resolved: frozenset[str]) -> Event:
    said = _read(word.payload, ("outcome", "tool_call_id"))
    if said is None:
        return _refused(word, "PAYLOAD_MALFORMED")
    if said["outcome"] not in OUTCOMES:
        return _refused(word, "OUTCOME_MALFORMED")
    code = refuse_outcome(view, asker, said["tool_call_id"], word.by)
    if code is None and said["tool_call_id"] in resolved:
        code = "OUTCOME_KNOWN"
    if code is not None:
        return _refused(word, code)
    data = {"tool_call_id": said["tool_call_id"], "outcome": said["outcome"], "by": word.by}
    return Event(EventType.OUTCOME_RESOLVED, data)


def _refused(word: Command, code: str) -> Event:
    data = {"kind": word.kind, "by": word.by, "code": code}
    return Event(EventType.COMMAND_REFUSED, data)


def _read(payload: str, fields: tuple[str, ...]) -> Mapping[str, str] | None:
    """The object with exactly these text fields, or None."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or sorted(value) != sorted(fields):
        return None
    return value if all(isinstance(item, str) for item in value.values()) else None


def _plain(name: str) -> str:
    """The name as two people would compare it: no look-alike forms, case or spaces."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())
