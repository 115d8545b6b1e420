"""Any command as a model: `exec:COMMAND` (`ports.model.Model`).

The command gets the request on its standard input, as JSON, and writes the answer on its standard
output, as JSON (docs/models.md). It is started directly, never through a shell, in a process group
of its own; when its time is over, or nobody waits any more, the whole group is killed. What it says
on standard error reaches nobody: it may hold anything.

Not stopped: a child that leaves the process group on purpose.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import anyio
from anyio.abc import Process

from affidavit.contract.errors import InputRefused
from affidavit.ports.model import (
    ANSWER_BYTES_MAX,
    ModelAnswer,
    ModelRequest,
    Price,
    decode_answer,
    encode_request,
    model_failure,
)

WINDOW_TOKENS: Final = 32_000
"""What is assumed of a command that says nothing of itself."""

ANSWER_TIMEOUT_S: Final = 120.0
"""A small model on this machine's own processor needs a minute for a page."""

DRAIN_S: Final = 1.0
"""A dead process group's pipe is at its end at once."""


@dataclass(frozen=True, slots=True)
class ExecModel:
    """One command; each request starts it anew."""

    command: tuple[str, ...]
    name: str
    vendor: str = "exec"
    window_tokens: int = WINDOW_TOKENS
    price: Price | None = None
    answer_timeout_s: float = ANSWER_TIMEOUT_S

    @classmethod
    def parse(cls, line: str) -> ExecModel:
        """The model of a command line, split as a shell would and run without one.

        Raises InputRefused (MODEL_COMMAND) where there is no such command.
        """
        try:
            command = tuple(shlex.split(line))
        except ValueError as error:
            raise _refused(f"the command of the model cannot be read: {error}") from None
        if not command or shutil.which(command[0]) is None:
            raise _refused(f"there is no command {command[0] if command else ''!r}")
        return cls(command, os.path.basename(command[0]))  # noqa: PTH119 - a name, not a path

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """The command's answer. Raises ModelFailed."""
        output = await _run(self.command, encode_request(request))
        try:
            return decode_answer(output)
        except ValueError as error:
            raise model_failure(
                "MODEL_ANSWER_MALFORMED", f"the answer of {self.name} is {error}"
            ) from None


def _refused(message: str) -> InputRefused:
    return InputRefused(
        message, code="MODEL_COMMAND", hint="write --model 'exec:PROGRAM ARGUMENT …'"
    )


async def _run(command: Sequence[str], given: bytes) -> bytes:
    """What the command wrote. Its process group is dead when this returns or raises."""
    try:
        process = await anyio.open_process(
            command, stderr=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        raise model_failure("MODEL_UNREACHABLE", f"cannot be started: {error.strerror}") from None
    try:
        output = await _exchange(process, given)
        code = await process.wait()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
    if code != 0:
        raise model_failure("MODEL_SERVER_ERROR", f"the command ended with status {code}")
    return output


async def _exchange(process: Process, given: bytes) -> bytes:
    """Give the request and take the answer at once, so that neither side waits for the other."""
    parts: list[bytes] = []
    size = 0

    async def give() -> None:
        stdin = process.stdin
        if stdin is None:
            return
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await stdin.send(given)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await stdin.aclose()

    too_large = False
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(give)
        if process.stdout is not None:
            async for part in process.stdout:
                size += len(part)
                if size > ANSWER_BYTES_MAX:
                    too_large = True
                    break
                parts.append(part)
        if too_large:
            tasks.cancel_scope.cancel()
    if too_large:
        raise model_failure("MODEL_ANSWER_MALFORMED", "the answer is too large")
    return b"".join(parts)


async def _end(process: Process) -> None:
    """Kill whatever is left of the process group; its leader is reaped."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    if process.stdout is not None:
        # To the end of the pipe, so that it is closed; one that left the group may hold it open.
        with anyio.move_on_after(DRAIN_S), suppress(anyio.EndOfStream, anyio.ClosedResourceError):
            while True:
                await process.stdout.receive()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            await stream.aclose()
