"""Collecting evidence: the loop that the harness owns and an agent only decides in (H1, K8, P3).

    open step left by an earlier driver? → finish it
    an effect whose outcome is unknown?  → wait for whoever can tell
    may the next step happen?            → guards
    what is the next step?               → the agent
    enough seen already?                 → one stop notice, then one turn without tools
    settle every call of the step        → tools

Every way out is one COLLECTION_ENDED line with an `Ending`; nothing here decides what is published.
"""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import Final

from affidavit.contract.agent import (
    Act,
    AgentState,
    Conclude,
    Decision,
    Ending,
    GiveUp,
    GuardResult,
    Investigator,
    Moment,
    ToolCallRequest,
)
from affidavit.contract.errors import (
    BudgetSpent,
    DeadlineReached,
    ModelFailed,
    PauseAsked,
    RecordFailed,
    RunCancelled,
    RunStopped,
)
from affidavit.contract.ids import call_id
from affidavit.contract.journal import Event, EventType
from affidavit.contract.states import (
    BRANCH_STATUSES,
    AgentStatus,
    DiagnosisStopReason,
    IntentType,
)
from affidavit.core.breaker import Circuits, CircuitState
from affidavit.core.canonical import digest
from affidavit.core.pen import Stage
from affidavit.core.run import Run
from affidavit.guards.chain import GuardChain, Verdict
from affidavit.guards.circuit import CIRCUIT_OPEN
from affidavit.ledger.reader import Earlier, take_snapshot
from affidavit.ledger.snapshot import LedgerSnapshot
from affidavit.ports.store import Artifact
from affidavit.progress.saturation import Admission, News, admit_calls, saturation
from affidavit.progress.tracker import Tracker, retrace
from affidavit.tools.admission import Toolbox
from affidavit.tools.boundary import (
    close_calls,
    execute_step,
    refuse_calls,
    wait_for_outcomes,
)
from affidavit.tools.catalogue import Catalogue
from affidavit.tools.observation import Observer, calls_of
from affidavit.tools.planning import told_name

CALLS_PER_STEP_MAX: Final = 16
"""More side by side than this is a fan-out, not a question; the rest of a step is not asked."""


@dataclass(slots=True)
class Recall:
    """What one drive of one run has read back already, so that nothing is read twice: its steps,
    its ledger as it stood last, what earlier requests asked, and what results said.

    It is made when a drive begins to collect and goes with it, so it is bounded by one run. What is
    released is read anew.
    """

    observer: Observer = field(default_factory=Observer)
    ledger: LedgerSnapshot | None = None
    signatures: dict[str, str] = field(default_factory=dict)
    news: News = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Collection:
    """Who collects, with what, under which guards.

    `circuits` are the breakers of all dependencies, shared by the runs of a process, or None: none
    is ever open. `models` are the dependencies that the investigator thinks with, `intent` is the
    branch.
    """

    investigator: Investigator
    catalogue: Catalogue
    guards: GuardChain
    circuits: Circuits | None = None
    models: tuple[str, ...] = ()
    intent: IntentType = IntentType.DIAGNOSIS
    recall: Recall = field(default_factory=Recall, repr=False, compare=False)

    @property
    def toolbox(self) -> Toolbox:
        """What the boundary needs of it."""
        return Toolbox(self.catalogue, self.guards, self.circuits, self.recall.signatures)


_ENDED: Final = {
    AgentStatus.BUDGET_EXCEEDED: Ending.BUDGET_EXHAUSTED,
    AgentStatus.MAX_ITERATIONS: Ending.BUDGET_EXHAUSTED,
    AgentStatus.TIMEOUT: Ending.TIMED_OUT,
    AgentStatus.LOOP_DETECTED: Ending.LOOP_DETECTED,
    AgentStatus.CANCELLED: Ending.CANCELLED,
}
"""How collecting ends when a guard stops it with that status; any other status is a failure."""

NO_MODEL_LEFT: Final = GuardResult(AgentStatus.FAILED, CIRCUIT_OPEN)
"""What the circuit breaker's guard says when there is nobody to ask (E20)."""

_CLOSED: Final = {
    Ending.CANCELLED: "CANCELLED",
    Ending.TIMED_OUT: "DEADLINE",
}
"""What stands on a call that is open when collecting ends so; otherwise STOPPED."""


async def collect(run: Run, collection: Collection) -> None:
    """Drive the agent until its part is over; the journal then says how it ended.

    Raises `RecordFailed` and `PauseAsked`, after which the run can be driven again; everything
    else ends the collection, and says why.
    """
    tools = collection.catalogue.tools
    collection = replace(collection, recall=Recall())
    try:
        await enter_branch(run, collection.intent)
        while not run.view.is_collected:
            await _advance(run, collection)
    except (RecordFailed, PauseAsked):
        raise
    except RunStopped as stop:
        await end_stopped(run, stop, tools)
    except ModelFailed:  # whoever decides has nobody left
        await _end(run, Ending.NO_MODEL_LEFT, AgentStatus.FAILED, tools=tools)
    except Exception:  # noqa: BLE001 - an agent or a guard that breaks ends its own run only (D15)
        await _end(run, Ending.INTERNAL_FAILURE, AgentStatus.FAILED, tools=tools)


