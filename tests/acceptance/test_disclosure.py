"""A raw response shown against the file, by both commands in processes of their own (A5, C2)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.conftest import Shell
from tests.support.second_verifier import PATH


def second(shell: Shell, *arguments: object) -> int:
    """The exit code of the second verifier."""
    done = subprocess.run(
        [sys.executable, str(PATH), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=shell.home,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


def sealed(shell: Shell, incident: Path) -> tuple[str, str]:
    """A decided run whose file is `run.affidavit`, and a call that it cites."""
    run_id = shell.run("diagnose", incident, "--out", "run.affidavit", "--json").json["run_id"]
    file = json.loads((shell.home / "run.affidavit").read_bytes())
    return run_id, file["calls"][0]["tool_call_id"]


@pytest.mark.spec("A5", "C2", "C1")
def test_who_holds_salt_and_response_can_show_them_and_nobody_else(
    shell: Shell, incident: Path
) -> None:
    run_id, call = sealed(shell, incident)
    done = shell.run("runs", "disclose", run_id, call, "--out", "raw.bin", "--json")
    assert done.code == 0
    raw = shell.home / "raw.bin"
    assert done.json["response_bytes"] == len(raw.read_bytes()) - 32 > 0
    assert raw.stat().st_mode & 0o777 == 0o600
    assert raw.read_bytes()[32:] not in (shell.home / "run.affidavit").read_bytes()
    shown = ("run.affidavit", "--raw", f"{call}=raw.bin")
    good = shell.run("verify", *shown, "--json")
    assert good.code == second(shell, *shown) == 3
    assert good.json["checks"][-1]["name"] == "raw"

    for name, content in {
        "changed.bin": raw.read_bytes()[:-1] + b"?",
        "without_salt.bin": raw.read_bytes()[32:],
    }.items():
        (shell.home / name).write_bytes(content)
        other = ("run.affidavit", "--raw", f"{call}={name}")
        assert shell.run("verify", *other).code == second(shell, *other) == 1, name
    of_none = ("run.affidavit", "--raw", "call_9999=raw.bin")
    assert shell.run("verify", *of_none).code == second(shell, *of_none) == 1
    for wrong in ("raw.bin", f"{call}=missing.bin"):
        refused = shell.run("verify", "run.affidavit", "--raw", wrong)
        assert refused.code == second(shell, "run.affidavit", "--raw", wrong) == 2
        assert refused.err.count("\n") == 1


@pytest.mark.spec("A5", "C2")
def test_what_is_not_kept_is_not_disclosed(shell: Shell, incident: Path) -> None:
    run_id, call = sealed(shell, incident)
    unknown = shell.run("runs", "disclose", run_id, "call_9999", "--out", "raw.bin", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (2, "CALL_UNKNOWN")
    time.sleep(1.1)
    shell.run("runs", "prune", "--yes", AFFIDAVIT_RETENTION_PAYLOADS="1s")
    gone = shell.run("runs", "disclose", run_id, call, "--out", "raw.bin", "--json")
    assert (gone.code, gone.json["error"]["code"]) == (2, "PAYLOAD_EXPIRED")
    assert not (shell.home / "raw.bin").exists()
    assert shell.run("verify", "run.affidavit").code == 3, "the file needs no payload"


@pytest.mark.spec("A4", "A5")
def test_both_commands_leave_with_the_same_code(shell: Shell, incident: Path) -> None:
    """As processes, on a file of each class: interfaces of scripts, not of functions."""
    sealed(shell, incident)
    good = (shell.home / "run.affidavit").read_bytes()
    key = shell.run("keys", "show", "--json").json["keys"][0]["key_id"]
    plain = json.loads(good)
    stripped = {name: part for name, part in plain.items() if name != "signature"}
    vectors: dict[str, tuple[bytes, int]] = {
        "good": (good, 3),
        "stripped": (json.dumps(stripped, sort_keys=True, separators=(",", ":")).encode(), 1),
        "spaced": (json.dumps(plain, sort_keys=True).encode(), 1),
        "edited": (good.replace(b'"seq":2,', b'"seq":3,', 1), 1),
        "to come": (good.replace(b'"affidavit/1"', b'"affidavit/2"', 1), 2),
        "cut": (good[:-1], 2),
        "empty": (b"", 2),
        "prose": (b"To whom it may concern", 2),
    }
    for name, (content, code) in vectors.items():
        (shell.home / "vector").write_bytes(content)
        assert shell.run("verify", "vector").code == second(shell, "vector") == code, name
    ours = ("run.affidavit", "--key", key)
    assert shell.run("verify", *ours).code == second(shell, *ours) == 0
    theirs = ("run.affidavit", "--key", "0" * 64)
    assert shell.run("verify", *theirs).code == second(shell, *theirs) == 1
    for odd in (("missing",), ("run.affidavit", "--key", "nobody's")):
        assert shell.run("verify", *odd).code == second(shell, *odd) == 2
