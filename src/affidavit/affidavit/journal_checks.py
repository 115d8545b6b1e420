"""Re-checking a file's journal by itself: chain, lines, ending, lives of calls (A4, E2; pure)

Each function raises `Broken` at the first thing that does not hold, and says nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from affidavit.affidavit.document import Document
from affidavit.affidavit.integrity import Opened
from affidavit.affidavit.timeline import stopping_guard
from affidavit.contract.agent import Ending, Moment
from affidavit.contract.journal import EVENT_FIELDS, Entry, EventType
from affidavit.contract.states import (
    BRANCH_STATUSES,
    CHAT_MOVES,
    EVIDENCE_OF,
    ChatApplicationStatus,
    EvidenceStatus,
    IntentType,
    InvocationStatus,
)


class Broken(Exception):
    """Something in a file does not hold: a JSON pointer to it, and one plain sentence."""

    def __init__(self, pointer: str, says: str) -> None:
        super().__init__(f"{pointer}: {says}")
        self.pointer = pointer
        self.says = says


def line_at(place: int) -> str:
    """The pointer to a journal line by its place in the file, from 0."""
    return f"/journal/{place}"


def check_chain(opened: Opened, document: Document) -> None:
    """Every line follows the one before, and all are of the run that the answer is of."""
    if opened.broken is not None:
        says = f"line {opened.broken + 1} does not follow the line before it"
        raise Broken(line_at(opened.broken), says)
    if document.journal and document.journal[0].run_id != document.release.run_id:
        raise Broken(line_at(0), "this is the journal of another run")


def check_lines(journal: Sequence[Entry]) -> None:
    """Every line has its kind's fields and stands where such a line may stand."""
    if not journal or journal[0].type is not EventType.RUN_STARTED:
        raise Broken(line_at(0), "a journal begins with RUN_STARTED")
    order = _Order()
    for place, entry in enumerate(journal):
        if entry.data.keys() not in _field_sets(entry.type):
            raise Broken(line_at(place), f"{entry.type} has other fields than such a line has")
        complaint = order.take(entry, first=place == 0)
        if complaint:
            raise Broken(line_at(place), complaint)
    for type_ in (EventType.ROUTING_DECISION, EventType.COLLECTION_ENDED):
        if type_ not in order.past:
            raise Broken(line_at(len(journal) - 1), f"there is no {type_}")


def _field_sets(type_: EventType) -> tuple[Set[str], ...]:
    """The fields that such a line may have: those of now, or of an older version."""
    return EVENT_FIELDS[type_], OLDER_FIELDS.get(type_, EVENT_FIELDS[type_])


OLDER_FIELDS: Final = MappingProxyType(
    {EventType.RUN_STARTED: EVENT_FIELDS[EventType.RUN_STARTED] - {"policy_digest"}}
)
"""Kinds of line that had fewer fields once; a journal that holds such a line is still one."""


def check_ending(journal: Sequence[Entry]) -> None:
    """Exactly one RELEASE_DECISION, then exactly one RUN_ENDED, and nothing after (L6, N12)."""
    decisions = [n for n, entry in enumerate(journal) if entry.type is EventType.RELEASE_DECISION]
    endings = [n for n, entry in enumerate(journal) if entry.type is EventType.RUN_ENDED]
    last = len(journal) - 1
    for kind, places in (("RELEASE_DECISION", decisions), ("RUN_ENDED", endings)):
        if not places:
            raise Broken(line_at(last), f"there is no {kind}")
        if len(places) > 1:
            raise Broken(line_at(places[1]), f"a second {kind}")
    if endings[0] != last:
        raise Broken(line_at(endings[0] + 1), "a line after the end of the run")
    if decisions[0] != last - 1:
        raise Broken(line_at(decisions[0]), "the decision does not stand right before the end")


COLLECTING: Final = frozenset(
    {
        EventType.GUARDS_CHECKED,
        EventType.CALLS_CHECKED,
        EventType.STEP_DECIDED,
        EventType.APPROVAL_REQUESTED,
        EventType.TOOL_CALL_INTENDED,
        EventType.TOOL_CALL_PROJECTING,
        EventType.TOOL_CALL_READY,
        EventType.TOOL_CALL_ERROR,
        EventType.TOOL_CALL_REFUSED,
        EventType.TOOL_CALL_REUSED,
        EventType.STOP_NOTICE_GIVEN,
    }
)
"""Lines of the agent's part; none of them stands after it."""

COLLECTED_IN: Final = frozenset(
    {*BRANCH_STATUSES[IntentType.DIAGNOSIS], *BRANCH_STATUSES[IntentType.KNOWLEDGE]}
)
"""Where tools may be asked; system chat asks none (I3)."""

BRANCH_OF: Final[Mapping[ChatApplicationStatus, IntentType]] = MappingProxyType(
    {status: intent for intent, statuses in BRANCH_STATUSES.items() for status in statuses}
)
"""The branch to which a status belongs; ROUTING and SAFETY_VALIDATING belong to all."""

