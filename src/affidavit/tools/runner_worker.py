"""The other side of `runner.in_process`: one function, asked once, in a process of its own.

    python -m affidavit.tools.runner_worker module:function < {"arguments": …, "scope": …}

Its answer goes to standard output and nothing else does: what the function prints goes to standard
error. Exit 0: the answer; 4: a stable code, because the function raised `ToolFailed`.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Final, cast

from affidavit.contract.errors import ToolFailed

EXIT_FAILED: Final = 4


def main(target: str) -> int:
    """Ask the function, write its answer; the exit code."""
    answer = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    asked = json.loads(sys.stdin.buffer.read())
    module, _, name = target.partition(":")
    function = cast(
        "Callable[[object, object], bytes]", getattr(importlib.import_module(module), name)
    )
    try:
        content, code = function(asked["arguments"], asked["scope"]), 0
    except ToolFailed as failed:
        content, code = failed.code.encode(errors="replace"), EXIT_FAILED
    with open(answer, "wb") as stream:  # noqa: PTH123 - a descriptor, not a path
        stream.write(content)
    return code


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
