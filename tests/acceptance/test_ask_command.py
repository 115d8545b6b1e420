"""`affidavit ask` and `affidavit knowledge` as a user types them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from tests.acceptance.conftest import Shell

pytestmark = pytest.mark.slow

EXAMPLES: Final = Path(__file__).parents[2] / "examples"


@pytest.fixture
def pages(shell: Shell) -> Path:
    """A folder with two pages."""
    folder = shell.home / "pages"
    folder.mkdir()
    (folder / "pool.md").write_text(
        "# Pool\n\nIf the connection pool is exhausted, raise max_connections.\n"
    )
    (folder / "zh.txt").write_text("磁盘写满时，先清理旧日志，再扩容。\n", encoding="utf-8")
    return folder


@pytest.mark.spec("I2", "A3", "A5")
def test_pages_are_indexed_asked_verified_and_taken_out(shell: Shell, pages: Path) -> None:
    """add → list → ask → verify → replay → remove → ask: found, then an honest fallback."""
    added = shell.run("knowledge", "add", pages, "--json")
    assert added.json == {"tenant": "local", "pages": 2, "passages": 2, "left_alone": 0}
    listed = shell.run("knowledge", "list").out
    assert "pool.md" in listed
    assert "zh.txt" in listed
    found = shell.run("knowledge", "search", "exhausted pool", "--json").json
    assert [item["page"] for item in found["passages"]] == ["pool.md"]
    assert shell.run("knowledge", "search", "bread").code == 1
    asked = shell.run("ask", "磁盘写满了如何处理？", "--json")
    assert asked.code == 0
    assert "先清理旧日志" in asked.json["result"]["conclusion"]["text"]
    run_id = asked.json["run_id"]
    assert shell.run("show", run_id).out.splitlines()[1].startswith("QUOTED: what pages say")
    assert shell.run("show", run_id, "--html", shell.home / "page.html").code == 0
    assert "QUOTED: what pages say" in (shell.home / "page.html").read_text(encoding="utf-8")
    assert shell.run("verify", run_id).code == 3
    assert shell.run("replay", run_id).code == 0
    assert shell.run("runs", "show", run_id, "--json").code == 0
    assert "quoting what was found" in shell.run("timeline", run_id).out
    assert shell.run("knowledge", "remove", "zh.txt", "nowhere.md").code == 2
    assert shell.run("knowledge", "remove", "zh.txt").code == 0
    again = shell.run("ask", "磁盘写满了如何处理？", "--json")
    assert (again.code, again.json["decision"]) == (3, "D6")


@pytest.mark.spec("I1", "I3")
def test_what_is_said_has_the_exit_code_of_its_answer(shell: Shell) -> None:
    """A reply 0, asked back 3, no branch 4, refused 2; and a refusal leaves no store."""
    assert shell.run("ask", " ").code == 2
    assert shell.run("ask", "Why?", "--incident", "nowhere").code == 2
    assert shell.run("ask", "And?", "--follows", "run_0123456789abcdef").code == 2
    assert not shell.store.exists()
    hello = shell.run("ask", "你好", "--json")
    assert (hello.code, hello.json["decision"]) == (0, "S1")
    assert hello.json["reply"]["language"] == "zh"
    assert shell.run("replay", hello.json["run_id"]).code == 0
    assert shell.run("ask", "Why is checkout failing?").code == 3
    unclear = shell.run("ask", "checkout", "--json")
    assert (unclear.code, unclear.json["failure_code"]) == (4, "ROUTING_UNAVAILABLE")
    nothing = shell.run("ask", "Who owns the payment service?", "--json")
    assert (nothing.code, nothing.json["failure_code"]) == (4, "KNOWLEDGE_UNAVAILABLE")


@pytest.mark.spec("I6", "A3", "N13")
def test_a_further_question_is_asked_replayed_and_asked_on(shell: Shell) -> None:
    """Each turn is about the first one's incident; what it cites are calls of its own."""
    first = shell.run("ask", "Why is it failing?", "--incident", EXAMPLES / "shop-01", "--json")
    assert first.json["outcome"] == "SUCCESS"
    second = shell.run(
        "ask", "Did storefront fail too?", "--follows", first.json["run_id"], "--json"
    )
    assert "storefront" in second.json["result"]["conclusion"]["text"]
    assert shell.run("replay", second.json["run_id"]).code == 0
    third = shell.run("ask", "payments呢？", "--follows", second.json["run_id"], "--json")
    assert "payments" in third.json["result"]["conclusion"]["text"]
    assert shell.run("verify", third.json["run_id"]).code == 3


@pytest.mark.spec("I1", "K8")
def test_a_turn_without_a_configured_branch_is_not_taken(shell: Shell) -> None:
    """`chat.intents` narrows: a policy refuses, and no other branch is taken instead."""
    done = shell.run(
        "ask", "Why is checkout failing?", "--json", AFFIDAVIT_CHAT_INTENTS="KNOWLEDGE,SYSTEM_CHAT"
    )
    assert (done.code, done.json["failure_code"]) == (4, "ROUTING_UNAVAILABLE")
    assert "policy" in shell.run("timeline", done.json["run_id"], "--json").out


@pytest.mark.spec("I6", "C11")
def test_what_goes_on_now_is_asked_about_and_asked_on(shell: Shell) -> None:
    """Live back ends, and then what was read of them, without reading them again."""
    now = datetime.now(UTC)
    (shell.home / "app.jsonl").write_text(
        "".join(
            json.dumps(
                {
                    "timestamp": (now - timedelta(seconds=300 - second)).isoformat(),
                    "service": "checkout",
                    "level": "ERROR" if second > 200 else "INFO",
                    "body": "payment timeout" if second > 200 else "ok",
                }
            )
            + "\n"
            for second in range(300)
        )
    )
    (shell.home / "affidavit.toml").write_text(
        f'[backends.files.logs]\nsignal = "logs"\npaths = ["{shell.home}/*.jsonl"]\n'
    )
    question = ("ask", "Why is checkout failing now?", "--incident", "live")
    first = shell.run(*question, "--service", "checkout", "--since", "4m", "--json")
    assert first.code in {0, 3}
    assert first.json["usage"]["calls"] > 0
    (shell.home / "app.jsonl").unlink()
    second = shell.run("ask", "Are you sure?", "--follows", first.json["run_id"], "--json")
    assert second.code in {0, 3}
    read = [line for line in second.json["coverage"]["lines"] if line["calls"]]
    assert {line["source"] for line in read} == {"files:logs"}
    assert shell.run(*question, "--since", "1y").code == 2
    assert shell.run("ask", "Why?", "--service", "checkout").code == 2
