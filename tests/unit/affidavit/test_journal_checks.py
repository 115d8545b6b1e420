"""Which lines may follow which: the journal's own grammar, line by line (A4, E2, N12)."""

from __future__ import annotations

import pytest

from affidavit.affidavit.journal_checks import (
    CALL_MOVES,
    Broken,
    check_ending,
    check_lines,
    check_lives,
)
from affidavit.contract.journal import EVENT_FIELDS, Entry, EventType

RUN_ID = "run_0123456789abcdef"
CALL = "call_0001"

Line = tuple[EventType, dict[str, object]]


def line(type_: EventType, **data: object) -> Line:
    """A line of that kind; the fields that a test does not name say nothing."""
    return type_, {**dict.fromkeys(EVENT_FIELDS[type_]), **data}


def journal(*lines: Line) -> tuple[Entry, ...]:
    """These lines in order."""
    return tuple(
        Entry(RUN_ID, seq, 0, type_, data, "", "")
        for seq, (type_, data) in enumerate(lines, start=1)
    )


def status(word: str) -> Line:
    return line(EventType.STATUS_CHANGED, status=word)


def admitted(step: int = 1, word: str = "PASS", moment: str = "BEFORE_THINKING") -> Line:
    verdicts = [["budget", word, ""]]
    return line(EventType.GUARDS_CHECKED, step=step, moment=moment, verdicts=verdicts)


def step(number: int = 1, *calls: str) -> Line:
    return line(EventType.STEP_DECIDED, step=number, decision="ACT", calls=list(calls))


STARTED = line(EventType.RUN_STARTED)
ROUTED = line(EventType.ROUTING_DECISION, intent="DIAGNOSIS", by="caller")
DRIVEN = line(EventType.DRIVER_ACQUIRED, epoch=1)
BEGUN = (STARTED, status("ROUTING"), ROUTED, DRIVEN, status("DIAGNOSIS_RUNNING"))
COLLECTED = line(EventType.COLLECTION_ENDED)
GUARD = line(EventType.EVIDENCE_GUARD_INITIAL)
DECIDED = line(EventType.RELEASE_DECISION)
ENDED = line(EventType.RUN_ENDED)
WHOLE = (*BEGUN, admitted(), step(), COLLECTED, status("SAFETY_VALIDATING"), GUARD, DECIDED, ENDED)

LEGAL = {
    "a whole run": WHOLE,
    "nothing but an end": (*BEGUN, COLLECTED, DECIDED, ENDED),
    "taken over": (*BEGUN, admitted(), line(EventType.DRIVER_ACQUIRED, epoch=7), *WHOLE[5:]),
    "admitted twice": (*BEGUN, admitted(), admitted(), step(), COLLECTED),
    "paused and resumed, twice": (
        *BEGUN,
        *(line(EventType.RUN_PAUSED), line(EventType.RUN_RESUMED)),
        *(line(EventType.RUN_PAUSED), line(EventType.RUN_RESUMED)),
        COLLECTED,
    ),
    "a knowledge turn": (
        *(STARTED, status("ROUTING")),
        line(EventType.ROUTING_DECISION, intent="KNOWLEDGE", by="rules"),
        *(DRIVEN, status("KNOWLEDGE_SEARCHING"), admitted(), step()),
        *(status("KNOWLEDGE_ANSWERING"), admitted(2), step(2), COLLECTED),
        *(status("SAFETY_VALIDATING"), GUARD, DECIDED, ENDED),
    ),
    "system chat": (
        *(STARTED, status("ROUTING")),
        line(EventType.ROUTING_DECISION, intent="SYSTEM_CHAT", by="rules"),
        *(DRIVEN, status("SYSTEM_RESPONDING")),
        line(EventType.COLLECTION_ENDED, ending="REPLIED"),
        *(status("SAFETY_VALIDATING"), DECIDED, ENDED),
    ),
    "no branch found": (
        *(STARTED, status("ROUTING")),
        line(EventType.ROUTING_DECISION, intent=None, by="rules"),
        *(DRIVEN, line(EventType.COLLECTION_ENDED, ending="UNROUTED"), DECIDED, ENDED),
    ),
    "guards before acting decide about calls, not about the step": (
        *BEGUN,
        admitted(),
        admitted(word="REFUSED", moment="BEFORE_ACTING"),
        step(),
        COLLECTED,
    ),
}


@pytest.mark.spec("A4", "K8", "H2")
@pytest.mark.parametrize("lines", LEGAL.values(), ids=LEGAL)
def test_lines_that_may_follow_each_other(lines: tuple[Line, ...]) -> None:
    check_lines(journal(*lines))


