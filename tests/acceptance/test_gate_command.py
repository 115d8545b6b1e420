"""`affidavit gate` and `affidavit eval gate` from outside: real processes, real files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from affidavit.adapters.store_url import open_store
from affidavit.affidavit.document import read_document
from affidavit.affidavit.recheck import Verdict
from affidavit.ports.model import decode_request
from tests.acceptance.conftest import Shell
from tests.support.checking import recheck
from tests.support.gates import ASIDE, begin, call, changed, report, world_of
from tests.support.judges import sheet_of
from tests.support.runs import RUN_ID

pytestmark = pytest.mark.slow


def written(shell: Shell, raw: object, name: str = "answer.json") -> Path:
    """A file with this answer."""
    path = shell.home / name
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


def error_of(done: Any) -> dict[str, str]:
    """What `--json` says of a refusal, which standard error says in one line."""
    assert done.err.count("\n") == 1, done.err
    error: dict[str, str] = done.json["error"]
    assert error["message"] in done.err
    return error


@pytest.mark.spec("K0")
@pytest.mark.parametrize("store", ["oracle:x", "sqlite:no/such/folder/x.db"])
def test_a_store_that_is_refused_leaves_nothing_behind(shell: Shell, store: str) -> None:
    """Neither a store nor the key that would have sealed the run."""
    answer = written(shell, report())
    done = shell.run("gate", answer, "--store", store, "--json")
    assert done.code == 2
    assert error_of(done)["code"] in {"STORE_URL_UNKNOWN", "STORE_FOLDER_MISSING"}
    assert list(shell.home.iterdir()) == [answer]


@pytest.mark.spec("C12", "N18", "A5", "K8")
def test_an_answer_is_published_as_supplied_everywhere(shell: Shell) -> None:
    """gate → verify, show, timeline, runs show, runs resume: one answer, and always supplied."""
    out = shell.home / "answer.affidavit"
    done = shell.run("gate", written(shell, report()), "--out", out, "--json")
    assert done.code == 0
    assert (done.json["outcome"], done.json["provenance"]) == ("SUCCESS", "supplied")
    run_id = done.json["run_id"]
    assert recheck(out.read_bytes()).verdict is Verdict.INTACT_SIGNER_UNKNOWN
    assert {str(c.provenance) for c in read_document(out.read_bytes()).calls} == {"supplied"}
    verified = shell.run("verify", out, "--json")
    assert (verified.code, verified.json["provenance"]) == (3, "supplied")
    assert shell.run("verify", out, "--require-recorded").code == 1
    assert "SUPPLIED" in shell.run("show", out).out
    shown = shell.run("runs", "show", run_id, "--json")
    assert (shown.code, shown.json["provenance"]) == (0, "supplied")
    resumed = shell.run("runs", "resume", run_id, "--json")
    assert (resumed.code, resumed.json["run_id"]) == (0, run_id)
    marks = [line["mark"] for line in shell.run("timeline", run_id, "--json").json["lines"]]
    assert any(mark.startswith("RUN_STARTED agent=supplied") for mark in marks)


@pytest.mark.spec("M6", "D2b", "A2")
def test_withdrawal_needs_the_word_of_whoever_hands_the_answer_in(shell: Shell) -> None:
    """The same answer: held without it, published less one sentence with it."""
    answer = written(shell, report(ASIDE))
    held = shell.run("gate", answer, "--json")
    assert (held.code, held.json["decision"]) == (3, "D4")
    assert held.json["fallback"]["validation_issues"][0]["code"] == "WORDS_UNBOUND"
    assert any("cite that call" in step for step in held.json["fallback"]["next_steps"])
    taken = shell.run("gate", answer, "--withdraw", "--json")
    assert (taken.code, taken.json["decision"]) == (0, "D2b")
    assert taken.json["result"]["withdrawn"] == 1
    assert ASIDE not in taken.out
    marks = [
        line["mark"] for line in shell.run("timeline", taken.json["run_id"], "--json").json["lines"]
    ]
    assert "DRAFT_WITHDRAWAL_ATTEMPT=WITHDRAWN withdrawn=1 sentences=5" in marks


@pytest.mark.spec("C7", "N6")
def test_a_refusal_says_what_would_prove_the_words(shell: Shell) -> None:
    """On the card each code has its meaning; none of the report's words stands there."""
    lie = report(conclusion={"text": "gates-1 drowned because of the kraken."})
    done = shell.run("gate", written(shell, lie))
    assert done.code == 3
    assert "What was refused" in done.out
    assert ": " in next(line for line in done.out.splitlines() if "/conclusion" in line)
    assert "kraken" not in done.out


