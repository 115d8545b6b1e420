"""A driver whose process is certainly gone is taken over at once; any doubt waits (L6, K8)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from affidavit.adapters.process_identity import is_gone, own_holder

TELL = """
import sys
from affidavit.adapters.process_identity import own_holder
print(own_holder(), flush=True)
sys.stdin.read()
"""

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def other() -> tuple[subprocess.Popen[str], str]:
    """Another process, and its name as a holder."""
    process = subprocess.Popen(
        [sys.executable, "-c", TELL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


@pytest.mark.spec("L6", "K8")
def test_a_process_is_gone_when_it_is_dead_and_not_before() -> None:
    process, holder = other()
    assert not is_gone(holder)
    assert not is_gone(own_holder())
    process.kill()
    deadline = time.monotonic() + 30
    while not is_gone(holder):  # a zombie is over too: nobody has asked for its end yet
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.communicate()
    assert is_gone(holder)


@pytest.mark.spec("L6")
def test_another_process_under_the_same_number_is_another() -> None:
    host, pid, started, place = own_holder().rsplit(":", 3)
    assert is_gone(f"{host}:{pid}:{int(started) - 1}:{place}")
    assert int(pid) == os.getpid()


@pytest.mark.spec("L6")
def test_where_nobody_can_know_nobody_is_gone() -> None:
    host, pid, started, place = own_holder().rsplit(":", 3)
    for unknown in (
        "test",
        "",
        f"{host}:{pid}",
        f"{host}:999999:{started}:",
        f"{host}:999999::{place}",
        f"{host}:x:{started}:{place}",
        f"elsewhere:999999:1:{'0' * len(place)}",
    ):
        assert not is_gone(unknown), unknown
