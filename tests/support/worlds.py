"""A whole world around a scripted agent: real harness, ledger, guard and release."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field

from affidavit.adapters.memory_store import MemoryStore
from affidavit.adapters.system_clock import SystemClock
from affidavit.contract.agent import (
    Act,
    AgentState,
    Conclude,
    Decision,
    ToolCallRequest,
)
from affidavit.contract.draft import DraftCandidate
from affidavit.contract.errors import ModelFailed
from affidavit.contract.evidence import Fact
from affidavit.contract.snapshots import VerifiedEvidenceSnapshot
from affidavit.contract.states import SemanticVerdict
from affidavit.core.run import Driver
from affidavit.diagnose import World
from affidavit.guards.budget import BudgetGuard
from affidavit.guards.chain import in_order
from affidavit.guards.loop import LoopGuard
from affidavit.guards.timeout import TimeoutGuard
from affidavit.loop import Collection
from affidavit.ports.clock import Clock
from affidavit.ports.store import Store
from affidavit.release.examine import Examiner
from affidavit.release.repair import NoRepairer, Repairer
from affidavit.testing.scripted import ScriptedArguments, ScriptedInvestigator, scripted_tool
from affidavit.tools.catalogue import Catalogue
from affidavit.verify.judges import Judge, JudgeVerdict
from affidavit.verify.judges.embedded import EmbeddedJudge
from tests.support.checking import SEALER
from tests.support.runs import reading

Script = Iterable[Decision | Callable[[AgentState], Decision]]
Backend = Callable[[ScriptedArguments], Awaitable[tuple[Fact, ...]]]


async def found(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    """One reading: five errors of the service that was asked about."""
    return (reading(arguments.service or "checkout"),)


async def empty(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    """Nothing matched."""
    return ()


async def broken(arguments: ScriptedArguments) -> tuple[Fact, ...]:
    """The back end is down."""
    raise OSError("canary: connection refused")


@dataclass
class ScriptedJudge:
    """Answers from a list, then repeats the last; a string is a failure with that code."""

    answers: list[SemanticVerdict | str] = field(
        default_factory=lambda: [SemanticVerdict.SUPPORTED]
    )
    name: str = "scripted"
    asked: list[tuple[str, DraftCandidate, VerifiedEvidenceSnapshot]] = field(default_factory=list)

    async def review(
        self, query: str, draft: DraftCandidate, snapshot: VerifiedEvidenceSnapshot
    ) -> JudgeVerdict:
        """The next answer."""
        self.asked.append((query, draft, snapshot))
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, SemanticVerdict):
            return JudgeVerdict(verdict=answer, reason="said so")
        raise ModelFailed("canary: the judge is down", code=answer)


def world(
    script: Script,
    *,
    store: Store | None = None,
    clock: Clock | None = None,
    judge: Judge | None = None,
    repairer: Repairer | None = None,
    backends: Mapping[str, Backend] | None = None,
    holder: str = "test",
) -> World:
    """A world in which that agent runs against those back ends."""
    tools = {"probe": found, "search": empty, "down": broken, **(backends or {})}
    return World(
        driver=Driver(holder, store or MemoryStore(), clock or SystemClock()),
        collection=Collection(
            investigator=ScriptedInvestigator(script),
            catalogue=Catalogue.of(scripted_tool(name, tool) for name, tool in tools.items()),
            guards=in_order((BudgetGuard(), LoopGuard(), TimeoutGuard())),
        ),
        examiner=Examiner(judge=judge or EmbeddedJudge(), repairer=repairer or NoRepairer()),
        seal=SEALER,
    )


def act(*tools: str, **arguments: object) -> Act:
    """Ask these tools side by side."""
    return Act(tuple(ToolCallRequest(tool, arguments) for tool in tools))


def conclude(**changes: object) -> Conclude:
    """A draft that is true to one reading of checkout under `call_0001`, but for the changes."""
    return Conclude({**true_draft(), **changes})


def true_draft(call: str = "call_0001") -> dict[str, object]:
    """An honest draft about five errors of checkout."""
    sentence = {
        "text": "The errors of checkout were 5.",
        "tool_call_ids": [call],
        "statements": [
            {
                "kind": "value",
                "tool_call_id": call,
                "subject": "checkout",
                "attribute": "errors",
                "value": 5,
            }
        ],
    }
    return {
        "analyses": [
            {"id": "A1", "kind": "NORMAL", "sentences": [sentence], "tool_call_ids": [call]}
        ],
        "conclusion": {
            "text": sentence["text"],
            "sentences": [sentence],
            "based_on_analysis_ids": ["A1"],
        },
        "action_plan": [],
        "recommendations": [],
        "limitations": {"scope": "checkout", "missing_info": []},
    }
