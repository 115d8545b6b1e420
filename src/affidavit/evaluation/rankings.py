"""Who does an agent suspect, in which order? (pure)

The place that was published comes first. Then the agent's own order, computed again from the
observations on record where the agent is a pure function of them, as the playbook is; then the
leads of a fallback, which is all that a foreign agent leaves behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from affidavit.agents.reading import read_material
from affidavit.agents.signals import Weights, rank
from affidavit.agents.weighing import shipped_weights
from affidavit.contract.agent import AgentState, Investigator
from affidavit.contract.report import ReleaseRecord
from affidavit.evaluation.fitting import fit_weights

RANKS_MAX: Final = 5
"""The deepest rank that is scored (Avg@5)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One suspect and its score, in units of its ranker alone."""

    entity: str
    score: float


Ranker: TypeAlias = Callable[[AgentState], tuple[Ranked, ...]]
"""Suspects, best first, of what an agent had been told when its run ended."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One case for fitting: what its run had on record, and which names are right."""

    case: str
    system: str
    state: AgentState
    services: frozenset[str]


Fit: TypeAlias = Callable[[Sequence[Lesson]], Ranker]
"""Fits weights on some cases and returns the ranking that they make; see `held_out`."""


@dataclass(frozen=True, slots=True)
class Agent:
    """Who is put to the test.

    `make` builds an investigator; None is the embedded one as the product wires it. `rank` is its
    order of suspects where that is a function of what was recorded. `fit` fits its weights anew;
    `fitted_on` are the ids of the cases that its frozen weights were fitted on.
    """

    name: str
    rank: Ranker | None = None
    make: Callable[[], Investigator] | None = None
    fit: Fit | None = None
    fitted_on: frozenset[str] = frozenset()


def ranked_by(state: AgentState, weights: Weights) -> tuple[Ranked, ...]:
    """The playbook's suspects under these weights, best first."""
    found = rank(read_material(state).seen, weights)
    return tuple(Ranked(suspect.service, suspect.score) for suspect in found.suspects)


def playbook() -> Agent:
    """The embedded agent with the weights that ship."""
    weights = shipped_weights()
    return Agent(
        name="playbook",
        rank=lambda state: ranked_by(state, weights),
        fit=fit_playbook,
        fitted_on=frozenset(weights.fitted_on),
    )


def fit_playbook(lessons: Sequence[Lesson]) -> Ranker:
    """The playbook's ranking under weights fitted on these lessons alone."""
    weights = fit_weights([(read_material(item.state).seen, item.services) for item in lessons])
    return lambda state: ranked_by(state, weights)


AGENTS: Final[Mapping[str, Callable[[], Agent]]] = {"playbook": playbook}
"""The agents that `affidavit eval --agent` knows."""


def order_suspects(
    located: str | None, ranked: Iterable[Ranked], release: ReleaseRecord
) -> tuple[str, ...]:
    """Every suspect once, best first; names that differ in case alone are one."""
    leads = release.fallback.leads if release.fallback is not None else ()
    first = () if located is None else (located,)
    names = (*first, *(item.entity for item in ranked), *(lead.entity for lead in leads))
    seen: dict[str, str] = {}
    for name in names:
        seen.setdefault(name.casefold(), name)
    return tuple(seen.values())


def margin(ranked: Sequence[Ranked]) -> float | None:
    """How far the first suspect stands before the second; None where there is none."""
    if not ranked:
        return None
    return ranked[0].score - (ranked[1].score if len(ranked) > 1 else 0.0)