@pytest.mark.spec("D8", "D11")
def test_an_answer_that_shows_nothing_fails(shell: Shell) -> None:
    empty = changed(report(tool_calls=[]), conclusion=None, analyses=[])
    done = shell.run("gate", written(shell, empty), "--json")
    assert (done.code, done.json["outcome"], done.json["provenance"]) == (4, "FAILED", "supplied")


REFUSED: list[tuple[object, str]] = [
    ({**report(), "confidence": 1}, "gate input, /confidence"),
    (report(tool_calls=[call(status="ok")]), "gate input, /tool_calls/0/status"),
    (report(tool_calls=[call(), call()]), "gate input, /tool_calls/1/id"),
    ([], "gate input, /"),
    ({"question": "q", "tool_calls": []}, "gate input, /"),
]


@pytest.mark.spec("K0")
@pytest.mark.parametrize(("raw", "where"), REFUSED)
def test_bad_input_is_one_clear_line_and_leaves_nothing(
    shell: Shell, raw: object, where: str
) -> None:
    out = shell.home / "out"
    done = shell.run("gate", written(shell, raw), "--out", out, "--json")
    assert done.code == 2
    assert error_of(done)["message"].startswith(where)
    assert not shell.store.exists()
    assert not out.exists()


@pytest.mark.spec("C12", "K0")
def test_supplied_calls_are_refused_where_recorded_ones_are_required(shell: Shell) -> None:
    """Before anything is written; and what cannot be read is said first."""
    done = shell.run("gate", written(shell, report()), "--require-recorded", "--json")
    assert done.code == 2
    assert error_of(done)["code"] == "RECORDED_REQUIRED"
    assert not shell.store.exists()


def test_what_is_no_file_is_refused(shell: Shell) -> None:
    for name in ("none.json", "."):
        done = shell.run("gate", name, "--json")
        assert done.code == 2
        assert error_of(done)["code"] == "FILE_UNREADABLE"
    done = shell.run("gate", written(shell, report()), "--from", "telepathy", "--json")
    assert error_of(done)["code"] == "FORMAT_UNKNOWN"
    done = shell.run("gate", written(shell, report()), "-q", "Why?", "--json")
    assert error_of(done)["code"] == "USAGE"


@pytest.mark.spec("C12")
def test_a_holmes_answer_is_read(shell: Shell) -> None:
    """With its own form named; without it, it is no gate input."""
    text = "NAME     READY   STATUS             RESTARTS\nquay-1   0/1     CrashLoopBackOff   7"
    answer = {
        "result": "The pod quay-1 is in CrashLoopBackOff.",
        "tool_calls": [
            {
                "tool_call_id": "c1",
                "tool_name": "kubectl_get_pods",
                "description": "kubectl get pods",
                "result": {"status": "success", "data": text, "params": {}, "error": None},
            }
        ],
    }
    path = written(shell, answer)
    assert shell.run("gate", path).code == 2
    done = shell.run("gate", path, "--from", "holmes", "-q", "What is wrong?", "--json")
    assert done.code in {0, 3}
    assert (done.json["question"], done.json["provenance"]) == ("What is wrong?", "supplied")


