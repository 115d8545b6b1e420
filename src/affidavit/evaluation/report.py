"""The whole measurement: rows by set, system and contender, and every case with its reason (pure).

The rows of a set, its systems and of all sets together stand side by side; nothing is averaged
over sets in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from affidavit.contract.errors import ToolFailed
from affidavit.contract.states import ReleaseOutcome
from affidavit.evaluation.baselines import chance_hits, ranked_hits
from affidavit.evaluation.figures import (
    Answer,
    Cost,
    Evidence,
    Figures,
    Rate,
    evidence_shares,
    figures,
    mean,
    middle,
    worst,
)
from affidavit.evaluation.held_out import HeldOut, fit_on_one_system, leave_one_service_out
from affidavit.evaluation.incidents import Case, NotEvaluated
from affidavit.evaluation.rankings import Agent, Lesson, Ranked, margin
from affidavit.evaluation.scorer import RunScore
from affidavit.evaluation.trials import Played, Trial

ALL: Final = "all sets"

NO_WEIGHTS: Final = (
    "No rows of held-out weights: the agent has no weights that could be fitted anew."
)


@dataclass(frozen=True, slots=True)
class Row:
    """One contender on one group of cases."""

    group: str
    contender: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class AgentRow:
    """The evidence and the cost of the agent's answers on one group of cases."""

    group: str
    contender: str
    evidence: Evidence
    cost: Cost


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One case and what became of it, in words."""

    source: str
    case: str
    truth: str
    fault: str
    verdict: str
    why: str
    suspects: tuple[str, ...]
    rank: int | None
    margin: float | None
    case_s: float
    peak_mb: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was measured."""

    agent: str
    rows: tuple[Row, ...]
    agent_rows: tuple[AgentRow, ...]
    cases: tuple[CaseLine, ...]
    left_out: tuple[NotEvaluated, ...]
    notes: tuple[str, ...]


def report_of(
    agent: Agent, played: Sequence[Played], left_out: Iterable[NotEvaluated] = ()
) -> Report:
    """The report of these trials."""
    trials = [item for item in played if isinstance(item, Trial)]
    missing = [item for item in played if isinstance(item, NotEvaluated)]
    answers = [answer for trial in trials for answer in _answers(agent.name, trial)]
    answers.extend(_held_out(agent, trials))
    return Report(
        agent=agent.name,
        rows=tuple(_rows(answers)),
        agent_rows=tuple(_agent_rows(agent.name, trials)),
        cases=tuple(_line(trial) for trial in trials),
        left_out=(*left_out, *missing, *_rules_missing(trials)),
        notes=tuple(_notes(agent, trials)),
    )


def _answers(agent: str, trial: Trial) -> Iterator[Answer]:
    """What every contender said of one case."""
    runs, case = trial.runs, trial.case
    yield Answer(
        agent,
        case,
        hits=tuple(sum(column) / len(runs) for column in zip(*(r.hits for r in runs), strict=True)),
        published=sum(run.published for run in runs) / len(runs),
        right=sum(run.published and run.right for run in runs) / len(runs),
        sureness=mean(run.margin for run in runs),
    )
    if isinstance(trial.rules, ToolFailed):
        return
    rules = trial.rules
    chance = chance_hits(rules.services, case.truth)
    yield Answer("random", case, chance, float(bool(rules.services)), chance[0], None)
    yield _ranked_answer("N-sigma", case, rules.n_sigma)
    yield _ranked_answer("BARO", case, rules.baro)


def _ranked_answer(contender: str, case: Case, ranked: tuple[Ranked, ...]) -> Answer:
    """A rule names its first suspect whenever it has one."""
    hits = ranked_hits(ranked, case.truth)
    return Answer(contender, case, hits, float(bool(ranked)), hits[0], margin(ranked))


def _held_out(agent: Agent, trials: Sequence[Trial]) -> Iterator[Answer]:
    """Rankings by weights fitted on other cases, of each set that the frozen weights have seen."""
    if agent.fit is None:
        return
    for source in dict.fromkeys(t.case.source for t in trials if not t.case.shift_s):
        own = [t.case for t in trials if t.case.source == source and t.case.truth.faulty]
        states = {trial.case: trial.state for trial in trials}
        if not any(case.id in agent.fitted_on for case in own):
            continue
        cases = {case.id: case for case in own}
        lessons = [Lesson(case.id, case.system, states[case], case.truth.services) for case in own]
        held: tuple[HeldOut, ...] = (
            *leave_one_service_out(lessons, agent.fit),
            *fit_on_one_system(lessons, agent.fit),
        )
        for item in held:
            yield _ranked_answer(f"{agent.name}, {item.contender}", cases[item.case], item.ranked)


def groups_of(cases: Iterable[Case]) -> dict[str, tuple[Case, ...]]:
    """The groups that get a row: each set, its systems where it has several, and all sets; copies
    with a shifted alert count in their own set alone."""
    kept = tuple(cases)
    groups: dict[str, tuple[Case, ...]] = {}
    sources = tuple(dict.fromkeys(case.source for case in kept))
    for source in sources:
        own = tuple(case for case in kept if case.source == source)
        groups[source] = own
        systems = sorted({case.system for case in own})
        if len(systems) > 1:
            for system in systems:
                groups[f"{source}/{system or 'other'}"] = tuple(
                    c for c in own if c.system == system
                )
    whole = tuple(case for case in kept if not case.shift_s)
    if len({case.source for case in whole}) > 1:
        groups[ALL] = whole
    return groups


