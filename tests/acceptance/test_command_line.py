"""The command line from outside: real processes, a real store, real data (interfaces, issue 2)."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from affidavit.affidavit.recheck import Verdict
from tests.acceptance.conftest import AFFIDAVIT, Shell, wait_until
from tests.support.checking import recheck
from tests.support.incidents import INCIDENT, jsonl, log_row, metrics_csv, quiet, write_folder

KEYS: Final = {
    *("run_id", "run_state", "outcome", "agent_status", "stop_reason", "result", "fallback"),
    *("provenance", "coverage", "usage", "affidavit"),
}
NO_RIGHTS: Final = (
    ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--") if os.geteuid() == 0 else ()
)
"""An administrator may write anywhere; without capabilities the modes of files hold for him too."""

EXIT_OF: Final = {"SUCCESS": 0, "FALLBACK": 3, "FAILED": 4, "CANCELLED": 5}

OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0001]"
)
"""What a terminal, or a reader's eye, would obey; line feed and tab are not among it."""


def journal(shell: Shell, run_id: str) -> list[dict[str, Any]]:
    """The run's lines, as the command tells them."""
    lines: list[dict[str, Any]] = shell.run("timeline", run_id, "--json").json["lines"]
    return lines


def marks(shell: Shell, run_id: str) -> list[str]:
    """The kinds and words of the run's lines."""
    return [line["mark"] for line in journal(shell, run_id)]


def run_ids(shell: Shell) -> list[str]:
    """The runs of the store; none where there is no store."""
    done = shell.run("runs", "list", "--json")
    return [run["run_id"] for run in done.json["runs"]] if done.code == 0 else []


def only_run(shell: Shell) -> str:
    """The one run of the store."""
    (run_id,) = run_ids(shell)
    return run_id


# --- Answers -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.spec("H1", "C10", "C11", "C12", "A2", "A5", "K8")
def test_a_diagnosis_and_every_look_at_it(shell: Shell, incident: Path) -> None:
    """diagnose → show, verify, timeline, runs list, runs show: one story, one answer."""
    out = shell.home / "answer.affidavit"
    done = shell.run("diagnose", incident, "--out", out, "--json")
    answer = done.json
    assert answer.keys() >= KEYS
    assert done.code == EXIT_OF[answer["outcome"]]
    assert answer["affidavit"] == str(out)
    assert answer["provenance"] == "recorded"
    assert answer["usage"].keys() >= {"tokens", "money", "calls", "attempts", "seconds"}
    assert (answer["result"] is None) != (answer["fallback"] is None)
    run_id = answer["run_id"]
    assert run_id in done.err
    assert "step 1:" in done.err
    assert "checkout: latency" in done.err
    assert f"decision {answer['decision']}" in done.err

    assert recheck(out.read_bytes()).verdict is Verdict.INTACT_SIGNER_UNKNOWN
    for source in (out, run_id):
        verified = shell.run("verify", source, "--json")
        assert verified.code == 3
        assert verified.json["verdict"] == "INTACT_SIGNER_UNKNOWN"
        assert all(check["passed"] for check in verified.json["checks"])
        assert verified.json["run_id"] == run_id
        shown = shell.run("show", source, "--json")
        assert shown.code == 0
        assert {**shown.json, "affidavit": None} == {**answer, "affidavit": None}
    card = shell.run("show", out).out
    assert run_id in card
    assert "What was looked at" in card
    assert shell.run("verify", out, "--require-recorded").code == 3

    again = shell.run("runs", "show", run_id, "--json")
    assert again.code == done.code
    assert {**again.json, "affidavit": None} == {**answer, "affidavit": None}
    resumed = shell.run("runs", "resume", run_id, "--json", "--out", shell.home / "again")
    assert resumed.code == done.code
    assert (shell.home / "again").read_bytes() == out.read_bytes()
    assert only_run(shell) == run_id
    assert marks(shell, run_id)[-1].startswith(f"RUN_ENDED={answer['run_state']}")
    assert [mark for mark in marks(shell, run_id) if mark.startswith("RELEASE_DECISION")] == [
        next(mark for mark in marks(shell, run_id) if f"decision={answer['decision']}" in mark)
    ]


