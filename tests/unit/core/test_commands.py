"""Words from elsewhere: what counts becomes a line, what does not becomes a line that says so."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contract.errors import PauseAsked
from affidavit.contract.journal import Event, EventType
from affidavit.core.canonical import canonical_json
from affidavit.core.commands import (
    REFUSALS,
    STOPPING,
    Answer,
    Asker,
    refuse_answer,
    refuse_person,
    take_in,
)
from affidavit.core.fold import OUTCOME_UNKNOWN, ApprovalView, CallView, RunView
from affidavit.ports.store import Command, CommandKind

ASKER = Asker("Ada", "playbook")
BOUND = "a" * 64
NOW_US = 1_000

WAITING = CallView("call_0001", 1, "restart", approval=ApprovalView(BOUND, "b" * 64, 10, 2_000))
UNKNOWN = CallView(
    "call_0002",
    1,
    "restart",
    effect="write",
    attempts=1,
    code=OUTCOME_UNKNOWN,
    settled=EventType.TOOL_CALL_ERROR,
)
READ = CallView("call_0003", 1, "look", attempts=1, settled=EventType.TOOL_CALL_READY)
VIEW = RunView(calls={call.tool_call_id: call for call in (WAITING, UNKNOWN, READ)})


def word(kind: CommandKind, payload: str = "", by: str = "Mo", number: int = 1) -> Command:
    """One word."""
    return Command(number, kind, by, payload)


def decision(call: str = "call_0001", bound_to: str = BOUND) -> str:
    """A decision's payload."""
    return Answer(call, bound_to, "").payload()


def only(*words: Command, now_us: int = NOW_US) -> Event:
    """The one line that these words become."""
    (event,) = take_in(VIEW, ASKER, words, now_us).events
    return event


@pytest.mark.spec("H10")
@pytest.mark.parametrize(("kind", "said"), [("approve", "approved"), ("reject", "rejected")])
def test_a_decision_that_counts_is_a_line_and_the_call_waits_no_longer(
    kind: CommandKind, said: str
) -> None:
    taken = take_in(VIEW, ASKER, [word(kind, decision())], NOW_US)
    (event,) = taken.events
    assert event.type is EventType.APPROVAL_DECIDED
    assert event.data == {
        "tool_call_id": "call_0001",
        "decision": said,
        "action_digest": BOUND,
        "by": "Mo",
    }
    assert taken.answered == ("call_0001",)


@pytest.mark.spec("H10")
def test_of_two_decisions_at_once_the_first_counts() -> None:
    both = [word("reject", decision()), word("approve", decision(), by="Jo", number=2)]
    first, second = take_in(VIEW, ASKER, both, NOW_US).events
    assert (first.type, first.data["decision"]) == (EventType.APPROVAL_DECIDED, "rejected")
    assert second.data == {"kind": "approve", "by": "Jo", "code": "APPROVAL_DECIDED"}


@pytest.mark.spec("H10")
def test_a_decision_counts_up_to_the_last_moment_and_not_after() -> None:
    approve = word("approve", decision())
    assert only(approve, now_us=2_000).type is EventType.APPROVAL_DECIDED
    assert only(approve, now_us=2_001).data["code"] == "APPROVAL_EXPIRED"


@pytest.mark.spec("K9")
@pytest.mark.parametrize("outcome", ["done", "not-done"])
def test_an_operator_says_what_became_of_an_effect(outcome: str) -> None:
    said = json.dumps({"tool_call_id": "call_0002", "outcome": outcome})
    event = only(word("resolve", said, by="Ada"))
    assert event.type is EventType.OUTCOME_RESOLVED
    assert event.data == {"tool_call_id": "call_0002", "outcome": outcome, "by": "Ada"}