def _rows(answers: Sequence[Answer]) -> Iterator[Row]:
    contenders = tuple(dict.fromkeys(answer.contender for answer in answers))
    for group, cases in groups_of(dict.fromkeys(item.case for item in answers)).items():
        held = frozenset(cases)
        for contender in contenders:
            own = [item for item in answers if item.contender == contender and item.case in held]
            if own:
                yield Row(group, contender, figures(own))


def _agent_rows(agent: str, trials: Sequence[Trial]) -> Iterator[AgentRow]:
    for group, cases in groups_of(trial.case for trial in trials).items():
        held = frozenset(cases)
        own = [trial for trial in trials if trial.case in held]
        yield AgentRow(group, agent, _evidence(own), _cost(own))


def _evidence(trials: Sequence[Trial]) -> Evidence:
    runs = [run for trial in trials for run in trial.runs]
    intact, cited, proved = evidence_shares(runs)
    unpublished = [
        run for trial in trials if trial.case.truth.faulty for run in trial.runs
        if run.release.outcome is ReleaseOutcome.FALLBACK
    ]  # fmt: skip
    changes = [run.change_lead for run in unpublished if run.change_lead is not None]
    stopped = [trial.stopped for trial in trials if trial.stopped.evidence_calls]
    return Evidence(
        runs=len(runs),
        intact=intact,
        cited=cited,
        proved=proved,
        refused=sum(bool(run.codes) for run in runs),
        steady=Rate(sum(_is_steady(trial) for trial in trials), len(trials)),
        leads=Rate(sum(run.lead_rank is not None for run in unpublished), len(unpublished)),
        changes=Rate(sum(changes), len(changes)),
        stopped=Rate(sum(item.facts > 0 for item in stopped), len(stopped)),
        stopped_facts=mean(float(item.facts) for item in stopped),
    )


def _is_steady(trial: Trial) -> bool:
    """Whether every run of a case came to the same outcome and the same place."""
    return len({(run.release.outcome, run.located.entity) for run in trial.runs}) == 1


def _cost(trials: Sequence[Trial]) -> Cost:
    runs = [run for trial in trials for run in trial.runs]
    usage = [run.release.usage for run in runs]
    case_s = [trial.load_s + run_s for trial in trials for run_s in trial.run_s]
    return Cost(
        steps=mean(float(item.iterations) for item in usage),
        queries=mean(float(item.tool_calls) for item in usage),
        tokens=mean(float(item.tokens) for item in usage),
        money_micro=mean(item.money_micro for item in usage),
        load_s=mean(trial.load_s for trial in trials),
        run_s=mean(run_s for trial in trials for run_s in trial.run_s),
        case_s_median=middle(case_s),
        case_s_max=worst(case_s),
        peak_mb_max=worst(trial.peak_mb for trial in trials),
    )


def _line(trial: Trial) -> CaseLine:
    """The case in words, by its last run."""
    run, truth = trial.runs[-1], trial.case.truth
    return CaseLine(
        source=trial.case.source,
        case=trial.case.id,
        truth=" or ".join(sorted(truth.services)) or "nothing is broken",
        fault=truth.fault,
        verdict=verdict_of(run, faulty=truth.faulty),
        why=why_of(run),
        suspects=run.suspects[:3],
        rank=run.rank,
        margin=run.margin,
        case_s=trial.load_s + trial.run_s[-1],
        peak_mb=trial.peak_mb,
    )


def verdict_of(run: RunScore, *, faulty: bool) -> str:
    """What became of the case: right, wrong, false alarm, quiet, held (nothing published)."""
    if not faulty:
        return "false alarm" if run.published else "quiet"
    if not run.published:
        return "held"
    return "right" if run.right else "wrong"


def why_of(run: RunScore) -> str:
    """Why: what was named, or why nothing was; codes alone, never a draft's words."""
    release = run.release
    sources = [
        f"{line.source_type} {line.status}" + (f" ({', '.join(line.codes)})" if line.codes else "")
        for line in release.coverage.lines
        if line.status in {"failed", "unavailable", "refused"}
    ]
    if release.outcome is ReleaseOutcome.SUCCESS:
        told = run.located.entity or run.located.why
        parts = [f"named {told}", f"{release.result.withdrawn} withdrawn"
                 if release.result is not None and release.result.withdrawn else ""]  # fmt: skip
    elif release.fallback is not None:
        parts = [str(release.fallback.type), *run.codes]
    else:
        parts = [str(release.failure_code or release.outcome)]
    return "; ".join(part for part in (*parts, *sources) if part)


def _rules_missing(trials: Sequence[Trial]) -> Iterator[NotEvaluated]:
    for trial in trials:
        if isinstance(trial.rules, ToolFailed):
            why = f"{trial.rules.code}: {trial.rules.message}"
            yield NotEvaluated(trial.case.source, trial.case.id, why, "random, N-sigma, BARO")


def _notes(agent: Agent, trials: Sequence[Trial]) -> Iterator[str]:
    if agent.fit is None:
        yield NO_WEIGHTS
    seen = sum(trial.case.id in agent.fitted_on for trial in trials)
    if seen:
        yield (
            f"{seen} of {len(trials)} cases are among those that the agent's weights were fitted"
            " on: on their sets only its held-out rows measure how it generalises."
        )
