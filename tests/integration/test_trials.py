"""Whole trials: real folders, real runs, real queries; and whatever breaks is not evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from affidavit.contract.agent import AgentState, Conclude, Decision
from affidavit.evaluation.baselines import Rules
from affidavit.evaluation.figures import Rate
from affidavit.evaluation.incidents import Case, NotEvaluated, collect_cases
from affidavit.evaluation.page import policy, render_page
from affidavit.evaluation.rankings import Agent, Lesson, Ranked, Ranker, playbook
from affidavit.evaluation.report import ALL, NO_WEIGHTS, Report, report_of
from affidavit.evaluation.tables import render_text, report_json
from affidavit.evaluation.trials import Order, Trial, play, play_case
from tests.support.incidents import INCIDENT, metrics_csv, quiet, write_folder

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PLAYBOOK = playbook()
ORDER = Order(PLAYBOOK)
TOPOLOGY = '{"nodes": [], "edges": [{"from": "checkout", "to": "orders-db"}]}'


def one_case(path: Path, truth: str, after: float = 900.0) -> Case:
    """Half an hour of two services; in the last ten minutes the database takes so many
    milliseconds, and its caller half of the rise."""
    database, caller = (
        [(at, level * (1 + 0.01 * (at % 3))) for at in range(10)]
        for level in (after, 20 + (after - 20) / 2)
    )
    series: dict[str, Iterable[tuple[float, float]]] = {
        "orders-db duration p95": [*quiet(range(-20, 0)), *database],
        "checkout duration p95": [*quiet(range(-20, 0)), *caller],
    }
    write_folder(
        path,
        INCIDENT.replace("slow-checkout", path.name),
        metrics_csv=metrics_csv(series),
        topology_json=TOPOLOGY,
        truth_yaml=truth,
    )
    (case,) = collect_cases([("own", path)]).cases
    return case


async def trial_of(case: Case, order: Order = ORDER) -> Trial:
    """The case, played."""
    played = await play_case(case, order)
    assert isinstance(played, Trial), played
    return played


async def test_a_fault_is_located_and_every_contender_is_scored(tmp_path: Path) -> None:
    trial = await trial_of(one_case(tmp_path / "c", "faulty: true\nservice: orders-db\n"))
    (run,) = trial.runs
    assert (run.right, run.rank, run.located.entity) == (True, 1, "orders-db")
    assert run.sentences.all == run.sentences.cited == run.sentences.proved > 0
    assert trial.stopped.evidence_calls > 0
    assert trial.stopped.facts > 0
    assert isinstance(trial.rules, Rules)
    assert trial.rules.services == ("checkout", "orders-db")
    assert trial.rules.n_sigma[0].entity == trial.rules.baro[0].entity == "orders-db"


async def test_a_rules_score_is_what_its_paper_says(tmp_path: Path) -> None:
    """Reference 10, 20, 30, 40, window 100: median 25, quartiles 17.5 and 32.5; mean 25,
    population deviation 11.18."""
    series = {"db load mean": [(at - 4, 10.0 * (at + 1)) for at in range(4)] + [(5, 100.0)]}
    folder = tmp_path / "c"
    write_folder(folder, metrics_csv=metrics_csv(series), truth_yaml="faulty: true\nservice: db\n")
    (case,) = collect_cases([("own", folder)]).cases
    rules = (await trial_of(case)).rules
    assert isinstance(rules, Rules)
    assert rules.baro[0].score == pytest.approx(75 / 15)
    assert rules.n_sigma[0].score == pytest.approx(75 / 125**0.5)


async def test_repeated_runs_are_runs_of_their_own(tmp_path: Path) -> None:
    case = one_case(tmp_path / "c", "faulty: true\nservice: orders-db\n")
    trial = await trial_of(case, replace(ORDER, repeats=3))
    assert len({run.release.run_id for run in trial.runs}) == len(trial.run_s) == 3
    report = report_of(PLAYBOOK, [trial])
    assert report.agent_rows[0].evidence.runs == 3
    assert report.rows[0].figures.faulty == 1


async def test_a_healthy_window_stays_quiet(tmp_path: Path) -> None:
    trial = await trial_of(one_case(tmp_path / "c", "faulty: false\n", after=20.0))
    assert not trial.runs[0].published
    report = report_of(PLAYBOOK, [trial])
    assert report.cases[0].verdict == "quiet"
    assert report.rows[0].figures.false_alarms.of == 1
    assert report.rows[0].figures.false_alarms.hits == 0


async def test_a_folder_that_cannot_be_loaded_is_not_evaluated(tmp_path: Path) -> None:
    case = one_case(tmp_path / "c", "faulty: true\nservice: orders-db\n")
    (tmp_path / "c" / "metrics.jsonl").write_text("{}\n")
    played = await play_case(case, ORDER)
    assert isinstance(played, NotEvaluated)
    assert "two files for one table" in played.why
    report = report_of(PLAYBOOK, [played])
    assert report.rows == ()
    assert report.left_out == (played,)


async def test_a_scorer_that_breaks_is_not_evaluated(tmp_path: Path) -> None:
    def broken(_: AgentState) -> tuple[Ranked, ...]:
        raise ZeroDivisionError("canary")

    case = one_case(tmp_path / "c", "faulty: true\nservice: orders-db\n")
    played = await play_case(case, Order(Agent("odd", broken)))
    assert isinstance(played, NotEvaluated)
    assert "ZeroDivisionError" in played.why


class Mute:
    """An agent that concludes nothing, at once."""

    name = "mute"

    async def decide(self, state: AgentState) -> Decision:
        """Nothing."""
        return Conclude({})


async def test_an_agent_that_says_nothing_scores_a_miss_and_no_error(tmp_path: Path) -> None:
    case = one_case(tmp_path / "c", "faulty: true\nservice: orders-db\n")
    mute = Agent("mute", make=Mute)
    trial = await trial_of(case, Order(mute))
    report = report_of(mute, [trial])
    assert report.notes == (NO_WEIGHTS,)
    assert report.cases[0].verdict == "held"
    assert report.rows[0].contender == "mute"
    assert report.rows[0].figures.top[4].hits == 0


async def reported(tmp_path: Path, agent: Agent = PLAYBOOK) -> Report:
    """The report of a fault here and a healthy window there."""
    ours = one_case(tmp_path / "a", "faulty: true\nservice: orders-db\nfault: <b>lock</b>\n")
    foreign = replace(one_case(tmp_path / "b", "faulty: false\n", after=20.0), source="foreign")
    return report_of(agent, await play([ours, foreign], Order(agent)))


async def test_foreign_sets_stand_beside_our_own_in_every_table(tmp_path: Path) -> None:
    report = await reported(tmp_path)
    groups = ["own", "foreign", ALL]
    assert list(dict.fromkeys(row.group for row in report.rows)) == groups
    assert [row.group for row in report.agent_rows] == groups
    contenders = list(dict.fromkeys(row.contender for row in report.rows))
    assert contenders == ["playbook", "random", "N-sigma", "BARO"]
    assert report.notes == ()
    text = render_text(report)
    assert "Not evaluated" not in text
    assert all(f"  {group}" in text for group in groups)
    assert report_json(report)["agent"] == "playbook"


async def test_sets_that_weights_have_seen_get_held_out_rows(tmp_path: Path) -> None:
    """Only these: of a set that no weight has seen, every row is held out already."""

    def fit(_: Sequence[Lesson]) -> Ranker:
        return lambda _: (Ranked("orders-db", 1.0),)

    database = "faulty: true\nservice: orders-db\n"
    shop = "faulty: true\nservice: checkout\n"
    cases = [
        replace(one_case(tmp_path / "a", database), system="one"),
        replace(one_case(tmp_path / "b", shop), system="two"),
        replace(one_case(tmp_path / "c", shop), source="other"),
    ]
    agent = replace(PLAYBOOK, fit=fit, fitted_on=frozenset({"a", "b"}))
    report = report_of(agent, await play(cases, Order(agent)))
    held = {(row.group, row.contender): row.figures.top[0] for row in report.rows
            if ", " in row.contender}  # fmt: skip
    assert held["own", "playbook, one service left out"] == Rate(1.0, 2)
    assert held["own/one", "playbook, fitted on two"] == Rate(1.0, 1)
    assert held["own/two", "playbook, fitted on one"] == Rate(0.0, 1)
    assert not any(group == "other" for group, _ in held)
    assert "2 of 3 cases" in report.notes[0]


async def test_the_page_stands_alone_and_escapes_what_it_shows(tmp_path: Path) -> None:
    page = render_page(await reported(tmp_path))
    assert page.count("<svg") >= 2
    assert "<b>lock" not in page
    assert "&lt;b&gt;lock" in page
    assert policy().startswith("default-src 'none'; style-src 'sha256-")
    for reaching_out in ("<script", "http://", "https://", " style=", "url(", "@import"):
        assert reaching_out not in page
