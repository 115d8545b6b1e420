"""The loop guard: the same, nearly the same, invented, stubborn, and polls beyond their cap."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit.contract.agent import Observation, ObservationKind
from affidavit.contract.states import AgentStatus
from affidavit.guards.loop import (
    INVENTIONS_MAX,
    NEAR_REPEATS_MAX,
    REPEATS_MAX,
    STUBBORN_MAX,
    LoopGuard,
    cycle_period,
    find_loop,
)
from tests.unit.guards.states import REQUEST, looked, spec, state


@pytest.mark.spec("H7")
@pytest.mark.fault("F33", "R28")
@pytest.mark.parametrize(
    ("steps", "loops"),
    [
        ("AAA", True),
        ("AA", False),
        ("BAAA", True),
        ("ABABAB", True),
        ("ABCABCABC", True),
        ("ABCABCAB", False),
        ("ABCDEF", False),
        ("ABCDEFGHIJ" * 3, True),
    ],
)
def test_a_cycle_of_any_period_said_three_times_is_a_loop(steps: str, loops: bool) -> None:
    seen = tuple(looked(place, tool) for place, tool in enumerate(steps))
    stopped = LoopGuard().check(state(observations=seen), REQUEST, None).status
    assert stopped is (AgentStatus.LOOP_DETECTED if loops else None)


@pytest.mark.spec("H7")
@pytest.mark.fault("F33")
def test_the_same_question_with_another_answer_is_no_loop() -> None:
    seen = tuple(looked(place, "A", f"answer {place}") for place in range(20))
    assert LoopGuard().check(state(observations=seen), REQUEST, None).passed


@pytest.mark.spec("H7")
def test_the_order_of_calls_within_a_step_does_not_hide_a_loop() -> None:
    one = (looked(1, "A", "x"), looked(1, "B", "y"))
    two = (looked(2, "B", "y"), looked(2, "A", "x"))
    three = (looked(3, "A", "x"), looked(3, "B", "y"))
    stopped = LoopGuard().check(state(observations=one + two + three), REQUEST, None)
    assert stopped.status is AgentStatus.LOOP_DETECTED


@pytest.mark.spec("H7")
def test_the_shortest_period_is_named() -> None:
    assert cycle_period(("a",) * 9) == 1
    assert cycle_period(("a", "b") * 3) == 2


def asked(arguments: list[Any], answer: str | None = "same", **changes: Any) -> list[Observation]:
    """One call of one tool a step, with these arguments."""
    return [
        looked(step, "logs", answer, arguments=each, **changes)
        for step, each in enumerate(arguments)
    ]


NEAR: dict[str, list[Any]] = {
    "a limit that grows": [{"q": "x", "limit": 100 + n} for n in range(4)],
    "a page that turns": [{"q": "x", "offset": n * 100} for n in range(4)],
    "case and spaces": [{"q": q} for q in ("error", "Error", " ERROR ", "error!")],
    "nested": [{"f": [{"min": n}, "A" if n % 2 else "a"]} for n in range(4)],
}
FAR: dict[str, list[Any]] = {
    "other words": [{"q": q} for q in ("error", "timeout", "refused", "panic")],
    "other instances": [{"pod": f"pod-{n}"} for n in range(8)],
    "a flag": [{"all": n % 3 == 0, "deep": n % 2 == 0} for n in range(6)],
    "another argument": [{f"arg_{n}": "x"} for n in range(4)],
}


@pytest.mark.spec("H7")
@pytest.mark.fault("R28", "R29")
@pytest.mark.parametrize("arguments", NEAR.values(), ids=NEAR.keys())
def test_arguments_that_barely_differ_with_the_same_answer_are_a_loop(arguments: list[Any]) -> None:
    assert len(arguments) == NEAR_REPEATS_MAX
    assert find_loop(asked(arguments)) == "near cycle of 1"
    assert find_loop(asked(arguments[1:])) is None
    for answer in (None, ""):
        failed = asked(arguments, answer, code="DOWN", kind=ObservationKind.FAILED)
        assert find_loop(failed) == "near cycle of 1"


@pytest.mark.spec("H7")
@pytest.mark.fault("R28")
@pytest.mark.parametrize("arguments", FAR.values(), ids=FAR.keys())
def test_arguments_that_mean_something_else_are_no_loop(arguments: list[Any]) -> None:
    assert find_loop(asked(arguments)) is None


@pytest.mark.spec("H7")
def test_a_near_cycle_with_changing_answers_is_progress() -> None:
    seen = [looked(step, "logs", f"page {step}", arguments={"offset": step}) for step in range(20)]
    assert find_loop(seen) is None


@pytest.mark.spec("H7")
@pytest.mark.fault("R28")
def test_an_alternation_that_varies_an_argument_is_seen_through() -> None:
    seen = [
        looked(step, "AB"[step % 2], arguments={"limit": 100 + step})
        for step in range(2 * NEAR_REPEATS_MAX)
    ]
    assert find_loop(seen) == "near cycle of 2"


def invented(step: int, name: str) -> Observation:
    """A call of a tool that there is not."""
    return looked(step, name, None, code="TOOL_UNKNOWN", kind=ObservationKind.REFUSED)


@pytest.mark.spec("H7")
@pytest.mark.fault("R52")
def test_inventing_tools_again_and_again_is_a_loop_and_once_is_not() -> None:
    names = ["kubectl_logs", "kubectl_get", "helm"]
    seen = [invented(step, name) for step, name in enumerate(names)]
    assert len(seen) == INVENTIONS_MAX
    assert find_loop(seen) == "invented tools"
    assert find_loop(seen[:2]) is None
    assert find_loop([*seen[:2], looked(2, "logs", "x"), invented(3, "helm")]) is None
    beside = [item for step in range(3) for item in (looked(step, "A"), invented(step, f"x{step}"))]
    assert find_loop(beside) == "cycle of 1"


@pytest.mark.spec("H7")
@pytest.mark.fault("R28")
def test_one_failure_again_and_again_is_a_loop_however_it_is_asked() -> None:
    words = ["error", "timeout", "refused", "panic", "oom"]
    seen = asked([{"q": q} for q in words], None, code="DOWN", kind=ObservationKind.FAILED)
    assert len(seen) == STUBBORN_MAX
    assert find_loop(seen) == "one failure again and again"
    assert find_loop(seen[1:]) is None
    assert find_loop([*seen[:4], looked(4, "metrics", "x")]) is None


POLL = {"status": spec("status", polling=True, polls_max=5)}


@pytest.mark.spec("H7")
@pytest.mark.fault("F35", "F33")
def test_a_declared_poll_may_repeat_itself_up_to_its_cap() -> None:
    same = [looked(step, "status") for step in range(6)]
    assert find_loop(same[:5], POLL) is None
    assert find_loop(same, POLL) == "poll of status"
    changing = [looked(step, "status", f"{step // 5}") for step in range(50)]
    assert find_loop(changing, POLL) is None
    undeclared = {"status": spec("status")}
    assert find_loop(same[:REPEATS_MAX], undeclared) == "cycle of 1"


@pytest.mark.spec("H7")
@pytest.mark.fault("F35")
def test_a_poll_in_between_neither_is_a_cycle_nor_hides_one() -> None:
    seen = [looked(step, "A" if step % 2 else "status") for step in range(6)]
    assert find_loop(seen, POLL) == "cycle of 1"
    fresh = [looked(s, "A", f"{s}") if s % 2 else looked(s, "status") for s in range(6)]
    assert find_loop(fresh, POLL) is None


STEPS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.integers(0, 2), st.sampled_from(["x", "y", None])),
    max_size=12,
)


@pytest.mark.spec("H7")
@given(head=STEPS, cycle=STEPS.filter(bool), repeats=st.integers(REPEATS_MAX, 4))
def test_whatever_came_before_a_tail_that_repeats_is_found(
    head: list[Any], cycle: list[Any], repeats: int
) -> None:
    """Also after a resume or a compression: only what the run saw counts, not who looked when."""
    told = [*head, *cycle * repeats]
    seen = [
        looked(step, tool, answer, arguments={"n": n}, code=None if answer else "DOWN")
        for step, (tool, n, answer) in enumerate(told)
    ]
    assert find_loop(seen) is not None


@pytest.mark.spec("H7")
@given(count=st.integers(1, 200))
def test_a_run_that_always_learns_is_never_stopped(count: int) -> None:
    seen = [looked(step, "logs", f"answer {step}") for step in range(count)]
    assert find_loop(seen) is None
