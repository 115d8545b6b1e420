"""Seven guards around whole runs: their order, what each refuses, and nothing runs behind them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from affidavit.contract.agent import (
    Action,
    AgentRequest,
    AgentState,
    Conclude,
    GiveUp,
    GuardResult,
    Moment,
    ToolCallRequest,
)
from affidavit.contract.decisions import DecisionId
from affidavit.contract.errors import RecordFailed, ToolFailed
from affidavit.contract.evidence import Fact
from affidavit.contract.journal import EventType
from affidavit.contract.limits import Limits
from affidavit.contract.report import ReleaseRecord
from affidavit.contract.states import AgentStatus, ReleaseOutcome
from affidavit.core.breaker import BreakerRule, Circuits, CircuitState
from affidavit.diagnose import Paused, drive, start
from affidavit.guards.audit import AuditGuard, AuditLine
from affidavit.guards.chain import CostClass, in_order
from affidavit.guards.permission import PermissionGuard, Permit, Policy, Predicate
from affidavit.guards.plugins import load_guards
from affidavit.guards.toggles import read_toggles
from affidavit.testing.scripted import ScriptedArguments, scripted_tool
from affidavit.wiring import standard_guards
from tests.support.acting import Theatre, permit_all, writing_tool
from tests.support.runs import LIMITS, RUN_ID, reading, request
from tests.support.worlds import act, conclude

pytestmark = pytest.mark.anyio

ASKED = request().model_validate({**dict(request()), "requested_by": "Ada"})
PASS = GuardResult()


def theatre(*script: Any, **more: Any) -> Theatre:
    return Theatre(list(script), asked=ASKED, **more)


@dataclass
class Probe:
    """A guard of somebody else's: notes what it was asked about, and says what it is told."""

    name: str = "probe-guard"
    order: int = 55
    cost: CostClass = CostClass.LOOKUP
    when: Moment = Moment.BEFORE_ACTING
    answer: GuardResult | Exception = PASS
    wait_s: float = 0.0
    asked: list[Action | None] = field(default_factory=list)

    async def check(
        self, state: AgentState, request: AgentRequest, action: Action | None
    ) -> GuardResult:
        self.asked.append(action)
        await anyio.sleep(self.wait_s)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def with_policy(stage: Theatre, policy: Policy) -> Callable[[], Awaitable[ReleaseRecord]]:
    """The run under another table of permissions."""

    async def run() -> ReleaseRecord:
        told = stage.world()
        kept = [guard for guard in told.collection.guards.guards if guard.name != "permission"]
        guards = in_order([*kept, PermissionGuard(policy)])
        told = replace(told, collection=replace(told.collection, guards=guards))
        await start(told, stage.asked)
        release = await drive(RUN_ID, told)
        assert isinstance(release, ReleaseRecord)
        return release

    return run


@pytest.mark.spec("H2", "H11", "A1", "V1")
async def test_seven_guards_are_asked_in_their_order_and_the_log_shows_it() -> None:
    stage = theatre(act("restart", service="cart"), GiveUp("done"))
    assert await stage.drive() == Paused(RUN_ID, "approval")
    await stage.decide("call_0001")
    await stage.finish()
    thinking = await stage.data(EventType.GUARDS_CHECKED)
    names = [name for name, _, _ in thinking[0]["verdicts"]]  # type: ignore[attr-defined]
    assert names == ["budget", "loop", "timeout", "circuit-breaker"]
    before, after = await stage.data(EventType.CALLS_CHECKED)
    assert before["calls"] == (
        (
            "call_0001",
            (
                ("audit", "PASS", "ENTERED"),
                ("permission", "PASS", ""),
                ("approval", "NEED_APPROVAL", "NEED_APPROVAL"),
            ),
        ),
    )
    assert after["calls"] == (
        (
            "call_0001",
            (
                ("audit", "PASS", "ENTERED"),
                ("permission", "PASS", ""),
                ("approval", "PASS", ""),
                ("audit", "PASS", "EXECUTED"),
            ),
        ),
    )
    kinds = await stage.kinds()
    assert kinds.index(EventType.CALLS_CHECKED) < kinds.index(EventType.TOOL_CALL_INTENDED)


