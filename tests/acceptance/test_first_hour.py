"""What somebody types in the first hour: near misses, empty stores, pipes that close early."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

from tests.acceptance.conftest import AFFIDAVIT, WAIT_S, Shell

EXIT_UNHEARD: Final = 4


def test_a_near_miss_of_a_fault_is_told_the_fault(shell: Shell) -> None:
    done = shell.run("drill", "looop", "--json")
    assert done.code == 2
    assert done.json["error"]["hint"].startswith("did you mean loop? use one of ")


def test_nothing_there_is_said(shell: Shell, incident: Path) -> None:
    done = shell.run("tools", "check")
    assert (done.code, "none is configured" in done.out) == (0, True)
    shell.run("diagnose", incident)
    done = shell.run("deliveries", "list")
    assert (done.code, "no such delivery" in done.out) == (0, True)


def test_a_long_question_takes_one_line_of_the_list(shell: Shell, incident: Path) -> None:
    question = "why " * 200 + "slow?"
    shell.run("diagnose", incident, "-q", question)
    (line,) = shell.run("runs", "list").out.splitlines()
    assert len(line) < 200
    assert line.endswith("…")
    (run,) = shell.run("runs", "list", "--json").json["runs"]
    assert run["question"] == question


def closed_after_nothing() -> int:
    """The end of a pipe that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def test_a_reader_that_leaves_is_no_fault_that_was_missed(shell: Shell) -> None:
    """Exit 1 of a drill says that a fault was not caught; a closed pipe says nothing of it."""
    gone = closed_after_nothing()
    done = subprocess.run(
        [str(AFFIDAVIT), "drill", "loop", "unknown-tool"],
        stdout=gone,
        stderr=subprocess.PIPE,
        env=shell.environment(PYTHONUNBUFFERED="1"),
        cwd=shell.home,
        timeout=WAIT_S,
        check=False,
    )
    os.close(gone)
    assert (done.returncode, done.stderr) == (EXIT_UNHEARD, b"")


def test_work_goes_on_where_nobody_reads_its_progress(shell: Shell, incident: Path) -> None:
    gone = closed_after_nothing()
    done = subprocess.run(
        [str(AFFIDAVIT), "diagnose", str(incident), "--json"],
        stdout=subprocess.PIPE,
        stderr=gone,
        env=shell.environment(),
        cwd=shell.home,
        timeout=WAIT_S,
        check=False,
    )
    os.close(gone)
    assert done.returncode in {0, 3}
    assert b'"outcome"' in done.stdout
