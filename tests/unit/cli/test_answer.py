"""The one JSON object of a run (interfaces)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from affidavit.adapters.memory_store import MemoryStore
from affidavit.application.answers import undecided_json
from affidavit.cli.answer import show_release, show_undecided
from affidavit.contract.agent import GiveUp
from affidavit.contract.report import ReleaseRecord
from affidavit.core.fold import fold
from affidavit.diagnose import drive, start
from tests.simulation.test_release_table import CASES, Case
from tests.support.runs import RUN_ID, request
from tests.support.worlds import act, conclude, world

pytestmark = pytest.mark.anyio

KEYS = {
    *("run_id", "run_state", "outcome", "agent_status", "stop_reason", "result", "fallback"),
    *("provenance", "coverage", "usage", "affidavit"),
}
EXIT_OF = {"SUCCESS": 0, "FALLBACK": 3, "FAILED": 4, "CANCELLED": 5}


@pytest.mark.spec("E7", "C10", "C11", "C12")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.decision} {case.name}")
async def test_every_row_is_one_object_and_one_exit_code(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    told = world(case.script, judge=case.judge(), repairer=case.repairer)
    await start(told, request(limits=case.limits))
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    code = show_release(release, Path("x.affidavit"), as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert code == EXIT_OF[answer["outcome"]]
    assert answer.keys() >= KEYS
    assert answer["decision"] == case.decision
    assert answer["affidavit"] == "x.affidavit"
    assert (answer["result"] is not None) == (answer["outcome"] == "SUCCESS")
    assert (answer["fallback"] is not None) == (answer["outcome"] == "FALLBACK")
    assert set(answer["usage"]) == {
        *("tokens", "money", "calls", "attempts", "iterations", "seconds"),
    }
    assert show_release(release, None, as_json=False) == code
    card = capsys.readouterr().out
    assert RUN_ID in card
    assert "Affidavit " not in card


@pytest.mark.spec("E1", "K8")
async def test_a_run_without_an_answer_is_the_same_object_with_nothing_in_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = MemoryStore()
    told = world([act("probe"), conclude()], store=store)
    await start(told, request())
    head = await store.head(RUN_ID)
    assert head is not None
    view = fold(await store.read(RUN_ID))
    answer = undecided_json(head, view)
    assert answer.keys() >= KEYS
    assert (answer["run_state"], answer["outcome"]) == ("RUNNING", None)
    assert show_undecided(head, view, as_json=False) == 6
    assert f"affidavit runs resume {RUN_ID}" in capsys.readouterr().out
    assert show_undecided(head, view, as_json=True) == 6
    assert json.loads(capsys.readouterr().out) == answer


async def test_both_objects_have_the_same_keys(capsys: pytest.CaptureFixture[str]) -> None:
    store = MemoryStore()
    told = world([GiveUp("no idea")], store=store)
    await start(told, request())
    head = await store.head(RUN_ID)
    assert head is not None
    undecided = undecided_json(head, fold(await store.read(RUN_ID)))
    release = await drive(RUN_ID, told)
    assert isinstance(release, ReleaseRecord)
    show_release(release, None, as_json=True)
    decided = json.loads(capsys.readouterr().out)
    assert undecided.keys() - decided.keys() == {"paused", "status", "waits_for"}
    assert decided.keys() <= undecided.keys()
