"""A lab plant with a real Prometheus watching it, and a real Alertmanager behind that.

Everything listens on loopback ports that were free a moment ago, writes below one folder, and is
gone when its context ends.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from affidavit.lab.plant import PAIR, Plant
from affidavit.lab.rig import Rig

SMALL: Final = replace(
    PAIR,
    components=tuple(
        replace(component, settings={"orders": 3000}) if component.kind == "database" else component
        for component in PAIR.components
    ),
)

READY_S: Final = 20.0  # bounds a wait for a server that must come up; measures nothing

RULES: Final = """
groups:
- name: edge
  interval: 1s
  rules:
  - alert: HighErrorRatio
    expr: >
      rate(http_server_request_errors_total{service="storefront"}[10s])
      / rate(http_server_request_count_total{service="storefront"}[10s]) > 0.2
    for: 2s
    labels: {severity: page, team: web}
    annotations: {summary: "storefront answers with server errors"}
"""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def needs(*programs: str) -> None:
    """Skip where a real server is missing; a failure where CI is set, for there it must be."""
    for program in programs:
        if shutil.which(program) is None:
            if os.environ.get("CI"):
                pytest.fail(f"{program} is not installed")
            pytest.skip(f"{program} is not installed")


def wait_for(url: str, ready: Callable[[bytes], bool] = lambda _: True) -> None:
    """Until the URL answers as it should. Raises AssertionError."""
    until_s = time.monotonic() + READY_S
    while time.monotonic() < until_s:
        with suppress(URLError, ConnectionError, TimeoutError), urlopen(url, timeout=2) as answer:
            if ready(answer.read()):
                return
        time.sleep(0.1)
    raise AssertionError(f"{url} did not become ready")


@contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server; killed at the end."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@contextmanager
def prometheus(
    folder: Path, targets: Mapping[str, int], alertmanager_port: int | None = None
) -> Iterator[str]:
    """A Prometheus that scrapes each service's port every second; its address."""
    folder.mkdir(parents=True, exist_ok=True)
    config: dict[str, object] = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "900ms", "evaluation_interval": "1s"},
        "scrape_configs": [
            {
                "job_name": "plant",
                "static_configs": [
                    {"targets": [f"127.0.0.1:{port}"], "labels": {"service": name, "plant": "lab"}}
                    for name, port in targets.items()
                ],
            }
        ],
    }
    if alertmanager_port is not None:
        (folder / "rules.yml").write_text(RULES)
        config["rule_files"] = ["rules.yml"]
        config["alerting"] = {
            "alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager_port}"]}]}]
        }
    (folder / "prometheus.yml").write_text(json.dumps(config))
    port = free_port()
    command = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        "--storage.tsdb.retention.time=100y",
        f"--web.listen-address=127.0.0.1:{port}",
        "--rules.alert.resend-delay=1s",
        "--rules.alert.for-grace-period=0s",
        "--log.level=warn",
    ]
    with running(command, folder / "prometheus.log"):
        wait_for(f"http://127.0.0.1:{port}/-/ready")
        yield f"http://127.0.0.1:{port}"


@contextmanager
def alertmanager(
    folder: Path,
    port: int,
    hook: str,
    bearer: str,
    name: str | None = None,
    tls: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """An Alertmanager that posts to `hook` at once; its address. With a name, it shows that and
    its key as basic authentication; with `tls` and no key, a certificate."""
    proof: dict[str, object] = {"authorization": {"type": "Bearer", "credentials": bearer}}
    if name is not None:
        proof = {"basic_auth": {"username": name, "password": bearer}}
    if tls is not None:
        proof = {"tls_config": dict(tls)}
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "route": {
            "receiver": "affidavit",
            "group_by": ["alertname", "service"],
            "group_wait": "0s",
            "group_interval": "1s",
            "repeat_interval": "1m",
        },
        "receivers": [
            {
                "name": "affidavit",
                "webhook_configs": [
                    {
                        "url": hook,
                        "send_resolved": True,
                        "http_config": proof,
                    }
                ],
            }
        ],
    }
    (folder / "alertmanager.yml").write_text(json.dumps(config))
    command = [
        "prometheus-alertmanager",
        f"--config.file={folder / 'alertmanager.yml'}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--cluster.listen-address=",
        "--log.level=warn",
    ]
    with running(command, folder / "alertmanager.log"):
        wait_for(f"http://127.0.0.1:{port}/-/ready")
        yield f"http://127.0.0.1:{port}"


@dataclass(frozen=True, slots=True)
class WatchedLab:
    """The plant's rig and folder, and the servers that watch it."""

    rig: Rig
    folder: Path
    prometheus: str

    def settings(self, *hosts: str) -> str:
        """An `affidavit.toml` that knows these back ends; further `hosts` are listed too."""
        listed = json.dumps([self.prometheus.removeprefix("http://"), *hosts])
        return f"""
[outgoing]
hosts = {listed}

[backends]
lookback-s = 300

[backends.prometheus.lab]
url = "{self.prometheus}"
selector = '{{plant="lab"}}'
units = {{ http_server_request_duration = "ms", db_server_statement_duration = "ms" }}

[backends.files.logs]
signal = "logs"
paths = ["{self.folder}/*.logs.jsonl"]

[backends.files.spans]
signal = "traces"
paths = ["{self.folder}/*.traces.jsonl"]

[backends.files.changes]
signal = "events"
paths = ["{self.folder}/*.events.jsonl"]

[alerts]
lead-s = 5
"""


@contextmanager
def watched_lab(
    folder: Path, plant: Plant = SMALL, *, pages_to: int | None = None
) -> Iterator[WatchedLab]:
    """The plant under load, with a Prometheus that has seen it; `pages_to` is an Alertmanager."""
    work = folder / "plant"
    work.mkdir(parents=True)
    with ExitStack() as stack:
        rig = stack.enter_context(Rig(plant, work))
        rig.start_load(600.0, seed=7)
        address = stack.enter_context(prometheus(folder / "prometheus", rig.ports, pages_to))
        yield WatchedLab(rig, work, address)
