"""`affidavit eval FOLDER…`: what it refuses, how places are read, and when it exits with what."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from affidavit.cli.app import app
from affidavit.cli.evaluating import Options, _places, evaluate
from affidavit.contract.errors import AffidavitError, InputRefused
from tests.support.incidents import write_folder

TRUTH = "faulty: true\nservice: checkout\n"
OPTIONS = Options(("nowhere",))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (OPTIONS, "NO_INCIDENTS"),
        (replace(OPTIONS, agent="oracle"), "AGENT_UNKNOWN"),
        (replace(OPTIONS, limits="endless"), "LIMITS_UNKNOWN"),
        (replace(OPTIONS, repeats=0), "REPEATS_REFUSED"),
        (replace(OPTIONS, repeats=51), "REPEATS_REFUSED"),
        (replace(OPTIONS, html=Path("nowhere/page.html")), "OUT_REFUSED"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(options: Options, code: str) -> None:
    with pytest.raises(InputRefused) as refused:
        evaluate(options)
    assert refused.value.code == code
    assert refused.value.hint


@pytest.mark.parametrize("words", [["eval", "nowhere"], ["eval", "--json", "nowhere"]])
def test_a_folder_alone_means_incidents(words: list[str]) -> None:
    """Whatever is no command of the group, also an option, belongs to `eval incidents`."""
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, AffidavitError)
    assert done.exception.code == "NO_INCIDENTS"


def test_the_group_still_explains_itself() -> None:
    shown = CliRunner().invoke(app, ["eval", "--help"]).output
    assert "incidents" in shown
    assert "gate" in shown


def test_a_place_is_a_folder_or_a_format_with_a_path(tmp_path: Path) -> None:
    with ExitStack() as opened, pytest.raises(InputRefused, match="is not there"):
        list(_places((f"nezha:{tmp_path / 'none'}",), opened))
    (tmp_path / "nezha:x").mkdir()
    with ExitStack() as opened:
        places = list(_places((str(tmp_path / "nezha:x"), "a:b"), opened))
    assert places == [("nezha:x", tmp_path / "nezha:x"), ("a:b", Path("a:b"))]


def test_a_case_that_could_not_be_evaluated_shows_in_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing can be loaded here: there are no rows, and that is not a zero."""
    write_folder(tmp_path / "own" / "a", truth_yaml=TRUTH, metrics_csv="", metrics_jsonl="")
    page = tmp_path / "page.html"
    with pytest.raises(SystemExit) as left:
        evaluate(Options((str(tmp_path / "own"),), html=page, as_json=True))
    assert left.value.code == 4
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["cases"]) == ([], [])
    assert "two files for one table" in told["not_evaluated"][0]["why"]
    assert "two files for one table" in page.read_text(encoding="utf-8")
