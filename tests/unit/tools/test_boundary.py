"""The one way to act: order of a call, three results, nothing raw, nothing twice."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime

import anyio
import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.agent import AgentState, ObservationKind, ToolCallRequest
from affidavit.contract.errors import RunCancelled, ToolFailed
from affidavit.contract.evidence import Envelope, Fact, Scope
from affidavit.contract.journal import EventType
from affidavit.contract.limits import Limits
from affidavit.contract.record import Record
from affidavit.contract.states import EvidenceStatus, InvocationStatus
from affidavit.core.fold import StepView
from affidavit.core.run import Run
from affidavit.ledger.reader import take_snapshot
from affidavit.ledger.snapshot import LedgerSnapshot
from affidavit.testing.scripted import ScriptedArguments, scripted_tool
from affidavit.tools.acting import RAW_BYTES_MAX, RESULT_BYTES_MAX
from affidavit.tools.admission import Toolbox
from affidavit.tools.boundary import execute_step
from affidavit.tools.catalogue import Catalogue, Tool
from affidavit.tools.observation import Observer
from tests.support.runs import LIMITS, decide_calls, driven, reading, request

pytestmark = pytest.mark.anyio

Backend = Callable[[ScriptedArguments], Awaitable[tuple[Fact, ...]]]


async def found(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    return (reading(arguments.service or "checkout"),)


async def empty(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    return ()


def catalogue(**backends: Backend) -> Catalogue:
    """A catalogue of scripted tools by name."""
    return Catalogue.of(scripted_tool(name, backend) for name, backend in backends.items())


def ledger(run: Run, tools: Catalogue) -> LedgerSnapshot:
    return take_snapshot(run.id, run.request.tenant, run.view, run.contents, frozenset(tools.tools))


def ask(tool: str = "probe", **arguments: object) -> ToolCallRequest:
    return ToolCallRequest(tool, arguments)


async def execute(run: Run, tools: Catalogue, *calls: ToolCallRequest) -> None:
    step = await decide_calls(run, *calls)
    await finish(run, tools, step, calls)


async def finish(
    run: Run, tools: Catalogue, step: StepView, calls: tuple[ToolCallRequest, ...]
) -> None:
    """Settle a step with no guard around it."""
    state = AgentState(run.request, step.step, tools.specs())
    assert await execute_step(run, Toolbox(tools), state, step, calls) is None


def codes(run: Run) -> list[str | None]:
    return [call.code for call in run.view.calls.values()]


@pytest.mark.spec("T1", "T2", "E2", "C1")
async def test_a_call_goes_from_intent_to_ready_and_the_agent_sees_the_projection_alone() -> None:
    tools = catalogue(probe=found)
    async with driven() as run:
        await execute(run, tools, ask(service="cart"))
        life = [entry.type for entry in run.entries if "tool_call_id" in entry.data]
        assert life == [
            EventType.TOOL_CALL_INTENDED,
            EventType.TOOL_CALL_PROJECTING,
            EventType.TOOL_CALL_READY,
        ]
        (seen,) = Observer().observe(run.view, run.contents)
        assert seen.kind is ObservationKind.FOUND
        assert seen.envelope is not None
        assert seen.envelope.facts == (reading("cart"),)
        record = ledger(run, tools).calls["call_0001"].record
        assert record.status is InvocationStatus.READY
        assert record.is_referencable_by(run.id, run.request.tenant)
        assert not record.is_referencable_by("run_ffffffffffffffff", run.request.tenant)


@pytest.mark.spec("T4", "E3", "E16")
@pytest.mark.fault("R16", "R18")
async def test_found_empty_and_failed_are_three_results() -> None:
    async def broken(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        raise ToolFailed("forbidden: token=secret", code="FORBIDDEN")

    tools = catalogue(found=found, empty=empty, broken=broken)
    async with driven() as run:
        await execute(run, tools, ask("found"), ask("empty"), ask("broken"))
        records = [stored.record for stored in ledger(run, tools).calls.values()]
        assert [record.evidence_status for record in records] == [
            EvidenceStatus.EVIDENCE_FOUND,
            EvidenceStatus.NO_EVIDENCE,
            EvidenceStatus.ERROR,
        ]
        assert records[2].error_code == "FORBIDDEN"


@pytest.mark.spec("T3", "N2")
@pytest.mark.fault("R41", "R42")
async def test_an_error_leaves_a_code_and_no_word_of_its_text_anywhere() -> None:
    async def broken(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        raise ValueError("canary-5f1c in /etc/secret")

    tools = catalogue(probe=broken)
    async with driven() as run:
        await execute(run, tools, ask())
        assert codes(run) == ["TOOL_FAILED"]
        stored = b"".join(run.contents.values()) + repr(run.entries).encode()
        assert b"canary-5f1c" not in stored


def with_projection(project: Callable[[bytes, Scope], Envelope]) -> Catalogue:
    """A catalogue of one tool that answers well and projects as told."""
    tool = scripted_tool("probe", found)

    def projected(raw: bytes, arguments: Record, scope: Scope, now: datetime) -> Envelope:
        return project(raw, scope)

    return Catalogue.of([replace(tool, project=projected)])


def honest(scope: Scope) -> Envelope:
    """What an honest projection of one reading looks like."""
    tool = scripted_tool("probe", found)
    raw = json.dumps({"facts": [reading().model_dump(mode="json")]}).encode()
    return tool.project(raw, ScriptedArguments(), scope, datetime.fromisoformat("2026-03-02T11Z"))


@pytest.mark.spec("T3", "G7")
@pytest.mark.parametrize(
    "lie",
    [
        lambda scope: 1 / 0,
        lambda scope: honest(scope.__class__(tenant="other")),
        lambda scope: honest(scope).model_validate({**dict(honest(scope)), "count": 2}),
        lambda scope: honest(scope).model_validate(
            {**dict(honest(scope)), "notes": ("x" * RESULT_BYTES_MAX,)}
        ),
    ],
    ids=["raises", "another scope", "contradicts itself", "unbounded"],
)
async def test_a_projection_that_fails_is_an_error_and_raw_never_stands_in(
    lie: Callable[[Scope], Envelope],
) -> None:
    tools = with_projection(lambda raw, scope: lie(scope))
    async with driven() as run:
        await execute(run, tools, ask())
        assert codes(run) == ["PROJECTION_FAILED"]
        (seen,) = Observer().observe(run.view, run.contents)
        assert (seen.kind, seen.envelope) == (ObservationKind.FAILED, None)


@pytest.mark.spec("T3", "C15")
@pytest.mark.fault("R41")
async def test_a_response_beyond_its_bound_is_an_error_and_is_not_kept() -> None:
    tool = scripted_tool("probe", found)

    async def flood(arguments: Record, scope: Scope) -> bytes:
        return b"x" * (RAW_BYTES_MAX + 1)

    tools = Catalogue.of([replace(tool, fetch=flood)])
    async with driven() as run:
        await execute(run, tools, ask())
        assert codes(run) == ["RESULT_TOO_LARGE"]
        assert max(map(len, run.contents.values())) < 10_000


@pytest.mark.spec("H9", "T2")
@pytest.mark.fault("R52")
async def test_unknown_tools_and_wrong_arguments_are_refused_and_never_executed() -> None:
    ran: list[str] = []

    async def probe(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        ran.append(arguments.query)
        return (reading(),)

    tools = catalogue(probe=probe)
    async with driven() as run:
        await execute(
            run,
            tools,
            ask("kubectl_logs"),
            ask(service=7),
            ask(tenant="other"),
            ask(query=1.5),
            ask(query="good"),
        )
        assert codes(run) == [
            "TOOL_UNKNOWN",
            "ARGUMENTS_REFUSED",
            "ARGUMENTS_REFUSED",
            "ARGUMENTS_REFUSED",
            None,
        ]
        assert ran == ["good"]
        assert list(ledger(run, tools).calls) == ["call_0005"]


@pytest.mark.spec("T8")
async def test_an_equal_call_over_a_closed_window_is_answered_from_the_ledger() -> None:
    ran: list[str] = []

    async def probe(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        ran.append(arguments.query)
        return (reading(),)

    tools = catalogue(probe=probe)
    async with driven() as run:
        await execute(run, tools, ask(query="a"))
        await execute(run, tools, ask(query="a"), ask(query="b"))
        assert ran == ["a", "b"]
        seen = Observer().observe(run.view, run.contents)
        assert [item.tool_call_id for item in seen] == ["call_0001", "call_0001", "call_0003"]
        assert run.view.reserved_calls == 2


@pytest.mark.spec("T8")
async def test_a_polling_tool_and_a_failed_call_are_asked_again() -> None:
    ran: list[str] = []

    async def flaky(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        ran.append("flaky")
        raise ToolFailed("down", code="DOWN")

    async def poll(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        ran.append("poll")
        return (reading(),)

    tools = Catalogue.of([scripted_tool("flaky", flaky), scripted_tool("poll", poll, polling=True)])
    async with driven() as run:
        for _ in range(2):
            await execute(run, tools, ask("flaky"), ask("poll"))
        assert sorted(ran) == ["flaky", "flaky", "poll", "poll"]


@pytest.mark.spec("K3")
@pytest.mark.fault("F8", "F9")
async def test_eight_calls_with_a_limit_of_six_are_six_exactly_and_the_rest_names_the_limit() -> (
    None
):
    running, most = 0, 0

    async def probe(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.sleep(0.01)
        running -= 1
        return (reading(),)

    tools = catalogue(probe=probe)
    tight = LIMITS.model_validate({**dict(LIMITS), "tool_calls": 6, "concurrency": 3})
    async with driven(asked=request(limits=tight)) as run:
        await execute(run, tools, *(ask(query=str(place)) for place in range(8)))
        assert [run.view.calls[f"call_{n:04d}"].code for n in range(1, 9)] == [
            *[None] * 6,
            *["BUDGET_TOOL_CALLS"] * 2,
        ]
        assert run.view.reserved_calls == 6
        assert run.view.over_limit == "tool_calls"
        assert most == 3


@pytest.mark.spec("T2")
async def test_parallel_results_stand_in_the_order_asked_however_they_finish() -> None:
    gates = {name: anyio.Event() for name in "abc"}

    async def probe(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        await gates[arguments.query].wait()
        return (reading(arguments.query),)

    tools = catalogue(probe=probe)

    async def open_backwards() -> None:
        for name in "cba":
            await anyio.sleep(0.01)
            gates[name].set()

    async with driven() as run:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(open_backwards)
            await execute(run, tools, *(ask(query=name) for name in "abc"))
        ready = [
            entry.data["tool_call_id"]
            for entry in run.entries
            if entry.type is EventType.TOOL_CALL_READY
        ]
        assert ready == ["call_0001", "call_0002", "call_0003"]


@pytest.mark.spec("K5")
@pytest.mark.fault("R31")
async def test_a_tool_that_never_answers_is_a_timeout_and_the_run_goes_on() -> None:
    async def hang(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        await anyio.sleep_forever()
        return ()

    tools = Catalogue.of([scripted_tool("hang", hang, timeout_s=0.1), scripted_tool("ok", found)])
    async with driven() as run:
        await execute(run, tools, ask("hang"), ask("ok"))
        assert codes(run) == ["TIMEOUT", None]


@pytest.mark.spec("K5", "K6")
@pytest.mark.fault("R32", "F27")
async def test_a_cancel_reaches_a_running_tool_and_its_late_result_is_never_ready() -> None:
    ended: list[str] = []
    store = MemoryStore()

    async def slow(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        try:
            await store.post(request().run_id, "cancel", "somebody")
            await anyio.sleep_forever()
        except Exception:  # noqa: BLE001 - this is the tool that swallows whatever it can
            ended.append("swallowed")
        finally:
            ended.append("cleaned up")
        return (reading(),)

    tools = catalogue(probe=slow)
    with pytest.raises(RunCancelled):
        async with driven(store) as run:
            await execute(run, tools, ask())
    assert ended == ["cleaned up"]
    kinds = [entry.type for entry in await store.read(request().run_id)]
    assert EventType.CANCEL_REQUESTED in kinds
    assert EventType.TOOL_CALL_READY not in kinds


@pytest.mark.spec("K8", "K9")
@pytest.mark.fault("F13", "F15", "F17")
async def test_a_second_driver_keeps_what_was_recorded_and_reads_again_what_was_not() -> None:
    ran: list[str] = []
    store = MemoryStore()

    async def probe(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        ran.append(arguments.query)
        if arguments.query == "b" and ran.count("b") == 1:
            raise KeyboardInterrupt
        return (reading(arguments.query),)

    tools = catalogue(probe=probe)
    calls = (ask(query="a"), ask(query="b"), ask(query="c"))
    tight = Limits(iterations=5, tokens=0, timeout_s=60, tool_calls=3, concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        async with driven(store, asked=request(limits=tight)) as run:
            await execute(run, tools, *calls)
    async with driven(store, asked=request(limits=tight), holder="second") as run:
        step = run.view.open_step()
        assert step is not None
        await finish(run, tools, step, calls)
        assert ran == ["a", "b", "b", "c"]
        assert [call.attempts for call in run.view.calls.values()] == [1, 2, 2]
        assert run.view.reserved_calls == 3
        assert run.view.over_limit is None


@pytest.mark.spec("H9", "K9", "N14")
@pytest.mark.fault("R9", "R55")
async def test_a_tool_with_an_effect_is_refused_where_nobody_can_approve() -> None:
    ran: list[str] = []

    async def act(arguments: ScriptedArguments) -> tuple[Fact, ...]:
        ran.append("acted")
        return (reading(),)

    tool: Tool[Record] = replace(scripted_tool("restart", act), effect="write")
    async with driven() as run:
        await execute(run, Catalogue.of([tool]), ask("restart"))
        assert codes(run) == ["APPROVAL_UNAVAILABLE"]
        assert ran == []