@pytest.mark.spec("H9", "H11", "H2")
@pytest.mark.fault("R52")
async def test_unknown_tool_and_sensitive_arguments_are_refused_and_the_run_is_done() -> None:
    seen: list[str | None] = []

    def note(state: AgentState) -> Conclude:
        seen.extend(item.code for item in state.observations)
        return conclude()

    stage = theatre(act("look"), act("kubectl_logs", "look", service="kube-system"), note)
    only_shop = Predicate("service", "is not", "kube-system")
    policy = Policy((Permit("look", where=(only_shop,)), Permit("look", where=(ABSENT,))))
    release = await with_policy(stage, policy)()
    assert release.agent_status is AgentStatus.DONE
    assert release.decision is DecisionId.D1
    assert seen == [None, "TOOL_UNKNOWN", "PERMISSION_DENIED"]
    assert stage.outside.read == {"": 1}
    checked = await stage.data(EventType.CALLS_CHECKED)
    assert checked[1]["calls"] == (
        ("call_0002", (("audit", "BLOCKED", "TOOL_UNKNOWN"),)),
        (
            "call_0003",
            (
                ("audit", "PASS", "ENTERED"),
                ("permission", "REFUSED", "PERMISSION_DENIED"),
                ("audit", "BLOCKED", "PERMISSION_DENIED"),
            ),
        ),
    )


ABSENT = Predicate("service", "absent")


class Identified(ScriptedArguments):
    """Arguments of a tool that wants to know for whom it works."""

    tenant: str = ""
    run_id: str = ""
    user: str = ""


@pytest.mark.spec("H9", "N13", "T6")
async def test_identity_comes_from_the_context_whatever_the_agent_writes() -> None:
    asked: list[tuple[str, str, str]] = []

    async def backend(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        assert isinstance(arguments, Identified)
        asked.append((arguments.tenant, arguments.run_id, arguments.user))
        return (reading(),)

    stage = theatre(
        act("whose", tenant="rival", run_id="run_ffffffffffffffff", user="root"),
        act("whose", query="b"),
        act("look", tenant="rival"),
        GiveUp("done"),
    )
    stage.tools = (replace(scripted_tool("whose", backend), arguments=Identified),)
    await stage.finish()
    assert asked == [("acme", RUN_ID, "Ada")] * 2
    view = await stage.view()
    assert view.calls["call_0003"].code == "ARGUMENTS_REFUSED"
    contents = {item.digest: item.content for item in await stage.store.artifacts(RUN_ID)}
    assert b"rival" not in contents[view.calls["call_0001"].request_digest]


@pytest.mark.spec("H4", "H3")
@pytest.mark.fault("F41", "F43")
@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (GuardResult(AgentStatus.LOOP_DETECTED, "ENOUGH"), AgentStatus.LOOP_DETECTED),
        (GuardResult(AgentStatus.FAILED, "NO"), AgentStatus.FAILED),
        (GuardResult(AgentStatus.DONE, "NO"), AgentStatus.FAILED),
        (ValueError("canary"), AgentStatus.FAILED),
    ],
    ids=["stops", "fails", "a status that is no stop", "raises"],
)
async def test_a_slow_guard_that_stops_before_acting_stops_before_anything_is_done(
    answer: GuardResult | Exception, status: AgentStatus
) -> None:
    stage = theatre(act("look", "look", query="a"), GiveUp("done"))
    two = act("look", query="a").calls + act("look", query="b").calls
    stage.script = [replace(act(), calls=two), GiveUp("done")]
    stage.guards = (Probe(wait_s=0.2, answer=answer),)
    release = await stage.finish()
    assert release.agent_status is status
    assert stage.outside.read == {}
    refused = await stage.data(EventType.TOOL_CALL_REFUSED)
    assert [item["code"] for item in refused] == ["GUARD_STOPPED"] * 2
    (checked,) = await stage.data(EventType.CALLS_CHECKED)
    assert "probe-guard" in repr(checked)
    assert "canary" not in repr(await stage.entries())


@pytest.mark.spec("H4")
@pytest.mark.fault("F43")
async def test_a_guard_that_breaks_before_thinking_is_named_on_record() -> None:
    stage = theatre(act("look"), GiveUp("done"))
    stage.guards = (
        Probe(when=Moment.BEFORE_THINKING, order=35, cost=CostClass.MEMORY, answer=OSError("x")),
    )
    release = await stage.finish()
    assert (release.agent_status, release.decision) == (AgentStatus.FAILED, DecisionId.D15)
    (checked,) = await stage.data(EventType.GUARDS_CHECKED)
    assert checked["verdicts"][-1] == ("probe-guard", "FAILED", "GUARD_FAILED")  # type: ignore[index]
    assert stage.outside.read == {}


