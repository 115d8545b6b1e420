"""The one way to act: from a call that an agent asks for to a canonical record (T1 to T4, T8).

Order of one call (T2): run alive → duplicate → known tool and arguments → effect permitted →
reservation → intent → execute → PROJECTING → project → READY or ERROR. The progress gate stands
before this, in the loop. A call that is refused was never executed, and its agent learns a code.

Deliberately absent: retries (K7 has one place for them, and it is not here), and any text of an
error (T3): a stable code is what agents and guards see.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.errors import RecordFailed, ToolFailed
from affidavit.contract.evidence import Envelope, Scope
from affidavit.contract.journal import Event, EventType
from affidavit.contract.record import Record
from affidavit.core.canonical import NotCanonical, canonical_json, digest
from affidavit.core.fold import BUDGET_CODE_PREFIX, CallView, RunView, StepView
from affidavit.core.parallel import run_side_by_side
from affidavit.core.run import CallTimedOut, Run, Stage
from affidavit.ledger.writer import (
    CallHeader,
    Written,
    fail,
    intend,
    project,
    refuse,
    reuse,
    settle,
)
from affidavit.tools.catalogue import ArgumentsRefused, Catalogue, Tool, ToolContext

RAW_BYTES_MAX: Final = 8_000_000
"""A raw response beyond this is a back end that ignores its bound; nothing of it is kept."""

RESULT_BYTES_MAX: Final = 64_000
"""A projection that an agent can read and a guard can hold; what is larger was not bounded."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """A call that may run: its tool, its typed arguments, its header, and which attempt it is."""

    tool: Tool[Record]
    arguments: Record
    header: CallHeader
    attempt: int


async def execute_step(
    run: Run, catalogue: Catalogue, step: StepView, calls: tuple[ToolCallRequest, ...]
) -> None:
    """Settle every call of the step that is not settled yet.

    What an earlier driver recorded is kept; a read that it left unfinished is read again, an
    effect that it left unfinished is OUTCOME_UNKNOWN and never repeated (K8, K9).
    """
    await run.check()
    planned: list[_Planned] = []
    settled_now: list[Written] = []
    seen: set[str] = set()
    room = run.request.limits.tool_calls - run.view.reserved_calls
    for tool_call_id, call in zip(step.calls, calls, strict=True):
        if run.view.is_settled(tool_call_id):
            continue
        plan = _plan(run, catalogue, step.step, tool_call_id, call, seen)
        if isinstance(plan, _Planned) and plan.attempt == 1 and room <= 0:
            plan = refuse(step.step, tool_call_id, call.tool, BUDGET_CODE_PREFIX + "TOOL_CALLS")
        if isinstance(plan, Written):
            settled_now.append(plan)
            continue
        planned.append(plan)
        room -= 1 if plan.attempt == 1 else 0
    intents = [intend(plan.header, plan.attempt) for plan in planned]
    await _append(run, [*settled_now, *intents], durable=any(_is_effect(plan) for plan in planned))
    await _run_all(run, planned)


def refuse_calls(
    step: int, ids: tuple[str, ...], calls: tuple[ToolCallRequest, ...], code: str
) -> tuple[Event, ...]:
    """The lines of a step none of whose calls is executed."""
    return tuple(
        event
        for tool_call_id, call in zip(ids, calls, strict=True)
        for event in refuse(step, tool_call_id, _bounded_name(call.tool), code).events
    )


async def _run_all(run: Run, planned: list[_Planned]) -> None:
    async def settle_one(place: int, written: Written) -> None:
        await _append(run, [written], durable=_is_effect(planned[place]))

    await run_side_by_side(
        [partial(_execute, run, plan) for plan in planned],
        settle_one,
        concurrency=run.request.limits.concurrency,
    )


async def _append(run: Run, written: list[Written], *, durable: bool) -> None:
    events = tuple(event for item in written for event in item.events)
    artifacts = tuple(kept for item in written for kept in item.artifacts)
    if events:
        await run.record(Stage(events, artifacts, durable=durable))


def _is_effect(plan: _Planned) -> bool:
    return plan.tool.effect != "read"


def _plan(
    run: Run,
    catalogue: Catalogue,
    step: int,
    tool_call_id: str,
    call: ToolCallRequest,
    seen: set[str],
) -> _Planned | Written:
    """What becomes of one call before anything is executed."""
    tool = catalogue.tools.get(call.tool)
    if tool is None:
        return refuse(step, tool_call_id, _bounded_name(call.tool), "TOOL_UNKNOWN")
    context = ToolContext(run.id, run.request.tenant, run.request.window, run.clock.now())
    try:
        arguments = tool.read_arguments(call.arguments)
        scope = tool.scope_of(arguments, context)
    except (ArgumentsRefused, NotCanonical, ValueError):
        return refuse(step, tool_call_id, tool.name, "ARGUMENTS_REFUSED")
    header = CallHeader(
        step, tool_call_id, tool.name, call.arguments, scope, tool.evidence_class, tool.effect
    )
    signature = signature_of(tool.name, call.arguments, scope)
    if signature in seen:
        return refuse(step, tool_call_id, tool.name, "DUPLICATE_IN_STEP")
    seen.add(signature)
    earlier = _equal_earlier(run, tool, signature, scope)
    if earlier is not None:
        return reuse(step, tool_call_id, earlier)
    attempts = run.view.calls[tool_call_id].attempts if tool_call_id in run.view.calls else 0
    if tool.effect != "read":
        if attempts:
            return fail(tool_call_id, "OUTCOME_UNKNOWN")
        # No approver, no effect: the approval gateway is the only way to act.
        return refuse(step, tool_call_id, tool.name, "APPROVAL_UNAVAILABLE")
    return _Planned(tool, arguments, header, attempts + 1)


_NAME_CHARS_MAX: Final = 64
"""What a made-up tool name may take up in the journal."""


def _bounded_name(name: str) -> str:
    return "".join(char for char in name if char.isascii() and char.isprintable())[:_NAME_CHARS_MAX]


def signature_of(tool: str, arguments: Mapping[str, object], scope: Scope) -> str:
    """What makes two calls the same question (T8)."""
    return digest(canonical_json([tool, arguments, scope.model_dump(mode="json")]))


def _equal_earlier(run: Run, tool: Tool[Record], signature: str, scope: Scope) -> str | None:
    """The earlier READY call that already answers this one, or None (T8)."""
    if tool.polling or scope.window is None or scope.window.end > run.clock.now():
        return None
    for key, known in reversed(_ready_calls(run.view)):
        if known.effect != "read":
            return None
        request = run.contents.get(known.request_digest)
        if request is not None and _signature_in(request) == signature:
            return key
    return None


def _ready_calls(view: RunView) -> list[tuple[str, CallView]]:
    return [
        (key, call)
        for key, call in view.calls.items()
        if call.settled is EventType.TOOL_CALL_READY or call.effect != "read"
    ]


def _signature_in(request: bytes) -> str:
    header = json.loads(request)
    return digest(canonical_json([header["tool"], header["arguments"], header["scope"]]))


async def _execute(run: Run, plan: _Planned) -> Written:
    """Run one call to its READY or ERROR; a stop of the run passes through."""
    key = plan.header.tool_call_id
    try:
        raw = await run.interruptible(
            lambda: plan.tool.fetch(plan.arguments, plan.header.scope), plan.tool.timeout_s
        )
    except CallTimedOut:
        return fail(key, "TIMEOUT")
    except ToolFailed as failed:
        return fail(key, failed.code)
    except RecordFailed:
        raise
    except Exception:  # noqa: BLE001 - whatever a tool raises is its failure, and a code (T3)
        return fail(key, "TOOL_FAILED")
    if len(raw) > RAW_BYTES_MAX:
        return fail(key, "RESULT_TOO_LARGE")
    stored = project(key, raw)
    envelope = _project(plan, raw, run.clock.now)
    last = fail(key, envelope) if isinstance(envelope, str) else settle(key, envelope)
    return Written((*stored.events, *last.events), (*stored.artifacts, *last.artifacts))


def _project(plan: _Planned, raw: bytes, now: Callable[[], datetime]) -> Envelope | str:
    """The bounded projection, or the stable code that says why there is none."""
    try:
        envelope = plan.tool.project(raw, plan.arguments, plan.header.scope, now())
    except Exception:  # noqa: BLE001 - raw never stands in for a projection that failed (T3)
        return "PROJECTION_FAILED"
    fits = (
        envelope.scope == plan.header.scope
        and envelope.evidence_class is plan.header.evidence_class
        and envelope.contradiction() is None
        and len(canonical_json(envelope.model_dump(mode="json"))) <= RESULT_BYTES_MAX
    )
    return envelope if fits else "PROJECTION_FAILED"
