"""Tools whose work blocks: in a thread that is fenced, or in a process that is killed (K5, K7).

    fetch=in_thread(read_file)                     # cannot be stopped: left behind its fence
    fetch=in_process("acme.tools:read_file")       # stopped at once, with everything it started
    await run_command(Command(("grep", "-c", …)))  # likewise, for a program

A process gets a session and a mark of its own. Ended are all that carry the mark, belong to the
session or descend from it, so that a child which daemonised itself is found as well; first asked,
then killed, within `KILL_GRACE_S`. What it writes is bounded, and it inherits no secret of ours.

Deliberately absent: a shell (arguments are a list), and the end of a process whose parent was
killed by SIGKILL itself; that is the job of whoever supervises us.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_hex
from subprocess import DEVNULL, PIPE
from typing import Final, ParamSpec, TypeVar

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Scope
from affidavit.contract.record import Record
from affidavit.core.fence import run_blocking
from affidavit.progress.reading import stable_code
from affidavit.tools.acting import RAW_BYTES_MAX
from affidavit.tools.runner_worker import EXIT_FAILED

P = ParamSpec("P")
A = TypeVar("A", bound=Record)

KILL_GRACE_S: Final = 0.5
"""Time to remove a lock file; whoever needs longer to die is killed."""

KILL_ROUNDS: Final = 40
KILL_PAUSE_S: Final = 0.025
"""A second in all for a tree that forks while it is killed; each round finds what is left."""

MARK: Final = "AFFIDAVIT_CALL"
"""The environment variable by which a process is known as ours, wherever it hides."""


def in_thread(function: Callable[P, bytes]) -> Callable[P, Awaitable[bytes]]:
    """A blocking function as a tool's `fetch` or `perform`.

    It cannot be stopped. After its time and the grace nobody waits for it; what it then returns is
    LATE, never a result, and of an effect the outcome is unknown (F27).
    """

    async def run(*args: P.args, **kwargs: P.kwargs) -> bytes:
        return await run_blocking(partial(function, *args, **kwargs))

    return run


def in_process(target: str) -> Callable[[A, Scope], Awaitable[bytes]]:
    """A blocking function, named `module:function`, as a tool's `fetch` in a process of its own.

    It is given arguments and scope as plain JSON values and returns bytes. A `ToolFailed` keeps
    its code; anything else that it raises is TOOL_FAILED.
    """

    async def run(arguments: A, scope: Scope) -> bytes:
        asked = {
            "arguments": arguments.model_dump(mode="json"),
            "scope": scope.model_dump(mode="json"),
        }
        command = Command(
            argv=(sys.executable, "-m", "affidavit.tools.runner_worker", target),
            given=json.dumps(asked).encode(),
            environment={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        done = await _run(command)
        if done.code == 0:
            return done.out
        if done.code == EXIT_FAILED:
            code = stable_code(done.out.decode(errors="replace"))
            raise ToolFailed("the tool failed in its process", code=code or "TOOL_FAILED")
        raise ToolFailed("the tool's process ended without an answer", code="TOOL_FAILED")

    return run


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run. `no_match` are the exit codes that mean: looked, and found nothing (R17).

    It sees `environment`, a path, a language and UTC; nothing of ours.
    """

    argv: tuple[str, ...]
    given: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    no_match: frozenset[int] = frozenset()
    out_bytes_max: int = RAW_BYTES_MAX


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended, and what it wrote."""

    code: int
    out: bytes


async def run_command(command: Command) -> bytes:
    """What the program wrote; nothing where it found nothing.

    Raises ToolFailed: COMMAND_MISSING, COMMAND_FAILED for any other exit code, RESULT_TOO_LARGE.
    When this is cancelled, the program and all that it started are gone before it returns.
    """
    done = await _run(command)
    if done.code in command.no_match:
        return b""
    if done.code != 0:
        raise ToolFailed(f"the program ended with {done.code}", code="COMMAND_FAILED")
    return done.out


async def _run(command: Command) -> Done:
    mark = token_hex(16)
    basics = {"PATH": os.defpath, "LANG": "C.UTF-8", "TZ": "UTC"}
    try:
        process = await anyio.open_process(
            command.argv,
            stdin=PIPE if command.given else DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            cwd=command.folder,
            env={**basics, **command.environment, MARK: mark},
            start_new_session=True,
        )
    except OSError as error:
        raise ToolFailed("the program cannot be started", code="COMMAND_MISSING") from error
    try:
        return await _converse(process, command)
    finally:
        with anyio.CancelScope(shield=True):
            await end_tree(process.pid, mark)
            await process.aclose()


async def _converse(process: Process, command: Command) -> Done:
    """Give it its input and read all that it writes, side by side, until it ends."""
    out = bytearray()
    too_much = anyio.Event()
    async with anyio.create_task_group() as tasks:
        if process.stdin is not None:
            tasks.start_soon(_write, process.stdin, command.given)
        if process.stderr is not None:
            tasks.start_soon(_drain, process.stderr)

        async def read(stream: ByteReceiveStream) -> None:
            async for chunk in stream:
                out.extend(chunk)
                if len(out) > command.out_bytes_max:
                    too_much.set()
                    tasks.cancel_scope.cancel()
                    return

        if process.stdout is not None:
            tasks.start_soon(read, process.stdout)
        await process.wait()
        # A child that lives on may hold the pipes open; the program itself has said all.
        tasks.cancel_scope.deadline = anyio.current_time() + KILL_GRACE_S
    if too_much.is_set():
        raise ToolFailed("the program writes without an end", code="RESULT_TOO_LARGE")
    return Done(process.returncode if process.returncode is not None else -1, bytes(out))


async def _write(stream: ByteSendStream, content: bytes) -> None:
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # it did not want it
        await stream.send(content)
    with suppress(anyio.BrokenResourceError):
        await stream.aclose()


async def _drain(stream: ByteReceiveStream) -> None:
    async for _ in stream:
        pass


async def end_tree(pid: int, mark: str) -> None:
    """Nothing of the process is left: not its children, not its session, not what bears its mark.

    Asked by SIGTERM first; what is still there after `KILL_GRACE_S` is killed.
    """
    alive = set(_family(pid, mark))
    for each in alive:
        _send(each, signal.SIGTERM)
    until_s = anyio.current_time() + KILL_GRACE_S
    while alive and anyio.current_time() < until_s:
        await anyio.sleep(KILL_PAUSE_S)
        alive = set(_family(pid, mark))
    for _ in range(KILL_ROUNDS):
        if not alive:
            return
        for each in alive:
            _send(each, signal.SIGKILL)
        await anyio.sleep(KILL_PAUSE_S)
        alive = set(_family(pid, mark))


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _family(pid: int, mark: str) -> Iterator[int]:
    """The living processes of the session, of the mark, and all that descend from them."""
    parents: dict[int, int] = {}
    ours: set[int] = set()
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError, ValueError, IndexError):
            number = int(folder.name)
            state, parent, session = _standing_of(folder)
            if state == "Z":
                continue
            parents[number] = parent
            if session == pid or wanted in (folder / "environ").read_bytes().split(b"\0"):
                ours.add(number)
    grew = True
    while grew:
        born = {child for child, parent in parents.items() if parent in ours and child not in ours}
        ours |= born
        grew = bool(born)
    yield from ours


def _standing_of(folder: Path) -> tuple[str, int, int]:
    """State, parent and session of a process (proc_pid_stat(5)); its name may hold anything."""
    text = (folder / "stat").read_text(errors="replace")
    fields = text[text.rindex(")") + 2 :].split()
    return fields[0], int(fields[1]), int(fields[3])
