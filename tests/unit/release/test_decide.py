"""The release table D1 to D15, walked whole against a second writing of it (L8)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Literal, get_args, get_origin

import pytest

from affidavit.contract.decisions import DECISIONS, DecisionId
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.release.decide import decide, run_state_of
from affidavit.release.situation import (
    Cancelled,
    Cited,
    Faulted,
    Illegal,
    Opinion,
    Replied,
    Situation,
    Spent,
    Stopped,
    Uncited,
    Unconcluded,
    Unrouted,
    Unthinking,
)

pytestmark = pytest.mark.spec("L8")

WITHDRAWN = (0, 1, 3)
"""Withdrawn sentences matter only as none or some; three is the most that M6 allows."""

TABLE: dict[str, tuple[str, str, str]] = {
    # what happened                                   row     run state           outcome
    "supported": ("D1", "SUCCESS", "SUCCESS"),
    "supported, repaired": ("D2", "SUCCESS", "SUCCESS"),
    "supported, withdrawn": ("D2b", "SUCCESS", "SUCCESS"),
    "citation not real": ("D3", "SUCCESS", "FALLBACK"),
    "unsupported": ("D4", "SUCCESS", "FALLBACK"),
    "unavailable": ("D5", "SUCCESS", "FALLBACK"),
    "no conclusion, facts": ("D6", "SUCCESS", "FALLBACK"),
    "no conclusion, no facts, asks, references hold": ("D7", "SUCCESS", "FALLBACK"),
    "no conclusion, nothing": ("D8", "FAILED", "FAILED"),
    "stopped, facts": ("D9", "SUCCESS", "FALLBACK"),
    "illegal, facts": ("D10", "SUCCESS", "FALLBACK"),
    "stopped or illegal, no facts": ("D11", "FAILED", "FAILED"),
    "budget, facts": ("D12", "BUDGET_EXHAUSTED", "FALLBACK"),
    "time, facts": ("D12", "TIMED_OUT", "FALLBACK"),
    "budget, no facts": ("D13", "BUDGET_EXHAUSTED", "FAILED"),
    "time, no facts": ("D13", "TIMED_OUT", "FAILED"),
    "cancelled": ("D14", "CANCELLED", "CANCELLED"),
    "no model left": ("D11", "FAILED", "FAILED"),
    "internal failure": ("D15", "FAILED", "FAILED"),
    "a fixed reply": ("S1", "SUCCESS", "SUCCESS"),
    "no branch": ("D11", "FAILED", "FAILED"),
}
"""Section 10 of the specification, written a second time."""


def _domain(annotation: object) -> tuple[Any, ...]:
    if annotation is bool:
        return (False, True)
    if annotation is int:
        return WITHDRAWN
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    assert isinstance(annotation, type)
    assert issubclass(annotation, StrEnum)
    return tuple(annotation)


def every_situation() -> Iterator[Situation]:
    """The whole product space, read off the union itself: a new field or kind is walked too."""
    for kind in get_args(Situation):
        fields = dataclasses.fields(kind)
        hints = {field.name: kind.__annotations__[field.name] for field in fields}
        module = {**vars(__import__(kind.__module__, fromlist=["*"])), "bool": bool, "int": int}
        domains = [_domain(eval(str(hint), module)) for hint in hints.values()]
        for values in itertools.product(*domains):
            yield kind(*values)


ALL = tuple(every_situation())


def what_happened(situation: Situation) -> str:
    """The situation in the words of the second writing."""
    match situation:
        case Cancelled():
            return "cancelled"
        case Faulted():
            return "internal failure"
        case Unthinking():
            return "no model left"
        case Spent(timed_out, facts):
            return f"{'time' if timed_out else 'budget'}, {'facts' if facts else 'no facts'}"
        case Stopped(_, True):
            return "stopped, facts"
        case Replied():
            return "a fixed reply"
        case Unrouted():
            return "no branch"
        case Illegal(True):
            return "illegal, facts"
        case Stopped() | Illegal():
            return "stopped or illegal, no facts"
        case Unconcluded() | Uncited() | Cited():
            return what_the_draft_came_to(situation)


def what_the_draft_came_to(situation: Unconcluded | Uncited | Cited) -> str:
    """The rows that look at a draft."""
    match situation:
        case Unconcluded(True, _, _):
            return "no conclusion, facts"
        case Unconcluded(False, True, True):
            return "no conclusion, no facts, asks, references hold"
        case Unconcluded():
            return "no conclusion, nothing"
        case Uncited():
            return "citation not real"
        case Cited(Opinion.SUPPORTED, repaired, 0):
            return "supported, repaired" if repaired else "supported"
        case Cited(Opinion.SUPPORTED, _, _):
            return "supported, withdrawn"
        case Cited(Opinion.UNAVAILABLE, _, _):
            return "unavailable"
        case Cited():
            return "unsupported"


def test_the_walk_is_whole() -> None:
    """Every kind of situation is met, and every line of the second writing."""
    assert {type(item) for item in ALL} == set(get_args(Situation))
    assert {what_happened(item) for item in ALL} == set(TABLE)
    assert len(ALL) == len(set(ALL)) == 3 + 4 + 8 + 2 + 8 + 6 + 24 + 10 + 1


@pytest.mark.spec("D1", "D2", "D3", "D4", "D5", "D6", "D7", "D8")
@pytest.mark.spec("D9", "D10", "D11", "D12", "D13", "D14", "D15", "D2b")
@pytest.mark.parametrize("situation", ALL, ids=repr)
def test_every_situation_has_its_row(situation: Situation) -> None:
    """The decision, the run state and the outcome agree with the second writing."""
    row, state, outcome = TABLE[what_happened(situation)]
    decision = decide(situation)
    assert str(decision) == row
    assert run_state_of(situation) is RunState(state)
    assert DECISIONS[decision].outcome is ReleaseOutcome(outcome)
    assert run_state_of(situation) in DECISIONS[decision].run_states


def test_every_row_can_be_reached() -> None:
    """No row of the table is dead."""
    assert {decide(item) for item in ALL} == set(DecisionId)


@pytest.mark.spec("D1", "L1")
def test_success_has_one_way() -> None:
    """Nothing is published but a supported conclusion whose every citation is real, and the fixed
    replies of system chat, which claim nothing."""
    published = {item for item in ALL if DECISIONS[decide(item)].outcome is ReleaseOutcome.SUCCESS}
    assert published == {
        item
        for item in ALL
        if isinstance(item, Replied)
        or (isinstance(item, Cited) and item.opinion is Opinion.SUPPORTED)
    }


@pytest.mark.spec("N5")
def test_a_stop_is_never_dressed_as_another_answer() -> None:
    """A cancel is D14, a spent budget or time D12 or D13, and their run states name them."""
    for item in ALL:
        stopped = run_state_of(item) in {
            RunState.CANCELLED,
            RunState.BUDGET_EXHAUSTED,
            RunState.TIMED_OUT,
        }
        assert stopped == isinstance(item, Cancelled | Spent)
    assert DECISIONS[decide(Cancelled())].outcome is ReleaseOutcome.CANCELLED


def test_an_impossible_situation_cannot_be_written() -> None:
    """Nobody withdraws less than nothing, and a cancelled run has no verdict to carry."""
    with pytest.raises(ValueError, match="nothing"):
        Cited(Opinion.SUPPORTED, withdrawn=-1)
    with pytest.raises(TypeError):
        Cancelled(Opinion.SUPPORTED)  # type: ignore[call-arg]  # that is what is tested
