"""Start, change and stop the processes of a plant.

Every process listens on a loopback port that the rig has reserved: the rig keeps a bound socket
that never listens, so that nobody else can take the port, a process that is down refuses
connections as it should, and a successor can listen before its forerunner stops.
"""

import json
import select
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Any

from affidavit.lab.load import LoadSpec
from affidavit.lab.nodes.node import NodeSpec
from affidavit.lab.nodes.telemetry import now_us
from affidavit.lab.nodes.upstream import LOOPBACK
from affidavit.lab.plant import Component, Plant

Link = tuple[str, str]
"""Caller and callee of a call that goes through a relay."""
READY_S = 60.0
"""How long a process may take to listen; filling the largest database takes some four."""
STOP_S = 5.0
"""How long a process may drain before it is killed."""
_CONTROL_TIMEOUT_S = 10.0  # a schema change on the full database takes well under one
_REASON_MAX = 400  # characters of a dead process's last words


class RigError(Exception):
    """The rig could not be started or changed; says which process and why."""


@dataclass(slots=True)
class Running:
    """A process of the rig and what it was started with."""

    component: Component
    process: subprocess.Popen[str]


class Rig:
    """The running plant; a context manager that leaves no process behind."""

    def __init__(self, plant: Plant, folder: Path, links: tuple[Link, ...] = ()) -> None:
        self.plant = plant
        self.folder = folder
        self._links: dict[Link, int] = dict.fromkeys(links, 0)
        self._relays: dict[Link, subprocess.Popen[str]] = {}
        self.running: dict[str, Running] = {}
        self.ports: dict[str, int] = {}
        self._reserved: list[socket.socket] = []
        self._load: subprocess.Popen[str] | None = None
        self._started: list[subprocess.Popen[str]] = []
        self._events = 0

    def __enter__(self) -> "Rig":
        try:
            for component in self.plant.components:
                self.ports[component.name] = self._reserve()
            for link in self._links:
                self._start_relay(link)
            for component in self.plant.components:
                self.start(component)
        except (RigError, OSError, KeyboardInterrupt):
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _reserve(self) -> int:
        reserved = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind((LOOPBACK, 0))
        self._reserved.append(reserved)
        port: int = reserved.getsockname()[1]
        return port

    # -- processes ---------------------------------------------------------------------------

    def start(self, component: Component) -> None:
        """Start a component and wait until it listens. Raises `RigError`."""
        spec = NodeSpec(
            name=component.name,
            instance=f"{component.name}-1",
            program=component.program,
            version=component.version,
            port=self.ports[component.name],
            folder=str(self.folder),
            settings=dict(component.settings),
            upstreams={callee: self._port(component.name, callee) for callee in component.calls},
        )
        process = self._spawn("affidavit.lab.nodes", spec.to_line(), component.name)
        self._await_ready(process, component.name)
        self.running[component.name] = Running(component, process)

    def _port(self, caller: str, callee: str) -> int:
        return self._links.get((caller, callee)) or self.ports[callee]

    def _start_relay(self, link: Link) -> None:
        port = self._links[link] = self._reserve()
        line = json.dumps({"port": port, "target_port": self.ports[link[1]]}) + "\n"
        name = f"relay-{link[0]}-{link[1]}"
        self._relays[link] = self._spawn("affidavit.lab.relay", line, name)
        self._await_ready(self._relays[link], name)

    def _await_ready(self, process: subprocess.Popen[str], name: str) -> None:
        """Wait for the line that a process prints once it listens. Raises `RigError`."""
        listening = (
            process.stdout is not None
            and select.select([process.stdout], [], [], READY_S)[0]
            and process.stdout.readline().strip() == "ready"
        )
        if not listening:
            process.kill()
            said = (self.folder / f"{name}.stderr").read_text(encoding="utf-8").splitlines()
            reason = said[-1][:_REASON_MAX] if said else "it gave no reason"
            raise RigError(f"{name} did not start: {reason}")

    def _spawn(self, module: str, line: str, name: str) -> subprocess.Popen[str]:
        with (self.folder / f"{name}.stderr").open("a", encoding="utf-8") as stderr:
            process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
                [sys.executable, "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        self._started.append(process)
        _tell(process, line)
        return process

    def kill(self, name: str) -> None:
        """Kill a component as the kernel would; it stays down until it is started again."""
        running = self.running[name]
        running.process.kill()
        running.process.wait()

    def deploy(self, name: str, version: str, settings: dict[str, Any]) -> None:
        """Replace a component by a new version: the successor listens, then the old one drains."""
        old = self.running[name]
        known = dict(old.component.settings) | settings
        self.start(replace(old.component, version=version, settings=known))
        old.process.terminate()
        try:
            old.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            old.process.kill()
            old.process.wait()

    def ask(self, name: str, action: str, order: dict[str, Any]) -> None:
        """Let a component act through its control door. Raises `RigError`."""
        status, answer = self._post(name, f"/-/{action}", order)
        if status != HTTPStatus.OK:
            raise RigError(f"{name} refused {action}: {answer}")

    def _post(self, name: str, path: str, body: dict[str, Any]) -> tuple[int, str]:
        connection = HTTPConnection(LOOPBACK, self.ports[name], timeout=_CONTROL_TIMEOUT_S)
        try:
            connection.request("POST", path, json.dumps(body))
            response = connection.getresponse()
            return response.status, response.read().decode()
        except (OSError, HTTPException) as error:
            raise RigError(f"{name} does not answer POST {path}: {error}") from error
        finally:
            connection.close()

    @property
    def processes(self) -> tuple[subprocess.Popen[str], ...]:
        """Every process that this rig has started: components, relays, load."""
        return tuple(self._started)

    # -- load --------------------------------------------------------------------------------

    def start_load(self, duration_s: float, seed: int) -> None:
        """Let customers in for `duration_s` seconds."""
        plant = self.plant
        port = self.ports[plant.edge]
        spec = LoadSpec(port, plant.rate_per_s, dict(plant.mix), duration_s, seed)
        self._load = self._spawn("affidavit.lab.load", spec.to_line(), "load")

    def send(self, body: dict[str, Any]) -> None:
        """One checkout at the edge, as a customer sends it. Raises `RigError` when unreachable."""
        self._post(self.plant.edge, "/checkout", body)

    def delay(self, link: Link, delay_s: float) -> None:
        """Slow a relayed link down, each way, from now on. Raises `RigError` without a relay."""
        if link not in self._relays:
            raise RigError(f"no relay between {link[0]} and {link[1]}: name the link at the start")
        _tell(self._relays[link], json.dumps({"delay_s": delay_s}) + "\n")

    def scale_load(self, factor: float) -> None:
        """Multiply the rate of arrivals from now on."""
        if self._load is None:
            raise RigError("there is no load to scale: start it first")
        _tell(self._load, json.dumps({"rate_factor": factor}) + "\n")

    # -- what changed ------------------------------------------------------------------------

    def note(self, event_name: str, service: str | None, body: str) -> str:
        """Write one line to the change log, as whoever made the change would. Returns its id."""
        self._events += 1
        event_id = f"chg-{self._events:03d}"
        row = {
            "timestamp": now_us(),
            "event_name": event_name,
            "service_name": service,
            "id": event_id,
            "body": body,
        }
        with (self.folder / "changes.events.jsonl").open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
        return event_id

    def stop(self) -> None:
        """Kill whatever still runs, and wait for it. Safe to call twice."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
        for process in self._started:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    with suppress(BrokenPipeError):  # unsent bytes for a dead process
                        stream.close()
        for reserved in self._reserved:
            reserved.close()
        self._started.clear()
        self._reserved.clear()
        self._relays.clear()
        self.running.clear()


def _tell(process: subprocess.Popen[str], line: str) -> None:
    if process.stdin is None:
        raise RigError("the process has no standard input")
    try:
        process.stdin.write(line)
        process.stdin.flush()
    except BrokenPipeError:
        raise RigError("the process has already ended") from None
