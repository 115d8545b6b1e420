"""Read this first: one run, from the question to the one public answer.

A run is an append-only journal; whoever drives it holds its lease. The agent collects until its
part is over (`loop.collect`). From then on the facts are immutable: progress is projected from the
ledger, the draft is examined against it, and a pure function picks one row of the release table.
The answer, the end of the run and the sealed file are one append; that append is the publication.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from affidavit import __version__
from affidavit.contract.agent import AgentRequest, Ending
from affidavit.contract.errors import (
    AffidavitError,
    BudgetSpent,
    DeadlineReached,
    InputRefused,
    PauseAsked,
    RecordFailed,
    RunCancelled,
    RunStopped,
)
from affidavit.contract.journal import Entry, Event, EventType
from affidavit.contract.report import ReleaseRecord, Usage
from affidavit.contract.snapshots import DiagnosisProgressSnapshot
from affidavit.contract.states import (
    AgentStatus,
    ChatApplicationStatus,
    IntentType,
    Provenance,
    RunState,
    steps_to_validation,
)
from affidavit.core.canonical import canonical_json, digest
from affidavit.core.chain import GENESIS, extend, to_us
from affidavit.core.fold import RunView
from affidavit.core.legality import refuse_illegal
from affidavit.core.pen import Sealed, Stage
from affidavit.core.run import APPROVAL, Driver, Run, drive_lease
from affidavit.guards.chain import Blocked
from affidavit.ledger.snapshot import LedgerSnapshot
from affidavit.loop import Collection, collect, ledger_of
from affidavit.ports.store import Append, Artifact, RunHead, SealedHead, Store
from affidavit.progress.coverage import Reach
from affidavit.progress.projector import project_progress
from affidavit.progress.tracker import retrace
from affidavit.release.desk import RunDesk
from affidavit.release.examine import Examiner, examine, gather_stopped
from affidavit.release.findings import Findings, findings_after
from affidavit.release.material import Gathered
from affidavit.release.publish import Frame, release_record


class Seal(Protocol):
    """Turns a decided run into its signed file's bytes and its head, which follows the last one of
    its tenant; given from above: this page knows neither format nor key."""

    def ready(self) -> None:
        """A run that could not be sealed at its end is not begun (K0). Raises `RecordFailed`."""
        ...

    def __call__(
        self,
        entries: Sequence[Entry],
        contents: Mapping[str, bytes],
        release: ReleaseRecord,
        last: SealedHead | None,
        /,
    ) -> tuple[bytes, SealedHead]:
        """Raises `RecordFailed` where nothing can be signed: then nothing is decided (L5)."""
        ...


Tell = Callable[[SealedHead], Awaitable[None]]
"""Told of each sealed head once its run is published; takes nothing back."""

Collect = Callable[[Run, Collection], Awaitable[None]]
"""Brings a run to the end of its collection; a run that is there already is left as it is."""


class Turn(Protocol):
    """Finds the branch of a run whose caller did not name it, and opens its world (I1)."""

    async def enter(self, run: Run, world: World) -> World:
        """The world in which the run goes on; the decision is on record when this returns.

        A stop meanwhile ends the collection. Raises `RecordFailed` and `PauseAsked`.
        """
        ...


class Mind(Protocol):
    """Gives a run its thinkers; where there is none, the world's own need no run to think."""

    def admit(self, request: AgentRequest) -> None:
        """Raises InputRefused for a run whose limits cannot hold its release (K4)."""
        ...

    def bind(self, run: Run, world: World) -> World:
        """The world with investigator, judge, repairer and author of this driven run."""
        ...


@dataclass(frozen=True, slots=True)
class Routing:
    """Which branch a request takes, None where none was found, and who says so (I1)."""

    intent: IntentType | None
    by: str

    @property
    def event(self) -> Event:
        """The line of the journal."""
        intent = None if self.intent is None else str(self.intent)
        return Event(EventType.ROUTING_DECISION, {"intent": intent, "by": self.by})


@dataclass(frozen=True, slots=True)
class World:
    """All that a run needs from outside.

    `supplied` writes down an answer that came with its tool calls, where nothing is collected; then
    whatever comes out says *supplied* (C12, N18). `branch` collects in place of the loop. `routing`
    says which branch the run takes and who said so, None: its caller; `turn` finds it out later.
    """

    driver: Driver
    collection: Collection
    examiner: Examiner
    seal: Seal
    supplied: Collect | None = None
    branch: Collect | None = None
    routing: Routing | None = None
    turn: Turn | None = None
    mind: Mind | None = None
    tell: Tell | None = None


@dataclass(frozen=True, slots=True)
class Paused:
    """The run waits; it goes on when somebody drives it again.

    `reason` says for what: asked (until it is resumed), stopping (for another engine), approval
    (for a person's decision: AgentStatus NEED_APPROVAL), outcome (for an operator who says what
    became of an effect).
    """

    run_id: str
    reason: str = "asked"

    @property
    def agent_status(self) -> AgentStatus | None:
        """NEED_APPROVAL while a person has to decide; else the loop has not ended (E18)."""
        return AgentStatus.NEED_APPROVAL if self.reason == APPROVAL else None


