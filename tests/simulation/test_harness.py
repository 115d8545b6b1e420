"""`Harness(…).run(…)`: everything engages by itself, whoever thinks (H1)."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from affidavit import (
    Act,
    AgentRequest,
    AgentStatus,
    CostClass,
    GiveUp,
    GuardResult,
    Harness,
    Limits,
    Lines,
    Moment,
    Window,
    tool,
)
from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.recheck import Verdict
from affidavit.contract.agent import AgentState, Decision, ToolCallRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.journal import EventType
from affidavit.contract.states import ReleaseOutcome, RunState
from affidavit.harness.tooling import FunctionTool
from affidavit.ports.model import Price
from affidavit.settings import Settings
from affidavit.settings.models import ModelPrice, ModelsTable
from affidavit.testing import ScriptedModel, call_tools, say
from tests.support.checking import recheck

EXAMPLE = Path(__file__).parents[2] / "examples" / "slow-storefront"
WINDOW = Window(
    start=datetime(2026, 3, 2, 10, tzinfo=UTC), end=datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
)
LINE = "payment timeout after 5000 ms"


@dataclass
class Seen:
    """What a tool was asked."""

    services: list[str] = field(default_factory=list)


def logs(seen: Seen) -> FunctionTool[[str, Window], Coroutine[Any, Any, Lines]]:
    @tool(source_type="logs")
    async def error_logs(service: str, window: Window) -> Lines:
        """Error lines of a service."""
        seen.services.append(service)
        return Lines([(window.start, LINE)], subject=service)

    return error_logs


def report() -> dict[str, object]:
    """An honest draft about the one line."""
    sentence = {
        "text": f'checkout logged "{LINE}".',
        "tool_call_ids": ["call_0001"],
        "statements": [
            {"kind": "quote", "tool_call_id": "call_0001", "subject": "checkout", "text": LINE}
        ],
    }
    return {
        "analyses": [
            {"id": "A1", "kind": "NORMAL", "sentences": [sentence], "tool_call_ids": ["call_0001"]}
        ],
        "conclusion": {
            "text": sentence["text"],
            "sentences": [sentence],
            "based_on_analysis_ids": ["A1"],
        },
        "action_plan": [],
        "recommendations": [],
        "limitations": {"scope": "logs of checkout", "missing_info": []},
    }


SCRIPT = (
    call_tools(("error_logs", {"service": "checkout"})),
    call_tools(("write_report", {})),
    say(report()),
)


@pytest.mark.spec("H1", "C14", "D1", "E16")
async def test_one_line_of_a_caller_runs_a_model_under_all_guards() -> None:
    seen = Seen()
    harness = Harness(tools=[logs(seen)], model=ScriptedModel(SCRIPT))
    result = await harness.run("Why is checkout failing?", window=WINDOW)
    assert (result.agent_status, result.run_state) == (AgentStatus.DONE, RunState.SUCCESS)
    assert result.outcome is ReleaseOutcome.SUCCESS
    assert result.result is not None
    assert result.result.conclusion.text == f'checkout logged "{LINE}".'
    assert seen.services == ["checkout"]
    assert result.usage.tool_calls == 1
    assert [line.status for line in result.coverage.lines] == ["consulted"]
    assert result.affidavit is not None
    assert recheck(result.affidavit).verdict is Verdict.INTACT_SIGNER_UNKNOWN
    lines = await harness.journal(result.run_id)
    asked = [str(line.data) for line in lines if line.type is EventType.GUARDS_CHECKED]
    for before, after in (("budget", "loop"), ("loop", "timeout"), ("timeout", "circuit-breaker")):
        assert all(line.index(before) < line.index(after) for line in asked)


@pytest.mark.spec("H1", "K8")
async def test_a_request_that_has_its_answer_is_not_executed_again() -> None:
    seen, store = Seen(), MemoryStore()
    model = ScriptedModel(SCRIPT)
    harness = Harness(tools=[logs(seen)], model=model, store=store)
    asked = AgentRequest(
        run_id="run_0123456789abcdef",
        tenant="acme",
        question="Why?",
        limits=harness.limits_of("standard"),
        window=WINDOW,
    )
    first = await harness.run(asked)
    assert first.outcome is ReleaseOutcome.SUCCESS
    assert await harness.run(asked) == first
    assert await harness.resume(first.run_id) == first
    assert (len(model.asked), seen.services) == (3, ["checkout"])


@pytest.mark.spec("H1")
async def test_the_playbook_investigates_an_incident_folder_without_a_model(
    tmp_path: Path,
) -> None:
    store = tmp_path / "runs.db"
    harness = Harness(incident=EXAMPLE, store=f"sqlite:{store}")
    result = await harness.run("")
    await harness.aclose()
    assert (result.agent_status, result.run_state) == (AgentStatus.DONE, RunState.SUCCESS)
    assert result.usage.tokens == 0
    assert result.usage.tool_calls > 3
    assert {line.source_type for line in result.coverage.lines} >= {"metrics", "logs", "traces"}
    again = Harness(incident=EXAMPLE, store=f"sqlite:{store}")
    assert await again.resume(result.run_id) == result
    await again.aclose()


MODEL = f"""
import json, sys
asked = json.load(sys.stdin)
told = [item for item in asked["messages"] if item["role"] == "tool"]
if asked["tools"]:
    name, given = ("write_report", {{}}) if told else ("error_logs", {{"service": "checkout"}})
    calls = [{{"id": "1", "name": name, "arguments": json.dumps(given)}}]
    json.dump({{"model": "toy", "text": "", "finish": "tool_calls", "calls": calls}}, sys.stdout)
