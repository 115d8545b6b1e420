"""A child of the rig never outlives its parent, whatever kills the parent.

Two independent ropes, because each has a hole. `PR_SET_PDEATHSIG` is immediate and works on a
process that is stuck, but exists on Linux only, and fires when the *thread* that forked ends, so
a rig starts its children from a thread that lives as long as the rig. The pipe on standard input
works everywhere and for any thread, but needs a Python thread to be scheduled.
"""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import TextIO

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_ORPHANED = 3  # exit code of a child whose parent has gone; nobody is left to read it


def bind_to_parent() -> None:
    """Ask the kernel to kill this process when the thread that started it ends (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    parent = os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died between the fork and the call
        os._exit(_ORPHANED)


def watch_parent(stream: TextIO, obey: Callable[[str], None] | None = None) -> None:
    """End this process when `stream`, a pipe that only the parent holds open, is closed.

    Lines that come through it before that are given to `obey`.
    """

    def wait_for_end() -> None:
        for line in stream:
            if obey:
                obey(line)
        os._exit(_ORPHANED)

    threading.Thread(target=wait_for_end, name="lifeline", daemon=True).start()
