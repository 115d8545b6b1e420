"""What becomes of a run once it is decided: page, replay, retraction, expiry (A3, A5, C2, L9)."""

from __future__ import annotations

import re
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Shell
from tests.support.incidents import jsonl, log_row, metrics_csv, quiet, write_folder


def ran(shell: Shell, incident: Path) -> str:
    """The id of a decided run."""
    run_id: str = shell.run("diagnose", incident, "--json").json["run_id"]
    return run_id


@pytest.mark.spec("A5")
def test_show_writes_a_page_of_a_run_and_of_a_file(shell: Shell, incident: Path) -> None:
    run_id = ran(shell, incident)
    page = shell.home / "page.html"
    done = shell.run("show", run_id, "--html", page, "--out", "run.affidavit")
    assert done.code == 0
    assert str(page) in done.err
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert run_id in text
    assert "a file cannot know" not in text, "the store was asked"
    shell.run("show", "run.affidavit", "--html", "bare.html")
    assert "a file cannot know" in (shell.home / "bare.html").read_text(encoding="utf-8")


@pytest.mark.spec("A5")
def test_a_page_goes_whole_to_its_place_or_not_at_all(shell: Shell, incident: Path) -> None:
    run_id = ran(shell, incident)
    done = shell.run("show", run_id, "--html", "nowhere/page.html")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "--html" in done.err
    shell.run("show", run_id, "--out", "run.affidavit")
    file = shell.home / "run.affidavit"
    file.write_bytes(file.read_bytes().replace(b"slow", b"fast", 1))
    assert shell.run("show", file, "--html", "page.html").code == 1
    assert not (shell.home / "page.html").exists(), "of an altered file there is no page"


@pytest.mark.spec("A3")
def test_replay_says_the_same_or_what_differs(shell: Shell, incident: Path) -> None:
    run_id = ran(shell, incident)
    done = shell.run("replay", run_id, "--json")
    assert done.code == 0
    assert done.json["result"] == "SAME"
    assert [step["name"] for step in done.json["steps"]] == ["chain", "examination", "answer"]
    with sqlite3.connect(shell.store) as store:
        store.execute(
            "UPDATE lines SET data = replace(data, 'PASSED', 'FAILED') "
            "WHERE type = 'EVIDENCE_GUARD_INITIAL'"
        )
    store.close()
    done = shell.run("replay", run_id)
    assert done.code == 1
    assert "DIFFERENT" in done.out
    assert "/journal/" in done.out
    assert shell.run("replay", "run_0000000000000000").code == 2


@pytest.mark.spec("L9")
def test_a_retracted_answer_is_called_so_wherever_the_run_is_asked(
    shell: Shell, incident: Path
) -> None:
    first, second = ran(shell, incident), ran(shell, incident)
    shell.run("show", first, "--out", "first.affidavit")
    before = (shell.home / "first.affidavit").read_bytes()
    done = shell.run("runs", "retract", first, "--reason", "the clock was off")
    assert done.code == 0
    assert "RETRACTED" in done.out
    again = shell.run(
        "runs", "retract", first, "--reason", "better", "--superseded-by", second, "--json"
    ).json
    assert again["word"] == "SUPERSEDED"
    first_word = shell.run("verify", first, "--json").json["retracted"][0]
    assert first_word["word"] == "RETRACTED"
    assert re.fullmatch("[0-9a-f]{64}", again["previous"])
    assert again["previous"] != again["affidavit"]
    assert shell.run("show", first).out.startswith("SUPERSEDED by ")
    verified = shell.run("verify", first)
    assert verified.code == 3, "the file is what it was"
    assert f"in its place: {second}" in verified.out
    shell.run("show", first, "--html", "page.html", "--out", "after.affidavit")
    assert "SUPERSEDED." in (shell.home / "page.html").read_text(encoding="utf-8")
    assert (shell.home / "after.affidavit").read_bytes() == before, "nothing is edited"
    words: list[dict[str, Any]] = shell.run("verify", first, "--json").json["retracted"]
    assert [each["word"] for each in words] == ["RETRACTED", "SUPERSEDED"]
    bare = shell.run("verify", "first.affidavit")
    assert "a file cannot know" in bare.out
    assert shell.run("verify", "first.affidavit", "--json").json["retracted"] is None