ILLEGAL: dict[str, tuple[tuple[Line, ...], int]] = {
    "nothing": ((), 0),
    "no start": (WHOLE[1:], 0),
    "two starts": ((STARTED, *WHOLE), 1),
    "a branch that was never found": (tuple(item for item in WHOLE if item is not ROUTED), 3),
    "never routed": ((*BEGUN[:2], DRIVEN, COLLECTED), 3),
    "routed twice": ((*BEGUN, ROUTED, *WHOLE[5:]), 5),
    "never collected": (BEGUN, len(BEGUN) - 1),
    "collected twice": ((*BEGUN, COLLECTED, COLLECTED), 6),
    "driven by nobody": ((*BEGUN[:3], BEGUN[4], admitted()), 4),
    "an epoch that does not rise": ((*BEGUN, DRIVEN), 5),
    "a status that does not follow": ((*BEGUN, status("KNOWLEDGE_ANSWERING")), 5),
    "the same status again": ((*BEGUN, status("DIAGNOSIS_RUNNING")), 5),
    "paused twice": ((*BEGUN, line(EventType.RUN_PAUSED), line(EventType.RUN_PAUSED)), 6),
    "resumed without a pause": ((*BEGUN, line(EventType.RUN_RESUMED)), 5),
    "a step that no guard saw": ((*BEGUN, step()), 5),
    "a step that a guard stopped": ((*BEGUN, admitted(word="TIMEOUT"), step()), 6),
    "a step admitted before acting only": (
        (*BEGUN, admitted(moment="BEFORE_ACTING"), step()),
        6,
    ),
    "a step left out": ((*BEGUN, admitted(2), step(2)), 6),
    "a step again": ((*BEGUN, admitted(), step(), admitted(), step()), 8),
    "a call after the collection": (
        (*BEGUN, COLLECTED, line(EventType.TOOL_CALL_INTENDED)),
        6,
    ),
    "an examination before its time": ((*BEGUN, GUARD), 5),
    "an examination outside of its status": ((*BEGUN, COLLECTED, GUARD), 6),
    "a release stopped twice": (
        (*BEGUN, COLLECTED, *(2 * (line(EventType.RELEASE_STOPPED),))),
        7,
    ),
    "a branch that does not exist": (
        (*BEGUN[:2], line(EventType.ROUTING_DECISION, intent="GUESS", by="rules")),
        2,
    ),
    "a status of another branch": ((*BEGUN[:4], status("KNOWLEDGE_SEARCHING")), 4),
    "a branch found after it was entered": ((*BEGUN[:2], *BEGUN[3:], ROUTED), 3),
    "a fixed reply to a diagnosis": (
        (*BEGUN, line(EventType.COLLECTION_ENDED, ending="REPLIED")),
        5,
    ),
    "no branch, where one was found": (
        (*BEGUN, line(EventType.COLLECTION_ENDED, ending="UNROUTED")),
        5,
    ),
    "a report from system chat": (
        (
            *(STARTED, status("ROUTING")),
            line(EventType.ROUTING_DECISION, intent="SYSTEM_CHAT", by="rules"),
            *(DRIVEN, status("SYSTEM_RESPONDING")),
            line(EventType.COLLECTION_ENDED, ending="CONCLUDED"),
        ),
        5,
    ),
    "a tool in system chat": (
        (
            *(STARTED, status("ROUTING")),
            line(EventType.ROUTING_DECISION, intent="SYSTEM_CHAT", by="rules"),
            *(DRIVEN, status("SYSTEM_RESPONDING"), admitted()),
        ),
        5,
    ),
    "a field too many": ((*BEGUN, line(EventType.RUN_PAUSED, by="y")), 5),
    "a field too few": ((*BEGUN, (EventType.RUN_PAUSED, dict[str, object]())), 5),
}


@pytest.mark.spec("A4", "K8", "H2", "N12")
@pytest.mark.parametrize(("lines", "place"), ILLEGAL.values(), ids=ILLEGAL)
def test_a_line_that_cannot_stand_there_is_pointed_at(lines: tuple[Line, ...], place: int) -> None:
    with pytest.raises(Broken) as broken:
        check_lines(journal(*lines))
    assert broken.value.pointer == f"/journal/{place}"
    assert broken.value.says


@pytest.mark.spec("L6", "N12")
@pytest.mark.parametrize(
    ("lines", "place"),
    [
        ((), -1),
        ((COLLECTED,), 0),
        ((DECIDED,), 0),
        ((ENDED,), 0),
        ((DECIDED, DECIDED, ENDED), 1),
        ((DECIDED, ENDED, ENDED), 2),
        ((DECIDED, ENDED, COLLECTED), 2),
        ((DECIDED, COLLECTED, ENDED), 0),
        ((ENDED, DECIDED), 1),
    ],
)
def test_there_is_one_decision_and_one_end(lines: tuple[Line, ...], place: int) -> None:
    check_ending(journal(COLLECTED, DECIDED, ENDED))
    with pytest.raises(Broken) as broken:
        check_ending(journal(*lines))
    assert broken.value.pointer == f"/journal/{place}"


# --- The life of a call ------------------------------------------------------------------------