else:
    json.dump({{"model": "toy", "text": {report()!r} and json.dumps({report()!r})}}, sys.stdout)
"""


@pytest.mark.slow
@pytest.mark.spec("H1")
async def test_a_command_as_a_model_works_by_its_name(tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(MODEL, encoding="utf-8")
    name = f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(script))}"
    harness = Harness(tools=[logs(Seen())], model=name)
    result = await harness.run("Why?", window=WINDOW)
    assert result.outcome is ReleaseOutcome.SUCCESS


class Asker:
    """Asks again and again."""

    name = "asker"

    async def decide(self, state: AgentState) -> Decision:
        if state.must_conclude:
            return GiveUp("nothing new")
        service = f"s{state.step}"
        return Act((ToolCallRequest("error_logs", {"service": service}),))


@pytest.mark.spec("K3", "H5", "E18")
async def test_limits_are_a_profile_of_the_settings_or_one_s_own() -> None:
    seen = Seen()
    few = Limits(iterations=2, tokens=1000, timeout_s=60, tool_calls=9, concurrency=1)
    harness = Harness(tools=[logs(seen)], investigator=Asker(), limits=few)
    result = await harness.run("Why?", window=WINDOW)
    assert result.agent_status is AgentStatus.MAX_ITERATIONS
    assert result.run_state is RunState.BUDGET_EXHAUSTED
    assert result.fallback is not None
    assert seen.services == ["s1", "s2"]
    with pytest.raises(InputRefused, match="profile"):
        Harness(investigator=Asker(), limits="huge")


@dataclass
class Freeze:
    """A guard of somebody else."""

    asked: list[str] = field(default_factory=list)
    name: str = "freeze"
    order: int = 55
    cost: CostClass = CostClass.LOOKUP
    when: Moment = Moment.BEFORE_ACTING

    def check(self, state: object, request: object, action: object) -> GuardResult:
        self.asked.append("x")
        return GuardResult(refusal="FREEZE")


@pytest.mark.spec("H3")
async def test_a_guard_by_argument_takes_its_place_or_refuses_the_start() -> None:
    freeze, seen = Freeze(), Seen()
    harness = Harness(
        tools=[logs(seen)],
        model=ScriptedModel(SCRIPT),
        guards=[freeze],
    )
    result = await harness.run("Why?", window=WINDOW)
    assert freeze.asked == ["x"]
    assert seen.services == []
    assert result.outcome is ReleaseOutcome.FALLBACK or result.failure_code is not None
    with pytest.raises(InputRefused, match="costs more"):
        Harness(investigator=Asker(), guards=[Freeze(order=5)])
    with pytest.raises(InputRefused, match="no installed package"):
        Harness(investigator=Asker(), guards=["nobodys"])


@pytest.mark.spec("K3")
async def test_a_given_model_gets_its_configured_price() -> None:
    prices = {"scripted": ModelPrice.model_validate({"input": "10", "output": "20"})}
    settings = Settings(models=ModelsTable(prices=prices))
    harness = Harness(tools=[logs(Seen())], model=ScriptedModel(SCRIPT), settings=settings)
    result = await harness.run("Why?", window=WINDOW)
    price = Price(input_micros=10_000_000, output_micros=20_000_000)
    assert result.usage.money_micro == 3 * price.of(100, 50)


def test_a_harness_that_nobody_investigates_with_is_refused() -> None:
    with pytest.raises(InputRefused, match="nobody investigates"):
        Harness()
    with pytest.raises(InputRefused, match="both decide"):
        Harness(model=ScriptedModel(SCRIPT), investigator=Asker())
    with pytest.raises(InputRefused, match="names no model"):
        Harness(model="nothing")


@pytest.mark.spec("T5", "D1")
@pytest.mark.fault("R20", "R80")
async def test_a_source_that_nobody_has_heard_of_needs_no_change_anywhere() -> None:
    """The same honest report over a source type made up here is judged the same."""

    @tool(source_type="carrier-pigeon", name="error_logs")
    async def pigeons(service: str, window: Window) -> Lines:
        """Messages of a service."""
        return Lines([(window.start, LINE)], subject=service)

    harness = Harness(tools=[pigeons], model=ScriptedModel(SCRIPT))
    result = await harness.run("Why?", window=WINDOW)
    assert result.outcome is ReleaseOutcome.SUCCESS
    assert [line.source_type for line in result.coverage.lines] == ["carrier-pigeon"]