@pytest.mark.spec("K8")
def test_cancel_pause_and_wake_as_ever() -> None:
    taken = take_in(VIEW, ASKER, [word("wake"), word("cancel"), word("pause")], NOW_US)
    assert [event.type for event in taken.events] == [EventType.CANCEL_REQUESTED]
    assert isinstance(taken.pause, PauseAsked)
    assert (taken.pause.reason, taken.pause.wake_at_us) == ("asked", None)
    stopping = take_in(VIEW, ASKER, [word("pause", STOPPING)], NOW_US).pause
    assert stopping is not None
    assert (stopping.reason, stopping.wake_at_us) == ("stopping", NOW_US)


@pytest.mark.spec("H10")
@pytest.mark.fault("R58")
@pytest.mark.parametrize(
    "by", ["Ada", "ADA", " ada", "a d a", "\uff21da", "playbook", "PlayBook", "", "  ", "\u3000"]
)
def test_neither_the_requester_nor_the_agent_nor_nobody_approves(by: str) -> None:
    assert refuse_person(ASKER, by, may_request=False) is not None
    answer = Answer("call_0001", BOUND, by)
    assert refuse_answer(VIEW, ASKER, answer, NOW_US) in REFUSALS


WORDS = st.builds(
    Command,
    id=st.integers(1, 9),
    kind=st.sampled_from(["approve", "reject", "resolve", "cancel", "pause", "wake"]),
    by=st.one_of(st.sampled_from(["Mo", "Ada", "playbook", ""]), st.text(max_size=5)),
    payload=st.one_of(
        st.text(max_size=20),
        st.builds(
            lambda call, bound: json.dumps({"tool_call_id": call, "action_digest": bound}),
            st.sampled_from(["call_0001", "call_0002", "call_9"]),
            st.sampled_from([BOUND, "x", ""]),
        ),
        st.builds(
            lambda call, outcome: json.dumps({"tool_call_id": call, "outcome": outcome}),
            st.sampled_from(["call_0001", "call_0002", "call_9"]),
            st.sampled_from(["done", "not-done", "perhaps"]),
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=3),
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner),
            max_leaves=4,
        ).map(json.dumps),
        st.just("[" * 100_000),
    ),
)


@pytest.mark.spec("H10", "K9", "A1")
@pytest.mark.fault("R58")
@given(words=st.lists(WORDS, max_size=8), now_us=st.integers(0, 3_000))
def test_whatever_is_posted_nothing_is_lost_and_nothing_counts_twice(
    words: list[Command], now_us: int
) -> None:
    taken = take_in(VIEW, ASKER, words, now_us)
    spoken = [item for item in words if item.kind not in ("pause", "wake")]
    assert len(taken.events) == len(spoken)
    decided = [item for item in taken.events if item.type is EventType.APPROVAL_DECIDED]
    assert len(decided) <= 1
    assert taken.answered == tuple(str(item.data["tool_call_id"]) for item in decided)
    for event, said in zip(taken.events, spoken, strict=True):
        canonical_json(event.data)
        if event.type is EventType.APPROVAL_DECIDED:
            assert (event.data["tool_call_id"], event.data["action_digest"]) == ("call_0001", BOUND)
            assert now_us <= 2_000
            assert refuse_person(ASKER, said.by, may_request=False) is None
        elif event.type is EventType.COMMAND_REFUSED:
            assert event.data["code"] in REFUSALS
    resolved = [item for item in taken.events if item.type is EventType.OUTCOME_RESOLVED]
    assert len(resolved) <= 1


@pytest.mark.spec("H10")
def test_what_was_decided_or_settled_cannot_be_decided_again() -> None:
    decided = replace(
        WAITING, approval=ApprovalView(BOUND, "b" * 64, 10, 2_000, decision="approved", by="Mo")
    )
    settled = replace(WAITING, settled=EventType.TOOL_CALL_REFUSED)
    for call in (decided, settled):
        view = replace(VIEW, calls={"call_0001": call})
        answer = Answer("call_0001", BOUND, "Jo")
        assert refuse_answer(view, ASKER, answer, NOW_US) == "APPROVAL_DECIDED"