@pytest.mark.slow
def test_the_card_is_what_a_person_gets(shell: Shell, incident: Path) -> None:
    done = shell.run("diagnose", incident)
    assert done.code in EXIT_OF.values()
    assert "Why is checkout slow since 10:00 UTC?" in done.out
    assert "decision D" in done.out
    assert "\x1b" not in done.out


@pytest.mark.slow
def test_a_question_and_a_profile_of_one_s_own(shell: Shell, incident: Path) -> None:
    done = shell.run("diagnose", incident, "-q", "Is payment slow?", "--limits", "simple", "--json")
    assert done.json["question"] == "Is payment slow?"
    store = f"sqlite:{shell.store}"
    other = shell.run("runs", "list", "--store", store, "--json")
    assert other.json["runs"][0]["question"] == "Is payment slow?"


@pytest.mark.slow
@pytest.mark.spec("A5")
def test_an_altered_file_is_neither_verified_nor_shown(shell: Shell, incident: Path) -> None:
    out = shell.home / "answer.affidavit"
    shell.run("diagnose", incident, "--out", out)
    forged = shell.home / "forged.affidavit"
    forged.write_bytes(out.read_bytes().replace(b"checkout", b"payment1", 1))
    verified = shell.run("verify", forged)
    assert verified.code == 1
    assert "ALTERED" in verified.out
    assert "✗ head" in verified.out
    shown = shell.run("show", forged)
    assert shown.code == 1
    assert shown.out == ""
    assert shell.run("show", forged, "--json").json["error"]["code"] == "AFFIDAVIT_ALTERED"
    for content in (b"", b"hello", out.read_bytes()[:-1]):
        forged.write_bytes(content)
        assert shell.run("verify", forged).code == 2
        assert shell.run("show", forged).code == 2


# --- Refusals ----------------------------------------------------------------------------------

WRONG: Final = [
    (("diagnose",), "SOURCE"),
    (("diagnose", "nowhere"), "nowhere does not exist"),
    (("diagnose", "."), "incident.yaml"),
    (("diagnose", "{incident}", "--limits", "huge"), "huge"),
    (("diagnose", "{incident}", "-q", " "), "is blank"),
    (("diagnose", "{incident}", "-q", "x" * 2_001), "2001 characters"),
    (("diagnose", "{incident}", "-q", "caf\udce9"), "no valid text"),
    (("diagnose", "{incident}", "--store", "oracle:x"), "names no store"),
    (("diagnose", "{incident}", "--store", "sqlite:no/such/folder/x.db"), "no/such/folder"),
    (("diagnose", "{incident}", "--out", "no/such/folder/x"), "no/such/folder"),
    (("diagnose", "{incident}", "--out", "."), "no plain file"),
    (("diagnose", "{incident}", "--out", "/proc/x.affidavit"), "/proc"),
    (("diagnose", "{incident}", "--colour", "red"), "--colour"),
    (("verify", "nowhere.affidavit"), "nowhere.affidavit"),
    (("verify", "."), "no plain file"),
    (("show", "run_0123456789abcdef"), "no runs"),
    (("runs", "show", "run_0123456789abcdef"), "no runs"),
    (("runs", "cancel", "nobody"), "no runs"),
    (("runs", "resume", "run_0123456789abcdef"), "no runs"),
    (("timeline", "x"), "no runs"),
    (("runs", "frobnicate"), "frobnicate"),
    (("frobnicate",), "frobnicate"),
]


