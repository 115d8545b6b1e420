"""A run of its own for a test, on a real store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import AgentRequest, ToolCallRequest
from affidavit.contract.evidence import Quantity, Value, Window
from affidavit.contract.journal import Event, EventType
from affidavit.contract.limits import Limits
from affidavit.contract.states import RunState
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.chain import GENESIS, extend, to_us
from affidavit.core.fold import StepView
from affidavit.core.pen import Stage
from affidavit.core.run import Driver, Run, drive_lease
from affidavit.ports.clock import Clock
from affidavit.ports.store import Append, Artifact, RunHead, Store

RUN_ID = "run_0123456789abcdef"
TENANT = "acme"
WINDOW = Window(
    start=datetime(2026, 3, 2, 10, tzinfo=UTC), end=datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
)
LIMITS = Limits(iterations=10, tokens=1000, timeout_s=60, tool_calls=20, concurrency=4)


def request(run_id: str = RUN_ID, *, limits: Limits = LIMITS) -> AgentRequest:
    """A request over a closed window of the past."""
    return AgentRequest(
        run_id=run_id,
        tenant=TENANT,
        question="Why is checkout failing?",
        limits=limits,
        window=WINDOW,
    )


async def create_run(store: Store, asked: AgentRequest, clock: Clock) -> None:
    """The run exists on the store, with the one line that every run begins with."""
    content = canonical_json(asked.model_dump(mode="json"))
    data = {
        "tenant": asked.tenant,
        "request_digest": digest(content),
        "limits": asked.limits.model_dump(mode="json"),
        "agent": "test",
        "judge": "test",
        "catalogue_digest": "0" * 64,
        "policy_digest": "0" * 64,
        "version": "test",
    }
    started = Event(EventType.RUN_STARTED, data)
    entries = extend(asked.run_id, 1, GENESIS, clock.now(), (started,))
    head = RunHead(
        run_id=asked.run_id,
        tenant=asked.tenant,
        created_us=to_us(clock.now()),
        state=RunState.RUNNING,
        outcome=None,
        last_seq=1,
        question=asked.question,
        paused=False,
    )
    request_artifact = Artifact(digest(content), "request", content)
    await store.create(head, Append(entries, (request_artifact,), durable=True))


@asynccontextmanager
async def driven(
    store: Store | None = None,
    *,
    clock: Clock | None = None,
    asked: AgentRequest | None = None,
    holder: str = "test",
) -> AsyncIterator[Run]:
    """A run under its driver; created first where the store does not have it."""
    store, clock, asked = store or MemoryStore(), clock or SystemClock(), asked or request()
    if await store.head(asked.run_id) is None:
        await create_run(store, asked, clock)
    async with drive_lease(Driver(holder, store, clock), asked.run_id) as run:
        yield run


async def decide_calls(run: Run, *calls: ToolCallRequest) -> StepView:
    """The next step of the run asks for these calls; nothing is executed yet."""
    number = len(run.view.steps) + 1
    first = sum(len(step.calls) for step in run.view.steps) + 1
    ids = tuple(f"call_{first + place:04d}" for place in range(len(calls)))
    asked = [{"tool": call.tool, "arguments": dict(call.arguments)} for call in calls]
    content = json.dumps({"calls": asked, "note": ""}, sort_keys=True).encode()
    data = {"step": number, "decision": "ACT", "digest": digest(content), "calls": ids}
    event = Event(EventType.STEP_DECIDED, data)
    await run.record(Stage((event,), (Artifact(digest(content), "decision", content),)))
    return run.view.steps[-1]


def reading(subject: str = "checkout", number: str = "5", attribute: str = "errors") -> Value:
    """One reading in one line."""
    quantity = Quantity(number=Decimal(number), unit="1")
    return Value(subject=subject, attribute=attribute, quantity=quantity)
