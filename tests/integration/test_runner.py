"""Work that blocks, in real threads and processes: fenced, or killed with all its children."""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import pytest

from affidavit.contract.errors import ToolFailed
from affidavit.contract.evidence import Scope
from affidavit.contract.journal import EventType
from affidavit.contract.record import Record
from affidavit.core.run import CallTimedOut
from affidavit.testing.scripted import ScriptedArguments
from affidavit.tools.runner import Command, in_process, in_thread, run_command
from tests.support.runs import driven

pytestmark = pytest.mark.anyio

SCOPE: Final = Scope(tenant="acme")
HERE: Final = "tests.integration.runner_tools"


async def ask(name: str, query: str = "q") -> bytes:
    """One of the functions, in a process of its own."""
    fetch: Callable[[Record, Scope], Awaitable[bytes]] = in_process(f"{HERE}:{name}")
    return await fetch(ScriptedArguments(query=query), SCOPE)


def is_alive(pid: int) -> bool:
    """Whether there is such a process, and not only what is left of it."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return text[text.rindex(")") + 2] != "Z"


def living(argument: str) -> list[int]:
    """Every process that has this argument."""
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
            if folder.name.isdigit() and argument.encode() in arguments:
                found.append(int(folder.name))
    return [pid for pid in found if is_alive(pid)]


def ids_in(folder: Path) -> list[int]:
    """The processes that have signed in there."""
    return [int(file.name) for file in folder.iterdir()]


NAP: Final = f"600.{os.getpid()}"
"""How long a sleeper sleeps: an argument that no other process has."""


@pytest.mark.spec("K5", "T4")
async def test_a_function_in_a_process_answers_and_its_prints_are_no_answer() -> None:
    assert await ask("echo", "why") == b"why for acme"


@pytest.mark.spec("K5", "T3")
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("fail", "SOURCE_UNAVAILABLE"),
        ("crash", "TOOL_FAILED"),
        ("nowhere", "TOOL_FAILED"),
    ],
)
async def test_its_failure_is_a_code_and_no_word_of_its_text(name: str, code: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        await ask(name)
    assert caught.value.code == code
    assert "canary" not in caught.value.message


@pytest.mark.spec("K5")
async def test_a_process_that_vanishes_says_nothing_rather_than_something_wrong() -> None:
    assert await ask("vanish") == b""


@pytest.mark.slow
@pytest.mark.spec("K5", "K7")
@pytest.mark.fault("F27", "R29", "R32")
async def test_a_process_is_gone_with_its_children_and_its_daemons_however_stubborn(
    tmp_path: Path,
) -> None:
    async with driven() as run:
        pids: list[int] = []

        async def watch() -> None:
            while len(pids) < 3:
                await anyio.sleep(0.05)
                pids[:] = ids_in(tmp_path)
            assert all(is_alive(pid) for pid in pids)
            scope.cancel()

        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                await run.interruptible(lambda: ask("hang_with_children", str(tmp_path)), 60)
        assert len(pids) == 3
        assert not any(is_alive(pid) for pid in pids)


@pytest.mark.spec("K5")
@pytest.mark.fault("R31", "R29")
async def test_a_program_that_never_ends_is_ended_when_its_time_is_over() -> None:
    async with driven() as run:
        with pytest.raises(CallTimedOut):
            await run.interruptible(lambda: run_command(Command(("sleep", NAP))), 0.2)
    assert living(NAP) == []


@pytest.mark.spec("T4")
@pytest.mark.fault("R17")
async def test_a_declared_exit_code_means_that_nothing_matched(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("all is well\n")
    grep = Command(("grep", "panic", str(file)), no_match=frozenset({1}))
    assert await run_command(grep) == b""
    with pytest.raises(ToolFailed) as caught:
        await run_command(
            Command(("grep", "panic", str(tmp_path / "none")), no_match=grep.no_match)
        )
    assert caught.value.code == "COMMAND_FAILED"
    with pytest.raises(ToolFailed) as caught:
        await run_command(Command(("grep", "panic", str(file))))
    assert caught.value.code == "COMMAND_FAILED"
    assert await run_command(Command(("grep", "well", str(file)))) == b"all is well\n"


@pytest.mark.spec("K5", "C15")
@pytest.mark.fault("R41")
async def test_a_program_that_writes_for_ever_is_ended_at_its_bound() -> None:
    with pytest.raises(ToolFailed) as caught:
        await run_command(Command(("yes",), out_bytes_max=100_000))
    assert caught.value.code == "RESULT_TOO_LARGE"


@pytest.mark.spec("T7")
@pytest.mark.fault("R60", "R62")
async def test_a_program_sees_no_secret_of_ours_and_no_shell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("API_KEY", "canary")
    assert b"canary" not in await run_command(Command(("env",)))
    assert await run_command(Command(("echo", "$HOME; id"))) == b"$HOME; id\n"
    assert await run_command(Command(("cat",), given=b"x" * 300_000)) == b"x" * 300_000
    with pytest.raises(ToolFailed) as caught:
        await run_command(Command(("no-such-program",)))
    assert caught.value.code == "COMMAND_MISSING"


@pytest.mark.spec("K5")
async def test_a_child_that_lives_on_does_not_hold_the_answer_back() -> None:
    out = await run_command(Command(("sh", "-c", f"sleep {NAP} & echo done")))
    assert out == b"done\n"
    assert living(NAP) == []


@pytest.mark.spec("K5")
@pytest.mark.fault("F27", "F28", "F32")
async def test_a_blocking_tool_is_left_behind_its_fence_and_what_it_says_is_late() -> None:
    gate, heard = threading.Event(), anyio.Event()
    told: list[str] = []

    def hear(outcome: str) -> None:
        told.append(outcome)
        heard.set()

    ended: list[bool] = []

    def block(arguments: object, scope: object) -> bytes:
        ended.append(gate.wait(60))
        return b"late"

    async with driven() as run:
        with pytest.raises(CallTimedOut):
            await run.interruptible(
                lambda: in_thread(block)(ScriptedArguments(), SCOPE), 0.1, late=hear
            )
        assert (len(ended), len(told), len(run.orphans)) == (0, 0, 1)
        gate.set()
        await heard.wait()
        await anyio.lowlevel.checkpoint()
        assert (told, len(run.orphans)) == (["done"], 0)
        assert EventType.TOOL_CALL_READY not in [entry.type for entry in run.entries]


@pytest.mark.spec("K5", "K6")
async def test_a_blocking_tool_answers_and_fails_as_any_other() -> None:
    def answer(arguments: object, scope: object) -> bytes:
        return threading.current_thread().name.encode()

    def broken(arguments: object, scope: object) -> bytes:
        raise ToolFailed("no", code="DOWN")

    async with driven() as run:
        asked = ScriptedArguments(), SCOPE
        name = await run.interruptible(lambda: in_thread(answer)(*asked), 10)
        assert name != threading.main_thread().name.encode()
        with pytest.raises(ToolFailed):
            await run.interruptible(lambda: in_thread(broken)(*asked), 10)


@pytest.mark.spec("K5")
def test_a_process_that_ends_does_not_wait_for_a_thread_that_was_left_behind() -> None:
    hanging = threading.Event()
    ended: list[bool] = []

    async def main() -> None:
        def block() -> bytes:
            ended.append(hanging.wait(60))
            return b""

        async with driven() as run:
            with pytest.raises(CallTimedOut):
                await run.interruptible(in_thread(block), 0.05)

    anyio.run(main)
    assert ended == []
    hanging.set()