def intended(attempt: int = 1, tool: str = "probe") -> Line:
    return line(EventType.TOOL_CALL_INTENDED, tool_call_id=CALL, tool=tool, attempt=attempt, step=1)


def of_call(type_: EventType, **data: object) -> Line:
    """A line of the one call."""
    named = {"step": 1} if "step" in EVENT_FIELDS[type_] else {}
    return line(type_, tool_call_id=CALL, **named, **data)


def ready(word: str = "EVIDENCE_FOUND", count: object = 1) -> Line:
    return of_call(EventType.TOOL_CALL_READY, evidence_status=word, count=count)


PROJECTING = of_call(EventType.TOOL_CALL_PROJECTING)
ERROR = of_call(EventType.TOOL_CALL_ERROR)
REFUSED = of_call(EventType.TOOL_CALL_REFUSED, tool="probe")
ASKED = of_call(EventType.APPROVAL_REQUESTED, tool="probe")
ANSWERED = of_call(EventType.APPROVAL_DECIDED)
LATE = of_call(EventType.TOOL_CALL_LATE)
RESOLVED = of_call(EventType.OUTCOME_RESOLVED)

LIVES = [
    (),
    (intended(),),
    (intended(), PROJECTING, ready()),
    (intended(), PROJECTING, ready("NO_EVIDENCE", 0)),
    (intended(), PROJECTING, ERROR),
    (intended(), ERROR),
    (intended(), intended(2), PROJECTING, ready()),
    (REFUSED,),
    (ASKED, ANSWERED, intended(), PROJECTING, ready()),
    (ASKED, ANSWERED, REFUSED),
    (ASKED, REFUSED),
    (ASKED, ANSWERED, ASKED, ANSWERED, intended()),
    (intended(), ERROR, LATE, RESOLVED),
    (intended(), ERROR, RESOLVED, LATE),
]


@pytest.mark.spec("E2", "K9", "T2", "H10")
@pytest.mark.parametrize("life", LIVES, ids=lambda life: " ".join(item[0][10:] for item in life))
def test_a_call_may_live_so(life: tuple[Line, ...]) -> None:
    check_lives(journal(step(1, CALL), *life))


DEATHS = [
    (PROJECTING,),
    (ready(),),
    (ERROR,),
    (intended(), ready()),
    (intended(), PROJECTING, PROJECTING),
    (intended(), PROJECTING, ready(), ready()),
    (intended(), PROJECTING, ready(), ERROR),
    (intended(), PROJECTING, ERROR, ready()),
    (intended(), ERROR, intended(2)),
    (intended(), REFUSED),
    (REFUSED, intended()),
    (intended(2),),
    (intended(), intended(3)),
    (intended(), intended(2, "search")),
    (intended(), PROJECTING, ready("ERROR", 0)),
    (intended(), PROJECTING, ready("NO_EVIDENCE", 1)),
    (intended(), PROJECTING, ready("EVIDENCE_FOUND", 0)),
    (intended(), PROJECTING, ready("EVIDENCE_FOUND", None)),
    (ANSWERED,),
    (ASKED, intended()),
    (ASKED, ANSWERED, intended(tool="search")),
    (LATE,),
    (RESOLVED,),
    (intended(), PROJECTING, ready(), RESOLVED),
]


@pytest.mark.spec("E2", "K9", "N12", "H10")
@pytest.mark.parametrize("life", DEATHS, ids=lambda life: " ".join(item[0][10:] for item in life))
def test_no_call_lives_so(life: tuple[Line, ...]) -> None:
    with pytest.raises(Broken) as broken:
        check_lives(journal(step(1, CALL), *life))
    assert broken.value.pointer == f"/journal/{len(life)}"


@pytest.mark.spec("E2")
def test_nobody_calls_what_no_step_asked_for() -> None:
    for lines in ((intended(),), (step(1, "call_0002"), intended()), (step(2, CALL), intended())):
        with pytest.raises(Broken, match="no step asked"):
            check_lives(journal(*lines))
    with pytest.raises(Broken, match="asked for before"):
        check_lives(journal(step(1, CALL), step(2, CALL)))


@pytest.mark.spec("T8")
@pytest.mark.parametrize("answered", [True, False])
def test_only_a_ready_call_answers_another(answered: bool) -> None:
    again = of_call(EventType.TOOL_CALL_REUSED, of="call_0000")
    first = [
        (type_, {**data, "tool_call_id": "call_0000"})
        for type_, data in (intended(), PROJECTING, ready() if answered else ERROR)
    ]
    lines = journal(step(1, "call_0000", CALL), *first, again)
    if answered:
        check_lives(lines)
    else:
        with pytest.raises(Broken, match="not READY"):
            check_lives(lines)


@pytest.mark.spec("E2")
def test_every_line_of_a_call_has_its_place_in_the_table() -> None:
    named = {type_ for type_, fields in EVENT_FIELDS.items() if "tool_call_id" in fields}
    assert set(CALL_MOVES) - {None} == named
    assert set().union(*CALL_MOVES.values()) == named
