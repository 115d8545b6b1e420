"""Runs an agent over cases: each a real run on a store of its own, bounded in time.

A case is loaded once; on what was loaded run the agent (as often as asked), once more under a
forced stop after its first step, and the simple rules. Whatever breaks around a run, rather than
in it, is "not evaluated".
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import anyio

from affidavit.adapters.ed25519_signer import MemorySigner
from affidavit.adapters.incident_folder import IncidentFolder
from affidavit.adapters.memory_store import MemoryStore
from affidavit.contract.agent import AgentRequest, AgentState
from affidavit.contract.errors import AffidavitError, InternalFault, ToolFailed
from affidavit.contract.states import EvidenceStatus
from affidavit.core.fold import fold
from affidavit.diagnose import Paused, World, drive, start
from affidavit.evaluation.baselines import Rules, apply_rules
from affidavit.evaluation.footprint import peak_mb, reset_peak
from affidavit.evaluation.incidents import Case, NotEvaluated
from affidavit.evaluation.rankings import Agent
from affidavit.evaluation.scorer import RunScore, score_file
from affidavit.tools.observation import Observer
from affidavit.wiring import incident_world, new_run_id, request_of

CASE_MAX_S: Final = 900.0
"""Beyond a run's own deadline (research: 600 s): a case that hangs anywhere else ends here."""

STOP_ITERATIONS: Final = 1
"""The forced stop comes after the first step: something was seen, and nothing concluded."""


@dataclass(frozen=True, slots=True)
class Order:
    """How to put an agent to the test."""

    agent: Agent
    profile: str = "standard"
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class Stopped:
    """What a forced stop left: how many calls had found something, how many facts were kept."""

    evidence_calls: int
    facts: int


@dataclass(frozen=True, slots=True)
class Trial:
    """One case, played: a score a run, what rules say, what it cost."""

    case: Case
    runs: tuple[RunScore, ...]
    state: AgentState
    rules: Rules | ToolFailed
    stopped: Stopped
    load_s: float
    run_s: tuple[float, ...]
    peak_mb: float | None


Played = Trial | NotEvaluated


async def play(
    cases: Iterable[Case], order: Order, tell: Callable[[Played], None] = lambda _: None
) -> tuple[Played, ...]:
    """Every case, one after the other: so that time and memory are a case's own."""
    played: list[Played] = []
    for case in cases:
        played.append(await play_case(case, order))
        tell(played[-1])
    return tuple(played)


async def play_case(case: Case, order: Order) -> Played:
    """One case, or why it has no score."""
    try:
        with anyio.fail_after(CASE_MAX_S):
            return await _play(case, order)
    except TimeoutError:
        why = f"it took longer than {CASE_MAX_S:.0f} s"
    except AffidavitError as error:
        why = f"{error.code}: {error.message}"
    except Exception as error:  # noqa: BLE001 - a scorer that breaks is "not evaluated", never 0
        why = f"the scorer broke ({type(error).__name__}: {error})"
    return NotEvaluated(case.source, case.id, why, order.agent.name)


async def _play(case: Case, order: Order) -> Trial:
    reset_peak()
    store = MemoryStore()
    began_s = time.perf_counter()
    make = order.agent.make
    async with incident_world(
        case.folder,
        store,
        investigator=make() if make is not None else None,
        signer=MemorySigner(),
    ) as (world, incident):
        load_s = time.perf_counter() - began_s
        bench = _Bench(case, order.agent, world, incident, store)
        scores: list[RunScore] = []
        run_s: list[float] = []
        for _ in range(order.repeats):
            request = request_of(incident, case.folder, profile=order.profile)
            began_s = time.perf_counter()
            await bench.run(request)
            run_s.append(time.perf_counter() - began_s)
            scores.append(await bench.score(request))
        state = await bench.state(request)
        peak = peak_mb(incident.runner.pid)
        return Trial(
            case=case,
            runs=tuple(scores),
            state=state,
            rules=await _rules(incident),
            stopped=await bench.stop(request),
            load_s=load_s,
            run_s=tuple(run_s),
            peak_mb=peak,
        )


async def _rules(incident: IncidentFolder) -> Rules | ToolFailed:
    """What the simple rules say; where they cannot ask, the agent's score stands all the same."""
    try:
        return await apply_rules(incident)
    except ToolFailed as failed:
        return failed


@dataclass(frozen=True, slots=True)
class _Bench:
    """One loaded case and all that a run on it needs."""

    case: Case
    agent: Agent
    world: World
    incident: IncidentFolder
    store: MemoryStore

    async def run(self, request: AgentRequest) -> None:
        """Drive one run to its end. Raises InternalFault where it paused."""
        await start(self.world, request)
        if isinstance(await drive(request.run_id, self.world), Paused):
            raise InternalFault("the run paused and was not decided", code="RUN_UNDECIDED")

    async def score(self, request: AgentRequest) -> RunScore:
        """The score of a decided run, off its sealed file."""
        artifacts = await self.store.artifacts(request.run_id)
        content = next((item.content for item in artifacts if item.kind == "affidavit"), None)
        if content is None:
            raise InternalFault("the run has no sealed file", code="RUN_UNDECIDED")
        rank = self.agent.rank
        ranked = () if rank is None else rank(await self.state(request))
        return score_file(content, ranked, self.case.truth)

    async def state(self, request: AgentRequest) -> AgentState:
        """What the run's agent had been told when it ended."""
        artifacts = await self.store.artifacts(request.run_id)
        contents = {item.digest: item.content for item in artifacts}
        view = fold(await self.store.read(request.run_id))
        return AgentState(
            request=request,
            step=len(view.steps),
            tools=self.world.collection.catalogue.specs(),
            observations=Observer().observe(view, contents),
        )

    async def stop(self, request: AgentRequest) -> Stopped:
        """The same question under a forced stop after the first step."""
        limits = {**request.limits.model_dump(mode="json"), "iterations": STOP_ITERATIONS}
        changed = {"run_id": new_run_id(), "limits": limits}
        whole = {**request.model_dump(mode="json"), **changed}
        short = AgentRequest.model_validate_json(json.dumps(whole))
        await self.run(short)
        score = await self.score(short)
        seen = (await self.state(short)).observations
        found = sum(
            item.envelope is not None and item.envelope.status is EvidenceStatus.EVIDENCE_FOUND
            for item in seen
        )
        fallback = score.release.fallback
        return Stopped(found, len(fallback.observed_facts) if fallback is not None else 0)
