"""A rig that stays up until it is told to go down, and obeys orders meanwhile.

One process holds the rig (`up`); others send it one order each through a socket that only their
own user can reach. Orders are carried out between two measurements, by the thread that started
the processes, since they die with that thread.
"""

import json
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affidavit.lab.faults import FAULTS
from affidavit.lab.folder import write_json
from affidavit.lab.incident import write_incident
from affidavit.lab.nodes.upstream import LOOPBACK
from affidavit.lab.observation import Observation
from affidavit.lab.plant import PLANTS, Plant
from affidavit.lab.rig import Link, Rig, RigError
from affidavit.lab.workplace import temporary_folder

UP_MAX_S = 4 * 3600.0
"""A session ends by itself after this long: nobody needs a forgotten rig."""
TARGETS_FILE = "prometheus-targets.json"
"""Beside the socket: where a Prometheus (`file_sd_configs`) finds every process's text page."""
_ORDER_MAX = 65_536  # bytes; the longest order holds two names and a path
_ANSWER_S = 60.0  # a deploy under load is the slowest order, and takes a few seconds
_LINE_S = 1.0  # an order is one line, sent at once
_HEALTHY_SHARE = 2 / 3  # what of a recording without a fault counts as its baseline


def control_path() -> Path:
    """Where this user's session listens."""
    return Path(tempfile.gettempdir()) / f"affidavit-lab.{os.getuid()}" / "control.sock"


@dataclass(frozen=True, slots=True)
class Course:
    """How a session runs: `for_s` seconds at most, measuring every `step_s` after `warm_up_s`."""

    for_s: float = 3600.0
    step_s: float = 5.0
    warm_up_s: float = 40.0


def up(
    plant: Plant, course: Course, control: Path, say: Callable[[str], None] = lambda _: None
) -> None:
    """Hold the plant up until `down` or the end of its time; blocks. Raises `RigError`."""
    course = Course(min(course.for_s, UP_MAX_S), course.step_s, course.warm_up_s)
    with (
        _listener(control) as listener,
        temporary_folder() as folder,
        Rig(plant, folder, _links(plant)) as rig,
        closing(Observation(rig)) as observation,
    ):
        rig.start_load(course.for_s, seed=len(plant.name))
        session = Session(observation, course)
        ports = ", ".join(f"{name} {port}" for name, port in rig.ports.items())
        write_json(control.with_name(TARGETS_FILE), _targets(rig))
        say(f"{plant.name} is up for {course.for_s:.0f} s at most; loopback ports: {ports}")
        session.run(listener)
    say(f"{plant.name} is down")


def order(control: Path, command: str, **details: str) -> str:
    """Send one order to the session and return its answer. Raises `RigError`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(_ANSWER_S)
        try:
            line.connect(str(control))
            line.sendall(json.dumps({"command": command} | details).encode() + b"\n")
            answer = json.loads(line.makefile(encoding="utf-8").readline() or "{}")
        except (OSError, ValueError) as error:
            raise RigError(
                f"no lab is up at {control} ({error}): start one with 'lab up'"
            ) from error
    if "error" in answer or "done" not in answer:
        raise RigError(str(answer.get("error", "the lab ended before it answered")))
    return str(answer["done"])


class Session:
    """Measures, and carries out orders: inject, record, down."""

    def __init__(self, observation: Observation, course: Course) -> None:
        self._observation = observation
        self._course = course
        self._began = time.monotonic()
        self._ended = False

    def run(self, listener: socket.socket) -> None:
        """Until `down` or the end of the time."""
        next_measure = self._began
        while not self._ended and time.monotonic() < self._began + self._course.for_s:
            if time.monotonic() >= self._began + self._course.warm_up_s:
                self._observation.mark("baseline")
            if time.monotonic() >= next_measure:
                self._observation.measure()
                next_measure += self._course.step_s
            listener.settimeout(max(0.01, next_measure - time.monotonic()))
            try:
                line, _ = listener.accept()
            except TimeoutError:
                continue
            with line:
                self._answer(line)

    def _answer(self, line: socket.socket) -> None:
        line.settimeout(_LINE_S)
        with suppress(OSError):  # whoever asked has gone: a probe, or an impatient person
            text = line.makefile(encoding="utf-8").readline(_ORDER_MAX)
            try:
                answer = {"done": self.obey(json.loads(text))}
            except (RigError, ValueError, KeyError) as error:
                answer = {"error": str(error)}
            line.sendall(json.dumps(answer).encode() + b"\n")

    def obey(self, asked: dict[str, Any]) -> str:
        """Carry one order out; returns what was done. Raises `RigError`."""
        match asked:
            case {"command": "inject", "fault": str(name)}:
                return self._inject(name)
            case {"command": "record", "out": str(out)}:
                return self._record(Path(out))
            case {"command": "down"}:
                self._ended = True
                return "going down"
            case _:
                raise RigError("unknown order: expected inject with a fault, record with out, down")

    def _inject(self, name: str) -> str:
        observation, plant = self._observation, self._observation.rig.plant
        fault = FAULTS.get(name)
        if fault is None or fault.plant != plant.name:
            known = ", ".join(f.name for f in FAULTS.values() if f.plant == plant.name)
            raise RigError(f"plant {plant.name} has no fault {name}; it has {known}")
        if observation.fault is not None:
            raise RigError(f"{observation.fault.name} is injected already: one fault a session")
        if "baseline" not in observation.times_us:
            raise RigError(f"still warming up: wait {self._course.warm_up_s:.0f} s after the start")
        observation.mark("window")
        observation.mark("injected")
        observation.fault = fault
        for step in fault.steps:
            observation.act(step.do, guilty=True)
        return f"injected {name} into {fault.component or plant.name}"

    def _record(self, out: Path) -> str:
        times = self._observation.times_us
        if "baseline" not in times:
            raise RigError("still warming up: nothing is recorded yet")
        known = dict(times)
        self._observation.mark("end")
        span_us = times["end"] - times["baseline"]
        times.setdefault("window", times["baseline"] + int(span_us * _HEALTHY_SHARE))
        try:
            made = write_incident(self._observation, out)
        finally:
            self._observation.times_us = known  # the session goes on, and may be recorded again
        return f"{made.folder}: {made.rows} rows, {made.size_bytes} bytes"


def _targets(rig: Rig) -> list[dict[str, Any]]:
    return [
        {"targets": [f"{LOOPBACK}:{port}"], "labels": {"service": name, "plant": rig.plant.name}}
        for name, port in rig.ports.items()
    ]


def _links(plant: Plant) -> tuple[Link, ...]:
    return tuple({f.link for f in FAULTS.values() if f.link and f.plant == plant.name})


@contextmanager
def _listener(control: Path) -> Iterator[socket.socket]:
    control.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(str(control)) == 0:
            raise RigError(f"a lab is up already at {control}: 'lab down' ends it")
    control.unlink(missing_ok=True)  # left by a session that was killed
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(control))
        control.chmod(0o600)
        listener.listen()
        try:
            yield listener
        finally:
            control.unlink(missing_ok=True)
            control.with_name(TARGETS_FILE).unlink(missing_ok=True)


def find_plant(name: str) -> Plant:
    """The plant of that name. Raises `RigError`, naming those that exist."""
    if name not in PLANTS:
        raise RigError(f"no plant {name}; there are {', '.join(PLANTS)}")
    return PLANTS[name]
