"""Many readers at once: `python bench/server.py [STREAMS] [RUNS]`, 500 and 40 by default.

The real command in a process of its own. All runs are asked for at once; while the first ones work,
the readers gather at the last ones, and are there when their events happen. Reported are the memory
that the readers cost (resident, of the service's process alone), the lag of live events from their
line in the journal to the reader's socket, and whether every reader saw its run's end exactly once.
"""

# ruff: noqa: INP001, T201 -- a script, and it prints

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
AFFIDAVIT: Final = Path(sys.executable).parent / "affidavit"
WAIT_S: Final = 300.0
AT: Final = re.compile(rb'"at": "([^"]+)"')
"""An event's moment; its other words are none of the reader's business here."""

WATCHED: Final = 5
"""Runs that the readers share: each has many readers, as an incident has."""


@dataclass
class Service:
    """The command, under measurement."""

    home: Path
    process: subprocess.Popen[bytes]
    port: int
    key: str

    def resident_mb(self) -> float:
        """What its process holds; the processes that answer queries are not readers' costs."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return 0.0 if found is None else int(found[1]) / 1024

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """One request."""
        asked = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.key}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=WAIT_S) as answer:  # noqa: S310 - our own address
            return json.load(answer)


@dataclass
class Reader:
    """One stream: what it saw, and how late."""

    run_id: str
    joined_s: float = 0.0
    names: list[str] = field(default_factory=list)
    lags_ms: list[float] = field(default_factory=list)


def start(home: Path) -> Service:
    """The service, ready."""
    log = home / "serve.log"
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [AFFIDAVIT, "serve", "--listen", "127.0.0.1:0", "--incidents", ROOT / "examples"],
            cwd=home,
            env={**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            stderr=out,
        )
    until_s = time.monotonic() + WAIT_S
    while "startup complete" not in log.read_text():
        if process.poll() is not None or time.monotonic() > until_s:
            raise SystemExit(log.read_text())
        time.sleep(0.1)
    found = re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())
    if found is None:
        raise SystemExit(log.read_text())
    key = (home / "affidavit" / "admin.key").read_text().strip()
    return Service(home, process, int(found[1]), key)


async def read(service: Service, reader: Reader, connected: asyncio.Event | None = None) -> None:
    """Follow one stream to its end, on a bare socket: the reader itself must cost little."""
    source, sink = await asyncio.open_connection("127.0.0.1", service.port)
    head = (
        f"GET /api/v1/runs/{reader.run_id}/events HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\n"
        f"Authorization: Bearer {service.key}\r\nConnection: close\r\n\r\n"
    )
    sink.write(head.encode())
    await sink.drain()
    reader.joined_s = time.time()
    if connected is not None:
        connected.set()
    while line := await source.readline():
        if line.startswith(b"event: "):
            reader.names.append(line[7:].strip().decode())
        elif line.startswith(b"data: "):
            now_s = time.time()
            found = AT.search(line)
            at_s = 0.0 if found is None else datetime.fromisoformat(found[1].decode()).timestamp()
            if at_s > reader.joined_s:
                reader.lags_ms.append((now_s - at_s) * 1000)
    sink.close()


def percentile(values: list[float], share: float) -> float:
    """By nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def measure(service: Service, streams: int, runs: int) -> dict[str, object]:
    """The figures."""
    warm = service.ask("POST", "/api/v1/runs", {"incident": "shop-01"})["run_id"]
    await read(service, Reader(warm))
    idle_mb = service.resident_mb()
    made = []
    for number in range(runs):
        incident = f"shop-{number % 13 + 1:02}"
        asked = service.ask("POST", "/api/v1/runs", {"incident": incident})
        made.append(str(asked["run_id"]))
    watched = made[-WATCHED:]
    readers = [Reader(watched[number % WATCHED]) for number in range(streams)]
    began_s = time.monotonic()
    tasks = []
    for reader in readers:
        connected = asyncio.Event()
        tasks.append(asyncio.create_task(read(service, reader, connected)))
        await connected.wait()
    joined_s = time.monotonic() - began_s
    most_mb = 0.0
    while not all(task.done() for task in tasks):
        most_mb = max(most_mb, service.resident_mb())
        await asyncio.sleep(0.1)
    await asyncio.gather(*tasks)
    lags = [lag for reader in readers for lag in reader.lags_ms]
    ends = [[name for name in r.names if name in {"done", "error"}] for r in readers]
    whole = sum(end == r.names[-1:] for end, r in zip(ends, readers, strict=True))
    return {
        "streams": streams,
        "runs": runs,
        "streams_whole": whole,
        "idle_mb": round(idle_mb, 1),
        "most_mb": round(most_mb, 1),
        "over_idle_mb": round(most_mb - idle_mb, 1),
        "live_events": len(lags),
        "lag_ms_p50": round(percentile(lags, 0.5), 1) if lags else None,
        "lag_ms_p99": round(percentile(lags, 0.99), 1) if lags else None,
        "joined_in_s": round(joined_s, 2),
    }


def main() -> None:
    """Measure and print one JSON object."""
    streams = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    with tempfile.TemporaryDirectory() as folder:
        service = start(Path(folder))
        try:
            print(json.dumps(asyncio.run(measure(service, streams, runs))))
        finally:
            service.process.terminate()
            service.process.wait(WAIT_S)


if __name__ == "__main__":
    main()