@pytest.mark.spec("A2")
def test_the_scorer_tells_by_its_exit_code_whether_something_false_got_out(shell: Shell) -> None:
    """Once rightly labelled, once wrongly on purpose."""
    for label, code in (("SUPPORTED", 0), ("UNSUPPORTED", 1)):
        file = shell.home / f"{label}.jsonl"
        file.write_text(json.dumps({"id": "one", "label": label, "input": report()}) + "\n")
        done = shell.run("eval", "gate", file, "--json")
        assert done.code == code
        assert (done.json["evaluated"], done.json["false_supported"]["hits"]) == (1, code)
        table = shell.run("eval", "gate", file)
        assert "1 of 1 answers evaluated" in table.out
    refused = shell.run("eval", "gate", shell.home / "none", "--json")
    assert (refused.code, error_of(refused)["code"]) == (2, "CASES_REFUSED")


@pytest.mark.spec("K8", "L5")
def test_a_gate_run_that_lost_its_process_goes_on_without_its_file(shell: Shell) -> None:
    """The answer is kept in the run, and so is its submitter's consent to withdrawal."""
    shell.store.parent.mkdir(parents=True)

    async def leave() -> None:
        store = open_store(f"sqlite:{shell.store}")
        raw = report(ASIDE)
        await begin(raw, world_of(raw, store, withdraw=True), withdraw=True)
        await store.close()

    anyio.run(leave)
    done = shell.run("runs", "resume", RUN_ID, "--json")
    assert (done.code, done.json["decision"], done.json["provenance"]) == (0, "D2b", "supplied")
    assert shell.run("runs", "resume", RUN_ID, "--json").json["decision"] == "D2b"


@pytest.mark.spec("M4", "K8", "A1")
def test_a_model_judges_what_nothing_refutes(shell: Shell) -> None:
    """First nobody has answered; then the answer lies there, and the same command publishes."""
    desk = shell.home / "somebody"
    desk.mkdir()
    answer, judge = written(shell, report(ASIDE)), f"deferred:{desk}"
    waited = shell.run("gate", answer, "--judge", judge, "--json")
    assert (waited.code, waited.json["decision"]) == (3, "D5")
    (request,) = desk.glob("request-*.json")
    sheet = json.dumps(sheet_of(decode_request(request.read_bytes())))
    said = desk / request.name.replace("request-", "answer-").replace(".json", ".txt")
    said.write_text(sheet, encoding="utf-8")
    done = shell.run("gate", answer, "--judge", judge, "--json")
    assert (done.code, done.json["decision"]) == (0, "D1")
    assert ASIDE in done.out
    marks = [
        line["mark"] for line in shell.run("timeline", done.json["run_id"], "--json").json["lines"]
    ]
    assert any("judge=model:somebody" in mark for mark in marks)
    missing = shell.run("gate", answer, "--judge", "nothing", "--json")
    assert (missing.code, missing.json["error"]["code"]) == (2, "MODEL_NAME")


@pytest.mark.spec("M4", "M8", "A3")
def test_a_judge_is_scored_beside_the_checker_and_its_record_says_the_same(shell: Shell) -> None:
    desk, record = shell.home / "somebody", shell.home / "judge.jsonl"
    desk.mkdir()
    lines = [{"id": "a", "label": "SUPPORTED", "input": report(ASIDE)}]
    file = shell.home / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    score = ("eval", "gate", file, "--json", "--judge")
    unasked = shell.run(*score, f"deferred:{desk}")
    assert unasked.code == 4
    assert unasked.json["both"]["evaluated"] == 0
    (request,) = desk.glob("request-*.json")
    sheet = json.dumps(sheet_of(decode_request(request.read_bytes())))
    said = desk / request.name.replace("request-", "answer-").replace(".json", ".txt")
    said.write_text(sheet, encoding="utf-8")
    asked = shell.run(*score, f"deferred:{desk}", "--record", record)
    replayed = shell.run(*score, f"replay:{record}")
    for done in (asked, replayed):
        assert done.code == 0
        assert [done.json[name]["recall"]["hits"] for name in ("checker", "judge", "both")] == [
            *(0, 1, 1)
        ]
    assert "both together" in shell.run(*score[:3], "--judge", f"replay:{record}").out
    assert shell.run("eval", "gate", file, "--record", record).code == 2
