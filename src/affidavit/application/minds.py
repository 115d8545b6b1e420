"""Who thinks in a run, where models do: one desk a driven run (H1, H8, K4).

The journal's first line names agent and judge before anybody is driven; until then their door is
closed. When a run is driven, or driven again, investigator, judge, repairer and author get the desk
of that run: it knows what was spent and what was answered before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from affidavit.agents.react import ReactInvestigator, frame_of
from affidavit.application.turns import ModelTurn
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.contract.journal import Entry
from affidavit.core.breaker import Circuits
from affidavit.core.run import Run
from affidavit.diagnose import World
from affidavit.models.attempts import Gate
from affidavit.models.desk import ClosedDoor, ModelDesk
from affidavit.models.layers import Filter, Memory
from affidavit.models.roster import Roster, circuit_of
from affidavit.ports.ceiling import Ceilings
from affidavit.ports.model import Door, Model, Purpose
from affidavit.release.asking import ModelAuthor
from affidavit.verify.judges.model import model_judge


@dataclass(frozen=True, slots=True)
class ModelMind:
    """Thinks with models (`diagnose.Mind`): one desk a driven run, over shared circuits."""

    roster: Roster
    ceilings: Ceilings | None = None
    filters: tuple[Filter, ...] = ()
    memory: Memory | None = None

    def admit(self, request: AgentRequest) -> None:
        """Raises InputRefused where the limits cannot hold the run and its release (K4)."""
        self.roster.admit(request.limits, request.tenant)

    def bind(self, run: Run, world: World) -> World:
        """The world whose thinkers ask through this run's desk."""
        limits, tenant = run.request.limits, run.request.tenant
        reserve, circuits = self.roster.reserve(limits, tenant), world.collection.circuits
        gate = Gate(run, circuits or Circuits(run.clock), reserve, self.ceilings, self.filters)
        return self._thinking(world, ModelDesk(gate, self.roster, self.memory), run.request)

    def named(self, world: World, request: AgentRequest) -> World:
        """The world before it is driven: its thinkers have names, and no door yet."""
        return self._thinking(replace(world, mind=self), ClosedDoor(), request)

    def _thinking(self, world: World, door: Door, request: AgentRequest) -> World:
        collection, examiner, turn = world.collection, world.examiner, world.turn
        authors = self.roster.models_for(Purpose.DECIDE, request.tenant)
        judges = self.roster.models_for(Purpose.JUDGE, request.tenant)
        if authors and world.supplied is None:
            frame = frame_of(request.limits, _window(authors))
            name = f"react:{authors[0].name}"
            author = ModelAuthor(door, request.limits, name)
            collection = replace(
                collection,
                investigator=ReactInvestigator(door, frame, name),
                models=tuple(circuit_of(item) for item in authors),
            )
            examiner = replace(examiner, repairer=author, author=author)
            if isinstance(turn, ModelTurn):
                turn = replace(turn, door=door, name=f"model:{authors[0].name}")
        if judges:
            judge = model_judge(door, request.limits, _window(judges), f"model:{judges[0].name}")
            examiner = replace(examiner, judge=judge)
        return replace(world, collection=collection, examiner=examiner, turn=turn)


def _window(models: tuple[Model, ...]) -> int:
    """The smallest window: a request has to fit into the model that it is handed over to."""
    return min(item.window_tokens for item in models)


def as_begun(choices: Iterable[World], run_id: str, first: Entry) -> World:
    """The first of these worlds in which think whom the run's first line names.

    Raises InputRefused (MODEL_NEEDED) where none does: a run has one author and one judge.
    """
    agent, judge = str(first.data["agent"]), str(first.data["judge"])
    for world in choices:
        if (agent, judge) == (world.collection.investigator.name, world.examiner.judge.name):
            return world
    raise InputRefused(
        f"run {run_id} was begun by {agent}, judged by {judge}",
        code="MODEL_NEEDED",
        hint="go on with the same --model and --judge: affidavit runs resume",
    )
