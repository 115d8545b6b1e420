"""The real command as a process: killed under load, stopped under load, and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
import pytest

from affidavit.adapters.store_url import open_store
from affidavit.contract.journal import EventType
from tests.support.issuer import PERSON, issuer_at
from tests.support.machine import AFFIDAVIT, Machine, machine_at
from tests.support.service import WAIT_S, parse_events, read_stream

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).parents[2]
RUNS: Final = 6


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine of its own; nothing of it is left."""
    with machine_at(tmp_path) as own:
        yield own


def begin(api: httpx2.Client) -> list[str]:
    """Some runs at once, each under an idempotency key."""
    made = []
    for number in range(RUNS):
        answer = api.post(
            "/api/v1/runs",
            json={"incident": f"shop-{number + 1:02}"},
            headers={"idempotency-key": f"run-{number}"},
        )
        assert answer.status_code in {200, 201}, answer.text
        made.append(answer.json()["run_id"])
    return made


def check(machine: Machine, api: httpx2.Client, made: list[str]) -> None:
    """Every run has ended, once, with one decision, and there is no other."""
    for run_id in made:
        assert read_stream(api, run_id)[-1].name == "done"
    listed = api.get("/api/v1/runs", params={"limit": 200}).json()["runs"]
    assert sorted(run["run_id"] for run in listed) == sorted(made)
    assert begin(api) == made  # asked for once more, nothing new is started

    async def lines() -> list[Any]:
        store = open_store(f"sqlite:{machine.state / 'runs.db'}")
        try:
            return [await store.read(run_id) for run_id in made]
        finally:
            await store.close()

    for journal in anyio.run(lines):
        kinds = Counter(entry.type for entry in journal)
        assert kinds[EventType.RELEASE_DECISION] == kinds[EventType.RUN_ENDED] == 1
        assert journal[-1].type is EventType.RUN_ENDED
        calls = [e.data["tool_call_id"] for e in journal if e.type is EventType.TOOL_CALL_READY]
        assert len(calls) == len(set(calls))


def read_until_killed(machine: Machine, api: httpx2.Client, run_id: str) -> str:
    """What a reader was sent, when the service is killed after the first observation."""
    seen = ""
    with (
        suppress(httpx2.TransportError),
        api.stream("GET", f"/api/v1/runs/{run_id}/events") as stream,
    ):
        for chunk in stream.iter_text():
            seen += chunk
            if "observation" in seen and not machine.ended:
                machine.end(signal.SIGKILL)
    return seen


@pytest.mark.spec("L6", "K8", "N12", "I4")
@pytest.mark.fault("F13", "F14", "F23")
def test_killed_under_load_no_run_is_lost_and_none_is_doubled(machine: Machine) -> None:
    """SIGKILL while runs work and streams are open; the next start goes on with all of them."""
    examples = ("--incidents", str(ROOT / "examples"))
    api = machine.start(*examples)
    made = begin(api)
    cut = parse_events(read_until_killed(machine, api, made[-1]))
    assert all(event.name not in {"done", "error"} for event in cut)
    api = machine.start(*examples)
    rest = read_stream(api, made[-1], cut[-1].id)
    assert read_stream(api, made[-1]) == [*cut, *rest]
    check(machine, api, made)


@pytest.mark.spec("K8", "L6", "I4")
@pytest.mark.fault("F29")
def test_a_stop_pauses_runs_and_the_next_start_goes_on(machine: Machine) -> None:
    """SIGTERM ends streams without a terminal event and the process with 0; nothing waits for a
    lease to run out afterwards."""
    examples = ("--incidents", str(ROOT / "examples"))
    api = machine.start(*examples)
    made = begin(api)
    seen = ""
    with api.stream("GET", f"/api/v1/runs/{made[-1]}/events") as stream:
        for chunk in stream.iter_text():
            seen += chunk
            if "observation" in seen and not machine.ended:
                assert machine.process is not None
                machine.process.send_signal(signal.SIGTERM)
    assert machine.process is not None
    assert machine.process.wait(WAIT_S) == 0
    assert all(event.name not in {"done", "error"} for event in parse_events(seen))
    assert "Traceback" not in machine.log.read_text()
    check(machine, machine.start(*examples), made)


