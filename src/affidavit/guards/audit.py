"""Guard 70: what came in, what was really executed, and what was blocked (H2, A1).

It stands around all others: outermost it is told of what comes in, innermost it is asked about what
is about to be executed, after everybody else has passed; what somebody refused is noted as blocked.
Its words stand on the journal's line CALLS_CHECKED. A place beside the journal, such as a system of
record that an auditor owns, can be given as `sink`; when it fails, nothing is executed (N15).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from affidavit.contract.agent import Action, AgentRequest, AgentState, GuardResult, Moment
from affidavit.guards.chain import Blocked, CostClass


class AuditWord(StrEnum):
    """What an audit line says."""

    ENTERED = "ENTERED"
    EXECUTED = "EXECUTED"
    BLOCKED = "BLOCKED"
    ENDED = "ENDED"


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line for an auditor: ids, a code and a digest; no content."""

    run_id: str
    tenant: str
    requested_by: str
    word: AuditWord
    tool_call_id: str = ""
    tool: str = ""
    action_digest: str = ""
    code: str = ""


Sink = Callable[[AuditLine], Awaitable[None]]
"""Where else the lines go. Raises when it cannot take one; then the run stands still."""


@dataclass(frozen=True, slots=True)
class AuditGuard:
    """Takes note of everything, and refuses nothing."""

    sink: Sink | None = None
    name: str = "audit"
    order: int = 70
    cost: CostClass = CostClass.RECORD
    when: Moment = Moment.AROUND

    async def check(
        self, state: AgentState, request: AgentRequest, action: Action | None
    ) -> GuardResult:
        """Innermost: this action is really executed now."""
        await self._say(request, AuditWord.EXECUTED, action)
        return GuardResult(reason="EXECUTED")

    async def enter(self, request: AgentRequest, action: Action | None) -> None:
        """Outermost: the request, or an action of it, comes in."""
        await self._say(request, AuditWord.ENTERED, action)

    async def block(self, request: AgentRequest, blocked: Blocked) -> None:
        """Somebody refused it; it is never executed."""
        if self.sink is not None:
            line = AuditLine(
                run_id=request.run_id,
                tenant=request.tenant,
                requested_by=request.requested_by,
                word=AuditWord.BLOCKED,
                tool_call_id=blocked.tool_call_id,
                tool=blocked.tool,
                code=blocked.code,
            )
            await self.sink(line)

    async def leave(self, request: AgentRequest, ended: str) -> None:
        """The run ends so: the last line of each."""
        if self.sink is not None:
            line = AuditLine(
                run_id=request.run_id,
                tenant=request.tenant,
                requested_by=request.requested_by,
                word=AuditWord.ENDED,
                code=ended,
            )
            await self.sink(line)

    async def _say(self, request: AgentRequest, word: AuditWord, action: Action | None) -> None:
        if self.sink is None:
            return
        line = AuditLine(
            run_id=request.run_id,
            tenant=request.tenant,
            requested_by=request.requested_by,
            word=word,
            tool_call_id="" if action is None else action.tool_call_id,
            tool="" if action is None else action.tool.name,
            action_digest="" if action is None else action.digest,
        )
        await self.sink(line)