EXAMINING: Final = frozenset(
    {
        EventType.EVIDENCE_GUARD_INITIAL,
        EventType.EVIDENCE_REPAIR_ATTEMPT,
        EventType.EVIDENCE_GUARD_RECHECK,
        EventType.SUPPORT_CHECK,
        EventType.DRAFT_WITHDRAWAL_ATTEMPT,
        EventType.SEMANTIC_GUARD_ATTEMPT,
        EventType.SEMANTIC_GUARD_DECISION,
    }
)
"""Lines of a draft's examination: only while what may be published is checked."""

RELEASING: Final = EXAMINING | {EventType.RELEASE_STOPPED, EventType.RELEASE_DECISION}
"""Lines of the release; none of them stands before it."""


ONCE: Final = frozenset(
    {EventType.ROUTING_DECISION, EventType.COLLECTION_ENDED, EventType.RELEASE_STOPPED}
)
"""Lines that no journal holds twice; decision and end have a check of their own."""


@dataclass(slots=True)
class _Order:
    """Walks along a journal and complains where a line cannot stand."""

    epoch: int = 0
    step: int = 0
    admitted: object = 0
    paused: bool = False
    status: ChatApplicationStatus | None = None
    intent: object = None
    past: set[EventType] = field(default_factory=set)

    def take(self, entry: Entry, *, first: bool) -> str:
        """What is wrong with the next line; nothing when it may stand here."""
        if (entry.type is EventType.RUN_STARTED) != first:
            return "a run starts once, with its first line"
        complaint = self._misplaced(entry.type) or self._move(entry)
        self.past.add(entry.type)
        return complaint

    def _misplaced(self, type_: EventType) -> str:
        if type_ in ONCE and type_ in self.past:
            return f"a second {type_}"
        collecting, releasing = type_ in COLLECTING, type_ in RELEASING
        collected = EventType.COLLECTION_ENDED in self.past
        if collecting and collected:
            return "a line of the collection after its end"
        if releasing and not collected:
            return "a line of the release before the collection ended"
        if (collecting or releasing) and not self.epoch:
            return "nobody drives the run yet"
        if collecting and self.status not in COLLECTED_IN:
            return "a line of the collection outside of it"
        if type_ in EXAMINING and self.status is not ChatApplicationStatus.SAFETY_VALIDATING:
            return "a line of the examination outside of it"
        return ""

    def _move(self, entry: Entry) -> str:
        data = entry.data
        match entry.type:
            case EventType.DRIVER_ACQUIRED:
                return self._epoch(data["epoch"])
            case EventType.STATUS_CHANGED:
                return self._status(ChatApplicationStatus(str(data["status"])))
            case EventType.RUN_PAUSED | EventType.RUN_RESUMED:
                return self._pause(paused=entry.type is EventType.RUN_PAUSED)
            case EventType.ROUTING_DECISION:
                return self._route(data["intent"])
            case EventType.COLLECTION_ENDED:
                return self._end(data["ending"])
            case EventType.GUARDS_CHECKED:
                if data["moment"] == Moment.BEFORE_THINKING:
                    self.admitted = None if stopping_guard(data) else data["step"]
                return ""
            case EventType.STEP_DECIDED:
                return self._step(data["step"])
            case _:
                return ""

    def _epoch(self, epoch: object) -> str:
        if not isinstance(epoch, int) or epoch <= self.epoch:
            return "a driver's epoch is not higher than the one before"
        self.epoch = epoch
        return ""

    def _route(self, intent: object) -> str:
        if intent is not None and intent not in set(IntentType):
            return "there is no such branch"
        if self.status is not ChatApplicationStatus.ROUTING:
            return "the branch is decided while it is looked for"
        self.intent = intent
        return ""

    def _end(self, ending: object) -> str:
        """A fixed reply is system chat's; only what has no branch ends without one (I1, I3)."""
        replied = ending == Ending.REPLIED
        if replied != (self.intent == IntentType.SYSTEM_CHAT) and (replied or _is_own(ending)):
            return "a fixed reply and system chat belong together"
        if ending == Ending.UNROUTED and self.intent is not None:
            return "the branch was found"
        return ""

    def _status(self, status: ChatApplicationStatus) -> str:
        legal = (
            status is ChatApplicationStatus.ROUTING
            if self.status is None
            else status in CHAT_MOVES[self.status]
        )
        before, self.status = self.status, status
        if not legal:
            return f"{status} does not follow {before}"
        branch = BRANCH_OF.get(status)
        return "" if branch in {None, self.intent} else f"{status} belongs to another branch"

    def _pause(self, *, paused: bool) -> str:
        if self.paused is paused:
            return "paused twice" if paused else "resumed without a pause"
        self.paused = paused
        return ""

    def _step(self, step: object) -> str:
        if step != self.step + 1:
            return f"step {self.step + 1} is missing here"
        if self.admitted != step:
            return "no guard let this step happen"
        self.step += 1
        return ""


def _is_own(ending: object) -> bool:
    """Whether an agent ended the collection by handing something over."""
    return ending in {Ending.CONCLUDED, Ending.GAVE_UP, Ending.UNREADABLE}


