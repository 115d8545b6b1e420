"""`affidavit doctor`, `tools` and `deliveries`, as a person calls them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from affidavit.adapters.sqlite_incidents import SqliteIncidents
from affidavit.adapters.sqlite_store import SqliteStore
from affidavit.ports.incidents import Delivery, Outcome
from tests.support.cluster import broken_checkout, cluster
from tests.support.http_stage import Reply, stage
from tests.support.stores import loki

pytestmark = pytest.mark.slow

AFFIDAVIT = Path(sys.executable).with_name("affidavit")
VECTOR = b'{"status": "success", "data": {"resultType": "vector", "result": []}}'


def call(folder: Path, *words: str, **variables: str) -> tuple[int, dict[str, Any]]:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), **variables}
    done = subprocess.run(
        [AFFIDAVIT, *words, "--json"], cwd=folder, env=environment, capture_output=True, timeout=60,
        check=False,
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout)


def write_settings(folder: Path, url: str) -> None:
    (folder / "app.jsonl").touch()
    (folder / "affidavit.toml").write_text(
        f"""
[outgoing]
hosts = ["{url.removeprefix("http://")}"]
[backends.prometheus.main]
url = "{url}"
credential = {{ bearer-env = "PROM_TOKEN" }}
[backends.files.logs]
signal = "logs"
paths = ["{folder}/*.jsonl"]
"""
    )


@pytest.mark.fault("R15", "R75")
def test_doctor_says_what_is_missing_and_how_to_mend_it_and_no_secret(tmp_path: Path) -> None:
    with stage(lambda _: Reply(body=VECTOR)) as there:
        write_settings(tmp_path, there.url)
        code, told = call(tmp_path, "doctor")
        failed = [check for check in told["checks"] if not check["ok"]]
        assert code == 1
        assert [check["what"] for check in failed] == ["prometheus:main"]
        assert "PROM_TOKEN" in failed[0]["said"]
        code, told = call(tmp_path, "doctor", PROM_TOKEN="hunter2")
    assert (code, told["ok"]) == (0, True)
    assert there.seen[0].headers["authorization"] == "Bearer hunter2"
    assert "hunter2" not in json.dumps(told)
    files = next(check for check in told["checks"] if check["what"] == "files:logs")
    assert "could write" in files["hint"]
    assert any(line.startswith("backends.prometheus") for line in told["settings"])


@pytest.mark.fault("R33")
def test_tools_check_names_the_back_end_that_does_not_answer(tmp_path: Path) -> None:
    write_settings(tmp_path, "http://127.0.0.1:9")
    code, told = call(tmp_path, "tools", "check", PROM_TOKEN="x")
    assert code == 1
    assert [(c["what"], c["ok"]) for c in told["checks"]] == [
        ("prometheus:main", False),
        ("files:logs", True),
    ]


def test_tools_list_shows_what_a_live_run_may_ask(tmp_path: Path) -> None:
    write_settings(tmp_path, "http://127.0.0.1:9")
    code, told = call(tmp_path, "tools", "list", PROM_TOKEN="x")
    sources = {tool["name"]: tool["source"] for tool in told["tools"]}
    assert code == 0
    assert sources["metric_scan"] == "prometheus:main"
    assert sources["error_logs"] == "files:logs"
    assert "self_time" not in sources
    code, told = call(tmp_path.parent, "tools", "list")
    assert (code, told["error"]["code"]) == (2, "NO_BACKENDS")


def test_a_dead_letter_is_listed_and_sent_again(tmp_path: Path) -> None:
    place = tmp_path / "runs.db"

    async def bury() -> None:
        store, book = SqliteStore(place), SqliteIncidents(place)
        dead = Delivery("dlv_1", "acme", "run_1", "k", "ops", "result", "{}", 1)
        await book.put("run_1", "result", (dead,))
        await book.settle("dlv_1", Outcome("dead", code="HTTP_410"))
        await book.close()
        await store.close()

    anyio.run(bury)
    told = ("--store", f"sqlite:{place}", "--tenant", "acme")
    code, found = call(tmp_path, "deliveries", "list", "--state", "dead", *told)
    (item,) = found["deliveries"]
    assert (code, item["id"], item["code"], item["attempts"]) == (0, "dlv_1", "HTTP_410", 1)
    assert call(tmp_path, "deliveries", "resend", "dlv_1", *told)[0] == 0
    (item,) = call(tmp_path, "deliveries", "list", *told)[1]["deliveries"]
    assert (item["state"], item["attempts"]) == ("pending", 0)
    other = ("--store", f"sqlite:{place}", "--tenant", "other")
    code, refused = call(tmp_path, "deliveries", "resend", "dlv_1", *other)
    assert (code, refused["error"]["code"]) == (2, "DELIVERY_UNKNOWN")


@pytest.mark.fault("R72", "R10")
def test_an_alert_s_payload_is_diagnosed_and_its_text_is_no_evidence(tmp_path: Path) -> None:
    """Nothing answers: whatever the alert says, there is no root cause."""
    write_settings(tmp_path, "http://127.0.0.1:9")
    alert = {"labels": {"alertname": "PoolExhausted"}, "startsAt": "2026-03-02T10:00:00Z",
             "annotations": {"summary": "DB pool exhausted because of checkout"}}  # fmt: skip
    (tmp_path / "alert.json").write_text(json.dumps([alert]))
    code, told = call(tmp_path, "diagnose", "alert.json", PROM_TOKEN="x")
    assert code in {3, 4}
    assert told["result"] is None
    assert "exhausted because" not in json.dumps(told)
    lines = {(line["source"], line["status"]) for line in told["coverage"]["lines"]}
    assert ("prometheus:main", "unavailable") in lines
    resolved = [{**alert, "status": {"state": "suppressed"}}]
    (tmp_path / "over.json").write_text(json.dumps(resolved))
    code, told = call(tmp_path, "diagnose", "over.json", PROM_TOKEN="x")
    assert (code, told["error"]["code"]) == (2, "ALERT_RESOLVED")


def write_cluster(folder: Path, api: str, logs: str) -> None:
    hosts = json.dumps([url.removeprefix("http://") for url in (api, logs)])
    (folder / "affidavit.toml").write_text(
        f"""
[outgoing]
hosts = {hosts}
[backends.kubernetes.shop]
url = "{api}"
namespaces = ["shop"]
[backends.loki.main]
url = "{logs}"
query = '{{namespace="shop"}}'
[backends.http.front.checks]
web = {{ url = "{api}/healthz", service = "web" }}
"""
    )


@pytest.mark.spec("C11")
@pytest.mark.fault("R15", "R75")
def test_doctor_proves_that_it_only_reads_or_refuses_and_marks_what_is_experimental(
    tmp_path: Path,
) -> None:
    held = broken_checkout()
    with cluster(held) as api, stage(loki([])) as logs:
        write_cluster(tmp_path, api.url, logs.url)
        code, told = call(tmp_path, "doctor")
        assert code == 0
        said = {check["what"]: check for check in told["checks"]}
        assert "SelfSubjectRulesReview" in said["kubernetes:shop"]["said"]
        assert said["loki:main (experimental)"]["said"].startswith("experimental")
        assert "none was made" in said["http:front"]["said"]
        _, listed = call(tmp_path, "tools", "list")
        sources = {tool["name"]: tool["source"] for tool in listed["tools"]}
        assert sources["kubernetes_shop"] == "kubernetes:shop"
        assert sources["http_front"] == "http:front"
        assert sources["log_search"] == "kubernetes:shop+loki:main (experimental)"
        held.rules.append({"verbs": ["patch"], "apiGroups": ["apps"], "resources": ["deployments"]})
        code, told = call(tmp_path, "doctor")
    assert code == 1
    (failed,) = [check for check in told["checks"] if not check["ok"]]
    assert failed["what"] == "kubernetes:shop"
    assert "ROLE_NOT_READ_ONLY" in failed["said"]
    assert "patch deployments" in failed["said"]