@pytest.mark.spec("L9")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--reason", " "), "a reason has"),
        (("--reason", "x" * 501), "a reason has"),
        (("--reason", "x", "--superseded-by", "nobody"), "no run's id"),
        (("--reason", "x", "--superseded-by", "run_0000000000000000"), "there is no run"),
    ],
)
def test_a_retraction_that_says_nothing_is_refused(
    shell: Shell, incident: Path, arguments: tuple[str, ...], says: str
) -> None:
    run_id = ran(shell, incident)
    done = shell.run("runs", "retract", run_id, *arguments)
    assert done.code == 2
    assert says in done.err
    assert "RETRACTED" not in shell.run("show", run_id).out


@pytest.mark.spec("C2", "A3", "V3")
@pytest.mark.fault("F37")
def test_what_outlived_its_time_goes_and_the_answer_stays(shell: Shell, incident: Path) -> None:
    run_ids = [ran(shell, incident) for _ in range(3)]
    early = shell.run("runs", "prune", "--json").json
    assert (early["payloads"], early["deleted"]) == (0, None), "two hours are not over"
    now = {"AFFIDAVIT_RETENTION_PAYLOADS": "1s"}
    time.sleep(1.1)
    due = shell.run("runs", "prune", "--json", **now).json
    assert due["runs"] == 3
    assert due["payloads"] > 0
    assert shell.run("replay", run_ids[0]).code == 0, "looking deletes nothing"
    dry = shell.run("runs", "prune", **now)
    assert "would delete" in dry.out
    done = shell.run("runs", "prune", "--yes", "--json", **now).json
    assert done["deleted"] == due["payloads"]
    for run_id in run_ids:
        assert shell.run("verify", run_id).code == 3, "chain, citations and file still hold"
        assert shell.run("show", run_id).code == 0
    replayed = shell.run("replay", run_ids[0], "--json")
    assert replayed.code == 3
    assert replayed.json["result"] == "EXPIRED"
    assert replayed.json["steps"][0]["result"] == "SAME"
    with sqlite3.connect(shell.store) as store:
        (pages,) = store.execute("PRAGMA page_count").fetchone()
        (free,) = store.execute("PRAGMA freelist_count").fetchone()
    store.close()
    assert free < pages / 5
    assert "nothing to delete" in shell.run("runs", "prune", "--yes", **now).out


LEAKS = {
    "canary-Pw-8842x": "login failed: password=canary-Pw-8842x",
    "canaryBearer7f3e9a2c51": "upstream said 401, Authorization: Bearer canaryBearer7f3e9a2c51",
    "canary-Url-77": "cannot reach postgres://app:canary-Url-77@orders-db:5432/orders",
}
TALKATIVE_MODEL = """
import sys
print("canary-model-error: sk-live", file=sys.stderr)
print("canary-reasoning {")
sys.exit(1)
"""


@pytest.mark.spec("N2", "T7", "C7")
@pytest.mark.parametrize("with_model", [False, True])
def test_secrets_of_a_log_and_words_of_a_model_are_in_no_output(
    shell: Shell, with_model: bool
) -> None:
    """Everything that the commands print or write, of a run over a log with secrets in it."""
    slow = [(at, 20.0 if at < 2 else 900.0) for at in range(10)]
    rows = [log_row(3 + n * 0.1, text) for n, text in enumerate(LEAKS.values()) for _ in range(5)]
    series = {"checkout latency p95": [*quiet(range(-30, 0)), *slow]}
    folder = shell.home / "leaking"
    write_folder(folder, metrics_csv=metrics_csv(series), logs_jsonl=jsonl(rows))
    (shell.home / "model.py").write_text(TALKATIVE_MODEL)
    model = ("--model", f"exec:{sys.executable} model.py") if with_model else ()
    done = shell.run("diagnose", folder, "--json", "--out", "a.affidavit", *model)
    run_id = done.json["run_id"]
    outputs = [
        done,
        shell.run("show", run_id, "--html", "a.html"),
        shell.run("verify", run_id),
        shell.run("timeline", run_id),
        shell.run("replay", run_id, "--json"),
        shell.run("runs", "list"),
    ]
    texts = [text for each in outputs for text in (each.out, each.err)]
    texts += [(shell.home / name).read_text("utf-8") for name in ("a.affidavit", "a.html")]
    for canary in (*LEAKS, "canary-model-error", "canary-reasoning"):
        assert not any(canary in text for text in texts), canary
    with closing(sqlite3.connect(shell.store)) as store:
        lines = "".join(data for (data,) in store.execute("SELECT data FROM lines"))
    assert "canary" not in lines