CALL_MOVES: Final[Mapping[EventType | None, frozenset[EventType]]] = MappingProxyType(
    {
        None: frozenset(
            {
                EventType.APPROVAL_REQUESTED,
                EventType.TOOL_CALL_INTENDED,
                EventType.TOOL_CALL_REFUSED,
                EventType.TOOL_CALL_REUSED,
            }
        ),
        EventType.APPROVAL_REQUESTED: frozenset(
            {EventType.APPROVAL_DECIDED, EventType.TOOL_CALL_REFUSED}
        ),
        EventType.APPROVAL_DECIDED: frozenset(
            {
                EventType.APPROVAL_REQUESTED,  # for an action that is another one by now
                EventType.TOOL_CALL_INTENDED,
                EventType.TOOL_CALL_REFUSED,
                EventType.TOOL_CALL_REUSED,
            }
        ),
        EventType.TOOL_CALL_INTENDED: frozenset(
            {
                EventType.TOOL_CALL_INTENDED,  # a read that a driver left unfinished is read again
                EventType.TOOL_CALL_PROJECTING,
                EventType.TOOL_CALL_ERROR,
                EventType.TOOL_CALL_LATE,  # of a run that was stopped meanwhile
            }
        ),
        EventType.TOOL_CALL_PROJECTING: frozenset(
            {EventType.TOOL_CALL_READY, EventType.TOOL_CALL_ERROR}
        ),
        EventType.TOOL_CALL_READY: frozenset(),
        EventType.TOOL_CALL_ERROR: frozenset(
            {EventType.TOOL_CALL_LATE, EventType.OUTCOME_RESOLVED}
        ),
        EventType.TOOL_CALL_LATE: frozenset({EventType.OUTCOME_RESOLVED}),
        EventType.OUTCOME_RESOLVED: frozenset({EventType.TOOL_CALL_LATE}),
        EventType.TOOL_CALL_REFUSED: frozenset(),
        EventType.TOOL_CALL_REUSED: frozenset(),
    }
)
"""The life of a call: what may follow each line of it, None before the first (E2, T2, K9)."""


@dataclass(frozen=True, slots=True)
class _Life:
    """A call so far: its last line, its tool, its attempts."""

    last: EventType
    tool: str = ""
    attempts: int = 0


def check_lives(journal: Sequence[Entry]) -> None:
    """Every call was asked for by a step, lived as a call lives, and was settled once."""
    asked: dict[str, object] = {}
    lives: dict[str, _Life] = {}
    for place, entry in enumerate(journal):
        if entry.type is EventType.STEP_DECIDED:
            _take_step(place, entry, asked)
        elif "tool_call_id" in entry.data:
            _take_line(place, entry, asked, lives)


def _take_step(place: int, entry: Entry, asked: dict[str, object]) -> None:
    calls = entry.data["calls"]
    for call in calls if isinstance(calls, (list, tuple)) else ():
        if call in asked:
            raise Broken(line_at(place), f"{call} was asked for before")
        asked[str(call)] = entry.data["step"]


def _take_line(
    place: int, entry: Entry, asked: Mapping[str, object], lives: dict[str, _Life]
) -> None:
    key = str(entry.data["tool_call_id"])
    life = lives.get(key)
    if key not in asked or entry.data.get("step", asked[key]) != asked[key]:
        raise Broken(line_at(place), f"no step asked for {key}")
    if entry.type not in CALL_MOVES[life.last if life else None]:
        after = life.last if life else "its beginning"
        raise Broken(line_at(place), f"{entry.type} of {key} cannot follow {after}")
    complaint = _complaint(entry, life, lives)
    if complaint:
        raise Broken(line_at(place), f"{key}: {complaint}")
    intended = entry.type is EventType.TOOL_CALL_INTENDED
    lives[key] = _Life(
        last=entry.type,
        tool=str(entry.data.get("tool") or (life.tool if life else "")),
        attempts=(life.attempts if life else 0) + intended,
    )


def _complaint(entry: Entry, life: _Life | None, lives: Mapping[str, _Life]) -> str:
    """What is wrong with a line of a call beside its place; nothing when all is well."""
    data = entry.data
    match entry.type:
        case _ if life is not None and data.get("tool", life.tool) != life.tool:
            return "another tool than at first"
        case EventType.TOOL_CALL_INTENDED if data["attempt"] != (life.attempts if life else 0) + 1:
            return "attempts are not counted from 1"
        case EventType.TOOL_CALL_READY:
            status, count = EvidenceStatus(str(data["evidence_status"])), data["count"]
            if status not in EVIDENCE_OF[InvocationStatus.READY] or not isinstance(count, int):
                return "READY with what no READY call has"
            if (status is EvidenceStatus.EVIDENCE_FOUND) != (count > 0):
                return "evidence status and count disagree"
            return ""
        case EventType.TOOL_CALL_REUSED:
            answered = lives.get(str(data["of"]))
            ready = answered is not None and answered.last is EventType.TOOL_CALL_READY
            return "" if ready else "the call that is said to answer it is not READY"
        case _:
            return ""
