"""Who does an agent suspect, in which order? (pure)

The place that was published comes first. Then the agent's own order, computed again from the
observations on record where the agent is a pure function of them, as the playbook is; then the
leads of a fallback, which is all that a foreign agent leaves behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from affidavit.agents.suspects import rank_suspects
from affidavit.contract.agent import Investigator, Observation
from affidavit.contract.report import ReleaseRecord

RANKS_MAX: Final = 5
"""The deepest rank that is scored (Avg@5)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """One suspect and its score, in units of its ranker alone."""

    entity: str
    score: float


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a run has on record for a ranker: its observations and the service that was paged."""

    observations: tuple[Observation, ...]
    symptom: str = ""


Ranker: TypeAlias = Callable[[Recorded], tuple[Ranked, ...]]


@dataclass(frozen=True, slots=True)
class Lesson:
    """One case for fitting: what was recorded, and which names are right."""

    case: str
    system: str
    recorded: Recorded
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


def rank_as_playbook(recorded: Recorded) -> tuple[Ranked, ...]:
    """The playbook's suspects, best first."""
    return tuple(
        Ranked(suspect.entity, suspect.score) for suspect in rank_suspects(recorded.observations)
    )


PLAYBOOK: Final = Agent("playbook", rank_as_playbook)

AGENTS: Final[Mapping[str, Agent]] = {PLAYBOOK.name: PLAYBOOK}
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
