"""Models from the command line: asked, recorded, replayed, refused in one line."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from affidavit.affidavit.recheck import Verdict
from tests.acceptance.conftest import Shell
from tests.support.checking import recheck

MODEL = """
import json, re, sys
asked = json.load(sys.stdin)

def answer(**more):
    json.dump({"model": "toy", **more}, sys.stdout)
    sys.exit()

def call(name, arguments):
    calls = [{"id": "1", "name": name, "arguments": json.dumps(arguments)}]
    answer(text="", finish="tool_calls", calls=calls)

told = [item["text"] for item in asked["messages"] if item["role"] == "tool"]
if asked["tools"]:
    call(*(("write_report", {}) if told else ("error_logs", {"service": "checkout"})))
line = re.search('"text":"(payment[^"]*)"', told[0])[1]
sentence = {
    "text": f'checkout logged "{line}".',
    "tool_call_ids": ["call_0001"],
    "statements": [
        {"kind": "quote", "tool_call_id": "call_0001", "subject": "checkout", "text": line}
    ],
}
draft = {
    "analyses": [
        {"id": "A1", "kind": "NORMAL", "sentences": [sentence], "tool_call_ids": ["call_0001"]}
    ],
    "conclusion": {
        "text": sentence["text"], "sentences": [sentence], "based_on_analysis_ids": ["A1"]
    },
    "action_plan": [],
    "recommendations": [],
    "limitations": {"scope": "logs of checkout", "missing_info": []},
}
answer(text="Here is the report:\\n```json\\n" + json.dumps(draft) + "\\n```")
"""


@pytest.mark.slow
@pytest.mark.spec("H1", "D1", "K3", "A3", "A5")
def test_a_command_investigates_is_recorded_and_replayed(
    shell: Shell, incident: Path, tmp_path: Path
) -> None:
    script, record = tmp_path / "model.py", tmp_path / "calls.jsonl"
    script.write_text(MODEL, encoding="utf-8")
    name = f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(script))}"
    out = tmp_path / "first.affidavit"
    first = shell.run(
        *("diagnose", str(incident), "--model", name, "--record", str(record)),
        *("--out", str(out), "--json"),
    )
    assert first.code == 0, first.err + first.out
    assert first.json["outcome"] == "SUCCESS"
    assert first.json["usage"]["tokens"] > 1_000
    assert recheck(out.read_bytes()).verdict is Verdict.INTACT_SIGNER_UNKNOWN
    assert b"You investigate" not in out.read_bytes(), "a prompt stays private (N2)"
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    assert [line.get("purpose") for line in lines] == [None, "decide", "decide", "decide"]
    script.unlink()
    again = shell.run("diagnose", str(incident), "--model", f"replay:{record}", "--json")
    assert again.code == 0, again.err
    sentences = [
        [item["text"] for part in done.json["result"]["analyses"] for item in part["sentences"]]
        for done in (first, again)
    ]
    assert sentences[0] == sentences[1]
    timeline = shell.run("timeline", again.json["run_id"])
    assert timeline.out.count("MODEL_ATTEMPT") == 3


@pytest.mark.spec("K0", "K4")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--model", "nothing"), "MODEL_NAME"),
        (("--model", "exec:no-such-command"), "MODEL_COMMAND"),
        (("--model", "mailbox:nowhere"), "MODEL_MAILBOX"),
        (("--model", "deferred:nowhere"), "MODEL_DEFERRED"),
        (("--model", "replay:nowhere"), "TRANSCRIPT_REFUSED"),
        (("--judge", "nothing"), "MODEL_NAME"),
        (("--record", "x.jsonl"), "USAGE"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused_before_anything_starts(
    shell: Shell, incident: Path, arguments: tuple[str, ...], code: str
) -> None:
    done = shell.run("diagnose", str(incident), *arguments, "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == code
    assert not shell.store.exists()
