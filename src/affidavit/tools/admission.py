"""Whether anybody objects to a call: guards, then breaker, then reservation (T2, H2).

Each call's way is one entry of the step's CALLS_CHECKED line: who was asked and what they said, the
audit outermost and innermost. Nothing is executed here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from affidavit.contract.agent import (
    AgentState,
    ApprovalStatus,
    GuardResult,
    Moment,
    ToolCallRequest,
)
from affidavit.contract.journal import Event, EventType
from affidavit.contract.states import AgentStatus
from affidavit.core.breaker import CircuitOpen, Circuits, Outcome
from affidavit.core.fold import BUDGET_CODE_PREFIX
from affidavit.core.run import Run
from affidavit.guards.chain import Blocked, GuardChain, Verdict
from affidavit.ledger.reader import take_snapshot
from affidavit.ledger.writer import Written, fail, refuse
from affidavit.tools.acting import Admitted
from affidavit.tools.approval import Asked, request_approval
from affidavit.tools.catalogue import Catalogue
from affidavit.tools.planning import Planned, Planner, told_name


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What there is to act with, the guards around it, and the circuits of the back ends.

    `signatures` remembers what earlier requests asked (`planning.Planner`).
    """

    catalogue: Catalogue
    guards: GuardChain = field(default_factory=GuardChain)
    circuits: Circuits | None = None
    signatures: dict[str, str] = field(default_factory=dict)


_Words = tuple[str, str, str]


@dataclass(slots=True)
class Admission:
    """The calls of one step on their way to being executed, refused, or put before a person."""

    run: Run
    toolbox: Toolbox
    state: AgentState
    step: int
    admitted: list[Admitted] = field(default_factory=list)
    settled: list[Written] = field(default_factory=list)
    asks: list[Written] = field(default_factory=list)
    stop: GuardResult | None = None
    _ways: dict[str, list[_Words]] = field(default_factory=dict)
    _planner: Planner = field(init=False)
    _room: int = field(init=False)

    def __post_init__(self) -> None:
        """What the run may still call, and what the step asked already: nothing."""
        box = self.toolbox
        self._planner = Planner(self.run, box.catalogue, self.step, box.signatures)
        self._room = self.run.request.limits.tool_calls - self.run.view.reserved_calls

    @property
    def must_be_durable(self) -> bool:
        """An intent before its effect, and a question to a person, outlive a power cut (K9)."""
        return bool(self.asks) or any(item.plan.has_effect for item in self.admitted)

    def line(self) -> Written:
        """The step's CALLS_CHECKED line, if anybody was asked."""
        calls = tuple((key, tuple(way)) for key, way in self._ways.items() if way)
        if not calls:
            return Written(())
        data = {"step": self.step, "calls": calls}
        return Written((Event(EventType.CALLS_CHECKED, data),))

    async def take(self, tool_call_id: str, call: ToolCallRequest) -> None:
        """Let one call through, settle it, put it before a person, or note a guard's stop."""
        if self.stop is not None:
            return
        plan = self._planner.plan(tool_call_id, call)
        if isinstance(plan, Written):
            await self._note_blocked(plan)
            self.settled.append(plan)
            return
        objection = await self._ask_guards(plan)
        if objection is not None:
            await self._heed(plan, objection)
        elif plan.has_effect and plan.action.approval is not ApprovalStatus.APPROVED:
            # Whatever guards are on: no approver, no effect.
            self.settled.append(await self._refuse(plan, "APPROVAL_UNAVAILABLE"))
        else:
            await self._admit(plan)

    async def _ask_guards(self, plan: Planned) -> GuardResult | None:
        guards, request = self.toolbox.guards, self.run.request
        for name in await guards.enter(request, plan.action):
            self._say(plan.tool_call_id, (name, "PASS", "ENTERED"))
        return self._hear(
            plan, await guards.ask(Moment.BEFORE_ACTING, self.state, request, plan.action)
        )

    def _hear(self, plan: Planned, verdicts: tuple[Verdict, ...]) -> GuardResult | None:
        """Note what the guards said; the word of the one that did not pass, or None."""
        for verdict in verdicts:
            self._say(plan.tool_call_id, verdict.words())
        last = verdicts[-1].result if verdicts else None
        return None if last is None or last.passed else last

    async def _heed(self, plan: Planned, objection: GuardResult) -> None:
        if objection.refusal is not None:
            self.settled.append(await self._refuse(plan, objection.refusal))
        elif objection.status is not AgentStatus.NEED_APPROVAL:
            self.stop = objection
        elif plan.action.approval is None:
            self.asks.append(self._ask_person(plan))
        elif plan.action.approval is not ApprovalStatus.PENDING:
            # It was asked for and decided, and somebody wants it again: there is no second asking.
            self.settled.append(await self._refuse(plan, "APPROVAL_UNAVAILABLE"))

    async def _admit(self, plan: Planned) -> None:
        """Breaker, then reservation; then the audit hears what is really executed."""
        admitted = self._enter_circuit(plan)
        if admitted is None:
            self.settled.append(await self._refuse(plan, "CIRCUIT_OPEN"))
            return
        if plan.attempt == 1 and self._room <= 0:
            admitted.say(Outcome.NEITHER)
            self.settled.append(await self._refuse(plan, BUDGET_CODE_PREFIX + "TOOL_CALLS"))
            return
        self.admitted.append(admitted)
        self._room -= 1 if plan.attempt == 1 else 0
        guards, request = self.toolbox.guards, self.run.request
        heard = await guards.ask(Moment.AROUND, self.state, request, plan.action)
        self.stop = self._hear(plan, heard)

    def _enter_circuit(self, plan: Planned) -> Admitted | None:
        circuits = self.toolbox.circuits
        if circuits is None:
            return Admitted(plan)
        try:
            slot = circuits.breaker(plan.tool.dependency).enter()
        except CircuitOpen:
            return None
        return Admitted(plan, slot, circuits.rule.probe_s if slot.is_probe else None)

    def _ask_person(self, plan: Planned) -> Written:
        run = self.run
        tools = frozenset(self.toolbox.catalogue.tools)
        ledger = take_snapshot(run.id, run.request.tenant, run.view, run.contents, tools)
        asked = Asked(
            plan.tool_call_id,
            plan.action.tool,
            plan.action.arguments,
            plan.header.scope,
            plan.action.digest,
        )
        return request_approval(run, ledger, self.step, asked)

    async def _refuse(self, plan: Planned, code: str) -> Written:
        return await self.block(plan.tool_call_id, plan.tool.name, code)

    async def block(self, tool_call_id: str, tool: str, code: str) -> Written:
        """The lines of a call that is not executed; the audit hears that it was blocked.

        One that was intended by an earlier driver is an ERROR of that code: it may have run.
        """
        known = self.run.view.calls.get(tool_call_id)
        if known is not None and known.attempts:
            written = fail(tool_call_id, code)
        else:
            written = refuse(
                self.step, tool_call_id, told_name(tool, self.toolbox.catalogue.tools), code
            )
        await self._note_blocked(written)
        return written

    async def _note_blocked(self, written: Written) -> None:
        for event in written.events:
            if event.type is EventType.TOOL_CALL_REFUSED:
                data = event.data
                key, code = str(data["tool_call_id"]), str(data["code"])
                blocked = Blocked(key, str(data["tool"]), code)
                for name in await self.toolbox.guards.block(self.run.request, blocked):
                    self._say(key, (name, "BLOCKED", code))

    def _say(self, tool_call_id: str, words: _Words) -> None:
        self._ways.setdefault(tool_call_id, []).append(words)
