"""The one way to act: from the calls of a step to canonical records (T1, T2, T8, K9).

Order of one call (T2): run alive → duplicate → permission and identity → approval → breaker →
reservation → intent → execute → PROJECTING → project → READY or ERROR. The progress gate stands
before this, in the loop. What is refused is never executed, and its agent learns a code.

    planning   what the call is                      acting     the call itself
    admission  whether anybody objects               approval   what a person is asked

Every call of every kind of agent comes through here (F44): a tool is run in one place.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import partial
from typing import Final

from affidavit.contract.agent import AgentState, GuardResult, ToolCallRequest
from affidavit.contract.errors import PauseAsked
from affidavit.contract.journal import Event
from affidavit.core.breaker import Outcome
from affidavit.core.chain import to_us
from affidavit.core.fold import OUTCOME_UNKNOWN, StepView
from affidavit.core.parallel import run_side_by_side
from affidavit.core.pen import Stage
from affidavit.core.run import APPROVAL, OUTCOME, Run
from affidavit.ledger.writer import Written, fail, intend, refuse
from affidavit.tools.acting import Admitted, act
from affidavit.tools.admission import Admission, Toolbox
from affidavit.tools.approval import APPROVAL_WAIT_S
from affidavit.tools.planning import told_name


async def execute_step(
    run: Run,
    toolbox: Toolbox,
    state: AgentState,
    step: StepView,
    calls: tuple[ToolCallRequest, ...],
) -> GuardResult | None:
    """Settle every call of the step that is not settled yet; a guard's stop of the run, or None.

    What an earlier driver recorded is kept; a read that it left unfinished is read again, an
    effect that it left unfinished is OUTCOME_UNKNOWN and never repeated (K8, K9). Raises PauseAsked
    when a person has to decide first; all calls that need nobody are settled by then (F17).
    """
    await run.check()
    admission = Admission(run, toolbox, state, step.step)
    try:
        for tool_call_id, call in zip(step.calls, calls, strict=True):
            if not run.view.is_settled(tool_call_id):
                await admission.take(tool_call_id, call)
        if admission.stop is not None:
            await _refuse_all(run, admission, step, calls)
            return admission.stop
        intents = [intend(item.plan.header, item.plan.attempt) for item in admission.admitted]
        for item, intent in zip(admission.admitted, intents, strict=True):
            toolbox.signatures[intent.artifacts[0].digest] = item.plan.signature
        written = [admission.line(), *admission.settled, *admission.asks, *intents]
        await _append(run, written, durable=admission.must_be_durable)
        await _run_all(run, admission.admitted)
    finally:
        for item in admission.admitted:
            item.say(Outcome.NEITHER)
    _wait_for_people(run)
    return None


OUTCOME_WAIT_S: Final = APPROVAL_WAIT_S
"""How long a run waits for an operator to say what became of an effect; then it goes on without."""


def _wait_for_people(run: Run) -> None:
    """Raise PauseAsked while a person has to decide about a call of the open step."""
    waiting = run.view.waiting()
    if waiting:
        first_us = min(call.approval.expires_us for call in waiting if call.approval is not None)
        keys = tuple(call.tool_call_id for call in waiting)
        raise PauseAsked(APPROVAL, first_us + 1, keys)


async def wait_for_outcomes(run: Run) -> None:
    """Raise PauseAsked while an effect's outcome is unknown and an operator may still tell (K9).

    An agent that went on would act on a world that nobody knows.
    """
    if not run.view.unresolved():
        return
    await run.check()  # what an operator said meanwhile is taken in first
    now_us, wait_us = to_us(run.clock.now()), OUTCOME_WAIT_S * 1_000_000
    open_ = [
        (call.completed_us + wait_us, call.tool_call_id)
        for call in run.view.unresolved()
        if call.completed_us is not None and now_us < call.completed_us + wait_us
    ]
    if open_:
        raise PauseAsked(OUTCOME, min(open_)[0], tuple(key for _, key in open_))


async def _refuse_all(
    run: Run, admission: Admission, step: StepView, calls: Sequence[ToolCallRequest]
) -> None:
    """A guard stops the run: of the whole step nothing is executed."""
    written = [admission.line(), *admission.settled]
    done = {str(event.data["tool_call_id"]) for item in admission.settled for event in item.events}
    for tool_call_id, call in zip(step.calls, calls, strict=True):
        if not run.view.is_settled(tool_call_id) and tool_call_id not in done:
            written.append(await admission.block(tool_call_id, call.tool, "GUARD_STOPPED"))
    await _append(run, written, durable=False)


async def _run_all(run: Run, admitted: Sequence[Admitted]) -> None:
    async def settle_one(place: int, written: Written) -> None:
        await _append(run, [written], durable=admitted[place].plan.has_effect)

    await run_side_by_side(
        [partial(act, run, item) for item in admitted],
        settle_one,
        concurrency=run.request.limits.concurrency,
    )


async def _append(run: Run, written: Sequence[Written], *, durable: bool) -> None:
    stage = Stage(
        events=tuple(event for item in written for event in item.events),
        artifacts=tuple(kept for item in written for kept in item.artifacts),
        durable=durable,
        asked=tuple(ask for item in written for ask in item.asked),
        answered=tuple(key for item in written for key in item.answered),
    )
    if stage.events:
        await run.record(stage)


def refuse_calls(
    step: int, ids: tuple[str, ...], named: tuple[str, ...], code: str
) -> tuple[Event, ...]:
    """The lines of a step none of whose calls is executed; `named` are their tools, as told."""
    return tuple(
        event
        for tool_call_id, name in zip(ids, named, strict=True)
        for event in refuse(step, tool_call_id, name, code).events
    )


def close_calls(
    run: Run, calls: Sequence[ToolCallRequest], code: str, tools: Container[str]
) -> Stage:
    """What settles the calls that are open when a collection ends: each has its last line (F28).

    One that was under way is ERROR, and an effect under way OUTCOME_UNKNOWN; one that never began
    is refused. Without open calls the stage is empty.
    """
    step = run.view.open_step()
    written: list[Written] = []
    for tool_call_id, call in zip(step.calls, calls, strict=True) if step else ():
        known = run.view.calls.get(tool_call_id)
        if known is not None and known.settled is not None:
            continue
        if known is not None and known.attempts:
            unknown = known.effect != "read"
            written.append(fail(tool_call_id, OUTCOME_UNKNOWN if unknown else code))
        else:
            name = told_name(call.tool, tools)
            written.append(refuse(step.step if step else 0, tool_call_id, name, code))
    return Stage(
        events=tuple(event for item in written for event in item.events),
        answered=tuple(key for item in written for key in item.answered),
        durable=bool(written),
    )