async def enter_branch(run: Run, intent: IntentType, step: int = 1) -> None:
    """The status that a branch has at its n-th step; its last one from then on (E9)."""
    statuses = BRANCH_STATUSES[intent]
    status = statuses[min(step, len(statuses)) - 1]
    entered = run.view.status in statuses[statuses.index(status) :]
    if not (entered or run.view.is_collected):
        await run.note(Event(EventType.STATUS_CHANGED, {"status": str(status)}))


async def _advance(run: Run, collection: Collection) -> None:
    """One turn: finish what is open, or ask guards and agent for the next step."""
    open_step = run.view.open_step()
    if open_step is not None:
        calls = calls_of(run.contents[open_step.digest])
        state = _state(run, collection, open_step.step)
        stop = await execute_step(run, collection.toolbox, state, open_step, calls)
        if stop is not None:
            await _end_guarded(run, stop)
        return
    await wait_for_outcomes(run)
    step = len(run.view.steps) + 1
    await enter_branch(run, collection.intent, step)
    state = _state(run, collection, step)
    verdicts = await collection.guards.ask(Moment.BEFORE_THINKING, state, run.request)
    await run.ride(Stage((_guards_checked(step, Moment.BEFORE_THINKING, verdicts),)))
    stopped = next((item.result for item in verdicts if not item.result.passed), None)
    if stopped is not None:
        await _end_guarded(run, stopped)
        return
    decision = await run.interruptible(lambda: collection.investigator.decide(state))
    await _take(run, collection, step, decision)


async def _end_guarded(run: Run, stop: GuardResult) -> None:
    """A guard ended the collection; one that fails, or means no end that there is, failed it."""
    ending = None if stop.status is None else _ENDED.get(stop.status)
    if stop == NO_MODEL_LEFT:
        ending = Ending.NO_MODEL_LEFT
    if ending is None or stop.status is None:
        await _end(run, Ending.INTERNAL_FAILURE, AgentStatus.FAILED)
    else:
        await _end(run, ending, stop.status)


async def _take(run: Run, collection: Collection, step: int, decision: Decision) -> None:
    """Record the decision; its calls are executed by the next turn, as after a resume."""
    match decision:
        case Act(calls=calls, note=note):
            await _take_calls(run, collection, step, calls[:CALLS_PER_STEP_MAX], note)
        case Conclude(draft=draft):
            content = draft.encode() if isinstance(draft, str) else _encode(draft)
            decided = _decided(step, "CONCLUDE", content)
            ending = Ending.CONCLUDED if _is_object(content) else Ending.UNREADABLE
            await _end(run, ending, AgentStatus.DONE, decided, draft_digest=digest(content))
        case GiveUp(reason=reason):
            decided = _decided(step, "GIVE_UP", _encode({"reason": reason}))
            await _end(run, Ending.GAVE_UP, AgentStatus.DONE, decided)


async def _take_calls(
    run: Run, collection: Collection, step: int, calls: tuple[ToolCallRequest, ...], note: str
) -> None:
    """The progress gate: calls go on, or get the one stop notice, or break the protocol (P3)."""
    asked = [{"tool": item.tool, "arguments": item.arguments} for item in calls]
    content = _encode({"calls": asked, "note": note})
    first = sum(len(item.calls) for item in run.view.steps) + 1
    ids = tuple(str(call_id(first + place)) for place in range(len(calls)))
    recall = collection.recall
    ledger = recall.ledger = ledger_of(run, collection.catalogue, recall)
    tracker = _without_polls(retrace(run.view, ledger), collection.catalogue)
    gain = saturation(ledger, tracker, news_of=recall.news)
    match admit_calls(gain, notice_given=run.view.stop_notice is not None):
        case Admission.ADMITTED:
            await run.ride(_decided(step, "ACT", content, ids))
        case Admission.STOP_NOTICE:
            stage = _decided(step, "ACT", content, ids)
            notice = Event(
                EventType.STOP_NOTICE_GIVEN, {"step": step, "reason": "INFORMATION_SATURATED"}
            )
            named = tuple(told_name(call.tool, collection.catalogue.tools) for call in calls)
            refused = refuse_calls(step, ids, named, "STOP_NOTICE")
            await run.record(replace(stage, events=(*stage.events, *refused, notice)))
        case Admission.VIOLATED:
            decided = _decided(step, "ACT", content)
            await _end(run, Ending.PROTOCOL_VIOLATED, AgentStatus.LOOP_DETECTED, decided)


def _without_polls(tracker: Tracker, catalogue: Catalogue) -> Tracker:
    """A poll that shows nothing new is no step without gain: the loop guard caps polls (F35)."""
    polls = {name for name, tool in catalogue.tools.items() if tool.polling}
    return Tracker(
        tuple(
            replace(step, calls=tuple(call for call in step.calls if call.tool not in polls))
            for step in tracker.steps
        )
    )