@pytest.mark.spec("H3")
async def test_a_guard_of_another_package_guards_a_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_quiet.py").write_text(
        "from affidavit.contract.agent import GuardResult, Moment\n"
        "from affidavit.guards.chain import CostClass\n"
        "class Quiet:\n"
        "    name, order, cost, when = 'quiet', 58, CostClass.LOOKUP, Moment.BEFORE_ACTING\n"
        "    def check(self, state, request, action):\n"
        "        loud = action.arguments.get('query') == 'loud'\n"
        "        return GuardResult(refusal='QUIET_HOURS') if loud else GuardResult()\n"
    )
    info = tmp_path / "acme_quiet-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme_quiet\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[affidavit.guards]\nquiet = acme_quiet:Quiet\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    stage = theatre(act("look"), act("look", query="loud"), conclude())
    stage.guards = load_guards(("quiet",))
    release = await stage.finish()
    assert release.decision is DecisionId.D1
    assert stage.outside.read == {"": 1}
    assert (await stage.view()).calls["call_0002"].code == "QUIET_HOURS"


async def broken(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    """The back end is down."""
    raise OSError("canary: connection refused")


RULE = BreakerRule(failures_max=3, open_s=60, probe_s=10)


@pytest.mark.spec("H8", "T2", "H11")
async def test_a_back_end_that_is_down_is_not_asked_any_more_and_the_run_is_done() -> None:
    asked: list[str] = []

    async def down(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        asked.append(arguments.query)
        raise OSError("canary")

    steps = [act("down", query=query) for query in "abc"]
    stage = theatre(*steps, act("down", "look", query="d"), GiveUp("done"), backends={"down": down})
    stage.circuits = Circuits(stage.clock, RULE)
    release = await stage.finish()
    assert release.agent_status is AgentStatus.DONE
    view = await stage.view()
    assert view.calls["call_0004"].code == "CIRCUIT_OPEN"
    assert view.calls["call_0004"].settled is EventType.TOOL_CALL_REFUSED
    assert asked == ["a", "b", "c"]
    assert view.reserved_calls == 4, "what is not asked costs nothing"
    assert stage.circuits.breaker("tool:down-backend").state is CircuitState.OPEN
    assert stage.circuits.breaker("tool:look-backend").state is CircuitState.CLOSED


@pytest.mark.spec("H8")
@pytest.mark.fault("F45")
async def test_of_many_calls_to_a_back_end_that_may_be_back_one_probes() -> None:
    asked: list[str] = []

    async def backend(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        asked.append(arguments.query)
        return (reading(),)

    calls = tuple(ToolCallRequest("down", {"query": str(n)}) for n in range(16))
    stage = theatre(replace(act(), calls=calls), GiveUp("done"), backends={"down": backend})
    stage.circuits = Circuits(stage.clock, RULE)
    breaker = stage.circuits.breaker("tool:down-backend")
    for _ in range(RULE.failures_max):
        with pytest.raises(OSError, match="canary"):
            await breaker.run(lambda: broken(ScriptedArguments()))
    await stage.clock.advance(RULE.open_s)
    await stage.finish()
    assert asked == ["0"]
    codes = [call.code for call in (await stage.view()).calls.values()]
    assert (codes.count(None), codes.count("CIRCUIT_OPEN")) == (1, 15)
    assert breaker.state is CircuitState.CLOSED


@pytest.mark.spec("H8", "T4")
@pytest.mark.parametrize(
    ("error", "state"),
    [
        (None, CircuitState.CLOSED),
        (ToolFailed("", code="FORBIDDEN"), CircuitState.CLOSED),
        (ToolFailed("", code="HTTP_429"), CircuitState.CLOSED),
        (ToolFailed("", code="HTTP_503"), CircuitState.OPEN),
        (ToolFailed("", code="SOURCE_UNAVAILABLE"), CircuitState.OPEN),
        (OSError("canary"), CircuitState.OPEN),
    ],
    ids=["nothing found", "forbidden", "4xx", "5xx", "unavailable", "broken"],
)
async def test_what_counts_against_a_back_end_and_what_does_not(
    error: Exception | None, state: CircuitState
) -> None:
    async def backend(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        if error is not None:
            raise error
        return ()

    stage = theatre(
        *[act("down", query=q) for q in ("red", "green", "blue")],
        GiveUp("done"),
        backends={"down": backend},
    )
    stage.circuits = Circuits(stage.clock, RULE)
    await stage.finish()
    assert stage.circuits.breaker("tool:down-backend").state is state


@pytest.mark.spec("T2", "T8", "H2")
async def test_the_order_of_one_call_is_the_order_in_which_doors_close() -> None:
    """Each door is tried with everything before it open and everything after it shut."""
    probe = Probe()
    stage = theatre(
        act("look", query="a"),
        act("look", query="a"),  # a duplicate asks nobody
        act("denied"),  # permission stands before approval
        act("restart", service="x"),  # approval stands before the breaker
        GiveUp("done"),
    )
    stage.clock.shift(3600)
    stage.tools = (writing_tool("denied", stage.outside.restart),)
    stage.circuits = Circuits(stage.clock, RULE)
    for name in ("denied", "restart"):
        for _ in range(RULE.failures_max):
            breaker = stage.circuits.breaker(f"tool:{name}-backend")
            with pytest.raises(OSError, match="canary"):
                await breaker.run(lambda: broken(ScriptedArguments()))
    tight = Limits.model_validate({**dict(LIMITS), "tool_calls": 1})
    stage.asked = ASKED.model_validate({**dict(ASKED), "limits": tight})
    told = stage.world()
    kept = [guard for guard in told.collection.guards.guards if guard.name != "permission"]
    guards = in_order([*kept, permit_all(["look", "restart"]), probe])
    told = replace(told, collection=replace(told.collection, guards=guards))
    await start(told, stage.asked)
    assert await drive(RUN_ID, told) == Paused(RUN_ID, "approval")
    view = await stage.view()
    assert view.calls["call_0002"].reused_of == "call_0001"
    assert view.calls["call_0003"].code == "PERMISSION_DENIED"
    assert [item.tool_call_id for item in probe.asked if item] == ["call_0001", "call_0004"]
    await stage.decide("call_0004")
    await drive(RUN_ID, told)
    view = await stage.view()
    assert view.calls["call_0004"].code == "CIRCUIT_OPEN", "the breaker stands before the budget"
    assert view.over_limit is None
    assert stage.outside.most == 0


@pytest.mark.spec("H2", "L5", "N15", "A1")
async def test_when_the_audit_cannot_write_nothing_is_executed_and_the_run_goes_on_later() -> None:
    lines: list[AuditLine] = []
    is_down = True

    async def sink(line: AuditLine) -> None:
        if is_down:
            raise OSError("no space left")
        lines.append(line)

    stage = theatre(act("look"), conclude())
    told = stage.world()
    kept = [guard for guard in told.collection.guards.guards if guard.name != "audit"]
    guards = in_order([*kept, AuditGuard(sink)])
    told = replace(told, collection=replace(told.collection, guards=guards))
    with pytest.raises(RecordFailed):
        await start(told, stage.asked)
    assert await stage.store.head(RUN_ID) is None, "a request that cannot be audited is no run"
    is_down = False
    await start(told, stage.asked)
    is_down = True
    with pytest.raises(RecordFailed) as caught:
        await drive(RUN_ID, told)
    assert caught.value.code == "AUDIT_FAILED"
    assert stage.outside.read == {}
    is_down = False
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    assert release.outcome is ReleaseOutcome.SUCCESS
    said = [(line.word, line.tool_call_id) for line in lines]
    assert said == [
        ("ENTERED", ""),
        ("ENTERED", "call_0001"),
        ("EXECUTED", "call_0001"),
        ("ENDED", ""),
    ]


@pytest.mark.spec("H5")
@pytest.mark.parametrize(
    ("off", "happens"),
    [
        ("loop", AgentStatus.MAX_ITERATIONS),
        ("permission", AgentStatus.LOOP_DETECTED),
        ("audit", AgentStatus.LOOP_DETECTED),
        ("circuit-breaker", AgentStatus.LOOP_DETECTED),
    ],
)
async def test_a_guard_that_is_off_is_not_there_and_the_others_are(
    off: str, happens: AgentStatus
) -> None:
    stage = theatre(act("down", query="a"))
    told = stage.world()
    guards = standard_guards(told.collection.catalogue.specs(), read_toggles({off: False}))
    assert off not in [guard.name for guard in guards.guards]
    told = replace(told, collection=replace(told.collection, guards=guards))
    await start(told, stage.asked)
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    assert release.agent_status is happens


@pytest.mark.spec("H2", "N14")
@pytest.mark.fault("F44")
async def test_the_boundary_is_the_only_place_where_a_tool_is_run() -> None:
    """F44: every way to act goes through one executor; nobody else calls a tool's functions."""
    source = Path(__file__).parents[2] / "src" / "affidavit"
    runs = [
        file.relative_to(source).as_posix()
        for file in sorted(source.rglob("*.py"))
        if ".tool.run(" in file.read_text() or ".perform(" in file.read_text()
    ]
    assert runs == ["tools/acting.py", "tools/catalogue.py"]
