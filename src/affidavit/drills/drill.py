"""One fault, injected through the public API and driven to its end by the real chain (H11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import partial
from typing import Final

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.contract.ids import LOCAL_TENANT
from affidavit.contract.journal import Entry, EventType
from affidavit.contract.states import (
    AgentStatus,
    ChatFailureCode,
    FallbackType,
    ReleaseOutcome,
)
from affidavit.core.breaker import BreakerRule, Circuits
from affidavit.core.run import LEASE_TTL_S
from affidavit.drills.faults import BACKUP, FAULTS, JUDGE, PRIMARY, Drill, Expected
from affidavit.drills.scene import POLICY, WINDOW, WRITE, Scene, look, report
from affidavit.drills.telling import guards_asked, keeps_order, tell_journal
from affidavit.harness.harness import Harness
from affidavit.harness.result import AgentResult
from affidavit.ports.clock import Clock
from affidavit.ports.model import ModelAnswer
from affidavit.ports.store import Store
from affidavit.settings import Settings
from affidavit.testing.fault_plan import FaultPlan
from affidavit.testing.faulty_store import Killed
from affidavit.testing.scripted_model import ScriptedModel, say
from affidavit.wiring import new_run_id

GOAL: Final = "Why is checkout failing?"
"""What a drill asks where nobody says otherwise."""

REQUESTER: Final = "drill"


@dataclass(frozen=True, slots=True)
class DrillResult:
    """What became of a fault: the agent's status (what S4's service answers), and whether it was
    caught. `missed` says what was expected and did not come, in plain words; empty when caught.
    """

    fault: str
    meaning: str
    run_id: str
    status: AgentStatus
    expected: AgentStatus
    outcome: ReleaseOutcome | None
    fallback: FallbackType | None
    failure_code: ChatFailureCode | None
    missed: tuple[str, ...]
    timeline: tuple[str, ...]
    result: AgentResult | None = field(default=None, repr=False)

    @property
    def caught(self) -> bool:
        """Whether everything came that has to come of this fault."""
        return not self.missed


@dataclass(frozen=True, slots=True)
class LaterClock:
    """The time of a process that starts when the lease of a dead one is over."""

    inner: Clock = field(default_factory=SystemClock)

    def now(self) -> datetime:
        """Later than it is."""
        return self.inner.now() + timedelta(seconds=LEASE_TTL_S + 1)

    def monotonic_s(self) -> float:
        """As it is."""
        return self.inner.monotonic_s()

    async def sleep(self, seconds: float) -> None:
        """As it is."""
        await self.inner.sleep(seconds)


def drill_named(fault: str) -> Drill:
    """The drill of that fault. Raises InputRefused (FAULT_UNKNOWN)."""
    if fault not in FAULTS:
        raise InputRefused(
            f"there is no fault {fault!r} to drill",
            code="FAULT_UNKNOWN",
            hint=f"{_near(fault)}use one of {', '.join(FAULTS)}",
        )
    return FAULTS[fault]


def _near(fault: str) -> str:
    near = get_close_matches(fault, FAULTS, 1)
    return f"did you mean {near[0]}? " if near else ""


async def run_drill(
    fault: str,
    *,
    goal: str = "",
    store: Store | None = None,
    settings: Settings | None = None,
    tenant: str = LOCAL_TENANT,
) -> DrillResult:
    """Inject one fault into a run of its own, and say whether it was caught.

    `settings` decide which guards stand around it. The run lives in memory of its own unless a
    `store` is given; an engine that keeps that store's runs driven must not be there, for it knows
    nothing of the scene. It takes real time: a timeout is one second. Raises InputRefused
    (FAULT_UNKNOWN); whatever the fault does is in the result.
    """
    drill = drill_named(fault)
    return await _Conduct(fault, drill, store or MemoryStore(), settings or Settings()).run(
        goal or GOAL, tenant
    )


@dataclass(slots=True)
class _Conduct:
    """One drill under way."""

    fault: str
    drill: Drill
    store: Store
    settings: Settings
    scene: Scene = field(init=False)

    def __post_init__(self) -> None:
        """The shop, with whatever was written into its logs."""
        self.scene = Scene(injected=self.drill.injected)

    async def run(self, goal: str, tenant: str) -> DrillResult:
        """Drive it to its end, whatever that is."""
        drill = self.drill
        request = AgentRequest(
            run_id=new_run_id(),
            tenant=tenant,
            question=goal,
            limits=drill.limits,
            window=WINDOW,
            requested_by=REQUESTER,
        )
        if drill.earlier:
            await self._run_another(request)
        harness = self._harness(drill.script, drill.plan)
        if drill.cancels:
            self.scene.meanwhile = partial(harness.cancel, request.run_id, by=REQUESTER)
        result: AgentResult | None = None
        failure: ChatFailureCode | None = None
        try:
            result = await harness.run(request)
        except Killed:
            result = await self._go_on(request)
        except RecordFailed:
            failure = ChatFailureCode.RUN_PERSISTENCE_FAILED
        return self._verdict(request.run_id, await self.store.read(request.run_id), result, failure)

    def _harness(
        self, script: Sequence[ModelAnswer], plan: FaultPlan, clock: Clock | None = None
    ) -> Harness:
        time = clock or SystemClock()
        authors = [
            plan.model(ScriptedModel(script, name=name, vendor="test"))
            for name in (PRIMARY, BACKUP)
        ]
        judge = plan.model(ScriptedModel([say("")], name=JUDGE, vendor="test"))
        return Harness(
            tools=[plan.tool(item) for item in self.scene.tools()],
            model=authors,
            judge=judge if self.drill.judged else None,
            policy=POLICY,
            store=plan.store(self.store),
            settings=self.settings,
            clock=time,
            circuits=Circuits(time, BreakerRule(failures_max=1)),
        )

    async def _run_another(self, request: AgentRequest) -> None:
        """Another run of the same tenant, whose second call is there to be cited."""
        other = AgentRequest.model_validate({**request.model_dump(), "run_id": new_run_id()})
        await self._harness((look(), look("payment"), WRITE, report()), FaultPlan()).run(other)

    async def _go_on(self, request: AgentRequest) -> AgentResult:
        """Another process, when the dead one's lease is over; nothing is broken any more."""
        lines = await self.store.read(request.run_id)
        answered = sum(entry.type is EventType.MODEL_ATTEMPT for entry in lines)
        rest = self.drill.script[answered:]
        return await self._harness(rest, FaultPlan(), LaterClock()).run(request)

    def _verdict(
        self,
        run_id: str,
        journal: Sequence[Entry],
        result: AgentResult | None,
        failure: ChatFailureCode | None,
    ) -> DrillResult:
        status = AgentStatus.FAILED
        if result is not None and result.agent_status is not None:
            status = result.agent_status
        told = DrillResult(
            fault=self.fault,
            meaning=self.drill.meaning,
            run_id=run_id,
            status=status,
            expected=self.drill.expected.status,
            outcome=None if result is None else result.outcome,
            fallback=result.fallback.type if result and result.fallback else None,
            failure_code=failure if result is None else result.failure_code,
            missed=(),
            timeline=tell_journal(journal),
            result=result,
        )
        return replace(told, missed=tuple(_missed(told, self.drill.expected, journal)))


def _missed(told: DrillResult, expected: Expected, journal: Sequence[Entry]) -> Iterator[str]:
    """What had to come and did not."""
    pairs = (
        ("status", told.status, expected.status),
        ("outcome", told.outcome, expected.outcome),
        ("fallback", told.fallback, expected.fallback),
    )
    for name, came, wanted in pairs:
        if came != wanted:
            yield f"{name} is {came}, and not {wanted}"
    if expected.failure_code is not None and told.failure_code != expected.failure_code:
        yield f"failure code is {told.failure_code}, and not {expected.failure_code}"
    for words in expected.shows:
        if not any(words in line for line in told.timeline):
            yield f"no line of the journal says {words!r}"
    if expected.outcome is None and any(
        line.type is EventType.RELEASE_DECISION for line in journal
    ):
        yield "something was published"
    for names in guards_asked(journal):
        if not keeps_order(names):
            yield f"the guards were asked in another order: {', '.join(names)}"
