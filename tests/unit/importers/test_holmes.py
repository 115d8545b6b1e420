"""Recorded tool answers, kept so that they can be given again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from affidavit.contract.errors import InputRefused
from affidavit.importers.holmes import import_holmes

HEAD = '{"toolset_name": "k", "tool_name": "kubectl_logs", "match_params": {"pod": "a"}}\n'
STATE = (
    '{"status": "success", "error": null, "invocation": "kubectl logs a", "params": {"pod": "a"}}\n'
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A question, and an alert with an answer that prints times."""
    ask = tmp_path / "set" / "test_ask_holmes" / "07_bad_config"
    look = tmp_path / "set" / "test_investigate" / "08_oom"
    for path in (ask, look):
        path.mkdir(parents=True)
    (ask / "test_case.yaml").write_text("user_prompt: Why?\nexpected_output: [bad config]\n")
    (ask / "kubectl_logs.txt").write_text(HEAD + STATE + "line one\nline two\n")
    (look / "test_case.yaml").write_text("expected_output: oom\n")
    (look / "issue_data.json").write_text(
        json.dumps({"name": "Restarts", "description": "it restarts", "subject": {"name": "api"}})
    )
    (look / "kubectl_logs.txt").write_text(
        HEAD + STATE + "2026-05-01T10:00:00.123456789Z up\n2026-13-01T10:00:00Z never\n"
        "2026-05-01T12:05:00+02:00 down\n"
    )
    return tmp_path / "set"


def test_an_answer_is_kept_with_what_it_answers(source: Path, tmp_path: Path) -> None:
    ask, _ = import_holmes(source, tmp_path / "out")
    assert json.loads((ask / "recordings" / "kubectl_logs.json").read_text()) == {
        "toolset": "k",
        "tool": "kubectl_logs",
        "matches": {"pod": "a"},
        "status": "success",
        "invocation": "kubectl logs a",
        "parameters": {"pod": "a"},
        "error": "",
        "result": "line one\nline two\n",
    }


def test_the_window_spans_the_zoned_times_that_are_printed(source: Path, tmp_path: Path) -> None:
    ask, look = import_holmes(source, tmp_path / "out")
    assert yaml.safe_load((look / "incident.yaml").read_text())["window"] == {
        "start": "2026-05-01T10:00:00.123456Z",
        "end": "2026-05-01T10:05:00Z",
    }
    untimed = yaml.safe_load((ask / "incident.yaml").read_text())
    assert untimed["window"]["start"] == "2000-01-01T00:00:00Z"
    assert "no time" in untimed["description"]


def test_names_and_pages_do_not_tell_the_answer(source: Path, tmp_path: Path) -> None:
    ask, look = import_holmes(source, tmp_path / "out")
    for folder, word in ((ask, "config"), (look, "oom")):
        assert word not in folder.name + (folder / "incident.yaml").read_text()
        assert word in (folder / "truth.yaml").read_text()
    # a question of any kind is not evaluated as a fault
    assert "faulty" not in yaml.safe_load((ask / "truth.yaml").read_text())


def test_one_time_alone_still_makes_a_window(source: Path, tmp_path: Path) -> None:
    path = source / "test_investigate" / "08_oom" / "kubectl_logs.txt"
    path.write_text(HEAD + STATE + "2026-05-01T10:00:00Z up\n")
    _, look = import_holmes(source, tmp_path / "out")
    assert yaml.safe_load((look / "incident.yaml").read_text())["window"]["end"] == (
        "2026-05-01T10:00:01Z"
    )


@pytest.mark.parametrize(
    "text", ["", "{}\n{}\n", HEAD, HEAD + '{"status": "perhaps"}\n', "no json\n" + STATE]
)
def test_what_is_no_recorded_answer_is_refused(source: Path, tmp_path: Path, text: str) -> None:
    (source / "test_ask_holmes" / "07_bad_config" / "kubectl_logs.txt").write_text(text)
    with pytest.raises(InputRefused, match="is no recorded answer"):
        import_holmes(source, tmp_path / "out")
