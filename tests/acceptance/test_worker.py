"""`affidavit worker`: runs that nobody drives go on, in another process (K8)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.conftest import AFFIDAVIT, Shell, wait_until


@pytest.mark.slow
@pytest.mark.spec("K8", "L6", "H1")
def test_a_worker_goes_on_with_a_run_that_lost_its_process(shell: Shell, incident: Path) -> None:
    command = shell.start("diagnose", incident, gate=shell.home / "gate", options="lease=1", step=2)
    (run_id,) = [item["run_id"] for item in shell.run("runs", "list", "--json").json["runs"]]
    os.killpg(command.process.pid, signal.SIGKILL)
    command.end()
    worker = subprocess.Popen(
        [str(AFFIDAVIT), "worker", "--runs-max", "1"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=shell.home,
        env=shell.environment(),
    )
    shell.running.append(worker)
    wait_until(lambda: shell.run("runs", "show", run_id).code != 6 or worker.poll() is not None)
    worker.send_signal(signal.SIGTERM)
    _, err = worker.communicate(timeout=60)
    assert worker.returncode == 0, err
    assert f"{run_id}: " in err
    assert "Traceback" not in err
    shown = shell.run("runs", "show", run_id, "--json")
    assert shown.code == {"SUCCESS": 0, "FALLBACK": 3, "FAILED": 4}[shown.json["outcome"]]


@pytest.mark.spec("H5", "K0")
@pytest.mark.fault("F25")
@pytest.mark.parametrize(
    ("arguments", "environment", "code"),
    [
        (("--store", "memory:"), {}, "STORE_UNSHARED"),
        (("--runs-max", "0"), {}, "USAGE"),
        ((), {"AFFIDAVIT_AGENT_GUARD_AUDIT": "false"}, "GUARD_OFF"),
        ((), {"AFFIDAVIT_AGENT_GUARD_AUDTI": "false"}, "SETTINGS_REFUSED"),
    ],
)
def test_a_worker_that_should_not_drive_refuses_the_start(
    shell: Shell, arguments: tuple[str, ...], environment: dict[str, str], code: str
) -> None:
    done = shell.run("worker", *arguments, **environment)
    assert done.code == 2
    assert not shell.store.exists()
    said = {
        "STORE_UNSHARED": "in memory",
        "USAGE": "at least one run",
        "GUARD_OFF": "audit guard",
        "SETTINGS_REFUSED": "AFFIDAVIT_AGENT_GUARD_AUDIT",
    }
    assert said[code] in done.err


@pytest.mark.spec("H11")
def test_the_drill_s_table_and_exit_code(shell: Shell) -> None:
    done = shell.run("drill", "loop", "sensitive-args")
    assert done.code == 0
    assert done.out.splitlines() == [
        "loop           → LOOP_DETECTED   FALLBACK · INSUFFICIENT_EVIDENCE",
        "sensitive-args → DONE            SUCCESS",
        "2 of 2 faults caught",
    ]
    off = shell.run("drill", "loop", "--json", AFFIDAVIT_AGENT_GUARD_LOOP="false")
    assert off.code == 1
    assert off.json["missed"] == ["loop"]
    assert not off.json["drills"][0]["caught"]
    assert shell.run("drill").code == 2
    assert "budget-exceed" in shell.run("drill", "nothing").err


@pytest.mark.slow
@pytest.mark.spec("K3", "H5")
def test_the_settings_limits_and_ceilings_are_in_force(
    shell: Shell, incident: Path, tmp_path: Path
) -> None:
    call = {"id": "1", "name": "error_logs", "arguments": "{}"}
    body = {"model": "toy", "text": "", "finish": "tool_calls", "calls": [call]}
    answer, said = tmp_path / "model.sh", tmp_path / "answer.json"
    said.write_text(json.dumps(body))
    answer.write_text(f"#!/bin/sh\ncat > /dev/null\ncat {said}\n")
    answer.chmod(0o755)
    (shell.home / "affidavit.toml").write_text(
        f'[models]\nauthor = ["exec:{answer}"]\n[ceilings]\ntenant-tokens = 12000\n'
        "[agent.limits.standard]\nmax-iterations = 4\n"
    )
    first = shell.run("diagnose", incident, "--json")
    assert first.json["usage"]["iterations"] <= 4
    assert first.json["usage"]["tokens"] <= 12_000
    second = shell.run("diagnose", incident, "--json")
    assert second.json["agent_status"] == "BUDGET_EXCEEDED", "another process spent the day's room"
    assert second.json["run_state"] == "BUDGET_EXHAUSTED"