@pytest.mark.fault("F25")
@pytest.mark.parametrize(("arguments", "names"), WRONG, ids=lambda value: str(value)[:60])
def test_what_cannot_be_done_is_one_clear_line(
    shell: Shell, incident: Path, arguments: tuple[str, ...], names: str
) -> None:
    """Exit 2, one line that names what is wrong, no traceback, and nothing left behind."""
    told = [argument.replace("{incident}", str(incident)) for argument in arguments]
    done = shell.run(*told)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("affidavit: ")
    assert done.err.count("\n") == 1
    assert names in done.err
    assert list(shell.home.iterdir()) == []
    error = shell.run(*told, "--json").json["error"]
    assert error.keys() == {"code", "message", "hint"}
    assert names in error["message"] + error["hint"]


@pytest.mark.fault("F25")
@pytest.mark.parametrize("name", ["AFFIDAVIT_STOER", "AFFIDAVIT_LIMITS"])
def test_a_setting_that_is_none_refuses_the_start(shell: Shell, incident: Path, name: str) -> None:
    done = shell.run("diagnose", incident, **{name: "huge"})
    assert done.code == 2
    assert name.removeprefix("AFFIDAVIT_").lower() in done.err.lower()
    assert list(shell.home.iterdir()) == []


@pytest.mark.fault("F25")
def test_a_misspelt_key_of_the_file_refuses_the_start(shell: Shell, incident: Path) -> None:
    (shell.home / "affidavit.toml").write_text('stoer = "memory:"\n')
    done = shell.run("diagnose", incident)
    assert done.code == 2
    assert "stoer" in done.err
    (shell.home / "affidavit.toml").write_text('store = "memory:\n')
    assert shell.run("diagnose", incident).code == 2


def test_a_name_that_would_move_the_cursor_is_told_inert(shell: Shell) -> None:
    done = shell.run("verify", "x\x1b[2J\nspoofed: all is well")
    assert done.code == 2
    assert not OBEYED.search(done.err)
    assert done.err.count("\n") == 1


def test_no_command_prints_the_help(shell: Shell) -> None:
    for arguments in ((), ("runs",)):
        done = shell.run(*arguments)
        assert done.code == 2
        assert "Usage" in done.out
    assert shell.run("--help").code == 0
    assert shell.run("diagnose", "--help").code == 0


