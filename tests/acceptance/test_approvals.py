"""Approvals from outside: a process asks and ends, a person decides, another process acts once."""

from __future__ import annotations

import getpass
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.conftest import WAIT_S, Done, Shell

pytestmark = pytest.mark.slow

SCRIPT: Final = Path(__file__).with_name("acting_command.py")


def act(shell: Shell, *arguments: object, options: str = "") -> Done:
    """The command with a tool that does something."""
    done = subprocess.run(
        [
            *(sys.executable, str(SCRIPT), str(shell.home / "done"), *options.split()),
            *("--", *map(str, arguments)),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=shell.home,
        env=shell.environment(),
        timeout=WAIT_S * 2,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def done_lines(shell: Shell) -> list[str]:
    """What was really done."""
    file = shell.home / "done"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.spec("H10", "K9", "E14")
@pytest.mark.fault("F23", "R9", "R58", "F19")
def test_ask_decide_and_act_are_three_processes(shell: Shell, incident: Path) -> None:
    asked = act(shell, "diagnose", incident, "--json")
    assert asked.code == 6
    answer = asked.json
    assert (answer["agent_status"], answer["run_state"]) == ("NEED_APPROVAL", "RUNNING")
    assert [(w["tool"], w["reason"]) for w in answer["waits_for"]] == [("restart", "approval")]
    run_id, call = answer["run_id"], answer["waits_for"][0]["tool_call_id"]

    (waiting,) = shell.run("approvals", "list", "--json").json["approvals"]
    assert waiting["page"]["arguments"] == {"service": "checkout"}
    listed = shell.run("approvals", "list").out
    assert "restarts a service" in listed
    assert "PLEA" not in listed + str(waiting)
    shown = shell.run("runs", "show", run_id)
    assert shown.code == 6
    assert "affidavit approvals list" in shown.out

    for wrong, code in (
        (("--by", getpass.getuser()), "APPROVER_IS_REQUESTER"),
        (("--by", "restarting"), "APPROVER_IS_AGENT"),
        (("--by", " "), "APPROVER_UNNAMED"),
        (("--by", "Mo", "--digest", "f" * 64), "APPROVAL_MISMATCH"),
    ):
        refused = shell.run("approvals", "approve", run_id, call, *wrong, "--json")
        assert (refused.code, refused.json["error"]["code"]) == (2, code)
    assert act(shell, "runs", "resume", run_id).code == 6
    assert done_lines(shell) == []

    approve = ("approvals", "approve", run_id, call, "--by", "Mo")
    said = shell.run(*approve, "--digest", waiting["action_digest"], "--json")
    assert (said.code, said.json["said"]) == (0, "approved")
    ended = act(shell, "runs", "resume", run_id, "--json")
    assert ended.json["run_state"] == "SUCCESS"
    (line,) = done_lines(shell)
    assert line.startswith("checkout ")
    assert shell.run("approvals", "list").out == "nothing waits for a person\n"
    again = shell.run(*approve, "--json")
    assert (again.code, again.json["error"]["code"]) == (2, "RUN_ENDED")
    marks = [entry["mark"] for entry in shell.run("timeline", run_id, "--json").json["lines"]]
    assert any(mark.startswith("APPROVAL_DECIDED=approved") and "by=Mo" in mark for mark in marks)
    assert shell.run("verify", run_id, "--json").json["verdict"] == "INTACT_SIGNER_UNKNOWN"


@pytest.mark.spec("H10")
def test_a_rejected_action_never_happens_and_the_run_ends(shell: Shell, incident: Path) -> None:
    run_id = act(shell, "diagnose", incident, "--json").json["run_id"]
    reject = shell.run("approvals", "reject", run_id, "call_0001", "--by", "Mo")
    assert (reject.code, "rejected" in reject.out) == (0, True)
    ended = act(shell, "runs", "resume", run_id, "--json")
    assert ended.json["run_state"] == "FAILED"
    assert done_lines(shell) == []


@pytest.mark.spec("K9", "K8")
@pytest.mark.fault("F14", "F12")
def test_a_process_that_dies_in_the_middle_of_an_effect_leaves_it_to_an_operator(
    shell: Shell, incident: Path
) -> None:
    run_id = act(shell, "diagnose", incident, "--json").json["run_id"]
    shell.run("approvals", "approve", run_id, "call_0001", "--by", "Mo")
    died = act(shell, "runs", "resume", run_id, options="dying")
    assert died.code < 0, "it was killed"
    assert len(done_lines(shell)) == 1
    waits = act(shell, "runs", "resume", run_id, "--json")
    assert waits.code == 6
    assert [w["reason"] for w in waits.json["waits_for"]] == ["outcome"]
    shown = shell.run("runs", "show", run_id)
    assert f"affidavit runs resolve {run_id} call_0001" in shown.out

    wrong = shell.run("runs", "resolve", run_id, "call_0001", "maybe", "--by", "Mo", "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (2, "OUTCOME_MALFORMED")
    said = shell.run("runs", "resolve", run_id, "call_0001", "done", "--by", "Mo", "--json")
    assert said.code == 0
    ended = act(shell, "runs", "resume", run_id, "--json")
    assert ended.json["run_state"] == "FAILED", "what an operator says is no evidence"
    assert len(done_lines(shell)) == 1
    assert shell.run("verify", run_id, "--json").json["verdict"] == "INTACT_SIGNER_UNKNOWN"
