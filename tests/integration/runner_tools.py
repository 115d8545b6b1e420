"""Functions that tests run in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from affidavit.contract.errors import ToolFailed


def echo(arguments: Any, scope: Any) -> bytes:
    """What it was given, and a word on standard output, which is not its answer."""
    print("chatter")
    return f"{arguments['query']} for {scope['tenant']}".encode()


def fail(arguments: Any, scope: Any) -> bytes:
    """A failure with a code."""
    raise ToolFailed("canary", code="SOURCE_UNAVAILABLE")


def crash(arguments: Any, scope: Any) -> bytes:
    """A failure without one."""
    raise ValueError("canary")


def vanish(arguments: Any, scope: Any) -> bytes:
    """No answer at all."""
    os._exit(0)


def hang_with_children(arguments: Any, scope: Any) -> bytes:
    """Three generations that ignore what they are asked, one of them a daemon; each writes its id.

    `query` is the folder where they write.
    """
    folder = Path(arguments["query"])
    stubborn = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open(os.path.join(sys.argv[1], str(os.getpid())), 'w').close()\n"
        "time.sleep(600)\n"
    )
    daemon = (
        "import os, sys, subprocess\n"
        "os.setsid()\n"
        f"subprocess.Popen([sys.executable, '-c', {stubborn!r}, sys.argv[1]])\n"
    )
    subprocess.Popen([sys.executable, "-c", stubborn, str(folder)])
    subprocess.Popen([sys.executable, "-c", daemon, str(folder)]).wait()
    (folder / str(os.getpid())).touch()
    time.sleep(600)
    return b""