def test_a_start_that_cannot_be_is_refused_in_one_line(machine: Machine) -> None:
    """Open to others without a name, or with drills; no such folder; a port that is taken."""
    api = machine.start()
    taken = str(api.base_url).removeprefix("http://").rstrip("/")
    for options, words in (
        (["--listen", "0.0.0.0:0"], "no name is allowed"),
        (["--listen", "0.0.0.0:0", "--allow-host", "x", "--drills"], "open to others"),
        (["--listen", "nowhere"], "no address"),
        (["--listen", taken], "cannot be listened at"),
        (["--incidents", "no-such-folder"], "is no folder"),
        (["--limits", "endless"], "no profile"),
    ):
        done = subprocess.run(
            [AFFIDAVIT, "serve", *options],
            capture_output=True,
            text=True,
            check=False,
            cwd=machine.home,
            env={**os.environ, "HOME": str(machine.home), "XDG_STATE_HOME": str(machine.home)},
            timeout=WAIT_S,
        )
        assert done.returncode == 2, (options, done.stderr)
        assert done.stderr.count("\n") == 1, done.stderr
        assert words in done.stderr
        assert done.stdout == ""
    assert api.get("/healthz").json() == {"status": "ok"}


OIDC: Final = """
[oidc]
issuer = "{url}"
audiences = ["affidavit"]
tenant-claim = "org"
tenants = {{ "acme-corp" = "local" }}
roles-claim = "groups"
roles = {{ sre = "viewer" }}

[outgoing]
hosts = [{hosts}]
"""


@pytest.mark.fault("R67")
def test_an_issuer_is_believed_as_the_file_says_or_the_start_is_refused(
    machine: Machine, tmp_path: Path
) -> None:
    """The real command with `[oidc]`; an issuer that could never be asked ends the start in one
    line, before anything listens."""
    with issuer_at(tmp_path) as issuer:
        place = issuer.url.removeprefix("http://")
        config = tmp_path / "affidavit.toml"
        config.write_text(OIDC.format(url=issuer.url, hosts=""))
        done = subprocess.run(
            [AFFIDAVIT, "serve", "--listen", "127.0.0.1:0"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
            timeout=WAIT_S,
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "not listed" in done.stderr
        config.write_text(OIDC.format(url=issuer.url, hosts=f'"{place}"'))
        api = machine.start()
        now = int(time.time())
        claims = {"iss": issuer.url, "aud": "affidavit", "exp": now + 300, **PERSON}
        headers = {"authorization": f"Bearer {issuer.sign(claims)}"}
        told = api.get("/api/v1/me", headers=headers).json()
        assert told == {"subject": "oidc:ann", "tenant": "local", "roles": ["viewer"]}
        late = {"authorization": f"Bearer {issuer.sign({**claims, 'exp': now - 300})}"}
        assert api.get("/api/v1/me", headers=late).status_code == 401
        assert machine.end(signal.SIGTERM) == 0
        log = machine.log.read_text()
        assert "a token was refused" in log
        assert headers["authorization"].split(".")[1] not in log


@pytest.mark.fault("R68")
def test_no_key_is_ever_logged(machine: Machine) -> None:
    """Neither a right one nor a wrong one, and what a client made up stands there escaped."""
    api = machine.start("--incidents", str(ROOT / "examples"))
    key = (machine.state / "admin.key").read_text().strip()
    api.get("/api/v1/me", headers={"authorization": "Bearer affk_wrong\x1b[31m"})
    run_id = api.post("/api/v1/runs", json={"incident": "shop-01"}).json()["run_id"]
    read_stream(api, run_id)
    machine.end(signal.SIGTERM)
    log = machine.log.read_text()
    assert key not in log
    assert key.split("_")[2] not in log
    assert "affk_wrong" not in log
    assert "\x1b" not in log
    assert f'"run_id": "{run_id}"' in log
