"""Which store, which run, which file."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from affidavit.cli.opening import (
    file_of_run,
    head_of,
    names_file,
    read_file,
    runs_at,
    source_of,
)
from affidavit.contract.errors import InputRefused
from affidavit.testing.journals import begin_run

pytestmark = pytest.mark.anyio

RUN = "run_0123456789abcdef"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and no settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("AFFIDAVIT_STORE", "AFFIDAVIT_LIMITS", "AFFIDAVIT_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def names_in(folder: Path) -> set[str]:
    """What the folder holds."""
    return {path.name for path in folder.iterdir()}


async def test_a_look_makes_no_store(home: Path) -> None:
    with pytest.raises(InputRefused) as refused:
        async with runs_at(""):
            pass
    assert refused.value.code == "STORE_MISSING"
    assert names_in(home) == set()


async def test_the_default_folder_is_made_for_its_owner_alone(home: Path) -> None:
    async with runs_at("", may_make=True) as store:
        assert await store.runs("local") == ()
    folder = home / "state" / "affidavit"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "runs.db").stat().st_mode) == 0o600


async def test_another_store_s_folder_is_not_made(home: Path) -> None:
    with pytest.raises(InputRefused):
        async with runs_at("sqlite:elsewhere/runs.db", may_make=True):
            pass
    assert names_in(home) == set()


async def test_a_home_that_cannot_be_made_is_refused(home: Path) -> None:
    (home / "state").write_text("a file")
    with pytest.raises(InputRefused) as refused:
        async with runs_at("", may_make=True):
            pass
    assert refused.value.code == "STORE_UNREACHABLE"


async def test_the_option_comes_before_the_setting(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFFIDAVIT_STORE", f"sqlite:{home}/by-setting.db")
    async with runs_at("", may_make=True):
        pass
    async with runs_at(f"sqlite:{home}/by-option.db", may_make=True):
        pass
    assert names_in(home) == {"by-setting.db", "by-option.db"}


@pytest.mark.parametrize("run_id", [RUN, "x", "", "run_0123456789ABCDEF", "../etc/passwd"])
async def test_an_unknown_run_is_refused(run_id: str) -> None:
    async with runs_at("memory:") as store:
        with pytest.raises(InputRefused) as refused:
            await head_of(store, run_id)
    assert refused.value.code == "RUN_UNKNOWN"


async def test_a_run_without_an_answer_has_no_file_and_no_source(home: Path) -> None:
    url = f"sqlite:{home}/runs.db"
    async with runs_at(url, may_make=True) as store:
        run = await begin_run(store, 1)
        with pytest.raises(InputRefused) as refused:
            await source_of(store, run.id)
        assert refused.value.code == "RUN_EXPIRED"
    with pytest.raises(InputRefused) as undecided:
        await file_of_run(url, run.id)
    assert undecided.value.code == "RUN_UNDECIDED"


def test_a_file_comes_before_a_run_of_the_same_name(home: Path) -> None:
    assert not names_file(RUN)
    (home / RUN).write_text("x")
    assert names_file(RUN)


@pytest.mark.parametrize("source", ["nowhere", "", "x\0y", "run_short", "y" * 5_000])
def test_what_is_neither_is_refused(source: str) -> None:
    if source == "":  # the empty path is the working folder
        assert names_file(source)
        return
    with pytest.raises(InputRefused) as refused:
        names_file(source)
    assert refused.value.code == "SOURCE_UNKNOWN"


def test_a_folder_is_no_file(home: Path) -> None:
    with pytest.raises(InputRefused, match="no plain file"):
        read_file(home)
    (home / "x").write_bytes(b"abc")
    assert read_file(home / "x") == b"abc"
