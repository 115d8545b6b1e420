"""The platform's part: sees that a process ended, kills one over its memory limit, restarts it.

It stands where a container platform stands, and its log lines are the platform's.
"""

import signal
import time
from pathlib import Path

from affidavit.lab.folder import write_rows
from affidavit.lab.nodes.telemetry import now_us
from affidavit.lab.rig import Rig
from affidavit.lab.scrape import read_usage

RESTART_AFTER_S = 20.0
"""How long a process that ended stays down: the back-off of a platform that has seen it before."""


class Supervisor:
    """Look once a pass; `held_down` names what must not be restarted."""

    def __init__(self, rig: Rig, log: Path, restart_after_s: float = RESTART_AFTER_S) -> None:
        self._rig = rig
        self._log = log
        self._restart_after_s = restart_after_s
        self._due: dict[str, float] = {}
        self.held_down: set[str] = set()

    def look(self) -> None:
        """Enforce memory limits, note what has ended, restart what is due."""
        for name, running in list(self._rig.running.items()):
            usage = read_usage(running.process.pid)
            limit = running.component.memory_max_bytes
            if running.process.poll() is None and usage and usage.memory_bytes > limit:
                self._rig.kill(name)
                self._say(
                    name,
                    "ERROR",
                    f"out of memory: killed {name}-1, resident {usage.memory_bytes // 2**20} MiB "
                    f"exceeded its limit of {limit // 2**20} MiB",
                )
            if running.process.poll() is not None and name not in self._due:
                self._note_end(name)
        for name, due in list(self._due.items()):
            if self._rig.running[name].process.poll() is None:
                del self._due[name]  # somebody has started it meanwhile
            elif time.monotonic() >= due and name not in self.held_down:
                del self._due[name]
                self._rig.start(self._rig.running[name].component)
                self._rig.note("restart", name, f"{name}-1 restarted after its process ended")

    def _note_end(self, name: str) -> None:
        code = self._rig.running[name].process.poll() or 0
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        self._say(name, "ERROR", f"process of {name}-1 ended {how}")
        self._due[name] = time.monotonic() + self._restart_after_s

    def _say(self, name: str, severity: str, body: str) -> None:
        row = {
            "timestamp": now_us(),
            "service_name": name,
            "severity_text": severity,
            "body": body,
            "instance": f"{name}-1",
            "trace_id": None,
            "span_id": None,
            "emitter": "platform",
        }
        write_rows(self._log, [row])
