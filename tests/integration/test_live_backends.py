"""Live back ends behind the telemetry port: a real Prometheus over the lab, and bad ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from affidavit.adapters.backend_tables import Backends
from affidavit.adapters.live_backends import LiveConfig, open_live, probe_backends
from affidavit.adapters.outgoing_rules import OutgoingTable
from affidavit.contract.agent import ToolCallRequest
from affidavit.contract.errors import InputRefused, ToolFailed
from affidavit.contract.evidence import Window
from affidavit.contract.states import EvidenceStatus
from affidavit.ports.telemetry import Comparison, Incident, Symptom
from affidavit.tools.capture import capture_catalogue
from affidavit.tools.capture.rows import LEFT_OUT
from affidavit.tools.catalogue import ToolContext
from tests.support.http_stage import Reply, Seen, stage
from tests.support.live_runs import ask_live, live_settings, recent
from tests.support.watched_lab import needs, watched_lab

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

QUIET_S = 30.0  # of the plant, before it breaks: some thirty scrapes
BROKEN_S = 12.0


def config(url: str, **more: object) -> LiveConfig:
    table = {"prometheus": {"main": {"url": url, **more}}}
    hosts = (url.removeprefix("http://"),)
    return LiveConfig(Backends.model_validate(table), OutgoingTable(hosts=hosts), {})


def incident() -> Incident:
    now = datetime.now(UTC)
    return Incident(
        id="live",
        title="live",
        question="why?",
        window=Window(start=now - timedelta(minutes=5), end=now),
        symptom=Symptom(service="api"),
    )


def prometheus_like(names: list[str], matrix: object) -> Callable[[Seen], Reply]:
    """Answers as a Prometheus does, from given names and one given matrix."""

    def answer(asked: Seen) -> Reply:
        path = asked.path.partition("?")[0]
        data: object = {"resultType": "matrix", "result": matrix}
        if path.endswith("/values"):
            data = names
        elif path.endswith("/metadata"):
            data = {}
        elif "vector" in asked.path:
            data = {"resultType": "vector", "result": []}
        return Reply(body=json.dumps({"status": "success", "data": data}).encode())

    return answer


@pytest.mark.integration("prometheus")
@pytest.mark.spec("C11", "T4")
@pytest.mark.fault("R15")
def test_a_fault_of_the_lab_is_diagnosed_live_from_prometheus_logs_and_spans(
    tmp_path: Path,
) -> None:
    """The command as a person calls it; nobody changed anything, so that source is not there."""
    needs("prometheus")
    with watched_lab(tmp_path) as lab:
        (tmp_path / "affidavit.toml").write_text(lab.settings())
        time.sleep(QUIET_S)
        lab.rig.kill("orders")
        time.sleep(BROKEN_S)
        command = [str(Path(sys.executable).with_name("affidavit")), "diagnose", "live",
                   "--since", "30s", "--service", "storefront", "--store", "sqlite:runs.db",
                   "--json"]  # fmt: skip
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
    assert done.returncode in {0, 3}, done.stderr
    told = json.loads(done.stdout)
    lines = {(line["source"], line["status"]) for line in told["coverage"]["lines"]}
    assert ("prometheus:lab", "consulted") in lines
    assert ("files:spans", "consulted") in lines
    assert ("files:changes", "unavailable") in lines
    answer = json.dumps(told["result"] or told["fallback"])
    assert "orders" in answer
    assert "not available: files:changes" in done.stderr


@pytest.mark.fault("R16")
async def test_an_empty_answer_is_no_evidence_and_no_error() -> None:
    with stage(prometheus_like([], [])) as there:
        live = await open_live(config(there.url), incident())
        try:
            catalogue = capture_catalogue(live.telemetry)
            tool = catalogue.tools["metric_scan"]
            arguments = tool.read_arguments({})
            now = datetime.now(UTC)
            scope = tool.scope_of(arguments, ToolContext("run_1", "local", None, now))
            envelope = tool.project(await tool.fetch(arguments, scope), arguments, scope, now)
        finally:
            await live.close()
    assert envelope.status is EvidenceStatus.NO_EVIDENCE
    assert not envelope.truncated


@pytest.mark.fault("R44")
async def test_what_was_not_read_is_said_and_the_answer_is_truncated() -> None:
    """A metric that is too large for the server or for us is left out by name."""
    good = prometheus_like(["a", "b"], [])

    def answer(asked: Seen) -> Reply:
        if (
            "time=" in asked.path
            and "b" in asked.path.partition("__name__")[2].partition("%22%7D")[0]
        ):
            return Reply(422, b'{"status":"error"}')
        return good(asked)

    with stage(answer) as there:
        live = await open_live(config(there.url), incident())
        try:
            tool = capture_catalogue(live.telemetry).tools["metric_scan"]
            arguments = tool.read_arguments({})
            now = datetime.now(UTC)
            scope = tool.scope_of(arguments, ToolContext("run_1", "local", None, now))
            envelope = tool.project(await tool.fetch(arguments, scope), arguments, scope, now)
        finally:
            await live.close()
    assert envelope.truncated
    assert any(n.startswith(LEFT_OUT) and "the metric b (HTTP_422)" in n for n in envelope.notes)


@pytest.mark.fault("R33")
async def test_a_back_end_that_hangs_is_named_and_delays_nothing_for_long() -> None:
    def forever() -> Iterator[bytes]:
        time.sleep(6)
        yield b"x"

    with stage(lambda _: Reply(pieces=forever)) as there:
        live = await open_live(config(there.url), incident())
        try:
            assert [(f.name, f.code) for f in live.unavailable] == [("prometheus:main", "TIMEOUT")]
            window = live.telemetry.incident.window
            with pytest.raises(ToolFailed) as failed:
                await live.telemetry.ask(Comparison("level_shifts", window, None))
        finally:
            await live.close()
    assert failed.value.code == "SOURCE_UNAVAILABLE"


async def test_a_failed_capture_is_not_tried_again_by_every_tool() -> None:
    """The back end may be the patient."""
    good = prometheus_like([], [])

    def answer(asked: Seen) -> Reply:
        return good(asked) if "vector" in asked.path else Reply(500)

    with stage(answer) as there:
        live = await open_live(config(there.url), incident())
        try:
            window = live.telemetry.incident.window
            for _ in range(5):
                with pytest.raises(ToolFailed) as failed:
                    await live.telemetry.ask(Comparison("level_shifts", window, None))
                assert failed.value.code == "HTTP_500"
        finally:
            await live.close()
    assert len(there.seen) == 2  # the probe, and one try


@pytest.mark.fault("R75")
async def test_a_probe_says_what_is_wrong_and_where() -> None:
    with stage(lambda _: Reply(401)) as there:
        (finding,) = await probe_backends(config(there.url))
    assert (finding.ok, finding.code) == (False, "HTTP_401")
    assert f"{there.url}/api/v1/query answered 401" in finding.message


async def test_a_missing_secret_and_an_unlisted_host_are_findings_of_their_own() -> None:
    url = "http://127.0.0.1:9"
    missing = config(url, credential={"bearer-env": "NOT_SET"})
    assert [f.code for f in await probe_backends(missing)] == ["SECRET_MISSING"]
    unlisted = LiveConfig(config(url).backends, OutgoingTable(), {})
    assert [f.code for f in await probe_backends(unlisted)] == ["OUTGOING_UNLISTED"]


@pytest.mark.spec("H9")
async def test_another_tenant_s_back_ends_are_not_there() -> None:
    theirs = config("http://127.0.0.1:9", tenants=("acme",))
    with pytest.raises(InputRefused) as refused:
        await open_live(theirs, incident())
    assert refused.value.code == "NO_BACKENDS"


@pytest.mark.spec("T6")
@pytest.mark.parametrize("half", ["\ud800", "\x00", "\u2028", "\x1b[31m"])
async def test_one_line_that_no_text_can_hold_does_not_cost_the_others(
    tmp_path: Path, half: str
) -> None:
    """Else whoever can write one log line could blind a whole investigation."""
    at_us = int((time.time() - 60) * 1e6)
    lines = [
        {"timestamp": at_us, "service_name": "api", "body": text, "severity_text": "ERROR"}
        for text in ("the pool is exhausted", f"half {half} a pair")
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    files = {"logs": {"signal": "logs", "paths": (f"{tmp_path}/*.jsonl",)}}
    called = [ToolCallRequest("log_search", {"text": text}) for text in ("exhausted", "half")]
    asked = await ask_live(live_settings((), files=files), recent(), *called)
    assert [asked.envelope(place).count for place in (0, 1)] == [1, 1]