def test_whoever_stops_reading_ends_the_command_without_a_word(shell: Shell) -> None:
    command = subprocess.Popen(
        [str(AFFIDAVIT), "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=shell.environment(PYTHONUNBUFFERED="1"),
    )
    assert command.stdout is not None
    assert command.stderr is not None
    command.stdout.close()
    err = command.stderr.read().decode()
    command.wait()
    assert "Traceback" not in err
    command.stderr.close()


# --- Starting at once --------------------------------------------------------------------------

HEAVY: Final = ("duckdb", "pydantic", "rich", "typer", "click", "anyio", "yaml", "sqlite3")


def loaded(*arguments: str) -> set[str]:
    """The modules that a command has loaded when it is done."""
    code = (
        "import sys, atexit, json\n"
        f"sys.argv = {['affidavit', *arguments]!r}\n"
        "atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))\n"
        "from affidavit.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(json.loads(done.stderr))


def test_the_version_is_told_without_loading_anything() -> None:
    modules = loaded("--version")
    assert not {name for name in modules if name.split(".")[0] in HEAVY}
    assert {name for name in modules if name.startswith("affidavit.")} == {"affidavit.cli"}


def test_the_help_loads_no_data_and_no_records() -> None:
    modules = loaded("--help")
    assert not {name for name in modules if name.split(".")[0] in {"duckdb", "rich", "yaml"}}


# --- Text that would be obeyed -----------------------------------------------------------------

SPOOF: Final = "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\ \x1b[2J\x1b[1;31mPUBLISHED"
MARKUP: Final = "[link=https://evil.example]here[/link] [/foo] [bold red]all is well[/bold red]"
TURNED: Final = "\u202elevom\u2066 \u200bzero\u0085next \x9b31m \U000e0001tag"


@pytest.mark.slow
@pytest.mark.spec("T6", "N2")
@pytest.mark.fault("R54", "R74")
def test_what_a_log_line_says_moves_no_screen(shell: Shell, tmp_path: Path) -> None:
    """Escape sequences, markup and turned text in a log, from the folder to the screen."""
    hostile = [f"{SPOOF} {MARKUP} {TURNED} {n}" for n in range(3)]
    folder = write_folder(
        tmp_path / "hostile",
        INCIDENT.replace("Why is checkout slow", f"Why {MARKUP} is checkout slow"),
        metrics_csv=metrics_csv({"checkout latency p95": quiet(range(-30, 10))}),
        logs_jsonl=jsonl([log_row(n, body) for n, body in enumerate(hostile, start=1)]),
    )
    out = shell.home / "hostile.affidavit"
    done = shell.run("diagnose", folder, "--out", out)
    assert done.code in EXIT_OF.values()
    assert "click" in done.err, "the line itself is told"
    run_id = only_run(shell)
    for told in (
        done,
        shell.run("show", out),
        shell.run("verify", out),
        shell.run("timeline", run_id),
        shell.run("runs", "list"),
        shell.run("runs", "show", run_id, "--json"),
        shell.run("show", out, "--json"),
    ):
        for text in (told.out, told.err):
            assert not OBEYED.search(text), repr(OBEYED.search(text))
    assert "[/foo]" in shell.run("runs", "list").out, "markup is text like any other"


@pytest.mark.slow
def test_a_screen_that_cannot_say_everything_is_told_it_in_escapes(
    shell: Shell, incident: Path
) -> None:
    done = shell.run("diagnose", incident, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.code in EXIT_OF.values()
    assert done.out.isascii()


# --- The file that --out names -----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.spec("A5", "L5")
def test_an_existing_file_is_replaced_only_by_a_complete_one(shell: Shell, incident: Path) -> None:
    out = shell.home / "answer.affidavit"
    out.write_bytes(b"yesterday's")
    command = shell.start("diagnose", incident, "--out", out, gate=shell.home / "gate")
    assert out.read_bytes() == b"yesterday's"
    command.process.kill()
    command.end()
    command.gate.unlink()
    assert out.read_bytes() == b"yesterday's"
    assert {item.name for item in shell.home.iterdir()} == {"answer.affidavit", "state"}
    assert shell.run("diagnose", incident, "--out", out).code in EXIT_OF.values()
    assert recheck(out.read_bytes()).verdict is Verdict.INTACT_SIGNER_UNKNOWN
    assert {item.name for item in shell.home.iterdir()} == {"answer.affidavit", "state"}


# --- Killed, cancelled, paused -----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.spec("K8", "K9", "L6", "N12", "D14")
@pytest.mark.fault("F13", "F14")
def test_a_killed_run_goes_on_where_it_was(shell: Shell, incident: Path) -> None:
    """SIGKILL in mid-run; what was recorded before it is used again, and there is one decision."""
    command = shell.start("diagnose", incident, gate=shell.home / "gate", step=2)
    run_id = only_run(shell)
    before = marks(shell, run_id)
    assert any(mark.startswith("TOOL_CALL_READY") for mark in before)
    os.killpg(command.process.pid, signal.SIGKILL)
    assert command.end().code == -signal.SIGKILL
    command.gate.unlink()
    waiting = shell.run("runs", "show", run_id, "--json")
    assert (waiting.code, waiting.json["run_state"]) == (6, "RUNNING")
    assert waiting.json["outcome"] is None

    out = shell.home / "answer.affidavit"
    done = shell.run("runs", "resume", run_id, "--out", out, "--json")
    assert "another process" not in done.err, "its process is certainly gone: nobody waits for it"
    assert done.code == EXIT_OF[done.json["outcome"]]
    after = marks(shell, run_id)
    assert after[: len(before)] == before
    assert len([mark for mark in after if mark.startswith("RELEASE_DECISION")]) == 1
    first = [mark for mark in before if mark.startswith("TOOL_CALL_INTENDED")]
    assert [mark for mark in after if mark in first] == first, "nothing was asked twice"
    assert sum(mark.startswith("DRIVER_ACQUIRED") for mark in after) == 2
    assert recheck(out.read_bytes()).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.mark.slow
@pytest.mark.spec("K5", "D14", "L4")
def test_a_run_is_cancelled_from_a_second_process(shell: Shell, incident: Path) -> None:
    out = shell.home / "answer.affidavit"
    command = shell.start("diagnose", incident, "--out", out, "--json", gate=shell.home / "gate")
    run_id = only_run(shell)
    asked = shell.run("runs", "cancel", run_id, "--json")
    assert (asked.code, asked.json["driven"]) == (0, True)
    done = command.end()
    assert done.code == 5
    assert done.json["outcome"] == "CANCELLED"
    assert done.json["run_state"] == "CANCELLED"
    assert done.json["failure_code"] == "RUN_CANCELLED"
    assert done.json["result"] is None
    assert done.json["fallback"] is None
    assert recheck(out.read_bytes()).verdict is Verdict.INTACT_SIGNER_UNKNOWN
    assert shell.run("runs", "show", run_id).code == 5
    assert shell.run("runs", "cancel", run_id).code == 2, "it has ended"


@pytest.mark.slow
@pytest.mark.spec("K5", "D14")
def test_a_run_that_nobody_drives_is_ended_by_its_cancel(shell: Shell, incident: Path) -> None:
    command = shell.start("diagnose", incident, gate=shell.home / "gate", options="lease=1")
    run_id = only_run(shell)
    os.killpg(command.process.pid, signal.SIGKILL)
    command.end()
    wait_until(lambda: is_free(shell, run_id))
    asked = shell.run("runs", "cancel", run_id, "--json")
    assert asked.json == {
        "run_id": run_id,
        "asked": "cancel",
        "driven": False,
        "outcome": "CANCELLED",
    }
    assert shell.run("runs", "show", run_id).code == 5


def is_free(shell: Shell, run_id: str) -> bool:
    """Whether nobody drives the run: a pause then has nobody to ask."""
    driven: bool = shell.run("runs", "pause", run_id, "--json").json["driven"]
    return not driven


@pytest.mark.slow
@pytest.mark.spec("K8", "H10")
@pytest.mark.parametrize("how", ["runs pause", "SIGTERM"])
def test_a_run_is_paused_and_goes_on(shell: Shell, incident: Path, how: str) -> None:
    out = shell.home / "answer.affidavit"
    command = shell.start("diagnose", incident, "--out", out, "--json", gate=shell.home / "gate")
    run_id = only_run(shell)
    if how == "SIGTERM":
        command.process.send_signal(signal.SIGTERM)
    else:
        assert shell.run("runs", "pause", run_id).code == 0
    paused = command.end()
    assert paused.code == 6
    assert paused.json["paused"] is True
    assert paused.json["run_state"] == "RUNNING"
    assert f"affidavit runs resume {run_id}" in paused.err
    assert not out.exists()
    assert shell.run("runs", "show", run_id, "--json").json["paused"] is True
    assert shell.run("runs", "pause", run_id, "--json").json["driven"] is False
    done = shell.run("runs", "resume", run_id, "--out", out, "--json")
    assert done.code == EXIT_OF[done.json["outcome"]]
    told = marks(shell, run_id)
    assert sum(mark.startswith("RUN_PAUSED") for mark in told) == 1
    assert sum(mark.startswith("RUN_RESUMED") for mark in told) == 1
    assert recheck(out.read_bytes()).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.mark.slow
@pytest.mark.spec("K5", "D14")
def test_ctrl_c_cancels_on_record(shell: Shell, incident: Path) -> None:
    """As a terminal does it: to every process of the group, the data worker among them."""
    command = shell.start("diagnose", incident, "--json", gate=shell.home / "gate")
    os.killpg(command.process.pid, signal.SIGINT)
    done = command.end()
    assert done.code == 5
    assert done.json["outcome"] == "CANCELLED"
    assert "KeyboardInterrupt" not in done.err
    assert any(mark.startswith("CANCEL_REQUESTED") for mark in marks(shell, done.json["run_id"]))


@pytest.mark.slow
@pytest.mark.spec("L6", "N12")
def test_a_run_that_another_process_drives_is_not_driven_twice(
    shell: Shell, incident: Path
) -> None:
    """The second driver waits; when the first has published, it shows that very answer."""
    first = shell.start("diagnose", incident, "--json", gate=shell.home / "gate")
    run_id = only_run(shell)
    second = subprocess.Popen(
        [str(AFFIDAVIT), "runs", "resume", run_id, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=shell.home,
        env=shell.environment(),
    )
    assert second.stderr is not None
    assert "holds" in second.stderr.readline()
    first.open_gate()
    done = first.end()
    out, err = second.communicate(timeout=120)
    assert "Traceback" not in err
    assert {**json.loads(out), "affidavit": None} == done.json
    assert second.returncode == done.code
    assert sum(mark.startswith("DRIVER_ACQUIRED") for mark in marks(shell, run_id)) == 1


# --- A store that does not take it -------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.spec("L5", "N15", "L6")
def test_a_full_disk_decides_nothing_and_the_run_goes_on_later(
    shell: Shell, incident: Path
) -> None:
    out = shell.home / "answer.affidavit"
    command = shell.start(
        *("diagnose", incident, "--out", out, "--json"),
        gate=shell.home / "gate",
        options="lease=1 full",
    )
    run_id = only_run(shell)
    command.open_gate()
    done = command.end()
    assert done.code == 4
    error = done.json["error"]
    assert error["code"] == "RUN_PERSISTENCE_FAILED"
    assert "nothing was decided" in error["message"]
    assert f"affidavit runs resume {run_id}" in error["hint"]
    assert not out.exists()
    assert not any(mark.startswith("RELEASE_DECISION") for mark in marks(shell, run_id))
    again = shell.run("runs", "resume", run_id, "--out", out, "--json")
    assert again.code == EXIT_OF[again.json["outcome"]]
    assert recheck(out.read_bytes()).verdict is Verdict.INTACT_SIGNER_UNKNOWN


@pytest.fixture
def open_home(incident: Path) -> Iterator[Path]:
    """A home with a run in it and a copy of the incident, in which nobody may write any more."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shutil.copytree(incident, home / "incident")
        Shell(home).run("diagnose", "incident")
        for place in (home, *home.rglob("*")):
            place.chmod(0o555 if place.is_dir() else 0o444)
        yield home
        for place in (home, *home.rglob("*")):
            place.chmod(0o755)


@pytest.mark.slow
@pytest.mark.spec("L5", "N15")
def test_a_store_that_can_only_be_read_is_told_before_anything_runs(open_home: Path) -> None:
    """Looking works; starting a run, or a cancel, is refused, and nothing has changed."""
    stranger = Shell(open_home, before=NO_RIGHTS)
    run_id = only_run(stranger)
    before = sorted(open_home.rglob("*"))
    done = stranger.run("diagnose", "incident", "--json")
    assert done.code in {2, 4}
    assert done.json["error"]["code"] in {
        "RUN_PERSISTENCE_FAILED",
        "STORE_UNREACHABLE",
        "KEY_REFUSED",
    }
    assert done.json["error"]["hint"]
    assert stranger.run("runs", "show", run_id).code in EXIT_OF.values()
    assert stranger.run("verify", run_id).code == 3
    refused = stranger.run("diagnose", "incident", "--out", "answer.affidavit")
    assert (refused.code, refused.out) == (2, "")
    assert only_run(stranger) == run_id
    assert sorted(open_home.rglob("*")) == before


@pytest.mark.slow
def test_a_damaged_store_is_told_in_one_line(shell: Shell, incident: Path) -> None:
    shell.run("diagnose", incident)
    shell.store.write_bytes(b"not a database at all" * 100)
    for arguments in (("runs", "list"), ("diagnose", incident)):
        done = shell.run(*arguments)
        assert done.code in {2, 4}
        assert done.err.splitlines()[-1].startswith("affidavit: ")
