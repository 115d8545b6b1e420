"""An agent that goes round in circles is stopped with what it found, whoever drives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from affidavit.contract.agent import Act, AgentState, GiveUp
from affidavit.contract.decisions import DecisionId
from affidavit.contract.evidence import Fact
from affidavit.contract.journal import EventType
from affidavit.contract.limits import Limits
from affidavit.contract.states import AgentStatus
from affidavit.testing.scripted import ScriptedArguments, scripted_tool
from tests.support.acting import Theatre
from tests.support.runs import LIMITS, reading, request
from tests.support.worlds import act, conclude

pytestmark = pytest.mark.anyio

MANY = Limits.model_validate({**dict(LIMITS), "iterations": 100, "tool_calls": 500})
ASKED = request(limits=MANY).model_validate({**dict(request(limits=MANY)), "requested_by": "Ada"})


def theatre(*script: Any, **more: Any) -> Theatre:
    return Theatre(list(script), asked=ASKED, **more)


LOOPS: dict[str, tuple[Callable[[int], Act], int]] = {
    "one call": (lambda n: act("down"), 4),
    "two in turn": (lambda n: act("down" if n % 2 else "fails"), 7),
    "three in turn": (lambda n: act(["down", "fails", "nowhere"][n % 3]), 10),
    "a limit that grows": (lambda n: act("counts", limit=100 + n), 5),
    "the same error, asked in other words": (lambda n: act("down", query="abcdefgh"[n % 8]), 6),
    "tools that there are not": (lambda n: act(f"kubectl_{n}"), 4),
    "arguments that there are not": (lambda n: act("down", **{f"arg_{'x' * n}": 1}), 6),
}


class Counting(ScriptedArguments):
    """Arguments with a number."""

    limit: int = 0


async def fails(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    raise OSError("canary")


@pytest.mark.spec("H7", "D9", "D11", "E14")
@pytest.mark.fault("R28", "R29", "R30", "R52", "F33", "F5")
@pytest.mark.parametrize(("pattern", "steps"), LOOPS.values(), ids=LOOPS.keys())
@pytest.mark.parametrize("seen", [True, False], ids=["with facts", "without"])
async def test_every_way_of_going_round_ends_soon_in_a_status_with_the_facts_kept(
    pattern: Callable[[int], Act], steps: int, seen: bool
) -> None:
    def told(state: AgentState) -> Act:
        return act("look") if seen and state.step == 1 else pattern(state.step)

    stage = theatre(told, backends={"fails": fails})
    stage.tools = (replace(scripted_tool("counts", fails), arguments=Counting),)
    release = await stage.finish()
    assert release.agent_status is AgentStatus.LOOP_DETECTED
    assert release.decision is (DecisionId.D9 if seen else DecisionId.D11)
    assert (release.fallback is not None) == seen
    view = await stage.view()
    assert len(view.steps) <= steps + seen
    (last,) = [
        item for item in await stage.data(EventType.GUARDS_CHECKED) if "LOOP_DETECTED" in repr(item)
    ]
    assert last["verdicts"][-1][0] == "loop"  # type: ignore[index]
    kinds = await stage.kinds()
    assert kinds.count(EventType.RUN_ENDED) == 1


@pytest.mark.spec("H7", "K8", "K10")
@pytest.mark.fault("R29")
async def test_a_loop_is_seen_across_drivers_each_of_which_saw_one_turn_of_it() -> None:
    turns: list[int] = []

    def decide(state: AgentState) -> Act:
        if turns:
            raise KeyboardInterrupt
        turns.append(state.step)
        return act("down")

    stage = theatre(decide)
    for step in (1, 2):
        turns.clear()
        with pytest.raises(KeyboardInterrupt):
            await stage.drive()
        stage.outlive_lease()
        assert turns == [step]
    turns.clear()
    release = await stage.finish()
    assert release.agent_status is AgentStatus.LOOP_DETECTED
    assert turns == [3]


@pytest.mark.spec("H7")
@pytest.mark.fault("F33")
async def test_honest_looking_with_changing_answers_is_never_called_a_loop() -> None:
    numbers = iter(range(1000))

    async def changing(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        return (reading(number=str(next(numbers))),)

    script = [act("changing")] * 20 + [GiveUp("done")]
    stage = theatre(*script, backends={"changing": changing})
    release = await stage.finish()
    assert release.agent_status is AgentStatus.DONE
    assert len((await stage.view()).steps) == 21


@pytest.mark.spec("H7", "P2")
@pytest.mark.fault("F35")
@pytest.mark.parametrize(
    ("polls", "status"), [(5, AgentStatus.DONE), (6, AgentStatus.LOOP_DETECTED)]
)
async def test_watching_a_job_is_no_loop_up_to_the_cap_that_the_tool_declares(
    polls: int, status: AgentStatus
) -> None:
    async def running(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        return (reading(attribute="jobs running", number="1"),)

    script = [act("look"), *[act("job")] * polls, conclude()]
    stage = theatre(*script)
    stage.tools = (replace(scripted_tool("job", running, polling=True), polls_max=5),)
    release = await stage.finish()
    assert release.agent_status is status
    assert release.decision is (DecisionId.D1 if status is AgentStatus.DONE else DecisionId.D9)
    view = await stage.view()
    assert view.stop_notice is None