def _encode(value: object) -> bytes:
    """A decision as bytes. Not canonical: what an author wrote may hold floats. NaN is refused."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False).encode("ascii")


def _is_object(content: bytes) -> bool:
    try:
        return isinstance(json.loads(content), dict)
    except ValueError:
        return False


def _decided(step: int, decision: str, content: bytes, calls: tuple[str, ...] = ()) -> Stage:
    address = digest(content)
    data = {"step": step, "decision": decision, "digest": address, "calls": calls}
    return Stage((Event(EventType.STEP_DECIDED, data),), (Artifact(address, "decision", content),))


def ledger_of(run: Run, catalogue: Catalogue, recall: Recall | None = None) -> LedgerSnapshot:
    """The run's ledger as it stands now, frozen; see `take_snapshot`."""
    tools = frozenset(catalogue.tools)
    earlier = Earlier() if recall is None else Earlier(recall.ledger, recall.observer.projections)
    return take_snapshot(run.id, run.request.tenant, run.view, run.contents, tools, earlier)


def _state(run: Run, collection: Collection, step: int) -> AgentState:
    limits = run.request.limits
    return AgentState(
        request=run.request,
        step=step,
        tools=collection.catalogue.specs(),
        observations=collection.recall.observer.observe(run.view, run.contents),
        must_conclude=run.view.stop_notice is not None,
        iterations_left=limits.iterations - len(run.view.steps),
        calls_left=limits.tool_calls - run.view.reserved_calls,
        seconds_left=run.remaining_s(),
        over_limit=run.view.over_limit,
        models=collection.models,
        circuits_open=_open_circuits(collection.circuits),
    )


def _open_circuits(circuits: Circuits | None) -> tuple[str, ...]:
    states = {} if circuits is None else circuits.states()
    return tuple(sorted(name for name, state in states.items() if state is CircuitState.OPEN))


def _guards_checked(step: int, moment: Moment, verdicts: tuple[Verdict, ...]) -> Event:
    words = tuple(item.words() for item in verdicts)
    return Event(EventType.GUARDS_CHECKED, {"step": step, "moment": str(moment), "verdicts": words})


async def end_stopped(run: Run, stop: RunStopped, tools: Container[str] = frozenset()) -> None:
    """Collection ended by a stop of the run (E18); `tools` are those that it could have asked."""
    match stop:
        case RunCancelled():
            ending, status = Ending.CANCELLED, AgentStatus.CANCELLED
        case DeadlineReached():
            ending, status = Ending.TIMED_OUT, AgentStatus.TIMEOUT
        case BudgetSpent():
            ending, status = Ending.BUDGET_EXHAUSTED, AgentStatus.BUDGET_EXCEEDED
        case _:
            ending, status = Ending.INTERNAL_FAILURE, AgentStatus.FAILED
    await _end(run, ending, status, tools=tools)


async def end_without_calls(run: Run, ending: Ending, content: bytes | None = None) -> None:
    """The end of a turn that asks no tool: a fixed reply, or no branch that could be taken."""
    status = AgentStatus.DONE if ending is Ending.REPLIED else AgentStatus.FAILED
    if content is None:
        await _end(run, ending, status)
        return
    kept = Stage((), (Artifact(digest(content), "decision", content),))
    await _end(run, ending, status, kept, draft_digest=digest(content))


async def _end(
    run: Run,
    ending: Ending,
    status: AgentStatus,
    decided: Stage | None = None,
    *,
    draft_digest: str | None = None,
    tools: Container[str] = frozenset(),
) -> None:
    """One append, with the decision that ended it: a crash between would ask the agent again."""
    reason = _stop_reason(run, ending)
    event = Event(
        EventType.COLLECTION_ENDED,
        {
            "ending": str(ending),
            "agent_status": str(status),
            "stop_reason": None if reason is None else str(reason),
            "draft_digest": draft_digest,
        },
    )
    open_step = run.view.open_step()
    calls = () if open_step is None else calls_of(run.contents[open_step.digest])
    closing = close_calls(run, calls, _CLOSED.get(ending, "STOPPED"), tools)
    first = decided or Stage(())
    await run.record(
        replace(
            closing,
            events=(*first.events, *closing.events, event),
            artifacts=(*first.artifacts, *closing.artifacts),
        )
    )


def _stop_reason(run: Run, ending: Ending) -> DiagnosisStopReason | None:
    """Why collection stopped, under control; None where it was not stopped (E18, P4)."""
    match ending:
        case Ending.BUDGET_EXHAUSTED | Ending.TIMED_OUT:
            return DiagnosisStopReason.BUDGET_LIMIT_REACHED
        case Ending.PROTOCOL_VIOLATED:
            return DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED
        case Ending.LOOP_DETECTED:
            return DiagnosisStopReason.INFORMATION_SATURATED
        case Ending.CONCLUDED | Ending.GAVE_UP | Ending.UNREADABLE if run.view.stop_notice:
            return DiagnosisStopReason.INFORMATION_SATURATED
        case _:
            return None