async def drive(run_id: str, world: World) -> ReleaseRecord | Paused:
    """Drive the run to its one public answer, from wherever its journal stands.

    A run that has ended returns its stored answer and executes nothing (K8). Raises `RecordFailed`
    when something could not be recorded: nothing was decided, and the run can be driven again (L5).
    """
    ended = await stored_release(world.driver.store, run_id)
    if ended is not None:
        return ended
    async with drive_lease(world.driver, run_id) as run:
        while True:
            try:
                await _wake(run)
                if world.mind is not None:
                    world = world.mind.bind(run, world)
                if world.turn is not None:
                    world = await world.turn.enter(run, world)
                await (world.supplied or world.branch or collect)(run, world.collection)
                ledger = ledger_of(run, world.collection.catalogue)
                progress = _project(run, world.collection, ledger)
                gathered = await _gather(run, world, ledger, progress)
                gathered = replace(gathered, intent=run.view.intent)
                if world.supplied is not None:
                    gathered = replace(gathered, provenance=Provenance.SUPPLIED)
                return await _publish(run, world, gathered)
            except PauseAsked as asked:
                if await run.pause(asked):
                    return Paused(run_id, asked.reason)


def _project(run: Run, collection: Collection, ledger: LedgerSnapshot) -> DiagnosisProgressSnapshot:
    """What was verifiably seen, at every exit, draft or no draft (C5)."""
    catalogue = collection.catalogue
    return project_progress(
        ledger,
        retrace(run.view, ledger),
        Reach(tuple(catalogue.tools.values()), catalogue.unavailable),
        stop_reason=run.view.stop_reason,
        symptom=run.request.symptom_service,
        intent=run.view.intent,
    )


async def _gather(
    run: Run, world: World, ledger: LedgerSnapshot, progress: DiagnosisProgressSnapshot
) -> Gathered:
    """Everything that the decision needs. A stop meanwhile is gathered as what it is (L4)."""
    question, stopped = run.request.question, run.view.release_stopped
    if stopped is not None:
        return gather_stopped(stopped_findings(question, stopped), progress, ledger)
    try:
        for status in steps_to_validation(run.view.status):
            await run.note(Event(EventType.STATUS_CHANGED, {"status": str(status)}))
        gathered = await examine(
            findings_of(run.request.question, run.view, run.contents),
            progress,
            ledger,
            world.examiner,
            RunDesk(run),
        )
        if run.view.ending not in _STOPS:
            await run.check()
        return gathered
    except (RecordFailed, PauseAsked):
        raise
    except RunStopped as stop:
        findings = findings_after(stop, question)
    except Exception as error:  # noqa: BLE001 - whatever broke, the run ends in one row (D15)
        findings = findings_after(error, question)
    await run.note(Event(EventType.RELEASE_STOPPED, {"ending": str(findings.ending)}))
    return gather_stopped(findings, progress, ledger)


_STOPS = frozenset({Ending.CANCELLED, Ending.TIMED_OUT, Ending.BUDGET_EXHAUSTED})
"""Endings that name the stop already; it is not asked for again."""


def stopped_findings(question: str, ending: Ending) -> Findings:
    """The findings of a release that was stopped so, by now or by an earlier driver."""
    match ending:
        case Ending.CANCELLED:
            return findings_after(RunCancelled(), question)
        case Ending.TIMED_OUT:
            return findings_after(DeadlineReached(), question)
        case Ending.BUDGET_EXHAUSTED:
            return findings_after(BudgetSpent("release"), question)
        case _:
            return Findings(question, Ending.INTERNAL_FAILURE, AgentStatus.FAILED)


def findings_of(question: str, view: RunView, contents: Mapping[str, bytes]) -> Findings:
    """How collection ended, as its last line says, with the draft where there is one."""
    return Findings(
        question=question,
        ending=view.ending or Ending.INTERNAL_FAILURE,
        agent_status=view.agent_status or AgentStatus.FAILED,
        stop_reason=view.stop_reason,
        draft=None if view.draft_digest is None else contents.get(view.draft_digest),
    )


