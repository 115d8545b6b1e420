"""Which process drives, said so that another one on this machine can prove that it is gone.

    host:pid:start:place

A process id alone proves nothing: it is given to the next process, and means another one in another
container. So the moment at which the process started stands beside it, and a digest over the
machine's boot and the process-id namespace; only where that is our own is anything said. A lease
says who is dead by silence, after half a minute; this says it at once, where it can be known.
"""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_BOOT: Final = _PROC / "sys" / "kernel" / "random" / "boot_id"
_NAMESPACE: Final = _PROC / "self" / "ns" / "pid"

_PARTS: Final = 4
_PLACE_CHARS: Final = 12
_START_FIELD: Final = 18
"""The start time's place behind the process's name and state in /proc/PID/stat (proc(5))."""


def own_holder() -> str:
    """This process, as the holder of a lease."""
    pid = os.getpid()
    host = socket.gethostname().replace(":", "-")
    return f"{host}:{pid}:{_started(pid) or ''}:{_place()}"


def is_gone(holder: str) -> bool:
    """Whether that holder's process is certainly over. False wherever nobody can know."""
    parts = holder.rsplit(":", _PARTS - 1)
    if len(parts) != _PARTS:
        return False
    _, pid, started, place = parts
    if not (place and started and pid.isdecimal()) or place != _place():
        return False
    return _is_over(int(pid), started)


def _is_over(pid: int, started: str) -> bool:
    seen = _started(pid)
    if seen is not None:
        return seen != started
    try:
        os.kill(pid, 0)  # asks only whether it is there
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it is there, and somebody else's
    return _is_zombie(pid)


def _place() -> str:
    """Where process ids mean the same: this boot, this namespace; empty where that is unknown."""
    try:
        boot = _BOOT.read_text(encoding="ascii").strip()
        inode = _NAMESPACE.stat().st_ino
    except OSError:
        return ""
    return hashlib.sha256(f"{boot} {inode}".encode()).hexdigest()[:_PLACE_CHARS]


def _started(pid: int) -> str | None:
    """When that process started, in clock ticks since the boot; None where none is seen to live."""
    fields = _stat(pid)
    return None if not fields or _is_zombie(pid) else fields[_START_FIELD + 1]


def _is_zombie(pid: int) -> bool:
    """Whether it has ended, and waits only for its parent: it drives nothing."""
    return bool(fields := _stat(pid)) and fields[0] in {"Z", "X"}


def _stat(pid: int) -> list[str]:
    try:
        text = (_PROC / str(pid) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()
