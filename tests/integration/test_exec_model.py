"""Any command as a model, with real processes: asked, heard, and killed with its children."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from affidavit.adapters.exec_model import ExecModel
from affidavit.contract.errors import InputRefused, ModelFailed
from affidavit.core.breaker import BreakerRule, Circuits
from affidavit.ports.model import decode_answer
from tests.support.desks import WIDE, ask_for, desk_of
from tests.support.runs import driven, request

pytestmark = pytest.mark.anyio

GOOD = """
import json, sys
asked = json.load(sys.stdin)
answer = {"text": asked["messages"][0]["text"][::-1], "model": "reverse",
          "usage": {"input_tokens": 7, "output_tokens": 3}}
json.dump(answer, sys.stdout)
"""


def model(folder: Path, script: str, **more: float) -> ExecModel:
    file = folder / "model.py"
    file.write_text(script, encoding="utf-8")
    return ExecModel((sys.executable, str(file)), "test", **more)  # type: ignore[arg-type]


async def failure(told: ExecModel) -> str:
    with pytest.raises(ModelFailed) as failed:
        await told.complete(ask_for())
    assert "canary" not in failed.value.message
    return failed.value.code


@pytest.mark.spec("K7")
async def test_a_command_gets_the_request_and_its_answer_is_read(tmp_path: Path) -> None:
    answer = await model(tmp_path, GOOD).complete(ask_for("why?"))
    assert answer.text == "?yhw"
    assert answer.usage is not None
    assert decode_answer(b'{"text": "x", "model": "m"}').usage is None


@pytest.mark.spec("K7", "N2")
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("print('canary: not json')", "MODEL_ANSWER_MALFORMED"),
        ("", "MODEL_ANSWER_MALFORMED"),
        ('print(\'{"text": 1, "model": "m"}\')', "MODEL_ANSWER_MALFORMED"),
        ('print(\'{"text": "x", "model": "m", "sure": 1}\')', "MODEL_ANSWER_MALFORMED"),
        ("import sys; sys.stderr.write('canary'); sys.exit(3)", "MODEL_SERVER_ERROR"),
        ("import os; os.kill(os.getpid(), 9)", "MODEL_SERVER_ERROR"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "MODEL_ANSWER_MALFORMED"),
    ],
)
async def test_a_command_that_answers_badly_is_a_failed_attempt(
    tmp_path: Path, script: str, code: str
) -> None:
    with anyio.fail_after(20):
        assert await failure(model(tmp_path, script)) == code


@pytest.mark.spec("K7")
async def test_a_command_that_reads_nothing_of_a_large_request_is_heard_all_the_same(
    tmp_path: Path,
) -> None:
    deaf = model(tmp_path, 'print(\'{"text": "x", "model": "m"}\')')
    with anyio.fail_after(20):
        assert (await deaf.complete(ask_for("y" * 2_000_000))).text == "x"


@pytest.mark.spec("K7")
async def test_nothing_is_ever_read_by_a_shell(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(GOOD, encoding="utf-8")
    trap = tmp_path / "trap"
    line = (
        f"{sys.executable} {tmp_path / 'model.py'} '; touch {trap}' $(touch {trap}) && touch {trap}"
    )
    assert (await ExecModel.parse(line).complete(ask_for("ab"))).text == "ba"
    assert not trap.exists()


@pytest.mark.spec("K0")
@pytest.mark.parametrize("line", ["", "no-such-command-anywhere -x", "'open quote"])
def test_a_command_that_is_not_there_is_refused_before_anything_starts(line: str) -> None:
    with pytest.raises(InputRefused) as refused:
        ExecModel.parse(line)
    assert refused.value.code == "MODEL_COMMAND"


def alive(pids: Iterator[int]) -> list[int]:
    found = []
    for pid in pids:
        try:
            state = (
                Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
            )
        except FileNotFoundError:
            continue
        if state != "Z":
            found.append(pid)
    return found


@pytest.mark.spec("K5", "K7")
@pytest.mark.fault("F27", "R31", "R32")
async def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    """The desk's time limit ends it; a SIGTERM would not have."""
    pids = tmp_path / "pids"
    script = f"""
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
time.sleep(600)
"""
    hanging = model(tmp_path, script, answer_timeout_s=1.5)
    try:
        async with driven(asked=request(limits=WIDE)) as run:
            circuits = Circuits(run.clock, BreakerRule(failures_max=1))
            with anyio.fail_after(30), pytest.raises(ModelFailed):
                await desk_of(run, hanging, circuits=circuits).ask(ask_for())
        found = [int(pid) for pid in pids.read_text(encoding="utf-8").split()]
        assert len(found) == 2
        for _ in range(100):
            await anyio.sleep(0.05 if alive(iter(found)) else 0)
        assert alive(iter(found)) == []
    finally:
        for pid in pids.read_text(encoding="utf-8").split() if pids.exists() else ():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