async def _publish(run: Run, world: World, gathered: Gathered) -> ReleaseRecord:
    """The only publication: answer, end of the run and sealed file, in one durable append (K1)."""
    view = run.view
    frame = Frame(
        run_id=run.id,
        tenant=run.request.tenant,
        question=run.request.question,
        decided_at=run.clock.now(),
        usage=_usage(run),
        agent_status=view.agent_status or AgentStatus.FAILED,
        stop_reason=view.stop_reason,
    )
    release = release_record(frame, gathered)
    # What an auditor cannot be told does not happen (N15); the run can be driven again.
    await world.collection.guards.leave(run.request, f"{release.agent_status}/{release.outcome}")
    content = canonical_json(release.model_dump(mode="json"))

    def seal(entries: tuple[Entry, ...], last: SealedHead | None) -> Sealed:
        sealed, head = world.seal(entries, run.contents, release, last)
        return Sealed((Artifact(digest(sealed), "affidavit", sealed),), head)

    head = await run.record(
        Stage(
            events=final_events(release, digest(content)),
            artifacts=(Artifact(digest(content), "release", content),),
            ended=(release.run_state, release.outcome),
            durable=True,
            seal=seal,
        )
    )
    if world.tell is not None and head is not None:
        await world.tell(head)
    return release


def final_events(release: ReleaseRecord, release_digest: str) -> tuple[Event, Event]:
    """The last two lines of a run: its decision, and its end."""
    decided = {
        "decision": str(release.decision),
        "outcome": str(release.outcome),
        "fallback_type": release.fallback and str(release.fallback.type),
        "failure_code": release.failure_code and str(release.failure_code),
        "release_digest": release_digest,
    }
    ended = {
        "run_state": str(release.run_state),
        "agent_status": str(release.agent_status),
        "stop_reason": release.stop_reason and str(release.stop_reason),
    }
    return Event(EventType.RELEASE_DECISION, decided), Event(EventType.RUN_ENDED, ended)


def _usage(run: Run) -> Usage:
    calls = run.view.calls.values()
    return Usage(
        iterations=len(run.view.steps),
        tool_calls=run.view.reserved_calls,
        attempts=sum(call.attempts for call in calls) + run.view.spend.calls,
        tokens=run.view.spend.committed.tokens,
        money_micro=run.view.spend.committed.micros if run.view.spend.calls else None,
        duration_ms=max(0, int(run.worked_s() * 1000)),
    )


async def _wake(run: Run) -> None:
    """A paused run goes on; the time that it slept is no working time (K3)."""
    if run.view.paused:
        slept_us = to_us(run.clock.now()) - run.view.paused_at_us
        resumed = Event(EventType.RUN_RESUMED, {"slept_ms": max(0, slept_us) // 1000})
        await run.record(Stage((resumed,), paused=False))


async def start(world: World, request: AgentRequest, artifacts: tuple[Artifact, ...] = ()) -> None:
    """The run exists, durably, and nothing of it was executed yet (K0).

    `artifacts` are what it was handed beside its request. Raises InputRefused for a request that
    is not legal, that nobody lets start, whose limits cannot hold it, or whose run the store has
    already, and RecordFailed when the store, or the audit, cannot take note of it, or nothing could
    seal it. The audit knows
    of a start that failed.
    """
    guards = world.collection.guards
    await guards.enter(request)
    try:
        refuse_illegal(request)
        guards.admit(request)
        if world.mind is not None:
            world.mind.admit(request)
        world.seal.ready()
        await _create(world, request, artifacts)
    except AffidavitError as refused:
        await guards.block(request, Blocked("", "", refused.code))
        raise


async def _create(world: World, request: AgentRequest, artifacts: tuple[Artifact, ...]) -> None:
    """The run's first lines."""
    moment = world.driver.clock.now()
    content = canonical_json(request.model_dump(mode="json"))
    started = {
        "tenant": request.tenant,
        "request_digest": digest(content),
        "limits": request.limits.model_dump(mode="json"),
        "agent": world.collection.investigator.name,
        "judge": world.examiner.judge.name,
        "catalogue_digest": world.collection.catalogue.digest(),
        "policy_digest": world.collection.guards.digest(),
        "version": __version__,
    }
    routing = world.routing or Routing(request.intent, "caller")
    events = (
        Event(EventType.RUN_STARTED, started),
        Event(EventType.STATUS_CHANGED, {"status": str(ChatApplicationStatus.ROUTING)}),
        *((routing.event,) if world.turn is None else ()),
    )
    entries = extend(request.run_id, 1, GENESIS, moment, events)
    head = RunHead(
        run_id=request.run_id,
        tenant=request.tenant,
        created_us=to_us(moment),
        state=RunState.RUNNING,
        outcome=None,
        last_seq=len(entries),
        question=request.question,
        paused=False,
    )
    asked = Artifact(digest(content), "request", content)
    first = Append(entries, (asked, *artifacts), durable=True)
    await world.driver.store.create(head, first)


async def stored_release(store: Store, run_id: str) -> ReleaseRecord | None:
    """The answer that was published, or None while the run goes on."""
    for entry in reversed(await store.read(run_id)):
        if entry.type is EventType.RELEASE_DECISION:
            content = await store.artifact(run_id, str(entry.data["release_digest"]))
            if content is None:
                raise InputRefused(f"the answer of run {run_id} has expired", code="RUN_EXPIRED")
            return ReleaseRecord.model_validate_json(content)
    return None
