"""Keys, trust and anchors from outside: the commands, their exit codes, what lies on the disk."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import AFFIDAVIT, Shell
from tests.support.second_verifier import PATH

pytestmark = [pytest.mark.slow, pytest.mark.spec("A4", "A5")]


def key_of(shell: Shell) -> str:
    """The id of the key in force."""
    key: str = shell.run("keys", "show", "--json").json["keys"][0]["key_id"]
    return key


def test_a_file_is_trusted_when_its_key_is_pinned(shell: Shell, incident: Path) -> None:
    out = shell.home / "answer.affidavit"
    shell.run("diagnose", incident, "--out", out)
    keys = shell.home / "state" / "affidavit" / "keys"
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700
    assert stat.S_IMODE((keys / "run-heads.key").stat().st_mode) == 0o600
    unknown = shell.run("verify", out)
    key = key_of(shell)
    assert unknown.code == 3
    assert f"tamper-evident since recording, by key {key}" in unknown.out
    assert "trusted" not in unknown.out.splitlines()[-1]

    pem = shell.home / "key.pem"
    assert shell.run("keys", "export", "--out", pem).code == 0
    for pin in (key, pem):
        pinned = shell.run("verify", out, "--key", pin, "--json")
        assert pinned.code == 0
        assert pinned.json["verdict"] == "INTACT_TRUSTED"
        assert pinned.json["signer"]["key_id"] == key
    other = shell.run("verify", out, "--key", "0" * 64)
    assert other.code == 1
    assert "another key signed" in other.out
    assert shell.run("verify", out, "--key", key[:40]).code == 2

    done = subprocess.run(
        [sys.executable, PATH, out, "--key", key], capture_output=True, text=True, check=False
    )
    assert (done.returncode, key in done.stdout) == (0, True)


def test_trust_rotation_and_revocation(shell: Shell, incident: Path) -> None:
    first, second = shell.home / "first.affidavit", shell.home / "second.affidavit"
    shell.run("diagnose", incident, "--out", first)
    old = key_of(shell)
    assert shell.run("keys", "trust", old, "--name", "ours").code == 0
    trusted = shell.run("verify", first)
    assert (trusted.code, "(ours)" in trusted.out) == (0, True)

    new = shell.run("keys", "rotate", "--json").json["key_id"]
    assert new != old
    shell.run("diagnose", incident, "--out", second)
    assert shell.run("verify", first).code == 0
    assert shell.run("verify", second).code == 3
    assert shell.run("verify", second, "--key", old, "--key", new).code == 0
    states = {k["key_id"]: k["state"] for k in shell.run("keys", "show", "--json").json["keys"]}
    assert states == {new: "in force", old: "retired"}

    assert shell.run("keys", "revoke", old).code == 0
    revoked = shell.run("verify", first, "--key", old)
    assert (revoked.code, "was revoked" in revoked.out) == (1, True)
    assert shell.run("verify", second).code == 3
    assert shell.run("keys", "trust", old).code == 2
    assert shell.run("keys", "revoke", new).code == 0
    assert key_of(shell) not in {old, new}


@pytest.mark.spec("L5", "N15", "K0")
def test_a_key_that_others_can_read_stops_a_run_before_it_begins(
    shell: Shell, incident: Path
) -> None:
    key = key_of(shell)
    place = shell.home / "state" / "affidavit" / "keys" / "run-heads.key"
    place.chmod(0o644)
    refused = shell.run("diagnose", incident, "--json")
    assert refused.code == 2
    assert refused.json["error"]["code"] == "KEY_REFUSED"
    assert "chmod 600" in refused.json["error"]["hint"]
    assert not shell.store.exists()
    place.chmod(0o600)
    assert key_of(shell) == key


def test_runs_that_were_cut_off_show_against_the_anchor(shell: Shell, incident: Path) -> None:
    import sqlite3

    told = shell.home / "heads"
    files = [shell.home / f"{n}.affidavit" for n in range(3)]
    for out in files:
        shell.run("diagnose", incident, "--out", out, AFFIDAVIT_SIGNING_ANCHORS=f"file:{told}")
    assert shell.run("heads", "check", "--anchor", told).code == 3
    assert shell.run("heads", "check", "--anchor", told, "--key", key_of(shell)).code == 0
    assert all(shell.run("verify", out, "--anchor", told).code == 3 for out in files)

    connection = sqlite3.connect(shell.store)
    with connection:
        connection.execute("DELETE FROM sealed_heads WHERE number = 3")
    connection.close()
    assert shell.run("heads", "check").code == 3
    cut = shell.run("heads", "check", "--anchor", told, "--json")
    assert cut.code == 1
    assert [gap["number"] for gap in cut.json["gaps"]] == [3]

    lines = told.read_bytes().splitlines(keepends=True)
    told.write_bytes(b"".join(lines[:2]))
    unknown = shell.run("verify", files[2], "--anchor", told)
    assert (unknown.code, "does not know it" in unknown.out) == (1, True)


@pytest.mark.spec("A4")
def test_words_about_keys_that_come_at_once_are_all_kept(shell: Shell) -> None:
    """A trust that overtakes a revocation must not undo it."""
    ids = [f"{number:064x}" for number in range(6)]
    words = [
        ("revoke", each) if n % 2 else ("trust", each, "--name", "x") for n, each in enumerate(ids)
    ]
    running = [
        subprocess.Popen(
            [str(AFFIDAVIT), "keys", *each],
            cwd=shell.home,
            env=shell.environment(),
            stdout=subprocess.DEVNULL,
        )
        for each in words
    ]
    assert [process.wait() for process in running] == [0] * len(ids)
    kept = json.loads((shell.home / "state" / "affidavit" / "trust.json").read_bytes())
    assert sorted(each["key_id"] for each in kept["trusted"]) == ids[::2]
    assert sorted(kept["revoked"]) == ids[1::2]


@pytest.mark.spec("A4")
def test_a_name_that_is_too_long_is_refused_in_one_line(shell: Shell) -> None:
    done = shell.run("keys", "trust", "a" * 64, "--name", "n" * 101)
    assert done.code == 2
    assert done.err.count("\n") == 1
