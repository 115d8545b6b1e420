"""`python -m affidavit.lab`: what it prints and how it refuses."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from affidavit.lab.__main__ import main
from affidavit.lab.faults import FAULTS


@pytest.fixture(autouse=True)
def no_lab_is_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Orders go to a place where nobody listens, whoever has a lab up on this machine."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_every_fault_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a fault, on standard output."""
    assert main(["faults"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(FAULTS)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["inject", "slow_query"], "start one with 'lab up'"),
        (["down"], "start one with 'lab up'"),
        (["record", "--out", "x"], "start one with 'lab up'"),
        (["up", "--plant", "nowhere"], "no plant nowhere; there are pair, shop"),
        (["record", "--fault", "lock", "--out", "/"], "/ exists already"),
    ],
)
def test_a_refusal_is_one_clear_line(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, one line, no traceback."""
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert says in said.err
